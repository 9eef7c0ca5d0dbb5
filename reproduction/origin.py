"""Where a number comes from: the machine, the commit and the versions of what computes, in words that name nobody."""

import contextlib
import functools
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Final

from bipartite import __version__

_LIBRARIES: Final = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "numba", "dp-accounting")
ROOT: Final = Path(__file__).parents[1]


@functools.cache
def this_machine() -> str:
    """Processor, number of cores and system; no name of the machine."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):  # another system
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


@functools.cache
def this_commit() -> str:
    """The commit of the code, with a plus where files differ from it; empty outside a clone."""
    try:
        commit = _git("rev-parse", "--short=8", "HEAD").strip()
        return commit + ("+" if _git("status", "--porcelain", "--", "src", "reproduction/*.py") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout  # noqa: S603, S607


@functools.cache
def these_versions() -> str:
    """bipartite, Python and the libraries that compute, those that are installed: bipartite 0.2.0, python 3.11.7."""
    found = {"bipartite": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[library] = importlib.metadata.version(library)
    return ", ".join(f"{name} {version}" for name, version in found.items())

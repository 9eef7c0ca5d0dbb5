"""Two tiers of tests; code in docstrings, README and docs runs as tests; skips are counted against a committed list.

``pytest`` runs the quick tier, ``pytest --all`` everything. A test that is marked ``slow`` is left to ``--all``; of one
that is marked ``grid(n)`` the quick tier runs n cases; what is in ``ELSEWHERE`` it does not even import. What the
command line names runs in either tier: ``pytest path::test`` with all cases, ``pytest reproduction`` the laboratory.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections import defaultdict
from doctest import ELLIPSIS
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).parent
ALLOWED_SKIPS = ROOT / "tests" / "allowed_skips.txt"
NO_DATA = "BIPARTITE_DATA names no folder of data sets"

_FORCING = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "ATEN_CPU_CAPABILITY",
    "MKL_CBWR",
    "ONEDNN_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
)

# The laboratory, clusters, notebooks, and the pages whose examples take seconds.
ELSEWHERE = (
    *("reproduction", "tests/tables/test_spark", "tests/test_notebooks.py", "docs/notebooks"),
    *("docs/advisor.md", "docs/several-attributes.md", "docs/which-epsilon.md"),
)

# No time limit of their own: a slow machine is not a finding. What blocks a landing is the same on every day; only the
# nightly profile (``pytest --all --hypothesis-profile=nightly``) looks at examples that nobody has seen.
_EXAMPLES = {"quick": (15, True), "full": (200, True), "nightly": (5_000, False)}
for _name, (_examples, _same) in _EXAMPLES.items():
    settings.register_profile(
        _name,
        max_examples=_examples,
        derandomize=_same,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--all``: the slow tier, too."""
    parser.addoption("--all", action="store_true", dest="all_tests", help="also the slow tests, and all cases of grids")


def pytest_configure(config: pytest.Config) -> None:
    """More examples with ``--all``, unless a profile was named; and kernels, before there are workers."""
    if config.getoption("all_tests") and not config.getoption("hypothesis_profile", None):
        settings.load_profile("full")
    if config.getoption("numprocesses", None):
        _compile_kernels_once()


def _compile_kernels_once() -> None:
    """In a fresh clone every worker would compile all kernels (47 s); here two processes compile half of them each.

    Where this cannot be (numba is missing, the folder is read-only), workers do without kernels or compile their own.
    """
    package = importlib.util.find_spec("bipartite")
    if package is None or package.origin is None or importlib.util.find_spec("numba") is None:
        return
    source = Path(package.origin).parent
    cache = Path(os.environ.get("NUMBA_CACHE_DIR", source))
    if any(cache.rglob("*.nbi")) or not os.access(source, os.W_OK):
        return
    halves: dict[bool, list[str]] = defaultdict(list)
    for path in sorted(source.rglob("compiled*.py")):
        name = path.relative_to(source.parent).with_suffix("").as_posix().replace("/", ".")
        halves[name.startswith("bipartite.learn.")].append(f"import {name}")
    # A kernel that does not compile is the business of its tests: nothing is said or raised here.
    commands = [[sys.executable, "-c", "\n".join(half)] for half in halves.values()]
    processes = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]  # noqa: S603 (our own)
    for process in processes:
        process.wait()


@cache
def _named(config: pytest.Config) -> list[tuple[Path, str]]:
    """Path and test, where there is one, of everything that the command line names."""
    if config.args == config.getini("testpaths"):  # it names nothing; a worker of xdist cannot tell otherwise
        return []
    words = [word.partition("::") for word in config.args]
    return [((config.invocation_params.dir / path).resolve(), test) for path, _, test in words]


def _is_elsewhere(path: Path) -> bool:
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix().startswith(ELSEWHERE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The quick tier does not import what only the slow one runs, unless it is named."""
    if config.getoption("all_tests") or not _is_elsewhere(collection_path):
        return None
    named = any(_is_elsewhere(path) and collection_path.is_relative_to(path) for path, _ in _named(config))
    return None if named else True


def _is_named(item: pytest.Item) -> bool:
    name = item.nodeid.partition("::")[2]
    return any(
        test and item.path.resolve() == path and (name == test or name.startswith((f"{test}[", f"{test}::")))
        for path, test in _named(item.config)
    )


def _left_to_the_slow_tier(items: list[pytest.Item]) -> set[pytest.Item]:
    """Every slow test, and all but n cases of each grid."""
    left = {item for item in items if item.get_closest_marker("slow") and not _is_named(item)}
    grids: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item not in left and item.get_closest_marker("grid") and not _is_named(item):
            grids[item.nodeid.partition("[")[0]].append(item)
    for cases in grids.values():
        (number,) = next(cases[0].iter_markers("grid")).args
        # By a hash: spread over all parameters, the same on every machine, and hardly moved by a new case.
        left |= set(sorted(cases, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())[number:])
    return left


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``--all``, only the quick tier."""
    if not config.getoption("all_tests"):
        left = _left_to_the_slow_tier(items)
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]


# Before Python 3.13 a path does not match ``**`` over several folders: one pattern for each depth.
DOCSTRINGS = [f"{folder}/{'*/' * depth}*.py" for folder in ("src/bipartite", "reproduction") for depth in range(4)]

_docs = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), SkipParser()],
    patterns=["README.md", "docs/*.md"],
)
_docstrings = Sybil(
    parsers=[DocTestParser(optionflags=ELLIPSIS)],
    patterns=DOCSTRINGS,
    document_types={".py": PythonDocStringDocument},
)
_collect = (_docs + _docstrings).pytest()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Examples; a module without any, as most are, is not parsed in search of them."""
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        return None
    return _collect(file_path, parent)


def pytest_report_header() -> str:
    """With how many threads and which instructions numbers are computed, because last bits depend on both."""
    try:
        import torch  # noqa: PLC0415 (slow, and only for whoever prints the header: no worker does)
    except ImportError:
        return "torch: not installed"
    capability = torch.backends.cpu.get_cpu_capability()
    forced = [f"{name}={os.environ[name]}" for name in _FORCING if name in os.environ]
    threads = f"torch: threads {torch.get_num_threads()}, CPU capability {capability}"
    return f"{threads}; set: {', '.join(forced) or 'nothing'}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Only tests marked ``data`` see the data sets, so that all others do the same on a machine without them."""
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("data") is None:
            patch.delenv("BIPARTITE_DATA", raising=False)
        return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Without the data sets, the tests that are marked skip."""
    if item.get_closest_marker("data") and not os.environ.get("BIPARTITE_DATA"):
        pytest.skip(NO_DATA)


_skipped: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Remember every skip with its reason."""
    if report.skipped and isinstance(report.longrepr, tuple):
        _skipped[report.nodeid] = str(report.longrepr[2])


pytest_collectreport = pytest_runtest_logreport  # a whole file that skips


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when a skip is not on the committed list; tests of data sets and PostgreSQL may skip without."""
    if hasattr(session.config, "workerinput"):
        return
    from tests.postgresql import NO_POSTGRESQL, binaries  # noqa: PLC0415 (pytest rewrites what it imports first)

    allowed = [line.split("#")[0].strip() for line in ALLOWED_SKIPS.read_text(encoding="utf-8").splitlines()]
    prefixes = tuple(line for line in allowed if line)
    for test, reason in sorted(_skipped.items()):
        without_data = reason == f"Skipped: {NO_DATA}" and not os.environ.get("BIPARTITE_DATA")
        without_server = reason == f"Skipped: {NO_POSTGRESQL}" and binaries() is None
        wrong = not (without_data or without_server or test.startswith(prefixes))
        print(f"\nskipped{' AND NOT ALLOWED' if wrong else ''}: {test}: {reason}")  # noqa: T201
        if wrong:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

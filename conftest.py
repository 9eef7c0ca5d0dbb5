"""Two tiers of tests; code in docstrings, README and docs runs as tests; skips are counted against a committed list.

``pytest`` runs the quick tier, ``pytest --all`` everything. A test that is marked ``slow`` is left to ``--all``; of one
that is marked ``grid(n)`` the quick tier runs n cases; what is in ``ELSEWHERE`` it does not even import.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import zlib
from collections import defaultdict
from doctest import ELLIPSIS
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

# The laboratory, clusters and notebooks.
ELSEWHERE = ("reproduction", "tests/tables/test_spark", "tests/test_notebooks.py", "docs/notebooks")

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


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 (xdist's, which has no stubs)
    """With ``--dist each``, tell each worker its part of the files."""
    if node.config.getoption("dist") == "each":
        number, parts = int(node.workerinput["workerid"].removeprefix("gw")), node.workerinput["workercount"]
        node.workerinput["part"] = (number % parts, parts)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:  # noqa: ANN401 (xdist's, which has no stubs)
    """With ``--dist each``, a worker runs all that it collected; here the session learns how much that is in all."""
    if config.getoption("dist") != "each":
        return None
    from xdist.scheduler import EachScheduling  # noqa: PLC0415 (not everyone has it)

    class Parts(EachScheduling):
        def schedule(self) -> None:
            session = self.config.pluginmanager.get_plugin("session")
            session.testscollected = sum(map(len, self.node2collection.values()))
            super().schedule()

    return Parts(config, log)


def _belongs_to_another_worker(path: Path, config: pytest.Config) -> bool:
    """Each worker imports only the files that it runs: to import all and rewrite their asserts takes 20 s."""
    number, parts = getattr(config, "workerinput", {}).get("part", (0, 1))
    name = Path(os.path.relpath(path, ROOT)).as_posix()
    return zlib.crc32(name.encode()) % parts != number


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """No worker imports what another one runs, and the quick tier not what only the slow one runs."""
    if collection_path.is_file() and _belongs_to_another_worker(collection_path, config):
        return True
    if config.getoption("all_tests") or not collection_path.is_relative_to(ROOT):
        return None
    return collection_path.relative_to(ROOT).as_posix().startswith(ELSEWHERE) or None


def _left_to_the_slow_tier(items: list[pytest.Item]) -> set[pytest.Item]:
    """Every slow test, and all but n cases of each grid."""
    left = {item for item in items if item.get_closest_marker("slow")}
    grids: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item not in left and item.get_closest_marker("grid"):
            grids[item.nodeid.partition("[")[0]].append(item)
    for cases in grids.values():
        (number,) = next(cases[0].iter_markers("grid")).args
        # By a hash: spread over all parameters, the same on every machine, and hardly moved by a new case.
        left |= set(sorted(cases, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())[number:])
    return left


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``--all``, only the quick tier; and of files that were named, only those of this worker."""
    left = {item for item in items if _belongs_to_another_worker(item.path, config)}
    if not config.getoption("all_tests"):
        left |= _left_to_the_slow_tier(items)
    if left:
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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember every skip with its reason."""
    if report.skipped and isinstance(report.longrepr, tuple):
        _skipped[report.nodeid] = str(report.longrepr[2])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when a skip is not on the committed list; tests of the data sets may skip without them."""
    if hasattr(session.config, "workerinput"):
        return
    allowed = [line.split("#")[0].strip() for line in ALLOWED_SKIPS.read_text(encoding="utf-8").splitlines()]
    prefixes = tuple(line for line in allowed if line)
    for test, reason in sorted(_skipped.items()):
        without_data = reason == f"Skipped: {NO_DATA}" and not os.environ.get("BIPARTITE_DATA")
        wrong = not (without_data or test.startswith(prefixes))
        print(f"\nskipped{' AND NOT ALLOWED' if wrong else ''}: {test}: {reason}")  # noqa: T201
        if wrong:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

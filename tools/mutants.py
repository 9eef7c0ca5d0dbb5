"""Small faults, applied one at a time to a copy of this tree: which test of the quick tier notices each?

    python tools/mutants.py [NAME …]          all faults of tools/mutants.toml, or these; fails when one survives
    python tools/mutants.py --find [NAME …]   where the noted tests no longer notice a fault, look for others and note them
    python tools/mutants.py --list            names, rooms and places

The checkout itself is never edited. One process imports what most tests need, all but this package, and a child of it
runs the tests of one fault: that saves seconds of imports for each.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
AT_ONCE: Final = 2
LIMIT: Final = 60.0
"""Seconds for the noted tests of one fault; whatever takes longer hangs, and that is noticed too."""
_MANY: Final = 10  # times the limit, for all noted tests together and for whole folders
_PYTEST: Final = ("-q", "-n", "0", "-p", "no:cacheprovider", "--assert=plain", "--tb=line")
_VITEST: Final = ("node", "node_modules/vitest/vitest.mjs", "run", "--no-isolate", "--pool=threads")
_GONE: Final = (
    "its `old` text occurs {} times in {}. The code was redesigned: port the fault to wherever the same promise is kept "
    "now, so that exactly one place fits, and run tools/mutants.py --find {}."
)
_ALIVE: Final = (
    "no noted test failed. Run tools/mutants.py --find {}; where that finds none, write a quick test of the promise "
    "that this fault breaks."
)


@dataclass(frozen=True)
class Fault:
    """One line of code that is wrong, and the tests that are known to notice."""

    name: str
    room: str
    file: str
    old: str
    new: str
    killers: tuple[str, ...]
    near: tuple[str, ...]

    def times(self, root: Path) -> int:
        """How often the text to replace occurs; it must be once."""
        path = root / self.file
        return path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0

    def apply(self, tree: Path) -> None:
        """Write the fault into a copy."""
        path = tree / self.file
        stamp = path.stat().st_mtime_ns + 3600 * 10**9  # another time: compiled files belong to what it was before
        path.write_text(path.read_text(encoding="utf-8").replace(self.old, self.new), encoding="utf-8")
        os.utime(path, ns=(stamp, stamp))

    def undo(self, root: Path, tree: Path) -> None:
        """Take it out again, and with it whatever numba compiled."""
        shutil.copy2(root / self.file, tree / self.file)
        for each in (tree / self.file).parent.glob(f"__pycache__/{Path(self.file).stem}.*.nb[ic]"):
            each.unlink()
        _copy((root / self.file).parent.glob(f"__pycache__/{Path(self.file).stem}.*.nb[ic]"), root, tree)


@dataclass(frozen=True)
class Outcome:
    """What became of one run of tests."""

    failed: tuple[tuple[str, float], ...] = ()
    """The tests that failed, and how many seconds each took."""
    code: int = 0
    stopped: bool = False
    """Whether it was ended after its time limit."""
    log: str = ""

    @property
    def noticed(self) -> str | None:
        """What noticed the fault, in words; None if nothing did."""
        if self.failed:
            return self.failed[0][0]
        if self.stopped:
            return "the time limit"
        return "a crash" if self.code < 0 else None


class _Watch:
    """A plugin of pytest: which tests failed, and which files could not even be read."""

    def __init__(self) -> None:
        self.failed: list[tuple[str, float]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.failed.append((report.nodeid, report.duration))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that fails to import."""
        if report.failed:
            self.failed.append((report.nodeid, 0.0))


def read_faults(path: Path) -> tuple[list[str], list[Fault]]:
    """(modules that most tests need, all faults)."""
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    near = held.get("near", {})
    faults = [
        Fault(**{"near": near.get(each["room"], []), **each, "killers": tuple(each["killers"])}) for each in held["fault"]
    ]
    return held.get("imports", []), faults


def copy_tree(root: Path, tree: Path) -> Path:
    """What git knows or would add, and what was compiled from it, with the times that caches go by."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    files = [root / name for name in listed.split("\0") if name and (root / name).is_file()]
    _copy(files, root, tree)
    for folder in sorted({file.parent for file in files}):
        _copy(folder.glob("__pycache__/*.nb[ic]"), root, tree)
        _copy(folder.glob("__pycache__/*[0-9].pyc"), root, tree)
    if (root / "client" / "node_modules").is_dir():
        (tree / "client" / "node_modules").symlink_to(root / "client" / "node_modules")
    return tree


def _copy(files: Iterable[Path], root: Path, tree: Path) -> None:
    for file in files:
        to = tree / file.relative_to(root)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, to)


def _start(tree: Path, tests: Sequence[str], options: Sequence[str]) -> int:
    """Begin a run of tests in a copy, in a process group of its own; the process id."""
    (tree.parent / f"{tree.name}.json").unlink(missing_ok=True)
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        log = os.open(tree.parent / f"{tree.name}.log", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        for number in (1, 2):
            os.dup2(log, number)
        if tests[0].startswith("client/"):
            _run_vitest(tree, tests)
        code = _run_pytest(tree, [*_PYTEST, *options, *tests])
    finally:
        os._exit(code)


def _run_vitest(tree: Path, tests: Sequence[str]) -> NoReturn:
    os.chdir(tree / "client")
    files = [each.removeprefix("client/") for each in tests]
    answer = f"--outputFile={tree.parent / tree.name}.json"
    os.execvp(_VITEST[0], [*_VITEST, "--reporter=json", answer, *files])  # noqa: S606


def _run_pytest(tree: Path, arguments: list[str]) -> int:
    os.chdir(tree)
    here = [str(tree / "src"), str(tree)]
    sys.path[0:1] = here
    os.environ["PYTHONPATH"] = os.pathsep.join(here)
    watch = _Watch()
    code = int(pytest.main(arguments, plugins=[watch]))
    (tree.parent / f"{tree.name}.json").write_text(json.dumps(watch.failed), encoding="utf-8")
    return code


def _outcome(tree: Path, status: int, *, stopped: bool) -> Outcome:
    """What a run left behind."""
    answer, log = (tree.parent / f"{tree.name}.{kind}" for kind in ("json", "log"))
    held = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() and not stopped else []
    if isinstance(held, dict):  # of vitest
        held = [
            (f"{Path(file['name']).relative_to(tree).as_posix()}: {test['title']}", (test.get("duration") or 0) / 1000)
            for file in held["testResults"]
            for test in file["assertionResults"]
            if test["status"] == "failed"
        ]
    failed = tuple((name, seconds) for name, seconds in held)
    told = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return Outcome(failed, os.waitstatus_to_exitcode(status), stopped, told)


@dataclass(frozen=True)
class Job:
    """Tests to run, with a fault or without."""

    fault: Fault | None
    tests: tuple[str, ...]
    options: tuple[str, ...]
    limit: float


def run_jobs(root: Path, trees: list[Path], jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
    """Run jobs, as many at a time as there are copies; each as it ends."""
    waiting, free = list(reversed(list(jobs))), list(trees)
    running: dict[int, tuple[Job, Path, float]] = {}
    try:
        while waiting or running:
            while waiting and free:
                job, tree = waiting.pop(), free.pop()
                if job.fault is not None:
                    job.fault.apply(tree)
                running[_start(tree, job.tests, job.options)] = job, tree, time.monotonic()
            time.sleep(0.02)
            for pid, (job, tree, began) in list(running.items()):
                late = time.monotonic() - began > job.limit
                if late:
                    os.killpg(pid, signal.SIGKILL)
                ended, status = os.waitpid(pid, 0 if late else os.WNOHANG)
                if ended:
                    del running[pid]
                    if job.fault is not None:
                        job.fault.undo(root, tree)
                    free.append(tree)
                    yield job, _outcome(tree, status, stopped=late)
    finally:
        for pid in running:
            os.killpg(pid, signal.SIGKILL)


def _noted(faults: Iterable[Fault]) -> Iterator[Job]:
    """All noted tests without a fault, which must pass, and then those of each fault."""
    killers = sorted({killer for fault in faults for killer in fault.killers})
    for client in (False, True):
        mine = tuple(each for each in killers if each.startswith("client/") == client)
        if mine:
            yield Job(None, mine, (), LIMIT * _MANY)
    for fault in faults:
        if fault.killers:
            yield Job(fault, fault.killers, ("-x",), LIMIT)


def check(root: Path, trees: list[Path], faults: list[Fault]) -> list[Fault]:
    """Say of each fault what notices it; the faults that nothing does."""
    alive = [fault for fault in faults if not fault.killers]
    for job, outcome in run_jobs(root, trees, _noted(faults)):
        fault = job.fault
        if fault is None:
            if outcome.code:
                sys.exit(f"The noted tests do not all pass without a fault:\n{outcome.log[-3000:]}")
        elif outcome.noticed is not None:
            print(f"killed    {fault.room:<13}{fault.name:<44}{outcome.noticed}", flush=True)
        else:
            ran = _ALIVE.format(fault.name) if not outcome.code else f"its tests do not run: {outcome.log[-500:]}"
            print(f"SURVIVED  {fault.room:<13}{fault.name}: {ran}", flush=True)
            alive.append(fault)
    return alive


def find(root: Path, trees: list[Path], faults: list[Fault], notes: Path) -> list[Fault]:
    """Look for tests that notice these faults, note the quickest of a few; the faults that nothing notices."""
    alive = []
    jobs = (Job(fault, fault.near, ("-x",), LIMIT * _MANY) for fault in faults)
    for job, outcome in run_jobs(root, trees, jobs):
        fault = job.fault
        assert fault is not None  # noqa: S101 (each job above has one)
        quickest = min(outcome.failed, key=lambda each: each[1], default=None)
        if quickest is None:
            print(f"SURVIVED  {fault.name}: {outcome.noticed or f'nothing in {fault.near} fails'}", flush=True)
            alive.append(fault)
            continue
        killer = re.split(r"[\[:]" if quickest[0].startswith("client/") else r"\[", quickest[0], maxsplit=1)[0]
        print(f"found     {fault.name}: {killer}, {quickest[1]:.2f} s", flush=True)
        block = re.compile(rf'(name = "{re.escape(fault.name)}"\n(?:(?!\[\[fault\]\]).)*?killers = )\[[^\]]*\]', re.DOTALL)
        text = notes.read_text(encoding="utf-8")
        notes.write_text(block.sub(lambda found, to=killer: f'{found[1]}["{to}"]', text), encoding="utf-8")
    return alive


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--find", action="store_true", help="look for tests where the noted ones notice nothing")
    parser.add_argument("--list", action="store_true", help="only say which faults there are")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    given = parser.parse_args(arguments)
    root: Path = given.root.resolve()
    notes = root / "tools" / "mutants.toml"
    imports, faults = read_faults(notes)
    faults = [fault for fault in faults if not given.names or fault.name in given.names]
    if given.list:
        for fault in faults:
            print(f"{fault.room:<13}{fault.name:<44}{fault.file}")
        return 0
    gone = [fault for fault in faults if fault.times(root) != 1]
    for fault in gone:
        print(f"GONE      {fault.room:<13}{fault.name}: {_GONE.format(fault.times(root), fault.file, fault.name)}")
    faults = [fault for fault in faults if fault not in gone]
    began = time.monotonic()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    sys.dont_write_bytecode = True
    for each in imports:
        importlib.import_module(each)
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        trees = [copy_tree(root, Path(folder).resolve() / str(number)) for number in range(AT_ONCE)]
        alive = check(root, trees, faults)
        if given.find:
            alive = find(root, trees, alive, notes)
    killed = len(faults) - len(alive)
    print(f"{killed} of {len(faults) + len(gone)} faults killed in {time.monotonic() - began:.0f} s", flush=True)
    return 1 if alive or gone else 0


if __name__ == "__main__":
    sys.exit(main())

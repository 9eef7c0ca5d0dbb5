"""Applies small faults to a copy of this tree, one at a time, and says which test of the quick tier notices each.

    python tools/mutants.py [NAME …]          all faults of tools/mutants.toml, or these; fails when one survives
    python tools/mutants.py --find [NAME …]   where the noted tests notice nothing: look near by, note what is found
    python tools/mutants.py --list            names, rooms and places

The checkout is never edited. One process imports what most tests need, all but this package, and forks a child for the
tests of each fault: that saves seconds of imports every time.
"""

from __future__ import annotations

import argparse
import importlib
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
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT: Final = Path(__file__).resolve().parents[1]
AT_ONCE: Final = 2
# Seconds for the noted tests of a fault (what takes longer hangs, and that is noticed, too), and for anything else.
LIMIT, LONG = 60.0, 900.0
_PYTEST: Final = ("-q", "-n", "0", "-p", "no:cacheprovider", "--assert=plain", "--tb=no", "-rfE")
_VITEST: Final = ("node", "node_modules/vitest/vitest.mjs", "run", "--pool=threads", "--no-isolate")
# What both print of a failed test; of a parametrised one, without its parameters.
_FAILED: Final = re.compile(r"^(?:FAILED |ERROR | FAIL  )([^\s\[]+)", re.MULTILINE)
_GONE: Final = """its `old` text occurs {} times in {}.
  The code was redesigned: port the fault to the one place where the same promise is kept now; then run --find {}."""
_ALIVE: Final = """no noted test failed.
  Run tools/mutants.py --find {}; where that finds none, write a quick test of the promise that the fault breaks."""


@dataclass(frozen=True)
class Fault:
    """A line of code gone wrong, and the tests that are known to notice."""

    name: str
    room: str
    file: str
    old: str
    new: str
    killers: list[str]
    near: list[str]

    def times(self, root: Path) -> int:
        """How often the text to replace occurs; it must be once."""
        path = root / self.file
        return path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0

    def apply(self, tree: Path) -> None:
        """Write the fault into a copy."""
        path = tree / self.file
        path.write_text(path.read_text(encoding="utf-8").replace(self.old, self.new), encoding="utf-8")
        stamp = path.stat().st_mtime + 3600  # so that nothing compiled from the file as it was is used for it
        os.utime(path, (stamp, stamp))

    def undo(self, root: Path, tree: Path) -> None:
        """Take it out again, with whatever numba compiled from it."""
        kernels = f"__pycache__/{Path(self.file).stem}.*.nb[ic]"
        for compiled in (tree / self.file).parent.glob(kernels):
            compiled.unlink()
        _copy([root / self.file, *(root / self.file).parent.glob(kernels)], root, tree)

    def say(self, what: str, more: str) -> None:
        """Print what became of it."""
        print(f"{what:<10}{self.room:<13}{self.name:<42} {more}", flush=True)


Job = tuple[Fault | None, list[str], float]
"""Tests to run, with a fault or with none, and how many seconds they may take."""
Outcome = tuple[list[str], int, str]
"""The tests that failed, the exit code (negative for a signal), and all that was printed."""


def read_faults(path: Path) -> tuple[list[str], list[Fault]]:
    """(modules that most tests need, all faults)."""
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    rooms = held.get("near", {})
    near = [dict.fromkeys([*each.get("near", []), *rooms.get(each["room"], [])]) for each in held["fault"]]
    faults = [Fault(**{**each, "near": list(places)}) for each, places in zip(held["fault"], near, strict=True)]
    return held.get("imports", []), faults


def copy_tree(root: Path, tree: Path) -> Path:
    """Copy what git knows or would add, and what was compiled from it: caches go by the times of files, which stay."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout  # noqa: S603
    files = [root / name for name in listed.split("\0") if (root / name).is_file()]
    compiled = [each for folder in {file.parent for file in files} for each in folder.glob("__pycache__/*.*")]
    _copy(files + compiled, root, tree)
    if (root / "client" / "node_modules").is_dir():
        (tree / "client" / "node_modules").symlink_to(root / "client" / "node_modules")
    return tree


def _copy(files: Iterable[Path], root: Path, tree: Path) -> None:
    for file in files:
        to = tree / file.relative_to(root)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, to)


def _start(tree: Path, tests: list[str], options: list[str]) -> int:
    """Begin tests in a copy, as a process group of its own; gives its number."""
    child = os.fork()
    if child:
        return child
    code = os.EX_SOFTWARE
    try:
        os.setsid()
        printed = os.open(tree.with_suffix(".log"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        if tests[0].startswith("client/"):
            os.chdir(tree / "client")
            files = [test.removeprefix("client/") for test in tests]
            os.execvp(_VITEST[0], [*_VITEST, *files])  # noqa: S606
        os.chdir(tree)
        sys.path[0:1] = [str(tree / "src"), str(tree)]
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[0:2])
        code = int(pytest.main([*_PYTEST, *options, *tests]))
    finally:
        os._exit(code)


def run(root: Path, trees: list[Path], jobs: Iterable[Job]) -> Iterator[tuple[Fault | None, Outcome]]:
    """Run jobs, as many at a time as there are copies of the tree; gives what became of each as it ends."""
    waiting, free = list(jobs)[::-1], list(trees)
    running: dict[int, tuple[Fault | None, Path, float]] = {}
    try:
        while waiting or running:
            while waiting and free:
                (fault, tests, limit), tree = waiting.pop(), free.pop()
                if fault is not None:
                    fault.apply(tree)
                running[_start(tree, tests, ["-x"] if fault else [])] = fault, tree, time.monotonic() + limit
            time.sleep(0.02)
            for child, (fault, tree, until) in list(running.items()):
                if time.monotonic() > until:
                    os.killpg(child, signal.SIGKILL)
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    del running[child]
                    if fault is not None:
                        fault.undo(root, tree)
                    free.append(tree)
                    printed = tree.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
                    failed = [re.sub("^test/", "client/test/", each) for each in _FAILED.findall(printed)]
                    yield fault, (failed, os.waitstatus_to_exitcode(status), printed)
    finally:
        for child in running:
            os.killpg(child, signal.SIGKILL)


def check(root: Path, trees: list[Path], faults: list[Fault]) -> list[Fault]:
    """Say of each fault what notices it; gives the faults that nothing does."""
    alive = [fault for fault in faults if not fault.killers]
    noted = {killer for fault in faults for killer in fault.killers}
    client = sorted(each for each in noted if each.startswith("client/"))
    # Without a fault all must pass, or their failures would mean nothing.
    jobs: list[Job] = [(None, sorted(noted.difference(client)), LONG), (None, client, LONG)]
    jobs += [(fault, fault.killers, LIMIT) for fault in faults]
    for fault, (failed, code, printed) in run(root, trees, (job for job in jobs if job[1])):
        if fault is None:
            if failed:
                sys.exit(f"Without any fault, noted tests fail: {', '.join(failed)}")
        elif failed or code < 0:
            fault.say("killed", failed[0] if failed else "a crash, or the time limit")
        else:
            unable = f"its tests do not run; look for others with --find.\n{printed[-500:]}"
            fault.say("SURVIVED", unable if code else _ALIVE.format(fault.name))
            alive.append(fault)
    return alive


def find(root: Path, trees: list[Path], faults: list[Fault], notes: Path) -> list[Fault]:
    """Look near by for a test that notices each of these faults, and note it; gives the faults that nothing notices."""
    alive = list(faults)
    for depth in range(max((len(fault.near) for fault in faults), default=0)):
        # One place after another: most faults are noticed in the first, and the others need not be imported for them.
        jobs = [(fault, fault.near[depth : depth + 1], LONG) for fault in alive if depth < len(fault.near)]
        for fault, (failed, _, _) in run(root, trees, jobs):
            if fault is not None and failed:
                fault.say("found", failed[0])
                text = notes.read_text(encoding="utf-8")
                first = text.index("killers = ", text.index(f'name = "{fault.name}"\n'))
                last = text.index("]", first) + 1
                notes.write_text(f'{text[:first]}killers = ["{failed[0]}"]{text[last:]}', encoding="utf-8")
                alive.remove(fault)
    for fault in alive:
        fault.say("SURVIVED", f"nothing in {', '.join(fault.near)} fails")
    return alive


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--find", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    asked = parser.parse_args()
    began, root = time.monotonic(), asked.root.resolve()
    imports, faults = read_faults(root / "tools" / "mutants.toml")
    faults = [fault for fault in faults if not asked.names or fault.name in asked.names]
    if asked.list:
        for fault in faults:
            fault.say("", fault.file)
        return 0
    gone = [fault for fault in faults if fault.times(root) != 1]
    for fault in gone:
        fault.say("GONE", _GONE.format(fault.times(root), fault.file, fault.name))
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    sys.dont_write_bytecode = True
    for each in imports:
        importlib.import_module(each)
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        trees = [copy_tree(root, Path(folder).resolve() / str(number)) for number in range(AT_ONCE)]
        alive = check(root, trees, [fault for fault in faults if fault not in gone])
        if asked.find:
            alive = find(root, trees, alive, root / "tools" / "mutants.toml")
    print(f"{len(faults) - len(gone) - len(alive)} of {len(faults)} faults killed in {time.monotonic() - began:.0f} s")
    return 1 if alive or gone else 0


if __name__ == "__main__":
    sys.exit(main())

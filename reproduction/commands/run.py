"""``python -m reproduction run``: every figure of the paper on real data, and a verdict on every claim."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.cli import BAD_DATA, BUG, MISSING, OK, print_json, print_table
from bipartite.plots.figure import need_matplotlib
from reproduction.claims import judge_all
from reproduction.runner.cache import NotKeptError
from reproduction.runner.files import (
    CELLS,
    REPORT,
    Circumstances,
    all_versions,
    as_json,
    prepare,
    write_all,
)
from reproduction.runner.machine import this_machine
from reproduction.runner.registry import Entry, named
from reproduction.runner.report import report
from reproduction.runner.running import Outcome, Watch, check_seeds
from reproduction.runner.running import run as run_experiments

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXAMPLES = """examples:
  python -m reproduction run                          the quick report, all of it, into results/: minutes
  python -m reproduction run --full --out paper       every seed, budget and size: hours (sgd: days without a GPU)
  python -m reproduction run gbdt dnn --seeds 3       two of them
  python -m reproduction run --list                   names, figures, and what each needs

What was measured is kept in FOLDER/cells by settings and version, so a run that was stopped goes on where it was; two
runs may share a folder. What cannot run for want of data or an extra is reported with its address, and the others run;
then the exit code is 4 (3 where a file of data is damaged). One that fails by a bug in bipartite does not stop the
others either; then it is 70.
"""
_SYMBOLS: Final = {"done": "ok"}
_WIDTH: Final = 24


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    parser.add_argument("names", metavar="NAME", nargs="*", help="which experiments (default: all)")
    parser.add_argument("--list", action="store_true", help="list the experiments and what each needs")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small but real, all of it in minutes (default)")
    size.add_argument("--full", action="store_true", help="as large as the paper's")
    parser.add_argument("--seeds", metavar="K", type=int, help="so many seeds instead of those of the mode")
    parser.add_argument(
        "--out", metavar="FOLDER", type=_folder, default=Path("results"), help="where to write (default: results)"
    )
    parser.add_argument(
        "--no-extra-lines", action="store_true", help="only the lines of the paper: no limit, Anchored, constant answer"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object (schemas/reproduce.json)")
    parser.set_defaults(run=run)


def _folder(text: str) -> Path:
    if not text:  # an unset variable of a shell; Path("") would be the folder that one is in
        raise argparse.ArgumentTypeError("expected a folder, got an empty name")
    return Path(text)


def run(options: argparse.Namespace) -> int:
    """Measure, draw, judge, write."""
    entries = named(options.names)
    if options.list:
        return _list(entries, as_json=options.json)
    need_matplotlib("The report")  # before hours are spent
    check_seeds(options.seeds)
    prepare(options.out)
    mode = "full" if options.full else "quick"
    began = time.perf_counter()
    watch = _Watch(entries, 1 if options.full else 0)
    try:
        outcomes = run_experiments(
            entries,
            options.out / CELLS,
            mode="full" if options.full else "quick",
            seeds=options.seeds,
            extra=not options.no_extra_lines,
            watch=watch,
        )
    except KeyboardInterrupt:
        watch.stops(options.out / CELLS)
        raise
    judged = judge_all(outcomes)
    how = Circumstances(
        mode,
        _command(options),
        dt.datetime.now(tz=dt.UTC).date().isoformat(),
        time.perf_counter() - began,
        this_machine(),
        all_versions(),
        _measuring(options),
    )
    page = report(outcomes, judged, how)
    try:
        write_all(options.out, outcomes, judged, how, page)
    except OSError as error:
        raise NotKeptError.of(options.out, error) from None
    if options.json:
        print_json({"report": str(options.out / REPORT), **as_json(outcomes, judged, how)})
    else:
        verdicts = [str(each.judgement.verdict) for each in judged]
        rows = [(name, str(verdicts.count(name))) for name in dict.fromkeys(verdicts)]
        print_table(("verdict", "claims"), rows)
        print(f"Wrote {options.out / REPORT}.")
    return BUG if any(each.judgement.broken for each in judged) else _code(outcomes)


def _code(outcomes: Sequence[Outcome]) -> int:
    states = {outcome.state for outcome in outcomes}
    if "failed" in states:
        return BUG
    if "damaged data" in states:
        return BAD_DATA
    return OK if states <= {"done"} else MISSING


def _command(options: argparse.Namespace) -> str:
    """The command that gives this report; the default folder and mode are left out."""
    drawing = " --no-extra-lines" if options.no_extra_lines else ""
    return " ".join(["python -m reproduction run", *options.names]) + _measuring(options) + drawing


def _measuring(options: argparse.Namespace) -> str:
    """The options that change what is measured."""
    seeds = f" --seeds {options.seeds}" if options.seeds is not None else ""
    return f"{' --full' if options.full else ''}{seeds}"


def _list(entries: Sequence[Entry], *, as_json: bool) -> int:
    if as_json:
        print_json(
            {
                "experiments": [
                    {
                        "name": entry.name,
                        "figure": entry.figure,
                        "title": entry.title,
                        "data": list(entry.data),
                        "missing": entry.missing(),
                        "extra": entry.extra,
                    }
                    for entry in entries
                ]
            }
        )
        return OK
    rows = []
    for entry in entries:
        missing = entry.missing()
        needs = ", ".join(f"{name} (not here)" if name in missing else name for name in entry.data)
        rows.append((entry.name, entry.figure, entry.title, needs or "–", entry.extra or "–"))
    widths = [max(len(row[at]) for row in rows) for at in range(5)]
    for row in [("name", "figure", "shows", "data", "extra"), *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return OK


class _Watch(Watch):
    """A bar with the time left on a terminal, and a line for each experiment that is over, on stderr."""

    def __init__(self, entries: Sequence[Entry], mode: int) -> None:
        self._ahead = {entry.name: entry.seconds[mode] for entry in entries}
        self._expected = self._took = 0.0
        self._guess = 0.0
        self._cells = self._done = self._fresh = 0
        self._spent = 0.0
        self._name = ""
        self._visible = sys.stderr.isatty()

    def begins(self, entry: Entry, cells: int, kept: int) -> None:
        """An experiment of so many cells, of which so many were measured before."""
        self._guess = self._ahead.pop(entry.name) / max(cells, 1)
        self._cells, self._done, self._name = cells, kept, entry.name
        self._fresh, self._spent = 0, 0.0
        self._show()

    def cell(self, seconds: float) -> None:
        """A cell is measured."""
        self._done += 1
        self._fresh += 1
        self._spent += seconds
        self._took += seconds
        self._expected += self._guess
        self._show()

    def ends(self, outcome: Outcome) -> None:
        """An experiment is over."""
        self._ahead.pop(outcome.entry.name, None)
        if self._visible:
            sys.stderr.write("\r\033[K")
        state = _SYMBOLS.get(outcome.state, outcome.state)
        kept = f", {outcome.kept} kept from before" if outcome.kept else ""
        noun = "part" if outcome.cells == 1 else "parts"
        parts = f"{outcome.cells} {noun} in {outcome.seconds:.1f} s{kept}" if outcome.state == "done" else outcome.why
        print(f"{outcome.entry.name}: {state}: {parts}", file=sys.stderr)

    def stops(self, kept: Path) -> None:
        """Somebody stops the run."""
        if self._visible:
            sys.stderr.write("\r\033[K")
        print(f"What was measured is kept in {kept}; the same command goes on from there.", file=sys.stderr)

    def left(self) -> float:
        """Seconds left: what is measured of this experiment, and what others usually take, at the speed so far."""
        each = self._spent / self._fresh if self._fresh else self._guess
        speed = self._took / self._expected if self._expected else 1.0
        return each * (self._cells - self._done) + speed * sum(self._ahead.values())

    def _show(self) -> None:
        if not self._visible:
            return
        full = _WIDTH * self._done // max(self._cells, 1)
        minutes, seconds = divmod(round(self.left()), 60)
        left = f"{minutes} min" if minutes > 1 else f"{60 * minutes + seconds} s"
        bar = f"[{'#' * full}{'.' * (_WIDTH - full)}]"
        sys.stderr.write(f"\r\033[K{bar} {self._name}, {self._done} of {self._cells} parts; about {left} left in all")
        sys.stderr.flush()

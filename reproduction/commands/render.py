"""``python -m reproduction render``: a report from tables that were measured before."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.cli import OK
from bipartite.errors import InputError
from bipartite.plots.figure import need_matplotlib
from reproduction.claims import judge_all
from reproduction.runner import reading
from reproduction.runner.cache import NotKeptError
from reproduction.runner.files import REPORT, Circumstances, all_versions, write_tables
from reproduction.runner.machine import this_machine
from reproduction.runner.registry import EXPERIMENTS
from reproduction.runner.report import report

if TYPE_CHECKING:
    import argparse

    from reproduction.runner.running import Outcome

_EXAMPLES = """examples:
  python -m reproduction render results                   judge and draw again, after judges or pictures changed
  python -m reproduction render results --take newer      with the experiments that newer/ has, instead of the old ones

Nothing is measured. Maps of places are drawn from the data sets themselves.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="what a run had as --out")
    parser.add_argument(
        "--take", metavar="OTHER", type=Path, action="append", default=[], help="take the tables of another run first"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, judge, draw, write."""
    need_matplotlib("The report")
    held = reading.record(options.folder)
    runs = [(options.folder, held)]
    for other in options.take:
        theirs = reading.record(other)
        if theirs["mode"] != held["mode"]:
            raise InputError(
                f"Expected a {held['mode']} run in {str(other)!r}, got a {theirs['mode']} one; run it that way."
            )
        runs.append((other, theirs))
    found: dict[str, Outcome] = {}
    for folder, said in reversed(runs):  # the newest first: what it has is not read from the others
        found |= reading.outcomes(folder, said, found)
    seconds = sum(said["seconds"] for _, said in runs)
    outcomes = [found[entry.name] for entry in EXPERIMENTS if entry.name in found]
    judged = judge_all(outcomes)
    how = Circumstances(
        held["mode"],
        held["command"],
        dt.datetime.now(tz=dt.UTC).date().isoformat(),
        seconds,
        this_machine(),
        all_versions(),
        " --full" if held["mode"] == "full" else "",
    )
    try:
        write_tables(options.folder, outcomes, judged, how, report(outcomes, judged, how))
    except OSError as error:
        raise NotKeptError.of(options.folder, error) from None
    print(f"Wrote {options.folder / REPORT}.")
    return OK

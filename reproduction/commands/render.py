"""``python -m reproduction render``: a report from tables that were measured before."""

import argparse
import shutil
from pathlib import Path

from bipartite.cli import OK
from bipartite.errors import InputError
from bipartite.plots.figure import need_matplotlib
from reproduction.cells import NotKeptError
from reproduction.folder import REPORT, Circumstances, outcomes_of, record, write
from reproduction.judging import judge_all
from reproduction.registry import EXPERIMENTS
from reproduction.report import report
from reproduction.running import Outcome

_EXAMPLES = """examples:
  python -m reproduction render results                   judge and draw again, after rules or pictures changed
  python -m reproduction render results --take newer      with the experiments that newer/ has, instead of the old ones

Nothing is measured, and no data set is needed.
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
    held = record(options.folder)
    found: dict[str, Outcome] = {}
    seconds = 0.0
    for folder in [*reversed(options.take), options.folder]:  # the newest first: the others are not asked again
        said = record(folder)
        if said["mode"] != held["mode"]:
            raise InputError(
                f"Expected a {held['mode']} run in {str(folder)!r}, got a {said['mode']} one; run it that way."
            )
        theirs = outcomes_of(folder, found)
        seconds += said["seconds"]
        found |= theirs
        try:
            for name in theirs if folder != options.folder else ():
                shutil.copyfile(folder / f"{name}.csv", options.folder / f"{name}.csv")
        except OSError as error:
            raise NotKeptError.of(options.folder, error) from None
    outcomes = [found[entry.name] for entry in EXPERIMENTS if entry.name in found]
    judged = judge_all(outcomes)
    full = " --full" if held["mode"] == "full" else ""
    how = Circumstances(mode=held["mode"], command=held["command"], seconds=seconds, options=full)
    write(options.folder, outcomes, judged, how, report(outcomes, judged, how))
    print(f"Wrote {options.folder / REPORT}.")
    return OK

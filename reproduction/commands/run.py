"""``python -m reproduction run``: every figure of the paper on real data, and a verdict on every claim."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bipartite.cli import BAD_DATA, BUG, MISSING, OK, print_table
from bipartite.plots.figure import need_matplotlib
from reproduction.folder import CELLS, REPORT, Circumstances, prepare, write
from reproduction.judging import judge_all
from reproduction.registry import Entry, named
from reproduction.report import report
from reproduction.running import Mode, Outcome, check_seeds
from reproduction.running import run as run_experiments

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
_FEW: Final = 90  # seconds up to which a time is said in seconds


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
    parser.set_defaults(run=run)


def _folder(text: str) -> Path:
    if not text:  # an unset variable of a shell; Path("") would be the folder that one is in
        raise argparse.ArgumentTypeError("expected a folder, got an empty name")
    return Path(text)


def run(options: argparse.Namespace) -> int:
    """Measure, draw, judge, write."""
    entries = named(options.names)
    if options.list:
        return _list(entries)
    need_matplotlib("The report")  # before hours are spent
    check_seeds(options.seeds)
    prepare(options.out)
    began = time.perf_counter()
    mode: Mode = "full" if options.full else "quick"
    print(f"About {_duration(sum(entry.seconds[options.full] for entry in entries))} on two cores.", file=sys.stderr)
    try:
        outcomes = run_experiments(entries, options.out / CELLS, mode=mode, seeds=options.seeds, tell=_tell)
    except KeyboardInterrupt:
        kept = options.out / CELLS
        print(f"What was measured is kept in {kept}; the same command goes on from there.", file=sys.stderr)
        raise
    judged = judge_all(outcomes)
    seeds = f" --seeds {options.seeds}" if options.seeds is not None else ""
    measuring = f"{' --full' if options.full else ''}{seeds}"
    command = " ".join(["python -m reproduction run", *options.names]) + measuring
    how = Circumstances(mode=mode, command=command, seconds=time.perf_counter() - began, options=measuring)
    write(options.out, outcomes, judged, how, report(outcomes, judged, how))
    print_table(("verdict", "claims"), [(name, str(n)) for name, n in Counter(each.verdict for each in judged).items()])
    print(f"Wrote {options.out / REPORT}.")
    return BUG if any(each.judgement.broken for each in judged) else _code(outcomes)


def _code(outcomes: Sequence[Outcome]) -> int:
    states = {outcome.state for outcome in outcomes}
    if "failed" in states:
        return BUG
    if "damaged data" in states:
        return BAD_DATA
    return OK if states <= {"done"} else MISSING


def _list(entries: Sequence[Entry]) -> int:
    rows = []
    for entry in entries:
        missing = entry.missing()
        needs = ", ".join(f"{name} (not here)" if name in missing else name for name in entry.data)
        rows.append((entry.name, entry.figure, entry.title, needs or "–", entry.extra or "–"))
    print_table(("name", "figure", "shows", "data", "extra"), rows)
    return OK


def _tell(outcome: Outcome) -> None:
    """A line on stderr for an experiment that is over."""
    kept = f", {outcome.kept} kept from before" if outcome.kept else ""
    count = len(outcome.parts)
    said = f"{count} {'part' if count == 1 else 'parts'} in {outcome.seconds:.1f} s{kept}"
    state, words = ("ok", said) if outcome.state == "done" else (outcome.state, outcome.why)
    print(f"{outcome.entry.name}: {state}: {words}", file=sys.stderr)


def _duration(seconds: float) -> str:
    if seconds <= _FEW:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 60 * _FEW else f"{seconds / 3600:.0f} h"

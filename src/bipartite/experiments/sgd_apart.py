"""The SGD experiment on a machine apart, one with a GPU on which nothing can be installed.

Where bipartite is installed::

    python -m bipartite.experiments.sgd_apart plan cells.json

On the machine apart, with NumPy, torch and ``cryptography`` only, as often as it takes; cells that are in the file of
rows already are skipped, so that an interrupted run goes on::

    python -m bipartite.experiments.sgd_apart run cells.json rows.jsonl --cells 0:120

Several runs, each with a file of its own, share a GPU: ``--cells 0:530:4``, ``1:530:4`` and so on take every fourth.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bipartite.experiments.sgd import QUICK, Cell, Settings, cells, measure


def write_plan(path: Path, settings: Settings) -> int:
    """All cells as plain numbers; how many."""
    planned = [asdict(cell) for cell in cells(settings)]
    path.write_text(json.dumps(planned, allow_nan=False), encoding="utf-8")
    return len(planned)


def read_plan(path: Path) -> list[Cell]:
    """The cells of a plan."""
    plain: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [Cell(**{name: _hashable(each) for name, each in cell.items()}) for cell in plain]


def _hashable(value: Any) -> Any:  # noqa: ANN401 (JSON has lists for tuples)
    return tuple(value) if isinstance(value, list) else value


def finished(path: Path) -> set[int]:
    """The numbers of the cells whose rows are in a file; a last line that was cut off counts as none."""
    found = set()
    if path.exists():
        whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
        found = {int(json.loads(line)["cell"]) for line in whole.splitlines()}
        path.write_text(whole + "\n" if whole else "", encoding="utf-8")
    return found


def run(plan: Path, out: Path, asked: range) -> None:
    """Measure the cells asked for that are not yet in ``out``: a line of JSON for each."""
    planned = read_plan(plan)
    there = finished(out)
    wanted = [number for number in asked if number < len(planned) and number not in there]
    with out.open("a", encoding="utf-8") as stream:
        for done, number in enumerate(wanted, 1):
            start = time.perf_counter()
            rows = measure(planned[number])
            stream.write(json.dumps({"cell": number, "rows": rows}, ensure_ascii=False, allow_nan=False) + "\n")
            stream.flush()
            seconds = time.perf_counter() - start
            about = f"{planned[number].network} {planned[number].mechanism} {planned[number].epsilon:g}"
            sys.stderr.write(f"{done}/{len(wanted)} cell {number}: {about}, {seconds:.1f} s\n")


def read_rows(*paths: Path) -> list[dict[str, str | int | float | bool]]:
    """The rows of files of results."""
    return [
        row
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
        for row in json.loads(line)["rows"]
    ]


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bipartite.experiments.sgd_apart", description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    planning = what.add_parser("plan", help="write all cells to a file")
    planning.add_argument("plan", type=Path)
    planning.add_argument("--quick", action="store_true", help="the small run")
    running = what.add_parser("run", help="measure cells of a plan")
    running.add_argument("plan", type=Path)
    running.add_argument("out", type=Path)
    running.add_argument("--cells", default="0:1000000", help="first:last or first:last:step, the last not included")
    parsed = parser.parse_args(arguments)
    if parsed.what == "plan":
        count = write_plan(parsed.plan, QUICK if parsed.quick else Settings())
        sys.stderr.write(f"{count} cells\n")
        return 0
    try:
        first, last, *step = (int(each) for each in parsed.cells.split(":"))
        asked = range(first, last, *step)
    except (TypeError, ValueError):
        parser.error(f"expected --cells as first:last, such as 0:120, got {parsed.cells!r}")
    run(parsed.plan, parsed.out, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The SGD experiments on a machine apart, one with a GPU on which nothing can be installed.

Where bipartite is installed::

    python -m reproduction.experiments.sgd_apart plan cells.json

On the machine apart, with NumPy, torch and ``cryptography`` only, as often as it takes; cells that are in the file of
rows already are skipped, so that an interrupted run goes on::

    python -m reproduction.experiments.sgd_apart run cells.json rows.jsonl --cells 0:120

Several runs, each with a file of its own, share a GPU: ``--cells 0:530:4``, ``1:530:4`` and so on take every fourth.

At home again, rows go into the folder of results, where ``python -m reproduction run sgd --full --out results`` draws
them without measuring; its report says where they were measured::

    python -m reproduction.experiments.sgd_apart collect results rows.jsonl --where "one NVIDIA H200, torch 2.11"

``--of sgd_readings`` before the first word does the same for that experiment.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError, Problems, shown
from reproduction.experiments import sgd, sgd_readings
from reproduction.experiments.sgd import MEASURES, Cell, about_of
from reproduction.runner.cache import Cache, Measured
from reproduction.runner.files import CELLS
from reproduction.runner.registry import named

if TYPE_CHECKING:
    from collections.abc import Sequence

MODULES: Final = {"sgd": sgd, "sgd_readings": sgd_readings}
"""The experiments whose cells are trainings, by name."""


def write_plan(path: Path, settings: Any, name: str = "sgd") -> int:  # noqa: ANN401 (of that experiment)
    """All cells as plain numbers; how many."""
    planned = [asdict(cell) for cell in MODULES[name].cells(settings)]
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


def run(plan: Path, out: Path, asked: range, name: str = "sgd") -> None:
    """Measure the cells asked for that are not yet in ``out``: a line of JSON for each."""
    planned = read_plan(plan)
    version = named([name])[0].version
    there = finished(out)
    wanted = [number for number in asked if number < len(planned) and number not in there]
    with out.open("a", encoding="utf-8") as stream:
        for done, number in enumerate(wanted, 1):
            start = time.perf_counter()
            rows = MODULES[name].measure(planned[number])
            seconds = time.perf_counter() - start
            line = {"cell": number, "version": version, "seconds": round(seconds, 3), "rows": rows}
            stream.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
            stream.flush()
            about = f"{planned[number].network} {planned[number].mechanism} {planned[number].epsilon:g}"
            sys.stderr.write(f"{done}/{len(wanted)} cell {number}: {about}, {seconds:.1f} s\n")


def collect(folder: Path, paths: Sequence[Path], where: str, settings: Any, name: str = "sgd") -> int:  # noqa: ANN401
    """Put rows that were measured apart where ``python -m reproduction run`` looks for them; how many cells.

    Nothing is kept unless everything fits.

    Raises
    ------
    InputError
        A cell is not of the plan, its rows are not those of the cell, or another version of the experiment measured.
    """
    (entry,) = named([name])
    planned = MODULES[name].cells(settings)
    found: dict[int, Measured] = {}
    problems = Problems()
    for path in paths:
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                held = json.loads(line)
                number, rows, version = held["cell"], held["rows"], held["version"]
                seconds = float(held["seconds"])
                fits = type(number) is int and 0 <= number < len(planned) and _belong(planned[number], rows, name)
            except (ValueError, KeyError, TypeError, AttributeError):
                problems.add(f"Expected line {at} of {path.name} as a cell and its rows, got something else; cut it.")
                continue
            if version != entry.version:
                problems.add(
                    f"Expected line {at} of {path.name} to be of version {entry.version} of the experiment, got "
                    f"{shown(version)}; measure it again."
                )
                continue
            if not fits:
                problems.add(
                    f"Expected line {at} of {path.name} to be of this plan, got cell {shown(number)} with other rows; "
                    "collect with the settings that it was measured with."
                )
                continue
            found[number] = Measured(rows, seconds, where)
    problems.raise_if_any(InputError)
    cache = Cache(folder / CELLS, entry.name, entry.version)
    for number, measured in found.items():
        cache.store(planned[number], measured)
    return len(found)


def _belong(cell: Cell, rows: list[dict[str, Any]], name: str) -> bool:
    """Whether rows are those that measuring a cell gives: its columns, its grid, its steps and measures."""
    about = about_of(cell)
    curve = list(range(cell.every, cell.steps + 1, cell.every)) if name == "sgd" else []
    steps = [row["step"] for row in rows if row["measure"] == "accuracy"]
    others = [row["measure"] for row in rows if row["measure"] != "accuracy"]
    return (
        all({name: row[name] for name in about} == about for row in rows)
        and {(row["learning_rate"], row["clip"]) for row in rows} <= set(product(cell.learning_rates, cell.clips))
        and steps == curve
        and sorted(others) == sorted(MEASURES)
        and all(math.isfinite(row["value"]) for row in rows)
    )


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.experiments.sgd_apart", description=__doc__)
    parser.add_argument("--of", default="sgd", choices=MODULES, help="which experiment (default: sgd)")
    what = parser.add_subparsers(dest="what", required=True)
    planning = what.add_parser("plan", help="write all cells to a file")
    planning.add_argument("plan", type=Path)
    planning.add_argument("--quick", action="store_true", help="the small run")
    running = what.add_parser("run", help="measure cells of a plan")
    running.add_argument("plan", type=Path)
    running.add_argument("out", type=Path)
    running.add_argument("--cells", default="0:1000000", help="first:last or first:last:step, the last not included")
    collecting = what.add_parser("collect", help="put rows where python -m reproduction run finds them")
    collecting.add_argument(
        "folder", type=Path, help="the folder of results: what python -m reproduction run has as --out"
    )
    collecting.add_argument("rows", type=Path, nargs="+")
    collecting.add_argument("--where", required=True, help="the machine that measured, for the report")
    collecting.add_argument("--quick", action="store_true", help="the small run")
    parsed = parser.parse_args(arguments)
    module = MODULES[parsed.of]
    settings = module.QUICK if getattr(parsed, "quick", False) else module.Settings()
    if parsed.what == "collect":
        try:
            count = collect(parsed.folder, parsed.rows, parsed.where, settings, parsed.of)
        except InputError as error:
            parser.error(str(error))
        sys.stderr.write(f"{count} cells\n")
        return 0
    if parsed.what == "plan":
        count = write_plan(parsed.plan, settings, parsed.of)
        sys.stderr.write(f"{count} cells\n")
        return 0
    try:
        first, last, *step = (int(each) for each in parsed.cells.split(":"))
        asked = range(first, last, *step)
    except (TypeError, ValueError):
        parser.error(f"expected --cells as first:last, such as 0:120, got {parsed.cells!r}")
    run(parsed.plan, parsed.out, asked, parsed.of)
    return 0


if __name__ == "__main__":
    sys.exit(main())

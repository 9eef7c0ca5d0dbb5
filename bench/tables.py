"""What a release costs beside DuckDB's own copy of the same file: per row, at start-up, and in memory.

    python bench/tables.py                              5 million rows, Parquet and CSV
    python bench/tables.py --rows 20000000 --rounds 5   the size of the claims
    python bench/tables.py --rows 10000000 --memory     peak memory of the whole command, in a process of its own

The file is made by a stated recipe (RECIPE: DuckDB's hash of the row number), three private columns: a whole number, a
number on an interval and a category. Both sides use DuckDB's own compression and threads. Rounds alternate, after one
of each that is not counted, so that loading and compiling (the start-up) stay apart; the ratio of a round compares two
runs that follow each other, and the median of the rounds is shown with their range. Processor time is shown beside it,
because it says the same on a machine that others use too. Start-up is the wall time of the command on one row.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

import bipartite as bp
from bipartite.tables import Settings, privatize_file

if TYPE_CHECKING:
    from collections.abc import Callable

RECIPE = """
    SELECT (18 + hash(i) % 73)::INTEGER AS age,
           (hash(i + {rows}) % 200001)::DOUBLE AS income,
           ['nurse', 'teacher', 'other'][1 + (hash(i + 2 * {rows}) % 3)::INTEGER] AS job
    FROM range({rows}) AS numbers(i)
"""
PLAN = """
[columns.age]
domain = { integers = [18, 90] }
epsilon = 1

[columns.income]
domain = { interval = [0, 200000], points = 401 }
edges = "padded"
epsilon = 0.5
outside = "clip"

[columns.job]
domain = { categories = ["nurse", "teacher", "other"] }
epsilon = 1
"""


def timed(job: Callable[[], object]) -> tuple[float, float]:
    """(wall, processor) seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    job()
    return time.perf_counter() - wall, time.process_time() - processor


def compare(folder: Path, kind: str, rows: int, rounds: int) -> None:
    """Print the ratios of one format."""
    connection = duckdb.connect()
    source, copy, reports = (folder / f"{name}.{kind}" for name in ("in", "copy", "reports"))
    connection.execute(f"COPY ({RECIPE.format(rows=rows)}) TO '{source}'")
    plan = bp.Plan.read(folder / "plan.toml")
    sides = {
        "copy": lambda: connection.execute(f"COPY (FROM '{source}') TO '{copy}'"),
        "release": lambda: privatize_file(source, reports, plan, settings=Settings(overwrite=True)),
    }
    for job in sides.values():
        timed(job)
    found = [{name: timed(job) for name, job in sides.items()} for _ in range(rounds)]
    for number, what in enumerate(("wall", "processor")):
        ratios = sorted(each["release"][number] / each["copy"][number] for each in found)
        copied, released = (statistics.median(each[name][number] for each in found) for name in sides)
        print(
            f"{kind:8} {what:10} copy {copied / rows * 1e9:7.1f} ns/row, release {released / rows * 1e9:7.1f} ns/row, "
            f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )
    print(f"{kind:8} {source.stat().st_size / 1e6:,.0f} MB in, {reports.stat().st_size / 1e6:,.0f} MB of reports")


def command(folder: Path, source: Path, target: Path) -> tuple[float, int]:
    """(wall seconds, peak memory in MB) of the command in a process of its own, which starts no other."""
    words = [sys.executable, "-m", "bipartite", "privatize", source, target, "--plan", folder / "plan.toml"]
    began = time.perf_counter()
    process = subprocess.Popen([str(each) for each in [*words, "--overwrite"]], stderr=subprocess.DEVNULL)  # noqa: S603
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return time.perf_counter() - began, used.ru_maxrss // 1024


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--formats", nargs="+", default=["parquet", "csv"])
    parser.add_argument("--memory", action="store_true", help="peak memory only")
    parser.add_argument("--folder", type=Path, help="where the files go (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        print(f"{options.rows:,} rows, DuckDB {duckdb.__version__}, {os.cpu_count()} processors")
        if options.memory:
            for kind in options.formats:
                source = folder / f"in.{kind}"
                duckdb.execute(f"COPY ({RECIPE.format(rows=options.rows)}) TO '{source}'")
                seconds, peak = command(folder, source, folder / f"reports.{kind}")
                print(f"{kind:8} the whole command: {seconds:.1f} s, peak memory {peak} MB")
                source.unlink()
            return
        for kind in options.formats:
            compare(folder, kind, options.rows, options.rounds)
        one = folder / "one.csv"
        one.write_text("age,income,job\n40,50000,nurse\n", encoding="utf-8")
        starts = sorted(command(folder, one, folder / "one.parquet")[0] for _ in range(3))
        print(f"start-up (the command on one row): {starts[1]:.2f} s")


if __name__ == "__main__":
    main()

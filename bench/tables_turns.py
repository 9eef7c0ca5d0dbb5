"""Whole releases of two checkouts and DuckDB's copy, in turn: wall and processor time, and peak memory.

    python bench/tables_turns.py ../old . --millions 1 5 20 60

Every turn runs the copy, the old and the new command, each in a process of its own, on the file and plan of tables.py.
Shown are medians over the turns of release / copy, and of new / old. The Python of this environment runs both.
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

import duckdb

from tables import PLAN, RECIPE, Used


def process(checkout: Path, *words: object) -> Used:
    """Run Python on the sources of a checkout."""
    began = time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src"), "PYTHONDONTWRITEBYTECODE": ""}
    started = subprocess.Popen([sys.executable, *map(str, words)], env=environment, **quiet)  # noqa: S603
    _, status, used = os.wait4(started.pid, 0)
    assert status == 0, words
    return Used(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


def main() -> None:
    """Print a row for each size and format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs=2, type=Path, metavar="CHECKOUT")
    parser.add_argument("--millions", nargs="+", type=float, default=[1, 5, 20, 60])
    parser.add_argument("--kinds", nargs="+", default=["csv", "parquet"])
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    print("| rows | copy | old/copy | new/copy | new/old: wall | processor | peak MB, old | new |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        for kind in options.kinds:
            for millions in options.millions:
                print(row(folder, kind, round(millions * 10**6), options), flush=True)


def row(folder: Path, kind: str, rows: int, options: argparse.Namespace) -> str:
    """The medians of one size and format."""
    source, copy, reports = (folder / f"{name}.{kind}" for name in ("in", "copy", "reports"))
    duckdb.execute(f"COPY ({RECIPE.format(rows=rows)}) TO '{source}'")
    release = ("-m", "bipartite", "privatize", source, reports, "--plan", folder / "plan.toml", "--overwrite")
    copying = f"import duckdb; duckdb.execute(\"COPY (FROM '{source}') TO '{copy}'\")"
    turns = []
    for turn in range(options.turns + 1):
        sides = options.checkouts if turn % 2 else options.checkouts[::-1]
        found = {"copy": process(Path(), "-c", copying)} | {side: process(side, *release) for side in sides}
        turns += [found] if turn else []  # the first one compiles and fills caches
    old, new = options.checkouts

    def median(of: str, over: object, below: object) -> float:
        return statistics.median(getattr(each[over], of) / getattr(each[below], of) for each in turns)

    peaks = [statistics.median(each[side].peak for each in turns) for side in (old, new)]
    copied = statistics.median(each["copy"].wall for each in turns)
    over_copy = [median("wall", side, "copy") for side in (old, new)]
    return (
        f"| {kind}, {rows:,} | {copied:.2f} s | {over_copy[0]:.2f} | {over_copy[1]:.2f} | "
        f"{median('wall', new, old):.2f} | {median('processor', new, old):.2f} | {peaks[0]:.0f} | {peaks[1]:.0f} |"
    )


if __name__ == "__main__":
    main()

"""Kills ``bipartite privatize`` at random and looks at what it left: a whole release under the final name, or none.

    python bench/privatize_soak.py --kills 100 --seed 14

Each round releases the same table once more (CSV, Parquet or JSON lines; half of the rounds over an output that is
there already), kills it with SIGKILL at a random moment between its start and about its end, and counts the rows and
reads the specs of whatever stands under the final name. A partial file, or reports without their specs, ends the soak.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import duckdb

from bipartite.tables import estimate_file
from tables import PLAN, RECIPE

KINDS = ("csv", "parquet", "jsonl")


def release(source: Path, target: Path, plan: Path) -> subprocess.Popen[bytes]:
    """The command, started."""
    words = [sys.executable, "-m", "bipartite", "privatize", source, target, "--plan", plan, "--overwrite"]
    return subprocess.Popen([str(each) for each in words], stderr=subprocess.DEVNULL)  # noqa: S603


def state(target: Path, rows: int) -> str:
    """What stands under the final name: ``"none"`` or ``"whole"``; anything else is a partial release."""
    if not target.exists():
        return "none"
    read = "read_json" if target.suffix == ".jsonl" else f"read_{target.suffix[1:]}"
    ((found,),) = duckdb.sql(f"SELECT count(*) FROM {read}('{target}')").fetchall()  # noqa: S608
    if found != rows:
        return f"partial: {found:,} of {rows:,} rows"
    estimate_file(target)  # needs the specs, and reports that are theirs
    return "whole"


def main() -> int:
    """Run the soak."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=14)
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 (moments, not reports)
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan, source = folder / "plan.toml", folder / "in.parquet"
        plan.write_text(PLAN, encoding="utf-8")
        duckdb.execute(f"COPY ({RECIPE.format(rows=options.rows)}) TO '{source}'")
        lasts = {}
        for kind in KINDS:
            began = time.perf_counter()
            assert release(source, folder / f"whole.{kind}", plan).wait() == 0
            lasts[kind] = time.perf_counter() - began
        for number in range(options.kills):
            kind = chance.choice(KINDS)
            target = folder / (f"whole.{kind}" if chance.random() < 1 / 2 else f"new-{number}.{kind}")
            process = release(source, target, plan)
            time.sleep(chance.uniform(0, 1.1 * lasts[kind]))
            process.send_signal(signal.SIGKILL)
            ended = "ended" if process.wait() == 0 else "killed"
            found = state(target, options.rows)
            seen[f"{ended}, {'over an output' if target.name.startswith('whole') else 'new'}, {found}"] += 1
            if found.startswith("partial"):
                print(f"round {number}, {target.name}: {found}")
                return 1
    for what, count in sorted(seen.items()):
        print(f"{count:5} {what}")
    print(f"{options.kills} rounds: every output was whole or not there")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What a release costs beside DuckDB's own copy of the same file: per row, at start-up, and in memory.

    python bench/tables.py                              5 million rows, Parquet and CSV
    python bench/tables.py --rows 20000000 --rounds 5   the size of the claims
    python bench/tables.py --rows 10000000 --memory     peak memory of the whole command, in a process of its own
    python bench/tables.py --operation                  whole commands on small, large and wide tables, as a table

The file is made by a stated recipe (RECIPE: DuckDB's hash of the row number), three private columns: a whole number, a
number on an interval and a category; the plan is the one that `bipartite plan new` writes. Both sides use DuckDB's own
compression and threads. Rounds alternate, after one of each that is not counted, so that loading and compiling (the
start-up) stay apart; the ratio of a round compares two runs that follow each other, and the median of the rounds is
shown with their range. Processor time is shown beside it, because it says the same on a machine that others use too.
Start-up is the wall time of the command on one row.

Whole commands (--operation) start, read, write and end: of the copy and the release in turn, medians of three rounds
or five. On two cores that nobody else uses this takes a few minutes, and 6 GB of disk.
"""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

import bipartite as bp
from bipartite.tables import privatize_file
from bipartite.tables.drafting import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RECIPE = """
    SELECT (18 + hash(i) % 73)::INTEGER AS age,
           (hash(i + {rows}) % 200001)::DOUBLE AS income,
           ['nurse', 'teacher', 'other'][1 + (hash(i + 2 * {rows}) % 3)::INTEGER] AS job
    FROM range({rows}) AS numbers(i)
"""
DRAFTS = {
    "age": Draft("whole", ends=("18", "90"), epsilon="1"),
    "income": Draft("real", ends=("0", "200000"), epsilon="0.5"),
    "job": Draft("text", labels=("nurse", "teacher"), epsilon="1"),
}
PLAN = "".join(f"[columns.{name}]\n{draft.to_toml()}" for name, draft in DRAFTS.items())
"""As ``bipartite plan new`` writes it once ranges, categories and ε are answered."""


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
        "release": lambda: privatize_file(source, reports, plan, overwrite=True),
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


@dataclass(frozen=True)
class Used:
    """What a process took."""

    wall: float
    processor: float
    peak: int
    """Memory, in MB."""


def process(*words: object) -> Used:
    """Run Python with these words, in a process that starts no other."""
    began = time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # DuckDB alone draws its progress on the first
    started = subprocess.Popen([sys.executable, *map(str, words)], **quiet)  # noqa: S603
    _, status, used = os.wait4(started.pid, 0)
    assert status == 0, words
    return Used(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


def command(folder: Path, source: Path, target: Path) -> Used:
    """The command in a process of its own."""
    return process("-m", "bipartite", "privatize", source, target, "--plan", folder / "plan.toml", "--overwrite")


def in_duckdb(query: str) -> Used:
    """DuckDB alone in a process of its own, so that this one stays small: a child's peak begins with its parent's."""
    return process("-c", f"import duckdb; duckdb.execute({query!r})")


@dataclass(frozen=True)
class Case:
    """A table to copy and to release."""

    name: str
    kind: str
    recipe: str
    plan: str
    rounds: int = 3


def cases() -> list[Case]:
    """The tables of --operation."""
    found = [
        Case(f"{kind}, {millions} million rows", suffix, RECIPE.format(rows=millions * 10**6), PLAN, rounds)
        for kind, suffix in (("Parquet", "parquet"), ("CSV", "csv"))
        for millions, rounds in ((5, 5), (20, 3), (60, 3))
    ]
    numbers = ", ".join(f"(hash(i + {at} * 1000000) % 73 + 18)::INTEGER AS c{at}" for at in range(200))
    age = DRAFTS["age"].to_toml()
    private = "".join(f"[columns.c{at}]\n{age}" for at in range(20))
    public = "".join(f"[columns.c{at}]\npublic = true\n" for at in range(20, 200))
    words = (
        "SELECT 40 AS age, repeat(md5(i::VARCHAR), 12) || md5((i + 5000000)::VARCHAR) AS note FROM range(5000000) t(i)"
    )
    return [
        *found,
        Case(
            "Parquet, 200 columns (20 private), 1 million rows",
            "parquet",
            f"SELECT {numbers} FROM range(1000000) t(i)",  # noqa: S608
            private + public,
        ),
        Case(
            "Parquet, 2 GB of text (public)",
            "parquet",
            words,
            f"[columns.age]\n{age}[columns.note]\npublic = true\n",
        ),
    ]


def operate(folder: Path, rounds: int | None) -> None:
    """Print the table of whole commands."""
    # What happens once on a machine: pip compiles what it installs, and the draw is compiled at its first use.
    compileall.compile_dir(Path(bp.__file__).parent, quiet=1)
    process("-c", "import bipartite.lottery.compiled")
    rows = []
    for case in cases():
        print(f"{time.strftime('%H:%M:%S')} {case.name}", file=sys.stderr, flush=True)
        source, copy, reports = (folder / f"{name}.{case.kind}" for name in ("in", "copy", "reports"))
        (folder / "plan.toml").write_text(case.plan, encoding="utf-8")
        in_duckdb(f"COPY ({case.recipe}) TO '{source}'")
        found = [
            (in_duckdb(f"COPY (FROM '{source}') TO '{copy}'"), command(folder, source, reports))
            for _ in range(rounds or case.rounds)
        ]
        rows.append([case.name, *_summary(found)])
        print("    " + " | ".join(rows[-1][1:]), file=sys.stderr, flush=True)
        for file in (source, copy, reports, *folder.glob("*.json")):
            file.unlink(missing_ok=True)
    heads = ["work", "DuckDB's copy", "release", "ratio", "processor time", "ratio", "peak"]
    for row in (heads, ["---"] * len(heads), *rows):
        print(f"| {' | '.join(row)} |")


def _summary(found: Sequence[tuple[Used, Used]]) -> list[str]:
    """Wall and processor time of both, their ratios, and the peak of the release."""
    cells = []
    for what in ("wall", "processor"):
        copied, released = (statistics.median(getattr(each[side], what) for each in found) for side in range(2))
        ratio = statistics.median(getattr(ours, what) / getattr(copy, what) for copy, ours in found)
        both = [f"{copied:.2f} s", f"{released:.2f} s"]
        cells += [*(both if what == "wall" else [", ".join(both)]), f"{ratio:.2f}"]
    return [*cells, f"{max(ours.peak for _, ours in found)} MB"]


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, help="(default: 5; with --operation: 3 or 5)")
    parser.add_argument("--formats", nargs="+", default=["parquet", "csv"])
    parser.add_argument("--memory", action="store_true", help="peak memory only")
    parser.add_argument("--operation", action="store_true", help="whole commands only")
    parser.add_argument("--folder", type=Path, help="where the files go (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        rows = "" if options.operation else f"{options.rows:,} rows, "
        print(f"{rows}DuckDB {duckdb.__version__}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
        if options.operation:
            operate(folder, options.rounds)
            return
        if options.memory:
            for kind in options.formats:
                source = folder / f"in.{kind}"
                in_duckdb(f"COPY ({RECIPE.format(rows=options.rows)}) TO '{source}'")
                used = command(folder, source, folder / f"reports.{kind}")
                print(f"{kind:8} the whole command: {used.wall:.1f} s, peak memory {used.peak} MB")
                source.unlink()
            return
        for kind in options.formats:
            compare(folder, kind, options.rows, options.rounds or 5)
        one = folder / "one.csv"
        one.write_text("age,income,job\n40,50000,nurse\n", encoding="utf-8")
        starts = sorted(command(folder, one, folder / "one.parquet").wall for _ in range(3))
        print(f"start-up (the command on one row): {starts[1]:.2f} s")


if __name__ == "__main__":
    main()

"""Spark: rows a second of a release, with and without row ids, beside a plain copy of the same columns, in one run.

    python bench/spark.py --rows 2000000 --threads 2

The table is made by Spark from row numbers (three columns, stated below), written as Parquet, and read back for every
figure. Start-up of Spark is not counted; a first small release warms the Python workers. Ratios are to the copy.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bipartite as bp
from bipartite.tables import Plan, spark

if TYPE_CHECKING:
    from collections.abc import Callable

PLAN = Plan(
    {
        "age": bp.BRR(bp.Integers(18, 90), epsilon=1),
        "income": bp.BRR(bp.Interval(0, 200_000, points=401), "0.5", edges="padded"),
        "stars": bp.GRR(bp.Integers(1, 5), 1),
    }
)
RECIPE = (
    "id",
    "cast(18 + id % 73 as int) AS age",
    "cast((id * 7919) % 200000 as double) AS income",
    "cast(1 + id % 5 as int) AS stars",
)


def seconds(job: Callable[[], Any]) -> float:
    """How long a job takes."""
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def measure(session: Any, rows: int, threads: int, folder: Path) -> dict[str, Any]:  # noqa: ANN401
    """The figures."""
    source = str(folder / "people")
    session.range(rows, numPartitions=4 * threads).selectExpr(*RECIPE).write.parquet(source)
    people = session.read.parquet(source)
    spark.privatize(people.limit(1000), PLAN, folder / "warm")
    columns = list(PLAN.columns)
    found = {
        "copy": seconds(lambda: people.select(*columns).write.parquet(str(folder / "copy"))),
        "privatize": seconds(lambda: spark.privatize(people, PLAN, folder / "plain")),
        "privatize, row_id": seconds(lambda: spark.privatize(people, PLAN, folder / "keyed", row_id="id")),
        "count": seconds(lambda: spark.count(session.read.parquet(str(folder / "plain")), "age")),
    }
    return {
        "rows": rows,
        "threads": threads,
        "rows_per_second": {name: round(rows / taken) for name, taken in found.items()},
        "ratio_to_copy": {name: round(taken / found["copy"], 2) for name, taken in found.items()},
    }


def main() -> None:
    """Read the options, measure, print the figures as JSON."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--threads", type=int, default=2)
    given = options.parse_args()
    warnings.simplefilter("ignore", FutureWarning)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{given.threads}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.host", "127.0.0.1")
    with builder.getOrCreate() as session, tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(session, given.rows, given.threads, Path(folder))))


if __name__ == "__main__":
    main()

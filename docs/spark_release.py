"""A release on a cluster: spark-submit --py-files … spark_release.py IN OUT. Read docs/spark.md first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import bipartite as bp
from bipartite.tables import Plan, spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAN = Plan(
    {
        "age": bp.BRR(bp.Integers(18, 90), epsilon=1, edges="padded", m="cdf"),  # padded: for statistics
        "income": bp.BRR(bp.Interval(0, 200_000, points=401), epsilon="0.5", edges="padded", m="cdf"),
    }
)


def release(session: SparkSession, source: str, target: str) -> None:
    """Write the reports of a table, count them where they are, and estimate."""
    people = session.read.parquet(source)
    reports = spark.privatize(people, PLAN, target, row_id="id")
    counts = spark.count(reports, "age")
    mean = bp.estimate(counts.mechanism, counts=counts).ask("mean").ci()
    print(f"{counts.n:,} reports; the mean age is {mean.low:.1f} to {mean.high:.1f} (95 %)")


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    with SparkSession.builder.appName("a release").getOrCreate() as session:
        release(session, sys.argv[1], sys.argv[2])

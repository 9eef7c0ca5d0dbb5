"""The row ids of a keyed release on Spark: stored with their rows, and different in every row.

An id that changes when a row is recomputed gives the row a second, independent report; and ids that are distinct in the
job that checks them need not be in the job that draws. So Spark must always compute a frame with ids to the same rows.
This is checked on its analysed plan: only the steps listed here, from files or numbers, and no function that is
nondeterministic, depends on the time or the user, or whose code Spark does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.errors import InputError
from bipartite.tables.spark_columns import take

if TYPE_CHECKING:
    from collections.abc import Iterator

    from py4j.java_gateway import JavaObject
    from pyspark.sql import DataFrame

_TYPES: Final = ("tinyint", "smallint", "int", "bigint", "string", "binary")
# Each step maps the same rows to the same rows, in any order. Limits, samples, windows and deduplication depend on the
# order, and so do some aggregates, such as first() and max_by() of ties.
_STEPS: Final = frozenset(
    {
        *("Project", "Filter", "Join", "Union", "Generate", "Sort"),
        *("Repartition", "RepartitionByExpression", "RebalancePartitions", "ResolvedHint"),
        *("SubqueryAlias", "View", "WithCTE", "CTERelationDef", "CTERelationRef"),
        *("Range", "LocalRelation", "OneRowRelation"),
    }
)
_FILES: Final = "HadoopFsRelation"
_FUNCTIONS: Final = {
    "CURRENT_LIKE": "the time, the user or the session of the query",
    "PYTHON_UDF": "a function written in Python",
    "SCALA_UDF": "a function written in Scala or Java",
    "PLAN_EXPRESSION": "a subquery",
}


def check_ids(frame: DataFrame, row_id: str) -> None:
    """Refuse ids that may change, are missing or occur twice: rows with the same id and value would share a report."""
    kind = dict(frame.dtypes)[row_id]
    if kind not in _TYPES:
        raise InputError(f"Expected row_id as a column of whole numbers, text or bytes, got {kind}; cast it first.")
    check_repeatable(frame)
    ids = take(frame, [row_id]).toDF("id").groupBy("id").count()
    if ids.where("id IS NULL OR count > 1").limit(1).count():
        raise InputError(
            f"Expected a different id in every row of {row_id!r}, got one that is missing or occurs twice; rows with "
            "the same id would share their random words. Use a unique column, or leave row_id out."
        )


def check_repeatable(frame: DataFrame) -> None:
    """Refuse a frame that may have other rows each time it is computed."""
    known = getattr(frame, "_jdf", None)
    if known is None:
        raise InputError(
            "Expected a frame of a Spark session in this process with row_id, got one of Spark Connect; leave it out."
        )
    plan = known.queryExecution().analyzed()
    patterns = frame.sparkSession._jvm.org.apache.spark.sql.catalyst.trees.TreePattern  # noqa: SLF001
    found = [what for name, what in _FUNCTIONS.items() if plan.containsPattern(getattr(patterns, name)())]
    if not plan.deterministic():
        found.append("a function that is not deterministic, such as uuid() or rand()")
    found += [f"the step {step}" for step in _steps(plan) if step not in _STEPS]
    if found:
        raise InputError(
            "Expected, with row_id, a frame of stored files that is only selected from, filtered, joined, sorted or "
            f"repartitioned, got one with {found[0]}: its ids may change when a row is recomputed. Write the frame to "
            "files and release session.read.parquet(…), or leave row_id out."
        )


def _steps(plan: JavaObject) -> Iterator[str]:
    """The names of the steps of Spark's logical plan, except file scans."""
    name = plan.getClass().getSimpleName()
    if name == "LogicalRelation":
        name = plan.relation().getClass().getSimpleName()
    if name != _FILES:
        yield name
    children = plan.children()
    for at in range(children.size()):
        yield from _steps(children.apply(at))

"""Releases on a Spark cluster: reports are drawn where the rows are, written once, and read from there.

A Spark frame is a query plan. Every action runs it again, and a failed or slow task is computed again, so a plan that
draws reports would draw new ones each time and silently spend ε again. So :func:`privatize` does not return such a
plan: it writes the reports through Spark's commit protocol, which keeps exactly one attempt of each task, and returns a
frame over the files. :func:`count` transfers only counts.
"""

from __future__ import annotations

import os
import re
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bipartite import errors
from bipartite.answers.estimation import Counts
from bipartite.answers.estimation.tally import Tally
from bipartite.errors import DataError, InputError, NullError, Problems, missing_library
from bipartite.mechanisms import Mechanism  # noqa: TC001 (for pages of the reference, which resolve it)
from bipartite.mechanisms.spec import load_spec, spec_json
from bipartite.tables.columns import PUBLIC
from bipartite.tables.drawing import Release
from bipartite.tables.extras import pa
from bipartite.tables.keyed import KEY_BYTES, KeyedRelease, check_keyed
from bipartite.tables.metadata import RELEASE_KEY, Described, check_description, described
from bipartite.tables.plan import Plan
from bipartite.tables.reports import reports_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from py4j.java_gateway import JavaObject
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField, StructType

    from bipartite.answers.estimation.reports import Missing

    Batches: TypeAlias = Iterator[pa.RecordBatch]

SPEC_KEY: Final = "bipartite"
"""The key of a private column's spec in its metadata."""
# Version 2 moves a task's files as soon as the task ends, so files of an attempt that died could remain. Version 1
# moves them when the whole job is done.
_COMMIT_AT_THE_END: Final = ("mapreduce.fileoutputcommitter.algorithm.version", "1")
_PEOPLE: Final = -1
"""Marks the number of people among the counts of a task."""
_LAYOUT: Final = "how rows are spread over files and ordered there, which follows the files and bytes that Spark read"
_BAD_ROW: Final = re.compile(r"bipartite\.errors\.(\w+Error): (.*?)\s*$", re.MULTILINE)


def privatize(
    frame: DataFrame,
    plan: Plan,
    path: str | os.PathLike[str],
    *,
    row_id: str | None = None,
    overwrite: bool = False,
) -> DataFrame:
    """Release a Spark frame: write its reports as Parquet, once, and return a frame over the files.

    Runs immediately, not lazily; the returned frame reads files, and draws nothing however often it is used.

    Parameters
    ----------
    frame
        A Spark DataFrame with the columns that the plan reads.
    plan
        What each column becomes; columns that it does not name are dropped.
    path
        The output folder, which every executor must reach; refused if it exists.
    row_id
        A stored column of whole numbers, text or bytes, different in every row. Both are checked: the frame must read
        files and must be deterministic (:mod:`bipartite.tables.spark`), and ids must be distinct. A recomputed row
        then gets the **same** report, drawn from words that are a keyed function of the id, the value, the column and
        its spec, under a key that lives as long as this call. Without it, an attempt that is not committed draws other
        reports, visible only to someone who reads Spark's temporary files.
    overwrite
        Replace what is at ``path``. A second release of the same rows adds its ε, and a warning says so.

    Guarantee
    ---------
    ε-LDP of the private columns of each row with the plan's ε, for everyone who sees the committed files. Which rows
    share a file, and their order, follow the files and bytes that Spark read, and so private values; release
    ``frame.coalesce(1).sortWithinPartitions(…)``, by public columns that differ in every row, if they must not.
    """
    given: object = plan
    if not isinstance(given, Plan):
        raise InputError(f"Expected plan as bp.Plan, got {type(given).__name__}; pass bp.Plan({{'age': bp.BRR(…)}}).")
    session = _session_of(frame)
    if overwrite:
        warnings.warn(
            f"A second release of the same rows adds its ε, {plan.epsilon_decimal:f} per row, for anyone who saw the "
            "first.",
            stacklevel=2,
        )
    new = [field.name for field in frame.schema if SPEC_KEY not in field.metadata]
    if len(new) < len(frame.columns):
        cure = "drop its metadata with col(NAME).alias(NAME, metadata={})"
        check_description(plan, {"public": new}, "a column of this frame carries the spec of a release", cure)
    schema = _schema(frame, plan)
    taken = take(frame, plan.inputs() if row_id is None else [*plan.inputs(), row_id])
    key = None
    if row_id is not None:
        check_keyed(plan)
        check_ids(taken, row_id)
        key = os.urandom(KEY_BYTES)
    reports = through_python(taken, partial(_draw_task, plan=plan, key=key, row_id=row_id), schema)
    writer = reports.write.mode("overwrite" if overwrite else "errorifexists").option(*_COMMIT_AT_THE_END)
    try:
        writer.parquet(os.fspath(path))
    except Exception as error:
        refusal = ambiguous_names(list(plan.columns)) if is_ambiguous(error) else _refusal(error)
        if "PATH_ALREADY_EXISTS" not in str(error):
            _remove_empty(session, os.fspath(path))
        if refusal is None:
            raise
    else:
        return session.read.schema(schema).parquet(os.fspath(path))
    raise refusal  # outside the handler, so that Spark's error and query plan are not attached


def _remove_empty(session: SparkSession, path: str) -> None:
    """Remove the empty folder of a failed release, which would refuse the next one; not through Spark Connect."""
    with suppress(Exception):  # the failure of the release is what counts
        folder = session._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001
        files = folder.getFileSystem(session._jsc.hadoopConfiguration())  # noqa: SLF001
        if not len(files.listStatus(folder)) and files.getFileStatus(folder).isDirectory():
            files.delete(folder, False)  # noqa: FBT003


def count(
    frame: DataFrame,
    column: str,
    mech: Mechanism | None = None,
    *,
    nulls: Missing = "error",
) -> Counts:
    """Count the reports of a column on the executors; only counts are transferred, however many rows there are.

    ``frame`` is what :func:`privatize` returned, or any frame with reports; ``mech`` is the mechanism that drew them,
    by default read from the column's metadata.
    """
    _session_of(frame)
    taken = take(frame, [column])
    found = mech if mech is not None else mechanism_of(frame, column)
    totals = Counts(found)
    parts = taken.toDF("report").mapInArrow(
        partial(_count_task, mechanism=found, nulls=nulls), "report bigint, times bigint"
    )
    try:
        rows = parts.groupBy("report").sum("times").collect()
    except Exception as error:
        refusal = _refusal(error)
        if refusal is None:
            raise
    else:
        for report, times in rows:
            if report == _PEOPLE:
                totals.n = times
            else:
                totals.values[report] = times
        return totals
    raise refusal


def mechanism_of(frame: DataFrame, column: str) -> Mechanism:
    """The mechanism that drew the reports of a column, from the spec in its metadata."""
    take(frame, [column])
    spec = frame.schema[column].metadata.get(SPEC_KEY)
    if spec is None:
        raise InputError(f"Column {column!r} carries no spec; pass mech=, the mechanism that drew the reports.")
    return load_spec(spec)


def _draw_task(batches: Batches, plan: Plan, key: bytes | None, row_id: str | None) -> Batches:
    """Draw the reports of one task's rows, on an executor."""
    if key is None or row_id is None:
        release = Release(plan)
        for batch in batches:
            yield release.privatize(batch)
        return
    keyed = KeyedRelease(plan, key)
    for batch in batches:
        yield keyed.privatize_rows(batch, batch.column(row_id))


def _count_task(batches: Batches, mechanism: Mechanism, nulls: Missing) -> Batches:
    """Count the reports of one task, on an executor."""
    reports = reports_of(mechanism)
    counts = Counts(mechanism)
    for batch in batches:
        column, gone = batch.column(0), batch.column(0).null_count
        if gone and nulls == "error":
            raise NullError(f"{gone} of {len(column)} reports are missing; remove them, or use nulls='drop'.")
        counts.values += Tally.of(mechanism, reports.read(column.drop_null())).counts
        counts.n += len(column) - gone
    came = np.flatnonzero(counts.values)
    yield pa.RecordBatch.from_pydict(
        {"report": np.append(came, _PEOPLE), "times": np.append(counts.values[came], counts.n)}
    )


def _session_of(frame: DataFrame) -> SparkSession:
    if type(frame).__module__.partition(".")[0] != "pyspark" or not hasattr(frame, "mapInArrow"):
        raise InputError(
            f"Expected a Spark DataFrame, got {type(frame).__name__}; use bp.privatize_frame for other frames."
        )
    try:
        import pyarrow  # noqa: F401, ICN001, PLC0415
    except ImportError:
        raise missing_library(what="Spark frames need", library="pyarrow", extra="spark") from None
    return frame.sparkSession


def _schema(frame: DataFrame, plan: Plan) -> StructType:
    """The Spark schema of the reports; each private column carries its spec, the first one the whole release."""
    from pyspark.sql.pandas.types import from_arrow_type  # noqa: PLC0415
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415

    arrow = plan.schema(private_schema(frame, plan))
    about = described(plan)
    release = {RELEASE_KEY: replace(about, publishes=(*about.publishes, _LAYOUT)).to_json()}
    fields = []
    for name, what in plan.columns.items():
        if what == PUBLIC:
            given = frame.schema[name]
            # Reports of an earlier release keep their spec.
            metadata = {key: value for key, value in given.metadata.items() if key != RELEASE_KEY}
            fields.append(StructField(name, given.dataType, given.nullable, metadata))
            continue
        metadata = {SPEC_KEY: spec_json(what.mechanism)} | release
        release = {}
        fields.append(StructField(name, from_arrow_type(arrow.field(name).type), nullable=True, metadata=metadata))
    return StructType(fields)


def _refusal(error: Exception) -> DataError | None:
    """Recreate an executor's error about an invalid row; None for any other failure."""
    found = _BAD_ROW.search(str(error))
    kind = None if found is None else getattr(errors, found[1], None)
    if found is None or not (isinstance(kind, type) and issubclass(kind, DataError)):
        return None
    return kind(f"{found[2]} (rows are counted within a task)")


def release_of(frame: DataFrame) -> dict[str, Any]:
    """The checked description of a release, as from ``plan.metadata()``: specs, ε, and what is published."""
    for field in frame.schema:
        if RELEASE_KEY in field.metadata:
            return Described.from_json(field.metadata[RELEASE_KEY]).to_dict()
    raise InputError("This frame carries no release; read the files that privatize wrote.")


# --- Columns of Spark frames: selected by exact name, and passed to Python and back whatever their type.


# Arrow in Python has no month intervals: they are passed as integers.
_MONTHS: Final = ("interval year", "interval month", "interval year to month")
_AMBIGUOUS: Final = ("[AMBIGUOUS_REFERENCE]", "[COLUMN_ALREADY_EXISTS]")


def take(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Select columns of a frame, each once and by its exact name: Spark would return ``ID`` for ``id``."""
    for name in names:
        if name not in frame.columns:
            raise InputError(
                f"Expected a column of the frame, got {name!r}; it has {', '.join(map(repr, frame.columns))}."
            )
    try:
        # In quotation marks, dots do not select fields.
        return frame.select(*["`" + name.replace("`", "``") + "`" for name in dict.fromkeys(names)])
    except Exception as error:
        if not is_ambiguous(error):
            raise
    raise ambiguous_names(names)


def is_ambiguous(error: Exception) -> bool:
    """Whether Spark refused two names because it treats them as the same."""
    return any(each in str(error) for each in _AMBIGUOUS)


def ambiguous_names(names: Sequence[str]) -> InputError:
    """The error for names of a frame or plan that Spark cannot tell apart."""
    return InputError(
        "Expected names that differ in more than case, got several that Spark cannot tell apart among "
        f"{', '.join(map(repr, names))}; rename one, or set spark.sql.caseSensitive to true."
    )


def private_schema(frame: DataFrame, plan: Plan) -> pa.Schema:
    """The Arrow schema of a frame, with types only for the inputs of private columns."""
    from pyspark.sql import types  # noqa: PLC0415
    from pyspark.sql.pandas.types import to_arrow_type  # noqa: PLC0415

    private = {each for each, _ in plan.readers()}
    problems = Problems()
    fields = []
    for field in frame.schema:
        kind = pa.null()
        if field.name in private:
            if isinstance(field.dataType, (types.NumericType, types.StringType, types.BooleanType)):
                kind = to_arrow_type(field.dataType)
            elif not isinstance(field.dataType, types.NullType):
                problems.add(
                    f"column {field.name!r}: Expected numbers or text, got {field.dataType.simpleString()}; take a "
                    "number from it first, such as the year."
                )
        fields.append(pa.field(field.name, kind))
    problems.raise_if_any(InputError)
    return pa.schema(fields)


def through_python(frame: DataFrame, function: Callable[[Batches], Batches], schema: StructType) -> DataFrame:
    """Apply a function of Arrow batches to a frame, lazily, with this output schema."""
    from pyspark.sql.functions import col  # noqa: PLC0415
    from pyspark.sql.types import IntegerType, StructField, StructType  # noqa: PLC0415

    def is_months(field: StructField) -> bool:
        return field.dataType.simpleString() in _MONTHS

    # Spark resolves every column again on the way, dots included: numbers are unambiguous.
    numbered = frame.toDF(*map(str, range(len(frame.columns))))
    sent = numbered.select(
        *[
            col(each).cast("interval month").cast("int").alias(each) if is_months(field) else col(each)
            for each, field in zip(numbered.columns, frame.schema, strict=True)
        ]
    )
    plain = [
        StructField(str(at), IntegerType() if is_months(field) else field.dataType) for at, field in enumerate(schema)
    ]
    try:
        made = sent.mapInArrow(partial(_named, function=function, names=frame.columns), StructType(plain))
    except (TypeError, ValueError, NotImplementedError) as error:
        kinds = ", ".join(dict.fromkeys(field.dataType.simpleString() for field in schema))
        raise InputError(
            f"Spark cannot send one of these types to Python: {kinds}; cast it to text, or leave it out of the plan."
        ) from error
    back = []
    for at, field in enumerate(schema):
        column = col(str(at)).cast("interval month").cast(field.dataType) if is_months(field) else col(str(at))
        back.append(column.alias(field.name, metadata=field.metadata))
    return made.select(*back)


def _named(batches: Batches, function: Callable[[Batches], Batches], names: Sequence[str]) -> Batches:
    """Apply a function to batches under their original column names, on an executor."""
    for made in function(pa.RecordBatch.from_arrays(batch.columns, names=list(names)) for batch in batches):
        yield pa.RecordBatch.from_arrays(made.columns, names=[str(at) for at in range(made.num_columns)])


# --- The row ids of a keyed release on Spark: stored with their rows, and different in every row.
#
# An id that changes when a row is recomputed gives the row a second, independent report; and ids that are distinct in
# the job that checks them need not be in the job that draws. So Spark must always compute a frame with ids to the same
# rows. This is checked on its analysed plan: only the steps listed here, from files or numbers, and no function that is
# nondeterministic, depends on the time or the user, or whose code Spark does not know.


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

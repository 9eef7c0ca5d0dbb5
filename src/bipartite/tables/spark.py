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
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite import errors
from bipartite.answers.estimation import Counts
from bipartite.errors import DataError, InputError, NullError, missing_library
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.spec import load_spec, spec_json
from bipartite.tables.again import check_description
from bipartite.tables.columns import PUBLIC
from bipartite.tables.drawing import Release
from bipartite.tables.extras import pa
from bipartite.tables.keyed import KEY_BYTES, KeyedRelease, check_keyed
from bipartite.tables.metadata import Described, described
from bipartite.tables.plan import Plan
from bipartite.tables.reports import reports_of
from bipartite.tables.spark_columns import ambiguous_names, is_ambiguous, private_schema, take, through_python
from bipartite.tables.spark_files import RELEASE_KEY
from bipartite.tables.spark_ids import check_ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from bipartite.answers.estimation.reports import Missing
    from bipartite.mechanisms import Mechanism
    from bipartite.tables.spark_columns import Batches

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
        files and must be deterministic (:mod:`bipartite.tables.spark_ids`), and ids must be distinct. A recomputed row
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
        values = np.zeros(len(totals.values), dtype=np.int64)
        people = 0
        for report, times in rows:
            if report == _PEOPLE:
                people = times
            else:
                values[report] = times
        return Counts.from_dict(totals.to_dict() | {"people": people, "counts": values.tolist()})
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
        counts.values += reports.count(reports.read(column.drop_null()))
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

"""Columns of Spark frames: selected by exact name, and passed to Python and back whatever their type."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from bipartite.errors import InputError, Problems
from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

    from bipartite.tables.plan import Plan

    Batches: TypeAlias = Iterator[pa.RecordBatch]

# Arrow in Python has no month intervals: they are passed as integers.
_MONTHS: Final = ("interval year", "interval month", "interval year to month")
_AMBIGUOUS: Final = ("[AMBIGUOUS_REFERENCE]", "[COLUMN_ALREADY_EXISTS]")


def quoted(name: str) -> str:
    """A quoted name for Spark, in which dots do not select fields."""
    return "`" + name.replace("`", "``") + "`"


def take(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Select columns of a frame, each once and by its exact name: Spark would return ``ID`` for ``id``."""
    for name in names:
        if name not in frame.columns:
            raise InputError(
                f"Expected a column of the frame, got {name!r}; it has {', '.join(map(repr, frame.columns))}."
            )
    try:
        return frame.select(*[quoted(name) for name in dict.fromkeys(names)])
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

    private = {each for name in plan.private() for each in plan.inputs_of(name)}
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

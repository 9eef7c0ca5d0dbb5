"""Columns of Spark frames: found by their exact names, and sent to Python and back whatever their type."""

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

# Python's Arrow has no months: they travel as whole numbers.
_MONTHS: Final = ("interval year", "interval month", "interval year to month")
_TAKEN_FOR_ONE: Final = ("[AMBIGUOUS_REFERENCE]", "[COLUMN_ALREADY_EXISTS]")


def quoted(name: str) -> str:
    """A name as Spark reads it: dots are part of it, not steps into a field."""
    return "`" + name.replace("`", "``") + "`"


def take(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """These columns of a frame, each once and by its exact name: Spark would give ``ID`` where ``id`` is asked for."""
    for name in names:
        if name not in frame.columns:
            msg = f"Expected a column of the frame, got {name!r}; it has {', '.join(map(repr, frame.columns))}."
            raise InputError(msg)
    try:
        return frame.select(*[quoted(name) for name in dict.fromkeys(names)])
    except Exception as error:
        if not is_taken_for_one(error):
            raise
    raise taken_for_one(names)


def is_taken_for_one(error: Exception) -> bool:
    """Whether Spark refused two names because it takes them for one."""
    return any(each in str(error) for each in _TAKEN_FOR_ONE)


def taken_for_one(names: Sequence[str]) -> InputError:
    """The error for names of a frame or a plan that Spark does not tell apart."""
    return InputError(
        "Expected names that differ in more than case, got several that Spark takes for one among those of "
        f"{', '.join(map(repr, names))}; rename one, or set spark.sql.caseSensitive to true."
    )


def private_schema(frame: DataFrame, plan: Plan) -> pa.Schema:
    """The columns of a frame with the Arrow types of those that private columns are made from; others have none."""
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
    """The frame that a function of Arrow batches makes of another, with this schema; nothing runs yet."""
    from pyspark.sql.functions import col  # noqa: PLC0415
    from pyspark.sql.types import IntegerType, StructField, StructType  # noqa: PLC0415

    def is_months(field: StructField) -> bool:
        return field.dataType.simpleString() in _MONTHS

    # Spark looks every column up once more on the way, dots and all: under a number there is no other to find.
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
        msg = f"Spark cannot send one of these types to Python: {kinds}; cast it to text, or leave it out of the plan."
        raise InputError(msg) from error
    back = []
    for at, field in enumerate(schema):
        column = col(str(at)).cast("interval month").cast(field.dataType) if is_months(field) else col(str(at))
        back.append(column.alias(field.name, metadata=field.metadata))
    return made.select(*back)


def _named(batches: Batches, function: Callable[[Batches], Batches], names: Sequence[str]) -> Batches:
    """What a function makes of batches whose columns have their names again, on an executor."""
    for made in function(pa.RecordBatch.from_arrays(batch.columns, names=list(names)) for batch in batches):
        yield pa.RecordBatch.from_arrays(made.columns, names=[str(at) for at in range(made.num_columns)])

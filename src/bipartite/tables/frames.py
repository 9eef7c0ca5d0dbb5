"""``bp.privatize_frame``: a frame in, a frame of reports out."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np

from bipartite.domains.containers import library_of
from bipartite.domains.containers.cells import Listed
from bipartite.domains.containers.series import PandasSeries
from bipartite.errors import DataError, InputError, Problems
from bipartite.tables.columns import PUBLIC
from bipartite.tables.drawing import Release
from bipartite.tables.extras import duckdb, pa, pd, pl, without_lines
from bipartite.tables.metadata import DO_NOT_AVERAGE, METADATA_KEY, Described, check_attributes
from bipartite.tables.streams import equal_pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.domains.containers import Cells
    from bipartite.tables.plan import Plan

    Frame = TypeVar("Frame")
    PandasType: TypeAlias = np.dtype[Any] | pd.api.extensions.ExtensionDtype

_LAZY: Final = (
    "Expected a frame that holds its rows, got a lazy one, which would draw new reports and spend ε every time it is "
    "run; call .collect() first."
)
_BEYOND: Final = 2**53  # larger than the ends of every domain of integers
_OF_A_SERIES: Final = "use .to_frame(), or mech.privatize for a Series"


@without_lines
def privatize_frame(frame: Frame, plan: Plan, rng: object = None) -> Frame:
    """Privatize all rows of a frame by a plan; returns the same kind of frame, with the columns of the plan.

    Parameters
    ----------
    frame
        A pandas or Polars data frame, an Arrow table or record batch, or a DuckDB relation, whose rows are fetched and
        whose reports are returned as an Arrow table. Rows keep their order. A pandas index is dropped like any column
        that the plan does not name, and rows are numbered from 0. To publish it, call ``reset_index()`` and name it.
    plan
        A :class:`~bipartite.Plan`.
    rng
        None for the secure source, ``bp.insecure_seed(…)``, or a dict with random words for each private column, and
        under None for who is asked what, where the plan has a ``sample``. The same words give the same reports in every
        kind of frame, and in a file of the same rows.

    Guarantee
    ---------
    That of the plan, once: a second call on the same rows spends its ε again. The result stores its reports: reading
    it twice draws nothing.

    Examples
    --------
    >>> import bipartite as bp
    >>> import pyarrow as pa
    >>> plan = bp.Plan({"age": bp.BRR(bp.Integers(18, 90), epsilon=1), "country": "public"})
    >>> people = pa.table({"name": ["Ada", "Bo"], "age": [40, 52], "country": ["DE", "FR"]})
    >>> bp.privatize_frame(people, plan).column_names
    ['age', 'country']
    """
    draw = _LIBRARIES.get(library_of(frame))
    if draw is not None:
        reports: Frame = draw(frame, plan, rng)
        return reports
    what = "a pandas or Polars data frame, an Arrow table or a DuckDB relation"
    raise _wrong_frame(frame, what, "use bp.Record for a dict of columns")


def _wrong_frame(frame: object, expected: str, hint: str) -> InputError:
    return InputError(f"Expected {expected}, got {type(frame).__name__}; {hint}.")


def _arrow(frame: pa.Table | pa.RecordBatch, plan: Plan, rng: object) -> pa.Table | pa.RecordBatch:
    if isinstance(frame, pa.RecordBatch):
        if frame.num_rows > at_once(plan):
            raise InputError(
                f"Expected a record batch of at most {at_once(plan):,} rows for reports this wide; pass pa.table(…)."
            )
        return Release(plan, rng).privatize(selected(frame, plan))
    if isinstance(frame, pa.Table):
        return release_table(frame, plan, rng)
    raise _wrong_frame(frame, "an Arrow table or record batch", "use .read_all() or pa.table(…)")


def at_once(plan: Plan) -> int:
    """The number of rows that can be released as one batch, limited by the text of wide reports in an Arrow array."""
    return min(column.reports.most_rows for column in plan.private().values())


def selected(frame: pa.Table | pa.RecordBatch, plan: Plan) -> pa.Table | pa.RecordBatch:
    """The columns that a plan reads.

    A column of only nulls fits every plan, whatever its type, such as double in pandas: refusing it would reveal that
    all values are missing.
    """
    for each in plan.wrong_types(frame.schema):
        column = frame.column(each)
        if column.null_count == frame.num_rows:
            # Categories stay categories, as in a column with values.
            kind = pa.dictionary(pa.int32(), pa.null()) if pa.types.is_dictionary(column.type) else pa.null()
            nulls = pa.nulls(frame.num_rows, kind)
            frame = frame.set_column(frame.schema.get_field_index(each), each, nulls)
    plan.check_inputs(frame.schema)
    return frame.select(plan.inputs())


def release_table(table: pa.Table, plan: Plan, rng: object) -> pa.Table:
    """The reports of an Arrow table."""
    given = selected(table, plan)
    release = Release(plan, rng)
    batches = given.unify_dictionaries().combine_chunks().to_batches(max_chunksize=at_once(plan))
    pieces = equal_pieces(release.privatize(batch) for batch in batches)
    schema = plan.schema(given.schema, insecure=release.insecure)
    return pa.Table.from_batches(pieces, schema=schema).unify_dictionaries().combine_chunks()


def _pandas(frame: pd.DataFrame, plan: Plan, rng: object) -> pd.DataFrame:
    if not isinstance(frame, pd.DataFrame):
        raise _wrong_frame(frame, "a pandas DataFrame", _OF_A_SERIES)
    plan.check_names(each for each in frame.columns if isinstance(each, str))
    reports = release_table(arrow_of_pandas(frame, plan), plan, rng)
    columns = {}
    for name, what in plan.columns.items():
        if what == PUBLIC:
            public = frame[name].array
            if isinstance(public.dtype, pd.CategoricalDtype):
                # As in dictionaries.copied: the order of categories may be that of rows that are not released.
                used = public.remove_unused_categories()
                if not used.ordered:
                    codes = pd.unique(used.codes)
                    used = used.set_categories(used.categories[codes[codes >= 0]])
                columns[name] = used
            elif isinstance(public.dtype, pd.ArrowDtype):
                columns[name] = reports.column(name).to_pandas(types_mapper=pd.ArrowDtype)
            else:
                columns[name] = public.take(np.arange(len(public)))
            continue
        nullable = what.may_be_null or plan.sample is not None
        mapper = pandas_types(frame[plan.inputs_of(name)[0]].dtype, may_be_null=nullable)
        columns[name] = reports.column(name).to_pandas(types_mapper=mapper)
    found = pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))
    about = Described.from_json(reports.schema.metadata[METADATA_KEY])
    dropped = "" if plan.sample is None else ', nulls="drop"'
    # Short, because pandas copies it with every operation.
    found.attrs[METADATA_KEY.decode()] = {
        "guarantee": about.guarantee,
        "epsilon": about.epsilon_text,
        "next": f"{DO_NOT_AVERAGE}: use bp.estimate(plan.mechanisms()[column], frame[column]{dropped})",
        "public": list(about.public),
    }
    return found


def arrow_of_pandas(frame: pd.DataFrame, plan: Plan) -> pa.Table:
    """The columns that a plan reads, as an Arrow table; those of a release are refused."""
    check_attributes(plan, frame.attrs, "this frame has the attributes of a release", "clear them with .attrs.clear()")

    def convert(name: str) -> pa.ChunkedArray:
        return pa.Table.from_pandas(frame[[name]], preserve_index=False).column(0)

    return converted(plan, convert, lambda name: PandasSeries(frame[name], "keep").cells())


def converted(plan: Plan, convert: Callable[[str], Any], cells: Callable[[str], Cells]) -> pa.Table:
    """The columns that a plan reads, by name; Arrow's own message about a mixed column would show a value."""
    columns = {}
    problems = Problems()
    numbers = {each: reader.domain.whole for each, reader in plan.readers()}
    for name in plan.inputs():
        try:
            columns[name] = convert(name)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            if name in numbers:
                with suppress(InputError, DataError):
                    columns[name] = _beyond_64_bits(cells(name).with_nan(), whole=numbers[name])
                    continue
            problems.add(
                f"column {name!r}: Expected values of one type, got a mixture, or whole numbers of more than 64 bits; "
                "convert it first (.astype)."
            )
    problems.raise_if_any(InputError)
    return pa.table(columns)


def _beyond_64_bits(cells: Cells, *, whole: bool) -> pa.Array:
    """A private column of objects, some of them integers that Arrow cannot hold: outside every domain of integers."""
    held = [0 if gone else each for each, gone in zip(cells.values.tolist(), (~cells.there).tolist(), strict=True)]
    if whole:
        held = [max(-_BEYOND, min(each, _BEYOND)) if isinstance(each, int) else each for each in held]
    return pa.array(Listed(held, "keep").numbers().values, mask=~cells.there)


def pandas_types(given: PandasType, *, may_be_null: bool) -> Callable[[pa.DataType], PandasType | None]:
    """The types of reports: Arrow's if the column had an Arrow type, otherwise NumPy's.

    pandas' nullable types are not kept, since a column of only nulls does not get one (convert_dtypes). NumPy integers
    have no null, so pandas' nullable ones replace them if the plan lets nulls through.
    """
    if isinstance(given, pd.ArrowDtype):
        own: Callable[[pa.DataType], PandasType] = pd.ArrowDtype
        return own
    found: dict[str, Any] = {"int64": pd.Int64Dtype()} if may_be_null else {}
    text = pd.Series(["text"]).dtype
    if isinstance(text, pd.api.extensions.ExtensionDtype):  # otherwise a column of only nulls would be of type object
        found["string"] = text
    return lambda kind: found.get(str(kind))


def _polars(frame: pl.DataFrame, plan: Plan, rng: object) -> pl.DataFrame:
    if isinstance(frame, pl.LazyFrame):
        raise InputError(_LAZY)
    if not isinstance(frame, pl.DataFrame):
        raise _wrong_frame(frame, "a Polars DataFrame", _OF_A_SERIES)
    plan.check_names(frame.columns)
    # Public columns are returned through Arrow too: Polars keeps, and writes out, values of sliced-off rows.
    reports = release_table(arrow_of_polars(frame, plan), plan, rng)
    found = pl.from_arrow(reports)
    for name in plan.public():
        if isinstance(frame.schema[name], pl.Enum):
            labels = reports.column(name).combine_chunks().dictionary.to_pylist()
            found = found.with_columns(pl.col(name).cast(pl.Enum(labels)))
    return found


def arrow_of_polars(frame: pl.DataFrame, plan: Plan) -> pa.Table:
    """The columns that a plan reads, as an Arrow table."""
    columns = {}
    problems = Problems()
    for name in plan.inputs():
        kind = frame.schema[name]
        try:
            columns[name] = frame.select(name).to_arrow().column(0)
            held = kind != pl.Object  # which Polars converts to memory addresses
        except (pa.ArrowException, pl.exceptions.PolarsError):
            held = False
        if not held:
            told = kind.base_type().__name__
            problems.add(f"column {name!r}: Expected a type that Arrow supports, got {told}; cast it first.")
    problems.raise_if_any(InputError)
    return pa.table(columns)


def _duckdb(frame: duckdb.DuckDBPyRelation, plan: Plan, rng: object) -> pa.Table:
    if not isinstance(frame, duckdb.DuckDBPyRelation):
        raise _wrong_frame(frame, "a DuckDB relation", "use connection.sql(…) or connection.table(…)")
    try:
        rows = frame.to_arrow_table()
    except duckdb.Error as error:
        kind = type(error).__name__
    else:
        return release_table(rows, plan, rng)
    # Outside the handler: DuckDB's message may show a value, such as one that it could not cast.
    raise InputError(
        f"Expected a DuckDB relation that can be fetched, got a {kind}; run it alone to see why, which shows values."
    )


_LIBRARIES: Final = {"pyarrow": _arrow, "pandas": _pandas, "polars": _polars, "duckdb": _duckdb, "_duckdb": _duckdb}

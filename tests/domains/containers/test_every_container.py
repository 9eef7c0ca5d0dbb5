"""What holds for every container: one fixture, one set of promises."""

import datetime as dt
import decimal
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bipartite import BRR, Integers, Interval, insecure_seed
from bipartite.errors import InputError, NotAValueError, NullError, OutsideDomainError

AGES = BRR(Integers(18, 90), epsilon=1)
INCOME = BRR(Interval(0, 200_000, points=401), epsilon=1)
PADDED = BRR(Integers(0, 120), epsilon=1, edges="padded")
ROUNDED = BRR(Interval(0, 200_000, points=401, rounding="random"), epsilon=1)
SENTINEL = 918_273_645
NEEDLES = ("918273645", "9182736", "9.18273645")
LABELS = [f"person {SENTINEL}", *"zyxwvutsrqponm"]


@dataclass(frozen=True)
class Kind:
    """How to make a container, look into it, and what it is."""

    make: Any
    """From a list of numbers and None, and a NumPy name of a type."""
    look: Any = list
    """Back to a list of numbers and None."""
    traits: Any = type
    """What must come back: name, index, type of the numbers, …"""
    has_null: bool = True
    """Whether None can stand beside whole numbers."""
    typed: bool = True
    """Whether the container has a type for its numbers."""
    place: str = "values[{}]"


def chunks_of(values, dtype):
    kind = pa.from_numpy_dtype(dtype)
    first, second = values[: len(values) // 3], values[len(values) // 3 :]
    return pa.chunked_array([first, [], second], type=kind)


def offset_array(values, dtype):
    return pa.array([99, None, *values, 7], type=pa.from_numpy_dtype(dtype))[2:-1]


def pandas_plain_look(series):
    return [None if value != value else value for value in series.tolist()]  # noqa: PLR0124


def pandas_traits(series):
    return series.name, series.index.tolist(), str(series.dtype)


def pandas_make(values, dtype, index=None, prefix=str):
    return pd.Series(values, dtype=prefix(dtype), name="answers", index=index and index[: len(values)])


def nullable_name(dtype):
    return {"u": "UInt", "i": "Int", "f": "Float"}[dtype[0]] + dtype.lstrip("uintfloa")


def arrow_name(dtype):
    return pd.ArrowDtype(pa.from_numpy_dtype(dtype))


def chunked_series(values, dtype):
    array = pd.arrays.ArrowExtensionArray(chunks_of(values, dtype))
    return pd.Series(array, name="answers", index=LABELS[: len(values)])


def strided_series(values, dtype):
    # Every second value of a column, so that neither memory nor index starts at 0 or is in one piece.
    grid = np.array([[value, 1] for value in values], dtype=dtype).reshape(-1, 2).repeat(2, axis=0)
    return pd.DataFrame(grid, columns=["answers", "other"])["answers"].iloc[::-2].iloc[::-1]


NULLABLE = {"look": pd.Series.tolist, "traits": pandas_traits, "place": "values.iloc[{}]"}
PLAIN = {"look": pandas_plain_look, "traits": pandas_traits, "place": "values.iloc[{}]", "has_null": False}
ARROW = {"look": lambda array: array.to_pylist(), "traits": lambda array: (array.type,)}
POLARS = {"look": lambda series: series.to_list(), "traits": lambda series: (series.name, series.dtype)}
KINDS = {
    "list": Kind(lambda values, _: list(values), typed=False),
    "tuple": Kind(lambda values, _: tuple(values), typed=False),
    "numpy": Kind(np.array, np.ndarray.tolist, lambda array: (array.dtype, array.shape), has_null=False),
    "pandas": Kind(pandas_make, **PLAIN),
    "pandas labelled": Kind(lambda values, dtype: pandas_make(values, dtype, LABELS), **PLAIN),
    "pandas same label": Kind(lambda values, dtype: pandas_make(values, dtype, [3] * 15), **PLAIN),
    "pandas strided": Kind(strided_series, **PLAIN),
    "pandas nullable": Kind(lambda values, dtype: pandas_make(values, dtype, LABELS, nullable_name), **NULLABLE),
    "pandas Arrow": Kind(lambda values, dtype: pandas_make(values, dtype, LABELS, arrow_name), **NULLABLE),
    "pandas Arrow chunked": Kind(chunked_series, **NULLABLE),
    "polars": Kind(lambda values, dtype: pl.Series("answers", values, dtype=polars_type(dtype)), **POLARS),
    "polars chunked": Kind(
        lambda values, dtype: pl.concat(
            [pl.Series("answers", part, dtype=polars_type(dtype)) for part in (values[:2], values[2:])], rechunk=False
        ),
        **POLARS,
    ),
    "polars sliced": Kind(
        lambda values, dtype: pl.Series("answers", [1, *values, 2], dtype=polars_type(dtype))[1:-1], **POLARS
    ),
    "Arrow": Kind(lambda values, dtype: pa.array(values, type=pa.from_numpy_dtype(dtype)), **ARROW),
    "Arrow offset": Kind(offset_array, **ARROW),
    "Arrow chunked": Kind(chunks_of, **ARROW),
    "Arrow no chunk": Kind(
        lambda values, dtype: chunks_of(values, dtype) if values else pa.chunked_array([], pa.from_numpy_dtype(dtype)),
        **ARROW,
    ),
}


def polars_type(dtype):
    return getattr(pl, dtype.replace("ui", "UI").replace("i", "I", dtype[0] == "i").replace("f", "F"))


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture(params=[name for name, kind in KINDS.items() if kind.has_null])
def kind_with_nulls(request):
    return KINDS[request.param]


def none_for_na(values):
    return [None if value is None or value is pd.NA else value for value in values]


def looked(kind, container):
    return none_for_na(kind.look(container))


@pytest.mark.grid(51)
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64"])
def test_reports_are_those_of_the_array_in_the_same_container(kind, dtype):
    values = np.array([18, 90, 40, 40, 41, 77, 20], dtype=dtype)
    container = kind.make(values.tolist(), dtype)
    reports = AGES.privatize(container, rng=insecure_seed(5))
    assert type(reports) is type(kind.make(values.astype(int).tolist(), "int64"))
    assert looked(kind, reports) == AGES.privatize(values, rng=insecure_seed(5)).tolist()
    assert kind.traits(reports) == kind.traits(kind.make(values.astype(int).tolist(), "int64"))
    assert looked(kind, container) == values.tolist()


@pytest.mark.grid(34)
@pytest.mark.parametrize("mechanism", [INCOME, ROUNDED], ids=["nearest", "random"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_intervals_report_floats_in_every_container(kind, mechanism, dtype):
    values = np.array([0, 200_000, 1234, 99_999], dtype=dtype)
    reports = mechanism.privatize(kind.make(values.tolist(), dtype), rng=insecure_seed(6))
    expected = mechanism.privatize(values, rng=insecure_seed(6))
    assert looked(kind, reports) == expected.tolist()
    if kind.typed:
        assert kind.traits(reports) == kind.traits(kind.make(values.tolist(), "float64"))


@pytest.mark.grid(17)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64"])
def test_padded_reports_never_wrap(kind, dtype):
    assert PADDED.outputs[0] < 0
    values = np.array([0, 120] * 7, dtype=dtype)
    reports = PADDED.privatize(kind.make(values.tolist(), dtype), rng=insecure_seed(7))
    assert looked(kind, reports) == PADDED.privatize(values, rng=insecure_seed(7)).tolist()
    if kind.typed:
        assert kind.traits(reports) == kind.traits(kind.make(values.tolist(), "int64"))


@pytest.mark.grid(34)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("nulls", ["error", "keep"])
def test_an_empty_container_comes_back_empty(kind, dtype, nulls):
    empty = kind.make([], dtype)
    reports = AGES.privatize(empty, nulls=nulls)
    assert type(reports) is type(kind.make([], "int64"))
    assert len(reports) == 0
    if nulls == "error":
        assert kind.traits(reports) == kind.traits(kind.make([], "int64"))


@pytest.mark.parametrize("dtype", ["int16", "float64"])
def test_nulls_are_refused_or_go_through_as_the_containers_own(kind_with_nulls, dtype):
    kind = kind_with_nulls
    container = kind.make([20, 30, None, 40, None], dtype)
    message = f"2 of 5 values are missing, the first at {kind.place.format(2)}; remove it, .*nulls='keep'"
    with pytest.raises(NullError, match=message.replace("[", "\\[")):
        AGES.privatize(container)
    kept = AGES.privatize(container, nulls="keep", rng=insecure_seed(8))
    expected = AGES.privatize(np.array([20, 30, 40], dtype=dtype), rng=insecure_seed(8)).tolist()
    assert type(kept) is type(kind.make([None], "int64"))
    assert looked(kind, kept) == [*expected[:2], None, expected[2], None]
    assert kind.traits(kept) == kind.traits(kind.make([20, 30, None, 40, None], "int64"))
    with pytest.raises(OutsideDomainError, match="1 of 2 values .*" + kind.place.format(3).replace("[", "\\[")):
        AGES.privatize(kind.make([20, None, None, 120], dtype), nulls="keep")
    nothing = AGES.privatize(kind.make([None, None], dtype), nulls="keep")
    assert looked(kind, nothing) == [None, None]
    assert not kind.typed or kind.traits(nothing)[-1] == kind.traits(kept)[-1]


@pytest.mark.parametrize("name", ["pandas nullable", "polars", "Arrow", "Arrow chunked", "pandas Arrow chunked"])
def test_whole_numbers_beside_nulls_stay_exact(name):
    # 2^53 − 1 beside a null would be lost, were it read as a float of fewer digits.
    top = 2**53 - 1
    mechanism = BRR(Integers(top - 1, top), epsilon=30, m=1)
    kind = KINDS[name]
    assert looked(kind, mechanism.privatize(kind.make([top, None, top], "int64"), nulls="keep")) == [top, None, top]
    beyond = kind.make([2**53, None], "int64")
    with pytest.raises(OutsideDomainError):
        mechanism.privatize(beyond, nulls="keep")


def with_nan(name):
    values = np.array([20.0, np.nan, 40.0])
    return {
        "numpy": values,
        "pandas": pd.Series(values, name="answers"),
        "polars": pl.Series("answers", values),
        "Arrow": pa.array(values),
        "Arrow chunked": pa.chunked_array([values]),
        "pandas Arrow": pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values))),
    }[name]


@pytest.mark.parametrize("name", ["numpy", "pandas", "polars", "Arrow", "Arrow chunked", "pandas Arrow"])
def test_nan_is_no_number_and_a_null_where_nulls_are_kept(name):
    values = with_nan(name)
    with pytest.raises(NotAValueError, match=r"1 of 3 values .*\[1\] is not a number"):
        AGES.privatize(values)
    kept = AGES.privatize(values, nulls="keep", rng=insecure_seed(9))
    found = kept.to_pylist() if isinstance(kept, (pa.Array, pa.ChunkedArray)) else list(kept)
    assert [found[0], found[2]] == AGES.privatize(np.array([20.0, 40.0]), rng=insecure_seed(9)).tolist()
    assert found[1] is None or found[1] is pd.NA or (name == "numpy" and np.isnan(found[1]))


def test_nan_and_null_are_both_nulls():
    # A type for whole numbers has no NaN; that it was one rather than a null is nobody's business either.
    values = [20.0, float("nan"), None, 40.0]
    for mechanism in (AGES, BRR(Interval(18, 90, points=73), epsilon=1)):
        for kept in (
            mechanism.privatize(pa.array(values), nulls="keep").to_pylist(),
            mechanism.privatize(pl.Series(values), nulls="keep").to_list(),
        ):
            assert kept[1] is None and kept[2] is None
            assert kept[0] in mechanism.outputs and kept[3] in mechanism.outputs


@pytest.mark.grid(34)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("nulls", ["error", "keep"])
def test_errors_name_the_position_and_never_a_value_or_a_label(kind, dtype, nulls, caplog):
    with pytest.raises(OutsideDomainError) as caught:
        AGES.privatize(kind.make([20, 30, SENTINEL, SENTINEL], dtype), nulls=nulls)
    assert str(caught.value).startswith(f"2 of 4 values cannot be reported: {kind.place.format(2)} is outside 18..90")
    assert str(caught.value).endswith("use outside='clip' to clamp values to the ends.")
    shown = str(caught.value) + repr(caught.value) + pickle.dumps(caught.value).decode("latin-1") + caplog.text
    assert not [needle for needle in NEEDLES if needle in shown]
    assert caught.value.__context__ is None
    clipped = AGES.privatize(kind.make([SENTINEL] * 3, dtype), outside="clip", rng=insecure_seed(1))
    assert looked(kind, clipped) == AGES.privatize(np.full(3, 90, dtype), rng=insecure_seed(1)).tolist()


TEXT = [f"{SENTINEL}", "b"]
DAYS = [dt.date(2020, 1, 1)] * 2
EXACT = [decimal.Decimal(SENTINEL), decimal.Decimal(2)]
TO_PANDAS = "; use .astype\\('Int64'\\) or .astype\\('Float64'\\)."
TO_POLARS = "; use .cast\\(pl.Int64\\) or .cast\\(pl.Float64\\)."
TO_ARROW = "; use .cast\\('int64'\\) or .cast\\('double'\\)."


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.DataFrame({"age": [SENTINEL]}), "got a pandas DataFrame; select a column: frame\\['age'\\]."),
        (pd.Index([SENTINEL]), "got a pandas Index; pass a pandas.Series."),
        (pd.array([SENTINEL]), "got a pandas IntegerArray; pass a pandas.Series."),
        (
            pd.Series(TEXT, dtype="string"),
            "Expected a pandas Series of whole numbers or floats, got StringDtype" + TO_PANDAS,
        ),
        (pd.Series([SENTINEL, None], dtype=object), "got object" + TO_PANDAS),
        (pd.Series([True, False]), "got bool" + TO_PANDAS),
        (pd.Series([True, None], dtype="boolean"), "got BooleanDtype" + TO_PANDAS),
        (pd.Series(TEXT, dtype="category"), "got CategoricalDtype" + TO_PANDAS),
        (pd.Series([SENTINEL] * 2, dtype="category"), "got CategoricalDtype" + TO_PANDAS),
        (pd.Series(pd.to_datetime(DAYS)), "got datetime64\\[\\w+\\]" + TO_PANDAS),
        (pd.Series([pd.Timedelta(SENTINEL)]), "got timedelta64\\[ns\\]" + TO_PANDAS),
        (pd.Series(pd.arrays.SparseArray([SENTINEL] * 2, fill_value=SENTINEL)), "got SparseDtype" + TO_PANDAS),
        (pd.Series(EXACT, dtype=pd.ArrowDtype(pa.decimal128(20, 2))), "got decimal128\\(20, 2\\).*" + TO_PANDAS),
        (pd.Series(TEXT, dtype=pd.ArrowDtype(pa.string())), "got string\\[pyarrow\\]" + TO_PANDAS),
        (pl.DataFrame({"age": [SENTINEL]}), "got a polars DataFrame; select a column: frame\\['age'\\]"),
        (pl.LazyFrame({"age": [SENTINEL]}), "got a polars LazyFrame; select a column"),
        (pl.lit(SENTINEL), "got a polars Expr; pass a polars.Series."),
        (pl.Series(TEXT), "Expected a Polars Series of whole numbers or floats, got String" + TO_POLARS),
        (pl.Series([True]), "got Boolean" + TO_POLARS),
        (pl.Series(TEXT, dtype=pl.Categorical), "got Categorical" + TO_POLARS),
        (pl.Series(TEXT, dtype=pl.Enum(TEXT)), "got Enum" + TO_POLARS),
        (pl.Series(DAYS), "got Date" + TO_POLARS),
        (pl.Series(EXACT), "got Decimal" + TO_POLARS),
        (pl.Series([SENTINEL], dtype=pl.Int128), "got Int128" + TO_POLARS),
        (pl.Series([[SENTINEL]]), "got List" + TO_POLARS),
        (pa.table({"age": [SENTINEL]}), "got a pyarrow Table; select a column: table\\['age'\\]."),
        (pa.record_batch({"age": [SENTINEL]}), "got a pyarrow RecordBatch; select a column: table\\['age'\\]."),
        (pa.scalar(SENTINEL), "got a pyarrow Int64Scalar; pass a number or a pyarrow.Array."),
        (pa.array(TEXT), "Expected an Arrow array of whole numbers or floats, got string" + TO_ARROW),
        (pa.array([True]), "got bool" + TO_ARROW),
        (pa.array(TEXT).dictionary_encode(), "got dictionary" + TO_ARROW),
        (pa.array([SENTINEL]).dictionary_encode(), "got dictionary" + TO_ARROW),
        (pa.array(DAYS), "got date32\\[day\\]" + TO_ARROW),
        (pa.array([SENTINEL], pa.duration("s")), "got duration\\[s\\]" + TO_ARROW),
        (pa.chunked_array([EXACT]), "got decimal128\\(9, 0\\)" + TO_ARROW),
        (pa.array([{str(SENTINEL): 1}]), "got struct" + TO_ARROW),
    ],
)
def test_columns_of_anything_but_numbers_are_refused_with_advice(values, message):
    with pytest.raises(InputError, match=message) as caught:
        AGES.privatize(values)
    assert not [needle for needle in NEEDLES if needle in str(caught.value)]


@pytest.mark.parametrize("make", [pa.array, lambda values: pa.chunked_array([pa.array(values)]), pl.Series])
def test_a_column_of_nothing_but_nulls_needs_no_type(make):
    with pytest.raises(NullError, match="2 of 2 values are missing, the first at values\\[0\\]; remove it"):
        AGES.privatize(make([None, None]))
    for values in ([None, None], []):
        kept = AGES.privatize(make(values), nulls="keep")
        assert len(kept) == len(values)
        assert (kept.null_count() if isinstance(kept, pl.Series) else kept.null_count) == len(values)
        assert str(kept.dtype if isinstance(kept, pl.Series) else kept.type).lower() == "int64"
    assert len(AGES.privatize(make([]))) == 0


def test_a_class_derived_from_a_series_is_a_series():
    class Answers(pd.Series):
        """A Series of somebody else."""

    reports = AGES.privatize(Answers([20, 30], index=["x", "y"]), rng=insecure_seed(1))
    assert reports.index.tolist() == ["x", "y"]
    assert reports.tolist() == AGES.privatize([20, 30], rng=insecure_seed(1))


def test_what_lay_under_a_null_does_not_travel():
    hidden = pa.Array.from_buffers(
        pa.int64(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(np.array([40, SENTINEL], dtype=np.int64))]
    )
    assert hidden.to_pylist() == [40, None]
    masked = pd.Series(pd.arrays.IntegerArray(np.array([40, SENTINEL]), np.array([False, True])))
    assert AGES.privatize(hidden, nulls="keep").buffers()[1].to_pybytes()[8:16] == bytes(8)
    assert AGES.privatize(masked, nulls="keep").array._data[1] == 0


def test_a_container_of_one_library_loads_no_other():
    code = (
        "import bipartite as bp, sys, {0}\n"
        "bp.BRR(bp.Integers(18, 90), 1).privatize({1}, nulls='keep')\n"
        "print([name for name in ('narwhals', 'pandas', 'polars') if name in sys.modules])"
    )
    # pandas and pyarrow load each other where both are installed, whatever we do.
    for library, container in (("polars", "polars.Series([40, None])"), ("pandas", "pandas.Series([40, 30])")):
        command = [sys.executable, "-c", code.format(library, container)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert result.stdout.strip() == f"['{library}']"

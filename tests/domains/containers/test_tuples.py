"""Containers of tuples: what goes in comes out as the same kind, and errors show no value."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bipartite import BRR, GRR, OUE, Anchored, Integers, Interval, Items, Product, SubsetSelection, insecure_seed
from bipartite.errors import InputError, NotAValueError, NullError, OutsideDomainError

GENRES = Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
PEOPLE = Product(Integers(0, 9), GENRES)
NUMBERS = Product(Integers(0, 9), Interval(0, 1, points=5))
PAIRS = [(1, "jazz"), (5, "metal"), (9, "blues"), (0, "metal")]
INDEX = ["d", "c", "b", "a"]


def frame(rows=PAIRS):
    return pd.DataFrame(rows, columns=["age", "genre"], index=INDEX[: len(rows)])


def structured(rows=PAIRS):
    return np.array(rows, dtype=[("age", "i4"), ("genre", "U5")])


def arrow(rows=PAIRS):
    ages, genres = zip(*rows, strict=True)
    return pa.table({"age": ages, "genre": genres})


def tuples(rows=PAIRS):
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


# Each: how it is made, and what it holds, as a list of tuples.
CONTAINERS = {
    "list": (list, list),
    "list of lists": (lambda rows: [list(row) for row in rows], list),
    "array of objects": (lambda rows: np.array(rows, dtype=object), lambda a: [tuple(row) for row in a.tolist()]),
    "array of tuples": (tuples, list),
    "Series of tuples": (lambda rows: pd.Series(tuples(rows), index=INDEX[: len(rows)], name="who"), list),
    "structured array": (structured, lambda a: a.tolist()),
    "pandas": (frame, lambda f: list(f.itertuples(index=False, name=None))),
    "polars": (lambda rows: pl.DataFrame(rows, schema=["age", "genre"], orient="row"), lambda f: f.rows()),
    "Arrow": (arrow, lambda t: [tuple(row.values()) for row in t.to_pylist()]),
    "Arrow batch": (lambda rows: arrow(rows).to_batches()[0], lambda t: [tuple(row.values()) for row in t.to_pylist()]),
    "Series": (
        lambda rows: tuple(frame(rows)[name] for name in ("age", "genre")),
        lambda t: list(zip(*t, strict=True)),
    ),
    "arrays": (lambda rows: tuple(map(np.array, zip(*rows, strict=True))), lambda t: list(zip(*t, strict=True))),
}
every_container = pytest.mark.parametrize(("make", "look"), CONTAINERS.values(), ids=CONTAINERS)


@pytest.mark.grid(24)
@pytest.mark.parametrize("mechanism", [BRR(PEOPLE, 2), GRR(PEOPLE, 2), Anchored(PEOPLE, 2)], ids=repr)
@every_container
def test_the_same_kind_comes_back_with_the_same_reports(mechanism, make, look):
    values = make(PAIRS)
    reports = mechanism.privatize(values, rng=insecure_seed(7))
    assert type(reports) is type(values)
    assert look(reports) == mechanism.privatize(PAIRS, rng=insecure_seed(7))
    assert all(report in mechanism.outputs for report in look(reports))


@pytest.mark.grid(12)
@pytest.mark.parametrize("mechanism", [OUE(PEOPLE, 2), SubsetSelection(PEOPLE, 2)], ids=repr)
@pytest.mark.parametrize("make", [make for make, _ in CONTAINERS.values()], ids=CONTAINERS)
def test_flat_categories_take_the_same(mechanism, make):
    expected = mechanism.privatize(PAIRS, rng=insecure_seed(7))
    assert np.array_equal(mechanism.privatize(make(PAIRS), rng=insecure_seed(7)), expected)
    assert mechanism.privatize(PAIRS[0]).shape == expected[0].shape


def test_names_and_index_come_back():
    reports = BRR(PEOPLE, 2).privatize(frame())
    assert reports.columns.tolist() == ["age", "genre"]
    assert reports.index.tolist() == INDEX
    assert reports["age"].dtype == np.int64
    assert BRR(PEOPLE, 2).privatize(arrow()).column_names == ["age", "genre"]
    assert BRR(PEOPLE, 2).privatize(structured()).dtype.names == ("age", "genre")


def test_two_columns_of_numbers_are_an_array_whose_type_follows_from_the_outputs():
    whole = BRR(Product(Integers(0, 9), Integers(0, 3)), 2)
    assert whole.privatize(np.array([[1, 2], [3, 0]], dtype=np.int8)).dtype == np.int64
    assert whole.privatize(np.array([[1.0, 2.0], [3.0, 0.0]])).dtype == np.int64
    assert BRR(NUMBERS, 2).privatize(np.array([[1, 1], [3, 0]])).dtype == np.float64
    assert whole.privatize(np.zeros((0, 2), dtype=int)).shape == (0, 2)
    assert whole.privatize([]) == []


def test_one_pair_is_a_tuple():
    mechanism = BRR(PEOPLE, 30)
    assert mechanism.m == 1
    assert mechanism.privatize((3, "blues")) == (3, "blues")
    assert BRR(NUMBERS, 30).privatize((np.int64(3), np.float32(0.5))) == (3, 0.5)
    assert mechanism.privatize((12, "blues"), outside="clip") == (9, "blues")


def test_a_pair_of_which_a_part_is_missing_is_missing():
    mechanism = BRR(PEOPLE, 30)
    rows = [(1, "jazz"), None, (None, "jazz"), (3, None), (9, "metal")]
    kept = [(1, "jazz"), None, None, None, (9, "metal")]
    assert mechanism.privatize(rows, nulls="keep") == kept
    assert [mechanism.privatize(row, nulls="keep") for row in rows] == kept
    columns = pa.array([1, None, None, 3, 9]), pa.array(["jazz", None, "jazz", None, "metal"])
    ages, genres = mechanism.privatize(columns, nulls="keep")
    assert ages.to_pylist() == [1, None, None, None, 9]
    assert genres.to_pylist() == ["jazz", None, None, None, "metal"]
    numbers = BRR(NUMBERS, 30).privatize(np.array([[1, 0.5], [np.nan, 0.5], [2, np.nan]]), nulls="keep")
    assert np.array_equal(numbers, [[1, 0.5], [np.nan, np.nan], [np.nan, np.nan]], equal_nan=True)
    for row in (None, (None, "jazz")):
        with pytest.raises(NullError, match="The value is missing"):
            mechanism.privatize(row)
    with pytest.raises(NullError, match=r"2 of 5 values are missing, the first at values\[1\]"):
        mechanism.privatize(rows)


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([(1, 0.5), (918273,)], NotAValueError, r"values\[1\] is not a tuple of 2; pass one value of each part"),
        ([(1, 0.5), 918273], NotAValueError, r"values\[1\] is not a tuple of 2"),
        ([(1, 0.5), ("918273", 1)], NotAValueError, r"values\[1\] is not a number \(found str\)"),
        ([(1, 0.5), (918273, 1)], OutsideDomainError, r"part 0 of values\[1\] is outside 0..9 \(1 such\)"),
        ([(1, 0.5), (1, float("nan"))], NotAValueError, r"part 1 of values\[1\] is not a number"),
        (np.array([[1, 2, 918273]]), InputError, r"Expected tuples of 2, .* got an array of shape \(1, 3\)"),
        (np.array([1, 918273]), InputError, r"got an array of shape \(2,\)"),
        (np.ma.masked_array([[1, 918273]]), InputError, "got MaskedArray"),
        (np.zeros(2, dtype=[("a", "i8")]), InputError, r"structured array of shape \(2,\) with 1 fields"),
        (((1, 918273), (3, 4)), InputError, "got a tuple of 2 that are not arrays or Series"),
        ((np.zeros(2), np.zeros(3)), InputError, "columns of one length, got 2 and 3"),
        (pd.DataFrame({"a": [918273]}), InputError, r"got 1 column; pass \[\(first, second\), …\], or frame\[\['age'"),
        (pd.Series([918273]), InputError, "got 1 column;"),
        (pl.DataFrame({"a": [1], "b": [1], "c": [1]}), InputError, "got 3 columns"),
        (pl.LazyFrame({"a": [1], "b": [1]}), InputError, "got LazyFrame"),
        (pa.table({"a": [918273]}), InputError, "got 1 column;"),
        (pa.array([918273]), InputError, "got Int64Array"),
        ({"age": [918273]}, InputError, "got dict"),
    ],
    ids=str,
)
def test_what_is_refused_and_how(values, kind, message):
    with pytest.raises(kind, match=message) as caught:
        BRR(NUMBERS, 1).privatize(values)
    assert "918273" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_is_no_label_is_named_by_its_place():
    with pytest.raises(OutsideDomainError, match=r"part 1 of values\[1\] is not one of the labels") as caught:
        BRR(PEOPLE, 1).privatize([(1, "jazz"), (1, "918273")])
    assert "918273" not in str(caught.value)
    with pytest.raises(InputError, match="no meaning on a set"):
        BRR(Product(GENRES, GENRES), 1).privatize([("jazz", "jazz")], outside="clip")


def test_large_calls_do_not_depend_on_threads():
    values = np.random.default_rng(1).integers(0, 10, size=(3000, 2))
    mechanism = BRR(Product(Integers(0, 9), Integers(0, 9)), 1)
    one, two = (mechanism.privatize(values, rng=insecure_seed(2), threads=threads) for threads in (1, 2))
    assert np.array_equal(one, two)

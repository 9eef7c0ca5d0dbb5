"""Labels in every container: the same kind back, nulls in place, positions and never labels in errors."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bipartite import BRR, GRR, Integers, Interval, Items, Record, insecure_seed
from bipartite.errors import InputError, NullError, OutsideDomainError

GENRES = ["jazz", "blues", "metal", "techno"]
MECHANISM = BRR(Items.tanimoto([1, 2, 5, 9], labels=GENRES), epsilon=1, m=2)
NAMES = ["metal", "jazz", "jazz", "techno", "blues"] * 4
EXPECTED = MECHANISM.privatize(NAMES, rng=insecure_seed(5))
INDEX = list(range(100, 120))

CONTAINERS = {
    "list": (list, list),
    "tuple": (tuple, list),
    "numpy": (np.array, np.ndarray.tolist),
    "pandas": (lambda v: pd.Series(v, index=INDEX[: len(v)], name="genre"), pd.Series.tolist),
    "pandas object": (lambda v: pd.Series(v, name="genre", dtype=object), pd.Series.tolist),
    "polars": (lambda v: pl.Series("genre", v), pl.Series.to_list),
    "arrow": (pa.array, pa.Array.to_pylist),
    "arrow large": (lambda v: pa.array(v, type=pa.large_string()), pa.Array.to_pylist),
    "arrow chunked": (lambda v: pa.chunked_array([v[:3], v[3:]]), pa.ChunkedArray.to_pylist),
}


@pytest.fixture(params=CONTAINERS)
def kind(request):
    return CONTAINERS[request.param]


def test_the_same_labels_come_back_in_the_same_kind(kind):
    make, look = kind
    values = make(NAMES)
    reports = MECHANISM.privatize(values, rng=insecure_seed(5))
    assert type(reports) is type(values)
    assert look(reports) == EXPECTED
    for trait in ("name", "dtype", "type"):
        if not isinstance(values, np.ndarray):
            # pandas makes objects of text by what stands beside it, so that its own choice for the labels comes back.
            like = pd.Series(GENRES, name="genre") if isinstance(values, pd.Series) else values
            assert getattr(reports, trait, None) == getattr(like, trait, None)
    if isinstance(values, pd.Series):
        assert reports.index.equals(values.index)
    chosen = pd.Series(NAMES, dtype="string")
    assert MECHANISM.privatize(chosen).dtype == chosen.dtype


def test_missing_labels_are_refused_or_kept_in_place(kind):
    make, look = kind
    if make is np.array:
        make = lambda v: np.array(v, dtype=object)  # noqa: E731
    values = make(["metal", None, "jazz"])
    with pytest.raises(NullError, match="1 of 3 values are missing, the first at values.*\\[1\\]"):
        MECHANISM.privatize(values)
    kept = look(MECHANISM.privatize(values, nulls="keep"))
    assert [label is None or label != label for label in kept] == [False, True, False]  # noqa: PLR0124


def test_unknown_labels_are_named_by_their_place(kind):
    make, _ = kind
    with pytest.raises(OutsideDomainError) as caught:
        MECHANISM.privatize(make(["metal", "jazz", "secret-genre", "jazz"]))
    assert "1 of 4 values cannot be reported: values" in str(caught.value)
    assert "[2] is not one of the labels" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {"metal"},
        pd.Series(["metal", "jazz"], dtype="category"),
        pd.DataFrame({"genre": ["metal"]}),
        pl.Series(["metal"], dtype=pl.Categorical),
        pl.Series([1.5]),
        pa.array(["metal"]).dictionary_encode(),
        pa.array([1.5]),
        np.ma.masked_array(["metal"], mask=[False]),
    ],
    ids=lambda values: f"{type(values).__module__}.{type(values).__name__}",
)
def test_other_containers_are_refused_with_advice(values):
    with pytest.raises(
        InputError, match="Expected labels as one label, a list, a NumPy array, or a Series or Arrow array"
    ):
        MECHANISM.privatize(values)


def test_the_place_in_a_two_dimensional_array_is_its_own():
    values = np.array([["metal", "jazz"], ["jazz", None]], dtype=object)
    with pytest.raises(NullError, match="the first at values\\[1, 1\\]"):
        MECHANISM.privatize(values)


WIDE = BRR(Items([1, 2, 300], loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), epsilon="0.5", m=1)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1] * 50, dtype="int8"),
        pd.Series([1] * 50, dtype="uint8"),
        pd.Series([1] * 50, dtype="Int8"),
        pl.Series([1] * 50, dtype=pl.Int8),
        pa.array([1] * 50, type=pa.int8()),
        pa.chunked_array([[1] * 50], type=pa.int8()),
        np.ones(50, dtype=np.int8),
    ],
    ids=lambda values: f"{type(values).__module__}.{type(values).__name__}",
)
def test_labels_too_wide_for_the_type_of_the_values_widen_it(values):
    # Whoever tried again after a failure would condition on the report.
    reports = WIDE.privatize(values)
    found = list(reports.to_pylist() if hasattr(reports, "to_pylist") else reports)
    assert set(found) <= {1, 2, 300}
    assert 300 in found


def test_the_type_of_a_sampled_column_does_not_tell_what_was_drawn():
    record = Record({"a": WIDE, "b": BRR(Integers(0, 9), 1)}, sample=1)
    texts = Record({"a": MECHANISM, "b": BRR(Integers(0, 9), 1)}, sample=1)
    kinds = set()
    for _ in range(40):
        column = record.privatize({"a": pd.Series([1]), "b": pd.Series([3])})["a"]
        kinds.add(str(column.dtype))
        kinds.add(str(texts.privatize({"a": np.array(["jazz"]), "b": np.array([3])})["a"].dtype))
    assert kinds == {"Int64", "object"}


@pytest.mark.parametrize("values", [pd.Series([True, False]), pd.Series([1.0]), [True], np.array([True])])
def test_truth_values_and_floats_are_no_whole_number_labels(values):
    with pytest.raises((InputError, OutsideDomainError)):
        WIDE.privatize(values)


def test_columns_of_a_record_share_one_index():
    record = Record({"x": BRR(Integers(0, 9), 1), "y": BRR(Integers(0, 9), 1)}, sample=1)
    columns = {"x": pd.Series([1, 2], index=["a", "b"]), "y": pd.Series([1, 2], index=["b", "a"])}
    with pytest.raises(
        InputError, match="Expected pandas columns with the same index, got different ones; pass columns"
    ):
        record.privatize(columns)


def test_a_sampled_array_shows_no_plausible_number_when_its_mask_is_dropped():
    record = Record({"x": BRR(Integers(0, 90), 1), "y": BRR(Interval(0, 1, points=11), 1)}, sample=1)
    columns = record.privatize({"x": np.full(50, 40, dtype=np.int8), "y": np.full(50, 0.5)})
    hidden = columns["x"].mask
    assert (np.asarray(columns["x"])[hidden] == np.iinfo(np.int64).min).all()
    assert (columns["x"].filled()[hidden] < 0).all()
    assert np.isnan(np.asarray(columns["y"])[~hidden]).all()


def test_the_budget_of_many_attributes_is_written_plainly():
    assert str(Record({f"q{i}": BRR(Integers(0, 9), 1) for i in range(10)}).epsilon_decimal) == "10"


@pytest.mark.parametrize("labels", [["a", "b"], [3, 5]], ids=["texts", "numbers"])
def test_a_column_of_nothing_but_nulls_comes_back_as_any_other(labels):
    mech = GRR(Items(labels, loss=1 - np.eye(2)), epsilon=1)
    for make in (pl.Series, pa.array):
        gone = mech.privatize(make([None, None]), nulls="keep")
        some = mech.privatize(make([labels[0], None]), nulls="keep")
        assert gone.to_pylist() == [None, None] if make is pa.array else gone.to_list() == [None, None]
        assert str(getattr(gone, "type", None) or gone.dtype) == str(getattr(some, "type", None) or some.dtype)
        with pytest.raises(NullError):
            mech.privatize(make([None]))

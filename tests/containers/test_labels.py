"""Labels in every container: the same kind back, nulls in place, positions and never labels in errors."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bipartite import BRR, Items, insecure_seed
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
            assert getattr(reports, trait, None) == getattr(values, trait, None)
    if isinstance(values, pd.Series):
        assert reports.index.equals(values.index)


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

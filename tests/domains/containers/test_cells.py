"""Cells of columns of any kind: what stands there as it is, and every kind of gap."""

from dataclasses import astuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bipartite import GRR, Integers, Items
from bipartite.domains.containers import library_of
from bipartite.domains.containers.cells import Array
from bipartite.domains.containers.series import PandasSeries, PolarsSeries, numbers_of, rows_of
from bipartite.errors import NotAValueError, NullError, OutsideDomainError
from bipartite.learn import PrivateColumns

NAN = float("nan")
COLUMNS = {
    "objects": (Array(np.array([1, None, NAN, pd.NA, pd.NaT], dtype=object), "error"), [False, True, True, True, True]),
    "floats": (Array(np.array([1.0, NAN]), "error"), [False, True]),
    "pandas nullable": (PandasSeries(pd.Series([1, None], dtype="UInt64"), "error"), [False, True]),
    "pandas Arrow": (PandasSeries(pd.Series([1.5, None], dtype="double[pyarrow]"), "error"), [False, True]),
    "pandas text": (PandasSeries(pd.Series(["a", None]), "error"), [False, True]),
    "polars": (PolarsSeries(pl.Series([1.5, None, NAN]), "error"), [False, True, True]),
    "polars wide": (PolarsSeries(pl.Series([2**100, None], dtype=pl.Int128), "error"), [False, True]),
    "polars nothing": (PolarsSeries(pl.Series([None]), "error"), [True]),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_gaps_of_every_kind_are_found(column):
    container, missing = COLUMNS[column]
    cells = container.cells().with_nan()
    assert cells.missing.tolist() == missing
    assert cells.there.tolist() == [not gap for gap in missing]


@pytest.mark.parametrize(
    "held", [pd.Series([1, 5]), pd.Series([1, 5], dtype="Sparse[int]"), pd.Series([1, 5], dtype="uint64[pyarrow]")]
)
def test_a_column_without_gaps_has_no_mask(held):
    cells = PandasSeries(held, "error").cells()
    assert astuple(cells)[0].tolist() == [1, 5] and cells.missing is None
    assert cells.with_nan() is cells


def test_arrow_reads_truth_values_decimals_and_dictionaries_as_numbers():
    for array, expected in (
        (pa.array([True, None]), [1, 0]),
        (pa.array([1.5, 2]).cast(pa.decimal128(5, 2)), [1.5, 2.0]),
        (pa.array([7, 7]).dictionary_encode(), [7, 7]),
    ):
        assert astuple(numbers_of(array))[0].tolist() == expected
    assert numbers_of(pa.nulls(2)).missing.all()
    assert numbers_of(pa.nulls(0)).missing is None


def test_arrow_tells_a_gap_from_what_is_no_label():
    domain = Items(["a", "b"], loss=1 - np.eye(2))
    for array in (pa.array(["b", None, "z"]), pa.array(["b", None, "z"]).dictionary_encode()):
        rows, missing = astuple(rows_of(array, domain))
        assert rows.tolist() == [1, 0, -1] and missing.tolist() == [False, True, False]


def test_lists_within_a_list_are_no_labels_and_no_numbers():
    mech = GRR(Items(["a", "b"], loss=1 - np.eye(2)), epsilon=1)
    with pytest.raises(OutsideDomainError, match="2 of 2 values cannot be reported: values\\[0\\] is not one"):
        mech.privatize([["a"], ["b"]])
    numbers = GRR(Integers(1, 2), epsilon=1)
    with pytest.raises(NotAValueError, match="values\\[0\\] is not a number"):
        numbers.privatize([["a"], ["b"]])
    with pytest.raises(NullError, match="the first at values\\[1\\]"):
        numbers.privatize(["a", None])


def test_a_refusal_does_not_tell_that_a_whole_number_is_beyond_64_bits():
    column = PrivateColumns([Integers(0, 9)], epsilon=1)
    told = set()
    for beyond in (10, 2**64):
        with pytest.raises(OutsideDomainError) as caught:
            column.fit_transform(np.array([[1], [beyond]], dtype=object))
        told.add(str(caught.value))
    assert len(told) == 1


def test_the_library_of_a_derived_class_is_that_of_its_base():
    class Mine(pd.Series):
        pass

    assert library_of(Mine([1])) == "pandas"
    assert library_of({}) == "builtins"

"""pandas Series, backed by NumPy, nullable types or Arrow, Polars Series, and Arrow arrays; names and indexes stay.

No cell of Arrow becomes a Python object: numbers are views of its memory, and labels become row numbers through its own
hash table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.cells import Cells, Container, masked, objects, refuse_object, refuse_type
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc
    from numpy.typing import NDArray

    from bipartite.domains.base import Domain, Mask
else:
    # Already imported: the caller holds one of their columns.
    pa, pc, pd, pl = map(LazyModule, ("pyarrow", "pyarrow.compute", "pandas", "polars"))


class PandasSeries(Container["pd.Series"]):
    """A pandas Series, read by position; the index is only carried over."""

    __slots__ = ()

    def place(self, at: int) -> str:
        """A position, not a label: series[3] need not be the fourth value."""
        return f"values.iloc[{at}]"

    def cells(self) -> Cells:
        dtype, kinds = self.held.dtype, pd.api.types
        numeric = kinds.is_numeric_dtype(dtype) and not kinds.is_complex_dtype(dtype)
        if numeric and isinstance(dtype, np.dtype):
            return Cells(self.held.to_numpy())
        if numeric and isinstance(dtype, pd.ArrowDtype):
            return numbers_of(pa.array(self.held.array))
        missing = masked(self.held.isna().to_numpy(dtype=bool))
        if numeric and hasattr(dtype, "numpy_dtype"):
            # Booleans are 0 and 1, as in Arrow.
            plain = np.dtype(np.int8) if dtype.kind == "b" else dtype.numpy_dtype
            return Cells(self.held.to_numpy(dtype=plain, na_value=0), missing)
        return Cells(objects(self.held.tolist()), missing)

    def numbers(self) -> Cells:
        if not isinstance(self.held, pd.Series):
            advice = "select a column: frame['age']" if isinstance(self.held, pd.DataFrame) else "pass a pandas.Series"
            refuse_object("pandas", self.held, advice)
        dtype = self.held.dtype
        named = isinstance(dtype, (np.dtype, pd.ArrowDtype))
        if not (named or self._is_nullable()) or dtype.kind not in "iuf":
            # The bare name of the type: a sparse dtype in full would reveal its most frequent value.
            name = dtype if named else type(dtype).__name__
            refuse_type("a pandas Series", name, "use .astype('Int64') or .astype('Float64')")
        return self.cells()

    @property
    def label_types(self) -> tuple[type, ...]:
        # A categorical would lose reports that are not among its categories.
        if not isinstance(self.held, pd.Series) or isinstance(self.held.dtype, pd.CategoricalDtype):
            return ()
        dtype = self.held.dtype
        if dtype.kind in "iu":
            return (int,)
        return (str,) if dtype == np.dtype(object) or isinstance(dtype, pd.StringDtype) else ()

    def of_numbers(self, reports: NDArray[Any], hidden: Mask | None) -> pd.Series:
        data: object = reports
        if isinstance(self.held.dtype, pd.ArrowDtype):
            data = pd.arrays.ArrowExtensionArray(pa.array(reports, mask=hidden))
        elif self._is_nullable() or (hidden is not None and reports.dtype.kind != "f"):
            # Integers that may be null need the nullable type, whatever the input type was.
            array = pd.arrays.FloatingArray if reports.dtype.kind == "f" else pd.arrays.IntegerArray
            data = array(reports, np.zeros(len(reports), dtype=bool) if hidden is None else hidden)
        elif hidden is not None:
            data = np.where(hidden, np.nan, reports)
        return self._series(data, copy=False)

    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> pd.Series:
        dtype = self.held.dtype
        extended = isinstance(dtype, pd.api.extensions.ExtensionDtype)
        if isinstance(labels[0], int):
            return self._series(found, dtype="Int64" if nullable or extended else "int64")
        # pandas infers "str" or object for text depending on the other values; "string" is an explicit choice.
        chosen = isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA
        return self._series(found, dtype=dtype if chosen else pd.Series(labels).dtype)

    def _is_nullable(self) -> bool:
        return isinstance(self.held.array, (pd.arrays.IntegerArray, pd.arrays.FloatingArray))

    def _series(self, data: object, **options: object) -> pd.Series:
        return pd.Series(data, index=self.held.index, name=self.held.name, **options)


class PolarsSeries(Container["pl.Series"]):
    """A Polars Series."""

    __slots__ = ()

    def cells(self) -> Cells:
        series = self.held
        missing = series.is_null().to_numpy() if series.null_count() else None
        if series.dtype == pl.Null:
            return Cells(np.zeros(len(series), dtype=np.int64), missing)
        if not _is_number(series.dtype):
            return Cells(objects(series.to_list()), missing)
        there = series.drop_nulls().to_numpy()
        if missing is None:
            return Cells(there)
        flat = np.zeros(len(series), dtype=there.dtype)
        flat[~missing] = there
        return Cells(flat, missing)

    def numbers(self) -> Cells:
        if not isinstance(self.held, pl.Series):
            frame = isinstance(self.held, (pl.DataFrame, pl.LazyFrame))
            advice = "select a column: frame['age'] (collect a LazyFrame first)" if frame else "pass a polars.Series"
            refuse_object("polars", self.held, advice)
        if self.held.dtype != pl.Null and not _is_number(self.held.dtype):
            # The bare name of the type: an Enum in full would reveal its categories.
            name = self.held.dtype.base_type().__name__
            refuse_type("a Polars Series", name, "use .cast(pl.Int64) or .cast(pl.Float64)")
        return self.cells()

    @property
    def label_types(self) -> tuple[type, ...]:
        if not isinstance(self.held, pl.Series):
            return ()
        dtype = self.held.dtype
        if dtype == pl.Null:  # a column in which every value is missing has no other type
            return str, int
        return (int,) if dtype.is_integer() else (str,) if dtype == pl.String else ()

    def of_numbers(self, reports: NDArray[Any], hidden: Mask | None) -> pl.Series:
        series = pl.Series(self.held.name, reports)
        return series if hidden is None else series.set(pl.Series(hidden), None)

    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> pl.Series:  # noqa: ARG002
        return pl.Series(self.held.name, found, dtype=pl.Int64 if isinstance(labels[0], int) else pl.String)


def _is_number(dtype: pl.DataType) -> bool:
    """Whether NumPy can hold the type, which rules out 128-bit integers."""
    return dtype.is_float() or (dtype.is_integer() and "128" not in str(dtype))


class ArrowArray(Container["pa.Array | pa.ChunkedArray"]):
    """An Arrow array or chunked array; a chunked array comes back as one chunk."""

    __slots__ = ()

    def cells(self) -> Cells:
        return numbers_of(self.held)

    def numbers(self) -> Cells:
        if not isinstance(self.held, (pa.Array, pa.ChunkedArray)):
            table = isinstance(self.held, (pa.Table, pa.RecordBatch))
            advice = "select a column: table['age']" if table else "pass a number or a pyarrow.Array"
            refuse_object("pyarrow", self.held, advice)
        kind, types = self.held.type, pa.types
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind)):
            name = str(kind).partition("<")[0]
            refuse_type("an Arrow array", name, "use .cast('int64') or .cast('double')")
        return self.cells()

    @property
    def label_types(self) -> tuple[type, ...]:
        if not isinstance(self.held, (pa.Array, pa.ChunkedArray)):
            return ()
        kind, types = self.held.type, pa.types
        if types.is_null(kind):  # a column in which every value is missing has no other type
            return str, int
        text = types.is_string(kind) or types.is_large_string(kind)
        return (int,) if types.is_integer(kind) else (str,) if text else ()

    def codes(self, domain: Domain) -> Cells:
        chunked = isinstance(self.held, pa.ChunkedArray)
        return rows_of(self.held.combine_chunks() if chunked else self.held, domain)

    def of_numbers(self, reports: NDArray[Any], hidden: Mask | None) -> pa.Array | pa.ChunkedArray:
        return self._chunked(pa.array(reports, mask=hidden))

    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> pa.Array | pa.ChunkedArray:  # noqa: ARG002
        text = pa.large_string() if pa.types.is_large_string(self.held.type) else pa.string()
        return self._chunked(pa.array(found, type=pa.int64() if isinstance(labels[0], int) else text))

    def _chunked(self, array: pa.Array) -> pa.Array | pa.ChunkedArray:
        return pa.chunked_array([array]) if isinstance(self.held, pa.ChunkedArray) else array


def numbers_of(array: pa.Array | pa.ChunkedArray) -> Cells:
    """The numbers of an Arrow array, 0 where one is missing; a view where Arrow allows one.

    Booleans are 0 and 1, decimals are rounded to the nearest double, and dictionaries are decoded.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    elif pa.types.is_decimal(array.type):
        array = array.cast(pa.float64(), safe=False)
    if pa.types.is_null(array.type):
        return Cells(np.zeros(len(array), dtype=np.int64), np.ones(len(array), dtype=np.bool_) if len(array) else None)
    if array.null_count == 0:
        return Cells(array.to_numpy(zero_copy_only=False))
    # Arrow itself would turn whole numbers with nulls into floats.
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return Cells(array.fill_null(pa.scalar(0, type=array.type)).to_numpy(zero_copy_only=False), missing)


def rows_of(array: pa.Array, domain: Domain) -> Cells:
    """The row numbers of the labels in an Arrow array, dictionary-encoded or not; −1 if unknown, 0 if missing."""
    labels = label_array(domain)
    if pa.types.is_dictionary(array.type):
        at = pc.index_in(_comparable(array.dictionary, labels.type), value_set=labels).take(array.indices)
    else:
        at = pc.index_in(_comparable(array, labels.type), value_set=labels)
    if at.null_count == 0:
        return Cells(at.to_numpy(zero_copy_only=False))
    # A null is either a missing value or an unknown label.
    rows = at.fill_null(-1).to_numpy(zero_copy_only=False)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return Cells(np.where(missing, 0, rows), masked(missing))


def label_array(domain: Domain) -> pa.Array:
    """The labels of a set as an Arrow array."""
    labels = domain.labels or ()
    return pa.array(labels, type=pa.string() if isinstance(labels[0], str) else pa.int64())


def _comparable(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast the values to the type of the labels."""
    if array.type == pa.uint64():
        # Labels lie far below 2^63, so larger values still match none.
        array = pc.min_element_wise(array, pa.scalar(2**63 - 1, type=pa.uint64()), skip_nulls=False)
    return array if array.type == kind else array.cast(kind)

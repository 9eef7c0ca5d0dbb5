"""pandas Series, backed by NumPy, nullable types or Arrow, and Polars Series; names and indexes are preserved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.arrow import numbers_of
from bipartite.domains.containers.cells import Cells, Container, masked, objects, refuse_object, refuse_type
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray
else:
    # Already imported: the caller holds one of their series.
    pa, pd, pl = LazyModule("pyarrow"), LazyModule("pandas"), LazyModule("polars")


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

    def of_numbers(self, reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> pd.Series:
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

    def of_numbers(self, reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> pl.Series:
        series = pl.Series(self.held.name, reports)
        return series if hidden is None else series.set(pl.Series(hidden), None)

    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> pl.Series:  # noqa: ARG002
        return pl.Series(self.held.name, found, dtype=pl.Int64 if isinstance(labels[0], int) else pl.String)


def _is_number(dtype: pl.DataType) -> bool:
    """Whether NumPy can hold the type, which rules out 128-bit integers."""
    return dtype.is_float() or (dtype.is_integer() and "128" not in str(dtype))

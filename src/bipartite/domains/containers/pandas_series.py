"""pandas Series, backed by NumPy, pandas' nullable types or Arrow; name and index are preserved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.arrow import numbers_of
from bipartite.domains.containers.cells import Cells, Container, masked, objects, refuse_object, refuse_type
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from bipartite.domains.containers.cells import Labels
else:
    pa, pd = LazyModule("pyarrow"), LazyModule("pandas")  # already imported: the caller holds one of its series


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

    def of_labels(self, drawn: Labels) -> pd.Series:
        dtype = self.held.dtype
        extended = isinstance(dtype, pd.api.extensions.ExtensionDtype)
        if drawn.whole:
            return self._series(drawn.found, dtype="Int64" if drawn.nullable or extended else "int64")
        # pandas infers "str" or object for text depending on the other values; "string" is an explicit choice.
        chosen = isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA
        return self._series(drawn.found, dtype=dtype if chosen else pd.Series(drawn.all).dtype)

    def _is_nullable(self) -> bool:
        return isinstance(self.held.array, (pd.arrays.IntegerArray, pd.arrays.FloatingArray))

    def _series(self, data: object, **options: object) -> pd.Series:
        return pd.Series(data, index=self.held.index, name=self.held.name, **options)

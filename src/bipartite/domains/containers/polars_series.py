"""Polars Series; the name is preserved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.cells import Cells, Container, objects, refuse_object, refuse_type
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from bipartite.domains.containers.cells import Labels
else:
    pl = LazyModule("polars")  # already imported: the caller holds one of its series


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

    def of_labels(self, drawn: Labels) -> pl.Series:
        return pl.Series(self.held.name, drawn.found, dtype=pl.Int64 if drawn.whole else pl.String)


def _is_number(dtype: pl.DataType) -> bool:
    """Whether NumPy can hold the type, which rules out 128-bit integers."""
    return dtype.is_float() or (dtype.is_integer() and "128" not in str(dtype))

"""Polars Series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains.containers.batch import open_column
from bipartite.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains.containers.batch import Batch, Nulls

_WHOLE: Final = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
_FLOATS: Final = ("Float16", "Float32", "Float64")


def open_polars(values: Any, nulls: Nulls) -> Batch:  # noqa: ANN401
    """The values of a Polars Series; its name comes back."""
    import polars as pl  # noqa: PLC0415 (loaded already: the caller holds one of its series)

    if not isinstance(values, pl.Series):
        frame = isinstance(values, (pl.DataFrame, pl.LazyFrame))
        advice = "select a column: frame['age'] (collect a LazyFrame first)" if frame else "pass a polars.Series"
        msg = f"Expected one column of numbers, got a polars {type(values).__name__}; {advice}."
        raise InputError(msg)
    # The bare name of the type: an Enum in full would show its categories.
    name = values.dtype.base_type().__name__
    if name not in {*_WHOLE, *_FLOATS, "Null"}:
        msg = (
            f"Expected a Polars Series of whole numbers or floats, got {name}; "
            "use .cast(pl.Int64) or .cast(pl.Float64)."
        )
        raise InputError(msg)

    def rebuild(reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> Any:  # noqa: ANN401
        series = pl.Series(values.name, reports)
        return series if hidden is None else series.set(pl.Series(hidden), None)

    if values.null_count() == 0 and name != "Null":
        return open_column(values.to_numpy(), nulls, rebuild)
    missing = values.is_null().to_numpy()
    if name == "Null":
        return open_column(np.zeros(len(values), np.int64), nulls, rebuild, missing=missing if len(values) else None)
    there = values.drop_nulls().to_numpy()
    flat = np.zeros(len(values), dtype=there.dtype)
    flat[~missing] = there
    return open_column(flat, nulls, rebuild, missing=missing)

"""Arrow arrays and chunked arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.batch import open_column, position_in_values
from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.domains.containers.batch import Batch, Nulls


def open_arrow(values: Any, nulls: Nulls, *, place: Callable[[int], str] = position_in_values) -> Batch:  # noqa: ANN401
    """The values of an Arrow array or chunked array; chunks come back as one."""
    import pyarrow as pa  # noqa: PLC0415 (loaded already: the caller holds one of its arrays)

    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        table = isinstance(values, (pa.Table, pa.RecordBatch))
        advice = "select a column: table['age']" if table else "pass a number or a pyarrow.Array"
        msg = f"Expected one column of numbers, got a pyarrow {type(values).__name__}; {advice}."
        raise InputError(msg)
    kind = values.type
    chunked = isinstance(values, pa.ChunkedArray)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        name = str(kind).partition("<")[0]
        msg = f"Expected an Arrow array of whole numbers or floats, got {name}; use .cast('int64') or .cast('double')."
        raise InputError(msg)

    def rebuild(reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> Any:  # noqa: ANN401
        array = pa.array(reports, mask=hidden)
        return pa.chunked_array([array]) if chunked else array

    flat, missing = _numbers(values)
    return open_column(flat, nulls, rebuild, missing=missing, place=place)


def _numbers(values: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:  # noqa: ANN401
    """The numbers, 0 where one is missing, and which are; Arrow itself turns whole numbers with nulls into floats."""
    if values.null_count == 0:
        return (values.to_numpy(zero_copy_only=False) if len(values) else _empty(values.type)), None
    missing = values.is_null().to_numpy(zero_copy_only=False)
    there = _empty(values.type) if missing.all() else values.drop_null().to_numpy(zero_copy_only=False)
    flat = np.zeros(len(values), dtype=there.dtype)
    flat[~missing] = there
    return flat, missing


def _empty(kind: Any) -> NDArray[Any]:  # noqa: ANN401
    """No numbers, of the NumPy type that holds those of an Arrow type."""
    return np.empty(0, dtype=np.int64 if str(kind) == "null" else kind.to_pandas_dtype())

"""pandas Series: backed by NumPy, by pandas' nullable types, or by Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.arrow import open_arrow
from bipartite.domains.containers.batch import Batch, open_column
from bipartite.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains.containers.batch import Nulls


def open_pandas(values: Any, nulls: Nulls) -> Batch:  # noqa: ANN401
    """The values of a pandas Series in their order; name and index come back, and play no other part."""
    import pandas as pd  # noqa: PLC0415 (loaded already: the caller holds one of its series)

    if not isinstance(values, pd.Series):
        advice = "select a column: frame['age']" if isinstance(values, pd.DataFrame) else "pass a pandas.Series"
        msg = f"Expected one column of numbers, got a pandas {type(values).__name__}; {advice}."
        raise InputError(msg)
    dtype = values.dtype
    by_arrow = isinstance(dtype, pd.ArrowDtype)
    nullable = isinstance(values.array, (pd.arrays.IntegerArray, pd.arrays.FloatingArray))
    if not (nullable or by_arrow or isinstance(dtype, np.dtype)) or dtype.kind not in "iuf":
        # The bare name of the type: a sparse one in full would show its most frequent value.
        name = dtype if by_arrow or isinstance(dtype, np.dtype) else type(dtype).__name__
        msg = (
            f"Expected a pandas Series of whole numbers or floats, got {name}; "
            "use .astype('Int64') or .astype('Float64')."
        )
        raise InputError(msg)
    if by_arrow:
        return _open_arrow_backed(values, nulls)

    def rebuild(reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> Any:  # noqa: ANN401
        data: Any = reports
        if nullable or (hidden is not None and reports.dtype.kind != "f"):
            # Whole numbers that may be null need the nullable type, whatever they came in.
            array = pd.arrays.FloatingArray if reports.dtype.kind == "f" else pd.arrays.IntegerArray
            data = array(reports, np.zeros(len(reports), dtype=bool) if hidden is None else hidden)
        elif hidden is not None:
            data = np.where(hidden, np.nan, reports)
        return _series(data, values)

    if not nullable:
        return open_column(values.to_numpy(), nulls, rebuild, place=_place)
    missing = values.isna().to_numpy()
    flat = values.to_numpy(dtype=dtype.numpy_dtype, na_value=0)
    return open_column(flat, nulls, rebuild, missing=missing if missing.any() else None, place=_place)


def _open_arrow_backed(values: Any, nulls: Nulls) -> Batch:  # noqa: ANN401
    import pandas as pd  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415 (loaded already: it backs the series)

    batch = open_arrow(pa.array(values.array), nulls, place=_place)
    return Batch(
        batch.values,
        lambda reports, hidden: _series(pd.arrays.ArrowExtensionArray(batch.rebuild(reports, hidden)), values),
        batch.place,
    )


def _series(data: Any, values: Any) -> Any:  # noqa: ANN401
    import pandas as pd  # noqa: PLC0415

    return pd.Series(data, index=values.index, name=values.name, copy=False)


def _place(position: int) -> str:
    """A position, never a label: with an index of its own, series[3] is not the fourth value."""
    return f"values.iloc[{position}]"

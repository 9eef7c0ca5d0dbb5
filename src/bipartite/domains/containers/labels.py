"""Labels come in a container and labels go back in the same kind, with its name, index and nulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.containers.batch import Batch, Nulls, missing_error
from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.domains import SetDomain


@dataclass(frozen=True, slots=True)
class _Column:
    """A container of labels as a list with None where one is missing, and the way back."""

    labels: list[Any]
    rebuild: Callable[[list[Any], bool], Any]
    """From labels with None where there is none, and whether there may be some: no type may tell what was drawn, or
    that a value was missing."""
    place: Callable[[int], str]


def open_labels(values: object, nulls: Nulls, domain: SetDomain) -> Batch:
    """The indices of a container of labels."""
    column = _open(values, domain)
    positions = [at for at, label in enumerate(column.labels) if label is not None]
    if len(positions) < len(column.labels) and nulls == "error":
        first = next(at for at, label in enumerate(column.labels) if label is None)
        raise missing_error(len(column.labels) - len(positions), len(column.labels), column.place(first))

    def place(position: int) -> str:
        return column.place(positions[position])

    def rebuild(reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> Any:  # noqa: ANN401
        found: list[Any] = [None] * len(column.labels)
        hide = [False] * len(positions) if hidden is None else hidden.tolist()
        for at, report, hiding in zip(positions, reports.tolist(), hide, strict=True):
            found[at] = None if hiding else domain.decode(report)
        return column.rebuild(found, hidden is not None or nulls == "keep")

    return Batch(domain.encode_labels([column.labels[at] for at in positions], place), rebuild, place)


def _open(values: Any, domain: SetDomain) -> _Column:  # noqa: ANN401
    if isinstance(values, (list, tuple)):
        kind = tuple if isinstance(values, tuple) else list
        return _Column(list(values), lambda found, _: kind(found), lambda at: f"values[{at}]")
    if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray):
        return _open_array(values, domain)
    for each in type(values).__mro__:
        opener = _LIBRARIES.get(each.__module__.partition(".")[0])
        if opener is not None:
            column = opener(values, domain)
            if column is not None:
                return column
            break
    msg = (
        "Expected labels as one label, a list, a NumPy array, or a Series or Arrow array of strings or whole numbers, "
        f"got {type(values).__name__}; convert it first, for example with .astype(str)."
    )
    raise InputError(msg)


def _open_array(values: NDArray[Any], domain: SetDomain) -> _Column:
    def rebuild(found: list[Any], nullable: bool) -> NDArray[Any]:  # noqa: FBT001
        dtype = object if nullable else np.array(domain.labels).dtype
        return np.array(found, dtype=dtype).reshape(values.shape)

    def place(at: int) -> str:
        return f"values[{', '.join(str(int(each)) for each in np.unravel_index(at, values.shape))}]"

    return _Column(values.reshape(-1).tolist(), rebuild, place)


def _are_whole(domain: SetDomain) -> bool:
    return bool(domain.labels) and isinstance((domain.labels or ("",))[0], int)


def _open_pandas(values: Any, domain: SetDomain) -> _Column | None:  # noqa: ANN401
    import pandas as pd  # noqa: PLC0415 (loaded already: the caller holds one of its series)

    if not isinstance(values, pd.Series):
        return None
    whole = _are_whole(domain)
    # Text for text, whole numbers for whole numbers. A categorical would lose reports that are none of its categories.
    if isinstance(values.dtype, pd.CategoricalDtype) or (
        values.dtype.kind not in "iu"
        if whole
        else not (values.dtype == object or isinstance(values.dtype, pd.StringDtype))
    ):
        return None
    labels = [None if missing else label for label, missing in zip(values.tolist(), values.isna(), strict=True)]

    def rebuild(found: list[Any], nullable: bool) -> Any:  # noqa: ANN401, FBT001
        masked = isinstance(values.dtype, pd.api.extensions.ExtensionDtype)
        if whole:
            dtype: Any = "Int64" if nullable or masked else "int64"
        else:
            # "str" and object are what pandas makes of text, by what stands beside it; "string" is chosen.
            chosen = masked and values.dtype.na_value is pd.NA
            dtype = values.dtype if chosen else pd.Series(list(domain.labels or ())).dtype
        return pd.Series(found, index=values.index, name=values.name, dtype=dtype)

    return _Column(labels, rebuild, lambda at: f"values.iloc[{at}]")


def _open_polars(values: Any, domain: SetDomain) -> _Column | None:  # noqa: ANN401
    import polars as pl  # noqa: PLC0415 (loaded already)

    if not isinstance(values, pl.Series):
        return None
    whole = _are_whole(domain)
    # A column in which every value is missing has no other type.
    if values.dtype != pl.Null and not (values.dtype.is_integer() if whole else values.dtype == pl.String):
        return None
    dtype = pl.Int64 if whole else pl.String
    return _Column(
        values.to_list(), lambda found, _: pl.Series(values.name, found, dtype=dtype), lambda at: f"values[{at}]"
    )


def _open_arrow(values: Any, domain: SetDomain) -> _Column | None:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415 (loaded already)

    kind = getattr(values, "type", None)
    if kind is None or not isinstance(values, (pa.Array, pa.ChunkedArray)):
        return None
    whole = _are_whole(domain)
    large = pa.types.is_large_string(kind)
    # A column in which every value is missing has no other type.
    if not (pa.types.is_null(kind) or (pa.types.is_integer(kind) if whole else pa.types.is_string(kind) or large)):
        return None
    text = pa.large_string() if large else pa.string()
    dtype = pa.int64() if whole else text

    def rebuild(found: list[Any], nullable: bool) -> Any:  # noqa: ANN401, ARG001, FBT001
        array = pa.array(found, type=dtype)
        return pa.chunked_array([array]) if isinstance(values, pa.ChunkedArray) else array

    return _Column(values.to_pylist(), rebuild, lambda at: f"values[{at}]")


_LIBRARIES = {"pandas": _open_pandas, "polars": _open_polars, "pyarrow": _open_arrow}

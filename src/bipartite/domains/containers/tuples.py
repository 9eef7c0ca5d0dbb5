"""Containers of tuples as one column per part, and how to rebuild them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bipartite.domains.containers.cells import objects
from bipartite.domains.product import in_fields
from bipartite.errors import InputError, NotAValueError
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    Back: TypeAlias = Callable[[Sequence[Any], NDArray[np.bool_] | None], Any]
    """Rebuilds the caller's container from columns of reports and, if the call keeps nulls, a mask of missing rows."""
    Columns: TypeAlias = tuple[list[Any], Back]
else:
    # Already imported: the caller holds one of their tables.
    pa, pd, pl = LazyModule("pyarrow"), LazyModule("pandas"), LazyModule("polars")

_TABLES: Final = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}


def columns_of(values: object, library: str, count: int) -> Columns:
    """The columns of a container of tuples of ``count`` parts, and how to rebuild it."""
    if isinstance(values, list):
        return _of_rows(values, count)
    if _holds_objects(values):
        return _of_objects(values, count)
    if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray):
        return _of_fields(values, count) if values.dtype.names else _of_array(values, count)
    if isinstance(values, tuple):
        return _of_columns(values, count)
    if library in _TABLES and hasattr(values, "shape" if library != "pyarrow" else "column_names"):
        return _of_table(values, library, count)
    raise _refusal(count, f"got {type(values).__name__}")


def _refusal(count: int, got: str) -> InputError:
    return InputError(
        f"Expected tuples of {count}, as one tuple, a list of tuples, an array or a frame of {count} columns, or "
        f"{count} arrays or Series as a tuple, {got}; pass [(first, second), …], or frame[['age', 'genre']]."
    )


def _of_rows(rows: list[Any], count: int) -> Columns:
    for at, row in enumerate(rows):
        if row is not None and not (isinstance(row, (tuple, list)) and len(row) == count):
            raise NotAValueError(f"values[{at}] is not a tuple of {count}; pass one value of each part.")
    nothing = (None,) * count
    filled = [nothing if row is None else row for row in rows]
    columns = [list(column) for column in zip(*filled, strict=True)] if rows else [[] for _ in range(count)]

    def back(reports: Sequence[Any], hidden: NDArray[np.bool_] | None) -> list[Any]:
        made = list(zip(*reports, strict=True))
        return made if hidden is None else [None if hide else row for row, hide in zip(made, hidden, strict=True)]

    return columns, back


def _holds_objects(values: object) -> bool:
    """Whether this is a NumPy array or a pandas Series of tuples."""
    if not isinstance(values, np.ndarray) and type(values).__name__ != "Series":
        return False
    return getattr(values, "ndim", 0) == 1 and getattr(values, "dtype", None) == np.dtype(object)


def _of_objects(values: Any, count: int) -> Columns:  # noqa: ANN401 (an array, or a pandas Series)
    # pandas writes NaN where a tuple is missing.
    columns, back = _of_rows([None if each != each else each for each in values.tolist()], count)  # noqa: PLR0124

    def as_objects(reports: Sequence[Any], hidden: NDArray[np.bool_] | None) -> object:
        made = objects(back(reports, hidden))
        return made if isinstance(values, np.ndarray) else pd.Series(made, index=values.index, name=values.name)

    return columns, as_objects


def _of_array(values: NDArray[Any], count: int) -> Columns:
    if values.ndim != 2 or values.shape[1] != count:  # noqa: PLR2004
        raise _refusal(count, f"got an array of shape {values.shape}")
    if values.dtype.kind == "O":  # mixed types: treat each column as a list of its cells
        columns = [values[:, at].tolist() for at in range(count)]
        return columns, lambda reports, _: np.stack([np.array(each, dtype=object) for each in reports], axis=1)
    return [values[:, at] for at in range(count)], lambda reports, _: np.stack(reports, axis=1)


def _of_fields(values: NDArray[Any], count: int) -> Columns:
    names = values.dtype.names or ()
    if values.ndim != 1 or len(names) != count:
        raise _refusal(count, f"got a structured array of shape {values.shape} with {len(names)} fields")

    return [values[name] for name in names], lambda reports, _: in_fields(reports, names)


def _of_columns(values: tuple[Any, ...], count: int) -> Columns:
    # Lists are not accepted: ((1, 2), (3, 4)) could be two columns or two pairs.
    if len(values) != count or any(isinstance(each, (list, tuple)) or not hasattr(each, "__len__") for each in values):
        raise _refusal(count, f"got a tuple of {len(values)} that are not arrays or Series")
    lengths = [len(each) for each in values]
    if len(set(lengths)) > 1:
        raise InputError(
            f"Expected columns of one length, got {' and '.join(map(str, lengths))}; pass columns of one table."
        )
    return list(values), lambda reports, _: tuple(reports)


def _of_table(values: Any, library: str, count: int) -> Columns:  # noqa: ANN401 (a table of one of three libraries)
    width = values.num_columns if library == "pyarrow" else values.shape[1] if len(values.shape) > 1 else 1
    if width != count:
        raise _refusal(count, f"got {width} column{'s' if width != 1 else ''}")
    if library == "pandas":
        return [values.iloc[:, at] for at in range(count)], lambda reports, _: pd.concat(reports, axis=1)
    if library == "polars":
        return [values.to_series(at) for at in range(count)], lambda reports, _: pl.DataFrame(list(reports))
    whole = isinstance(values, pa.Table)
    make = pa.Table.from_arrays if whole else pa.RecordBatch.from_arrays
    return values.columns, lambda reports, _: make(list(reports), names=values.column_names)

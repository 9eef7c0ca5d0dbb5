"""A batch: the values of a container as a flat array, tuples by columns, and how to rebuild the container."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bipartite.domains.containers.cells import (
    Array,
    Cells,
    Container,
    Listed,
    Nulls,
    missing_error,
    objects,
    with_nones,
)
from bipartite.domains.containers.series import ArrowArray, PandasSeries, PolarsSeries
from bipartite.domains.product import in_fields
from bipartite.errors import InputError, NotAValueError
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from bipartite.domains.base import Domain, Mask

    Back: TypeAlias = Callable[[Sequence[Any], Mask | None], Any]
    """Rebuilds the caller's container from columns of reports and, if the call keeps nulls, a mask of missing rows."""
    Columns: TypeAlias = tuple[list[Any], Back]
else:
    # Already imported: the caller holds one of their tables.
    pa, pd, pl = LazyModule("pyarrow"), LazyModule("pandas"), LazyModule("polars")

# A caller who holds a container has its library installed; a reader imports nothing else.
_LIBRARIES: Final[dict[str, type[Container[Any]]]] = {
    "pandas": PandasSeries,
    "polars": PolarsSeries,
    "pyarrow": ArrowArray,
}


@dataclass(frozen=True, slots=True)
class Batch:
    """The values of a container as one flat array, and how to rebuild the container."""

    values: NDArray[Any]
    """The values that are not missing: numbers, the indices of labels, or tuples with one field per part."""
    container: Container[Any]
    labels: tuple[Any, ...] | None
    """The labels that reports index, if values are labels."""
    gone: Mask | None = None
    """Which positions of the container stay missing; None where the call does not keep nulls."""
    columns: tuple[Batch, ...] = ()
    """The parts of tuples, one batch each."""
    back: Back | None = None

    def place(self, position: int, part: int | None = None) -> str:
        """Name the position of one of the values in the caller's container, or of a part of it."""
        place = self.container.place(position if self.gone is None else int(np.flatnonzero(~self.gone)[position]))
        return place if part is None else f"part {part} of {place}"

    def rebuild(self, reports: NDArray[Any], hidden: Mask | None) -> object:
        """Put the reports into the caller's kind of container, with its own null where ``hidden`` is true."""
        if self.gone is not None:
            # Every position is written, so that none of the caller's values lies under a null.
            filled = np.zeros(len(self.gone), dtype=reports.dtype)
            filled[~self.gone] = reports
            nulls = self.gone.copy()
            if hidden is not None:
                nulls[~self.gone] = hidden
            reports, hidden = filled, nulls
        if self.back is not None:
            return self.back([each.rebuild(reports[f"f{at}"], hidden) for at, each in enumerate(self.columns)], hidden)
        if self.labels is None:
            return self.container.of_numbers(reports, hidden)
        found = with_nones([self.labels[at] for at in reports.tolist()], hidden)
        return self.container.of_labels(found, self.labels, nullable=hidden is not None)


def is_scalar(values: object, domain: Domain | None = None) -> bool:
    """Whether this is one value of a domain rather than a container of values."""
    if domain is not None and domain.parts and isinstance(values, tuple):
        return all(map(is_scalar, values))
    return isinstance(values, (int, float, str, bytes, np.generic)) or values is None


def library_of(values: object) -> str:
    """The library that an object comes from; a subclass of Series counts as a Series, wherever it is defined."""
    modules = [kind.__module__.partition(".")[0] for kind in type(values).__mro__]
    return next((module for module in modules if module in {*_LIBRARIES, "duckdb", "_duckdb"}), modules[0])


def open_values(values: object, nulls: Nulls, domain: Domain) -> Batch:
    """Read the values of a container: numbers for a line, row numbers or labels for a set, tuples for a product."""
    parts = domain.parts or (domain,)
    columns, back = _columns_of(values, library_of(values), len(parts)) if domain.parts else ([values], None)
    read = [_read(column, nulls, part) for column, part in zip(columns, parts, strict=True)]
    # A tuple with a missing part is missing.
    gone = reduce(_either, [_gone(container, cells, nulls) for container, cells in read])
    flat, container = [_flat(cells, gone) for _, cells in read], read[0][0]
    if back is None:
        batch = Batch(flat[0], container, domain.labels, gone)
    else:
        own = tuple(Batch(each, held, part.labels) for each, (held, _), part in zip(flat, read, parts, strict=True))
        batch = Batch(in_fields(flat), container, None, gone, own, back)
    for number, part in enumerate(parts):
        if part.labels is not None:
            part.check_codes(flat[number], partial(batch.place, part=number if domain.parts else None))
    return batch


def _either(one: Mask | None, other: Mask | None) -> Mask | None:
    return None if one is None or other is None else one | other


def _gone(container: Container[Any], cells: Cells, nulls: Nulls) -> Mask | None:
    """Which cells are missing if the call keeps nulls; otherwise refuse any missing cell."""
    if nulls == "keep":
        missing = (cells.with_nan() if container.nan_is_null else cells).missing
        return np.zeros(len(cells.values), dtype=np.bool_) if missing is None else missing
    if cells.missing is not None:
        raise missing_error(cells.missing, container)
    return None


def _flat(cells: Cells, gone: Mask | None) -> NDArray[Any]:
    """The cells that are not missing, contiguous and in native byte order."""
    flat = cells.values if gone is None else cells.values[~gone]  # noqa: PD011 (no pandas here)
    return np.ascontiguousarray(flat, dtype=flat.dtype.newbyteorder("="))


def _read(values: object, nulls: Nulls, domain: Domain) -> tuple[Container[Any], Cells]:
    """Read a container and its cells, as numbers or as the indices of labels."""
    container: Container[Any] | None = None
    if isinstance(values, np.ndarray):
        container = Array(values, nulls)
    elif isinstance(values, (list, tuple)):
        container = Listed(values, nulls)
    elif (reader := _LIBRARIES.get(library_of(values))) is not None:  # by name, so that no library is imported
        container = reader(values, nulls)
    labels = domain.labels
    if labels is not None:
        if container is None or not isinstance(labels[0], container.label_types):
            raise InputError(
                "Expected labels as one label, a list, a NumPy array, or a Series or Arrow array of strings or whole "
                f"numbers, got {type(values).__name__}; convert it first, for example with .astype(str)."
            )
        return container, container.codes(domain)
    if container is None:
        raise InputError(
            "Expected values as a number, a list, a NumPy array, a pandas or Polars Series or an Arrow array, "
            f"got {type(values).__name__}; convert it first, for example with .to_numpy()."
        )
    return container, container.numbers()


def _columns_of(values: object, library: str, count: int) -> Columns:
    """The columns of a container of tuples of ``count`` parts, and how to rebuild it."""
    if isinstance(values, list):
        return _of_rows(values, count)
    if _holds_objects(values):
        return _of_objects(values, count)
    if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray):
        return _of_fields(values, count) if values.dtype.names else _of_array(values, count)
    if isinstance(values, tuple):
        return _of_columns(values, count)
    if library in _LIBRARIES and hasattr(values, "shape" if library != "pyarrow" else "column_names"):
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

    return columns, lambda reports, hidden: with_nones(list(zip(*reports, strict=True)), hidden)


def _holds_objects(values: object) -> bool:
    """Whether this is a NumPy array or a pandas Series of tuples."""
    if not isinstance(values, np.ndarray) and type(values).__name__ != "Series":
        return False
    return getattr(values, "ndim", 0) == 1 and getattr(values, "dtype", None) == np.dtype(object)


def _of_objects(values: Any, count: int) -> Columns:  # noqa: ANN401 (an array, or a pandas Series)
    # pandas writes NaN where a tuple is missing.
    columns, back = _of_rows([None if each != each else each for each in values.tolist()], count)  # noqa: PLR0124
    if isinstance(values, np.ndarray):
        return columns, lambda reports, hidden: objects(back(reports, hidden))
    like = {"index": values.index, "name": values.name}
    return columns, lambda reports, hidden: pd.Series(objects(back(reports, hidden)), **like)


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

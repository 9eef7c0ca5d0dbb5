"""Tables of learners as Arrow, which plans read, and Arrow as tables of the kind that came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from bipartite.domains.containers import library_of
from bipartite.domains.containers.cells import Array
from bipartite.errors import InputError
from bipartite.learn.scikit import validated
from bipartite.tables.extras import pa, pd, pl
from bipartite.tables.frames import arrow_of_pandas, arrow_of_polars, converted, pandas_types

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.tables.plan import Plan

    Table: TypeAlias = Any
    """A data frame of pandas or Polars, or an array of two dimensions."""
    Given: TypeAlias = pd.DataFrame | pl.DataFrame | ArrayLike
    """A frame, an array, or a list of rows."""

Kind = Literal["default", "pandas", "polars"]
_MOST: Final = 2.0**63


def frame_kind(table: object) -> Kind:
    """Whose frame this is; everything else is read by NumPy."""
    library = library_of(table) if any(each.__name__ == "DataFrame" for each in type(table).__mro__) else ""
    return "pandas" if library == "pandas" else "polars" if library == "polars" else "default"


def checked(estimator: object, table: Given, *, reset: bool) -> Table:
    """A frame, or an array of two dimensions, whose names and width are those of ``fit``; no value is looked at."""
    given: Any = table
    if frame_kind(given) != "default":
        if len(set(given.columns)) < len(given.columns):
            raise InputError("Expected columns with distinct names, got duplicates; rename them.")
        validated(estimator, given, reset=reset, skip_check_array=True)
        if not len(given):
            raise InputError(f"Found array with 0 sample(s) (shape={given.shape}); pass a row or more.")
        return given
    if isinstance(given, (list, tuple)) and np.asarray(given).dtype.kind in "US":
        given = np.asarray(given, dtype=object)  # NumPy turns numbers beside text into text
    return validated(estimator, given, reset=reset, dtype=None, ensure_all_finite=False)


def to_arrow(table: Table, plan: Plan) -> pa.Table:
    """The columns of a table, by the names that the plan has for them in order."""
    names = list(plan.columns)
    kind = frame_kind(table)
    if kind == "pandas":
        return arrow_of_pandas(table.set_axis(names, axis=1), plan)
    if kind == "polars":
        return arrow_of_polars(table, plan)
    held = {}
    for name, values in zip(names, table.T, strict=True):
        labels = plan.mechanisms()[name].domain.labels or ("",)
        held[name] = _of_floats(values, whole=isinstance(labels[0], int)) if values.dtype.kind == "f" else values
    return converted(
        plan, lambda name: pa.array(held[name], from_pandas=True), lambda name: Array(held[name], "keep").cells()
    )


def _of_floats(values: NDArray[Any], *, whole: bool) -> NDArray[Any]:
    """Floats as doubles; where labels are ``whole`` numbers and all of these are, as those, and missing ones as None.

    In an array of numbers, whole ones are floats as well.
    """
    with np.errstate(over="ignore"):  # a long double beyond all doubles is infinite, and no warning tells of it
        values = values.astype(np.float64)
    there = ~np.isnan(values)
    if not whole or not (np.abs(values[there]) < _MOST).all() or (values[there] % 1).any():
        return values
    found = np.full(len(values), None)
    found[there] = values[there].astype(np.int64)
    return found


def from_arrow(columns: pa.Table, kind: Kind, like: Table) -> Table:
    """A frame of this kind, or an array; with the index and names of ``like``, where that is pandas."""
    if kind == "polars":
        return pl.from_arrow(columns)
    if kind == "pandas":
        frame = columns.to_pandas(types_mapper=pandas_types(np.dtype(float), may_be_null=False))
        if frame_kind(like) == "pandas":
            frame.index, frame.columns = like.index, like.columns
        return frame
    found: Sequence[NDArray[Any]] = [each.to_numpy() for each in columns.columns]
    if all(each.dtype != object for each in found):
        return np.column_stack(found)
    mixed = np.empty((columns.num_rows, len(found)), dtype=object)
    for at, each in enumerate(found):
        mixed[:, at] = each
    return mixed

"""Values come in a container and reports go back in the same kind: numbers, lists, tuples, NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.domains.base import as_double
from bipartite.errors import InputError, NotAValueError, NullError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Nulls = Literal["error", "keep"]
_INT64: Final = np.iinfo(np.int64)
_NULLS_HINT: Final = (
    "remove it, add a 'no answer' value to the domain, or use nulls='keep', which publishes that it is missing."
)


@dataclass(frozen=True, slots=True)
class Batch:
    """The values of a container as one flat array, and the way back."""

    values: NDArray[Any]
    rebuild: Callable[[NDArray[Any]], Any]
    place: Callable[[int], str]
    """Names the position of a value of the flat array in the caller's container."""


def is_scalar(values: object) -> bool:
    """Whether this is one value rather than a container of values."""
    return isinstance(values, (int, float, str, bytes, np.generic)) or values is None


def open_batch(values: object, nulls: Nulls, *, whole: bool) -> Batch:
    """The values of a list, tuple or NumPy array of numbers; ``whole`` says that the domain holds whole numbers."""
    if isinstance(values, (list, tuple)):
        return _open_sequence(values, nulls, whole=whole)
    if isinstance(values, np.ma.MaskedArray):
        msg = "Expected values without a mask, got a masked array; pass values.compressed()."
        raise InputError(msg)
    if isinstance(values, np.ndarray):
        return _open_array(values, nulls)
    msg = (
        f"Expected values as a number, a list or a NumPy array, got {type(values).__name__}; "
        "convert it first, for example with .to_numpy()."
    )
    raise InputError(msg)


def _open_array(array: NDArray[Any], nulls: Nulls) -> Batch:
    if array.dtype.kind not in "iuf":
        hint = "use .astype(int)" if array.dtype.kind == "b" else "use .astype(float) or .astype(int)"
        msg = f"Expected an array of whole numbers or floats, got {array.dtype}; {hint}."
        raise InputError(msg)
    shape = array.shape
    flat = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(-1)

    def place(position: int) -> str:
        return f"values[{', '.join(str(int(at)) for at in np.unravel_index(position, shape))}]"

    if nulls == "keep" and flat.dtype.kind == "f":
        missing = np.isnan(flat)
        if missing.any():
            return _without(flat, missing, place, lambda filled: filled.reshape(shape))
    return Batch(flat, lambda reports: reports.reshape(shape), place)


def _without(
    flat: NDArray[Any],
    missing: NDArray[np.bool_],
    place: Callable[[int], str],
    rebuild: Callable[[NDArray[Any]], Any],
) -> Batch:
    """A batch of the values that are there; NaN goes back where one was missing."""
    there = np.flatnonzero(~missing)

    def refill(reports: NDArray[Any]) -> Any:  # noqa: ANN401
        filled = np.full(len(flat), np.nan, dtype=reports.dtype)
        filled[there] = reports
        return rebuild(filled)

    return Batch(flat[there], refill, lambda position: place(int(there[position])))


def _open_sequence(values: Sequence[Any], nulls: Nulls, *, whole: bool) -> Batch:
    kind = tuple if isinstance(values, tuple) else list
    missing = [at for at, value in enumerate(values) if value is None]
    if missing and nulls == "error":
        raise missing_error(missing, len(values))
    there = [value for value in values if value is not None] if missing else values
    positions = [at for at, value in enumerate(values) if value is not None] if missing else range(len(values))
    array = _numbers(there, positions, whole=whole)

    def rebuild(reports: NDArray[Any]) -> Any:  # noqa: ANN401
        found = reports.tolist()
        if missing:
            filled: list[Any] = [None] * len(values)
            for at, report in zip(positions, found, strict=True):
                filled[at] = report
            found = filled
        return kind(found)

    return Batch(array, rebuild, lambda position: f"values[{positions[position]}]")


_NUMBERS: Final = (int, float, np.integer, np.floating)
_NO_NUMBERS: Final = (bool, np.bool_, np.timedelta64)


def _numbers(values: Sequence[Any], positions: Sequence[int], *, whole: bool) -> NDArray[Any]:
    """A sequence of numbers as int64 or float64."""
    kinds = set(map(type, values))
    wrong = {kind for kind in kinds if issubclass(kind, _NO_NUMBERS) or not issubclass(kind, _NUMBERS)}
    if wrong:
        first = next(at for at, value in zip(positions, values, strict=True) if type(value) in wrong)
        names = ", ".join(sorted(kind.__name__ for kind in wrong))
        msg = f"values[{first}] is not a number (found {names}); pass ints or floats."
        raise NotAValueError(msg)
    if all(issubclass(kind, (int, np.integer)) for kind in kinds):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            if whole:
                # Every domain of whole numbers ends far below int64, so what is beyond stays outside.
                return np.array([min(max(int(value), _INT64.min), _INT64.max) for value in values], dtype=np.int64)
    with np.errstate(all="ignore"):
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            return np.array([as_double(value) for value in values], dtype=np.float64)


def missing_error(missing: Sequence[int], size: int) -> NullError:
    """The error for missing values of a container."""
    return NullError(f"{len(missing)} of {size} values are missing, the first at values[{missing[0]}]; {_NULLS_HINT}")


def null_error() -> NullError:
    """The error for a missing scalar."""
    return NullError(f"The value is missing; {_NULLS_HINT}")

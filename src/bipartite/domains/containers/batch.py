"""A batch: the values of a container and the way back; and how lists, tuples and NumPy arrays become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

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


class Rebuild(Protocol):
    """The way back from reports to the container that the values came in."""

    def __call__(self, reports: NDArray[Any], hidden: NDArray[np.bool_] | None, /) -> Any:  # noqa: ANN401
        """These reports in the caller's container, with its own kind of null where ``hidden`` is true.

        ``hidden`` is None where the options of the call allow no null, and never because none happens to be there: the
        type of the result follows from the type of the reports and from that, so that it tells nothing of the values.
        """


@dataclass(frozen=True, slots=True)
class Batch:
    """The values of a container as one flat array, and the way back."""

    values: NDArray[Any]
    rebuild: Rebuild
    place: Callable[[int], str]
    """Names the position of a value of the flat array in the caller's container."""


def is_scalar(values: object) -> bool:
    """Whether this is one value rather than a container of values."""
    return isinstance(values, (int, float, str, bytes, np.generic)) or values is None


def position_in_values(position: int) -> str:
    """The name of a position in a container of one dimension."""
    return f"values[{position}]"


def open_column(
    flat: NDArray[Any],
    nulls: Nulls,
    rebuild: Rebuild,
    *,
    missing: NDArray[np.bool_] | None = None,
    place: Callable[[int], str] = position_in_values,
) -> Batch:
    """A batch of numbers, less those that are missing: every converter ends here.

    ``missing`` marks the nulls among ``flat``, where any number may stand; it is None where there are none.
    """
    if missing is not None and nulls == "error":
        raise missing_error(int(missing.sum()), len(flat), place(int(missing.argmax())))
    flat = np.ascontiguousarray(flat, dtype=flat.dtype.newbyteorder("="))
    if nulls == "error":
        return Batch(flat, rebuild, place)
    gone = np.zeros(len(flat), dtype=bool) if missing is None else missing
    if flat.dtype.kind == "f":
        gone = gone | np.isnan(flat)
    there = np.flatnonzero(~gone)

    def refill(reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> Any:  # noqa: ANN401
        # Every place is written, so that nothing of the caller's values lies under a null.
        filled = np.zeros(len(flat), dtype=reports.dtype)
        filled[there] = reports
        nowhere = gone.copy()
        if hidden is not None:
            nowhere[there] = hidden
        return rebuild(filled, nowhere)

    return Batch(flat[there], refill, lambda position: place(int(there[position])))


def open_array(array: NDArray[Any], nulls: Nulls) -> Batch:
    """The values of a NumPy array of any shape."""
    if isinstance(array, np.ma.MaskedArray):
        msg = "Expected values without a mask, got a masked array; pass values.compressed()."
        raise InputError(msg)
    if array.dtype.kind not in "iuf":
        hint = "use .astype(int)" if array.dtype.kind == "b" else "use .astype(float) or .astype(int)"
        msg = f"Expected an array of whole numbers or floats, got {array.dtype}; {hint}."
        raise InputError(msg)
    shape = array.shape

    def place(position: int) -> str:
        return f"values[{', '.join(str(int(at)) for at in np.unravel_index(position, shape))}]"

    def rebuild(reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> NDArray[Any]:
        if hidden is None:
            return reports.reshape(shape)
        if nulls == "keep":
            return np.where(hidden, np.nan, reports).reshape(shape)
        # NumPy's numbers have no null of their own; a mask is its way to say so.
        # Under the mask stands what nobody takes for a report: NaN, or the least int64.
        nothing = np.iinfo(np.int64).min if reports.dtype.kind == "i" else np.nan
        data = reports.copy()
        data[hidden] = nothing
        masked: NDArray[Any] = np.ma.MaskedArray(data, hidden, fill_value=nothing).reshape(shape)
        return masked

    return open_column(np.ravel(array), nulls, rebuild, place=place)


def open_sequence(values: Sequence[Any], nulls: Nulls, *, whole: bool) -> Batch:
    """The values of a list or tuple; ``whole`` says that the domain holds whole numbers."""
    kind = tuple if isinstance(values, tuple) else list
    missing = [at for at, value in enumerate(values) if value is None]
    if missing and nulls == "error":
        raise missing_error(len(missing), len(values), f"values[{missing[0]}]")
    there = [value for value in values if value is not None] if missing else values
    positions = [at for at, value in enumerate(values) if value is not None] if missing else range(len(values))
    array = _numbers(there, positions, whole=whole)

    def rebuild(reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> Any:  # noqa: ANN401
        found = reports.tolist()
        if hidden is not None:
            found = [None if hide else report for report, hide in zip(found, hidden.tolist(), strict=True)]
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


def missing_error(count: int, total: int, first: str) -> NullError:
    """The error for missing values of a container; ``first`` names the position of one."""
    return NullError(f"{count} of {total} values are missing, the first at {first}; {_NULLS_HINT}")


def null_error() -> NullError:
    """The error for a missing scalar."""
    return NullError(f"The value is missing; {_NULLS_HINT}")

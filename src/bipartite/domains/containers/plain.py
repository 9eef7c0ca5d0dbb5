"""Lists, tuples and NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from bipartite.domains.base import as_double
from bipartite.domains.containers.cells import Cells, Container, masked, missing_error, objects, refuse_type
from bipartite.errors import InputError, NotAValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NUMBERS: Final = (int, float, np.integer, np.floating)
_NO_NUMBERS: Final = (bool, np.bool_, np.timedelta64)


class Listed(Container["list[Any] | tuple[Any, ...]"]):
    """A list or a tuple."""

    __slots__ = ()
    nan_is_null: ClassVar[bool] = False

    def _missing(self) -> NDArray[np.bool_] | None:
        return masked(np.array([value is None for value in self.held], dtype=np.bool_))

    def cells(self) -> Cells:
        return Cells(objects(self.held), self._missing())

    def numbers(self) -> Cells:
        kinds = set(map(type, self.held))
        missing = self._missing() if type(None) in kinds else None
        if missing is not None and self.nulls == "error":
            raise missing_error(missing, self)
        kinds.discard(type(None))
        wrong = {kind for kind in kinds if issubclass(kind, _NO_NUMBERS) or not issubclass(kind, _NUMBERS)}
        if wrong:
            first = next(at for at, value in enumerate(self.held) if type(value) in wrong)
            names = ", ".join(sorted(kind.__name__ for kind in wrong))
            raise NotAValueError(f"{self.place(first)} is not a number (found {names}); pass ints or floats.")
        if missing is None:
            return Cells(array_of(self.held))
        return Cells(array_of([0 if value is None else value for value in self.held]), missing)

    @property
    def label_types(self) -> tuple[type, ...]:
        return str, int

    def of_numbers(self, reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> list[Any] | tuple[Any, ...]:
        found = reports.tolist()
        if hidden is not None:
            found = [None if hide else report for report, hide in zip(found, hidden.tolist(), strict=True)]
        return tuple(found) if isinstance(self.held, tuple) else found

    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> list[Any] | tuple[Any, ...]:  # noqa: ARG002
        return tuple(found) if isinstance(self.held, tuple) else found


class Array(Container["NDArray[Any]"]):
    """A NumPy array of any shape."""

    __slots__ = ()

    def place(self, at: int) -> str:
        return f"values[{', '.join(str(int(each)) for each in np.unravel_index(at, self.held.shape))}]"

    def cells(self) -> Cells:
        flat = np.ravel(self.held)
        if flat.dtype.kind != "O":
            return Cells(flat)
        return Cells(flat, masked(np.array([value is None for value in flat.tolist()], dtype=np.bool_)))

    def numbers(self) -> Cells:
        dtype = self.held.dtype
        if isinstance(self.held, np.ma.MaskedArray):
            raise InputError("Expected values without a mask, got a masked array; pass values.compressed().")
        if dtype.kind not in "iuf":
            hint = "use .astype(int)" if dtype.kind == "b" else "use .astype(float) or .astype(int)"
            refuse_type("an array", dtype, hint)
        return self.cells()

    @property
    def label_types(self) -> tuple[type, ...]:
        return () if isinstance(self.held, np.ma.MaskedArray) else (str, int)

    def of_numbers(self, reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> NDArray[Any]:
        shape = self.held.shape
        if hidden is None:
            return reports.reshape(shape)
        if self.nulls == "keep":
            return np.where(hidden, np.nan, reports).reshape(shape)
        # NumPy numbers have no null, so a mask marks it; under the mask stands NaN or the smallest int64, which cannot
        # be mistaken for a report.
        nothing = np.iinfo(np.int64).min if reports.dtype.kind == "i" else np.nan
        data = reports.copy()
        data[hidden] = nothing
        found: NDArray[Any] = np.ma.MaskedArray(data, hidden, fill_value=nothing).reshape(shape)
        return found

    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> NDArray[Any]:
        dtype = object if nullable else np.array(labels).dtype
        return np.array(found, dtype=dtype).reshape(self.held.shape)


def array_of(values: Sequence[Any]) -> NDArray[Any]:
    """Numbers as int64, or as doubles, which represent every integer of every domain."""
    if all(issubclass(kind, (int, np.integer, np.bool_)) for kind in set(map(type, values))):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass  # beyond int64 a number is outside every integer domain, also as a double
    with np.errstate(all="ignore"):
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            return np.array([as_double(value) for value in values], dtype=np.float64)

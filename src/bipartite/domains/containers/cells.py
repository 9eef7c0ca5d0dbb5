"""Cells of a container, present or missing; the interface of every kind of container; lists and NumPy arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, NoReturn, TypeVar

import numpy as np

from bipartite.domains.base import as_double
from bipartite.errors import InputError, NotAValueError, NullError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains.base import Domain, Mask

Nulls = Literal["error", "keep"]
Held = TypeVar("Held")
_NUMBERS: Final = (int, float, np.integer, np.floating)
_NO_NUMBERS: Final = (bool, np.bool_, np.timedelta64)
_NULLS_HINT: Final = (
    "remove it, add a 'no answer' value to the domain, or use nulls='keep', which publishes that it is missing."
)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a container, flat and in order."""

    values: NDArray[Any]
    """Numbers, or anything else as objects; arbitrary where a cell is missing."""
    missing: Mask | None = None
    """Which cells hold the container's own null; None if none does."""

    @property
    def there(self) -> Mask:
        """Which cells are not missing."""
        return np.ones(len(self.values), dtype=np.bool_) if self.missing is None else ~self.missing

    def with_nan(self) -> Cells:
        """The same cells with NaN counted as missing, as many tables write it."""
        kind, values = self.values.dtype.kind, self.values
        if kind not in "fO":
            return self
        nan = np.isnan(values) if kind == "f" else np.array([_is_nan(each) for each in values.tolist()], dtype=np.bool_)
        if not nan.any():
            return self
        return Cells(values, nan if self.missing is None else self.missing | nan)


def _is_nan(value: object) -> bool:
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return type(value).__name__ in {"NAType", "NaTType"}


@dataclass(frozen=True, slots=True, eq=False)
class Container(ABC, Generic[Held]):
    """One kind of container: its cells, the names of their positions, and how to rebuild it.

    ``of_numbers`` takes ``hidden``, the positions that become the container's own null. It is None if the options of
    the call do not allow nulls, and never because no value happens to be missing: the type of the result depends only
    on the options and the type of the reports, so it reveals nothing about the values.
    """

    nan_is_null: ClassVar[bool] = True
    """Whether NaN stands for a missing number where nulls are kept."""
    held: Held
    nulls: Nulls

    def place(self, at: int) -> str:
        """The name of a position in an error message; never its contents."""
        return f"values[{at}]"

    @abstractmethod
    def cells(self) -> Cells:
        """All cells, whatever they hold."""

    @abstractmethod
    def numbers(self) -> Cells:
        """The cells of a container of numbers; anything else is an InputError."""

    @property
    @abstractmethod
    def label_types(self) -> tuple[type, ...]:
        """The types of labels that the container may hold: ``str``, ``int``, both or none."""

    @abstractmethod
    def of_numbers(self, reports: NDArray[Any], hidden: Mask | None) -> Held:
        """Put these reports into a container of the same kind."""

    @abstractmethod
    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> Held:
        """Put labels, or None where ``nullable``, into a container of the same kind; ``labels`` are all possible."""

    def codes(self, domain: Domain) -> Cells:
        """The indices of the labels, −1 for anything that is not a label of the domain."""
        cells = self.cells()
        codes = domain.codes(cells.values.tolist())
        return Cells(codes if cells.missing is None else np.where(cells.missing, 0, codes), cells.missing)


def objects(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """An array of objects, one per cell."""
    return np.fromiter(values, dtype=object, count=len(values))


def with_nones(found: list[Any], hidden: Mask | None) -> list[Any]:
    """The list with None where ``hidden`` is true."""
    return (
        found if hidden is None else [None if hide else each for each, hide in zip(found, hidden.tolist(), strict=True)]
    )


def masked(missing: Mask) -> Mask | None:
    """The mask of missing cells; None if none is missing."""
    return missing if missing.any() else None


def refuse_object(library: str, held: object, advice: str) -> NoReturn:
    """Refuse an object of a library that is not a column."""
    raise InputError(f"Expected one column of numbers, got a {library} {type(held).__name__}; {advice}.")


def refuse_type(expected: str, kind: object, advice: str) -> NoReturn:
    """Refuse a container of the wrong type; ``kind`` must not reveal its contents."""
    raise InputError(f"Expected {expected} of whole numbers or floats, got {kind}; {advice}.")


def missing_error(missing: Mask, container: Container[Any]) -> NullError:
    """The error for missing values of a container."""
    first = container.place(int(missing.argmax()))
    return NullError(f"{int(missing.sum())} of {len(missing)} values are missing, the first at {first}; {_NULLS_HINT}")


def null_error() -> NullError:
    """The error for a missing scalar."""
    return NullError(f"The value is missing; {_NULLS_HINT}")


class Listed(Container["list[Any] | tuple[Any, ...]"]):
    """A list or a tuple."""

    __slots__ = ()
    nan_is_null: ClassVar[bool] = False

    def _missing(self) -> Mask | None:
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

    def of_numbers(self, reports: NDArray[Any], hidden: Mask | None) -> list[Any] | tuple[Any, ...]:
        return self.of_labels(with_nones(reports.tolist(), hidden), (), nullable=hidden is not None)

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

    def of_numbers(self, reports: NDArray[Any], hidden: Mask | None) -> NDArray[Any]:
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

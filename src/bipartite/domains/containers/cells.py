"""Cells of a container, present or missing, and the interface of every kind of container."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, NoReturn, TypeVar

import numpy as np

from bipartite.errors import InputError, NullError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains.base import Domain

Nulls = Literal["error", "keep"]
Held = TypeVar("Held")
_NULLS_HINT: Final = (
    "remove it, add a 'no answer' value to the domain, or use nulls='keep', which publishes that it is missing."
)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a container, flat and in order."""

    values: NDArray[Any]
    """Numbers, or anything else as objects; arbitrary where a cell is missing."""
    missing: NDArray[np.bool_] | None = None
    """Which cells hold the container's own null; None if none does."""

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which cells are not missing."""
        return np.ones(len(self.values), dtype=np.bool_) if self.missing is None else ~self.missing

    def with_nan(self) -> Cells:
        """The same cells with NaN counted as missing, as many tables write it."""
        nan = None
        if self.values.dtype.kind == "f":
            nan = np.isnan(self.values)
        elif self.values.dtype.kind == "O":
            nan = np.array([_is_nan(value) for value in self.values.tolist()], dtype=np.bool_)
        if nan is None or not nan.any():
            return self
        return Cells(self.values, nan if self.missing is None else self.missing | nan)


def _is_nan(value: object) -> bool:
    return (isinstance(value, (float, np.floating)) and bool(np.isnan(value))) or type(value).__name__ in {
        "NAType",
        "NaTType",
    }


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
    def of_numbers(self, reports: NDArray[Any], hidden: NDArray[np.bool_] | None) -> Held:
        """Put these reports into a container of the same kind."""

    @abstractmethod
    def of_labels(self, found: list[Any], labels: tuple[Any, ...], *, nullable: bool) -> Held:
        """Put labels, or None where ``nullable``, into a container of the same kind; ``labels`` are all possible."""

    def codes(self, domain: Domain) -> Cells:
        """The indices of the labels, −1 for anything that is not a label of the domain."""
        cells = self.cells()
        if cells.missing is None:
            return Cells(domain.codes(cells.values.tolist()))
        codes = np.zeros(len(cells.values), dtype=np.int64)
        codes[~cells.missing] = domain.codes(cells.values[~cells.missing].tolist())
        return Cells(codes, cells.missing)


def objects(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """An array of objects, one per cell."""
    return np.fromiter(values, dtype=object, count=len(values))


def masked(missing: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """The mask of missing cells; None if none is missing."""
    return missing if missing.any() else None


def refuse_object(library: str, held: object, advice: str) -> NoReturn:
    """Refuse an object of a library that is not a column."""
    raise InputError(f"Expected one column of numbers, got a {library} {type(held).__name__}; {advice}.")


def refuse_type(expected: str, kind: object, advice: str) -> NoReturn:
    """Refuse a container of the wrong type; ``kind`` must not reveal its contents."""
    raise InputError(f"Expected {expected} of whole numbers or floats, got {kind}; {advice}.")


def missing_error(missing: NDArray[np.bool_], container: Container[Any]) -> NullError:
    """The error for missing values of a container."""
    first = container.place(int(missing.argmax()))
    return NullError(f"{int(missing.sum())} of {len(missing)} values are missing, the first at {first}; {_NULLS_HINT}")


def null_error() -> NullError:
    """The error for a missing scalar."""
    return NullError(f"The value is missing; {_NULLS_HINT}")

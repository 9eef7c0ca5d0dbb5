"""Reading the private cells of a column: one reader for each kind of input, with the options of the column.

A reader turns Arrow arrays into what the lottery takes (numbers on a line, row numbers of a set) and says which rows
must be refused, which types it can read, and what the options publish.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.domains.containers.series import numbers_of, rows_of
from bipartite.domains.points import LARGEST, MOST_DEGREES
from bipartite.domains.product import in_fields
from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.domains.containers import Nulls

    Mask = NDArray[np.bool_]

MISSING: Final = "missing"
OUTSIDE: Final = "outside"
_CLAMP: Final = "clamp with outside = 'clip'"
UNREADABLE: Final = "not of the type that the plan needs"


@dataclass(slots=True)
class Opened:
    """The values of a column of a batch: numbers on a line, row numbers of a set."""

    values: NDArray[Any]
    """One per row; arbitrary if the row is missing or refused."""
    missing: Mask | None
    """The rows that stay missing."""
    problems: dict[str, Mask] = field(default_factory=dict)
    """For each reason to refuse a row, a mask; numbers outside a line are left to the lottery, which checks all."""

    @property
    def there(self) -> NDArray[Any]:
        """The values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]


def _shown(kind: pa.DataType) -> object:
    """A type, without the names of fields within: keys of people's cells may be among them."""
    return "nested values" if pa.types.is_nested(kind) else kind


@dataclass(frozen=True, slots=True)
class Reader(ABC):
    """Reads values of a domain from one input, or from several that form one value."""

    domain: Domain
    outside: Outside
    nulls: Nulls
    outside_as: Any
    nulls_as: Any
    max_distance: float = math.inf

    def each(self, count: int) -> Sequence[Reader]:
        """The reader of each of this many inputs."""
        return (self,) * max(1, count)

    @abstractmethod
    def read(self, arrays: Sequence[pa.Array], unreadable: Sequence[Mask | None]) -> Opened:
        """Read the values; ``unreadable`` marks the cells whose text was not of the required type, now null."""

    @property
    def kind(self) -> Literal["numbers", "labels", "text"]:
        """What the input holds: numbers, whole numbers that are labels, or text."""
        return "numbers"

    def type_problem(self, kind: pa.DataType) -> str | None:
        """Why an input of this Arrow type cannot be read, if it cannot."""
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        types = pa.types
        number = types.is_integer(inner) or types.is_floating(inner) or types.is_decimal(inner)
        if types.is_null(inner) or number or (types.is_boolean(inner) and self.domain.whole):
            return None
        hint = "take a number from it first, such as the year" if types.is_temporal(inner) else "cast it first"
        return f"Expected numbers, got {_shown(kind)}; {hint}."

    def published(self, value: str) -> list[str]:
        """What is revealed about every ``value`` of the input that ε does not cover."""
        found = []
        on_a_line = self.domain.has_ends
        # A set has no ends: even in tuples whose numbers are clamped, values outside the set are refused.
        if self.outside_as is None and (self.outside == "error" or not on_a_line):
            what = f"outside {self.domain}" if not self.domain.by_row else "outside the set"
            found.append(f"that no {value} is {what} (outside = {self.outside!r})")
        whole = self.domain.whole and not self.domain.by_row and self.domain.labels is None
        if on_a_line or whole:
            found.append(f"that every {value} is {'a whole number' if whole else 'a number'}")
        return found

    @property
    def limits(self) -> tuple[str, str]:
        """(what values may be outside of, what to do about such values)."""
        hint = "check that they are spelled as in the plan, or replace them with outside = { as = … }"
        return "the set of the plan" if self.domain.by_row else str(
            self.domain
        ), _CLAMP if self.domain.has_ends else hint

    def _on_set(self, rows: NDArray[Any], missing: Mask | None, beyond: Mask, *, clips: bool = False) -> Opened:
        """Row numbers of a set, with missing and outside values replaced as the options say.

        Only positions can be clipped, to the nearest place: even in tuples whose numbers are, a label is refused.
        """
        problems: dict[str, Mask] = {}
        encode = self.domain.encode
        if self.outside_as is not None:
            rows = np.where(beyond, encode(self.outside_as), rows)
        elif not clips:
            problems[OUTSIDE] = beyond
        if missing is None or not missing.any():
            return Opened(rows, None, problems)
        if self.nulls_as is not None:
            return Opened(np.where(missing, encode(self.nulls_as), rows), None, problems)
        if self.nulls == "error":
            problems[MISSING] = missing
        return Opened(rows, missing, problems)


class _Numbers(Reader):
    """Numbers on a line or a circle."""

    __slots__ = ()

    def read(self, arrays: Sequence[pa.Array], unreadable: Sequence[Mask | None]) -> Opened:
        cells = numbers_of(arrays[0])
        if self.nulls_as is not None or self.nulls == "keep":
            cells = cells.with_nan()
        values, missing = cells.values, cells.missing
        problems: dict[str, Mask] = {}
        if missing is not None:
            if self.nulls_as is not None:
                values, missing = np.where(missing, self._number(self.nulls_as, values.dtype), values), None
            elif self.nulls == "error":
                problems[MISSING] = missing
        if self.outside_as is not None:
            low, high = self.domain.decode(0), self.domain.decode(len(self.domain) - 1)
            beyond = (values < low) | (values > high)
            if missing is not None:
                beyond &= ~missing
            values = np.where(beyond, self._number(self.outside_as, values.dtype), values)
        return _marked(Opened(np.ascontiguousarray(values), missing, problems), unreadable)

    def _number(self, value: float, dtype: np.dtype[Any]) -> np.generic:
        """Convert a value of the domain to this type, or a wider one."""
        if self.domain.whole and dtype.kind in "iu":
            number = int(value)
            limits = np.iinfo(dtype)
            return dtype.type(number) if limits.min <= number <= limits.max else np.int64(number)
        return np.float64(value)


class _Labels(Reader):
    """The labels of a set."""

    __slots__ = ()

    @property
    def kind(self) -> Literal["numbers", "labels", "text"]:
        return "labels" if isinstance(self.domain.decode(0), int) else "text"

    def read(self, arrays: Sequence[pa.Array], unreadable: Sequence[Mask | None]) -> Opened:
        cells, mark = rows_of(arrays[0], self.domain), unreadable[0]
        unknown, missing = cells.values < 0, cells.missing
        if mark is not None:
            # Text that is not a label was read as null; it is outside, not missing.
            unknown, missing = unknown | mark, ~(cells.there | mark)
        return self._on_set(cells.values, missing, unknown)

    def type_problem(self, kind: pa.DataType) -> str | None:
        types = pa.types
        inner = kind.value_type if types.is_dictionary(kind) else kind
        if types.is_null(inner):
            return None
        if self.kind == "labels":
            whole = types.is_integer(inner)
            return (
                None if whole else f"Expected whole numbers, the labels of its set, got {_shown(kind)}; cast it first."
            )
        text = types.is_string(inner) or types.is_large_string(inner) or types.is_string_view(inner)
        return None if text or types.is_boolean(inner) else f"Expected text, got {_shown(kind)}; cast it first."


class _Positions(Reader):
    """Coordinates, each position as the nearest of the places."""

    __slots__ = ()

    def read(self, arrays: Sequence[pa.Array], unreadable: Sequence[Mask | None]) -> Opened:
        domain: Any = self.domain
        parts = [numbers_of(array) for array in arrays]
        positions = np.column_stack([cells.values.astype(np.float64) for cells in parts])
        missing = ~np.logical_and.reduce([cells.there for cells in parts])
        if self.nulls_as is not None or self.nulls == "keep":
            missing |= np.isnan(positions).any(axis=1)
        limits = np.array(MOST_DEGREES) if domain.metric == "haversine" else np.full(positions.shape[1], LARGEST)
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(positions) <= limits).all(axis=1) & ~missing
        # Rows that are not reported become the first point, so that no row is left out of the search.
        positions[wrong | missing] = domain.coordinates[0]
        rows, beyond = domain.nearest_rows(positions, self.max_distance)
        opened = self._on_set(rows.astype(np.int32), missing, beyond, clips=self.outside == "clip")
        opened.problems = {"not a position": wrong, **opened.problems}
        return _marked(opened, unreadable)

    def published(self, value: str) -> list[str]:
        found = [f"that every {value} is a position"]
        if self.outside == "error" and self.outside_as is None and self.max_distance < math.inf:
            far = f"that no position is farther than {self.max_distance:g} from a point (outside = 'error')"
            found.insert(0, far)
        return found

    @property
    def limits(self) -> tuple[str, str]:
        return f"the distance of {self.max_distance:g} from every point", _CLAMP


class _Tuples(Reader):
    """Tuples, one input for each part; each part of a replacement tuple replaces that part."""

    __slots__ = ()

    def each(self, count: int) -> Sequence[Reader]:  # noqa: ARG002 (as many as there are parts)
        parts = self.domain.parts
        outside, nulls = ((None,) * len(parts) if each is None else each for each in (self.outside_as, self.nulls_as))
        replaced = zip(parts, outside, nulls, strict=True)
        return [reader_of(part, 1, self.outside, self.nulls, *stand_ins) for part, *stand_ins in replaced]

    def read(self, arrays: Sequence[pa.Array], unreadable: Sequence[Mask | None]) -> Opened:
        """Join the parts; a tuple with a missing part is missing."""
        read = zip(self.each(len(arrays)), arrays, unreadable, strict=True)
        parts = [reader.read([array], [mark]) for reader, array, mark in read]
        gone = [each.missing for each in parts if each.missing is not None]
        missing = np.logical_or.reduce(gone) if gone else None
        problems: dict[str, Mask] = {}
        for reason, bad in (each for part in parts for each in part.problems.items()):
            applies = bad if missing is None or reason == MISSING else bad & ~missing
            problems[reason] = problems.get(reason, False) | applies
        return Opened(in_fields([each.values for each in parts]), missing, problems)

    @property
    def limits(self) -> tuple[str, str]:
        hint = "clamp numbers with outside = 'clip', or replace values with outside = { as = […] }"
        return str(self.domain), hint


def _marked(opened: Opened, unreadable: Sequence[Mask | None]) -> Opened:
    """The same values, where cells that were not numbers are that and nothing else."""
    marks = [mark for mark in unreadable if mark is not None]
    if marks:
        wrong = np.logical_or.reduce(marks)
        if opened.missing is not None:
            opened.missing = opened.missing & ~wrong
        opened.problems = {reason: bad & ~wrong for reason, bad in opened.problems.items()}
        opened.problems[UNREADABLE] = wrong
    return opened


def reader_of(domain: Domain, inputs: int, *options: Any) -> Reader:  # noqa: ANN401 (those of a reader)
    """The reader of a domain's values from this many inputs: the one place where kinds of inputs are told apart."""
    kind = _Tuples if domain.parts else _Positions if inputs > 1 else _Numbers if domain.labels is None else _Labels
    return kind(domain, *options)

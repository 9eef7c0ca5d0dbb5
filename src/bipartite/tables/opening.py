"""Reading one private column of an Arrow batch: its values, and the rows that must be refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import Points
from bipartite.domains.containers.series import numbers_of, rows_of
from bipartite.domains.points import LARGEST, MOST_DEGREES
from bipartite.domains.product import for_part, in_fields, tuple_text
from bipartite.errors import NotAValueError, NullError, OutsideDomainError
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.domains.containers import Nulls
    from bipartite.errors import DataError
    from bipartite.tables.columns import Column

MISSING: Final = "missing"
OUTSIDE: Final = "outside"
_UNREADABLE: Final = "not of the type that the plan needs"
_SHOWN_ROWS: Final = 5


@dataclass(slots=True)
class Opened:
    """The values of a column of a batch: numbers on a line, row numbers of a set."""

    values: NDArray[Any]
    """One per row; arbitrary if the row is missing or refused."""
    missing: NDArray[np.bool_] | None
    """The rows that stay missing."""
    problems: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    """For each reason to refuse a row, a mask; numbers outside a line are left to the lottery, which checks all."""

    @property
    def there(self) -> NDArray[Any]:
        """The values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]


@dataclass(frozen=True, slots=True)
class _Options:
    """The domain and options of a column, or of one part of its tuples."""

    domain: Domain
    outside: Outside
    nulls: Nulls
    outside_as: Any
    nulls_as: Any
    max_distance: float


def _options_of(column: Column) -> _Options:
    given = (column.outside, column.nulls, column.outside_as, column.nulls_as, column.max_distance)
    return _Options(column.mechanism.domain, *given)


def _options_of_part(column: Column, product: Domain, at: int) -> _Options:
    """The options of one part: each part of a replacement tuple replaces that part."""
    part = product.parts[at]
    return _Options(
        domain=part,
        outside=for_part(part, column.outside),
        nulls=column.nulls,
        outside_as=None if column.outside_as is None else column.outside_as[at],
        nulls_as=None if column.nulls_as is None else column.nulls_as[at],
        max_distance=column.max_distance,
    )


def open_rows(
    column: Column, arrays: Sequence[pa.Array], unreadable: Sequence[NDArray[np.bool_] | None] = (None,)
) -> Opened:
    """Read the values of a column from its Arrow arrays.

    ``unreadable`` marks, for each array, the rows whose text was not of the required type, and which are now null.
    """
    domain = column.mechanism.domain
    if domain.parts:
        read = enumerate(zip(arrays, unreadable, strict=True))
        opened = _join([_open(_options_of_part(column, domain, at), [array], mark) for at, (array, mark) in read])
    else:
        marks = [mark for mark in unreadable if mark is not None]
        opened = _open(_options_of(column), arrays, np.logical_or.reduce(marks) if marks else None)
    opened.problems = {reason: bad for reason, bad in opened.problems.items() if bad.any()}
    return opened


def _open(wanted: _Options, arrays: Sequence[pa.Array], unreadable: NDArray[np.bool_] | None) -> Opened:
    domain = wanted.domain
    if isinstance(domain, Points) and len(arrays) > 1:
        opened = _positions(wanted, domain, arrays)
    elif domain.labels is not None:
        cells = rows_of(arrays[0], domain)
        unknown, missing = cells.values < 0, cells.missing
        if unreadable is not None:
            # Text that is not a label was read as null; it is outside, not missing.
            unknown, missing, unreadable = unknown | unreadable, ~(cells.there | unreadable), None
        opened = _on_set(wanted, cells.values, missing, unknown, {})
    else:
        opened = _numbers(wanted, arrays[0])
    if unreadable is not None and unreadable.any():
        if opened.missing is not None:
            opened.missing = opened.missing & ~unreadable
        opened.problems = {reason: bad & ~unreadable for reason, bad in opened.problems.items()}
        opened.problems[_UNREADABLE] = unreadable
    return opened


def _join(parts: Sequence[Opened]) -> Opened:
    """Join parts into tuples; a tuple with a missing part is missing."""
    gone = [each.missing for each in parts if each.missing is not None]
    missing = np.logical_or.reduce(gone) if gone else None
    problems: dict[str, NDArray[np.bool_]] = {}
    for reason, bad in (each for part in parts for each in part.problems.items()):
        applies = bad if missing is None or reason == MISSING else bad & ~missing
        problems[reason] = problems.get(reason, False) | applies
    return Opened(in_fields([each.values for each in parts]), missing, problems)


def all_problems(column: Column, opened: Opened) -> dict[str, NDArray[np.bool_]]:
    """For each reason to refuse a row, a mask, including rows of a line that the lottery would refuse."""
    found = dict(opened.problems)
    for reason, bad in column.mechanism.domain.refusals(opened.there, column.domain_outside).items():
        rows = bad
        if opened.missing is not None:
            rows = np.zeros(len(opened.values), dtype=np.bool_)
            rows[~opened.missing] = bad
        for known in opened.problems.values():
            rows = rows & ~known
        if rows.any():
            found[reason] = rows
    return found


def refusal(
    name: str, column: Column, problems: dict[str, NDArray[np.bool_]], first_row: int, *, lines: bool = False
) -> DataError:
    """The error for rows that cannot be reported: column, row numbers and reasons, never values.

    If rows are ``lines`` of text, there is neither a named column nor a plan to edit.
    """
    unit = "line" if lines else "row"
    refused = np.logical_or.reduce(list(problems.values()))
    parts, hints = [], []
    for reason, bad in problems.items():
        rows = (np.flatnonzero(bad)[:_SHOWN_ROWS] + first_row + 1).tolist()
        count = int(bad.sum())
        more = f" and {count - len(rows):,} more" if count > len(rows) else ""
        where = f"{unit}{'s' if count > 1 else ''} {', '.join(f'{row:,}' for row in rows)}{more}"
        what = f"outside {_named(column)}" if reason == OUTSIDE else reason
        if lines:
            what = _said_of_lines(reason, column) or what
        parts.append(f"{where} {'are' if count > 1 else 'is'} {what}")
        hints.append(_hint_for_lines(reason, column) if lines else _hint(reason, column))
    kinds: dict[str, type[DataError]] = {OUTSIDE: OutsideDomainError, MISSING: NullError}
    kind = kinds.get(next(iter(problems)), NotAValueError) if len(problems) == 1 else NotAValueError
    return kind(
        f"{'' if lines else f'column {name!r}: '}{int(refused.sum()):,} of the {len(refused):,} {unit}s of this batch "
        f"cannot be reported: "
        f"{'; '.join(parts)}; {'; '.join(dict.fromkeys(hints))}."
    )


def _named(column: Column) -> str:
    domain = column.mechanism.domain
    if column.is_position:
        return f"the distance of {column.max_distance:g} from every point"
    return "the set of the plan" if domain.by_row else str(domain)


def _hint(reason: str, column: Column) -> str:
    if reason == MISSING:
        return "replace it by a 'no answer' value with nulls = { as = … }, or publish what is missing with 'keep'"
    if reason == OUTSIDE:
        if column.mechanism.domain.parts:
            return "clamp numbers with outside = 'clip', or replace values with outside = { as = […] }"
        on_set = not column.mechanism.domain.has_ends and not column.is_position
        if on_set:
            return "check that they are spelled as in the plan, or replace them with outside = { as = … }"
        return "clamp with outside = 'clip'"
    return "repair or remove these rows"


def _said_of_lines(reason: str, column: Column) -> str | None:
    """What is wrong with a line, where that is not what is wrong with a row of a table."""
    domain = column.mechanism.domain
    if reason == MISSING:
        return "empty"
    if domain.parts:
        return f"not a JSON array of {len(domain.parts)} values of {domain}, like {tuple_text(domain.decode(0))}"
    if reason == OUTSIDE and domain.labels is not None:
        few = ", ".join(escaped(str(each)) for each in domain.labels[:_SHOWN_ROWS])
        return f"not one of the labels ({few}{', …' if len(domain.labels) > _SHOWN_ROWS else ''})"
    if domain.by_row:
        return "not the number of a row"
    return "not a number" if reason == _UNREADABLE else None


def _hint_for_lines(reason: str, column: Column) -> str:
    domain = column.mechanism.domain
    if reason == OUTSIDE and domain.has_ends:
        return "use outside='clip' to clamp values to the ends"
    if domain.by_row and domain.labels is None:
        return "values are row numbers of the places, counted from 0; repair or remove these lines"
    return "repair or remove these lines"


def _numbers(wanted: _Options, array: pa.Array) -> Opened:
    cells = numbers_of(array)
    if wanted.nulls_as is not None or wanted.nulls == "keep":
        cells = cells.with_nan()
    values, missing = cells.values, cells.missing
    problems: dict[str, NDArray[np.bool_]] = {}
    if missing is not None:
        if wanted.nulls_as is not None:
            values, missing = np.where(missing, _as_number(wanted, wanted.nulls_as, values.dtype), values), None
        elif wanted.nulls == "error":
            problems[MISSING] = missing
    if wanted.outside_as is not None:
        domain = wanted.domain
        last = len(domain) - 1
        low, high = domain.decode(0), domain.decode(last)
        beyond = (values < low) | (values > high)
        if missing is not None:
            beyond &= ~missing
        values = np.where(beyond, _as_number(wanted, wanted.outside_as, values.dtype), values)
    return Opened(np.ascontiguousarray(values), missing, problems)


def _as_number(wanted: _Options, value: float, dtype: np.dtype[Any]) -> np.generic:
    """Convert a value of the domain to this type, or a wider one."""
    if wanted.domain.whole and dtype.kind in "iu":
        number = int(value)
        limits = np.iinfo(dtype)
        return dtype.type(number) if limits.min <= number <= limits.max else np.int64(number)
    return np.float64(value)


def _positions(wanted: _Options, domain: Points, arrays: Sequence[pa.Array]) -> Opened:
    parts = [numbers_of(array) for array in arrays]
    positions = np.column_stack([cells.values.astype(np.float64) for cells in parts])
    missing = ~np.logical_and.reduce([cells.there for cells in parts])
    if wanted.nulls_as is not None or wanted.nulls == "keep":
        missing |= np.isnan(positions).any(axis=1)
    limits = np.array(MOST_DEGREES) if domain.metric == "haversine" else np.full(positions.shape[1], LARGEST)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(positions) <= limits).all(axis=1) & ~missing
    # Rows that are not reported become the first point, so that no row is left out of the search.
    positions[wrong | missing] = domain.coordinates[0]
    rows, beyond = domain.nearest_rows(positions, wanted.max_distance)
    return _on_set(wanted, rows.astype(np.int32), missing, beyond, {"not a position": wrong})


def _on_set(
    wanted: _Options,
    rows: NDArray[Any],
    missing: NDArray[np.bool_] | None,
    beyond: NDArray[np.bool_],
    problems: dict[str, NDArray[np.bool_]],
) -> Opened:
    """Row numbers of a set, with missing and outside values replaced as the options say."""
    encode = wanted.domain.encode
    if wanted.outside_as is not None:
        rows = np.where(beyond, encode(wanted.outside_as), rows)
    elif wanted.outside == "error":
        problems[OUTSIDE] = beyond
    if missing is None or not missing.any():
        return Opened(rows, None, problems)
    if wanted.nulls_as is not None:
        return Opened(np.where(missing, encode(wanted.nulls_as), rows), None, problems)
    if wanted.nulls == "error":
        problems[MISSING] = missing
    return Opened(rows, missing, problems)

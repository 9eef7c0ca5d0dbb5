"""The values of one private column of an Arrow batch as numbers of its domain, and which rows must be refused.

Nothing here becomes a Python object for each row: numbers are views of Arrow's memory, labels become row numbers by
Arrow's own hash table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains import Integers, Points, SetDomain
from bipartite.errors import NotAValueError, NullError, OutsideDomainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.errors import DataError
    from bipartite.tables.columns import Column

MISSING: Final = "missing"
OUTSIDE: Final = "outside"
_UNREADABLE: Final = "not readable as the type that the plan needs"
_SHOWN_ROWS: Final = 5
_DEGREES: Final = (90.0, 180.0)
_LARGEST: Final = 2.0**500


@dataclass(slots=True)
class Opened:
    """The values of a column of a batch: numbers on a line, row numbers of a set."""

    values: NDArray[Any]
    """One a row; anything where the row is missing or refused."""
    missing: NDArray[np.bool_] | None
    """The rows that stay missing."""
    troubles: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    """For each reason to refuse a row, which rows; numbers outside a line are left to the lottery, which checks all."""

    @property
    def there(self) -> NDArray[Any]:
        """The values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]


def open_rows(column: Column, arrays: Sequence[Any], unreadable: NDArray[np.bool_] | None = None) -> Opened:
    """The values of the Arrow arrays that a column is made from.

    ``unreadable`` marks rows whose text was no value of the type needed, where a null stands now.
    """
    domain = column.mechanism.domain
    if column.is_position:
        opened = _positions(column, arrays)
    elif isinstance(domain, SetDomain) and domain.labels is not None:
        return _without_empty(_labels(column, arrays[0], unreadable))
    else:
        opened = _numbers(column, arrays[0])
    if unreadable is not None and unreadable.any():
        if opened.missing is not None:
            opened.missing = opened.missing & ~unreadable
        opened.troubles = {reason: bad & ~unreadable for reason, bad in opened.troubles.items()}
        opened.troubles[_UNREADABLE] = unreadable
    return _without_empty(opened)


def _without_empty(opened: Opened) -> Opened:
    """The same, with the reasons that some row has."""
    opened.troubles = {reason: bad for reason, bad in opened.troubles.items() if bad.any()}
    return opened


def all_troubles(column: Column, opened: Opened) -> dict[str, NDArray[np.bool_]]:
    """For each reason to refuse a row, which rows: those of a line that the lottery would refuse, too."""
    found = dict(opened.troubles)
    for reason, bad in column.mechanism.domain.refusals(opened.there, _line_outside(column)).items():
        rows = bad
        if opened.missing is not None:
            rows = np.zeros(len(opened.values), dtype=np.bool_)
            rows[~opened.missing] = bad
        for known in opened.troubles.values():
            rows = rows & ~known
        if rows.any():
            found[reason] = rows
    return found


def refusal(name: str, column: Column, troubles: dict[str, NDArray[np.bool_]], first_row: int) -> DataError:
    """The error for rows that cannot be reported: column, row numbers and reasons, never values."""
    refused = np.logical_or.reduce(list(troubles.values()))
    parts, hints = [], []
    for reason, bad in troubles.items():
        rows = (np.flatnonzero(bad)[:_SHOWN_ROWS] + first_row + 1).tolist()
        count = int(bad.sum())
        more = f" and {count - len(rows):,} more" if count > len(rows) else ""
        where = f"row{'s' if count > 1 else ''} {', '.join(f'{row:,}' for row in rows)}{more}"
        what = f"outside {_named(column)}" if reason == OUTSIDE else reason
        parts.append(f"{where} {'are' if count > 1 else 'is'} {what}")
        hints.append(_hint(reason, column))
    kind = OutsideDomainError
    if set(troubles) != {OUTSIDE}:
        kind = NullError if set(troubles) == {MISSING} else NotAValueError  # type: ignore[assignment]
    return kind(
        f"column {name!r}: {int(refused.sum()):,} of the {len(refused):,} rows of this batch cannot be reported: "
        f"{'; '.join(parts)}; {'; '.join(dict.fromkeys(hints))}."
    )


def _named(column: Column) -> str:
    domain = column.mechanism.domain
    if column.is_position:
        return f"the distance of {column.max_distance:g} from every point"
    return "the set of the plan" if isinstance(domain, SetDomain) else str(domain)


def _hint(reason: str, column: Column) -> str:
    if reason == MISSING:
        return "take a 'no answer' value in its place with nulls = { as = … }, or publish what is missing with 'keep'"
    if reason == OUTSIDE:
        on_set = isinstance(column.mechanism.domain, SetDomain) and not column.is_position
        return "take another value in its place with outside = { as = … }" if on_set else "clamp with outside = 'clip'"
    return "repair or remove these rows"


def _line_outside(column: Column) -> Any:  # noqa: ANN401 (what a domain takes)
    return "error" if isinstance(column.mechanism.domain, SetDomain) else column.outside


def _numbers(column: Column, array: Any) -> Opened:  # noqa: ANN401
    values, missing = numbers_of(array)
    troubles: dict[str, NDArray[np.bool_]] = {}
    settled = column.nulls_as is not None or column.nulls == "keep"
    if settled and values.dtype.kind == "f":
        # NaN is how many tables say that nothing is there.
        nan = np.isnan(values)
        missing = nan if missing is None else missing | nan
    if missing is not None:
        if column.nulls_as is not None:
            values, missing = np.where(missing, _as_number(column, column.nulls_as, values.dtype), values), None
        elif column.nulls == "error":
            troubles[MISSING] = missing
    if column.outside_as is not None:
        low, high = _ends(column)
        beyond = (values < low) | (values > high)
        if missing is not None:
            beyond &= ~missing
        values = np.where(beyond, _as_number(column, column.outside_as, values.dtype), values)
    return Opened(np.ascontiguousarray(values), missing, troubles)


def _ends(column: Column) -> tuple[Any, Any]:
    domain = column.mechanism.domain
    return (0, len(domain) - 1) if isinstance(domain, SetDomain) else (domain.decode(0), domain.decode(len(domain) - 1))


def _as_number(column: Column, value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401
    """A value of the domain in the type of the others, or a wider one."""
    whole = isinstance(column.mechanism.domain, (Integers, SetDomain))
    if whole and dtype.kind in "iu":
        number = int(value)
        limits = np.iinfo(dtype)
        return dtype.type(number) if limits.min <= number <= limits.max else np.int64(number)
    return np.float64(value)


def numbers_of(array: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:  # noqa: ANN401
    """The numbers of an Arrow array, 0 where one is missing, and which are; a view where Arrow allows one."""
    import pyarrow as pa  # noqa: PLC0415 (loaded already: the caller holds one of its arrays)

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    elif pa.types.is_decimal(array.type):
        array = array.cast(pa.float64(), safe=False)
    if pa.types.is_null(array.type):
        return np.zeros(len(array), dtype=np.int64), np.ones(len(array), dtype=np.bool_)
    if array.null_count == 0:
        return array.to_numpy(zero_copy_only=False), None
    missing = array.is_null().to_numpy(zero_copy_only=False)
    values = array.fill_null(pa.scalar(0, type=array.type)).to_numpy(zero_copy_only=False)
    return values, missing


def _labels(column: Column, array: Any, unreadable: NDArray[np.bool_] | None) -> Opened:  # noqa: ANN401
    """``unreadable`` marks the rows whose text was no label, where a null stands now."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    domain = cast("SetDomain", column.mechanism.domain)
    labels = label_array(domain)
    if pa.types.is_dictionary(array.type):
        at = pc.index_in(_comparable(array.dictionary, labels.type), value_set=labels).take(array.indices)
    else:
        at = pc.index_in(_comparable(array, labels.type), value_set=labels)
    # Whatever is null now was no label: missing before, or unknown.
    unknown = None if at.null_count == 0 else at.is_null().to_numpy(zero_copy_only=False)
    if unknown is None:
        return Opened(at.to_numpy(zero_copy_only=False), None)
    rows = at.fill_null(0).to_numpy(zero_copy_only=False).copy()
    missing = array.is_null().to_numpy(zero_copy_only=False)
    if unreadable is not None:
        missing = missing & ~unreadable
    unknown &= ~missing
    troubles: dict[str, NDArray[np.bool_]] = {}
    if column.outside_as is not None:
        rows[unknown] = domain.encode(column.outside_as)
    else:
        troubles[OUTSIDE] = unknown
    if column.nulls_as is not None:
        rows[missing] = domain.encode(column.nulls_as)
        return Opened(rows, None, troubles)
    if column.nulls == "error":
        troubles[MISSING] = missing
    return Opened(rows, missing if missing.any() else None, troubles)


def label_array(domain: SetDomain) -> Any:  # noqa: ANN401
    """The labels of a set as an Arrow array."""
    import pyarrow as pa  # noqa: PLC0415

    labels = domain.labels or ()
    return pa.array(labels, type=pa.string() if isinstance(labels[0], str) else pa.int64())


def _comparable(array: Any, kind: Any) -> Any:  # noqa: ANN401
    """The values in the type of the labels."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if array.type == pa.uint64():
        # Labels lie far below 2^63, so what is beyond stays none of them.
        array = pc.min_element_wise(array, pa.scalar(2**63 - 1, type=pa.uint64()), skip_nulls=False)
    return array if array.type == kind else array.cast(kind)


def _positions(column: Column, arrays: Sequence[Any]) -> Opened:
    parts = [numbers_of(array) for array in arrays]
    positions = np.column_stack([values.astype(np.float64) for values, _ in parts])
    missing = np.zeros(len(positions), dtype=np.bool_)
    for _, gone in parts:
        if gone is not None:
            missing |= gone
    if column.nulls_as is not None or column.nulls == "keep":
        missing |= np.isnan(positions).any(axis=1)
    domain = cast("Points", column.mechanism.domain)
    limits = np.array(_DEGREES) if domain.metric == "haversine" else np.full(positions.shape[1], _LARGEST)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(positions) <= limits).all(axis=1) & ~missing
    # Rows that are not reported take the place of the first point, so that no row is left out of the search.
    positions[wrong | missing] = domain.coordinates[0]
    rows, beyond = domain.nearest_rows(positions, column.max_distance)
    rows = rows.astype(np.int32)
    troubles = {"not a position": wrong}
    if column.outside_as is not None:
        rows[beyond] = domain.encode(column.outside_as)
    elif column.outside == "error":
        troubles[OUTSIDE] = beyond
    if column.nulls_as is not None:
        rows[missing] = domain.encode(column.nulls_as)
        return Opened(rows, None, troubles)
    if column.nulls == "error":
        troubles[MISSING] = missing
    return Opened(rows, missing if missing.any() else None, troubles)

"""One column of a table: a private one reads, draws, writes and counts itself, a public one is copied."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains.product import tuple_text
from bipartite.errors import (
    DataError,
    InputError,
    NotAValueError,
    NullError,
    OutsideDomainError,
    Problems,
    is_one_of,
    shown,
)
from bipartite.mechanisms import Mechanism  # noqa: TC001 (for pages of the reference, which resolve it)
from bipartite.mechanisms.record import composition_problem
from bipartite.tables.cells import MISSING, OUTSIDE, UNREADABLE, reader_of
from bipartite.tables.extras import pa, pc
from bipartite.tables.reports import reports_of
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.domains.containers import Nulls
    from bipartite.tables.cells import Opened, Reader
    from bipartite.tables.reports import Reports

PUBLIC: Final = "public"
"""Marks a column of a plan that is copied unchanged."""
MOST_TUPLES: Final = 2**20
"""The most values of a product in a table, where each is written out once."""
_SHOWN_ROWS: Final = 5
_OF_MISSING: Final = "replace it by a 'no answer' value with nulls = { as = … }, or publish what is missing with 'keep'"


@dataclass(frozen=True, slots=True)
class Column:
    """How one column is reported.

    Parameters
    ----------
    mechanism
        The mechanism of the column. It must be plain ε-LDP, so that the ε of a row is a sum.
    inputs
        The columns it is read from: none for the column of the same name, one to rename, the coordinates of a
        position, which becomes the nearest of the mechanism's :class:`~bipartite.Points`, or one column per part of a
        :class:`~bipartite.Product`.
    outside, outside_as
        What happens to a value outside the domain. ``outside="error"`` refuses the row, which publishes that it was
        outside; ``"clip"`` clamps a number to the nearest end, and maps a position to its nearest point however far;
        ``outside_as="other"`` replaces the value by this value of the domain. The last two publish nothing. In a tuple,
        each part is replaced by that part of the given tuple.
    nulls, nulls_as
        What happens to a missing value. ``nulls="error"`` refuses the row, ``"keep"`` leaves it missing: both publish
        that it is missing. ``nulls_as="no answer"`` replaces it by this value of the domain, which publishes nothing.
    max_distance
        The largest distance of a position from its nearest point before it counts as outside.
    purpose
        What the column is for, if the plan says so; the mechanism is already chosen.
    chosen
        The keys that the plan leaves to the purpose, such as ``mechanism``, and the choices made for them.
    """

    mechanism: Mechanism
    inputs: tuple[str, ...] = ()
    outside: Outside = "error"
    nulls: Nulls = "error"
    outside_as: Any = None
    nulls_as: Any = None
    max_distance: float = math.inf
    purpose: str | None = field(default=None, compare=False)
    chosen: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        problems = Problems()
        problem = composition_problem("a column", self.mechanism, flat=True)
        if problem is not None:
            raise InputError(problem)
        if not self.mechanism.flat and self.mechanism.outputs.own_labels:
            raise InputError(
                f"Expected reports that are values or numbers, got {self.mechanism!r}, whose reports are other labels; "
                "use numbers as its outputs, or report with mechanism.privatize."
            )
        _check_labels(self, problems)
        if not is_one_of(self.outside, ("error", "clip")):
            problems.add(f"Expected outside='error' or 'clip', got {shown(self.outside)}.")
        if not is_one_of(self.nulls, ("error", "keep")):
            problems.add(f"Expected nulls='error' or 'keep', got {shown(self.nulls)}.")
        if self.outside == "clip" and not self._has_ends and not self.is_position:
            problems.add(
                f"outside='clip' has no meaning on a set, which has no ends; name a value with {_option('outside')}."
            )
        _check_inputs(self, problems)
        for name, given in (("outside", self.outside_as), ("nulls", self.nulls_as)):
            if given is not None and not _is_value(self.mechanism, given):
                problems.add(
                    f"Expected {_option(name)} as a value of the domain, got {shown(given)}; add it to the domain."
                )
        if not (type(self.max_distance) in {int, float} and self.max_distance >= 0):
            problems.add(f"Expected max_distance ≥ 0, got {shown(self.max_distance)}.")
        elif not self.is_position and self.max_distance < math.inf:
            problems.add("max_distance applies only to a column read from coordinates; leave it out.")
        problems.raise_if_any(InputError)

    @property
    def reader(self) -> Reader:
        """How its values are read."""
        options = (self.outside, self.nulls, self.outside_as, self.nulls_as, self.max_distance)
        return reader_of(self.mechanism.domain, len(self.inputs), *options)

    @property
    def readers(self) -> Sequence[Reader]:
        """How each of its inputs is read."""
        return self.reader.each(len(self.inputs))

    @property
    def reports(self) -> Reports:
        """How its reports are drawn, written and counted."""
        return reports_of(self.mechanism, self.domain_outside)

    @property
    def is_position(self) -> bool:
        """Whether the column is read from coordinates."""
        return len(self.inputs) > 1 and not self.mechanism.domain.parts

    @property
    def _has_ends(self) -> bool:
        domain = self.mechanism.domain
        return any(each.has_ends for each in domain.parts or (domain,))

    @property
    def may_be_null(self) -> bool:
        """Whether the options allow missing reports."""
        return self.nulls == "keep" and self.nulls_as is None

    @property
    def domain_outside(self) -> Outside:
        """What the domain does with values outside it: a set has no ends to clamp to."""
        return self.outside if self._has_ends else "error"

    @property
    def publishes(self) -> tuple[str, ...]:
        """What the output reveals that ε does not cover, as text."""
        found = []
        if self.nulls_as is None:
            found.append(
                "which values are missing (nulls = 'keep')"
                if self.nulls == "keep"
                else "that no value is missing (nulls = 'error')"
            )
        values = [f"value of {name!r}" for name in self.inputs] if self.mechanism.domain.parts else ["value"]
        for reader, value in zip(self.readers, values, strict=False):
            found += reader.published(value)
        return tuple(found)

    def problems(self, opened: Opened) -> dict[str, NDArray[np.bool_]]:
        """For each reason to refuse a row, a mask, including rows of a line that the lottery would refuse."""
        found = {reason: bad for reason, bad in opened.problems.items() if bad.any()}
        for reason, bad in self.mechanism.domain.refusals(opened.there, self.domain_outside).items():
            rows = bad
            if opened.missing is not None:
                rows = np.zeros(len(opened.values), dtype=np.bool_)
                rows[~opened.missing] = bad
            for known in opened.problems.values():
                rows = rows & ~known
            if rows.any():
                found[reason] = rows
        return found

    def refusal(self, name: str, opened: Opened, first_row: int, *, lines: bool = False) -> DataError:
        """The error for rows that cannot be reported: column, row numbers and reasons, never values.

        If rows are ``lines`` of text, there is neither a named column nor a plan to edit.
        """
        problems, (limits, hint) = self.problems(opened), self.reader.limits
        unit, named = ("line", "") if lines else ("row", f"column {name!r}: ")
        refused = np.logical_or.reduce(list(problems.values()))
        parts, hints = [], []
        for reason, bad in problems.items():
            rows = (np.flatnonzero(bad)[:_SHOWN_ROWS] + first_row + 1).tolist()
            count = int(bad.sum())
            more = f" and {count - len(rows):,} more" if count > len(rows) else ""
            where = f"{unit}{'s' if count > 1 else ''} {', '.join(f'{row:,}' for row in rows)}{more}"
            what = f"outside {limits}" if reason == OUTSIDE else reason
            said, to_do = _of_a_line(reason, self.mechanism.domain) if lines else ("", "")
            parts.append(f"{where} {'are' if count > 1 else 'is'} {said or what}")
            hints.append(to_do or {OUTSIDE: hint, MISSING: _OF_MISSING}.get(reason, "repair or remove these rows"))
        kinds: dict[str, type[DataError]] = {OUTSIDE: OutsideDomainError, MISSING: NullError}
        kind = kinds.get(next(iter(problems)), NotAValueError) if len(problems) == 1 else NotAValueError
        return kind(
            f"{named}{int(refused.sum()):,} of the {len(refused):,} {unit}s of this batch cannot be reported: "
            f"{'; '.join(parts)}; {'; '.join(dict.fromkeys(hints))}."
        )


def _of_a_line(reason: str, domain: Domain) -> tuple[str, str]:
    """(what is wrong with a line, where that is not what is wrong with a row of a table; what to do about it)."""
    to_do = "repair or remove these lines"
    if reason == OUTSIDE and domain.has_ends:
        return "", "use outside='clip' to clamp values to the ends"
    if reason == MISSING:
        return "empty", to_do
    if domain.parts:
        like = tuple_text(domain.decode(0))
        return f"not a JSON array of {len(domain.parts)} values of {domain}, like {like}", to_do
    if reason == OUTSIDE and domain.labels is not None:
        few = ", ".join(escaped(str(each)) for each in domain.labels[:_SHOWN_ROWS])
        return f"not one of the labels ({few}{', …' if len(domain.labels) > _SHOWN_ROWS else ''})", to_do
    if domain.by_row:
        return "not the number of a row", f"values are row numbers of the places, counted from 0; {to_do}"
    return "not a number" if reason == UNREADABLE else "", to_do


def _option(name: str) -> str:
    """How to give a replacement value, in Python and in a plan file."""
    return f"{name}_as (in a plan file, {name} = {{ as = … }})"


def _check_labels(column: Column, problems: Problems) -> None:
    if any(isinstance(label, str) and not label.strip() for label in column.mechanism.domain.labels or ()):
        problems.add("Expected categories that are not blank, which files cannot tell from missing; say 'blank'.")


def _check_inputs(column: Column, problems: Problems) -> None:
    """Record inputs that cannot form a position or tuples."""
    domain, inputs = column.mechanism.domain, column.inputs
    if domain.parts and len(inputs) != len(domain.parts):
        problems.add(
            f"Expected {len(domain.parts)} input columns for the tuples, one per part, got "
            f"{len(inputs) or 'none'}; name them: inputs=('age', 'genre') (in a plan file, from = […])."
        )
    if domain.parts and len(domain) > MOST_TUPLES:
        problems.add(
            f"Expected at most {MOST_TUPLES} tuples in a column, got {len(domain)}; use fewer points in its parts."
        )
    places = domain.coordinates if domain.metric != "callable" else None
    if column.is_position and (places is None or places.shape[1] != len(inputs)):
        problems.add(
            f"Expected bp.Points of {len(inputs)} coordinates or bp.Product of {len(inputs)} parts for {len(inputs)} "
            f"input columns, got {domain!r}; use one of these, or one column."
        )


def _is_value(mechanism: Mechanism, value: object) -> bool:
    try:
        mechanism.domain.encode(value)
    except DataError:
        return False
    return True


# --- Public columns: no value of an unreleased row may remain in a dictionary or in the memory of a released array.


def copied(array: pa.Array) -> pa.Array:
    """Copy the values to new memory; a dictionary keeps only the values that occur.

    Sliced-off rows and values under a null stay in Arrow's memory, which pickles and Arrow files write out. The order
    of a dictionary may be that of rows that are not released: unless it has a meaning, values come as in the rows.
    """
    if pa.types.is_dictionary(array.type):
        used = array.indices.unique().drop_null()
        used = used.sort() if array.type.ordered else used
        indices = pc.index_in(array.indices, value_set=used).cast(array.type.index_type)
        return pa.DictionaryArray.from_arrays(indices, array.dictionary.take(used), ordered=array.type.ordered)
    kind = plain(array.type)
    values = array if array.type == kind else array.cast(kind)
    # A missing index for each missing value: otherwise the fields of a missing struct would be copied too.
    gone = values.is_null().to_numpy(zero_copy_only=False)
    return values.take(pa.array(np.arange(len(values)), mask=gone))


def released(name: str, kind: pa.DataType) -> pa.DataType:
    """The type of a public column in a release: a dictionary stays one, but not within lists and structs.

    Raises InputError if the values of a type cannot be copied one by one.
    """
    is_dictionary = pa.types.is_dictionary(kind)
    values = kind.value_type if is_dictionary else plain(kind)
    try:
        pa.nulls(0, values).take(pa.array([], pa.int64()))
        known = not any(shared in str(values) for shared in ("dictionary<", "list_view<"))
    except pa.ArrowNotImplementedError:
        known = False
    if not known:
        raise InputError(
            f"column {name!r}: Expected a type whose values can be copied one by one, got {kind}; cast it first."
        )
    return kind if is_dictionary else values


def plain(kind: pa.DataType) -> pa.DataType:
    """The type without dictionaries and string views, whose memory is shared between batches and rows."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = plain(kind.value_type)
    elif types.is_string_view(kind) or types.is_binary_view(kind):
        kind = pa.large_string() if types.is_string_view(kind) else pa.large_binary()
    elif types.is_struct(kind):
        kind = pa.struct([_plain(field) for field in kind.fields])
    elif types.is_map(kind):
        kind = pa.map_(plain(kind.key_type), _plain(kind.item_field))
    elif types.is_list(kind) or types.is_fixed_size_list(kind):
        kind = pa.list_(_plain(kind.value_field), kind.list_size if types.is_fixed_size_list(kind) else -1)
    elif types.is_large_list(kind):
        kind = pa.large_list(_plain(kind.value_field))
    return kind


def _plain(field: pa.Field) -> pa.Field:
    return field.with_type(plain(field.type))

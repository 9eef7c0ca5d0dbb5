"""One private column of a table: its inputs, how it is reported, and what that publishes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataError, InputError, Problems, is_one_of, shown
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.record import composition_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bipartite.domains import Domain, Outside
    from bipartite.domains.containers import Nulls
    from bipartite.mechanisms import Mechanism

PUBLIC: Final = "public"
"""Marks a column of a plan that is copied unchanged."""
MOST_TUPLES: Final = 2**20
"""The most values of a product in a table, where each is written out once."""


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
        problem = composition_problem("a column", self.mechanism, flat=True) or _label_problem(self.mechanism)
        if problem is not None:
            raise InputError(problem)
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
    def is_position(self) -> bool:
        """Whether the column is read from coordinates."""
        return len(self.inputs) > 1 and not self.mechanism.domain.parts

    @property
    def labels_of_inputs(self) -> tuple[tuple[Any, ...] | None, ...]:
        """The labels of each input; None for numbers."""
        if self.is_position:
            return (None,) * len(self.inputs)
        return tuple(domain.labels for domain in self.domains_of_inputs)

    @property
    def domains_of_inputs(self) -> tuple[Domain, ...]:
        """The domain of each input; for coordinates, that of the places."""
        domain = self.mechanism.domain
        return domain.parts or (domain,) * max(1, len(self.inputs))

    @property
    def _has_ends(self) -> bool:
        return any(domain.has_ends for domain in self.domains_of_inputs)

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
        if self.is_position:
            if self.outside == "error" and self.outside_as is None and self.max_distance < math.inf:
                found.append(f"that no position is farther than {self.max_distance:g} from a point (outside = 'error')")
            found.append("that every value is a position")
            return tuple(found)
        of_parts = self.mechanism.domain.parts
        for at, domain in enumerate(self.domains_of_inputs):
            found += self._published_of(domain, f"value of {self.inputs[at]!r}" if of_parts else "value")
        return tuple(found)

    def _published_of(self, domain: Domain, value: str) -> list[str]:
        """What is revealed about every value of one input."""
        found = []
        on_a_line = domain.has_ends
        # A set has no ends: even in tuples whose numbers are clamped, values outside the set are refused.
        if self.outside_as is None and (self.outside == "error" or not on_a_line):
            what = f"outside {domain}" if not domain.by_row else "outside the set"
            found.append(f"that no {value} is {what} (outside = {self.outside!r})")
        whole = domain.whole and not domain.by_row and domain.labels is None
        if on_a_line or whole:
            found.append(f"that every {value} is {'a whole number' if whole else 'a number'}")
        return found


def _option(name: str) -> str:
    """How to give a replacement value, in Python and in a plan file."""
    return f"{name}_as (in a plan file, {name} = {{ as = … }})"


def _label_problem(mechanism: Mechanism) -> str | None:
    """Why the reports of a mechanism do not fit a column, if they do not."""
    if mechanism.flat or not mechanism.outputs.own_labels:
        return None
    return (
        f"Expected reports that are values or numbers, got {mechanism!r}, whose reports are other labels; "
        "use numbers as its outputs, or report with mechanism.privatize."
    )


def text_labels(mechanism: Mechanism) -> tuple[str, ...]:
    """The labels of a set if they are text; otherwise none."""
    labels = mechanism.domain.labels
    return labels if labels is not None and isinstance(labels[0], str) else ()


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
    if column.is_position and not _takes_positions(column.mechanism, len(inputs)):
        problems.add(
            f"Expected bp.Points of {len(inputs)} coordinates or bp.Product of {len(inputs)} parts for {len(inputs)} "
            f"input columns, got {domain!r}; use one of these, or one column."
        )


def _takes_positions(mechanism: Mechanism, coordinates: int) -> bool:
    domain = mechanism.domain
    places = domain.coordinates if domain.metric != "callable" else None
    return places is not None and places.shape[1] == coordinates


def _is_value(mechanism: Mechanism, value: object) -> bool:
    try:
        mechanism.domain.encode(value)
    except DataError:
        return False
    return True

"""One private column of a table: which input it is made from, how it is reported, and what that publishes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.domains import Integers, LineDomain, Points, SetDomain
from bipartite.errors import DataError, InputError, Problems, is_one_of, shown
from bipartite.mechanisms.record import composition_problem

if TYPE_CHECKING:
    from bipartite.domains import Outside
    from bipartite.domains.containers import Nulls
    from bipartite.mechanisms import Mechanism

PUBLIC: Final = "public"
"""What stands in a plan for a column that is copied as it is."""


@dataclass(frozen=True, slots=True)
class Column:
    """How one column is reported.

    Parameters
    ----------
    mechanism
        The mechanism of the column. Its promise must be plain ε-LDP, so that the ε of a row is a sum.
    inputs
        The columns it is made from: none for the column of its own name, one to rename, or the coordinates of a
        position, which becomes the nearest of the mechanism's :class:`~bipartite.Points`.
    outside, outside_as
        What happens to a value outside the domain. ``outside="error"`` refuses the row, which publishes that it was
        outside; ``"clip"`` moves a number to the nearest end, and a position to its nearest point however far;
        ``outside_as="other"`` takes this value of the domain in its place. Both are private.
    nulls, nulls_as
        What happens to a missing value. ``nulls="error"`` refuses the row, ``"keep"`` leaves it missing: both publish
        that it is missing. ``nulls_as="no answer"`` takes this value of the domain in its place, and is private.
    max_distance
        Of a position: how far its nearest point may be before it counts as outside.
    """

    mechanism: Mechanism
    inputs: tuple[str, ...] = ()
    outside: Outside = "error"
    nulls: Nulls = "error"
    outside_as: Any = None
    nulls_as: Any = None
    max_distance: float = math.inf

    def __post_init__(self) -> None:
        problems = Problems()
        problem = composition_problem("a column", self.mechanism)
        if problem is not None:
            raise InputError(problem)
        if not is_one_of(self.outside, ("error", "clip")):
            problems.add(f"Expected outside='error' or 'clip', got {shown(self.outside)}.")
        if not is_one_of(self.nulls, ("error", "keep")):
            problems.add(f"Expected nulls='error' or 'keep', got {shown(self.nulls)}.")
        if self.outside == "clip" and isinstance(self.mechanism.domain, SetDomain) and not self.is_position:
            problems.add(
                f"outside='clip' has no meaning on a set, which has no ends; name a value with {_as('outside')}."
            )
        if self.is_position and not _takes_positions(self.mechanism, len(self.inputs)):
            problems.add(
                f"Expected bp.Points of {len(self.inputs)} coordinates for a column made from {len(self.inputs)} "
                f"columns, got {self.mechanism.domain!r}; use bp.Points, or one column."
            )
        for name, given in (("outside", self.outside_as), ("nulls", self.nulls_as)):
            if given is not None and not _is_value(self.mechanism, given):
                problems.add(
                    f"Expected {_as(name)} as a value of the domain, got {shown(given)}; add it to the domain."
                )
        if not (type(self.max_distance) in {int, float} and self.max_distance >= 0):
            problems.add(f"Expected max_distance ≥ 0, got {shown(self.max_distance)}.")
        elif not self.is_position and self.max_distance < math.inf:
            problems.add("max_distance belongs to a column made from coordinates; leave it out.")
        problems.raise_if_any(InputError)

    @property
    def is_position(self) -> bool:
        """Whether the column is made from coordinates."""
        return len(self.inputs) > 1

    @property
    def may_be_null(self) -> bool:
        """Whether reports may be missing, by the options alone."""
        return self.nulls == "keep" and self.nulls_as is None

    @property
    def domain_outside(self) -> Outside:
        """What the domain itself does with values outside it: a set has no ends to clamp them to."""
        return "error" if isinstance(self.mechanism.domain, SetDomain) else self.outside

    @property
    def publishes(self) -> tuple[str, ...]:
        """What the output tells beside what ε covers, in words."""
        found = []
        if self.nulls_as is None:
            found.append(
                "which values are missing (nulls = 'keep')"
                if self.nulls == "keep"
                else "that no value is missing (nulls = 'error')"
            )
        domain = self.mechanism.domain
        refuses = self.outside == "error" and self.outside_as is None
        if self.is_position:
            if refuses and self.max_distance < math.inf:
                found.append(f"that no position is farther than {self.max_distance:g} from a point (outside = 'error')")
        elif refuses:
            what = f"outside {domain}" if isinstance(domain, LineDomain) else "outside the set"
            found.append(f"that no value is {what} (outside = 'error')")
        if isinstance(domain, Integers):
            found.append("that every value is a whole number")
        elif self.is_position:
            found.append("that every value is a position")
        elif isinstance(domain, LineDomain):
            found.append("that every value is a number")
        return tuple(found)


def _as(name: str) -> str:
    """How a value that stands for others is given, here and in a file."""
    return f"{name}_as (in a plan file, {name} = {{ as = … }})"


def text_labels(mechanism: Mechanism) -> tuple[str, ...]:
    """The labels of a set where they are texts; none elsewhere."""
    labels = mechanism.domain.labels
    return labels if labels is not None and isinstance(labels[0], str) else ()


def _takes_positions(mechanism: Mechanism, coordinates: int) -> bool:
    domain = mechanism.domain
    return isinstance(domain, Points) and domain.metric != "callable" and domain.coordinates.shape[1] == coordinates


def _is_value(mechanism: Mechanism, value: object) -> bool:
    try:
        mechanism.domain.encode(value)
    except DataError:
        return False
    return True

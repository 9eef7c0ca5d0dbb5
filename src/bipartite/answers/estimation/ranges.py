"""Public ranges of a line, or arcs of a circle: a number of about equal ones, or between given edges."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from bipartite.answers.estimation.intervals import ConfidenceInterval
from bipartite.answers.estimation.question import line_of
from bipartite.errors import InputError, shown
from bipartite.lottery.checks import is_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.domains import Domain, LineDomain

    Bins = int | Iterable[Any]
    Span = tuple[int, int]

RANGES: Final = 10
_NEAR: Final = 1e-9  # of a step: an edge written in decimals may be off by rounding


@dataclass(frozen=True, slots=True)
class RangeShare:
    """The share of people whose value lies in a public range."""

    first: float
    last: float
    share: float
    low: float
    high: float
    """``low`` and ``high`` are the interval of the share."""
    confidence: float
    note: str = ""

    @property
    def interval(self) -> ConfidenceInterval:
        """The interval of the share, with its confidence and note."""
        return ConfidenceInterval(self.low, self.high, self.confidence, self.note)


def spans(domain: Domain, bins: Bins, found: Identifiability | None) -> list[Span]:
    """(index of the first value, number of values) of each range; it depends only on the domain and the mechanism.

    If ``bins`` is a number, the ranges have about equally many values. Neighbours that the reports cannot tell apart
    are in one range, so there may be a few ranges more or fewer. Edges are kept as they are.
    """
    circle = domain.wraps
    size = len(domain if circle else line_of(domain))
    if is_whole(bins) and bins >= 1:
        starts = np.linspace(0, size, min(int(bins), size) + 1).round().astype(np.int64)
        starts = starts[:-1] if circle or found is None else _whole_groups(starts[:-1], found)
    elif is_whole(bins) or isinstance(bins, (str, bytes, float)) or not isinstance(bins, Iterable):
        raise InputError(
            f"Expected bins as a number of ranges of at least 1, or a list of public edges, got {shown(bins)}."
        )
    else:
        starts = np.array(_on_a_circle(domain, list(bins)) if circle else _on_a_line(line_of(domain), list(bins)))
    after = np.append(starts[1:], starts[0] + size)
    return list(zip(starts.tolist(), (after - starts).tolist(), strict=True))


def range_shares(estimate: Estimate, cut: list[Span], confidence: float) -> list[RangeShare]:
    """The shares of these ranges, with their intervals, as they are asked for one by one."""
    numbers = estimate.domain.numbers if estimate.domain.wraps else line_of(estimate.domain)
    size, found = len(numbers), []
    for first, count in cut:
        inside = np.arange(first, first + count) % size
        weights = np.zeros(size)
        weights[inside] = 1.0
        answer = estimate.ask(weights)
        interval = answer.ci(confidence)
        ends = float(numbers.decode(first)), float(numbers.decode(inside[-1]))
        found.append(RangeShare(*ends, answer.value, *interval, interval.confidence, interval.note))
    return found


def reusable_bins(bins: Bins) -> Bins:
    """Bins that can be used several times, even if they are an iterator."""
    return list(bins) if isinstance(bins, Iterable) and not isinstance(bins, (str, bytes)) else bins


def splits(found: Identifiability | None, span: Span) -> bool:
    """Whether a range contains some, but not all, of a group of values that the reports cannot tell apart."""
    if found is None:
        return False
    inside = np.arange(span[0], sum(span)) % len(found.domain)
    within = np.bincount(found.group_of[inside], minlength=found.rows)
    return bool(((within > 0) & (within < np.bincount(found.group_of, minlength=found.rows))).any())


def _whole_groups(starts: NDArray[np.int64], found: Identifiability) -> NDArray[np.int64]:
    """Starts that cut no run of indistinguishable neighbours: a run that would be cut becomes a range of its own."""
    size = len(found.group_of)
    ends = np.append(np.flatnonzero(np.diff(found.group_of)) + 1, size)
    begins = np.append(0, ends[:-1])
    run = np.searchsorted(begins, starts, side="right") - 1
    cut = np.unique(run[begins[run] < starts])
    bounds = np.unique(np.concatenate([[0, size], begins[cut], ends[cut]]))
    found_starts = []
    for first, last in pairwise(bounds.tolist()):
        parts = 1 if first in begins[cut] else max(1, round((last - first) * len(starts) / size))
        found_starts.append(np.linspace(first, last, parts + 1).round().astype(np.int64)[:-1])
    # A run that is cut now is short, and goes to the range before.
    new = np.concatenate(found_starts)
    return np.unique(begins[np.searchsorted(begins, new, side="right") - 1])


def _on_a_line(domain: LineDomain, edges: list[Any]) -> list[int]:
    """The starts of ranges: the first value and every edge; a last edge at the last value ends the last range."""
    values = domain.to_numpy().astype(np.float64)
    low, high = float(values[0]), float(values[-1])
    step = float(values[1] - values[0]) if len(values) > 1 else 1.0
    if not edges or not all(is_number(edge) for edge in edges):
        raise InputError(f"Expected bins as edges that are numbers, such as [30, 45, 65], got {shown(edges)}.")
    numbers = [float(edge) for edge in edges]
    if any(not low - _NEAR * step <= edge <= high + _NEAR * step for edge in numbers):
        wrong = next(edge for edge in numbers if not low <= edge <= high)
        raise InputError(
            f"Expected bins with edges from {low:.6g} to {high:.6g}, within the domain, got {wrong:.6g}; leave it out."
        )
    inner = numbers[:-1] if len(numbers) > 1 and abs(numbers[-1] - high) <= _NEAR * step else numbers
    at = [int(each) for each in np.searchsorted(values, np.array(inner) - _NEAR * step)]
    found = at if at[0] == 0 else [0, *at]
    if any(one >= other for one, other in pairwise(found)):
        raise InputError(
            f"Expected bins with ascending edges and a value of the domain in every range, got {shown(edges)}."
        )
    return found


def _on_a_circle(domain: Domain, edges: list[Any]) -> list[int]:
    """The starts of arcs: every edge; the last arc continues past the last value, up to the first edge."""
    found = sorted(domain.encode(edge) for edge in edges)
    if not found or len(set(found)) < len(found):
        raise InputError(
            f"Expected bins as distinct values where arcs begin, such as [0, 6, 12, 18], got {shown(edges)}."
        )
    return found


def is_number(given: object) -> TypeGuard[float]:
    """Whether this is a finite number."""
    if isinstance(given, bool) or not isinstance(given, (int, float, np.integer, np.floating)):
        return False
    return math.isfinite(float(given))

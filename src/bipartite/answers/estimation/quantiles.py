"""Intervals of quantiles that hold without assuming that the histogram is smooth.

A step at one value is hard to see through a window, a ramp of d values is easy, and the ramp suffices: with F the share
of people up to a value and R(t) the average of F over the values t − d … t, F rises, so R(t) ≤ F(t) ≤ R(t + d). Then

- Q, the least value with F(Q) ≥ q, is above t whenever R(t + d) is surely below q,
- and not above t whenever R(t) is surely at least q.

Each end of the interval is wrong only if the one test at Q itself (or just before it) is wrong. A narrow ramp has noisy
scores and a wide one a wide interval; d is chosen for the sum of both under a uniform population, from public numbers.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bipartite.answers.estimation.evidence import Evidence
    from bipartite.answers.estimation.scores import Scores

    Array = NDArray[np.float64]

_MOST_NUMBERS: Final = 2**26
_MOST_KEPT: Final = 2**19
_LEAST_TESTS: Final = 65
_MOST_TESTS: Final = 513
_WIDTH: Final = 2.0  # standard errors, where the ramp is chosen


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Estimates of R at some rows."""

    means: Array
    errors: Array
    """Their standard errors."""
    spreads: Array
    """The largest minus the least score of a report."""


@dataclass(frozen=True, slots=True, eq=False)
class Ramps:
    """Estimates of R(t) and of R(t + d) at some rows t."""

    tested: NDArray[np.int64]
    below: Side
    above: Side

    def interval(self, q: float, half: Callable[[Side], Array]) -> tuple[int, int]:
        """The first and the last row that may be the quantile; ``half`` is how far off the estimates may be."""
        # All rows up to the last one tested before the first that is not surely below q are ruled out.
        maybe = np.flatnonzero(self.above.means + half(self.above) >= q)
        first = int(maybe[0]) if len(maybe) else len(self.tested)
        low = int(self.tested[first - 1]) + 1 if first else 0
        # From the row after the last that is not surely at least q, all are large enough.
        unsure = np.flatnonzero(self.below.means - half(self.below) < q)
        last = int(unsure[-1]) + 1 if len(unsure) else 0
        high = int(self.tested[min(last, len(self.tested) - 1)])
        return min(low, high), high

    def crossing(self, q: float) -> int:
        """The row where the share up to it, taken halfway between R(t) and R(t + d), first reaches q."""
        halfway = np.maximum.accumulate((self.below.means + self.above.means) / 2)
        at = int(np.searchsorted(halfway, q))
        if at == 0 or at == len(halfway):
            return int(self.tested[min(at, len(halfway) - 1)])
        # Between two rows that were tested, in proportion.
        before, after = self.tested[at - 1], self.tested[at]
        part = (q - halfway[at - 1]) / (halfway[at] - halfway[at - 1])
        return math.ceil(float(before + part * (after - before)))

    def around(self, row: int, half: Callable[[Side], Array]) -> tuple[float, float]:
        """The least and the largest share up to a row: R at the row tested at or before it, R(t + d) at or after."""
        before = int(np.searchsorted(self.tested, row, side="right")) - 1
        after = int(np.searchsorted(self.tested, row))
        # Estimates are first moved to where a share can be, so that what is left of the interval is never nothing.
        low = float((np.clip(self.below.means, 0, 1) - half(self.below))[before])
        high = float((np.clip(self.above.means, 0, 1) + half(self.above))[after])
        return max(min(low, high), 0.0), min(max(low, high), 1.0)


class RampScores:
    """The scores of ramps: they depend on the mechanism and, by their width, on how many people reported."""

    def __init__(self, scores: Scores, uniform: Array) -> None:
        """For rows in the order of values, all identifiable; ``uniform`` is the law of equally likely values."""
        self._scores, self._uniform = scores, uniform
        self._tested = _tested(scores.rows, scores.outputs)
        self._kept: tuple[int, list[_Block]] | None = None

    def ramps(self, evidence: Evidence, *, of_sample: bool) -> Ramps:
        """Ramps as wide as is best for so many reports, estimated from these."""
        d = self._width(evidence.effective)
        count = len(self._tested)
        means, errors, spreads = np.empty((3, 2 * count))
        for block in self._blocks(d):
            part = slice(block.first, block.first + len(block.u))
            means[part] = evidence.mean(block.u)
            variance = evidence.variance(block.u)
            if of_sample:
                squares = _scores_of(self._scores, _answers(self._scores.rows, block.ends, d) ** 2)
                variance = evidence.own_variance(block.u, squares)
            errors[part] = np.sqrt(variance)
            spreads[part] = block.spreads
        sides = [
            Side(*(each[part] for each in (means, errors, spreads))) for part in (slice(count), slice(count, None))
        ]
        return Ramps(self._tested, *sides)

    def _blocks(self, d: int) -> Iterable[_Block]:
        """The scores of all ramps, first those that end at the rows tested, then those that end d later."""
        kept = self._kept
        if kept is not None and kept[0] == d:
            return kept[1]
        blocks = self._made(d)
        if 2 * len(self._tested) * self._scores.outputs > _MOST_KEPT:
            return blocks
        # A whole new tuple, so that threads that ask for different widths do not mix them.
        self._kept = d, list(blocks)
        return self._kept[1]

    def _made(self, d: int) -> Iterator[_Block]:
        ends = np.concatenate([self._tested, self._tested + d])
        size = max(1, _MOST_NUMBERS // 8 // self._scores.outputs)
        for first in range(0, len(ends), size):
            part = ends[first : first + size]
            u = _scores_of(self._scores, _answers(self._scores.rows, part, d))
            yield _Block(first, part, u, u.max(axis=1) - u.min(axis=1))

    def _width(self, people: float) -> int:
        """The d with the narrowest interval of the median of a uniform population."""
        return _narrowest(self._scores.rows, self._variances, people)

    @functools.cached_property
    def _variances(self) -> dict[int, float]:
        """For some widths the variance of one report's score in the middle of a uniform population."""
        rows, uniform = self._scores.rows, self._uniform
        found = {}
        for d in _widths(rows):
            u = _scores_of(self._scores, _in_the_middle(rows, d))
            found[d] = max(float(uniform @ u**2 - (uniform @ u) ** 2), 0.0)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """The scores u of the ramps with these ends, from the first-th on."""

    first: int
    ends: NDArray[np.int64]
    u: Array
    spreads: Array


def _answers(rows: int, ends: NDArray[np.int64], d: int) -> Array:
    """The answers R at these ends: 1 up to end − d, then falling to 0 after the end."""
    return np.clip((ends[:, None] - np.arange(rows) + 1) / (d + 1), 0.0, 1.0)


def _scores_of(scores: Scores, w: Array) -> Array:
    found = scores.of(w)
    if found is None:
        msg = "ramps are for rows that are all identifiable"
        raise AssertionError(msg)
    return found


def flat_ramps(rows: int, people: float, sides: Callable[[Array], Side], variance: Callable[[Array], float]) -> Ramps:
    """Ramps where reports have no scores of their own, by what estimates many answers at once, one a row.

    ``variance`` is that of one report's part in an answer, for a uniform population.
    """
    tested = _tested(rows, rows)
    d = _narrowest(rows, {d: variance(_in_the_middle(rows, d)) for d in _widths(rows)}, people)
    size = max(1, _MOST_NUMBERS // 8 // rows)
    found = []
    for shift in (0, d):
        ends = [tested[first : first + size] + shift for first in range(0, len(tested), size)]
        parts = [sides(_answers(rows, some, d)) for some in ends]
        found.append(
            Side(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("means", "errors", "spreads")))
        )
    return Ramps(tested, *found)


def _tested(rows: int, width: int) -> NDArray[np.int64]:
    """The rows at which ramps end, spread evenly; an answer takes ``width`` numbers."""
    most = min(max(_MOST_NUMBERS // width, _LEAST_TESTS), _MOST_TESTS, rows)
    tested = np.unique(np.linspace(0, rows - 1, most).round().astype(np.int64))
    # Estimates share it.
    tested.flags.writeable = False
    return tested


def _widths(rows: int) -> list[int]:
    widths = [0]
    while 2 * (widths[-1] + 1) < rows // 2:
        widths.append(2 * widths[-1] + 1)
    return widths


def _in_the_middle(rows: int, d: int) -> Array:
    found: Array = _answers(rows, np.array([(rows + d) // 2]), d)[0]
    return found


def _narrowest(rows: int, variances: dict[int, float], people: float) -> int:
    """The width with the narrowest interval of the median of a uniform population."""
    costs = {d: d / rows + 2 * _WIDTH * math.sqrt(variance / people) for d, variance in variances.items()}
    return min(costs, key=costs.__getitem__)

"""Intervals of quantiles that hold without assuming that the histogram is smooth.

A step at one value is hard to see through a window, a ramp of d values is easy, and the ramp suffices: with F the share
of people up to a value and R(t) the average of F over the values t − d … t, F rises, so R(t) ≤ F(t) ≤ R(t + d). Then

- Q, the least value with F(Q) ≥ q, is above t whenever R(t + d) is surely below q,
- and not above t whenever R(t) is surely at least q.

Each end of the interval is wrong only if the one test at Q itself (or just before it) is wrong. A narrow ramp has noisy
scores and a wide one a wide interval; d is chosen for the sum of both under a uniform population, from public numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.estimation.evidence import Evidence
    from bipartite.estimation.scores import Scores

    Array = NDArray[np.float64]

_MOST_NUMBERS: Final = 2**26
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

    def around(self, row: int, half: Callable[[Side], Array]) -> tuple[float, float]:
        """The least and the largest share up to a row: R at the row tested at or before it, R(t + d) at or after."""
        before = int(np.searchsorted(self.tested, row, side="right")) - 1
        after = int(np.searchsorted(self.tested, row))
        low = (self.below.means - half(self.below))[before]
        high = (self.above.means + half(self.above))[after]
        return max(float(low), 0.0), min(float(high), 1.0)


def ramps(scores: Scores, evidence: Evidence, uniform: Array, *, of_sample: bool) -> Ramps:
    """Ramps over rows that are in the order of values, all identifiable; ``uniform`` is the law of equal values."""
    most = min(max(_MOST_NUMBERS // scores.outputs, _LEAST_TESTS), _MOST_TESTS, scores.rows)
    tested = np.unique(np.linspace(0, scores.rows - 1, most).round().astype(np.int64))
    d = _ramp(scores, evidence, uniform)
    below, above = (_estimates(scores, evidence, tested + shift, d, of_sample=of_sample) for shift in (0, d))
    return Ramps(tested, below, above)


def _answers(rows: int, ends: NDArray[np.int64], d: int) -> Array:
    """The answers R at these ends: 1 up to end − d, then falling to 0 after the end."""
    return np.clip((ends[:, None] - np.arange(rows) + 1) / (d + 1), 0.0, 1.0)


def _estimates(scores: Scores, evidence: Evidence, ends: NDArray[np.int64], d: int, *, of_sample: bool) -> Side:
    means, errors, spreads = np.empty((3, len(ends)))
    block = max(1, _MOST_NUMBERS // 8 // scores.outputs)
    for first in range(0, len(ends), block):
        part = slice(first, first + block)
        w = _answers(scores.rows, ends[part], d)
        u = _scores_of(scores, w)
        means[part] = evidence.mean(u)
        variance = evidence.own_variance(u, _scores_of(scores, w**2)) if of_sample else evidence.variance(u)
        errors[part] = np.sqrt(variance)
        spreads[part] = u.max(axis=1) - u.min(axis=1)
    return Side(means, errors, spreads)


def _scores_of(scores: Scores, w: Array) -> Array:
    found = scores.of(w)
    if found is None:
        msg = "ramps are for rows that are all identifiable"
        raise AssertionError(msg)
    return found


def _ramp(scores: Scores, evidence: Evidence, uniform: Array) -> int:
    """The d with the narrowest interval of the median of a uniform population."""
    widths = [0]
    while 2 * (widths[-1] + 1) < scores.rows // 2:
        widths.append(2 * widths[-1] + 1)

    def cost(d: int) -> float:
        u = _scores_of(scores, _answers(scores.rows, np.array([(scores.rows + d) // 2]), d)[0])
        variance = max(float(uniform @ u**2 - (uniform @ u) ** 2), 0.0) / evidence.effective
        return d / scores.rows + 2 * _WIDTH * math.sqrt(variance)

    return min(widths, key=cost)

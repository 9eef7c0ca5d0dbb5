"""Intervals of quantiles that hold without assuming that the histogram is smooth.

A step at one value is hard to see through a window, a ramp of d values is easy, and the ramp suffices: with F the share
of people up to a value and R(t) the average of F over the values t − d … t, F rises, so R(t) ≤ F(t) ≤ R(t + d). Then

- Q, the least value with F(Q) ≥ q, is above t whenever R(t + d) is surely below q,
- and not above t whenever R(t) is surely at least q.

Each end of the interval is wrong only if the one test at Q itself (or just before it) is wrong. A narrow ramp has noisy
scores and a wide one a wide interval; d is chosen for the sum of both under a uniform population, from public numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

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


def ramps(rows: int, width: int, sides: Callable[[Array], Side], error: Callable[[Array], float]) -> Ramps:
    """Ramps over rows that are in the order of values, all identifiable.

    ``sides`` estimates many answers, one a row, at a cost of ``width`` numbers each; ``error`` is the standard error of
    one for a uniform population.
    """
    most = min(max(_MOST_NUMBERS // width, _LEAST_TESTS), _MOST_TESTS, rows)
    tested = np.unique(np.linspace(0, rows - 1, most).round().astype(np.int64))
    d = _ramp(rows, error)
    below, above = (_estimates(rows, width, sides, tested + shift, d) for shift in (0, d))
    return Ramps(tested, below, above)


def _answers(rows: int, ends: NDArray[np.int64], d: int) -> Array:
    """The answers R at these ends: 1 up to end − d, then falling to 0 after the end."""
    return np.clip((ends[:, None] - np.arange(rows) + 1) / (d + 1), 0.0, 1.0)


def _estimates(rows: int, width: int, sides: Callable[[Array], Side], ends: NDArray[np.int64], d: int) -> Side:
    means, errors, spreads = np.empty((3, len(ends)))
    block = max(1, _MOST_NUMBERS // 8 // width)
    for first in range(0, len(ends), block):
        part = slice(first, first + block)
        found = sides(_answers(rows, ends[part], d))
        means[part], errors[part], spreads[part] = found.means, found.errors, found.spreads
    return Side(means, errors, spreads)


def _ramp(rows: int, error: Callable[[Array], float]) -> int:
    """The d with the narrowest interval of the median of a uniform population."""
    widths = [0]
    while 2 * (widths[-1] + 1) < rows // 2:
        widths.append(2 * widths[-1] + 1)

    def cost(d: int) -> float:
        return d / rows + 2 * _WIDTH * error(_answers(rows, np.array([(rows + d) // 2]), d)[0])

    return min(widths, key=cost)

r"""The mean direction and the spread of values on a circle: two scores of each report, and Fieller's interval.

The value with index x has the angle θ = 2πx/N. The averages C of cos θ and S of sin θ over people are averages of
scores, so they are estimated without bias. The vector v = (C, S) has a length R between 0 (no preferred direction) and
1 (all people at one value), and points to the **circular mean**. R is the **resultant length**, √(−2 ln R)·N/2π the
**circular spread**, in steps.

- *Direction.* It is determined if the component of v along its own direction is surely above zero: by the interval
  whose normal width is that of χ² with two degrees of freedom, because the direction was found in the same data. At
  95 % confidence, 95 % of samples from a population without a preferred direction give the answer **not determined**.
  Otherwise the interval contains all directions for which the component of v perpendicular to them may be zero
  (Fieller 1954): an arc around the mean.
- *Length.* The estimated |v|² overestimates R² by the variances of C and S on average. So R² is estimated by
  Q = |v|² − tr Σ, with Σ the covariance of v. Its variance is 4·R²·σ² + 2·tr Σ², with σ the error of v along its own
  direction (as wide as the interval of that component on either side, so that rare values count), and the interval
  contains all R for which |Q − R²| is at most z standard errors *at that R*: it is valid at R = 0.
- *Indistinguishable values:* C and S each have an interval with half of the error probability, and the result contains
  all directions, or lengths, of points in the box of the two.

Mardia, Jupp: *Directional Statistics* (Wiley 2000), chapters 2 and 4. That intervals keep their confidence is measured
(``bench/answers``), not proved.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.answer import Answer
from bipartite.answers.estimation.intervals import FEW, ConfidenceInterval, chi_square_quantile, normal_width
from bipartite.answers.estimation.question import CIRCULAR, circle_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.source import Source

    Array = NDArray[np.float64]

_UNDETERMINED: Final = "the direction is not determined: the reports do not rule out that no direction is preferred"
_AROUND: Final = "from the first number up, past the last value, around to the second"
NOT_KNOWN: Final = "the reports cannot tell all values apart, so no number of them would narrow this"
_TURN: Final = 2 * math.pi
_HALVINGS: Final = 30


class Circular:
    """The mean direction and the spread of one estimate."""

    def __init__(self, source: Source, histogram: Callable[[], Histogram]) -> None:
        self._domain, self._histogram = circle_of(source.domain), histogram
        angles = self._domain.angles()
        self._waves = np.stack([np.cos(angles), np.sin(angles)])
        self._sample = source.sample(self._waves)
        self._vector: Array = self._waves @ histogram().shares if self._sample is None else self._sample.mean
        self._angle = math.atan2(self._vector[1], self._vector[0])
        # A single report has no variance.
        self._noise = np.zeros((2, 2)) if self._sample is None else np.nan_to_num(self._sample.cov)
        self._squared = float(self._vector @ self._vector) - float(self._noise.trace())

    def answer(self, kind: str) -> Answer:
        """The answer to one of the circular questions."""
        length = math.sqrt(min(max(self._squared, 0.0), 1.0))
        direction = self._number(self._angle) if self._vector.any() else math.nan
        values = direction, length, self._spread_of(length)
        intervals = self._directions, functools.partial(self._lengths, length), functools.partial(self._spreads, length)
        at = CIRCULAR.index(kind)
        return Answer(values[at], math.nan, intervals[at])

    def _directions(self, confidence: float) -> ConfidenceInterval:
        """An arc from its first end up to its second."""
        ends, notes = self._arc(confidence), [] if self._sample is not None else [NOT_KNOWN]
        if ends is None:
            start = float(self._domain.start)
            note = "; ".join([*notes, _UNDETERMINED])
            return ConfidenceInterval(start, start + len(self._domain), confidence, note)
        low, high = (self._number(end) for end in ends)
        notes += [_AROUND] if high < low else []
        return ConfidenceInterval(low, high, confidence, "; ".join(notes))

    def _arc(self, confidence: float) -> tuple[float, float] | None:
        """The ends of the arc, as angles; None if the direction is not determined."""
        if self._sample is None:
            return _angles_of_box(*self._box(confidence), self._angle)
        if not self._vector.any() or self._along(0.0, self._of_both(confidence))[0] <= 0:
            return None
        return self._angle - self._reach(-1, confidence), self._angle + self._reach(1, confidence)

    @staticmethod
    def _of_both(confidence: float) -> float:
        """The confidence of one component with the normal width of two: √χ² with two degrees of freedom."""
        return math.erf(math.sqrt(chi_square_quantile(confidence, 2) / 2))

    def _reach(self, side: int, confidence: float) -> float:
        """How far directions reach to one side: as long as the component perpendicular to them may be zero."""
        low, high = 0.0, math.pi / 2
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            first, last = self._along(side * middle + math.pi / 2, confidence)
            low, high = (middle, high) if first <= 0 <= last else (low, middle)
        return high

    def _along(self, turned: float, confidence: float) -> tuple[float, float]:
        """The interval of the component of v in a direction, turned from its own."""
        assert self._sample is not None  # noqa: S101 (asked before)
        angle = self._angle + turned
        return self._sample.combined(np.array([[math.cos(angle), math.sin(angle)]])).ends(0, confidence)

    def _lengths(self, length: float, confidence: float) -> ConfidenceInterval:
        if self._sample is None:
            least, most = self._box(confidence)
            nearest, farthest = np.clip(0.0, least, most), np.maximum(np.abs(least), np.abs(most))
            ends, note = (math.hypot(*nearest.tolist()), math.hypot(*farthest.tolist())), NOT_KNOWN
        else:
            z, note, size = normal_width(confidence), "", math.hypot(*self._vector.tolist())
            arms = [abs(end - size) / z for end in self._along(0.0, confidence)]
            ends = self._root(z, arms[0])[0], self._root(z, arms[1])[1]
            if self._sample.n < FEW or ends[0] > 1:
                # Variances of so few reports tell little: what the component along v may be, wherever it points.
                low, high = self._along(0.0, self._of_both(confidence))
                ends = (max(low, 0.0), high) if low <= 1 else (0.0, 1.0)
        return ConfidenceInterval(min(ends[0], length), min(max(ends[1], length), 1.0), confidence, note)

    def _root(self, z: float, error: float) -> tuple[float, float]:
        """The smallest and the largest R with |Q − R²| ≤ z·√(4·R²·σ² + 2·tr Σ²): roots of a quadratic in R²."""
        middle = self._squared + 2 * z**2 * error**2
        reach = math.sqrt(max(middle**2 - self._squared**2 + 2 * z**2 * float((self._noise**2).sum()), 0.0))
        return math.sqrt(max(middle - reach, 0.0)), math.sqrt(max(middle + reach, 0.0))

    def _spreads(self, length: float, confidence: float) -> ConfidenceInterval:
        """A decreasing function of the length."""
        found = self._lengths(length, confidence)
        return ConfidenceInterval(self._spread_of(found.high), self._spread_of(found.low), confidence, found.note)

    def _spread_of(self, length: float) -> float:
        return math.sqrt(2 * math.log(1 / length)) * len(self._domain) / _TURN if length > 0 else math.inf

    def _number(self, angle: float) -> float:
        """An angle as a number of the domain, from its first value on."""
        steps = angle % _TURN / _TURN * len(self._domain)
        return self._domain.start + (0.0 if steps >= len(self._domain) else steps)

    def _box(self, confidence: float) -> tuple[Array, Array]:
        """Bounds on C and S where the reports do not determine them."""
        each = 1 - (1 - confidence) / 2
        low, high = np.array([self._histogram().interval(w, each) for w in self._waves]).T
        return low, high


def _angles_of_box(low: Array, high: Array, angle: float) -> tuple[float, float] | None:
    """The smallest and the largest angle of the points of a box around ``angle``; None if it contains the origin."""
    if ((low <= 0) & (high >= 0)).all():
        return None
    corners = [math.atan2(y, x) for x in (low[0], high[0]) for y in (low[1], high[1])]
    # A box without the origin spans less than half a turn.
    off = [(corner - angle + math.pi) % _TURN - math.pi for corner in corners]
    return angle + min(*off, 0.0), angle + max(*off, 0.0)

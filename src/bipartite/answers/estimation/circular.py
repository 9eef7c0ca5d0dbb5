r"""The mean direction and the spread of values on a circle, from the averages of cosine and sine.

The value with index x has the angle θ = 2πx/N. The averages C of cos θ and S of sin θ over people are linear answers,
so they are estimated without bias. The vector v = (C, S) has a length R between 0 (no preferred direction) and 1 (all
people at one value), and points to the **circular mean**. R is the **resultant length**, √(−2 ln R)·N/2π the **circular
spread**, in steps.

- *Length.* The estimated |v|² overestimates R² by the variances of C and S on average. So R² is estimated by Q = |v|² −
  tr Σ, with Σ the covariance of v. Its variance is 4·R²·σ² + 2·tr Σ², with σ² the variance of v along its own
  direction, and the interval contains all R for which |Q − R²| is at most z standard errors *at that R*: it is valid at
  R = 0, where the delta method is not.
- *Direction.* If the reports do not rule out v = 0 (χ² with two degrees of freedom), **the direction is not
  determined**: at 95 % confidence, that is the result for 95 % of samples from a population without a preferred
  direction. Otherwise the interval contains all directions for which the component of v perpendicular to them may be
  zero (Fieller 1954): an arc around the mean.
- *Few reports, or indistinguishable values:* C and S each have an interval with half of the error
  probability, and the result contains all directions, or lengths, of points in the box of the two.

Mardia, Jupp: *Directional Statistics* (Wiley 2000), chapters 2 and 4. That intervals keep their confidence is measured
(``docs/values-that-go-around``) and, except for the box with few reports, not proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.asking import CIRCULAR, circle_of
from bipartite.answers.estimation.intervals import (
    FEW,
    ConfidenceInterval,
    bounded_width,
    chi_square_quantile,
    few_note,
    normal_width,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.asking import Question
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.linear import LinearAnswers

    Array = NDArray[np.float64]

_UNDETERMINED: Final = "the direction is not determined: the reports do not rule out that no direction is preferred"
_AROUND: Final = "from the first number up, past the last value, around to the second"
_NOT_KNOWN: Final = "the reports cannot tell all values apart, so that no number of them would narrow this"
_TURN: Final = 2 * math.pi


@dataclass(frozen=True, slots=True)
class _Box:
    """Intervals for C and S."""

    low: Array
    high: Array
    note: str


class CircularAnswers:
    """The mean direction and the spread of one estimate."""

    def __init__(self, answers: LinearAnswers, histogram: Callable[[], Histogram]) -> None:
        self._answers, self._histogram = answers, histogram
        self._from_origin: dict[int, Histogram] = {}
        self._domain = circle_of(answers.domain)
        angles = self._domain.angles()
        self._waves = np.stack([np.cos(angles), np.sin(angles)])
        found = [answers.answer(w) for w in (*self._waves, self._waves.sum(axis=0))]
        cosine, sine, both = found
        self._covariance: Array | None = None
        if cosine is None or sine is None or both is None:
            self._vector: Array = self._waves @ histogram().frequencies
            return
        self._vector = np.array([cosine.value, sine.value])
        variances = [each.standard_error**2 for each in (cosine, sine, both)]
        shared = (variances[2] - variances[0] - variances[1]) / 2
        # A single report has no variance; then only the box is used.
        self._covariance = np.nan_to_num([[variances[0], shared], [shared, variances[1]]])
        self._spreads = np.array([cosine.spread, sine.spread])

    @property
    def mean(self) -> float:
        """The circular mean; NaN if no direction is preferred."""
        return self._number(self._angle) if self._vector.any() else math.nan

    @property
    def length(self) -> float:
        """The resultant length."""
        return math.sqrt(min(max(self._squared, 0.0), 1.0))

    @property
    def spread(self) -> float:
        """The circular spread, in steps; infinite if no direction is preferred."""
        return self._spread_of(self.length)

    def quantile(self, q: float, origin: int) -> float:
        """The first value, counting up from index ``origin``, at which the cumulative share reaches q."""
        return self._value(self._from(origin).quantile(q), origin)

    def interval(self, asked: Question, sure: float) -> ConfidenceInterval:
        """The interval of a quantile, or of a circular answer."""
        if asked.kind == "quantile":
            low, high, note = self._from(asked.origin).quantile_interval(float(asked.q), sure)
            return ConfidenceInterval(self._value(low, asked.origin), self._value(high, asked.origin), sure, note)
        asking = dict(zip(CIRCULAR, (self.mean_interval, self.length_interval, self.spread_interval), strict=True))
        return asking[asked.kind](sure)

    def mean_interval(self, sure: float) -> ConfidenceInterval:
        """The interval of the mean direction: an arc from its first end up to its second."""
        box = self._box(sure)
        ends = self._fieller(sure) if box is None else _angle_range(box, self._angle)
        notes = [] if box is None else [box.note]
        start = float(self._domain.start)
        if ends is None:
            return ConfidenceInterval(start, start + len(self._domain), sure, "; ".join([*notes, _UNDETERMINED]))
        low, high = (self._number(end) for end in ends)
        notes += [_AROUND] if high < low else []
        return ConfidenceInterval(low, high, sure, "; ".join(notes))

    def length_interval(self, sure: float) -> ConfidenceInterval:
        """The interval of the resultant length."""
        box = self._box(sure)
        low, high = self._lengths(normal_width(sure)) if box is None else _length_range(box)
        low, high = min(low, self.length), min(max(high, self.length), 1.0)
        return ConfidenceInterval(low, high, sure, "" if box is None else box.note)

    def spread_interval(self, sure: float) -> ConfidenceInterval:
        """The interval of the circular spread, a decreasing function of the length."""
        low, high, note = *(lengths := self.length_interval(sure)), lengths.note
        return ConfidenceInterval(self._spread_of(high), self._spread_of(low), sure, note)

    def _from(self, origin: int) -> Histogram:
        """The histogram with values indexed from another origin."""
        if origin not in self._from_origin:
            self._from_origin[origin] = self._histogram().from_origin(origin)
        return self._from_origin[origin]

    def _value(self, steps: int, origin: int) -> float:
        """The value this number of steps after the origin, as a number."""
        return float(self._domain.start + (origin + steps) % len(self._domain))

    @property
    def _angle(self) -> float:
        return math.atan2(self._vector[1], self._vector[0])

    @property
    def _squared(self) -> float:
        """Q, an unbiased estimate of R² if C and S are identifiable."""
        noise = 0.0 if self._covariance is None else float(self._covariance.trace())
        return float(self._vector @ self._vector) - noise

    def _number(self, angle: float) -> float:
        """An angle as a number of the domain, from its first value on."""
        steps = angle % _TURN / _TURN * len(self._domain)
        return self._domain.start + (0.0 if steps >= len(self._domain) else steps)

    def _spread_of(self, length: float) -> float:
        return math.sqrt(2 * math.log(1 / length)) * len(self._domain) / _TURN if length > 0 else math.inf

    def _box(self, sure: float) -> _Box | None:
        """Bounds on C and S if the normal approximation does not apply; None if it does."""
        each = 1 - (1 - sure) / 2
        if self._covariance is None:
            low, high = np.array([self._histogram().interval(w, each) for w in self._waves]).T
            return _Box(low, high, _NOT_KNOWN)
        if self._answers.effective >= FEW:
            return None
        off = np.array([bounded_width(spread, self._answers.effective, each) for spread in self._spreads.tolist()])
        return _Box(self._vector - off, self._vector + off, few_note(self._answers.effective))

    def _fieller(self, sure: float) -> tuple[float, float] | None:
        """The ends of the arc of directions perpendicular to which v may be zero; None if v itself may be zero."""
        assert self._covariance is not None  # noqa: S101 (the normal approximation applies)
        outer = np.outer(self._vector, self._vector)
        if np.linalg.eigvalsh(outer - chi_square_quantile(sure, 2) * self._covariance)[1] <= 0:
            return None
        values, vectors = np.linalg.eigh(outer - normal_width(sure) ** 2 * self._covariance)
        half = math.atan(math.sqrt(max(-float(values[0]), 0.0) / float(values[1])))
        # The eigenvector of the larger eigenvalue points along v, or in the opposite direction.
        along = vectors[:, 1] * math.copysign(1.0, float(vectors[:, 1] @ self._vector))
        centre = math.atan2(along[1], along[0])
        return centre - half, centre + half

    def _lengths(self, z: float) -> tuple[float, float]:
        """The smallest and the largest R with |Q − R²| ≤ z·√(4·R²·σ² + 2·tr Σ²): roots of a quadratic in R²."""
        assert self._covariance is not None  # noqa: S101 (the normal approximation applies)
        along = np.array([math.cos(self._angle), math.sin(self._angle)])
        variance = float(along @ self._covariance @ along)
        constant = 2 * float((self._covariance**2).sum())
        middle = self._squared + 2 * z**2 * variance
        reach = math.sqrt(max(middle**2 - self._squared**2 + z**2 * constant, 0.0))
        return math.sqrt(max(middle - reach, 0.0)), math.sqrt(max(middle + reach, 0.0))


def _angle_range(box: _Box, angle: float) -> tuple[float, float] | None:
    """The smallest and the largest angle of the points of a box around ``angle``; None if it contains the origin."""
    if ((box.low <= 0) & (box.high >= 0)).all():
        return None
    corners = [math.atan2(y, x) for x in (box.low[0], box.high[0]) for y in (box.low[1], box.high[1])]
    # A box without the origin spans less than half a turn.
    off = [(corner - angle + math.pi) % _TURN - math.pi for corner in corners]
    return angle + min(*off, 0.0), angle + max(*off, 0.0)


def _length_range(box: _Box) -> tuple[float, float]:
    """The smallest and the largest distance of a point of a box from the origin."""
    nearest = np.clip(0.0, box.low, box.high)
    farthest = np.maximum(np.abs(box.low), np.abs(box.high))
    return math.hypot(*nearest.tolist()), math.hypot(*farthest.tolist())

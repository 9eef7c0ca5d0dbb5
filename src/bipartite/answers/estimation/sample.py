r"""A sample: one number per question and report. After that, everything is textbook.

A mechanism's only duty towards answers is to give scores u(y) with E[u(Y) | x] = w_x. Their average over reports is
then unbiased for Σ w_x·f_x, whatever the population: means, covariances, ratios, what forged reports can do, all follow
from the scores.

**The interval of an average** is Gaffke's: to the scores add one report with the largest score that any report can
have, give all of them random weights that add up to one (Dirichlet, all equal), and take the upper quantile of the
weighted average; likewise for the lower end (Gaffke 2005; Learned-Miller, Thomas, *A new confidence interval for the
mean of a bounded random variable*, 2020). It needs no smallest number of reports and no case for rare values: of a
share it is the Clopper–Pearson interval, and of many reports the normal one, with the skewness that the scores have.
Random weights are gammas divided by their sum, so the probability that the average is below t is that of
Σ G_c·(u_c − t) ≤ 0, by the saddlepoint approximation (Barndorff-Nielsen's r*). That this interval keeps its confidence
for bounded numbers is conjectured and measured (``bench/answers``), not proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.answer import Answer, Forged
from bipartite.answers.estimation.intervals import FEW, ConfidenceInterval, few_note, half_widths, normal_width, within

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Scores are put into this many bins before an interval is computed: finer ones move no end by a hundredth of a width.
_BINS: Final = 256
_ALONE: Final = 1e-9
_STEPS: Final = 60
_CLOSE: Final = 1e-9  # of a standard error
_FLAT: Final = 1e-12
_SMALL: Final = 1e-4
_TINY: Final = 1e-300
_MOVED: Final = "the answer is unbiased, and chance has moved it beyond the possible range"
_UNLUCKY: Final = (
    "no population has an answer in this range: the sample is an unlucky one, or these reports did not "
    "come from this mechanism: see est.check"
)
_SUMS: Final = "a bound: only sums of weights are known, not those of single reports"


def spare(n: float) -> float:
    """Reports minus one; NaN for a single report, which says nothing about the variance."""
    return n - 1 if n - 1 > _ALONE else math.nan


def moved_note(value: float, low: float, high: float, possible: tuple[float, float]) -> str:
    """A remark on an unbiased answer that no population has; usually empty."""
    if high < possible[0] or low > possible[1]:
        return _UNLUCKY
    return "" if possible[0] <= value <= possible[1] else _MOVED


@dataclass(frozen=True, eq=False)
class Averages:
    """Averages of scores, one per question, of which the moments are known."""

    mean: Array
    variances: Array
    """Those of the averages, for people drawn from a population."""
    spread: Array
    """A number s for each: averages of n reports satisfy Hoeffding's bound as if scores had this range."""
    n: float
    """The number of reports or, with weights, of equally weighted ones with the same precision."""
    reach: Array
    """The largest minus the smallest score of any report, honest or forged."""
    people: Callable[[], Sample] | None = None
    """The score of every report, where these are available."""
    covariance: Callable[[], Array] | None = None
    """Computes the covariance of the averages; without it, there is one average."""

    @property
    def se(self) -> Array:
        """The standard errors; NaN for a single report."""
        # Rounding may leave the variance of a combination slightly below zero.
        found: Array = np.sqrt(np.maximum(self.variances, 0.0))
        return found

    @cached_property
    def cov(self) -> Array:
        """The covariance of the averages."""
        return self.variances[:, None] if self.covariance is None else self.covariance()

    def combined(self, coefficients: Array) -> Averages:
        """The averages of combinations of the scores, one for each row of coefficients."""
        size = np.abs(coefficients)
        cov = coefficients @ self.cov @ coefficients.T
        spread, reach = size @ self.spread, size @ self.reach
        return Averages(coefficients @ self.mean, cov.diagonal(), spread, self.n, reach, covariance=lambda: cov)

    def ends(self, at: int, confidence: float) -> tuple[float, float]:
        """The interval of one average: by the normal law, wider if hardly any report bears on it, or by Hoeffding."""
        half = float(half_widths(float(self.se[at]), float(self.spread[at]), self.n, confidence))
        return float(self.mean[at]) - half, float(self.mean[at]) + half

    def note(self) -> str:
        """A remark on all intervals."""
        return few_note(self.n) if self.n < FEW else ""

    def forged(self, at: int, k: int) -> tuple[float, float, str]:
        """How far down and up k forged reports can move an average, and a note."""
        if self.people is not None:
            return self.people().forged(at, k)
        most = min(k, self.n) * float(self.reach[at]) / self.n
        return most, most, "a bound: counts do not say which reports there were"

    def answer(self, possible: tuple[float, float], at: int = 0, shift: float = 0.0) -> Answer:
        """One average as an answer, plus ``shift``; no population has one outside ``possible``."""
        value = shift + float(self.mean[at])

        def uncut(confidence: float) -> ConfidenceInterval:
            low, high = self.ends(at, confidence)
            return ConfidenceInterval(shift + low, shift + high, confidence, self.note())

        def interval(confidence: float) -> ConfidenceInterval:
            low, high = uncut(confidence)
            first, last = within(low, high, value, possible, at_least=self.n < FEW)
            notes = (self.note(), moved_note(value, low, high, possible))
            return ConfidenceInterval(float(first), float(last), confidence, "; ".join(filter(None, notes)))

        def forge(k: int) -> Forged:
            down, up, note = self.forged(at, k)
            return Forged(value - down, value + up, note)

        return Answer(value, float(self.se[at]), interval, forge, uncut)


@dataclass(frozen=True, eq=False)
class Sample(Averages):
    """The scores themselves: a row for each question, a column for each class of reports that have equal scores."""

    u: Array = field(kw_only=True)
    first: Array = field(kw_only=True)
    """The sum of the weights of the reports of each class."""
    second: Array = field(kw_only=True)
    """The sum of their squares."""
    limits: tuple[Array, Array] | None = None
    """The smallest and the largest score of any report, for each question; None if each has a class."""
    unattained: str = ""
    """Why no report may have the scores at the limits, if so: then forging is only bounded."""
    each: tuple[NDArray[np.int64], Array] | None = None
    """The class and the weight of each report, if reports have weights and these are known."""

    @classmethod
    def of(cls, u: Array, first: Array, second: Array | None = None, **known: Any) -> Sample:  # noqa: ANN401
        """The sample of these scores; without second sums, each report counts once."""
        second = first if second is None else second
        size, square = float(first.sum()), float(second.sum())
        n = size**2 / square
        mean = u @ first / size
        variances = np.maximum(u**2 @ second - 2 * mean * (u @ second) + mean**2 * square, 0.0)
        low, high = (u.min(axis=1), u.max(axis=1)) if known.get("limits") is None else known["limits"]
        made = variances * (n / spare(n)) / size**2
        return cls(mean, made, high - low, n, high - low, u=u, first=first, second=second, **known)

    @cached_property
    def cov(self) -> Array:
        apart = self.u - self.mean[:, None]
        found: Array = (apart * self.second) @ apart.T / float(self.first.sum()) ** 2 * (self.n / spare(self.n))
        return found

    @cached_property
    def range(self) -> tuple[Array, Array]:
        """The smallest and the largest score of any report, for each question."""
        return (self.u.min(axis=1), self.u.max(axis=1)) if self.limits is None else self.limits

    def combined(self, coefficients: Array) -> Sample:
        limits = None
        if self.limits is not None:
            up, down = np.maximum(coefficients, 0.0), np.minimum(coefficients, 0.0)
            low, high = self.limits
            limits = up @ low + down @ high, up @ high + down @ low
        return Sample.of(coefficients @ self.u, self.first, self.second, limits=limits, each=self.each)

    def ends(self, at: int, confidence: float) -> tuple[float, float]:
        """Gaffke's interval of one average."""
        low, high = (float(end[at]) for end in self.range)
        z, mean, there = normal_width(confidence), float(self.mean[at]), self.first > 0
        # In units of the average weight of a unit of weight: the report that is added has this weight.
        unit = float(self.second.sum()) / float(self.first.sum())
        scores, first, second = _binned(self.u[at][there], self.first[there] / unit, self.second[there] / unit**2)
        least, most = -_upper_end(-scores, first, second, -low, z), _upper_end(scores, first, second, high, z)
        return min(least, mean), max(most, mean)

    def note(self) -> str:
        return ""

    def forged(self, at: int, k: int) -> tuple[float, float, str]:
        """The k reports whose scores are smallest become the largest possible one, and the other way round."""
        low, high = (float(end[at]) for end in self.range)
        size, note = float(self.first.sum()), self.unattained
        if self.each is None and self.first is not self.second:
            note = _SUMS
        return self._gain(self.u[at] - low, k) / size, self._gain(high - self.u[at], k) / size, note

    def _gain(self, gaps: Array, k: int) -> float:
        """The largest sum of gap times weight over k reports."""
        if self.each is not None:
            classes, weights = self.each
            parts = np.sort(gaps[classes] * weights)
            return float(parts[max(len(parts) - k, 0) :].sum())
        if self.first is self.second:
            order = np.argsort(-gaps, kind="stable")
            taken = np.diff(np.minimum(self.first[order].cumsum(), k), prepend=0.0)
            return float(gaps[order] @ taken)
        # Σ wᵢ·gapᵢ over k reports is at most √(k·Σ wᵢ²·gapᵢ²) over all (Cauchy–Schwarz), and at most the whole sum.
        held = np.where(self.first > 0, gaps, 0.0)
        return min(math.sqrt(k * float(held**2 @ self.second)), float(held @ self.first))


def _binned(scores: Array, first: Array, second: Array) -> tuple[Array, Array, Array]:
    """Scores in bins of equal width, with the average score of each."""
    low, wide = float(scores.min()), float(np.ptp(scores))
    if len(scores) <= 2 * _BINS or wide == 0:
        return scores, first, second
    bins = np.minimum(((scores - low) * (_BINS / wide)).astype(np.int64), _BINS - 1)
    sums = [np.bincount(bins, each, _BINS) for each in (first * scores, first, second)]
    there = sums[1] > 0
    return sums[0][there] / sums[1][there], np.asarray(sums[1][there], float), np.asarray(sums[2][there], float)


def _upper_end(scores: Array, first: Array, second: Array, most: float, z: float) -> float:
    """The quantile Φ(z) of the randomly weighted average of these scores and one more with the score ``most``.

    A class with the sums of weights a and of their squares b has a gamma variable of mean a and variance b.
    """
    u, first, second = np.append(scores, most), np.append(first, 1.0), np.append(second, 1.0)
    size, scale = float(first.sum()), second / first
    mean = float(first @ u) / size
    apart = u - mean
    error = math.sqrt(float(second @ apart**2)) / size
    if not error > _FLAT * max(abs(most), abs(mean)) or most - mean <= _FLAT * max(abs(most), abs(mean)):
        return max(most, mean)
    held = first / scale
    skew = 2 * float((second * scale) @ apart**3) / (size * error) ** 3
    # Cornish–Fisher is close for many reports; the root is bracketed from there.
    guess = mean + error * max(z + skew * (z * z - 1) / 6, 0.1 * z)
    low, high = mean, most
    t: float = min(guess, (mean + 9 * most) / 10)
    slope, before = 1 / error, (math.nan, math.nan)
    for _ in range(_STEPS):
        off = _signed_root(scale * (u - t), held) - z
        low, high = (t, high) if off < 0 else (low, t)
        if abs(off) < _CLOSE:
            break
        if off != before[1] and not math.isnan(before[1]):
            slope = max((off - before[1]) / (t - before[0]), 1e-3 / error)
        before = t, off
        step = t - off / slope
        t = float(step if low < step < high else (low + high) / 2)
        if high - low < _CLOSE * error:
            break
    return float(t)


def _signed_root(d: Array, held: Array) -> float:
    """r* with Pr[Σ G_c·d_c ≤ 0] ≈ Φ(r*), for gamma variables G_c of shapes ``held``.

    The cumulant function is K(s) = −Σ held·ln(1 − s·d). With K'(s) = 0, r = sign(s)·√(−2K) and v = s·√K'',
    r* = r + ln(v/r)/r.
    """
    # Of very many reports the end is a score itself, up to rounding.
    low, high = 1 / min(float(d.min()), -_TINY), 1 / max(float(d.max()), _TINY)
    s: float = min(max(-float(held @ d) / float(held @ d**2), 0.9 * low), 0.9 * high)
    for _ in range(_STEPS):
        part = d / (1 - s * d)
        slope, curve = float(held @ part), float(held @ part**2)
        low, high = (s, high) if slope < 0 else (low, s)
        step = s - slope / curve
        new = step if low < step < high else (low + high) / 2
        if abs(new - s) * math.sqrt(curve) < _CLOSE:
            s = new
            break
        s = new
    part = d / (1 - s * d)
    r = math.copysign(math.sqrt(max(2 * float(held @ np.log1p(-s * d)), 0.0)), s)
    v = s * math.sqrt(float(held @ part**2))
    if abs(r) < _SMALL:
        # r* − r has the limit −κ₃/(6·κ₂^1.5).
        return float(r - held @ d**3 / 3 / (held @ d**2) ** 1.5)
    return r + math.log(v / r) / r

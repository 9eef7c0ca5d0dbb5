r"""Tests of whether reports can have come from a mechanism, whatever the population.

Every p-value here is proved to be valid for any number of reports, whether people are sampled from a population or
fixed: honest reports are at least this extreme with probability at most p. The proof rests on three facts.

- **One output.** Each report equals a given output with a probability between the smallest and the largest entry of
  that output's column. So the output's share among n reports is at least s, for an s above the largest entry, with
  probability at most exp(−n·KL(s, largest)), and at most s, for an s below the smallest, with probability at most
  exp(−n·KL(s, smallest)) (Chernoff), where KL(s, p) = s·ln(s/p) + (1 − s)·ln((1 − s)/(1 − p)).
- **All outputs.** Let t be the likelihood ratio of the shares s of k outputs against the law of the most likely
  population, t = n·KL(s, nearest law). It is at most n·KL(s, r) for the true law r, which for independent draws from r
  exceeds t > k − 1 with probability at most exp(−t)·(e·t/(k − 1))^(k − 1) (Agrawal, *Finite-sample concentration of the
  multinomial in relative entropy*, IEEE Trans. Inf. Theory 2020), from E exp(λ·n·KL) ≤ (1 − λ)^(1 − k). No expected
  count needs to be large. If people are fixed, each has their own law, and r is the average of these laws; the bound
  still holds, because exp(λ·n·KL) is a product of log-convex functions of single counts, and the expectation of such a
  product can only grow when the laws of two people are both replaced by their average (after Hoeffding 1956).
- **The distance to the nearest law** need not be computed exactly. For the law r of any population, with
  g_x = Σ_y P(x, y)·s_y/r_y, no population has a log-likelihood more than n·ln(max g) above that of r (Jensen). The
  tests use t = n·KL(s, r) − n·ln(max g), which is never too large.

The p-value of several tests is the smallest of theirs times their number (Bonferroni).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.lottery import Channel
from bipartite.texts import Printed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

FALSE_ALARM: Final = 1e-6
"""An upper bound on the probability of rejecting honest reports."""
_GROUPS: Final = 16
# Single outputs are not tested if the mechanism is an unstructured matrix with more entries than this.
_MOST_DENSE: Final = 2**18
# The search for the nearest law: limits on the number of steps, and on the matrix entries processed in total.
_MOST_STEPS: Final = 400
_LEAST_STEPS: Final = 8
_MOST_WORK: Final = 2**25
# The search stops when the lower bound on the likelihood ratio is at least this fraction of the upper bound.
_CLOSE: Final = 0.98
_KEPT: Final = 4
_MOST_KEPT: Final = 512
TINY: Final = 1e-200

_FITS: Final = "these reports may have come from this mechanism"
_UNKNOWN: Final = "the mechanism is too large to test whether these reports fit it"


@dataclass(frozen=True, slots=True, repr=False)
class GoodnessOfFit(Printed):
    """Whether reports can have come from their mechanism, whatever the population: ``est.check``."""

    p_value: float | None
    """Honest reports are at least this extreme with at most this probability; None if not tested."""
    statistic: float | None
    """The likelihood ratio 2·Σ count·ln(count/expected) against the most likely population, for the most significant
    test; None if that test is of another kind, or if there is no evidence against the reports."""
    degrees_of_freedom: int | None
    """The number of outputs, or groups of outputs, that the test compares, minus one."""
    verdict: str
    """The conclusion, in one sentence."""

    @property
    def doubt(self) -> str:
        """The verdict if the reports cannot have come from the mechanism; otherwise empty."""
        return self.verdict if self.p_value is not None and self.p_value <= FALSE_ALARM else ""

    def __str__(self) -> str:
        return self.verdict if self.p_value is None else f"{self.verdict} (p ≤ {self.p_value:.3g})"


class Finding(NamedTuple):
    """The result of one test."""

    log_p: float
    why: str
    divergence: float | None = None
    """n·KL."""
    freedom: int | None = None


def fit_of_outputs(mechanism: Mechanism, counts: NDArray[np.int64], start: Array | None = None) -> GoodnessOfFit:
    """Test whether these counts of outputs can have come from the mechanism; ``start`` approximates the population."""
    known = (_cached_known if len(mechanism.outputs) <= _MOST_KEPT else Known.of)(mechanism)
    return combine_tests(tests_of_outputs(known, np.asarray(counts, dtype=np.float64), start))


def fit_of_pairs(first: Mechanism, second: Mechanism, operator: Channel, counts: NDArray[np.int64]) -> GoodnessOfFit:
    """Test whether counts of pairs of reports, in row-major order, can have come from the two mechanisms."""
    sides = [_limits(mechanism) for mechanism in (first, second)]
    limits = None
    if sides[0] is not None and sides[1] is not None:
        low, high = (np.outer(one, other).ravel() for one, other in zip(*sides, strict=True))
        limits = low, high
    return combine_tests(tests_of_outputs(Known(operator, limits), np.asarray(counts, dtype=np.float64), None))


def either_fits(first: GoodnessOfFit, second: GoodnessOfFit) -> GoodnessOfFit:
    """Combine two tests of the same people: the smaller p-value, doubled (Bonferroni)."""
    tested = [each for each in (first, second) if each.p_value is not None]
    if not tested:
        return first
    worst = min(tested, key=lambda each: each.p_value or 0.0)
    p = min(1.0, len(tested) * (worst.p_value or 0.0))
    return replace(worst, p_value=p, verdict=worst.verdict if p <= FALSE_ALARM else _FITS)


def combine_tests(findings: list[Finding]) -> GoodnessOfFit:
    """Combine several tests into one p-value and a verdict."""
    if not findings:
        return GoodnessOfFit(None, None, None, _UNKNOWN)
    least = min(findings, key=lambda finding: finding.log_p)
    p = math.exp(min(0.0, least.log_p + math.log(len(findings))))
    verdict = _FITS
    if p <= FALSE_ALARM:
        # Report the first significant test: tests are listed from the easiest to explain to the hardest.
        reason = next(each for each in findings if each.log_p + math.log(len(findings)) <= math.log(FALSE_ALARM))
        verdict = f"these reports cannot have come from this mechanism: {reason.why}"
    if p == 1 or least.divergence is None:
        return GoodnessOfFit(p, None, None, verdict)
    return GoodnessOfFit(p, 2 * least.divergence, least.freedom, verdict)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the tests need to know about a mechanism, independent of any report."""

    operator: Channel
    limits: tuple[Array, Array] | None

    @classmethod
    def of(cls, mechanism: Mechanism) -> Known:
        """Compute it for this mechanism."""
        return cls(mechanism.lottery.channel(), _limits(mechanism))


_cached_known = functools.lru_cache(maxsize=_KEPT)(Known.of)


def _limits(mechanism: Mechanism) -> tuple[Array, Array] | None:
    """The smallest and the largest probability of each output; None if the matrix is too large."""
    known = mechanism.lottery.limits()
    if known is not None or len(mechanism.domain) * len(mechanism.outputs) > _MOST_DENSE:
        return known
    matrix = mechanism.matrix()
    return matrix.min(axis=0), matrix.max(axis=0)


def tests_of_outputs(known: Known, counts: Array, start: Array | None) -> list[Finding]:
    """Test the counts of outputs one by one, all together, and in groups of neighbours."""
    found = []
    if known.limits is not None:
        found.append(single_test(counts, counts.sum(), known.limits, "is"))
    operator = known.operator
    f = np.full(operator.inputs, 1 / operator.inputs)
    if start is not None:
        # EM never leaves zero, so no share may start there.
        f = 0.01 * f + 0.99 * np.maximum(start, 0.0) / np.maximum(start, 0.0).sum()
    # Comparing fewer groups of outputs gives the test power with fewer reports.
    cuts = _cuts(operator.uniform_law())
    steps = min(max(_MOST_WORK // operator.work, _LEAST_STEPS), _MOST_STEPS)
    found.append(_nearest(operator, counts, f, steps))
    if len(cuts) < operator.outputs:
        found.append(_nearest(_Merged(operator, cuts), np.add.reduceat(counts, cuts), f, steps))
    return found


def _cuts(law: Array) -> NDArray[np.int64]:
    """The starts of groups of neighbouring outputs with about equal probabilities."""
    ends = np.searchsorted(law.cumsum(), np.arange(1, _GROUPS) / _GROUPS)
    return np.unique(np.concatenate([[0], np.minimum(ends, len(law) - 1)]))


class _Merged(Channel):
    """An operator with groups of neighbouring outputs merged into one output each."""

    def __init__(self, inner: Channel, cuts: NDArray[np.int64]) -> None:
        self.inputs, self.outputs = inner.inputs, len(cuts)
        self._inner, self._cuts = inner, cuts
        self._sizes = np.diff(cuts, append=inner.outputs)

    def forward(self, f: Array) -> Array:
        merged: Array = np.add.reduceat(self._inner.forward(f), self._cuts, axis=-1)
        return merged

    def backward(self, v: Array) -> Array:
        return self._inner.backward(np.repeat(v, self._sizes, axis=-1))


def _nearest(operator: Channel, counts: Array, f: Array, steps: int) -> Finding:
    """Test the likelihood ratio against the most likely population, bounded from below by a few EM steps from ``f``."""
    people, freedom = float(counts.sum()), operator.outputs - 1
    known = 0.0
    for _ in range(steps):
        law = np.maximum(operator.forward(f), TINY)
        divergence = divergence_of(counts, law)
        slopes = operator.backward(counts / law) / people
        known = max(known, divergence - people * math.log(float(slopes.max())))
        if divergence <= freedom or known >= _CLOSE * divergence:
            break
        f = f * np.maximum(slopes, 0.0)
        f /= f.sum()
    return ratio_test(known, freedom, "no population gives these shares of outputs")


def divergence_of(counts: Array, law: Array) -> float:
    """n·KL between the shares of these counts and a law."""
    seen = counts > 0
    with np.errstate(divide="ignore"):
        return max(float((counts[seen] * np.log(counts[seen] / (counts.sum() * law[seen]))).sum()), 0.0)


def ratio_test(divergence: float, freedom: int, why: str) -> Finding:
    """Test a likelihood ratio by Agrawal's bound."""
    if freedom == 0:
        log_p = 0.0 if divergence < math.inf else -math.inf
    elif divergence <= freedom:
        log_p = 0.0
    else:
        log_p = -divergence + freedom * (1 + math.log(divergence / freedom)) if divergence < math.inf else -math.inf
    why = f"{why}, even allowing for sampling error; are they private values, or reports of another spec?"
    return Finding(log_p, why, divergence, freedom)


def single_test(counts: Array, people: float, limits: tuple[Array, Array], what: str) -> Finding:
    """Test the output whose share violates its limits most significantly."""
    shares = counts / people
    found = []
    for limit, beyond, than in (
        (limits[1], shares > limits[1], "at most"),
        (limits[0], shares < limits[0], "at least"),
    ):
        surprise = np.where(beyond, people * bernoulli(shares, limit), 0.0)
        worst = int(surprise.argmax())
        why = (
            f"one value {what} {shares[worst]:.2%} of them, but should be {than} {limit[worst]:.2%} for any "
            "population, apart from sampling error; are they private values, clipped or rounded reports, or those of "
            "another spec?"
        )
        found.append(Finding(math.log(2 * len(shares)) - float(surprise[worst]), why))
    return min(found, key=lambda finding: finding.log_p)


def bernoulli(shares: Array, limits: Array) -> Array:
    """KL(s, p) of each share s and limit p; infinite if the share is impossible at that limit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(s > 0, s * np.log(s / p), 0.0) for s, p in ((shares, limits), (1 - shares, 1 - limits))]
    return parts[0] + parts[1]

r"""Whether reports can have come from a mechanism at all, whatever the people are like.

Every p-value here is proved to be large enough, for any number of reports and for any people, drawn from a population
or given: true reports look at least this strange with a chance of at most p. Three facts give them.

- **One output.** Each report is a given output with a chance between the least and the largest of its column. So its
  share among n reports reaches a larger share s with a chance of at most exp(−n·KL(s, largest)), and falls to a smaller
  one with at most exp(−n·KL(s, least)) (Chernoff), KL(s, p) = s·ln(s/p) + (1 − s)·ln((1 − s)/(1 − p)).
- **All outputs.** Let t be the likelihood ratio of the shares s of k outputs against the law of the most likely
  population, t = n·KL(s, nearest law). It is at most n·KL(s, r) for the true law r, and for independent draws of r that
  is above t > k − 1 with a chance of at most exp(−t)·(e·t/(k − 1))^(k − 1) (Agrawal, *Finite-sample concentration of
  the multinomial in relative entropy*, IEEE Trans. Inf. Theory 2020), from E exp(λ·n·KL) ≤ (1 − λ)^(1 − k). No expected
  count needs to be large. For people who are given, each has a law of their own and r is the average of these;
  the bound still holds, because exp(λ·n·KL) is a product of log-convex functions of single counts, and the mean of such
  a product only grows when the laws of two people are both replaced by their average (after Hoeffding 1956).
- **How near the nearest law is** need not be found exactly. For the law r of any population, with
  g_x = Σ_y P(x, y)·s_y/r_y, no population has a log-likelihood more than n·ln(max g) above that of r (Jensen). What is
  used for t is n·KL(s, r) − n·ln(max g), which is never too large.

Of several tests the least p-value counts, times their number.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.answers.estimation.operator import Dense, Noise, Operator, operator_of
from bipartite.answers.estimation.pairs import pair_law
from bipartite.lottery import GroupedLottery, LineLottery
from bipartite.mechanisms.categories import OLH, HadamardResponse, SubsetSelection
from bipartite.mechanisms.categories.hadamard import walsh_hadamard
from bipartite.mechanisms.categories.hashing import HashFamily
from bipartite.mechanisms.categories.unary import PackedReports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism

    Array = NDArray[np.float64]

FALSE_ALARM: Final = 1e-6
"""The chance that true reports are said to be impossible, at most."""
_GROUPS: Final = 16
# Where a matrix without structure has more numbers, the limits of single outputs are not looked at.
_MOST_DENSE: Final = 2**18
# Steps towards the nearest law: so many at most, and so many numbers in all.
_MOST_STEPS: Final = 400
_LEAST_STEPS: Final = 8
_MOST_WORK: Final = 2**25
# A Fourier transform takes about so many times as long as running sums.
_TRANSFORMED: Final = 32
# The nearest law is near enough when the likelihood ratio is known to this part.
_CLOSE: Final = 0.98
_KEPT: Final = 4
_MOST_KEPT: Final = 512
_TINY: Final = 1e-200
# Where the law of a number is known, its values are told apart by how rare they are.
_CUTS: Final = (1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.25, 0.5)
_ROOM: Final = 2**22
_ONES: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)

_FITS: Final = "these reports may have come from this mechanism"
_UNKNOWN: Final = "whether these reports fit the mechanism was not tested: it is too large"


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """Whether reports can have come from their mechanism, whatever the people are like: ``est.fits``."""

    p_value: float | None
    """True reports look at least this strange with a chance of at most this; None where it was not tested."""
    statistic: float | None
    """The likelihood ratio 2·Σ count·ln(count/expected) against the most likely population, of the test that says most;
    None where that test is of another kind, or where nothing speaks against the reports."""
    degrees_of_freedom: int | None
    """One less than the number of outputs, or groups of them, that it compares."""
    verdict: str
    """What this means, in a sentence."""

    @property
    def doubt(self) -> str:
        """The verdict where the reports cannot have come from the mechanism; otherwise empty."""
        return self.verdict if self.p_value is not None and self.p_value <= FALSE_ALARM else ""

    def __str__(self) -> str:
        return self.verdict if self.p_value is None else f"{self.verdict} (p ≤ {self.p_value:.3g})"


class _Finding(NamedTuple):
    """What one test says."""

    log_p: float
    why: str
    divergence: float | None = None
    """n·KL."""
    freedom: int | None = None


def fit_of_outputs(mechanism: Mechanism, counts: NDArray[np.int64], start: Array | None = None) -> GoodnessOfFit:
    """Whether these counts, one an output, can have come from the mechanism; ``start`` is about how the people are."""
    known = (_known if len(mechanism.outputs) <= _MOST_KEPT else _Known.of)(mechanism)
    return _judged(_of_outputs(known, np.asarray(counts, dtype=np.float64), start))


def fit_of_pairs(first: Mechanism, second: Mechanism, operator: Operator, counts: NDArray[np.int64]) -> GoodnessOfFit:
    """Whether counts of pairs of reports, written row by row, can have come from both mechanisms."""
    sides = [_limits(mechanism) for mechanism in (first, second)]
    limits = None
    if sides[0] is not None and sides[1] is not None:
        low, high = (np.outer(one, other).ravel() for one, other in zip(*sides, strict=True))
        limits = low, high
    return _judged(_of_outputs(_Known(operator, limits), np.asarray(counts, dtype=np.float64), None))


def fit_of_supports(
    mechanism: CategoryMechanism, supports: NDArray[Any], people: int, reports: NDArray[Any] | None
) -> GoodnessOfFit:
    """Whether so many reports of flat categories can support each value so often; more where they are at hand."""
    counts = np.asarray(supports, dtype=np.float64)
    if isinstance(mechanism, HadamardResponse):
        if reports is not None:
            return _judged(_of_numbers(mechanism, reports))
        return _judged([_signed_values(mechanism, counts, people), _sum_of_variance(mechanism, counts, people)])
    p, q = map(float, mechanism.support)
    found = [_supported(counts, people, (q, p))]
    if isinstance(mechanism, OLH):
        found.append(_sum_of_variance(mechanism, counts, people))
        found += [] if reports is None else _of_hashes(mechanism, reports)
    elif isinstance(mechanism, SubsetSelection):
        found.append(_set_sizes(mechanism, counts, people, reports))
    elif isinstance(mechanism, PackedReports):
        found.append(_sum_of_bits(counts, people, (q, p)))
        found += [] if reports is None else [_numbers_of_bits(reports, len(counts), (q, p))]
    return _judged(found)


def _judged(findings: list[_Finding]) -> GoodnessOfFit:
    if not findings:
        return GoodnessOfFit(None, None, None, _UNKNOWN)
    least = min(findings, key=lambda finding: finding.log_p)
    p = math.exp(min(0.0, least.log_p + math.log(len(findings))))
    verdict = _FITS
    if p <= FALSE_ALARM:
        # The first one that says so is the easiest to understand.
        told = next(each for each in findings if each.log_p + math.log(len(findings)) <= math.log(FALSE_ALARM))
        verdict = f"these reports cannot have come from this mechanism: {told.why}"
    if p == 1 or least.divergence is None:
        return GoodnessOfFit(p, None, None, verdict)
    return GoodnessOfFit(p, 2 * least.divergence, least.freedom, verdict)


# Mechanisms with a chance for every output.


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What is needed of a mechanism before any report."""

    operator: Operator
    limits: tuple[Array, Array] | None

    @classmethod
    def of(cls, mechanism: Mechanism) -> _Known:
        return cls(operator_of(mechanism), _limits(mechanism))


_known = functools.lru_cache(maxsize=_KEPT)(_Known.of)


def _limits(mechanism: Mechanism) -> tuple[Array, Array] | None:
    """The least and the largest chance of each output; None where there are too many to look at."""
    lottery: Any = mechanism.lottery
    if isinstance(lottery, GroupedLottery):
        lottery = lottery.inner
    size = len(mechanism.outputs)
    if isinstance(lottery, LineLottery):
        tickets = lottery.tickets
        return np.full(size, tickets.far / lottery.total), np.full(size, tickets.near / lottery.total)
    if len(mechanism.domain) * size > _MOST_DENSE:
        return None
    matrix = mechanism.matrix()
    return matrix.min(axis=0), matrix.max(axis=0)


def _of_outputs(known: _Known, counts: Array, start: Array | None) -> list[_Finding]:
    found = []
    if known.limits is not None:
        found.append(_single(counts, counts.sum(), known.limits, "is"))
    operator = known.operator
    f = np.full(operator.inputs, 1 / operator.inputs)
    if start is not None:
        # From zero no step leads back.
        f = 0.01 * f + 0.99 * np.maximum(start, 0.0) / np.maximum(start, 0.0).sum()
    # Fewer outputs need fewer reports to be told apart.
    cuts = _cuts(operator.uniform_law())
    steps = min(max(_MOST_WORK // _work(operator), _LEAST_STEPS), _MOST_STEPS)
    found.append(_nearest(operator, counts, f, steps))
    if len(cuts) < operator.outputs:
        found.append(_nearest(_Merged(operator, cuts), np.add.reduceat(counts, cuts), f, steps))
    return found


def _work(operator: Operator) -> int:
    """About how many numbers one step goes through."""
    if isinstance(operator, Dense):
        return operator.inputs * operator.outputs
    return (operator.inputs + operator.outputs) * (_TRANSFORMED if isinstance(operator, Noise) else 1)


def _cuts(law: Array) -> NDArray[np.int64]:
    """Where groups of neighbouring outputs begin, each about as likely as the others."""
    ends = np.searchsorted(law.cumsum(), np.arange(1, _GROUPS) / _GROUPS)
    return np.unique(np.concatenate([[0], np.minimum(ends, len(law) - 1)]))


class _Merged(Operator):
    """The same with groups of neighbouring outputs for one."""

    def __init__(self, inner: Operator, cuts: NDArray[np.int64]) -> None:
        self.inputs, self.outputs = inner.inputs, len(cuts)
        self._inner, self._cuts = inner, cuts
        self._sizes = np.diff(cuts, append=inner.outputs)

    def forward(self, f: Array) -> Array:
        merged: Array = np.add.reduceat(self._inner.forward(f), self._cuts, axis=-1)
        return merged

    def backward(self, v: Array) -> Array:
        return self._inner.backward(np.repeat(v, self._sizes, axis=-1))


def _nearest(operator: Operator, counts: Array, f: Array, steps: int) -> _Finding:
    """The likelihood ratio against the most likely people, from below; EM from ``f`` on, as far as it matters."""
    people, freedom = float(counts.sum()), operator.outputs - 1
    known = 0.0
    for _ in range(steps):
        law = np.maximum(operator.forward(f), _TINY)
        divergence = _divergence(counts, law)
        slopes = operator.backward(counts / law) / people
        known = max(known, divergence - people * math.log(float(slopes.max())))
        if divergence <= freedom or known >= _CLOSE * divergence:
            break
        f = f * np.maximum(slopes, 0.0)
        f /= f.sum()
    return _ratio(known, freedom, "however the people are, their shares are not those of a mixture of its rows")


def _divergence(counts: Array, law: Array) -> float:
    """n·KL of the shares of these counts against a law."""
    seen = counts > 0
    with np.errstate(divide="ignore"):
        return max(float((counts[seen] * np.log(counts[seen] / (counts.sum() * law[seen]))).sum()), 0.0)


def _ratio(divergence: float, freedom: int, why: str) -> _Finding:
    """A likelihood ratio, by Agrawal's bound."""
    if freedom == 0:
        log_p = 0.0 if divergence < math.inf else -math.inf
    elif divergence <= freedom:
        log_p = 0.0
    else:
        log_p = -divergence + freedom * (1 + math.log(divergence / freedom)) if divergence < math.inf else -math.inf
    why = f"{why}, up to chance; are they private values, or reports of another spec?"
    return _Finding(log_p, why, divergence, freedom)


def _single(counts: Array, people: float, limits: tuple[Array, Array], what: str) -> _Finding:
    """The output whose share is farthest beyond its limits."""
    shares = counts / people
    found = []
    for limit, beyond, than in (
        (limits[1], shares > limits[1], "at most"),
        (limits[0], shares < limits[0], "at least"),
    ):
        surprise = np.where(beyond, people * _bernoulli(shares, limit), 0.0)
        worst = int(surprise.argmax())
        why = (
            f"one value {what} {shares[worst]:.2%} of them, and would be {than} {limit[worst]:.2%} up to chance, "
            "whatever the population; are they private values, clipped or rounded reports, or those of another spec?"
        )
        found.append(_Finding(math.log(2 * len(shares)) - float(surprise[worst]), why))
    return min(found, key=lambda finding: finding.log_p)


def _bernoulli(shares: Array, limits: Array) -> Array:
    """KL(s, p) of each share; infinite where the limit rules a share out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(s > 0, s * np.log(s / p), 0.0) for s, p in ((shares, limits), (1 - shares, 1 - limits))]
    return parts[0] + parts[1]


# Flat categories.


def _supported(counts: Array, people: int, limits: tuple[float, float]) -> _Finding:
    """Each value is supported by a share between q and p of the reports."""
    low, high = (np.full(len(counts), limit) for limit in limits)
    return _single(counts, people, (low, high), "is supported by")


def _sum_of_bits(counts: Array, people: int, chances: tuple[float, float]) -> _Finding:
    """The number of ones in all reports, which is that of coins whatever the people hold: n of chance p, the rest of q.

    Chernoff: it reaches T with a chance of at most exp(Σ ln(1 − p + p·e^s) − s·T), for any s of the right sign.
    """
    q, p = chances
    others = len(counts) - 1
    total = float(counts.sum()) / people

    def exponent(s: float) -> float:
        return math.log1p(p * math.expm1(s)) + others * math.log1p(q * math.expm1(s)) - s * total

    # Convex in s, and least where the mean of tilted coins is the total; any s will do, so a short search.
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        grown = math.exp(middle)
        mean = p * grown / (1 - p + p * grown) + others * q * grown / (1 - q + q * grown)
        low, high = (middle, high) if mean < total else (low, middle)
    log_p = math.log(2) + people * min(exponent((low + high) / 2), 0.0)
    return _Finding(log_p, _sums(total, p, q, others))


def _sums(total: float, p: float, q: float, others: int) -> str:
    """What is said of shares whose sum is not one."""
    shares = 1 + (total - p - others * q) / (p - q)
    return (
        f"the shares of all values add up to {shares:.4g} instead of 1, more than by chance; were reports forged, or "
        "made with another spec?"
    )


def _numbers_of_bits(reports: NDArray[np.uint8], size: int, chances: tuple[float, float]) -> _Finding:
    """How many ones each report has: 1 with chance p and size − 1 with chance q, whatever the person holds."""
    q, p = chances
    step = max(1, _ROOM // reports.shape[1])
    found = np.zeros(size + 1, dtype=np.int64)
    for first in range(0, len(reports), step):
        found += np.bincount(_ONES[reports[first : first + step]].sum(axis=1), minlength=size + 1)
    others = _binomial(size - 1, q)
    law = np.zeros(size + 1)
    law[:-1] += (1 - p) * others
    law[1:] += p * others
    # By how rare they are, from either side: that depends on no report.
    below = np.searchsorted(_CUTS, law.cumsum())
    above = np.searchsorted(_CUTS, law[::-1].cumsum()[::-1])
    groups = np.where(below < above, below, 2 * len(_CUTS) + 1 - above)
    _, groups = np.unique(groups, return_inverse=True)
    counts, laws = (np.bincount(groups, each).astype(np.float64) for each in (found, law))
    unlikely = found * -np.log(np.maximum(law, _TINY))
    worst = int(unlikely.argmax())
    why = (
        f"{int(found[worst]):,} of them have {worst} of {size} bits set, and the mechanism sets "
        f"{p + (size - 1) * q:.4g} on average, whatever the values; were reports forged, or made with another spec"
    )
    return _known_law(counts, laws, why)


def _known_law(counts: Array, law: Array, why: str) -> _Finding:
    """Counts against a law that does not depend on the people."""
    divergence, freedom = _divergence(counts, law / law.sum()), len(law) - 1
    return _ratio(divergence, freedom, why)._replace(why=f"{why}?")


def _binomial(trials: int, chance: float) -> Array:
    """The law of the number of heads."""
    logs = np.concatenate([[0.0], np.log(np.arange(1, trials + 1)).cumsum()])
    heads = np.arange(trials + 1)
    found: Array = np.exp(
        logs[-1] - logs - logs[::-1] + heads * math.log(chance) + (trials - heads) * math.log1p(-chance)
    )
    return found


def _set_sizes(mechanism: SubsetSelection, counts: Array, people: int, reports: NDArray[np.uint8] | None) -> _Finding:
    """A set has k values, always."""
    wrong = 0
    if reports is not None:
        step = max(1, _ROOM // reports.shape[1])
        for first in range(0, len(reports), step):
            wrong += int((_ONES[reports[first : first + step]].sum(axis=1) != mechanism.k).sum())
    if wrong:
        return _Finding(-math.inf, f"{wrong:,} of them are not sets of {mechanism.k} values; are they of another spec?")
    if counts.sum() != people * mechanism.k:
        average = counts.sum() / people
        why = f"they have {average:.6g} values on average, and sets of it {mechanism.k} each; are they of another spec?"
        return _Finding(-math.inf, why)
    return _Finding(0.0, "")


def _sum_of_variance(mechanism: OLH | HadamardResponse, counts: Array, people: int) -> _Finding:
    """The sum of all supports, whose mean does not depend on what people hold, by Bernstein's bound.

    The variance of one report's sum is known exactly for Hadamard Response. For OLH let D be the number of values in a
    bucket less N/g. Its square, summed over all buckets, has the mean N·(1 − 1/g), because two values collide with
    chance 1/g. A bucket is reported with a chance of at most p, so that the square of the reported one has a mean of at
    most p·N·(1 − 1/g).
    """
    p, q = map(float, mechanism.support)
    size = len(counts)
    ones = np.ones(size)
    if isinstance(mechanism, OLH):
        variance, farthest = p * size * (1 - 1 / mechanism.buckets), size * 1.0
    else:
        law = pair_law(mechanism)
        variance, farthest = float(law.own(ones).max()) * (p - q) ** 2, float(law.spread(ones)) * (p - q)
    total = float(counts.sum()) / people
    apart = abs(total - p - (size - 1) * q)
    log_p = math.log(2) - people * apart**2 / (2 * (variance + farthest * apart / 3))
    return _Finding(log_p, _sums(total, p, q, size - 1))


def _signed_values(mechanism: HadamardResponse, counts: Array, people: int) -> _Finding:
    """A report adds 1, 0 or −1 to each support, between 0 and p in the mean (Hoeffding)."""
    p = float(mechanism.support[0])
    shares = counts / people
    beyond = np.maximum(shares - p, -shares)
    worst = int(beyond.argmax())
    why = (
        f"the share of one value is {shares[worst] / p:.4g}, farther from what is possible than by chance; were "
        "reports forged, or made with another spec?"
    )
    return _Finding(math.log(2 * len(counts)) - people * max(float(beyond[worst]), 0.0) ** 2 / 2, why)


class _Halves(Operator):
    """Hadamard Response as a mechanism of so many numbers: by one fast transform of each block."""

    def __init__(self, mechanism: HadamardResponse) -> None:
        self.inputs, self.outputs = len(mechanism.domain), mechanism.numbers
        self._blocks, self._length = mechanism.blocks, mechanism.block_size
        # p = s·(a − b)/W, with s = b/2 numbers in a set; a/b is the largest ratio.
        excess = mechanism.support[0] / (self._length // 2)
        self.far = float(excess / (mechanism.largest_ratio() - 1))
        self.near = self.far + float(excess)

    def _transform(self, rows: Array) -> Array:
        held: Any = rows
        return np.asarray(walsh_hadamard(held), dtype=np.float64)

    def forward(self, f: Array) -> Array:
        table = np.zeros((self._blocks, self._length))
        full = np.zeros(self._blocks * (self._length - 1))
        full[: self.inputs] = f
        table[:, 1:] = full.reshape(self._blocks, -1)
        # Row 0 counts every value of the block: (1 + entry)/2 is 1 within the set and 0 outside.
        table[:, 0] = table.sum(axis=1)
        law: Array = self.far * float(f.sum()) + (self.near - self.far) / 2 * self._transform(table).ravel()
        return law

    def backward(self, v: Array) -> Array:
        table = self._transform(v.reshape(self._blocks, self._length))
        inside = (table[:, 1:] + table[:, :1]).ravel()[: self.inputs] / 2
        means: Array = self.far * float(v.sum()) + (self.near - self.far) * inside
        return means


def _of_numbers(mechanism: HadamardResponse, reports: NDArray[np.uint32]) -> list[_Finding]:
    operator = _Halves(mechanism)
    counts = np.bincount(reports, minlength=operator.outputs).astype(np.float64)
    limits = np.full(operator.outputs, operator.far), np.full(operator.outputs, operator.near)
    return _of_outputs(_Known(operator, limits), counts, None)


def _of_hashes(mechanism: OLH, reports: NDArray[np.uint64]) -> list[_Finding]:
    """Hash functions are drawn whatever the value: all digits of their seeds alike; and so no report comes often."""
    family, g, people = HashFamily(len(mechanism.domain), mechanism.buckets), mechanism.buckets, len(reports)
    factors = family.factors(reports[:, :-1])
    digits = _least(
        _known_law(
            np.bincount(column, minlength=g).astype(np.float64),
            np.full(g, 1 / g),
            "their hash functions are not drawn evenly; were reports forged, or made with another spec",
        )
        for column in factors.T
    )
    order = np.lexsort(reports.T)
    fresh = np.any(np.diff(reports[order], axis=0) != 0, axis=1)
    ends = np.flatnonzero(np.concatenate([[True], fresh, [True]]))
    most = int(np.diff(ends).max())
    rows = family.digits * math.log(g)
    limit = float(mechanism.support[0]) * math.exp(-rows)
    log_p = rows + math.log(g) - people * float(_bernoulli(np.array([most / people]), np.array([limit]))[0])
    why = f"{most:,} of them are the same report, which is not by chance; were reports forged, or copied?"
    return [digits, _Finding(log_p if most > limit * people else 0.0, why)]


def _least(findings: Iterable[_Finding]) -> _Finding:
    """The strangest of several, for all of them."""
    each = list(findings)
    least = min(each, key=lambda finding: finding.log_p)
    return least._replace(log_p=least.log_p + math.log(len(each)))

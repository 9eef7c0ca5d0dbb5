"""Tests of whether reports of flat categories can have come from their mechanism; see ``goodness`` for the p-values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.goodness import (
    TINY,
    Finding,
    Known,
    bernoulli,
    combine_tests,
    divergence_of,
    ratio_test,
    single_test,
    tests_of_outputs,
)
from bipartite.answers.estimation.pairs import pair_law
from bipartite.lottery import Channel
from bipartite.mechanisms.categories import OLH, HadamardResponse, SubsetSelection
from bipartite.mechanisms.categories.hadamard import walsh_hadamard
from bipartite.mechanisms.categories.hashing import HashFamily
from bipartite.mechanisms.categories.unary import PackedBits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

# Outcomes with a known law are grouped by their tail probabilities, cut at these.
_CUTS: Final = (1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.25, 0.5)
_ROOM: Final = 2**22
_ONES: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)


def fit_of_supports(
    mechanism: Mechanism, supports: NDArray[Any], people: int, reports: NDArray[Any] | None
) -> GoodnessOfFit:
    """Test whether these supports can have come from this number of reports; with the reports, test these too."""
    counts = np.asarray(supports, dtype=np.float64)
    if isinstance(mechanism, HadamardResponse):
        if reports is not None:
            return combine_tests(_test_numbers(mechanism, reports))
        return combine_tests(
            [_test_signed_supports(mechanism, counts, people), _test_total_support(mechanism, counts, people)]
        )
    p, q = map(float, mechanism.support)
    found = [_test_single_values(counts, people, (q, p))]
    if isinstance(mechanism, OLH):
        found.append(_test_total_support(mechanism, counts, people))
        found += [] if reports is None else _test_hashes(mechanism, reports)
    elif isinstance(mechanism, SubsetSelection):
        found.append(_test_set_sizes(mechanism, counts, people, reports))
    elif isinstance(mechanism.draw, PackedBits):
        found.append(_test_total_of_bits(counts, people, (q, p)))
        found += [] if reports is None else [_test_bits_per_report(reports, len(counts), (q, p))]
    return combine_tests(found)


def _test_single_values(counts: Array, people: int, limits: tuple[float, float]) -> Finding:
    """Test that each value is supported by a share between q and p of the reports."""
    low, high = (np.full(len(counts), limit) for limit in limits)
    return single_test(counts, people, (low, high), "is supported by")


def _test_total_of_bits(counts: Array, people: int, probabilities: tuple[float, float]) -> Finding:
    """Test the number of ones in all reports: a sum of independent bits, n with probability p and the others with q.

    Chernoff: it reaches T with probability at most exp(Σ ln(1 − p + p·e^s) − s·T), for any s of the right sign.
    """
    q, p = probabilities
    others = len(counts) - 1
    total = float(counts.sum()) / people

    def exponent(s: float) -> float:
        return math.log1p(p * math.expm1(s)) + others * math.log1p(q * math.expm1(s)) - s * total

    # Convex in s, with its minimum where the mean of the tilted bits is the total; any s is valid, so a short search.
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        grown = math.exp(middle)
        mean = p * grown / (1 - p + p * grown) + others * q * grown / (1 - q + q * grown)
        low, high = (middle, high) if mean < total else (low, middle)
    log_p = math.log(2) + people * min(exponent((low + high) / 2), 0.0)
    return Finding(log_p, _explain_sum(total, p, q, others))


def _explain_sum(total: float, p: float, q: float, others: int) -> str:
    """The message for shares whose sum is not one."""
    shares = 1 + (total - p - others * q) / (p - q)
    return (
        f"the shares of all values add up to {shares:.4g} instead of 1, more than by chance; were reports forged, or "
        "made with another spec?"
    )


def _test_bits_per_report(reports: NDArray[np.uint8], size: int, probabilities: tuple[float, float]) -> Finding:
    """Test the number of ones in each report: one bit has probability p, the others q, whatever value is held."""
    q, p = probabilities
    step = max(1, _ROOM // reports.shape[1])
    found = np.zeros(size + 1, dtype=np.int64)
    for first in range(0, len(reports), step):
        found += np.bincount(_ONES[reports[first : first + step]].sum(axis=1), minlength=size + 1)
    others = _binomial(size - 1, q)
    law = np.zeros(size + 1)
    law[:-1] += (1 - p) * others
    law[1:] += p * others
    # Groups by tail probability, from either side, which depend on no report.
    below = np.searchsorted(_CUTS, law.cumsum())
    above = np.searchsorted(_CUTS, law[::-1].cumsum()[::-1])
    groups = np.where(below < above, below, 2 * len(_CUTS) + 1 - above)
    _, groups = np.unique(groups, return_inverse=True)
    counts, laws = (np.bincount(groups, each).astype(np.float64) for each in (found, law))
    unlikely = found * -np.log(np.maximum(law, TINY))
    worst = int(unlikely.argmax())
    why = (
        f"{int(found[worst]):,} of them have {worst} of {size} bits set, and the mechanism sets "
        f"{p + (size - 1) * q:.4g} on average, whatever the values; were reports forged, or made with another spec"
    )
    return _test_known_law(counts, laws, why)


def _test_known_law(counts: Array, law: Array, why: str) -> Finding:
    """Test counts against a law that does not depend on the population."""
    divergence, freedom = divergence_of(counts, law / law.sum()), len(law) - 1
    return ratio_test(divergence, freedom, why)._replace(why=f"{why}?")


def _binomial(trials: int, probability: float) -> Array:
    """The binomial distribution."""
    logs = np.concatenate([[0.0], np.log(np.arange(1, trials + 1)).cumsum()])
    heads = np.arange(trials + 1)
    found: Array = np.exp(
        logs[-1] - logs - logs[::-1] + heads * math.log(probability) + (trials - heads) * math.log1p(-probability)
    )
    return found


def _test_set_sizes(
    mechanism: SubsetSelection, counts: Array, people: int, reports: NDArray[np.uint8] | None
) -> Finding:
    """Test that every set has k values."""
    wrong = 0
    if reports is not None:
        step = max(1, _ROOM // reports.shape[1])
        for first in range(0, len(reports), step):
            wrong += int((_ONES[reports[first : first + step]].sum(axis=1) != mechanism.k).sum())
    if wrong:
        return Finding(-math.inf, f"{wrong:,} of them are not sets of {mechanism.k} values; are they of another spec?")
    if counts.sum() != people * mechanism.k:
        average = counts.sum() / people
        why = f"they have {average:.6g} values on average, and sets of it {mechanism.k} each; are they of another spec?"
        return Finding(-math.inf, why)
    return Finding(0.0, "")


def _test_total_support(mechanism: OLH | HadamardResponse, counts: Array, people: int) -> Finding:
    """Test the sum of all supports, whose mean does not depend on what people hold, by Bernstein's bound.

    The variance of one report's sum is known exactly for Hadamard Response. For OLH let D be the number of values in a
    bucket minus N/g. Its square, summed over all buckets, has the expectation N·(1 − 1/g), because two values collide
    with probability 1/g. A bucket is reported with probability at most p, so the expected square for the reported
    bucket is at most p·N·(1 − 1/g).
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
    return Finding(log_p, _explain_sum(total, p, q, size - 1))


def _test_signed_supports(mechanism: HadamardResponse, counts: Array, people: int) -> Finding:
    """Test each support: a report adds 1, 0 or −1, between 0 and p on average (Hoeffding)."""
    p = float(mechanism.support[0])
    shares = counts / people
    beyond = np.maximum(shares - p, -shares)
    worst = int(beyond.argmax())
    why = (
        f"the share of one value is {shares[worst] / p:.4g}, farther from what is possible than by chance; were "
        "reports forged, or made with another spec?"
    )
    return Finding(math.log(2 * len(counts)) - people * max(float(beyond[worst]), 0.0) ** 2 / 2, why)


class _Halves(Channel):
    """Hadamard Response as an operator, by one fast transform of each block."""

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


def _test_numbers(mechanism: HadamardResponse, reports: NDArray[np.uint32]) -> list[Finding]:
    operator = _Halves(mechanism)
    counts = np.bincount(reports, minlength=operator.outputs).astype(np.float64)
    limits = np.full(operator.outputs, operator.far), np.full(operator.outputs, operator.near)
    return tests_of_outputs(Known(operator, limits), counts, None)


def _test_hashes(mechanism: OLH, reports: NDArray[np.uint64]) -> list[Finding]:
    """Test that hash functions are drawn uniformly, whatever the value, and that no report occurs too often."""
    family, g, people = HashFamily(len(mechanism.domain), mechanism.buckets), mechanism.buckets, len(reports)
    factors = family.factors(reports[:, :-1])
    digits = _least(
        _test_known_law(
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
    log_p = rows + math.log(g) - people * float(bernoulli(np.array([most / people]), np.array([limit]))[0])
    why = f"{most:,} of them are the same report, which is not by chance; were reports forged, or copied?"
    return [digits, Finding(log_p if most > limit * people else 0.0, why)]


def _least(findings: Iterable[Finding]) -> Finding:
    """The most unusual of several findings, corrected for their number."""
    each = list(findings)
    least = min(each, key=lambda finding: finding.log_p)
    return least._replace(log_p=least.log_p + math.log(len(each)))

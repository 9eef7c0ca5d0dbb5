"""Tests of whether reports of flat categories can have come from their mechanism; see ``goodness`` for the p-values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.answers.estimation.goodness import Finding, combine_tests, single_test
from bipartite.mechanisms.categories import OLH, HadamardResponse, SubsetSelection
from bipartite.mechanisms.categories.pair_laws import pair_law
from bipartite.mechanisms.categories.unary import PackedBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]


def fit_of_supports(mechanism: Mechanism, supports: NDArray[Any], people: int) -> GoodnessOfFit:
    """Test whether these supports can have come from this number of reports."""
    counts = np.asarray(supports, dtype=np.float64)
    if isinstance(mechanism, HadamardResponse):
        return combine_tests(
            [_test_signed_supports(mechanism, counts, people), _test_total_support(mechanism, counts, people)]
        )
    p, q = map(float, mechanism.support)
    found = [_test_single_values(counts, people, (q, p))]
    if isinstance(mechanism, OLH):
        found.append(_test_total_support(mechanism, counts, people))
    elif isinstance(mechanism, SubsetSelection):
        found.append(_test_set_sizes(mechanism, counts, people))
    elif isinstance(mechanism.draw, PackedBits):
        found.append(_test_total_of_bits(counts, people, (q, p)))
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


def _test_set_sizes(mechanism: SubsetSelection, counts: Array, people: int) -> Finding:
    """Test that sets have k values on average."""
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

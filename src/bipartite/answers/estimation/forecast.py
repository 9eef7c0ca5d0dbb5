"""How precise answers will be, before anybody has reported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.identify import identifiability
from bipartite.answers.estimation.pairs import pair_law
from bipartite.errors import InputError, shown
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.design.m import check_prior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

# Cumulative shares: the most numbers to compute with, and the fewest thresholds.
_MOST_NUMBERS: Final = 2**20
_LEAST_ENDS: Final = 17
_FEW_ENDS: Final = 5  # with more than 2^17 values


@dataclass(frozen=True, slots=True)
class Forecast:
    """The standard errors to expect from this many people, drawn at random from a population."""

    people: int
    identifiable: bool
    """Whether every share can be estimated without bias."""
    rank: int
    """The rank of the mechanism's matrix."""
    mean: float | None
    """Of the estimated mean; None if values are not numbers, or the mean cannot be estimated without bias."""
    histogram: float | None
    """Of one share: root mean square over all values; None if they cannot all be estimated."""
    cdf: float | None
    """Of a cumulative share: root mean square over all values of a line (for flat categories with many values, over
    some that are evenly spaced); None as above."""
    bounded: bool = False
    """Whether ``mean`` and ``cdf`` are only upper bounds: for :class:`~bipartite.OLH` with many values, several times
    too large at large ε. The errors that :func:`bipartite.estimate` computes from the reports themselves are not."""


def forecast(mechanism: Mechanism, people: object, prior: object = None) -> Forecast:
    r"""The smallest standard errors that unbiased answers from this many reports can have.

    Var = (wᵀI⁻¹w − (Σ π_x·w_x)²)/n for an answer Σ w_x·f_x, with the information matrix I = P·diag(1/r)·Pᵀ and the
    distribution of reports r = πᵀP. ``prior`` is the population π, None for uniform. All scale with 1/√n.

    >>> from bipartite import BRR, Integers
    >>> padded = BRR(Integers(18, 90), epsilon=1, edges="padded")
    >>> round(forecast(padded, 10_000).mean, 2)
    0.83
    """
    if not is_whole(people) or people < 1:
        raise InputError(f"Expected people as a whole number of at least 1, got {shown(people)}; how many will report?")
    n = int(people)
    size = len(mechanism.domain)
    population = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
    if mechanism.flat:
        return _of_categories(mechanism, population, n)
    law = mechanism.lottery.channel().forward(population)
    found = identifiability(mechanism)
    scores = found.scores(law)
    on_a_line = mechanism.domain.has_ends
    histogram = cdf = mean = None
    if found.identifiable:
        squares = scores.shares(law).square[found.group_of]
        histogram = _root(float((squares - population**2).mean()) / n)
        if on_a_line:
            # Groups are numbered in the order of values, so that this is cumulative over values too.
            squares = scores.cumulative(law).square[:-1]
            cdf = _root(float((squares - population.cumsum()[:-1] ** 2).sum()) / size / n)
    if on_a_line:
        numbers = mechanism.domain.to_numpy().astype(np.float64)
        # Around the middle, so that large numbers lose no digits.
        w = numbers - numbers.mean()
        answer = found.by_group(w)
        u = None if answer is None else scores.of(answer)
        mean = None if u is None else _root(float(law @ u**2 - (population @ w) ** 2) / n)
    return Forecast(n, found.identifiable, found.rank, mean, histogram, cdf)


def _of_categories(mechanism: Mechanism, population: NDArray[np.float64], n: int) -> Forecast:
    """From the exact joint distribution of two supports, or for :class:`~bipartite.OLH` with many values its bound."""
    histogram, mean, cdf = (
        None if each is None else _root(float(each[0]) / n)
        for each in (flat_variances(mechanism, population[None, :], of) for of in ("histogram", "mean", "cdf"))
    )
    bounded = mean is not None and is_bounded(mechanism)
    size = len(population)
    return Forecast(n, identifiable=True, rank=size, mean=mean, histogram=histogram, cdf=cdf, bounded=bounded)


def is_bounded(mechanism: Mechanism) -> bool:
    """Whether variances of the mean and of cumulative shares are upper bounds."""
    return mechanism.domain.has_ends and not pair_law(mechanism).exact(_LEAST_ENDS)


def flat_variances(mechanism: Mechanism, populations: NDArray[np.float64], of: str) -> NDArray[np.float64] | None:
    """The variance of the mean, of one share or of a cumulative share, from one report, for each population."""
    if of == "histogram":
        each = [mechanism.variances(shares, 1) + shares * (1 - shares) for shares in populations]
        return np.array([variances.mean() for variances in each])
    if not mechanism.domain.has_ends:
        return None
    law, size = pair_law(mechanism), populations.shape[-1]

    def variance(w: NDArray[np.float64]) -> NDArray[np.float64]:
        """One row per population."""
        own = law.own(w - w.mean(axis=-1, keepdims=True)) @ populations.T
        found: NDArray[np.float64] = own + w**2 @ populations.T - (w @ populations.T) ** 2
        return found.T

    if of == "mean":
        numbers = mechanism.domain.to_numpy().astype(np.float64)
        return variance(numbers - numbers.mean())
    # The cumulative share at the last value is always 1. On a long line some evenly spaced thresholds stand for all.
    least = _LEAST_ENDS if size <= _MOST_NUMBERS // 8 else _FEW_ENDS
    count = min(size - 1, max(least, _MOST_NUMBERS // law.steps))
    ends = (np.arange(count) * 2 + 1) * (size - 1) // (2 * count)
    block = max(1, _MOST_NUMBERS // 4 // size)
    blocks = [np.arange(size) <= ends[first : first + block, None] for first in range(0, count, block)]
    found = np.concatenate([variance(rows.astype(np.float64)) for rows in blocks], axis=1)
    result: NDArray[np.float64] = found.mean(axis=1) * (size - 1) / size
    return result


def _root(variance: float) -> float:
    return math.sqrt(max(variance, 0.0))

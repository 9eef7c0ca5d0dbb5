"""The error of what ``bp.estimate`` answers, for one person: under a population, and under the worst one.

``bp.estimate`` gives every report y a score u(y) and takes their mean over all people. It is unbiased for Σ_x π_x·w_x,
whatever π is: Σ_y Pr[y|x]·u(y) = w_x for every x. The scores are those with the least variance for a uniform
population. For people distributed as π the variance of one score is Σ_x π_x·g_x − (Σ_x π_x·w_x)² with
g_x = Σ_y Pr[y|x]·u(y)²: linear in π less the square of something linear, so that its largest over all populations is
found exactly.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation import identifiability
from bipartite.answers.estimation.operator import operator_of
from bipartite.domains import LineDomain
from bipartite.mechanisms.categories import CategoryMechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_MOST_VALUES: Final = 2**21
_MOST_PAIRS: Final = 2**22  # pairs of a value and a report, for every share at once


@dataclass(frozen=True, slots=True)
class ErrorOfOne:
    """Standard errors of an answer from one person: those of n people are √n times smaller."""

    here: float
    """For the population assumed; of shares the largest of all values."""
    worst: float | None
    """For whatever population is worst; None where it is not known."""


def error_of_mean(mechanism: Mechanism | CategoryMechanism, population: Array) -> ErrorOfOne | None:
    """Of the mean; None where it cannot be estimated without bias."""
    if isinstance(mechanism, CategoryMechanism) or not isinstance(mechanism.domain, LineDomain):
        return None
    found, operator = identifiability(mechanism), operator_of(mechanism)
    numbers = mechanism.domain.to_numpy().astype(np.float64)
    values = numbers - numbers.mean()  # the same variance, and no cancellation
    answer = found.by_group(values)
    scores = None if answer is None else found.scores(operator.uniform_law()).of(answer)
    if scores is None:
        return None
    moments = operator.backward(scores**2)
    here = float(population @ moments - (population @ values) ** 2)
    worst = worst_variance(values, moments) if len(values) <= _MOST_VALUES else None
    return ErrorOfOne(math.sqrt(here), None if worst is None else math.sqrt(worst))


def worst_variance(values: Array, moments: Array) -> float:
    """The largest Σπ·g − (Σπ·w)² over all π, for ascending w.

    For a given mean μ the largest Σπ·g is the upper concave envelope of the points (w, g) at μ; on a piece of it with
    slope s the whole is largest at μ = s/2.
    """
    hull: list[tuple[float, float]] = []
    for w, g in zip(values.tolist(), moments.tolist(), strict=True):
        # A point on or below the line between its neighbours is none of the envelope.
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (w - hull[-2][0]) <= (g - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((w, g))
    worst = -math.inf
    for (low, g_low), (high, g_high) in itertools.pairwise(hull):
        slope = (g_high - g_low) / (high - low)
        mean = min(max(slope / 2, low), high)
        worst = max(worst, g_low + slope * (mean - low) - mean**2)
    return worst


def error_of_shares(mechanism: Mechanism | CategoryMechanism, population: Array) -> ErrorOfOne | None:
    """Of the share that is known least; None where not all shares can be estimated without bias."""
    if isinstance(mechanism, CategoryMechanism):
        variances = mechanism.variances(population, 1) + population * (1 - population)
        return ErrorOfOne(math.sqrt(float(variances.max())), _worst_of_flat(mechanism))
    found = identifiability(mechanism)
    if not found.identifiable:
        return None
    operator = operator_of(mechanism)
    scores = found.scores(operator.uniform_law())
    squares = scores.shares(operator.forward(population)).square[found.group_of]
    here = math.sqrt(float((squares - population**2).max()))
    size = len(mechanism.domain)
    answers = found.by_group(np.eye(size)) if size * len(mechanism.outputs) <= _MOST_PAIRS else None
    each = None if answers is None else scores.of(answers)
    if each is None:
        return ErrorOfOne(here, None)
    moments = operator.backward(each**2)  # [which share, who reports]
    others = np.where(np.eye(size, dtype=bool), -np.inf, moments).max(axis=1)
    return ErrorOfOne(here, math.sqrt(float(_worst_over_shares(others, moments.diagonal()).max())))


def _worst_of_flat(mechanism: CategoryMechanism) -> float | None:
    """From the variances of a share that nobody and that everybody holds.

    None where the shares of other values matter too, as in Hadamard Response with several blocks.
    """
    size = len(mechanism.domain)
    everybody = np.zeros(size)
    everybody[0] = 1.0
    held, unheld = mechanism.variances(everybody, 1), mechanism.variances(np.zeros(size), 1)
    if not np.allclose(held[1:], unheld[1:], rtol=1e-9, atol=0):
        return None
    # The mean square of a score is its variance and the square of what the person counts: 1 or 0.
    return math.sqrt(float(_worst_over_shares(unheld[:1], held[:1] + 1)[0]))


def _worst_over_shares(others: Array, own: Array) -> Array:
    """The largest (1 − f)·others + f·own − f² over shares f."""
    share = np.clip((own - others) / 2, 0, 1)
    worst: Array = others + share * (own - others) - share**2
    return worst

"""The best linear unbiased estimate of a share or a mean, and how badly it can do whatever the population is.

An estimate gives every report y a weight c(y) and takes the mean of them over all people. It is unbiased for Σ_x π_x·w_x
whatever π is when Σ_y Pr[y|x]·c(y) = w_x for every x. For people distributed as π its variance is, for one person,
Σ_x π_x·g_x − (Σ_x π_x·w_x)² with g_x = Σ_y Pr[y|x]·c(y)². The weights that make it least for π are
c(y) = Σ_x (I⁻¹w)_x·Pr[y|x]/r(y), with r the law of reports and I = P·diag(1/r)·Pᵀ; that variance, wᵀI⁻¹w − (πᵀw)², is
also what no unbiased estimator can go below.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Directions of the information matrix that are smaller than this, beside the largest, are not estimated at all.
_SINGULAR: Final = 1e-11
_BIAS: Final = 1e-6
_ROUNDS: Final = 60
_CLOSE: Final = 1.002


def best_weights(rows: Array, population: Array, wanted: Array) -> Array | None:
    """The weights c, a column for each row of ``wanted``; None where one of them has no unbiased estimate."""
    reports = population @ rows
    information = (rows / reports) @ rows.T
    values, vectors = np.linalg.eigh(information)
    kept = values > values[-1] * _SINGULAR
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    weights: Array = (rows / reports).T @ (inverse @ wanted.T)
    bias = np.abs(rows @ weights - wanted.T).max()
    return weights if bias <= _BIAS * np.abs(wanted).max() else None


def share_variances(rows: Array, population: Array) -> tuple[Array, Array] | None:
    """For one person: the least variance of each share under a population, and what the same estimate has at worst."""
    weights = best_weights(rows, population, np.eye(len(rows)))
    if weights is None:
        return None
    moments = rows @ weights**2  # [x, which share]
    here = population @ moments - population**2
    own = moments.diagonal()
    others = np.where(np.eye(len(rows), dtype=bool), -np.inf, moments).max(axis=0)
    return here, worst_share(others, own)


def worst_share(others: Array, own: Array) -> Array:
    """max over f of others + f·(own − others) − f²: the variance of a share f of people, at its worst."""
    share = np.clip((own - others) / 2, 0, 1)
    worst: Array = others + share * (own - others) - share**2
    return worst


def worst_mean(rows: Array, population: Array, values: Array) -> float | None:
    """A variance, for one person, that the best estimate of the mean does not exceed whatever the population is.

    The least variance is concave in the population, so its largest is found by going towards the population that is
    worst for the present weights. Each step gives weights, whose own worst case is a bound; the least of them is
    returned, within 0.2 % of the true one where 60 steps suffice.
    """
    bound = np.inf
    middle = (values[0] + values[-1]) / 2
    centred = values - middle  # the same variance, and no cancellation
    guess = population
    for number in range(_ROUNDS):
        weights = best_weights(rows, guess, centred[None, :])
        if weights is None:
            return None
        moments = rows @ weights[:, 0] ** 2
        worst, mixture = _worst_population(centred, moments)
        bound = min(bound, worst)
        if bound <= (guess @ moments - (guess @ centred) ** 2) * _CLOSE:
            break
        guess = guess + (mixture - guess) * (2 / (number + 3))
    return float(bound)


def _worst_population(values: Array, moments: Array) -> tuple[float, Array]:
    """max over π of Σπ·g − (Σπ·w)², and the π that attains it: on two values at most.

    For a given mean μ the largest Σπ·g is the upper concave envelope of the points (w, g) at μ; on a piece of it with
    slope s the whole is largest at μ = s/2.
    """
    hull: list[int] = []
    for x in range(len(values)):
        while len(hull) > 1 and _below(values, moments, hull[-2], hull[-1], x):
            hull.pop()
        hull.append(x)
    best, found = -np.inf, np.zeros(len(values))
    for low, high in itertools.pairwise(hull):
        slope = (moments[high] - moments[low]) / (values[high] - values[low])
        mean = min(max(slope / 2, values[low]), values[high])
        worst = moments[low] + slope * (mean - values[low]) - mean**2
        if worst > best:
            part = (mean - values[low]) / (values[high] - values[low])
            best, found = worst, np.zeros(len(values))
            found[low], found[high] = 1 - part, part
    return float(best), found


def _below(values: Array, moments: Array, first: int, middle: int, last: int) -> bool:
    """Whether the middle point lies on or below the line between its neighbours."""
    there = (moments[middle] - moments[first]) * (values[last] - values[first])
    return bool(there <= (moments[last] - moments[first]) * (values[middle] - values[first]))

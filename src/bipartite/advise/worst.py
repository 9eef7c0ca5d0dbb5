"""How badly an estimate can do whatever the population is.

An estimate gives every report y a score u(y) and takes their mean over all people. It is unbiased for Σ_x π_x·w_x,
whatever π is, when Σ_y Pr[y|x]·u(y) = w_x for every x. For people distributed as π its variance is, for one person,
Σ_x π_x·g_x − (Σ_x π_x·w_x)² with g_x = Σ_y Pr[y|x]·u(y)²: linear in π less the square of something linear, so that its
largest over all populations is found exactly.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.estimate.identify import identifiability
from bipartite.estimate.operator import operator_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.categories import CategoryMechanism
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_ROUNDS: Final = 60
_CLOSE: Final = 1.002
_MOST_VALUES: Final = 2**14
_MOST_PAIRS: Final = 2**22  # pairs of a value and a report, for every share at once


def worst_mean(mechanism: Mechanism, population: Array) -> float | None:
    """A standard error, for one person, that the best estimate of the mean does not exceed whatever the population is.

    The least variance is concave in the population, so its largest is found by going towards the population that is
    worst for the present scores. Each step gives scores, whose own worst case is a bound; the least of them is
    returned: within 0.2 % of the true variance where 60 steps suffice. None where the mean cannot be estimated, or
    with more than 2^14 values.
    """
    if len(mechanism.domain) > _MOST_VALUES:
        return None
    found, operator = identifiability(mechanism), operator_of(mechanism)
    numbers = mechanism.domain.to_numpy().astype(np.float64)
    values = numbers - numbers.mean()  # the same variance, and no cancellation
    answer = found.by_group(values)
    if answer is None:
        return None
    bound = math.inf
    guess = population
    for number in range(_ROUNDS):
        scores = found.scores(operator.forward(guess)).of(answer)
        if scores is None:
            return None
        moments = operator.backward(scores**2)
        worst, mixture = _worst_population(values, moments)
        bound = min(bound, worst)
        if bound <= float(guess @ moments - (guess @ values) ** 2) * _CLOSE:
            break
        guess = guess + (mixture - guess) * (2 / (number + 3))
    return math.sqrt(bound)


def _worst_population(values: Array, moments: Array) -> tuple[float, Array]:
    """The largest Σπ·g − (Σπ·w)² over all π, and the π that attains it: on two values at most.

    For a given mean μ the largest Σπ·g is the upper concave envelope of the points (w, g) at μ; on a piece of it with
    slope s the whole is largest at μ = s/2.
    """
    hull: list[int] = []
    for x in range(len(values)):
        while len(hull) > 1 and _below(values, moments, hull[-2], hull[-1], x):
            hull.pop()
        hull.append(x)
    best, found = -math.inf, (hull[0], hull[-1], 0.0)
    for low, high in itertools.pairwise(hull):
        slope = (moments[high] - moments[low]) / (values[high] - values[low])
        mean = min(max(slope / 2, values[low]), values[high])
        worst = moments[low] + slope * (mean - values[low]) - mean**2
        if worst > best:
            best, found = worst, (low, high, (mean - values[low]) / (values[high] - values[low]))
    mixture = np.zeros(len(values))
    mixture[found[0]], mixture[found[1]] = 1 - found[2], found[2]
    return float(best), mixture


def _below(values: Array, moments: Array, first: int, middle: int, last: int) -> bool:
    """Whether the middle point lies on or below the line between its neighbours."""
    there = (moments[middle] - moments[first]) * (values[last] - values[first])
    return bool(there <= (moments[last] - moments[first]) * (values[middle] - values[first]))


def worst_share(mechanism: Mechanism, population: Array) -> float | None:
    """A standard error, for one person, that the share of no value exceeds whatever the population is.

    It is the worst case of the scores that are best for ``population``: other scores may do better. None where shares
    cannot be estimated, or with too many values.
    """
    size = len(mechanism.domain)
    found = identifiability(mechanism) if size * len(mechanism.outputs) <= _MOST_PAIRS else None
    if found is None or not found.identifiable:
        return None
    operator = operator_of(mechanism)
    answers = found.by_group(np.eye(size))
    scores = None if answers is None else found.scores(operator.forward(population)).of(answers)
    if scores is None:
        return None
    moments = operator.backward(scores**2)  # [which share, who reports]
    others = np.where(np.eye(size, dtype=bool), -np.inf, moments).max(axis=1)
    return math.sqrt(float(_worst_over_shares(others, moments.diagonal()).max()))


def worst_share_of_flat(mechanism: CategoryMechanism) -> float | None:
    """The same for flat categories: exactly, from the variances of a share that nobody and that everybody holds.

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

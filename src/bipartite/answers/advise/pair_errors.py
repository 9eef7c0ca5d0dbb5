r"""Standard errors of answers about two attributes: both reported with a part of ε each, or the pair as one value.

An answer Σ w·f over pairs of values is an average of one score per person. Its variance over n people is
(E[score²] − (Σ w·f)²)/n, and E[score²] is an average over pairs of values of what it is given a pair. Where both values
are reported on their own, the score of w₁·w₂ᵀ is a product of two that are independent given the values, so that
E[score²|x, y] = s₁(x)·s₂(y): a number for each value is enough. All of this is exact, for every population.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.pairs import pair_law
from bipartite.answers.estimation.question import numbers_of
from bipartite.answers.estimation.source import prepared
from bipartite.mechanisms import Mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.advise.reporting_plans import OfOne, OfPairs
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

# The number of weights of pairs held at once.
_ROOM: Final = 2**22


def squares_given(mechanism: Mechanism, w: Array) -> Array:
    """E[score²] of every row of weights, given every value; infinite where it cannot be estimated."""
    if mechanism.flat:
        found: Array = pair_law(mechanism).own(w - w.mean(axis=-1, keepdims=True)) + w**2
        return found
    known = prepared(mechanism)
    answer = None if known.found is None else known.found.by_group(w)
    scores = None if answer is None or known.scores is None else known.scores.of(answer)
    return np.full(w.shape, math.inf) if scores is None else mechanism.lottery.channel().backward(scores**2)


def error_of_two(first: Mechanism, second: Mechanism, of: OfPairs, people: int, shares: Array | None = None) -> float:
    """The standard error where each value has a report of its own; root mean square over all cells or quadrants.

    ``shares`` is the table of the population, None for uniform and independent values; for a correlation only that.
    """
    f = _uniform(first.domain, second.domain) if shares is None else shares
    w1, w2 = (_weights(each.domain, of) for each in (first, second))
    squares = squares_given(first, w1) @ f @ squares_given(second, w2).T
    return _error(squares, w1 @ f @ w2.T, people)


def error_of_pair(mechanism: Mechanism, parts: tuple[Domain, Domain], of: OfPairs, people: int) -> float:
    """The same where one report is about both values, for uniform and independent ones."""
    return error_of_pair_in(mechanism, parts, of, people, _uniform(*parts))


def error_of_pair_in(
    mechanism: Mechanism, parts: tuple[Domain, Domain], of: OfPairs, people: int, shares: Array
) -> float:
    """The same for a population with these shares."""
    f = shares.ravel()
    if of == "cells":
        return _error(cell_squares(mechanism, f), f, people)
    w1, w2 = (_weights(part, of) for part in parts)
    w = np.einsum("ia,jb->ijab", w1, w2).reshape(-1, len(f))
    return _error(squares_given(mechanism, w) @ f, w @ f, people)


def cell_squares(mechanism: Mechanism, f: Array) -> Array:
    """E[score²] of the share of every value, over people with these shares: each share is scored by itself."""
    if mechanism.flat:
        return mechanism.variances(f, 1) + f
    known = prepared(mechanism)
    if known.scores is None or known.found is None or not known.found.identifiable:
        return np.full(len(f), math.inf)
    return known.scores.shares(mechanism.lottery.channel().forward(f)).square


def error_of_part(mechanism: Mechanism, parts: tuple[Domain, Domain], at: int, of: OfOne, people: int) -> float:
    """The standard error for one of the two values, from reports about both: of its mean, shares or cumulative shares.

    As :func:`bipartite.forecast` has them for a mechanism of that value alone: root mean square over all values.
    """
    domain, other = parts[at], len(parts[1 - at])
    size = len(domain)
    rows = np.eye(size) if of == "histogram" else np.tri(size)[:-1] if of == "cdf" else numbers_of(domain)[0][None]
    step = max(1, _ROOM // (size * other))
    total = 0.0
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        w = np.repeat(some, other, axis=1) if at == 0 else np.tile(some, other)
        total += float((squares_given(mechanism, w).mean(axis=1) - w.mean(axis=1) ** 2).sum())
    return math.sqrt(max(total, 0.0) / (1 if of == "mean" else size) / people)


def typical_square(mechanism: Mechanism, of: OfPairs) -> float:
    """What one attribute adds to an error of two: the mean square of its scores, for a uniform population."""
    return float(squares_given(mechanism, _weights(mechanism.domain, of)).mean())


def _weights(domain: Domain, of: OfPairs) -> Array:
    """One row for each part that an answer is a product of."""
    size = len(domain)
    if of == "cells":
        return np.eye(size)
    if of == "quadrants":
        low = (np.arange(size) < size // 2).astype(np.float64)
        return np.stack([low, 1 - low])
    numbers = numbers_of(domain)[0]
    # Of independent values: the covariance of numbers with mean 0 and variance 1, to first order.
    scaled: Array = numbers / np.sqrt((numbers**2).mean())
    return scaled[None]


def _uniform(first: Domain, second: Domain) -> Array:
    return np.full((len(first), len(second)), 1 / (len(first) * len(second)))


def _error(squares: Array, values: Array, people: int) -> float:
    return math.sqrt(max(float((squares - values**2).mean()), 0.0) / people)

r"""Two attributes: both reported with a part of the budget each, or the pair as one value with all of it.

An answer Σ w·f over pairs of values is an average of one score per person. Its variance over n people is
(E[score²] − (Σ w·f)²)/n, and E[score²] is an average over pairs of values of what it is given a pair. Where both values
are reported on their own, the score of w₁·w₂ᵀ is a product of two that are independent given the values, so that
E[score²|x, y] = s₁(x)·s₂(y): a number for each value is enough. All of this is exact, for every population.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.answers.advise.forecasting import Foreseen, mean_squares
from bipartite.domains import Product
from bipartite.errors import DesignError, EpsilonError, InputError
from bipartite.mechanisms import BRR, GRR
from bipartite.mechanisms.categories import SubsetSelection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

OfPairs = Literal["cells", "quadrants", "correlation"]
OF_PAIRS: Final = ("cells", "quadrants", "correlation")
MOST_PAIRS: Final = 2**16
"""Largest number of pairs of values: errors are computed for each of them."""
_ROOM: Final = 2**22  # the number of weights of pairs held at once
# The best window of BRR for each question; for single cells there is none.
_WINDOWS: Final[dict[str, Literal["cdf", "mean"]]] = {"quadrants": "cdf", "correlation": "mean"}


def error_of_two(first: Mechanism, second: Mechanism, of: str, n: int, shares: Array | None = None) -> float:
    """The standard error where each value has a report of its own; root mean square over all cells or quadrants.

    ``shares`` is the table of the population, None for uniform and independent values; for a correlation only that.
    """
    f = _uniform(first.domain, second.domain) if shares is None else shares
    w1, w2 = (_weights(each.domain, of) for each in (first, second))
    return _error(_squares(first, w1) @ f @ _squares(second, w2).T, w1 @ f @ w2.T, n)


def error_of_pair(
    mechanism: Mechanism, parts: tuple[Domain, Domain], of: str, n: int, shares: Array | None = None
) -> float:
    """The same where one report is about both values."""
    f = (_uniform(*parts) if shares is None else shares).ravel()
    if of == "cells":
        # Each share is scored by itself.
        variances = Foreseen(mechanism).of_shares(f[None])
        return math.inf if variances is None else math.sqrt(max(float(variances.mean()), 0.0) / n)
    w1, w2 = (_weights(part, of) for part in parts)
    w = np.einsum("ia,jb->ijab", w1, w2).reshape(-1, len(f))
    return _error(_squares(mechanism, w) @ f, w @ f, n)


def error_of_part(mechanism: Mechanism, parts: tuple[Domain, Domain], at: int, of: str, n: int) -> float:
    """The standard error for one of the two values, from reports about both, for uniform ones.

    As :func:`bipartite.forecast` has them for a mechanism of that value alone: root mean square over all values.
    """
    domain, other = parts[at], len(parts[1 - at])
    size = len(domain)
    rows = np.eye(size) if of == "histogram" else np.tri(size)[:-1] if of == "cdf" else _numbers(domain)[None]
    step = max(1, _ROOM // (size * other))
    total = 0.0
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        w = np.repeat(some, other, axis=1) if at == 0 else np.tile(some, other)
        total += float((_squares(mechanism, w).mean(axis=1) - w.mean(axis=1) ** 2).sum())
    return math.sqrt(max(total, 0.0) / (1 if of == "mean" else size) / n)


def best_alone(domain: Domain, epsilon: object, of: str) -> Mechanism:
    """The mechanism of one of two attributes with the least error for what is asked of both."""
    rivals: list[Mechanism] = [SubsetSelection(domain, epsilon), GRR(domain, epsilon)]
    if of in _WINDOWS and domain.has_ends:
        rivals.append(BRR(domain, epsilon, m=_WINDOWS[of], edges="padded"))
    w = _weights(domain, of)
    # For uniform and independent values the mean square of a product is the product of the mean squares.
    return min(rivals, key=lambda rival: float(_squares(rival, w).mean()))


def as_one_value(domains: list[Domain], epsilon: object) -> list[Mechanism]:
    """The mechanisms of two attributes that are reported as one value; none where that is impossible."""
    if len(domains) != 2 or math.prod(map(len, domains)) > MOST_PAIRS:  # noqa: PLR2004 (a pair)
        return []
    try:
        both = Product(*domains)
        return [SubsetSelection(both, epsilon), GRR(both, epsilon)]
    except (InputError, DesignError, EpsilonError):
        return []


def _squares(mechanism: Mechanism, w: Array) -> Array:
    """E[score²] of every row of weights, given every value; infinite where the reports cannot tell."""
    found = mean_squares(mechanism, w)
    return np.full(w.shape, math.inf) if found is None else found


def _weights(domain: Domain, of: str) -> Array:
    """One row for each part that an answer is a product of."""
    size = len(domain)
    if of == "cells":
        return np.eye(size)
    if of == "quadrants":
        low = (np.arange(size) < size // 2).astype(np.float64)
        return np.stack([low, 1 - low])
    numbers = _numbers(domain)
    # Of independent values: the covariance of numbers with mean 0 and variance 1, to first order.
    scaled: Array = numbers / np.sqrt((numbers**2).mean())
    return scaled[None]


def _numbers(domain: Domain) -> Array:
    """The values as numbers around their middle, so that large ones lose no digits."""
    numbers = domain.to_numpy().astype(np.float64)
    found: Array = numbers - numbers.mean()
    return found


def _uniform(first: Domain, second: Domain) -> Array:
    return np.full((len(first), len(second)), 1 / (len(first) * len(second)))


def _error(squares: Array, values: Array, n: int) -> float:
    return math.sqrt(max(float((squares - values**2).mean()), 0.0) / n)

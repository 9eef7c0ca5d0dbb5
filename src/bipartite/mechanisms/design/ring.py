r"""The number m of near outputs on a circle.

**Single values.** Every row is a rotation of one row with losses 0, 1, 1, 2, 2, …, so every value has the same best m
for every prior: "safe" and "best" are the same. Raising both values at distance d lowers the expected loss exactly if

    (E − 1)·d² + N·d < ⌊N²/4⌋,

the sum of all distances, so m = 1 + 2·#{d that satisfy this}, decided in integer arithmetic.

**Statistics.** The matrix is circulant: its eigenvectors are the waves e^(2πikx/N), and for k ≠ 0 its eigenvalues have
the modulus λ_k = (p − q)·|sin(πkm/N)/sin(πk/N)|. An eigenvalue is zero if k·m/N is an integer: gcd(m, N) − 1 waves
vanish from the reports, and the rank is N − gcd(m, N) + 1. So m must be coprime to N, and of these the one with the
least risk is used: n·N·λ_k² is the information of n reports of a uniform population on wave k, a density as rough as a
standard Brownian motion adds N³·4·sin²(πk/N), and the risk of a statistic is the sum over its waves of the inverse
(van Trees' bound, as on a line).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.statistics import LARGEST, PEOPLE, SMALLEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Epsilon
    from bipartite.mechanisms.design.statistics import Wanted

# Up to this many values every m is tried; with more, this many evenly spaced ones. As many waves are summed.
_ALL: Final = 1024


def ring_rank(size: int, m: int) -> int:
    """The rank of the matrix of BRR with m near values on a circle: N − gcd(m, N) + 1.

    >>> ring_rank(24, 9), ring_rank(24, 7)
    (22, 24)
    """
    return size - math.gcd(m, size) + 1


def least_loss_m(size: int, epsilon: Epsilon) -> int:
    """The m with the least expected loss, for every value and every prior.

    >>> from bipartite.lottery.epsilon import Epsilon
    >>> [least_loss_m(24, Epsilon.of(e)) for e in ("0.01", "1", "4")]
    [11, 9, 3]
    """
    total = size * size // 4

    def helps(d: int) -> bool:
        return epsilon.sign(size * d - total - d * d, d * d) < 0

    low, high = 0, size // 2
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if helps(middle) else (low, middle - 1)
    return 2 * low + 1


def statistical_m(size: int, epsilon: Epsilon, wanted: Wanted) -> int:
    """The m coprime to N with the least risk for the mean direction, for shares of arcs, or for the histogram.

    >>> from bipartite.lottery.epsilon import Epsilon
    >>> [statistical_m(24, Epsilon.of(1), wanted) for wanted in ("mean", "cdf", "histogram")]
    [11, 5, 5]
    """
    exp = min(max(epsilon.exp, SMALLEST), LARGEST)
    tried = range(1, size) if size <= _ALL else np.linspace(1, size - 1, _ALL).round().astype(int).tolist()
    # The next coprime number below always exists: 1 is coprime.
    coprime = sorted({next(m for m in range(each, 0, -1) if math.gcd(m, size) == 1) for each in tried})
    return min(coprime, key=lambda m: risk(size, exp, m, wanted))


def risk(size: int, exp: float, m: int, wanted: Wanted, people: float = PEOPLE) -> float:
    """The risk times n, up to a factor that does not depend on m."""
    # Reports carry no information on shorter waves of a large circle, whatever m is.
    waves = np.arange(1, min(size // 2, _ALL) + 1)
    twice = np.where(2 * waves == size, 1.0, 2.0)  # wave k and wave N − k
    turned: NDArray[np.float64] = np.sin(np.pi * waves / size) ** 2
    excess = (exp - 1) / (m * exp + size - m)
    # k·m is reduced first, so that the sine of a multiple of π is exactly 0.
    kept = excess**2 * np.sin(np.pi * (waves * m % size) / size) ** 2 / turned
    variance = twice * people / (people * size * kept + size**3 * 4 * turned)
    if wanted == "mean":
        return float(variance[0])
    # Short waves contribute little to the share of an arc, and as much as others to that of a single value.
    return float((variance / turned).sum() if wanted == "cdf" else variance.sum())

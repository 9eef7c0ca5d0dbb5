r"""The best number m of near outputs for statistics: for the mean, the distribution function, or the histogram.

A padded window has m = 2h + 1 near outputs with probability p, and far outputs with q, on N values. A wide window
catches more reports, a narrow one locates the value better; which is better depends on the statistic. The choice is
computed from public numbers alone.

**Information of one report.** Let F\ :sub:`i` be the share of people with one of the first i values, i = 1 … N − 1.
Moving people across the border between values i and i + 1 changes the law of a report in only two outputs, i and i + m,
by p − q. So with r the law of reports when values are uniform, the information matrix I of F has
(p − q)²·(1/r\ :sub:`i` + 1/r\ :sub:`i+m`) on its diagonal and −(p − q)²/r\ :sub:`i+m` between i and i + m. Its inverse
over n is the asymptotic variance of F. It is P·diag(1/r)·Pᵀ in other coordinates.

**Why this is not enough.** A window blurs: there is hardly any information on details much finer than the window, so
their asymptotic variance is enormous, and it would dominate the average although no estimator tries to resolve them
(smoothing and early stopping suppress them). So a public assumption about the population is added: its density,
relative to the uniform one, varies over the range like a standard Brownian motion, by about 100 % from end to end. The
information matrix of this prior is N³·T² with T the matrix of second differences. The risk is the remaining variance,

    wᵀ·(n·I + N³·T²)⁻¹·w,  n = 100,000 people,

van Trees' bound on the mean squared error of w·F, with the information taken at the uniform population. As n grows the
first term dominates, and the risk is the asymptotic variance.

- ``"mean"``: w = 1/N everywhere, the mean as a share of the range.
- ``"cdf"``: the average over all borders of the variance of F.
- ``"histogram"``: the average over all values of the variance of their share.

A standard Brownian motion has no free constant. n does not follow from N and ε, but the result depends little on it:
with ten times as many people the best window for ``"cdf"`` is about a third narrower.

**A circle.** The matrix is circulant: its eigenvectors are the waves e^(2πikx/N), and for k ≠ 0 its eigenvalues have
the modulus λ_k = (p − q)·|sin(πkm/N)/sin(πk/N)|. An eigenvalue is zero if k·m/N is an integer: gcd(m, N) − 1 waves
vanish from the reports, and the rank is N − gcd(m, N) + 1. So m must be coprime to N, and of these the one with the
least risk is used: n·N·λ_k² is the information of n reports of a uniform population on wave k, a density as rough as a
standard Brownian motion adds N³·4·sin²(πk/N), and the risk of a statistic is the sum over its waves of the inverse
(van Trees' bound, as on a line).

Gill, Levit: *Applications of the van Trees inequality: a Bayesian Cramér-Rao bound* (Bernoulli 1995).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Epsilon

Wanted = Literal["mean", "cdf", "histogram"]
PEOPLE: Final = 100_000
# With more values the best share of near outputs is that for this many: the reports of 100,000 people resolve waves of
# at most √n/π ≈ 100 half-periods, even if every report were true.
_FINE: Final = 256
# All windows are tried on at most this many values; with more values, only those near the best one on fewer.
_COARSE: Final = 64
# Around a circle, up to this many values every m is tried; with more, this many evenly spaced ones. As many waves are
# summed.
_ALL: Final = 1024
# The grid where ε is so large that a window of one is best on 256 values.
_FINEST: Final = 1024
# As ε → 0 the information is proportional to ε² and the window tends to a limit. Below the smaller ε reports add so
# little to the prior that rounding would decide; above the larger one a window of one is best on 1,024 values.
SMALLEST: Final = math.exp(0.01)
LARGEST: Final = math.exp(20)


def statistical_half_window(size: int, epsilon: Epsilon, wanted: Wanted) -> int:
    """The half-window h of least risk, m = 2h + 1: exact for up to 64 values, nearly so for up to 256.

    For more values, the share m/N is that for 256 values, or for 1,024 where 256 are too coarse.

    >>> from bipartite.lottery.epsilon import Epsilon
    >>> [statistical_half_window(256, Epsilon.of(1), wanted) for wanted in ("mean", "cdf", "histogram")]
    [107, 34, 16]
    """
    exp = min(max(epsilon.exp, SMALLEST), LARGEST)
    if size <= _FINE:
        return _best(size, exp, wanted)
    grid = _FINE if _best(_FINE, exp, wanted) > 0 else _FINEST
    if size <= grid:
        return _best(size, exp, wanted)
    return max(round(_half(_best_share(grid, exp, wanted), size)), 0)


def risk(size: int, exp: float, half_window: int, wanted: Wanted, people: float = PEOPLE) -> float:
    """The risk times n; see the top of the file."""
    borders = size - 1
    precision = people * information(size, exp, half_window) + size**3 * _roughness(borders)
    variance = people * np.linalg.inv(precision)
    if wanted == "mean":
        return float(variance.sum()) / size**2
    if wanted == "cdf":
        return float(variance.trace()) / borders
    # A share is the difference of F at two borders; F is known at both ends.
    return float(2 * variance.trace() - 2 * variance.trace(offset=1)) / size


def information(size: int, exp: float, half_window: int) -> NDArray[np.float64]:
    """The information of one report on F at the N − 1 borders between values, when values are uniform."""
    m, borders = 2 * half_window + 1, size - 1
    outputs = size + m - 1
    far = 1 / (m * exp + size - 1)
    excess = (exp - 1) * far
    at = np.arange(outputs)
    near = np.minimum(np.minimum(at + 1, outputs - at), min(m, size))
    inverse = excess**2 / (far + excess * near / size)
    matrix = np.diag(inverse[:borders] + inverse[m : m + borders])
    if m < borders:
        first = np.arange(borders - m)
        matrix[first, first + m] = matrix[first + m, first] = -inverse[m:borders]
    return matrix


@lru_cache(maxsize=4)
def _roughness(borders: int) -> NDArray[np.float64]:
    """T² with T the matrix of second differences of F, which is known before the first border and after the last."""
    second = np.diag(np.full(borders, -2.0)) + np.diag(np.ones(borders - 1), 1) + np.diag(np.ones(borders - 1), -1)
    squared: NDArray[np.float64] = second @ second
    squared.flags.writeable = False
    return squared


@lru_cache(maxsize=256)
def _best(size: int, exp: float, wanted: Wanted) -> int:
    """The best half-window by trying all; with many values, only those near the best one on fewer."""
    low, high = 0, size
    if size > _COARSE:
        fewer = _COARSE if size <= _FINE else _FINE
        coarse = _best(fewer, exp, wanted)
        low = max(int(_half((2 * coarse - 1) / fewer, size)), 0)
        high = int(_half((2 * coarse + 3) / fewer, size)) + 1
    return min(range(low, high + 1), key=lambda h: risk(size, exp, h, wanted))


@lru_cache(maxsize=256)
def _best_share(grid: int, exp: float, wanted: Wanted) -> float:
    """The best m/N on a grid, interpolated: the minimum of a parabola through three risks."""
    best = _best(grid, exp, wanted)
    if best == 0:
        return 1 / grid
    before, here, after = (risk(grid, exp, h, wanted) for h in (best - 1, best, best + 1))
    bend = before - 2 * here + after
    offset = (before - after) / (2 * bend) if bend > 0 else 0.0
    return (2 * (best + min(max(offset, -0.5), 0.5)) + 1) / grid


def _half(share: float, size: int) -> float:
    """The half-window for which m is this share of N."""
    return (share * size - 1) / 2


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
    return min(coprime, key=lambda m: ring_risk(size, exp, m, wanted))


def ring_risk(size: int, exp: float, m: int, wanted: Wanted, people: float = PEOPLE) -> float:
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

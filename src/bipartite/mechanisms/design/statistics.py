r"""The padded window that serves statistics best: for the mean, the distribution function, or the histogram.

A padded window of m = 2h + 1 outputs on N values: p near, q far. Wide windows are hit more often, narrow ones say more
about where the value was; which is better depends on what is to be told from many reports. The answer is computed from
public numbers alone.

**What one report says.** Let F\ :sub:`i` be the share of people with one of the first i values, i = 1 … N − 1. Moving
people across the border between values i and i + 1 changes the law of a report in two outputs only, i and i + m, by
p − q. So with r the law of reports when values are uniform, the information matrix I of F has
(p − q)²·(1/r\ :sub:`i` + 1/r\ :sub:`i+m`) on its diagonal and −(p − q)²/r\ :sub:`i+m` between i and i + m. Its inverse
over n is the asymptotic variance of F. It is P·diag(1/r)·Pᵀ in other coordinates.

**Why that alone is no guide.** A window blurs: details much finer than it have hardly any information, their asymptotic
variance is enormous, and it would be averaged with the rest although no estimator tries to resolve them (smoothing and
early stopping leave them out). So something public is said about the population, too: its density, relative to the
uniform one, moves over the range like a standard Brownian motion, by about 100 % from end to end, whose information
matrix is N³·T² with T the matrix of second differences. The risk is the variance left by both,

    wᵀ·(n·I + N³·T²)⁻¹·w,  n = 100,000 people,

van Trees' bound on the mean squared error of w·F, with the information taken at the uniform population. As n grows the
first term rules, and it is the asymptotic variance.

- ``"mean"``: w = 1/N everywhere, the mean as a share of the range.
- ``"cdf"``: the average over all borders of the variance of F.
- ``"histogram"``: the average over all values of the variance of their share.

A standard Brownian motion needs no constant. n does not follow from N and ε, but not much depends on it: ten times as
many people make the best window for ``"cdf"`` about a third narrower.

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
# From here on the best share of near outputs is that of this many values. What the reports of 100,000 people add to the
# prior are waves of at most √n/π ≈ 100 half-periods, even if every report were the truth.
_FINE: Final = 256
# All windows are tried on at most this many values, on more only those beside the best of them.
_COARSE: Final = 64
# Where ε is so large that on 256 values a window of one is best, the same question is asked of more.
_FINEST: Final = 1024
# As ε → 0 information is proportional to ε² and the window tends to a limit. Below the smaller ε reports add so little
# to the prior that rounding would decide; from the larger one on a window of one is best on 1,024 values.
SMALLEST: Final = math.exp(0.01)
LARGEST: Final = math.exp(20)


def statistical_half_window(size: int, epsilon: Epsilon, wanted: Wanted) -> int:
    """The half-window h of least risk, m = 2h + 1: the best of all for up to 64 values, near it for up to 256.

    For more values, the share m/N is that of 256 values, or of 1,024 where 256 are too few to tell.

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
    """The mean squared error that is left, times n: see the top of the file."""
    borders = size - 1
    precision = people * information(size, exp, half_window) + size**3 * _roughness(borders)
    variance = people * np.linalg.inv(precision)
    if wanted == "mean":
        return float(variance.sum()) / size**2
    if wanted == "cdf":
        return float(variance.trace()) / borders
    # A share is the difference of F at two borders; F is certain at both ends.
    return float(2 * variance.trace() - 2 * variance.trace(offset=1)) / size


def smooth_variance(matrix: NDArray[np.float64], population: NDArray[np.float64], people: float) -> float:
    """The variance left at a border, on average, by reports of any mechanism and a smooth population: "cdf" above.

    ``matrix`` holds the chances of reports, a row a value. With 0 people it is the variance of the population itself.
    """
    size = len(population)
    steps = matrix[:-1] - matrix[1:]
    law = population @ matrix
    said = (steps / np.where(law > 0, law, 1.0)) @ steps.T
    precision = people * said + size**3 * _roughness(size - 1)
    return float(np.linalg.inv(precision).trace()) / (size - 1)


def information(size: int, exp: float, half_window: int) -> NDArray[np.float64]:
    """What one report says about F at the N − 1 borders between values, when values are uniform."""
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
    """T², T the matrix of second differences of F, which is certain before the first border and after the last."""
    second = np.diag(np.full(borders, -2.0)) + np.diag(np.ones(borders - 1), 1) + np.diag(np.ones(borders - 1), -1)
    squared: NDArray[np.float64] = second @ second
    squared.flags.writeable = False
    return squared


@lru_cache(maxsize=256)
def _best(size: int, exp: float, wanted: Wanted) -> int:
    """The best half-window by trying; on many values only beside the best one on fewer."""
    low, high = 0, size
    if size > _COARSE:
        fewer = _COARSE if size <= _FINE else _FINE
        beside = _best(fewer, exp, wanted)
        low = max(int(_half((2 * beside - 1) / fewer, size)), 0)
        high = int(_half((2 * beside + 3) / fewer, size)) + 1
    return min(range(low, high + 1), key=lambda h: risk(size, exp, h, wanted))


@lru_cache(maxsize=256)
def _best_share(grid: int, exp: float, wanted: Wanted) -> float:
    """The best m/N on a grid, between whole half-windows: the lowest point of a parabola through three risks."""
    best = _best(grid, exp, wanted)
    if best == 0:
        return 1 / grid
    before, here, after = (risk(grid, exp, h, wanted) for h in (best - 1, best, best + 1))
    bend = before - 2 * here + after
    offset = (before - after) / (2 * bend) if bend > 0 else 0.0
    return (2 * (best + min(max(offset, -0.5), 0.5)) + 1) / grid


def _half(share: float, size: int) -> float:
    """The half-window whose m is a share of N."""
    return (share * size - 1) / 2

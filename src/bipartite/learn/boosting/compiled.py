"""The loops of boosting as machine code (numba), in whole numbers except for the envelope of a lottery.

Importing this module compiles the kernels, or loads them from numba's cache.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numba import njit, types

from bipartite.lottery.caching import can_cache
from bipartite.lottery.jit import wide_product

_u64 = np.uint64
_i64 = np.int64
_BINS: Final = types.Array(types.uint8, 2, "C", readonly=True)
_WHOLE: Final = types.Array(types.int64, 1, "C", readonly=True)
_CUBE: Final = types.int64[:, :, ::1]
_OPTIONS: Final[dict[str, Any]] = {"cache": can_cache(), "nogil": True, "boundscheck": False}

GRADIENT_BITS: Final = 20
"""Labels, gradients and leaves are multiples of 2^−20, where a label lies in [−1, 1]."""
GAIN_BITS: Final = 10
"""Gains are multiples of 2^−10, where the largest gradient is 1."""
ENVELOPE_BITS: Final = 40
"""The best cut of a node holds about 2^40 tickets of the lottery that proposes a cut."""
_SHIFT: Final = _u64(2 * GRADIENT_BITS - GAIN_BITS)
_WORD: Final = _u64(64)
_SCALE: Final = float(2**ENVELOPE_BITS)
# The exponent is off by less than 2^−45 of itself and exp by a few units in the last place; the envelope is an upper
# bound with room to spare, and `splits` checks with exact numbers every cut that is proposed.
_ROOM: Final = 1 + 2.0**-30
_LEAST: Final = 2


@njit(
    types.void(_BINS, _WHOLE, _WHOLE, _WHOLE, _CUBE, _CUBE),
    **_OPTIONS,
)
def histograms(bins: Any, rows: Any, nodes: Any, gradients: Any, counts: Any, sums: Any) -> None:
    """Add each of these rows to the bins of its node: their number, and the sum of their gradients."""
    features = bins.shape[1]
    for i in range(rows.shape[0]):
        row, node, gradient = rows[i], nodes[i], gradients[i]
        for feature in range(features):
            at = bins[row, feature]
            counts[node, feature, at] += 1
            sums[node, feature, at] += gradient


@njit(types.int64(types.int64, types.int64, types.int64, types.int64), **_OPTIONS)
def half_gain(count: Any, total: Any, lam_n: Any, lam_d: Any) -> Any:
    """⌊2^10·Σ²/(n + λ)⌋ of one side, with Σ in units of 2^−20 and λ = lam_n/lam_d."""
    size = _u64(abs(total))
    high, low = wide_product(size, size * _u64(lam_d))
    # The floor of a floor: first by a power of two, then by the whole number n·lam_d + lam_n.
    numerator = (high << (_WORD - _SHIFT)) | (low >> _SHIFT)
    return _i64(numerator // _u64(count * lam_d + lam_n))


@njit(
    types.void(_CUBE, _CUBE, _WHOLE, types.int64, types.int64, types.int64[:, ::1]),
    **_OPTIONS,
)
def gains(counts: Any, sums: Any, widths: Any, lam_n: Any, lam_d: Any, utilities: Any) -> None:
    """The gain of every cut of every node; the cuts of feature j lie after its bins 0, 1, …, widths[j] − 2."""
    for node in range(counts.shape[0]):
        at = 0
        for feature in range(counts.shape[1]):
            width = widths[feature]
            all_n, all_s = _i64(0), _i64(0)
            for b in range(width):
                all_n += counts[node, feature, b]
                all_s += sums[node, feature, b]
            left_n, left_s = _i64(0), _i64(0)
            for b in range(width - 1):
                left_n += counts[node, feature, b]
                left_s += sums[node, feature, b]
                utilities[node, at] = half_gain(left_n, left_s, lam_n, lam_d) + half_gain(
                    all_n - left_n, all_s - left_s, lam_n, lam_d
                )
                at += 1


@njit(types.void(_WHOLE, types.int64, types.float64, types.int64[::1]), **_OPTIONS)
def envelope(utilities: Any, best: Any, rate: Any, running: Any) -> None:
    """Running sums of tickets, each at least 2^40·e^(−rate·(best − u)) and at least one."""
    total = _i64(0)
    for i in range(utilities.shape[0]):
        total += _i64(_SCALE * math.exp(-rate * (best - utilities[i])) * _ROOM) + _LEAST
        running[i] = total


@njit(types.void(_BINS, _WHOLE, _WHOLE, _WHOLE, types.int64[::1]), **_OPTIONS)
def step_down(bins: Any, rows: Any, features: Any, cuts: Any, nodes: Any) -> None:
    """One level down: a row in node k of a level moves to node 2k or 2k + 1 of the next."""
    for i in range(rows.shape[0]):
        node = nodes[i]
        nodes[i] = 2 * node + (bins[rows[i], features[node]] > cuts[node])


@njit(types.void(_BINS, _WHOLE, _WHOLE, _WHOLE, types.int64, types.int64[::1]), **_OPTIONS)
def add_tree(bins: Any, features: Any, cuts: Any, leaves: Any, depth: Any, scores: Any) -> None:
    """Add the value of its leaf to the score of every record; nodes are numbered level by level."""
    for row in range(bins.shape[0]):
        node = _i64(0)
        for _ in range(depth):
            node = 2 * node + 1 + (bins[row, features[node]] > cuts[node])
        scores[row] += leaves[node - features.shape[0]]

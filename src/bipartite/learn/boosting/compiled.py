"""The loops of boosting as machine code (numba), in whole numbers except for the envelope of a lottery.

Importing this module compiles the kernels, or loads them from numba's cache.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numba import njit, types

from bipartite.lottery.caching import can_cache

_i64 = np.int64
_BINS: Final = types.Array(types.uint8, 2, "C", readonly=True)
_WHOLE: Final = types.Array(types.int64, 1, "C", readonly=True)
_CUBE: Final = types.int64[:, :, ::1]
_OPTIONS: Final[dict[str, Any]] = {"cache": can_cache(), "nogil": True, "boundscheck": False}

GRADIENT_BITS: Final = 20
"""Labels, gradients and leaves are multiples of 2^−20, where a label lies in [−1, 1]."""
ENVELOPE_BITS: Final = 40
"""The best cut of a node holds about 2^40 tickets of the lottery that proposes a cut."""
_SCALE: Final = float(2**ENVELOPE_BITS)
# The exponent is off by less than 2^−45 of itself and exp by a few units in the last place; the envelope is an upper
# bound with room to spare, and `splits` checks with exact numbers every cut that is proposed.
_ROOM: Final = 1 + 2.0**-30
_LEAST: Final = 2


@njit(types.void(_BINS, _WHOLE, _WHOLE, _CUBE), **_OPTIONS)
def histograms(bins: Any, nodes: Any, gradients: Any, sums: Any) -> None:
    """Add the gradient of every record to its bins in its node."""
    for row in range(bins.shape[0]):
        node, gradient = nodes[row], gradients[row]
        for feature in range(bins.shape[1]):
            sums[node, feature, bins[row, feature]] += gradient


@njit(types.void(_CUBE, _WHOLE, types.int64[:, ::1]), **_OPTIONS)
def gains(sums: Any, widths: Any, utilities: Any) -> None:
    """The gain of every cut of every node; the cuts of feature j lie after its bins 0, 1, …, widths[j] − 2."""
    for node in range(sums.shape[0]):
        at = 0
        for feature in range(sums.shape[1]):
            right = _i64(0)
            for b in range(widths[feature]):
                right += sums[node, feature, b]
            left = _i64(0)
            for b in range(widths[feature] - 1):
                left += sums[node, feature, b]
                right -= sums[node, feature, b]
                utilities[node, at] = abs(left) + abs(right)
                at += 1


@njit(types.void(_WHOLE, types.int64, types.float64, types.int64[::1]), **_OPTIONS)
def envelope(utilities: Any, best: Any, rate: Any, running: Any) -> None:
    """Running sums of tickets, each at least 2^40·e^(−rate·(best − u)) and at least one."""
    total = _i64(0)
    for i in range(utilities.shape[0]):
        total += _i64(_SCALE * math.exp(-rate * (best - utilities[i])) * _ROOM) + _LEAST
        running[i] = total


@njit(types.void(_BINS, _WHOLE, _WHOLE, types.int64[::1]), **_OPTIONS)
def step_down(bins: Any, features: Any, cuts: Any, nodes: Any) -> None:
    """One level down: a record in node k of a level moves to node 2k or 2k + 1 of the next."""
    for row in range(bins.shape[0]):
        node = nodes[row]
        nodes[row] = 2 * node + (bins[row, features[node]] > cuts[node])


@njit(types.void(_BINS, _WHOLE, _WHOLE, _WHOLE, types.int64, types.int64[::1]), **_OPTIONS)
def add_tree(bins: Any, features: Any, cuts: Any, leaves: Any, depth: Any, scores: Any) -> None:
    """Add the value of its leaf to the score of every record; nodes are numbered level by level."""
    for row in range(bins.shape[0]):
        node = _i64(0)
        for _ in range(depth):
            node = 2 * node + 1 + (bins[row, features[node]] > cuts[node])
        scores[row] += leaves[node - features.shape[0]]

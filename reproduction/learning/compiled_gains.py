"""The gain of the paper's cuts, Σ²/(n + λ) of both sides, as machine code (numba) in whole numbers.

A record that is added to a node raises a gain by at most 2^10 units and lowers it by at most 3·2^10, rounding included:
``bench/results/paper_boosting.md``. The library's own gain needs neither counts nor λ.
"""

from typing import Any, Final

import numpy as np
from numba import njit, types

from bipartite.learn.boosting.compiled import GRADIENT_BITS
from bipartite.lottery.caching import can_cache
from bipartite.lottery.jit import wide_product

_u64 = np.uint64
_i64 = np.int64
_WHOLE: Final = types.Array(types.int64, 1, "C", readonly=True)
_CUBE: Final = types.int64[:, :, ::1]
_OPTIONS: Final[dict[str, Any]] = {"cache": can_cache(), "nogil": True, "boundscheck": False}

GAIN_BITS: Final = 10
"""Gains are multiples of 2^−10, where the largest gradient is 1."""
MOST_RISE: Final = 1
MOST_FALL: Final = 3
"""By how much an added record raises or lowers a gain, in units of the largest squared gradient."""
WIDTH: Final = (MOST_RISE + MOST_FALL) * 2**GAIN_BITS
_SHIFT: Final = _u64(2 * GRADIENT_BITS - GAIN_BITS)
_WORD: Final = _u64(64)


@njit(types.int64(types.int64, types.int64, types.int64, types.int64), **_OPTIONS)
def half_gain(count: Any, total: Any, lam_n: Any, lam_d: Any) -> Any:
    """⌊2^10·Σ²/(n + λ)⌋ of one side, with Σ in units of 2^−20 and λ = lam_n/lam_d."""
    size = _u64(abs(total))
    high, low = wide_product(size, size * _u64(lam_d))
    # The floor of a floor: first by a power of two, then by the whole number n·lam_d + lam_n.
    numerator = (high << (_WORD - _SHIFT)) | (low >> _SHIFT)
    return _i64(numerator // _u64(count * lam_d + lam_n))


@njit(types.void(_CUBE, _CUBE, _WHOLE, types.int64, types.int64, types.int64[:, ::1]), **_OPTIONS)
def gains(counts: Any, sums: Any, widths: Any, lam_n: Any, lam_d: Any, utilities: Any) -> None:
    """The gain of every cut of every node; the cuts of feature j lie after its bins 0, 1, …, widths[j] − 2."""
    for node in range(counts.shape[0]):
        at = 0
        for feature in range(counts.shape[1]):
            right_n, right_s = _i64(0), _i64(0)
            for b in range(widths[feature]):
                right_n += counts[node, feature, b]
                right_s += sums[node, feature, b]
            left_n, left_s = _i64(0), _i64(0)
            for b in range(widths[feature] - 1):
                n, s = counts[node, feature, b], sums[node, feature, b]
                left_n, left_s, right_n, right_s = left_n + n, left_s + s, right_n - n, right_s - s
                left = half_gain(left_n, left_s, lam_n, lam_d)
                utilities[node, at] = left + half_gain(right_n, right_s, lam_n, lam_d)
                at += 1

"""Hash functions from their seeds, and the number that map each value to their bucket; compiled by numba.

For every report a table of all hashes is extended digit by digit: the hashes of values with digit d are those with
digit d − 1 plus a_i, modulo g. A sum below 2g is reduced by an unsigned minimum, so that the loops vectorise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import njit, types

from bipartite.lottery.compiled import reciprocal_of
from bipartite.lottery.jit import OPTIONS, read_only, wide_product

if TYPE_CHECKING:
    from numpy.typing import NDArray

_u16 = np.uint16
_u64 = np.uint64
_i64 = np.int64
_ROWS: Final = read_only(types.uint16, 2)
_FLAT: Final = read_only(types.uint16)
# 16-bit counters are flushed before they can overflow.
_MOST: Final = 65_535


@njit(types.void(_ROWS, _FLAT, types.int64, types.int64, types.int64[::1]), **OPTIONS)
def _supports(factors: Any, buckets: Any, base: Any, g: Any, counts: Any) -> Any:
    size = counts.shape[0]
    table = np.empty(size, dtype=np.uint16)
    few = np.zeros(size, dtype=np.uint16)
    g16 = _u16(g)
    since = 0
    for person in range(factors.shape[0]):
        table[0] = _u16((g - _i64(buckets[person])) % g)
        width = 1
        for digit in range(factors.shape[1]):
            step = factors[person, digit]
            end = min(width * base, size)
            for start in range(width, end, width):
                stop = min(width, end - start)
                before, after = table[start - width : start - width + stop], table[start : start + stop]
                for i in range(stop):
                    total = _u16(before[i] + step)
                    after[i] = min(total, _u16(total - g16))
            width = end
        for value in range(size):
            few[value] += _u16(table[value] == 0)
        since += 1
        if since == _MOST:
            for value in range(size):
                counts[value] += few[value]
                few[value] = 0
            since = 0
    for value in range(size):
        counts[value] += few[value]


@njit(types.void(read_only(types.uint64, 1, "A"), *[types.uint64] * 3, types.uint16[:, :]), **OPTIONS)
def _factors(seeds: Any, g: Any, reciprocal: Any, shift: Any, factors: Any) -> Any:
    for person in range(seeds.shape[0]):
        rest = seeds[person]
        for digit in range(factors.shape[1]):
            # rest div g by the reciprocal, which is exact for seeds below 2^52.
            quotient = wide_product(rest, reciprocal)[0] >> shift
            factors[person, digit] = _u16(rest - quotient * g)
            rest = quotient


@njit(types.void(_ROWS, read_only(types.int64), *[types.uint64] * 4, types.int64[::1]), **OPTIONS)
def _hashes(factors: Any, values: Any, base: Any, reciprocal: Any, shift: Any, g: Any, hashes: Any) -> Any:
    for person in range(values.shape[0]):
        rest = _u64(values[person])
        total = _u64(0)
        for digit in range(factors.shape[1]):
            quotient = wide_product(rest, reciprocal)[0] >> shift
            total += _u64(factors[person, digit]) * (rest - quotient * base)
            rest = quotient
        hashes[person] = _i64(total % g)


def factors_of(seeds: NDArray[np.uint64], digits: list[int], g: int) -> NDArray[np.uint16]:
    """The digits in base g of each number of each seed, one row per person."""
    factors = np.empty((len(seeds), sum(digits)), dtype=np.uint16)
    reciprocal, shift = reciprocal_of(g)
    at = 0
    for column, held in enumerate(digits):
        _factors(seeds[:, column], _u64(g), _u64(reciprocal), _u64(shift), factors[:, at : at + held])
        at += held
    return factors


def hashes_of(factors: NDArray[np.uint16], values: NDArray[np.int64], base: int, g: int) -> NDArray[np.int64]:
    """The hash of one value for each row of factors."""
    hashes = np.empty(len(values), dtype=np.int64)
    reciprocal, shift = reciprocal_of(base)
    _hashes(factors, values, _u64(base), _u64(reciprocal), _u64(shift), _u64(g), hashes)
    return hashes


def supports(
    factors: NDArray[np.uint16], buckets: NDArray[np.uint16], size: int, base: int, g: int
) -> NDArray[np.int64]:
    """For each value, the number of these hash functions that map it to their bucket."""
    counts = np.zeros(size, dtype=np.int64)
    _supports(factors, buckets, base, g, counts)
    return counts

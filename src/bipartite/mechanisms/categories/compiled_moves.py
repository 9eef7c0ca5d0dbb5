"""Adding ones to rows of bits, or removing them, at random until their number is right; compiled by numba.

Used by `CompiledBits` for subsets, with the same results from the same words as `NumpyBits`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit, types

from bipartite.lottery.jit import OPTIONS, read_only
from bipartite.mechanisms.categories.bits import try_bits

REGISTERS: Final = 2
"""Rows of at most this many words are kept in registers."""
_u8 = np.uint8
_u64 = np.uint64
_i64 = np.int64
_ALL: Final = _u64(2**64 - 1)
_ONE: Final = _u64(1)
# People per block: their rows stay in the L1 cache.
_BLOCK: Final = 256
# The bits of a try, where rows are kept in registers.
_TRY_BITS: Final = try_bits(64 * REGISTERS)
_TRY: Final = _u64(2**_TRY_BITS - 1)

_READ: Final = read_only(types.uint64)
_READ_ROWS: Final = read_only(types.uint64, 2)
_READ_COLUMNS: Final = read_only(types.uint64, 2, "A")
_READ_INTS: Final = read_only(types.int64)
_WRITE: Final = types.uint64[::1]


@njit(types.uint64(types.uint64), inline="always", **OPTIONS)
def ones(word: Any) -> Any:
    """The number of ones in a word, by sums of two, four, eight bits; LLVM turns this into one instruction."""
    word = word - ((word >> _ONE) & _u64(0x5555555555555555))
    word = (word & _u64(0x3333333333333333)) + ((word >> _u64(2)) & _u64(0x3333333333333333))
    word = (word + (word >> _u64(4))) & _u64(0x0F0F0F0F0F0F0F0F)
    return (word * _u64(0x0101010101010101)) >> _u64(56)


@njit(types.uint64(types.uint64), inline="always", **OPTIONS)
def lowest(word: Any) -> Any:
    """The position of the lowest 1 of a non-zero word."""
    return ones(~word & (word - _ONE))


@njit(types.uint64(types.uint8[::1], types.int64), inline="always", **OPTIONS)
def _load_word(flat: Any, at: Any) -> Any:
    """The next 8 bytes as a word; with unsigned positions LLVM turns this into one instruction."""
    word = _u64(0)
    for k in range(8):
        word |= _u64(flat[_u64(at) + _u64(k)]) << _u64(8 * k)
    return word


@njit(types.void(types.uint8[::1], types.int64, types.uint64), inline="always", **OPTIONS)
def _store_word(flat: Any, at: Any, word: Any) -> Any:
    """Write a word over the next 8 bytes."""
    for k in range(8):
        flat[_u64(at) + _u64(k)] = _u8(word >> _u64(8 * k))


@njit(types.void(types.uint8[:, ::1], _READ_INTS, _READ_INTS, types.int64[::1]), **OPTIONS)
def shortfall(rows: Any, indices: Any, wanted: Any, needs: Any) -> Any:
    """Fill ``needs`` with the ones that each row lacks, negative for an excess (see `NumpyBits.first_round`)."""
    width = rows.shape[1]
    whole = width // 8 * 8
    for i in range(rows.shape[0]):
        row = rows[i]
        at, bit = indices[i] >> 3, _i64(1) << (indices[i] & 7)
        without = _i64(row[at]) & ~bit
        row[at] = _u8(without)
        total = _u64(0)
        for start in range(0, whole, 8):
            word = _u64(0)
            for k in range(8):
                word |= _u64(row[start + k]) << _u64(8 * k)
            total += ones(word)
        word = _u64(0)
        for column in range(whole, width):
            word = (word << _u64(8)) | _u64(row[column])
        total += ones(word)
        needs[i] = wanted[i] - _i64(total)
        row[at] = _u8(without | (bit & -_i64(needs[i] > 0)))


@njit(
    types.int64(
        types.uint8[:, ::1], types.int64[::1], _READ_INTS, _READ_COLUMNS, types.int64, types.int64, types.int64[::1]
    ),
    **OPTIONS,
)
def move(rows: Any, needs: Any, who: Any, words: Any, size: Any, bits: Any, rest: Any) -> Any:
    """List in ``rest`` who needs more after these tries (see `NumpyBits.move`); returns their number."""
    mask = (_i64(1) << bits) - 1
    refuse_below = (mask + 1) % size
    end = words.shape[0] * 64
    count = 0
    for k in range(who.shape[0]):
        i = who[k]
        # Adding needs zeros, removing needs ones: a mask turns the second case into the first.
        turn = -_i64(needs[i] < 0)
        left = abs(needs[i])
        start = 0
        while left != 0 and start < end:
            product = _i64((words[start >> 6, k] >> _u64(start & 63)) & _u64(mask)) * size
            start += bits
            lane = product >> bits
            held = _i64(rows[i, lane >> 3])
            free = (((held ^ turn) >> (lane & 7)) & 1) ^ 1
            free &= _i64((product & mask) >= refuse_below)
            rows[i, lane >> 3] = _u8(held ^ (free << (lane & 7)))
            left -= free
        needs[i] = (left ^ turn) - turn
        rest[count] = i
        count += left != 0
    return count


@njit(types.void(_READ, types.uint64, _WRITE, _WRITE), **OPTIONS)
def _tries_64(drawn: Any, size: Any, low: Any, left: Any) -> Any:
    # Four tries per person, without effect once nothing is left. Branch-free, so that LLVM vectorises it.
    refuse_below = _u64(_TRY + _ONE) % size
    for piece in range(0, 64, _TRY_BITS):
        shift = _u64(piece)
        for i in range(left.shape[0]):
            product = ((drawn[i] >> shift) & _TRY) * size
            lane = product >> _u64(_TRY_BITS)
            free = (low[i] >> lane) & _ONE ^ _ONE
            free = free if left[i] != 0 else _u64(0)
            free = free if (product & _TRY) >= refuse_below else _u64(0)
            low[i] |= free << lane
            left[i] -= free


@njit(types.void(_READ, types.uint64, _WRITE, _WRITE, _WRITE), **OPTIONS)
def _tries_128(drawn: Any, size: Any, low: Any, high: Any, left: Any) -> Any:
    # The same for rows of two words.
    refuse_below = _u64(_TRY + _ONE) % size
    for piece in range(0, 64, _TRY_BITS):
        shift = _u64(piece)
        for i in range(left.shape[0]):
            product = ((drawn[i] >> shift) & _TRY) * size
            lane = product >> _u64(_TRY_BITS)
            upper = _u64(0) - (lane >> _u64(6))
            place = lane & _u64(63)
            free = (((low[i] & ~upper) | (high[i] & upper)) >> place) & _ONE ^ _ONE
            free = free if left[i] != 0 else _u64(0)
            free = free if (product & _TRY) >= refuse_below else _u64(0)
            left[i] -= free
            free <<= place
            low[i] |= free & ~upper
            high[i] |= free & upper


@njit(
    types.void(types.uint8[::1], _READ_INTS, _READ_INTS, _READ_ROWS, types.int64, types.int64[::1]),
    **OPTIONS,
)
def first_round(flat: Any, indices: Any, wanted: Any, words: Any, size: Any, needs: Any) -> Any:
    """`shortfall` and `move` in one pass, for rows kept in registers."""
    # At most 128 values: a row is one or two words, whose remaining bits are left unchanged. While ones are removed,
    # rows are inverted.
    width = (size + 7) >> 3
    wide = width > 8  # noqa: PLR2004 (bytes of a word)
    mine = _ALL >> _u64(min(63, max(0, 64 - size)))
    mine_high = _ALL >> _u64(128 - size) if wide else _u64(0)
    low = np.empty(_BLOCK, dtype=np.uint64)
    high = np.zeros(_BLOCK, dtype=np.uint64)
    left = np.empty(_BLOCK, dtype=np.uint64)
    turn = np.empty(_BLOCK, dtype=np.uint64)
    for first in range(0, needs.shape[0], _BLOCK):
        people = min(_BLOCK, needs.shape[0] - first)
        for i in range(people):
            index, at = indices[first + i], (first + i) * width
            own_high = (_ONE << _u64(index & 63)) & (_u64(0) - _u64(index >> 6))
            own = (_ONE << _u64(index & 63)) ^ own_high
            row, row_high = _load_word(flat, at) & ~own, _u64(0)
            if wide:
                row_high = _load_word(flat, at + 8) & ~own_high
            missing = wanted[first + i] - _i64(ones(row & mine) + ones(row_high & mine_high))
            turned, short = _u64(-_i64(missing < 0)), _u64(-_i64(missing > 0))
            low[i], high[i] = (row | (own & short)) ^ turned, (row_high | (own_high & short)) ^ turned
            left[i] = _u64(abs(missing))
            turn[i] = turned
        for k in range(words.shape[0]):
            if wide:
                _tries_128(words[k, first : first + people], _u64(size), low, high, left[:people])
            else:
                _tries_64(words[k, first : first + people], _u64(size), low, left[:people])
        # Bits written beyond a row are overwritten with the next rows, except for the last rows of a block.
        stop = (first + people) * width - (16 if wide else 8)
        for i in range(people):
            at = (first + i) * width
            row, row_high = low[i] ^ turn[i], high[i] ^ turn[i]
            if at > stop:
                row = (row & mine) | (_load_word(flat, at) & ~mine)
                if wide:
                    row_high = (row_high & mine_high) | (_load_word(flat, at + 8) & ~mine_high)
            _store_word(flat, at, row)
            if wide:
                _store_word(flat, at + 8, row_high)
            needs[first + i] = (_i64(left[i]) ^ _i64(turn[i])) - _i64(turn[i])

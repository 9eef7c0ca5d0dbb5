"""The operations on bits, compiled by numba: the same results from the same words as `NumpyBits`.

Importing this module compiles the kernels, or loads them from numba's cache; `bits.py` does so only when it pays.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import njit, types

from bipartite.lottery.jit import OPTIONS, read_only
from bipartite.mechanisms.categories.bits import (
    FOLD_LEVELS,
    FOLDS,
    START_LEVELS,
    TILE,
    WORDS_OF_32,
    NumpyBits,
    limits_array,
    try_bits,
)
from bipartite.mechanisms.categories.compiled_moves import REGISTERS, first_round, lowest, move, shortfall

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Bytes = NDArray[np.uint8]

if sys.byteorder == "big":
    raise ImportError("the kernels write words of bits as bytes, low end first")

_u8 = np.uint8
_u64 = np.uint64
_i64 = np.int64
_ONE: Final = _u64(1)
# Words of coins per block: they stay in the L1 cache.
_BLOCK: Final = 256
# Words of coins that are searched together for open ones.
_GROUP: Final = 32
# The positions of the first fold of a whole tile.
_PLACES: Final = TILE // FOLDS[0]
# The planes of the vertical counters, and the number of rows they can count.
_PLANES: Final = 8
_MOST: Final = 2**_PLANES - 1

_READ: Final = read_only(types.uint64)
_READ_ROWS: Final = read_only(types.uint64, 2)
_READ_INTS: Final = read_only(types.int64)
_READ_FLAGS: Final = read_only(types.boolean)
_WRITE: Final = types.uint64[::1]


@njit(types.void(_READ_ROWS, _READ, _WRITE, _WRITE), **OPTIONS)
def _start(words: Any, limits: Any, answers: Any, undecided: Any) -> Any:
    # Two bits are compared at a time, so that answers and open coins are written half as often.
    size = answers.shape[0]
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        for level in range(0, words.shape[0], 2):
            limit, limit2 = limits[level], limits[level + 1]
            drawn, drawn2 = words[level, start:stop], words[level + 1, start:stop]
            found, left = answers[start:stop], undecided[start:stop]
            if level == 0:
                for i in range(stop - start):
                    open1 = ~(limit ^ drawn[i])
                    found[i] = (limit & ~drawn[i]) | (open1 & limit2 & ~drawn2[i])
                    left[i] = open1 & ~(limit2 ^ drawn2[i])
            else:
                for i in range(stop - start):
                    open0 = left[i]
                    open1 = open0 & ~(limit ^ drawn[i])
                    found[i] |= (open0 & limit & ~drawn[i]) | (open1 & limit2 & ~drawn2[i])
                    left[i] = open1 & ~(limit2 ^ drawn2[i])


@njit(types.void(_READ_ROWS, _READ, _WRITE, _WRITE, _WRITE), **OPTIONS)
def _fold(words: Any, limits: Any, answers: Any, undecided: Any, late: Any) -> Any:
    places = words.shape[1]
    layers = undecided.shape[0] // places
    seen = np.empty(_BLOCK, dtype=np.uint64)
    shared = np.empty(_BLOCK, dtype=np.uint64)
    before = np.empty(_BLOCK, dtype=np.uint64)
    for start in range(0, places, _BLOCK):
        width = min(_BLOCK, places - start)
        for i in range(width):
            seen[i] = 0
            shared[i] = 0
            before[i] = 0
        for layer in range(layers):
            first = layer * places + start
            mine = undecided[first : first + width]
            for i in range(width):
                seen[i] |= mine[i]
        for level in range(words.shape[0]):
            limit, drawn = limits[level], words[level, start : start + width]
            for i in range(width):
                shared[i] |= seen[i] & limit & ~drawn[i]
                seen[i] &= ~(limit ^ drawn[i])
        # From here on `seen` holds the coins that stay open, and `before` those compared by an earlier layer.
        for layer in range(layers):
            first = layer * places + start
            mine, found = undecided[first : first + width], answers[first : first + width]
            left = late[first : first + width]
            for i in range(width):
                served = mine[i] & ~before[i]
                before[i] |= mine[i]
                found[i] |= served & shared[i]
                left[i] |= served & seen[i]
                mine[i] ^= served


@njit(types.void(_READ, _READ, _WRITE, _WRITE, _WRITE), **OPTIONS)
def _start_and_first_fold(words: Any, limits: Any, answers: Any, undecided: Any, late: Any) -> Any:
    # For a whole tile, whose size is a constant: only then does LLVM vectorise (twice as fast).
    limit1, limit2, limit3, limit4 = limits[0], limits[1], limits[2], limits[3]
    for i in range(_PLACES):
        seen = _u64(0)
        for layer in range(FOLDS[0]):
            at = layer * _PLACES + i
            one, two, three, four = words[at], words[TILE + at], words[2 * TILE + at], words[3 * TILE + at]
            open1 = ~(limit1 ^ one)
            open2 = open1 & ~(limit2 ^ two)
            open3 = open2 & ~(limit3 ^ three)
            answers[at] = (
                (limit1 & ~one) | (open1 & limit2 & ~two) | (open2 & limit3 & ~three) | (open3 & limit4 & ~four)
            )
            undecided[at] = open3 & ~(limit4 ^ four)
            seen |= undecided[at]
        shared = _u64(0)
        for level in range(FOLD_LEVELS):
            limit, drawn = limits[START_LEVELS + level], words[START_LEVELS * TILE + level * _PLACES + i]
            shared |= seen & limit & ~drawn
            seen &= ~(limit ^ drawn)
        # From here on `seen` holds the coins that stay open, and `before` those compared by an earlier layer.
        before = _u64(0)
        for layer in range(FOLDS[0]):
            at = layer * _PLACES + i
            mine = undecided[at]
            served = mine & ~before
            answers[at] |= served & shared
            undecided[at] = mine & before
            late[at] = served & seen
            before |= mine


@njit(types.void(_READ, _READ, _WRITE, _WRITE, _WRITE), **OPTIONS)
def _tile(words: Any, limits: Any, answers: Any, undecided: Any, late: Any) -> Any:
    size = answers.shape[0]
    first, second = size // FOLDS[0], size // FOLDS[1]
    after_start = START_LEVELS * size
    after_fold = after_start + FOLD_LEVELS * first
    if size == TILE:
        _start_and_first_fold(words, limits, answers, undecided, late)
    else:
        _start(words[:after_start].reshape((START_LEVELS, size)), limits, answers, undecided)
        late[:] = 0
        some = words[after_start:after_fold].reshape((FOLD_LEVELS, first))
        _fold(some, limits[START_LEVELS:], answers, undecided, late)
    _fold(words[after_fold:].reshape((FOLD_LEVELS, second)), limits[START_LEVELS:], answers, undecided, late)


@njit(types.int64(_READ, _READ, types.int64, types.int64[::1], types.int64), **OPTIONS)
def _list_ties(undecided: Any, late: Any, start: Any, ties: Any, count: Any) -> Any:
    for group in range(0, undecided.shape[0], _GROUP):
        # One bit for each word with an open coin, which is one word in six.
        left, served = undecided[group : group + _GROUP], late[group : group + _GROUP]
        holding = _u64(0)
        for k in range(_GROUP):
            holding |= _u64((left[k] | served[k]) != 0) << _u64(k)
        while holding:
            at = _i64(lowest(holding))
            holding &= holding - _ONE
            rest = left[at] | served[at]
            first = (start + group + at) << 6
            while rest:
                bit = lowest(rest)
                rest &= rest - _ONE
                if count < ties.shape[0]:
                    ties[count] = ((first + _i64(bit)) << 1) + _i64((served[at] >> bit) & _ONE)
                count += 1
    return count


@njit(types.int64(_READ, _READ, _WRITE, types.int64[::1]), **OPTIONS)
def _start_and_fold(words: Any, limits: Any, answers: Any, ties: Any) -> Any:
    undecided = np.empty(TILE, dtype=np.uint64)
    late = np.empty(TILE, dtype=np.uint64)
    count = 0
    at = 0
    for start in range(0, answers.shape[0], TILE):
        size = min(TILE, answers.shape[0] - start)
        some = words[at : at + size // FOLDS[-1] * WORDS_OF_32]
        at += some.shape[0]
        _tile(some, limits, answers[start : start + size], undecided[:size], late[:size])
        count = _list_ties(undecided[:size], late[:size], start, ties, count)
    return count


@njit(types.void(_READ, types.uint64, _READ_INTS, _WRITE), **OPTIONS)
def _settle(words: Any, chances: Any, ties: Any, answers: Any) -> Any:
    for k in range(ties.shape[0]):
        compared = _u64(START_LEVELS + FOLD_LEVELS * (ties[k] & 1))
        won = (words[k] >> compared) < ((chances << compared) >> compared)
        answers[ties[k] >> 7] |= _u64(won) << _u64((ties[k] >> 1) & 63)


@njit(types.void(types.uint8[:, ::1], _READ_INTS, _READ_FLAGS), **OPTIONS)
def _put(rows: Any, indices: Any, shown: Any) -> Any:
    for i in range(rows.shape[0]):
        bit = indices[i] & 7
        held = _i64(rows[i, indices[i] >> 3])
        rows[i, indices[i] >> 3] = _u8((held & ~(1 << bit)) | (_i64(shown[i]) << bit))


@njit(types.void(_READ_ROWS, types.int64[::1]), **OPTIONS)
def _column_counts(rows: Any, counts: Any) -> Any:
    # Vertical counters: plane k holds bit k of 64 counters. Full adders (sum = a ^ b ^ c, carry = majority) turn seven
    # rows into one number of three bits, which is then added to the planes.
    people, columns = rows.shape
    planes = np.empty((_PLANES, columns), dtype=np.uint64)
    for start in range(0, people, _MOST):
        stop = min(start + _MOST, people)
        planes[:, :] = 0
        whole = start + (stop - start) // 7 * 7
        for i in range(start, whole, 7):
            r0, r1, r2, r3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            r4, r5, r6 = rows[i + 4], rows[i + 5], rows[i + 6]
            for c in range(columns):
                x, y = r0[c] ^ r1[c], r3[c] ^ r4[c]
                one_a, two_a = x ^ r2[c], (r0[c] & r1[c]) | (x & r2[c])
                one_b, two_b = y ^ r5[c], (r3[c] & r4[c]) | (y & r5[c])
                x = one_a ^ one_b
                one, two_c = x ^ r6[c], (one_a & one_b) | (x & r6[c])
                x = two_a ^ two_b
                two, four = x ^ two_c, (two_a & two_b) | (x & two_c)
                held = planes[0, c]
                planes[0, c] = held ^ one
                carry = held & one
                held = planes[1, c]
                x = held ^ two
                planes[1, c] = x ^ carry
                carry = (held & two) | (x & carry)
                held = planes[2, c]
                x = held ^ four
                planes[2, c] = x ^ carry
                carry = (held & four) | (x & carry)
                for plane in range(3, _PLANES):
                    held = planes[plane, c]
                    planes[plane, c] = held ^ carry
                    carry &= held
        for i in range(whole, stop):
            for c in range(columns):
                carry = rows[i, c]
                for plane in range(_PLANES):
                    held = planes[plane, c]
                    planes[plane, c] = held ^ carry
                    carry &= held
        for c in range(columns):
            for bit in range(64):
                total = _u64(0)
                for plane in range(_PLANES):
                    total += ((planes[plane, c] >> _u64(bit)) & _ONE) << _u64(plane)
                counts[c * 64 + bit] += _i64(total)


class CompiledBits(NumpyBits):
    """The operations on bits with the compiled kernels."""

    __slots__ = ()

    def start(self, words: Words, chances: int) -> tuple[Words, Words]:
        answers, undecided = np.empty((2, words.shape[1]), dtype=np.uint64)
        _start(words, limits_array(chances, len(words)), answers, undecided)
        return answers, undecided

    def start_and_fold(self, words: Words, chances: int) -> tuple[Words, NDArray[np.int64]]:
        answers = np.empty(len(words) // WORDS_OF_32 * FOLDS[-1], dtype=np.uint64)
        limits = limits_array(chances, START_LEVELS + FOLD_LEVELS)
        # One coin in 330 is a tie: 0.2 per word.
        ties = np.empty(64 + len(answers) // 2, dtype=np.int64)
        count = _start_and_fold(words, limits, answers, ties)
        if count > len(ties):
            # Practically impossible with random words, but words may be given.
            ties = np.empty(count, dtype=np.int64)
            _start_and_fold(words, limits, answers, ties)
        return answers, ties[:count]

    def settle(self, words: Words, chances: int, ties: NDArray[np.int64], answers: Words) -> None:
        _settle(words, _u64(chances), ties, answers)

    def put(self, rows: Bytes, indices: NDArray[np.int64], shown: NDArray[np.bool_]) -> None:
        _put(rows, indices, shown)

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        counts = np.zeros(rows.shape[1] * 64, dtype=np.int64)
        _column_counts(rows, counts)
        return counts

    def first_round(
        self, rows: Bytes, indices: NDArray[np.int64], wanted: NDArray[np.int64], words: Words, size: int
    ) -> NDArray[np.int64]:
        people, width = rows.shape
        needs = np.empty(people, dtype=np.int64)
        done = 0
        held = -(-width // 8)
        if held <= REGISTERS:
            # The rows from which one or two whole words can be read: all but the last few.
            done = max(0, (rows.size - 8 * held) // width + 1)
            first_round(rows.reshape(-1), indices, wanted, words, size, needs[:done])
        if done < people:
            shortfall(rows[done:], indices[done:], wanted[done:], needs[done:])
            self.move(rows[done:], needs[done:], np.arange(people - done), words[:, done:], size)
        return needs

    def move(
        self, rows: Bytes, needs: NDArray[np.int64], who: NDArray[np.int64], words: Words, size: int
    ) -> NDArray[np.int64]:
        rest = np.empty(len(who) + 1, dtype=np.int64)
        count = move(rows, needs, who, words, size, try_bits(size), rest)
        return rest[:count]

"""The work on rows of bits as machine code (numba): the same results from the same words as `NumpyBits`.

Importing this module compiles the kernels, or loads them from numba's cache; `bits.py` does so only when it pays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

from bipartite.categories.bits import LANE_BITS, LEVELS, REST_BITS, Chances, level_masks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

if config.DISABLE_JIT:
    msg = "numba's compiler is switched off"
    raise ImportError(msg)

_u64 = np.uint64
_i64 = np.int64
_ALL: Final = _u64(2**64 - 1)
_ONE: Final = _u64(1)
_LANE: Final = _u64(2**LANE_BITS - 1)
_HALF: Final = _u64(32)
_LOW: Final = _u64(2**32 - 1)
# Words of coins worked on together: answers and open coins of so many stay in the first-level cache.
_BLOCK: Final = 512
# Rows that are counted side by side, and the planes of their vertical counters: 2^8 − 1 additions fit.
_SIDE_BY_SIDE: Final = 64
_PLANES: Final = 8

_READ: Final = types.Array(types.uint64, 1, "C", readonly=True)
_READ_ROWS: Final = types.Array(types.uint64, 2, "C", readonly=True)
_READ_INTS: Final = types.Array(types.int64, 1, "C", readonly=True)
_OPTIONS: Final[dict[str, Any]] = {
    "nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy",
}  # fmt: skip


@intrinsic
def _ones(typing_context: Any, word: Any) -> Any:  # noqa: ARG001 (numba's calling convention)
    """How many bits of a word are 1."""
    return types.uint64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])  # noqa: ARG005


@intrinsic
def _lowest(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    """The place of the lowest 1 of a word that has one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.cttz(args[0], context.get_constant(types.boolean, True))  # noqa: FBT003

    return types.uint64(types.uint64), generate


@njit(types.void(_READ_INTS, types.uint64[:, ::1]), **_OPTIONS)
def _one_hot(indices: Any, rows: Any) -> Any:
    for i in range(indices.shape[0]):
        for column in range(rows.shape[1]):
            rows[i, column] = 0
        rows[i, indices[i] >> 6] = _ONE << _u64(indices[i] & 63)


@njit(types.void(_READ_ROWS, _READ, *[_READ] * 2, types.uint64[::1], types.uint64[::1]), **_OPTIONS)
def _levels(words: Any, given: Any, zeros: Any, changes: Any, answers: Any, undecided: Any) -> Any:
    size = given.shape[0]
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        some_given, some_answers, some_open = given[start:stop], answers[start:stop], undecided[start:stop]
        for i in range(stop - start):
            some_answers[i] = 0
            some_open[i] = _ALL
        for level in range(words.shape[0]):
            zero, change, drawn = zeros[level], changes[level], words[level, start:stop]
            for i in range(stop - start):
                limit = (some_given[i] & change) ^ zero
                some_answers[i] |= some_open[i] & limit & ~drawn[i]
                some_open[i] &= ~(limit ^ drawn[i])


@njit(types.int64(_READ), **_OPTIONS)
def _open_coins(undecided: Any) -> Any:
    total = _u64(0)
    for i in range(undecided.shape[0]):
        total += _ones(undecided[i])
    return _i64(total)


@njit(
    types.int64(_READ, _READ, types.uint64, types.uint64, types.uint64[::1], _READ, types.int64[::1]),
    **_OPTIONS,
)
def _lanes(words: Any, given: Any, one: Any, zero: Any, answers: Any, undecided: Any, still: Any) -> Any:
    at = 0
    left = 0
    change = one ^ zero
    for i in range(undecided.shape[0]):
        rest = undecided[i]
        found = _u64(0)
        while rest:
            bit = _lowest(rest)
            rest &= rest - _ONE
            drawn = (words[at >> 2] >> _u64((at & 3) << 4)) & _LANE
            at += 1
            limit = zero ^ (change & (_u64(0) - ((given[i] >> bit) & _ONE)))
            found |= _u64(drawn < limit) << bit
            if drawn == limit:
                if left < still.shape[0]:
                    still[left] = (i << 6) + _i64(bit)
                left += 1
        answers[i] |= found
    return left


@njit(types.void(_READ_ROWS, types.int64[::1]), **_OPTIONS)
def _column_counts(rows: Any, counts: Any) -> Any:
    people, columns = rows.shape
    planes = np.empty((_PLANES, columns), dtype=np.uint64)
    most = (1 << _PLANES) - 1
    for start in range(0, people, most):
        planes[:, :] = 0
        for i in range(start, min(start + most, people)):
            for column in range(columns):
                carry = rows[i, column]
                for plane in range(_PLANES):
                    held = planes[plane, column]
                    planes[plane, column] = held ^ carry
                    carry &= held
        for column in range(columns):
            for bit in range(64):
                total = _u64(0)
                for plane in range(_PLANES):
                    total += ((planes[plane, column] >> _u64(bit)) & _ONE) << _u64(plane)
                counts[column * 64 + bit] += _i64(total)


@njit(types.void(types.uint64[:, ::1], _READ_INTS, _READ_INTS, types.int64[::1]), **_OPTIONS)
def _shortfall(rows: Any, indices: Any, wanted: Any, needs: Any) -> Any:
    for i in range(rows.shape[0]):
        at, bit = indices[i] >> 6, _ONE << _u64(indices[i] & 63)
        rows[i, at] &= ~bit
        total = _u64(0)
        for column in range(rows.shape[1]):
            total += _ones(rows[i, column])
        needs[i] = wanted[i] - _i64(total)
        if needs[i] > 0:
            rows[i, at] |= bit


@njit(
    types.UniTuple(types.int64, 2)(types.uint64[:, ::1], types.int64[::1], _READ, types.uint64, types.uint64),
    **_OPTIONS,
)
def _move(rows: Any, needs: Any, words: Any, size: Any, refuse_below: Any) -> Any:
    people = rows.shape[0]
    active = np.empty(people, dtype=np.int64)
    count = 0
    round_words = 0
    for i in range(people):
        active[count] = i
        count += needs[i] != 0
        round_words += abs(needs[i])
    used = 0
    while round_words != 0 and used + round_words <= words.shape[0]:
        next_count = 0
        next_words = 0
        for k in range(count):
            i = active[k]
            # Adding looks for zeros, removing for ones: a mask turns the second into the first.
            turn = -_i64(needs[i] < 0)
            left = abs(needs[i])
            for _ in range(left):
                word = words[used]
                used += 1
                # size < 2^32: ⌊word·size/2^64⌋ by halves.
                lane = ((word >> _HALF) * size + (((word & _LOW) * size) >> _HALF)) >> _HALF
                bit = lane & _u64(63)
                free = (((rows[i, lane >> _u64(6)] ^ _u64(turn)) >> bit) & _ONE) ^ _ONE
                free &= _u64(word * size >= refuse_below)
                rows[i, lane >> _u64(6)] ^= free << bit
                left -= _i64(free)
            needs[i] = (left ^ turn) - turn
            active[next_count] = i
            next_count += left != 0
            next_words += left
        count, round_words = next_count, next_words
    return used, round_words


class CompiledBits:
    """The work on rows of bits with the compiled kernels."""

    __slots__ = ()

    def one_hot(self, indices: NDArray[np.int64], columns: int) -> Words:
        """See `BitKernel`."""
        rows = np.empty((len(indices), columns), dtype=np.uint64)
        _one_hot(indices, rows)
        return rows

    def levels(self, words: Words, given: Words, chances: Chances) -> tuple[Words, Words]:
        """See `BitKernel`."""
        zeros = np.array(level_masks(chances.zero), dtype=np.uint64)
        changes = zeros ^ np.array(level_masks(chances.one), dtype=np.uint64)
        answers, undecided = np.empty_like(given), np.empty_like(given)
        _levels(words.reshape(LEVELS, -1), given, zeros, changes, answers, undecided)
        return answers, undecided

    def lanes(
        self, words: Words, given: Words, chances: Chances, answers: Words, undecided: Words
    ) -> NDArray[np.int64]:
        """See `BitKernel`."""
        still = np.empty(64, dtype=np.int64)
        mask = 2**LANE_BITS - 1
        one, zero = _u64(chances.one >> REST_BITS & mask), _u64(chances.zero >> REST_BITS & mask)
        left = _lanes(words, given, one, zero, answers, undecided, still)
        if left > len(still):
            # Far more than there ever are, but words may be given: the answers so far come out the same again.
            still = np.empty(left, dtype=np.int64)
            _lanes(words, given, one, zero, answers, undecided, still)
        return still[:left]

    def open_coins(self, undecided: Words) -> int:
        """See `BitKernel`."""
        return int(_open_coins(undecided))

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        """See `BitKernel`."""
        people, columns = rows.shape
        # Narrow rows are counted many side by side, and the sums added.
        beside = max(1, _SIDE_BY_SIDE // columns)
        whole = people // beside * beside
        counts = np.zeros(beside * columns * 64, dtype=np.int64)
        _column_counts(rows[:whole].reshape(-1, beside * columns), counts)
        totals: NDArray[np.int64] = counts.reshape(beside, columns * 64).sum(axis=0)
        _column_counts(rows[whole:], totals)
        return totals

    def few_levels(self, words: Words, chances: int) -> Words:
        """See `BitKernel`."""
        zeros = np.array(level_masks(chances, len(words), len(words)), dtype=np.uint64)
        given = np.zeros(words.shape[1], dtype=np.uint64)
        answers, undecided = np.empty_like(given), np.empty_like(given)
        _levels(words, given, zeros, np.zeros_like(zeros), answers, undecided)
        return answers

    def shortfall(self, rows: Words, indices: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `BitKernel`."""
        needs = np.empty(len(rows), dtype=np.int64)
        _shortfall(rows, indices, wanted, needs)
        return needs

    def move(self, rows: Words, needs: NDArray[np.int64], words: Words, size: int) -> tuple[int, int]:
        """See `BitKernel`."""
        used, left = _move(rows, needs, words, _u64(size), _u64(2**64 % size))
        return used, left

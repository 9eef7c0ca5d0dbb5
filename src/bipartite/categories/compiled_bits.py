"""The work on bits as machine code (numba): the same results from the same words as `NumpyBits`.

Importing this module compiles the kernels, or loads them from numba's cache; `bits.py` does so only when it pays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

from bipartite.categories.bits import FOLD_LEVELS, FOLDS, LANE_BITS, START_LEVELS, coin_words, limits_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Bytes = NDArray[np.uint8]

if config.DISABLE_JIT:
    msg = "numba's compiler is switched off"
    raise ImportError(msg)

_u8 = np.uint8
_u64 = np.uint64
_i64 = np.int64
_ALL: Final = _u64(2**64 - 1)
_ONE: Final = _u64(1)
_LANE: Final = _u64(2**LANE_BITS - 1)
_HALF: Final = _u64(32)
_LOW: Final = _u64(2**32 - 1)
# Words of coins worked on together: they stay in the first-level cache.
_BLOCK: Final = 256
# The planes of the vertical counters, and how many rows they can count.
_PLANES: Final = 8
_MOST: Final = 2**_PLANES - 1

_READ: Final = types.Array(types.uint64, 1, "C", readonly=True)
_READ_ROWS: Final = types.Array(types.uint64, 2, "C", readonly=True)
_READ_INTS: Final = types.Array(types.int64, 1, "C", readonly=True)
_READ_FLAGS: Final = types.Array(types.boolean, 1, "C", readonly=True)
_WRITE: Final = types.uint64[::1]
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


@njit(types.void(_READ_ROWS, _READ, _WRITE, _WRITE), **_OPTIONS)
def _start(words: Any, limits: Any, answers: Any, undecided: Any) -> Any:
    # Two bits of the comparison at a time, so that answers and open coins are written half as often.
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


@njit(types.void(_READ_ROWS, _READ, _WRITE, _WRITE, _WRITE), **_OPTIONS)
def _start_four(words: Any, limits: Any, answers: Any, undecided: Any, late: Any) -> Any:
    # The same for four bits at once, and nothing is late yet.
    one, two, three, four = words[0], words[1], words[2], words[3]
    limit1, limit2, limit3, limit4 = limits[0], limits[1], limits[2], limits[3]
    for i in range(answers.shape[0]):
        open1 = ~(limit1 ^ one[i])
        open2 = open1 & ~(limit2 ^ two[i])
        open3 = open2 & ~(limit3 ^ three[i])
        answers[i] = (
            (limit1 & ~one[i]) | (open1 & limit2 & ~two[i]) | (open2 & limit3 & ~three[i]) | (open3 & limit4 & ~four[i])
        )
        undecided[i] = open3 & ~(limit4 ^ four[i])
        late[i] = 0


@njit(types.void(_READ_ROWS, _READ, _WRITE, _WRITE, _WRITE), **_OPTIONS)
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
        # From here on `seen` holds what stays open, and `before` who was served by an earlier layer.
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


@njit(types.int64(_READ), **_OPTIONS)
def _count_ones(words: Any) -> Any:
    total = _u64(0)
    for i in range(words.shape[0]):
        total += _ones(words[i])
    return _i64(total)


@njit(types.UniTuple(types.int64, 2)(_READ, _READ, _WRITE, _WRITE, _WRITE), **_OPTIONS)
def _start_and_fold(words: Any, limits: Any, answers: Any, undecided: Any, late: Any) -> Any:
    size = answers.shape[0]
    at = START_LEVELS * size
    _start_four(words[:at].reshape((START_LEVELS, size)), limits, answers, undecided, late)
    for fold in FOLDS:
        width = size // fold
        some = words[at : at + FOLD_LEVELS * width].reshape((FOLD_LEVELS, width))
        _fold(some, limits[START_LEVELS:], answers, undecided, late)
        at += FOLD_LEVELS * width
    return _count_ones(undecided), _count_ones(late)


@njit(types.int64(_READ, types.uint64, _WRITE, _READ, types.int64[::1], types.int32[::1]), **_OPTIONS)
def _lanes(words: Any, limit: Any, answers: Any, undecided: Any, still: Any, held: Any) -> Any:
    # First the words that hold an open coin, without a branch; most of them hold one.
    count = 0
    for i in range(undecided.shape[0]):
        held[count] = i
        count += undecided[i] != 0
    at = 0
    left = 0
    for k in range(count):
        i = int(held[k])
        rest = undecided[i]
        found = _u64(0)
        while rest:
            bit = _lowest(rest)
            rest &= rest - _ONE
            drawn = (words[at >> 2] >> _u64((at & 3) << 4)) & _LANE
            at += 1
            found |= _u64(drawn < limit) << bit
            if drawn == limit:
                if left < still.shape[0]:
                    still[left] = (i << 6) + _i64(bit)
                left += 1
        answers[i] |= found
    return left


@njit(types.void(types.uint8[:, ::1], _READ_INTS, _READ_FLAGS), **_OPTIONS)
def _put(rows: Any, indices: Any, shown: Any) -> Any:
    for i in range(rows.shape[0]):
        bit = indices[i] & 7
        held = _i64(rows[i, indices[i] >> 3])
        rows[i, indices[i] >> 3] = _u8((held & ~(1 << bit)) | (_i64(shown[i]) << bit))


@njit(types.void(_READ_ROWS, types.int64[::1]), **_OPTIONS)
def _column_counts(rows: Any, counts: Any) -> Any:
    # Vertical counters: plane k holds bit k of 64 counters. Seven rows become one number of three bits by full adders
    # (sum = a ^ b ^ c, carry = majority), which is then added to the planes.
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


@njit(types.void(types.uint8[:, ::1], _READ_INTS, _READ_INTS, types.int64[::1]), **_OPTIONS)
def _shortfall(rows: Any, indices: Any, wanted: Any, needs: Any) -> Any:
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
            total += _ones(word)
        word = _u64(0)
        for column in range(whole, width):
            word = (word << _u64(8)) | _u64(row[column])
        total += _ones(word)
        needs[i] = wanted[i] - _i64(total)
        row[at] = _u8(without | (bit & -_i64(needs[i] > 0)))


@njit(
    types.UniTuple(types.int64, 2)(types.uint8[:, ::1], types.int64[::1], _READ, types.uint64, types.uint64),
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
                lane = _i64(((word >> _HALF) * size + (((word & _LOW) * size) >> _HALF)) >> _HALF)
                held = _i64(rows[i, lane >> 3])
                free = (((held ^ turn) >> (lane & 7)) & 1) ^ 1
                free &= _i64(word * size >= refuse_below)
                rows[i, lane >> 3] = _u8(held ^ (free << (lane & 7)))
                left -= free
            needs[i] = (left ^ turn) - turn
            active[next_count] = i
            next_count += left != 0
            next_words += left
        count, round_words = next_count, next_words
    return used, round_words


class CompiledBits:
    """The work on bits with the compiled kernels."""

    __slots__ = ()

    def start(self, words: Words, chances: int) -> tuple[Words, Words]:
        """See `BitKernel`."""
        answers, undecided = np.empty((2, words.shape[1]), dtype=np.uint64)
        _start(words, limits_array(chances, len(words)), answers, undecided)
        return answers, undecided

    def start_and_fold(self, words: Words, chances: int) -> tuple[Words, tuple[Words, Words], tuple[int, int]]:
        """See `BitKernel`."""
        size = len(words) // coin_words(1) * FOLDS[-1]
        answers, undecided, late = np.empty((3, size), dtype=np.uint64)
        limits = limits_array(chances, START_LEVELS + FOLD_LEVELS)
        early, others = _start_and_fold(words, limits, answers, undecided, late)
        return answers, (undecided, late), (early, others)

    def lanes(self, words: Words, limit: int, answers: Words, undecided: Words) -> NDArray[np.int64]:
        """See `BitKernel`."""
        still = np.empty(64, dtype=np.int64)
        held = np.empty(len(undecided) + 1, dtype=np.int32)
        left = _lanes(words, _u64(limit), answers, undecided, still, held)
        if left > len(still):
            # Far more than there ever are, but words may be given; the answers come out the same again.
            still = np.empty(left, dtype=np.int64)
            _lanes(words, _u64(limit), answers, undecided, still, held)
        return still[:left]

    def put(self, rows: Bytes, indices: NDArray[np.int64], shown: NDArray[np.bool_]) -> None:
        """See `BitKernel`."""
        _put(rows, indices, shown)

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        """See `BitKernel`."""
        counts = np.zeros(rows.shape[1] * 64, dtype=np.int64)
        _column_counts(rows, counts)
        return counts

    def shortfall(self, rows: Bytes, indices: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `BitKernel`."""
        needs = np.empty(len(rows), dtype=np.int64)
        _shortfall(rows, indices, wanted, needs)
        return needs

    def move(self, rows: Bytes, needs: NDArray[np.int64], words: Words, size: int) -> tuple[int, int]:
        """See `BitKernel`."""
        used, left = _move(rows, needs, words, _u64(size), _u64(2**64 % size))
        return used, left

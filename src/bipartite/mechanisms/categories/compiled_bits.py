"""The work on bits as machine code (numba): the same results from the same words as `NumpyBits`.

Importing this module compiles the kernels, or loads them from numba's cache; `bits.py` does so only when it pays.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic

from bipartite.mechanisms.categories.bits import (
    FOLD_LEVELS,
    FOLDS,
    START_LEVELS,
    TILE,
    WORDS_OF_32,
    limits_array,
    try_bits,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Bytes = NDArray[np.uint8]

if config.DISABLE_JIT:
    msg = "numba's compiler is switched off"
    raise ImportError(msg)

if sys.byteorder == "big":
    msg = "the kernels write words of bits as bytes, low end first"
    raise ImportError(msg)

_u8 = np.uint8
_u64 = np.uint64
_i64 = np.int64
_ALL: Final = _u64(2**64 - 1)
_ONE: Final = _u64(1)
# Words of coins worked on together: they stay in the first-level cache.
_BLOCK: Final = 256
# Rows of at most so many words are kept in registers.
_REGISTERS: Final = 2
# The bits of a try, where rows are kept in registers.
_TRY_BITS: Final = try_bits(64 * _REGISTERS)
_TRY: Final = _u64(2**_TRY_BITS - 1)
# The planes of the vertical counters, and how many rows they can count.
_PLANES: Final = 8
_MOST: Final = 2**_PLANES - 1

_READ: Final = types.Array(types.uint64, 1, "C", readonly=True)
_READ_ROWS: Final = types.Array(types.uint64, 2, "C", readonly=True)
_READ_COLUMNS: Final = types.Array(types.uint64, 2, "A", readonly=True)
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


_VECTOR: Final = ir.VectorType(ir.IntType(64), 8)


class _Vectors:
    """Writes machine code that works on 8 words at once; LLVM's own vectoriser leaves half of the speed (measured)."""

    def __init__(self, context: Any, builder: Any, kinds: Any, args: Any) -> None:
        self._context, self._builder, self._kinds, self._args = context, builder, kinds, args
        self.ones = ir.Constant(_VECTOR, [2**64 - 1] * 8)
        self.zeros = ir.Constant(_VECTOR, [0] * 8)

    def _at(self, which: int, offset: int) -> Any:
        """The address of this element of argument ``which``, counted from the place that the last argument names."""
        data = self._context.make_array(self._kinds[which])(self._context, self._builder, self._args[which]).data
        index = self._builder.add(self._args[-1], ir.Constant(ir.IntType(64), offset))
        return self._builder.gep(data, [index])

    def load(self, which: int, offset: int) -> Any:
        """Eight words of an array."""
        address = self._builder.bitcast(self._at(which, offset), _VECTOR.as_pointer())
        return self._builder.load(address, align=8, typ=_VECTOR)

    def store(self, which: int, offset: int, value: Any) -> None:
        """Write them."""
        address = self._builder.bitcast(self._at(which, offset), _VECTOR.as_pointer())
        self._builder.store(value, address, align=8)

    def flag(self, which: int, group: int, value: Any) -> None:
        """Write a byte that tells which of eight words are not 0."""
        data = self._context.make_array(self._kinds[which])(self._context, self._builder, self._args[which]).data
        eighth = self._builder.lshr(self._args[-1], ir.Constant(ir.IntType(64), 3))
        index = self._builder.add(eighth, ir.Constant(ir.IntType(64), group))
        byte = self._builder.bitcast(self._builder.icmp_unsigned("!=", value, self.zeros), ir.IntType(8))
        self._builder.store(byte, self._builder.gep(data, [index]))

    def limit(self, which: int, level: int) -> Any:
        """A limit, eight times."""
        data = self._context.make_array(self._kinds[which])(self._context, self._builder, self._args[which]).data
        scalar = self._builder.load(self._builder.gep(data, [ir.Constant(ir.IntType(64), level)]))
        first = self._builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
        return self._builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8))

    def both(self, a: Any, b: Any) -> Any:
        """A & b."""
        return self._builder.and_(a, b)

    def either(self, a: Any, b: Any) -> Any:
        """A | b."""
        return self._builder.or_(a, b)

    def without(self, a: Any, b: Any) -> Any:
        """A & ~b."""
        return self._builder.and_(a, self._builder.xor(b, self.ones))

    def compare(self, drawn: list[Any], limits: list[Any], still: Any) -> tuple[Any, Any]:
        """(answers, open coins) after these bits of the coins that are open."""
        answers = self.zeros
        for word, limit in zip(drawn, limits, strict=True):
            answers = self.either(answers, self.both(still, self.without(limit, word)))
            still = self.without(still, self._builder.xor(limit, word))
        return answers, still


@intrinsic
def _start_and_fold_8(
    typing_context: Any,  # noqa: ARG001
    words: Any,
    limits: Any,
    answers: Any,
    undecided: Any,
    late: Any,
    place: Any,
) -> Any:
    """Start and first fold of a whole tile, for 8 of its places and all 8 layers."""
    layers = FOLDS[0]
    width = TILE // layers

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        v = _Vectors(context, builder, signature.args, args)
        limits = [v.limit(1, level) for level in range(START_LEVELS + FOLD_LEVELS)]
        found, left = [], []
        seen = v.zeros
        for layer in range(layers):
            drawn = [v.load(0, level * TILE + layer * width) for level in range(START_LEVELS)]
            answer, still = v.compare(drawn, limits[:START_LEVELS], v.ones)
            found.append(answer)
            left.append(still)
            seen = v.either(seen, still)
        drawn = [v.load(0, START_LEVELS * TILE + level * width) for level in range(FOLD_LEVELS)]
        shared, seen = v.compare(drawn, limits[START_LEVELS:], seen)
        before = v.zeros
        for layer in range(layers):
            served = v.without(left[layer], before)
            v.store(2, layer * width, v.either(found[layer], v.both(served, shared)))
            v.store(3, layer * width, v.both(left[layer], before))
            v.store(4, layer * width, v.both(served, seen))
            before = v.either(before, left[layer])
        return context.get_dummy_value()

    return types.void(words, limits, answers, undecided, late, place), generate


@intrinsic
def _fold_32(
    typing_context: Any,  # noqa: ARG001
    words: Any,
    limits: Any,
    answers: Any,
    undecided: Any,
    late: Any,
    held: Any,
    place: Any,
) -> Any:
    """The second fold of a whole tile, for 8 of its places; ``undecided`` becomes all that is open."""
    layers = FOLDS[1]
    width = TILE // layers

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        v = _Vectors(context, builder, signature.args, args)
        limits = [v.limit(1, START_LEVELS + level) for level in range(FOLD_LEVELS)]
        seen = v.zeros
        for layer in range(layers):
            seen = v.either(seen, v.load(3, layer * width))
        drawn = [v.load(0, level * width) for level in range(FOLD_LEVELS)]
        shared, seen = v.compare(drawn, limits, seen)
        before = v.zeros
        for layer in range(layers):
            at = layer * width
            mine = v.load(3, at)
            served = v.without(mine, before)
            v.store(2, at, v.either(v.load(2, at), v.both(served, shared)))
            others = v.either(v.load(4, at), v.both(served, seen))
            v.store(4, at, others)
            still = v.either(v.both(mine, before), others)
            v.store(3, at, still)
            v.flag(5, at // 8, still)
            before = v.either(before, mine)
        return context.get_dummy_value()

    return types.void(words, limits, answers, undecided, late, held, place), generate


@intrinsic
def _load_word(typing_context: Any, flat: Any, at: Any) -> Any:  # noqa: ARG001
    """The 8 bytes from this one on as a word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        word = ir.IntType(64)
        return builder.load(builder.bitcast(address, word.as_pointer()), align=1, typ=word)

    return types.uint64(flat, at), generate


@intrinsic
def _store_word(typing_context: Any, flat: Any, at: Any, word: Any) -> Any:  # noqa: ARG001
    """Write a word over the 8 bytes from this one on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        builder.store(args[2], builder.bitcast(address, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(flat, at, types.uint64), generate


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


@njit(types.int64(_READ, _READ, _READ, types.int64, types.int64[::1], types.int64), **_OPTIONS)
def _list_ties(undecided: Any, late: Any, held: Any, start: Any, ties: Any, count: Any) -> Any:
    # `held` has a bit for each word that holds an open coin; one in six does.
    for group in range(held.shape[0]):
        holding = held[group]
        while holding:
            i = (group << 6) + _i64(_lowest(holding))
            holding &= holding - _ONE
            rest, served = undecided[i], late[i]
            first = (start + i) << 6
            while rest:
                bit = _lowest(rest)
                rest &= rest - _ONE
                if count < ties.shape[0]:
                    ties[count] = ((first + _i64(bit)) << 1) + _i64((served >> bit) & _ONE)
                count += 1
    return count


@njit(types.void(_READ, _READ, _WRITE, _WRITE, _WRITE, _WRITE), **_OPTIONS)
def _whole_tile(words: Any, limits: Any, answers: Any, undecided: Any, late: Any, held: Any) -> Any:
    for place in range(0, TILE // FOLDS[0], 8):
        _start_and_fold_8(words, limits, answers, undecided, late, place)
    rest = words[(START_LEVELS * FOLDS[0] + FOLD_LEVELS) * TILE // FOLDS[0] :]
    flags = held.view(np.uint8)
    for place in range(0, TILE // FOLDS[1], 8):
        _fold_32(rest, limits, answers, undecided, late, flags, place)


@njit(types.void(_READ, _READ, _WRITE, _WRITE, _WRITE, _WRITE), **_OPTIONS)
def _last_tile(words: Any, limits: Any, answers: Any, undecided: Any, late: Any, held: Any) -> Any:
    size = answers.shape[0]
    at = START_LEVELS * size
    _start_four(words[:at].reshape((START_LEVELS, size)), limits, answers, undecided, late)
    for fold in FOLDS:
        width = size // fold
        some = words[at : at + FOLD_LEVELS * width].reshape((FOLD_LEVELS, width))
        _fold(some, limits[START_LEVELS:], answers, undecided, late)
        at += FOLD_LEVELS * width
    held[:] = 0
    for i in range(size):
        undecided[i] |= late[i]
        held[i >> 6] |= _u64(undecided[i] != 0) << _u64(i & 63)


@njit(types.int64(_READ, _READ, _WRITE, types.int64[::1]), **_OPTIONS)
def _start_and_fold(words: Any, limits: Any, answers: Any, ties: Any) -> Any:
    undecided = np.empty(TILE, dtype=np.uint64)
    late = np.empty(TILE, dtype=np.uint64)
    held = np.empty(TILE // 64, dtype=np.uint64)
    count = 0
    at = 0
    for start in range(0, answers.shape[0], TILE):
        size = min(TILE, answers.shape[0] - start)
        found = answers[start : start + size]
        some = words[at : at + size // FOLDS[-1] * WORDS_OF_32]
        at += some.shape[0]
        if size == TILE:
            _whole_tile(some, limits, found, undecided, late, held)
        else:
            _last_tile(some, limits, found, undecided[:size], late[:size], held)
        count = _list_ties(undecided, late, held, start, ties, count)
    return count


@njit(types.void(_READ, types.uint64, _READ_INTS, _WRITE), **_OPTIONS)
def _settle(words: Any, chances: Any, ties: Any, answers: Any) -> Any:
    for k in range(ties.shape[0]):
        compared = _u64(START_LEVELS + FOLD_LEVELS * (ties[k] & 1))
        won = (words[k] >> compared) < ((chances << compared) >> compared)
        answers[ties[k] >> 7] |= _u64(won) << _u64((ties[k] >> 1) & 63)


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
    types.int64(
        types.uint8[:, ::1], types.int64[::1], _READ_INTS, _READ_COLUMNS, types.int64, types.int64, types.int64[::1]
    ),
    **_OPTIONS,
)
def _move(rows: Any, needs: Any, who: Any, words: Any, size: Any, bits: Any, rest: Any) -> Any:
    mask = (_i64(1) << bits) - 1
    refuse_below = (mask + 1) % size
    end = words.shape[0] * 64
    count = 0
    for k in range(who.shape[0]):
        i = who[k]
        # Adding looks for zeros, removing for ones: a mask turns the second into the first.
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


@njit(types.void(_READ, types.uint64, _WRITE, _WRITE), **_OPTIONS)
def _tries_64(drawn: Any, size: Any, low: Any, left: Any) -> Any:
    # Four tries of each person, who is done where nothing is left. No branch, so that LLVM makes them side by side.
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


@njit(types.void(_READ, types.uint64, _WRITE, _WRITE, _WRITE), **_OPTIONS)
def _tries_128(drawn: Any, size: Any, low: Any, high: Any, left: Any) -> Any:
    # The same where a row is two words.
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
    **_OPTIONS,
)
def _first_round(flat: Any, indices: Any, wanted: Any, words: Any, size: Any, needs: Any) -> Any:
    # At most 128 values: a row is one word or two, and what follows it in them is kept as it is. Where ones are to be
    # removed, rows are turned over meanwhile.
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
            missing = wanted[first + i] - _i64(_ones(row & mine) + _ones(row_high & mine_high))
            turned, short = _u64(-_i64(missing < 0)), _u64(-_i64(missing > 0))
            low[i], high[i] = (row | (own & short)) ^ turned, (row_high | (own_high & short)) ^ turned
            left[i] = _u64(abs(missing))
            turn[i] = turned
        for k in range(words.shape[0]):
            if wide:
                _tries_128(words[k, first : first + people], _u64(size), low, high, left[:people])
            else:
                _tries_64(words[k, first : first + people], _u64(size), low, left[:people])
        # What is written beyond a row is written again with the next rows, but for the last rows of a block.
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


class CompiledBits:
    """The work on bits with the compiled kernels."""

    __slots__ = ()

    def start(self, words: Words, chances: int) -> tuple[Words, Words]:
        """See `BitKernel`."""
        answers, undecided = np.empty((2, words.shape[1]), dtype=np.uint64)
        _start(words, limits_array(chances, len(words)), answers, undecided)
        return answers, undecided

    def start_and_fold(self, words: Words, chances: int) -> tuple[Words, NDArray[np.int64]]:
        """See `BitKernel`."""
        answers = np.empty(len(words) // WORDS_OF_32 * FOLDS[-1], dtype=np.uint64)
        limits = limits_array(chances, START_LEVELS + FOLD_LEVELS)
        # One coin in 330 is a tie: 0.2 a word.
        ties = np.empty(64 + len(answers) // 2, dtype=np.int64)
        count = _start_and_fold(words, limits, answers, ties)
        if count > len(ties):
            # Far more than there ever are, but words may be given.
            ties = np.empty(count, dtype=np.int64)
            _start_and_fold(words, limits, answers, ties)
        return answers, ties[:count]

    def settle(self, words: Words, chances: int, ties: NDArray[np.int64], answers: Words) -> None:
        """See `BitKernel`."""
        _settle(words, _u64(chances), ties, answers)

    def put(self, rows: Bytes, indices: NDArray[np.int64], shown: NDArray[np.bool_]) -> None:
        """See `BitKernel`."""
        _put(rows, indices, shown)

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        """See `BitKernel`."""
        counts = np.zeros(rows.shape[1] * 64, dtype=np.int64)
        _column_counts(rows, counts)
        return counts

    def first_round(
        self, rows: Bytes, indices: NDArray[np.int64], wanted: NDArray[np.int64], words: Words, size: int
    ) -> NDArray[np.int64]:
        """See `BitKernel`."""
        people, width = rows.shape
        needs = np.empty(people, dtype=np.int64)
        done = 0
        held = -(-width // 8)
        if held <= _REGISTERS:
            # Those of whom one or two words can be read: all but the last few.
            done = max(0, (rows.size - 8 * held) // width + 1)
            _first_round(rows.reshape(-1), indices, wanted, words, size, needs[:done])
        if done < people:
            _shortfall(rows[done:], indices[done:], wanted[done:], needs[done:])
            self.move(rows[done:], needs[done:], np.arange(people - done), words[:, done:], size)
        return needs

    def move(
        self, rows: Bytes, needs: NDArray[np.int64], who: NDArray[np.int64], words: Words, size: int
    ) -> NDArray[np.int64]:
        """See `BitKernel`."""
        rest = np.empty(len(who) + 1, dtype=np.int64)
        count = _move(rows, needs, who, words, size, try_bits(size), rest)
        return rest[:count]

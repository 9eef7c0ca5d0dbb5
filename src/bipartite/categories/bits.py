"""Rows of packed bits, each bit answered by a biased coin: exact, and 64 bits at a time.

A coin with chance T/2^64 is a comparison U < T of a random 64-bit number. The numbers of 64 coins are compared side by
side: the first word holds the top bits of all 64 numbers, the next word the second bits, and so on. A coin is decided
at the first bit in which U and T differ, so after `LEVELS` words only one coin in 2^LEVELS is open; an open one takes 16
more bits of its own, and one that is open even then (2^−16 of them) a whole word for the rest. Together that is the
comparison of all 64 bits: the chance of a 1 is T/2^64 exactly.

A slab takes its words in this order: LEVELS words for each 64 coins (all first words, then all second words, …); then 16
bits for each open coin in the order of the rows, four to a word from its low end; then a word for each that is still
open. How many words that is depends on the words alone, never on a private value.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from bipartite.categories.drawing import take

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Stream

    Words = NDArray[np.uint64]

LEVELS: Final = 6
LANE_BITS: Final = 16
REST_BITS: Final = 64 - LEVELS - LANE_BITS
CERTAIN: Final = 2**64
"""The chances of a coin that always shows 1."""
MOST_BITS: Final = 2**18
"""The widest row: its words fit the block of words that a stream holds."""
SLAB_WORDS: Final = 2**13
"""64-bit words of a row that are drawn together: with LEVELS words each they stay in a second-level cache."""

# NumPy takes about 60 ns for 64 coins (measured), so the compiler is loaded (0.7 s) once so many words of coins have
# been asked for, in one call or in several.
LOAD_COMPILER_FROM: Final = 2**23

_ALL: Final = np.uint64(2**64 - 1)
_ONE: Final = np.uint64(1)
_SIX: Final = np.uint64(6)


@dataclass(frozen=True, slots=True)
class Chances:
    """The chances, out of 2^64, that a bit is answered by 1."""

    one: int
    """Where the given bit is 1."""
    zero: int
    """Where the given bit is 0."""


class BitKernel(Protocol):
    """One implementation of the work on rows of bits; all give the same results."""

    def one_hot(self, indices: NDArray[np.int64], columns: int) -> Words:
        """Rows of ``columns`` words in which only the bit with this index is 1."""

    def levels(self, words: Words, given: Words, chances: Chances) -> tuple[Words, Words]:
        """(answers, open coins) after ``LEVELS`` words for each 64 coins; an open coin's answer is 0 so far."""

    def lanes(
        self, words: Words, given: Words, chances: Chances, answers: Words, undecided: Words
    ) -> NDArray[np.int64]:
        """Decide the open coins by 16 bits each, in place; returns the places of those that are still open."""

    def open_coins(self, undecided: Words) -> int:
        """How many bits are 1."""

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        """How many rows have a 1 in each place."""

    def few_levels(self, words: Words, chances: int) -> Words:
        """Coins with chance ``chances``/2^levels, from as many words for each 64 of them as there are rows here."""

    def shortfall(self, rows: Words, indices: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """``wanted`` less the number of ones beside the bit ``indices``; that bit is then set where one is missing."""

    def move(self, rows: Words, needs: NDArray[np.int64], words: Words, size: int) -> tuple[int, int]:
        """Add (or remove) ones at random until ``needs`` are met or words run out: (words used, words of a next round)."""


def row_words(size: int) -> int:
    """How many 64-bit words a row of so many bits takes."""
    return -(-size // 64)


def row_bytes(size: int) -> int:
    """How many bytes a report of so many bits takes."""
    return -(-size // 8)


def slab_of(size: int) -> int:
    """How many rows of so many bits are drawn together."""
    return max(1, SLAB_WORDS // row_words(size))


def last_mask(size: int) -> np.uint64:
    """The bits of the last word of a row that stand for values."""
    return np.uint64(2**64 - 1 >> (-size % 64))


def answer(kernel: BitKernel, given: Words, size: int, chances: Chances, stream: Stream) -> Words:
    """Answer each given bit by a coin of its own; ``given`` has one row a person."""
    flat = given.reshape(-1)
    answers, undecided = kernel.levels(take(stream, LEVELS * len(flat)), flat, chances)
    columns = given.shape[1]
    answers[columns - 1 :: columns] &= last_mask(size)
    undecided[columns - 1 :: columns] &= last_mask(size)
    ties = kernel.open_coins(undecided)
    if ties:
        words = take(stream, -(-ties * LANE_BITS // 64))
        still = kernel.lanes(words, flat, chances, answers, undecided)
        if len(still):
            _rest(take(stream, len(still)), flat, chances, answers, still)
    return answers.reshape(given.shape)


def _rest(words: Words, given: Words, chances: Chances, answers: Words, places: NDArray[np.int64]) -> None:
    """Decide the last open coins by the rest of their 64 bits."""
    at, bit = places >> 6, (places & 63).astype(np.uint64)
    is_one = (given[at] >> bit) & _ONE
    below = (1 << REST_BITS) - 1
    limits = np.where(is_one == _ONE, np.uint64(chances.one & below), np.uint64(chances.zero & below))
    won = ((words >> np.uint64(64 - REST_BITS)) < limits).astype(np.uint64)
    np.bitwise_or.at(answers, at, won << bit)


def to_reports(rows: Words, size: int) -> NDArray[np.uint8]:
    """Rows of words as rows of bytes: bit j of a report is bit j mod 8 of byte j div 8."""
    as_bytes = rows.astype("<u8", copy=False).view(np.uint8).reshape(len(rows), -1)
    return as_bytes[:, : row_bytes(size)]


def to_rows(reports: NDArray[np.uint8], size: int) -> Words:
    """Rows of bytes as rows of 64-bit words."""
    columns = row_words(size)
    if reports.shape[1] % 8 == 0 and reports.flags.aligned and reports.ctypes.data % 8 == 0:
        return reports.view("<u8").astype(np.uint64, copy=False)
    wide = np.zeros((len(reports), columns * 8), dtype=np.uint8)
    wide[:, : reports.shape[1]] = reports
    return wide.view("<u8").astype(np.uint64, copy=False)


def level_masks(chances: int, levels: int = LEVELS, bits: int = 64) -> list[int]:
    """The top bits of T as masks, all ones or all zeros, the highest first."""
    return [2**64 - 1 if chances >> (bits - 1 - level) & 1 else 0 for level in range(levels)]


class _Demand:
    """How many words of coins have been asked for so far."""

    words = 0


def kernel_for(words: int) -> BitKernel:
    """The faster implementation for a call with so many words of coins; all give the same reports."""
    _Demand.words += words
    if "bipartite.categories.compiled_bits" in sys.modules or _Demand.words >= LOAD_COMPILER_FROM:
        try:
            from bipartite.categories.compiled_bits import CompiledBits  # noqa: PLC0415 (numba, only when it pays)
        except Exception:  # noqa: BLE001 (whatever ails the compiler, NumPy gives the same reports)
            return NumpyBits()
        return CompiledBits()
    return NumpyBits()


class NumpyBits:
    """The work on rows of bits in NumPy."""

    __slots__ = ()

    def one_hot(self, indices: NDArray[np.int64], columns: int) -> Words:
        """See `BitKernel`."""
        rows = np.zeros((len(indices), columns), dtype=np.uint64)
        rows[np.arange(len(indices)), indices >> 6] = _ONE << (indices & 63).astype(np.uint64)
        return rows

    def levels(self, words: Words, given: Words, chances: Chances) -> tuple[Words, Words]:
        """See `BitKernel`."""
        answers = np.zeros(len(given), dtype=np.uint64)
        undecided = np.full(len(given), _ALL)
        masks = zip(level_masks(chances.one), level_masks(chances.zero), strict=True)
        for drawn, (one, zero) in zip(words.reshape(LEVELS, -1), masks, strict=True):
            limit = (given & np.uint64(one ^ zero)) ^ np.uint64(zero)
            # U's bit is 0 and T's is 1: U < T. They are equal: still open.
            answers |= undecided & limit & ~drawn
            undecided &= ~(limit ^ drawn)
        return answers, undecided

    def lanes(
        self, words: Words, given: Words, chances: Chances, answers: Words, undecided: Words
    ) -> NDArray[np.int64]:
        """See `BitKernel`."""
        places = _places(undecided)
        lanes = (words[:, None] >> np.arange(0, 64, LANE_BITS, dtype=np.uint64)) & np.uint64(2**LANE_BITS - 1)
        drawn = lanes.reshape(-1)[: len(places)]
        at, bit = places >> 6, (places & 63).astype(np.uint64)
        is_one = ((given[at] >> bit) & _ONE) == _ONE
        limit = np.where(is_one, np.uint64(_lane(chances.one)), np.uint64(_lane(chances.zero)))
        np.bitwise_or.at(answers, at, (drawn < limit).astype(np.uint64) << bit)
        return places[drawn == limit]

    def open_coins(self, undecided: Words) -> int:
        """See `BitKernel`."""
        return int(_ones(undecided).sum())

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        """See `BitKernel`."""
        as_bytes = rows.astype("<u8", copy=False).view(np.uint8).reshape(len(rows), -1)
        counts = np.zeros(rows.shape[1] * 64, dtype=np.int64)
        # Sums of at most 255 bits fit a byte, which NumPy adds fastest.
        for start in range(0, len(rows), 255):
            bits = np.unpackbits(as_bytes[start : start + 255], axis=1, bitorder="little")
            counts += bits.sum(axis=0, dtype=np.uint8)
        return counts

    def few_levels(self, words: Words, chances: int) -> Words:
        """See `BitKernel`."""
        levels = len(words)
        answers = np.zeros(words.shape[1], dtype=np.uint64)
        undecided = np.full(words.shape[1], _ALL)
        for drawn, limit in zip(words, level_masks(chances, levels, levels), strict=True):
            answers |= undecided & np.uint64(limit) & ~drawn
            undecided &= ~(np.uint64(limit) ^ drawn)
        return answers

    def shortfall(self, rows: Words, indices: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `BitKernel`."""
        people = np.arange(len(rows))
        bit = _ONE << (indices & 63).astype(np.uint64)
        rows[people, indices >> 6] &= ~bit
        needs: NDArray[np.int64] = wanted - _ones(rows).sum(axis=1, dtype=np.int64)
        rows[people, indices >> 6] |= np.where(needs > 0, bit, np.uint64(0))
        return needs

    def move(self, rows: Words, needs: NDArray[np.int64], words: Words, size: int) -> tuple[int, int]:
        """See `BitKernel`."""
        used = 0
        factor, refuse_below = np.uint64(size), np.uint64(2**64 % size)
        while True:
            tries = np.abs(needs)
            round_words = int(tries.sum())
            if round_words == 0 or used + round_words > len(words):
                return used, round_words
            drawn = words[used : used + round_words]
            used += round_words
            person = np.repeat(np.arange(len(rows)), tries)
            high, low = _high(drawn, factor), drawn * factor
            kept = low >= refuse_below
            # Tries of one round on one place count once, so the order within a round does not matter.
            places = np.unique(person[kept] * size + high[kept].astype(np.int64))
            person, lane = places // size, places % size
            bit = _ONE << (lane & 63).astype(np.uint64)
            there = (rows[person, lane >> 6] & bit) != 0
            useful = there == (needs[person] < 0)
            person, lane, bit = person[useful], lane[useful], bit[useful]
            np.bitwise_xor.at(rows, (person, lane >> 6), bit)
            needs -= np.sign(needs) * np.bincount(person, minlength=len(rows))


def _lane(chances: int) -> int:
    """The 16 bits of T after the first LEVELS."""
    return chances >> REST_BITS & (2**LANE_BITS - 1)


def _places(undecided: Words) -> NDArray[np.int64]:
    """The places of all ones, ascending."""
    held = np.flatnonzero(undecided)
    bits = np.unpackbits(undecided[held].astype("<u8", copy=False).view(np.uint8), bitorder="little")
    at = np.flatnonzero(bits)
    places: NDArray[np.int64] = (held[at >> 6] << 6) + (at & 63)
    return places


_PAIRS: Final = np.uint64(0x5555555555555555)
_FOURS: Final = np.uint64(0x3333333333333333)
_EIGHTS: Final = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES: Final = np.uint64(0x0101010101010101)


def _ones(words: Words) -> NDArray[Any]:
    """How many bits of each word are 1."""
    pairs = words - ((words >> _ONE) & _PAIRS)
    fours = (pairs & _FOURS) + ((pairs >> np.uint64(2)) & _FOURS)
    eights = (fours + (fours >> np.uint64(4))) & _EIGHTS
    return (eights * _BYTES) >> np.uint64(56)


def _high(words: Words, factor: np.uint64) -> Words:
    """⌊word·factor/2^64⌋ for a factor below 2^32."""
    high: Words = (
        (words >> np.uint64(32)) * factor + (((words & np.uint64(2**32 - 1)) * factor) >> np.uint64(32))
    ) >> (np.uint64(32))
    return high

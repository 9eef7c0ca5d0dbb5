"""Rows of packed bits and the biased coins that fill them: exact, and 64 coins at a time.

A coin with chance T/2^64 is a comparison U < T of a random 64-bit number. The numbers of 64 coins are compared side by
side: one word holds the top bits of all 64 numbers, the next word the second bits, and so on. A coin is decided at the
first bit in which U and T differ, so few are open after a few bits, and their next bits can share words:

1. *Start*: 4 words for each 64 coins. One coin in 16 stays open.
2. *Fold*, twice: the M words of coins are laid over each other, first 8, then 32 at a time (word i over word i + M/8,
   …). In each of the 64 places the first open coin takes the 6 bits that are drawn there; others stay open.
3. *Ties*: every coin that no fold served takes 16 bits of its own, in the order of the coins, four to a word from its
   low end; what is open even then takes a word for the rest of U. Then the same for those that a fold left open.

Every bit of every U is drawn once and used by one coin, and all 64 bits are compared if it comes to that: the chance of
a 1 is T/2^64 exactly, and coins are independent. Which words are taken, and how many, depends on the words alone,
never on a private value. A slab draws all its first words, then all its second words, and so on; M is padded to a
multiple of 32 words.
"""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from bipartite.categories.drawing import take

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Stream

    Words = NDArray[np.uint64]
    Bytes = NDArray[np.uint8]

START_LEVELS: Final = 4
FOLDS: Final = (8, 32)
FOLD_LEVELS: Final = 6
LANE_BITS: Final = 16
_COMPARED: Final = (START_LEVELS, START_LEVELS + FOLD_LEVELS)
CERTAIN: Final = 2**64
"""The chances of a coin that always shows 1."""
MOST_BITS: Final = 2**18
"""The widest row: all its words fit the block of words that a stream holds."""
SLAB_BYTES: Final = 3 * 2**15
"""Bytes of rows that are drawn together: with their words they stay in a second-level cache."""

# NumPy takes 0.9 s for so many bytes of coins; loading the compiled kernels takes 0.6 s, and 3.7 s the first time on a
# machine (measured). So they are loaded once so many have been asked for, in one call or in several.
LOAD_COMPILER_FROM: Final = 2**26

_ALL: Final = np.uint64(2**64 - 1)
_ONE: Final = np.uint64(1)


class BitKernel(Protocol):
    """One implementation of the work on bits; all give the same results."""

    def start(self, words: Words, chances: int) -> tuple[Words, Words]:
        """(answers, open coins) after a row of words for each bit compared; an open coin's answer is 0 so far."""

    def start_and_fold(self, words: Words, chances: int) -> tuple[Words, tuple[Words, Words], tuple[int, int]]:
        """(answers, open coins, their numbers) after start and folds: those that no fold served, then the others."""

    def lanes(self, words: Words, limit: int, answers: Words, undecided: Words) -> NDArray[np.int64]:
        """Decide the open coins by 16 bits each, in place; returns the places of those that are still open."""

    def put(self, rows: Bytes, indices: NDArray[np.int64], shown: NDArray[np.bool_]) -> None:
        """Set the bit with this index in each row."""

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        """How many rows have a 1 in each place."""

    def shortfall(self, rows: Bytes, indices: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """``wanted`` less the number of ones beside the bit ``indices``; that bit is then set where one is missing."""

    def move(self, rows: Bytes, needs: NDArray[np.int64], words: Words, size: int) -> tuple[int, int]:
        """Add or remove ones at random until ``needs`` are met or words run out: (words used, still needed)."""


def row_bytes(size: int) -> int:
    """How many bytes a report of so many bits takes."""
    return -(-size // 8)


def slab_of(size: int) -> int:
    """How many rows of so many bits are drawn together."""
    return max(1, SLAB_BYTES // row_bytes(size))


def words_for(size: int) -> int:
    """About how many words a row of coins takes."""
    return 16 + row_bytes(size) * (START_LEVELS + 2) // 8


def last_mask(size: int) -> np.uint8:
    """The bits of the last byte of a row that stand for values."""
    return np.uint8(0xFF >> (-size % 8))


def coins(kernel: BitKernel, people: int, size: int, chances: int, stream: Stream) -> Bytes:
    """Rows of ``size`` coins of chance ``chances``/2^64, packed; the spare bits of the last byte are 0."""
    width = row_bytes(size)
    words = take(stream, coin_words(people * width))
    answers, undecided, ties = kernel.start_and_fold(words, chances)
    for still_open, compared, count in zip(undecided, _COMPARED, ties, strict=True):
        if count:
            _decide(kernel, chances, compared, count, answers, still_open, stream)
    rows = answers.astype("<u8", copy=False).view(np.uint8)[: people * width].reshape(people, width)
    if size % 8:
        rows[:, -1] &= last_mask(size)
    return rows


def coin_words(count: int) -> int:
    """How many words start and folds take for so many bytes of coins, padded to 32 words of them."""
    blocks = -(-count // (8 * FOLDS[-1]))
    return blocks * (FOLDS[-1] * START_LEVELS + FOLD_LEVELS * sum(FOLDS[-1] // fold for fold in FOLDS))


def _decide(
    kernel: BitKernel, chances: int, compared: int, ties: int, answers: Words, undecided: Words, stream: Stream
) -> None:
    """Decide the open coins, of which so many bits are compared already."""
    rest_bits = 64 - compared - LANE_BITS
    words = take(stream, -(-ties * LANE_BITS // 64))
    places = kernel.lanes(words, chances >> rest_bits & (2**LANE_BITS - 1), answers, undecided)
    if len(places):
        words = take(stream, len(places))
        won = (words >> np.uint64(64 - rest_bits)) < np.uint64(chances & ((1 << rest_bits) - 1))
        np.bitwise_or.at(answers, places >> 6, won.astype(np.uint64) << (places & 63).astype(np.uint64))


def parts(words: Words) -> list[Words]:
    """The words of the start and of each fold, a row for each bit compared."""
    blocks = len(words) // coin_words(1)
    cut: list[Words] = []
    at = 0
    for levels, width in [(START_LEVELS, 32 * blocks), *((FOLD_LEVELS, 32 * blocks // fold) for fold in FOLDS)]:
        cut.append(words[at : at + levels * width].reshape(levels, width))
        at += levels * width
    return cut


@lru_cache(maxsize=64)
def limits_array(chances: int, levels: int) -> Words:
    """The first bits of T as masks."""
    return np.array(limits_of(chances, 0, levels), dtype=np.uint64)


def limits_of(chances: int, first: int, levels: int) -> list[int]:
    """Bits ``first``, first + 1, … of T from the top, as masks: all ones or all zeros."""
    return [2**64 - 1 if chances >> (63 - first - level) & 1 else 0 for level in range(levels)]


def count_rows(kernel: BitKernel, reports: Bytes) -> NDArray[np.int64]:
    """How many reports have a 1 in each place."""
    people, width = reports.shape
    # As many rows side by side as make whole words, and enough of them to keep wide instructions busy.
    beside = 8 // math.gcd(8, width)
    beside *= max(1, 512 // (beside * width))
    whole = people // beside * beside
    counts = np.zeros(width * 8, dtype=np.int64)
    step = beside * max(1, 2**21 // (beside * width))
    for start in range(0, whole, step):
        some = np.ascontiguousarray(reports[start : min(start + step, whole)])
        aligned = some if some.ctypes.data % 8 == 0 else some.copy()
        rows = aligned.reshape(-1, beside * width).view("<u8").astype(np.uint64, copy=False)
        counts += kernel.column_counts(rows).reshape(beside, -1).sum(axis=0)
    counts += np.unpackbits(reports[whole:], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return counts


class _Demand:
    """How many bytes of coins have been asked for so far."""

    bytes = 0


def kernel_for(count: int) -> BitKernel:
    """The faster implementation for a call with so many bytes of coins; all give the same reports."""
    _Demand.bytes += count
    if "bipartite.categories.compiled_bits" in sys.modules or _Demand.bytes >= LOAD_COMPILER_FROM:
        try:
            from bipartite.categories.compiled_bits import CompiledBits  # noqa: PLC0415 (numba, only when it pays)
        except Exception:  # noqa: BLE001 (whatever ails the compiler, NumPy gives the same reports)
            return NumpyBits()
        return CompiledBits()
    return NumpyBits()


class NumpyBits:
    """The work on bits in NumPy."""

    __slots__ = ()

    def start(self, words: Words, chances: int) -> tuple[Words, Words]:
        """See `BitKernel`."""
        undecided = np.full(words.shape[1], _ALL)
        return _compare(words, limits_of(chances, 0, len(words)), undecided), undecided

    def start_and_fold(self, words: Words, chances: int) -> tuple[Words, tuple[Words, Words], tuple[int, int]]:
        """See `BitKernel`."""
        first, *folds = parts(words)
        answers, undecided = self.start(first, chances)
        late = np.zeros_like(answers)
        for fold in folds:
            self._fold(fold, chances, answers, undecided, late)
        return answers, (undecided, late), (int(_ones(undecided).sum()), int(_ones(late).sum()))

    def _fold(self, words: Words, chances: int, answers: Words, undecided: Words, late: Words) -> None:
        """Let open coins that are laid over each other share words; those served and still open move to ``late``."""
        shape = (-1, words.shape[1])
        layers, answered, postponed = undecided.reshape(shape), answers.reshape(shape), late.reshape(shape)
        seen = np.zeros(words.shape[1], dtype=np.uint64)
        served = np.empty_like(layers)
        for layer, mine in zip(layers, served, strict=True):
            np.bitwise_and(layer, ~seen, out=mine)
            seen |= layer
        shared = _compare(words, limits_of(chances, START_LEVELS, FOLD_LEVELS), seen)
        answered |= served & shared
        postponed |= served & seen
        layers &= ~served

    def lanes(self, words: Words, limit: int, answers: Words, undecided: Words) -> NDArray[np.int64]:
        """See `BitKernel`."""
        held = np.flatnonzero(undecided)
        at = np.flatnonzero(np.unpackbits(undecided[held].astype("<u8").view(np.uint8), bitorder="little"))
        places: NDArray[np.int64] = (held[at >> 6] << 6) + (at & 63)
        lanes = (words[:, None] >> np.arange(0, 64, LANE_BITS, dtype=np.uint64)) & np.uint64(2**LANE_BITS - 1)
        drawn = lanes.reshape(-1)[: len(places)]
        won = (drawn < np.uint64(limit)).astype(np.uint64)
        np.bitwise_or.at(answers, places >> 6, won << (places & 63).astype(np.uint64))
        still: NDArray[np.int64] = places[drawn == np.uint64(limit)]
        return still

    def put(self, rows: Bytes, indices: NDArray[np.int64], shown: NDArray[np.bool_]) -> None:
        """See `BitKernel`."""
        people, at, bit = np.arange(len(rows)), indices >> 3, _bit(indices)
        rows[people, at] = (rows[people, at] & ~bit) | np.where(shown, bit, np.uint8(0))

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        """See `BitKernel`."""
        as_bytes = rows.astype("<u8", copy=False).view(np.uint8).reshape(len(rows), -1)
        counts = np.zeros(rows.shape[1] * 64, dtype=np.int64)
        # Sums of at most 255 bits fit a byte, which NumPy adds fastest.
        for start in range(0, len(rows), 255):
            bits = np.unpackbits(as_bytes[start : start + 255], axis=1, bitorder="little")
            counts += bits.sum(axis=0, dtype=np.uint8)
        return counts

    def shortfall(self, rows: Bytes, indices: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `BitKernel`."""
        people, at, bit = np.arange(len(rows)), indices >> 3, _bit(indices)
        rows[people, at] &= ~bit
        needs: NDArray[np.int64] = wanted - np.unpackbits(rows, axis=1).sum(axis=1, dtype=np.int64)
        rows[people, at] |= np.where(needs > 0, bit, np.uint8(0))
        return needs

    def move(self, rows: Bytes, needs: NDArray[np.int64], words: Words, size: int) -> tuple[int, int]:
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
            kept = drawn * factor >= refuse_below
            # Tries of one round on one place count once, so the order within a round does not matter.
            places = np.unique(person[kept] * size + _high(drawn[kept], factor).astype(np.int64))
            person, lane = places // size, places % size
            bit = _bit(lane)
            useful = ((rows[person, lane >> 3] & bit) != 0) == (needs[person] < 0)
            person, lane, bit = person[useful], lane[useful], bit[useful]
            np.bitwise_xor.at(rows, (person, lane >> 3), bit)
            needs -= np.sign(needs) * np.bincount(person, minlength=len(rows))


def _compare(words: Words, limits: list[int], undecided: Words) -> Words:
    """Answers of the open coins after these bits; ``undecided`` keeps those that are still open."""
    answers = np.zeros(len(undecided), dtype=np.uint64)
    for drawn, limit in zip(words, limits, strict=True):
        if limit:
            # T's bit is 1: a 0 of U is below, a 1 leaves it open.
            answers |= undecided & ~drawn
            undecided &= drawn
        else:
            undecided &= ~drawn
    return answers


def _bit(indices: NDArray[np.int64]) -> Bytes:
    """The bit of its byte that each index has."""
    bits: Bytes = np.left_shift(1, indices & 7).astype(np.uint8)
    return bits


_PAIRS: Final = np.uint64(0x5555555555555555)
_FOURS: Final = np.uint64(0x3333333333333333)
_EIGHTS: Final = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES: Final = np.uint64(0x0101010101010101)


def _ones(words: Words) -> Any:  # noqa: ANN401 (an array)
    """How many bits of each word are 1."""
    pairs = words - ((words >> _ONE) & _PAIRS)
    fours = (pairs & _FOURS) + ((pairs >> np.uint64(2)) & _FOURS)
    eights = (fours + (fours >> np.uint64(4))) & _EIGHTS
    return (eights * _BYTES) >> np.uint64(56)


def _high(words: Words, factor: np.uint64) -> Words:
    """⌊word·factor/2^64⌋ for a factor below 2^32."""
    half, low = np.uint64(32), np.uint64(2**32 - 1)
    high: Words = ((words >> half) * factor + (((words & low) * factor) >> half)) >> half
    return high

"""Rows of packed bits filled with biased coins: exact, and 64 coins at a time.

A coin of probability T/2^64 is a comparison U < T of a random 64-bit number. The numbers of 64 coins are compared in
parallel: one word holds the top bits of all 64 numbers, the next word the second bits, and so on. A coin is decided at
the first bit in which U and T differ, so few are open after a few bits, and their next bits can share words:

1. *Start*: 4 words per 64 coins. One coin in 16 stays open.
2. *Fold*, twice: the M words of coins of a tile are laid over each other, first 8, then 32 at a time (word i over word
   i + M/8, …). In each of the 64 positions the first open coin takes the 6 bits drawn there; others stay open.
3. *Ties*: every coin that is still open (one in 270) takes a word for the rest of U, from its top, in the order of the
   coins.

A tile has M = 1024 words of coins, and its words fit into an L1 cache; the last tile of a slab has as many as are
needed, padded to a multiple of 32. A tile draws all its first words, then all its second words, and so on; the ties of
a slab come after its last tile.

Every bit of every U is drawn once and used by one coin, and all 64 bits are compared if necessary: the probability of a
1 is exactly T/2^64, and coins are independent. Which words are consumed, and how many, depends on the words alone,
never on a private value.
"""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.kernel import compiled
from bipartite.lottery.words import take

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Stream

    Words = NDArray[np.uint64]
    Bytes = NDArray[np.uint8]

START_LEVELS: Final = 4
FOLDS: Final = (8, 32)
FOLD_LEVELS: Final = 6
TILE: Final = 1024
"""Words of coins in a tile."""
WORDS_OF_32: Final = FOLDS[-1] * START_LEVELS + FOLD_LEVELS * sum(FOLDS[-1] // fold for fold in FOLDS)
"""The number of words that start and folds consume for 32 words of coins."""
CERTAIN: Final = 2**64
"""Probability 1, in units of 2^−64."""
MOST_BITS: Final = 2**18
"""The widest row: all its words fit into the block of words that a stream holds."""
SLAB_BYTES: Final = 3 * 2**15
"""Bytes of rows that are drawn together: with their words they stay in an L2 cache."""

# NumPy takes 0.9 s for this many bytes of coins; loading the compiled kernels takes 0.6 s, and 3.7 s the first time on
# a machine (measured). So they are loaded after this many bytes, in one call or in several.
LOAD_COMPILER_FROM: Final = 2**26
_KERNELS: Final = "bipartite.mechanisms.categories.compiled_bits"

# Up to this many values a try takes 16 bits.
_SHORT_TRIES: Final = 2**12
_ALL: Final = np.uint64(2**64 - 1)
_ONE: Final = np.uint64(1)


def row_bytes(size: int) -> int:
    """The number of bytes in a report of this many bits."""
    return -(-size // 8)


def slab_of(size: int) -> int:
    """The number of rows of this many bits that are drawn together."""
    return max(1, SLAB_BYTES // row_bytes(size))


def words_for(size: int) -> int:
    """The approximate number of words for a row of coins."""
    return 16 + row_bytes(size) * (START_LEVELS + 2) // 8


def try_bits(size: int) -> int:
    """The number of bits drawn for one of this many values; fewer than one try in 16 is rejected."""
    return 16 if size <= _SHORT_TRIES else 32


def last_mask(size: int) -> np.uint8:
    """The bits of the last byte of a row that belong to values."""
    return np.uint8(0xFF >> (-size % 8))


def coins(kernel: NumpyBits, people: int, size: int, chances: int, stream: Stream) -> Bytes:
    """Packed rows of ``size`` coins of probability ``chances``/2^64; the spare bits of the last byte are 0."""
    width = row_bytes(size)
    answers, ties = kernel.start_and_fold(take(stream, coin_words(people * width)), chances)
    if len(ties):
        kernel.settle(take(stream, len(ties)), chances, ties, answers)
    rows = answers.astype("<u8", copy=False).view(np.uint8)[: people * width].reshape(people, width)
    if size % 8:
        rows[:, -1] &= last_mask(size)
    return rows


def coin_words(count: int) -> int:
    """The number of words that start and folds consume for this many bytes of coins, padded to 32 words of coins."""
    return -(-count // (8 * FOLDS[-1])) * WORDS_OF_32


@lru_cache(maxsize=64)
def limits_array(chances: int, levels: int) -> Words:
    """The first bits of T as masks."""
    return np.array(limits_of(chances, 0, levels), dtype=np.uint64)


def limits_of(chances: int, first: int, levels: int) -> list[int]:
    """Bits ``first``, first + 1, … of T from the top, as masks: all ones or all zeros."""
    return [2**64 - 1 if chances >> (63 - first - level) & 1 else 0 for level in range(levels)]


def count_rows(kernel: NumpyBits, reports: Bytes) -> NDArray[np.int64]:
    """The number of reports with a 1 at each position."""
    people, width = reports.shape
    # Enough rows side by side to fill whole words, and to keep vector instructions busy.
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
    """The number of bytes of coins drawn so far."""

    bytes = 0


def kernel_for(count: int) -> NumpyBits:
    """The fastest implementation for a call with this many bytes of coins; all give the same reports."""
    _Demand.bytes += count
    kernels = compiled(_KERNELS) if _KERNELS in sys.modules or _Demand.bytes >= LOAD_COMPILER_FROM else None
    chosen: NumpyBits = NumpyBits() if kernels is None else kernels.CompiledBits()
    return chosen


class NumpyBits:
    """The operations on bits in NumPy; `CompiledBits` gives the same results from the same words, faster."""

    __slots__ = ()

    def start(self, words: Words, chances: int) -> tuple[Words, Words]:
        """(answers, open coins) after comparing one row of words per bit; the answer of an open coin is 0 so far."""
        undecided = np.full(words.shape[1], _ALL)
        return _compare(words, limits_of(chances, 0, len(words)), undecided), undecided

    def start_and_fold(self, words: Words, chances: int) -> tuple[Words, NDArray[np.int64]]:
        """(answers, ties) after start and folds; coin i is listed as 2i, or as 2i + 1 if a fold has compared it."""
        whole = TILE // FOLDS[-1] * WORDS_OF_32
        tiled = len(words) // whole * whole
        kinds = (words[:tiled].reshape(-1, whole), words[None, tiled:])
        found = [self._tiles(some, chances) for some in kinds if some.size]
        answers, undecided, late = (
            np.concatenate([part.reshape(-1) for part in parts]) for parts in zip(*found, strict=True)
        )
        still = undecided | late
        held = np.flatnonzero(still)
        at = np.flatnonzero(np.unpackbits(still[held].astype("<u8").view(np.uint8), bitorder="little"))
        i, bit = held[at >> 6], at & 63
        served = (late[i] >> bit.astype(np.uint64)).astype(np.int64) & 1
        ties: NDArray[np.int64] = (((i << 6) + bit) << 1) + served
        return answers, ties

    def _tiles(self, words: Words, chances: int) -> tuple[Words, Words, Words]:
        """(answers, open coins that no fold compared, other open coins) of tiles of one size, one row per tile."""
        tiles, size = len(words), words.shape[1] // WORDS_OF_32 * FOLDS[-1]
        at = START_LEVELS * size
        undecided = np.full((tiles, size), _ALL)
        limits = limits_of(chances, 0, START_LEVELS)
        answers = _compare(words[:, :at].reshape(tiles, START_LEVELS, size), limits, undecided)
        late = np.zeros_like(answers)
        for fold in FOLDS:
            places = size // fold
            some = words[:, at : at + FOLD_LEVELS * places].reshape(tiles, FOLD_LEVELS, places)
            self._fold(some, chances, answers, undecided, late)
            at += FOLD_LEVELS * places
        return answers, undecided, late

    def _fold(self, words: Words, chances: int, answers: Words, undecided: Words, late: Words) -> None:
        """Let open coins laid over each other share words; those compared and still open move to ``late``."""
        tiles, _, places = words.shape
        shape = (tiles, undecided.shape[1] // places, places)
        layers, answered, postponed = undecided.reshape(shape), answers.reshape(shape), late.reshape(shape)
        seen = np.zeros((tiles, places), dtype=np.uint64)
        served = np.empty_like(layers)
        for layer in range(shape[1]):
            np.bitwise_and(layers[:, layer], ~seen, out=served[:, layer])
            seen |= layers[:, layer]
        shared = _compare(words, limits_of(chances, START_LEVELS, FOLD_LEVELS), seen)
        answered |= served & shared[:, None]
        postponed |= served & seen[:, None]
        layers &= ~served

    def settle(self, words: Words, chances: int, ties: NDArray[np.int64], answers: Words) -> None:
        """Decide each tie by one word, in place."""
        compared = START_LEVELS + FOLD_LEVELS * (ties & 1).astype(np.uint64)
        rest = (np.uint64(chances) << compared) >> compared
        won = ((words >> compared) < rest).astype(np.uint64)
        coin = ties >> 1
        np.bitwise_or.at(answers, coin >> 6, won << (coin & 63).astype(np.uint64))

    def put(self, rows: Bytes, indices: NDArray[np.int64], shown: NDArray[np.bool_]) -> None:
        """Set the bit with this index in each row."""
        people, at, bit = np.arange(len(rows)), indices >> 3, _bit(indices)
        rows[people, at] = (rows[people, at] & ~bit) | np.where(shown, bit, np.uint8(0))

    def column_counts(self, rows: Words) -> NDArray[np.int64]:
        """The number of rows with a 1 at each position."""
        as_bytes = rows.astype("<u8", copy=False).view(np.uint8).reshape(len(rows), -1)
        counts = np.zeros(rows.shape[1] * 64, dtype=np.int64)
        # Sums of at most 255 bits fit into a byte, which NumPy adds fastest.
        for start in range(0, len(rows), 255):
            bits = np.unpackbits(as_bytes[start : start + 255], axis=1, bitorder="little")
            counts += bits.sum(axis=0, dtype=np.uint8)
        return counts

    def first_round(
        self, rows: Bytes, indices: NDArray[np.int64], wanted: NDArray[np.int64], words: Words, size: int
    ) -> NDArray[np.int64]:
        """The ones still missing (or, negative, in excess) after a `move` of all people.

        The bit ``indices`` of a row does not count towards ``wanted``: it is set while ones are added and cleared while
        they are removed, so that it is neither added nor removed.
        """
        people, at, bit = np.arange(len(rows)), indices >> 3, _bit(indices)
        rows[people, at] &= ~bit
        needs: NDArray[np.int64] = wanted - np.unpackbits(rows, axis=1).sum(axis=1, dtype=np.int64)
        rows[people, at] |= np.where(needs > 0, bit, np.uint8(0))
        self.move(rows, needs, people, words, size)
        return needs

    def move(
        self, rows: Bytes, needs: NDArray[np.int64], who: NDArray[np.int64], words: Words, size: int
    ) -> NDArray[np.int64]:
        """Add or remove ones at random until ``needs`` are met or tries run out; returns those of ``who`` not done.

        Each of ``who`` has a column of ``words``, from whose low end one value after the other is tried, with
        `try_bits` each.
        """
        bits = try_bits(size)
        at = np.flatnonzero(needs[who])
        for start in range(0, len(words) * 64, bits):
            if len(at) == 0:
                break
            person = who[at]
            product = ((words[start >> 6, at] >> np.uint64(start & 63)) & np.uint64(2**bits - 1)) * np.uint64(size)
            lane = (product >> np.uint64(bits)).astype(np.int64)
            bit = _bit(lane)
            useful = ((rows[person, lane >> 3] & bit) != 0) == (needs[person] < 0)
            useful &= (product & np.uint64(2**bits - 1)) >= np.uint64(2**bits % size)
            person, lane, bit = person[useful], lane[useful], bit[useful]
            rows[person, lane >> 3] ^= bit
            needs[person] -= np.sign(needs[person])
            at = at[needs[who[at]] != 0]
        return who[at]


def _compare(words: Words, limits: list[int], undecided: Words) -> Words:
    """Answers of the open coins after these bits; ``undecided`` is reduced to those still open."""
    answers = np.zeros_like(undecided)
    for drawn, limit in zip(np.moveaxis(words, -2, 0), limits, strict=True):
        if limit:
            # The bit of T is 1: a 0 in U decides, a 1 leaves the coin open.
            answers |= undecided & ~drawn
            undecided &= drawn
        else:
            undecided &= ~drawn
    return answers


def _bit(indices: NDArray[np.int64]) -> Bytes:
    """The bit of each index within its byte."""
    bits: Bytes = np.left_shift(1, indices & 7).astype(np.uint8)
    return bits

"""Exactly uniform integers below W from random 64-bit words (Lemire 2019).

u = ⌊w·W/2^64⌋ is accepted unless the low half of w·W is below 2^64 mod W; then the next word is taken. Every lottery
draws its ticket this way, and so does everything else that is drawn uniformly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.words import draw_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.words import Source, Stream

WORD_BITS: Final = 64
# A few spare words for redraws, which occur less than once in 2^12.
_SPARE: Final = 8
_HALF: Final = np.uint64(32)
_SHORT: Final = 2**32
_LOW: Final = np.uint64(2**32 - 1)


def ticket_below(total: int, stream: Stream, word_bits: int = WORD_BITS) -> int:
    """Draw one ticket; ``word_bits`` is smaller only in tests, which enumerate every word."""
    low_half = (1 << word_bits) - 1
    redraw_below = (1 << word_bits) % total
    while True:
        product = stream.word() * total
        if product & low_half >= redraw_below:
            return product >> word_bits


def tickets_below(total: int, words: NDArray[np.uint64], wanted: int) -> tuple[NDArray[np.uint64], int]:
    """Up to ``wanted`` tickets from these words in order, and the number of words used."""
    if total & (total - 1) == 0:  # a power of two: no word is redrawn, and its top bits are the ticket
        return words[:wanted] >> np.uint64(WORD_BITS + 1 - total.bit_length()), min(wanted, len(words))
    kept = is_kept(words, total)
    if len(words) >= wanted and kept[:wanted].all():  # the usual case: nothing needs to move
        return high_half(words[:wanted], total), wanted
    positions = np.flatnonzero(kept)[:wanted]
    enough = len(positions) == wanted
    used = (int(positions[-1]) + 1 if wanted else 0) if enough else len(words)
    return high_half(words[positions], total), used


def is_kept(words: NDArray[np.uint64], total: int) -> NDArray[np.bool_]:
    """Whether each word yields a ticket; the others are redrawn."""
    kept: NDArray[np.bool_] = (words * np.uint64(total)) >= np.uint64(2**WORD_BITS % total)
    return kept


def draw_below(total: int, count: int, stream: Stream) -> NDArray[np.uint64]:
    """Draw ``count`` exactly uniform integers below ``total`` ≤ 2^63, from the words in order."""
    drawn = np.empty(count, dtype=np.uint64)
    fill_below(total, drawn, stream)
    return drawn


def fill_below(total: int, drawn: NDArray[np.uint64], stream: Stream) -> None:
    """Fill an array as :func:`draw_below` does."""
    done = 0
    while done < len(drawn):
        words = stream.window()[: len(drawn) - done + _SPARE]
        some, used = tickets_below(total, words, len(drawn) - done)
        drawn[done : done + len(some)] = some
        stream.advance(used)
        done += len(some)


def whole_numbers_below(total: int, count: int, source: Source) -> NDArray[np.int64]:
    """Draw ``count`` exactly uniform integers below ``total`` from a new stream of a source."""
    return draw_from(source, count, lambda stream: draw_below(total, count, stream).view(np.int64))


def whole_below(total: int, stream: Stream) -> int:
    """Draw a uniform integer below any total, however large, by rejection on its bits.

    For a total that fits in a word :func:`ticket_below` takes fewer words.
    """
    bits = (total - 1).bit_length()
    words = -(-bits // WORD_BITS)
    while True:
        drawn = 0
        for _ in range(words):
            drawn = drawn << WORD_BITS | stream.word()
        drawn >>= words * WORD_BITS - bits
        if drawn < total:
            return drawn


def high_half(a: NDArray[np.uint64], b: int) -> NDArray[np.uint64]:
    """⌊a·b / 2^64⌋, from four 32-bit products."""
    b0, b1 = np.uint64(b & 0xFFFFFFFF), np.uint64(b >> 32)
    a0, high = a & _LOW, a >> _HALF
    middle, low = high * b0, a0 * b0
    # In place from here on: allocating large arrays would cost more than the arithmetic.
    low >>= _HALF
    middle += low
    if b < _SHORT:  # two products suffice
        middle >>= _HALF
        return middle
    np.bitwise_and(middle, _LOW, out=low)
    a0 *= b1
    low += a0
    low >>= _HALF
    middle >>= _HALF
    high *= b1
    high += middle
    high += low
    return high

"""A uniform whole number below W from 64-bit words, exactly (Lemire 2019).

u = ⌊w·W/2^64⌋ is kept unless the low half of w·W is below 2^64 mod W; then the next word is taken. Every lottery draws
its ticket this way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.words import Stream

WORD_BITS: Final = 64
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(2**32 - 1)


def ticket_below(total: int, stream: Stream, word_bits: int = WORD_BITS) -> int:
    """One ticket; ``word_bits`` is smaller only in tests, which draw with every word there is."""
    low_half = (1 << word_bits) - 1
    redraw_below = (1 << word_bits) % total
    while True:
        product = stream.word() * total
        if product & low_half >= redraw_below:
            return product >> word_bits


def tickets_below(total: int, words: NDArray[np.uint64], wanted: int) -> tuple[NDArray[np.uint64], int]:
    """Up to ``wanted`` tickets from these words in order, and how many words they took."""
    kept = (words * np.uint64(total)) >= np.uint64(2**WORD_BITS % total)
    if len(words) >= wanted and kept[:wanted].all():  # most often, and then nothing needs to move
        return high_half(words[:wanted], total), wanted
    positions = np.flatnonzero(kept)[:wanted]
    enough = len(positions) == wanted
    used = (int(positions[-1]) + 1 if wanted else 0) if enough else len(words)
    return high_half(words[positions], total), used


def high_half(a: NDArray[np.uint64], b: int) -> NDArray[np.uint64]:
    """⌊a·b / 2^64⌋, from four 32-bit products."""
    b0, b1 = np.uint64(b & 0xFFFFFFFF), np.uint64(b >> 32)
    a0, high = a & _LOW, a >> _HALF
    middle, low = high * b0, a0 * b0
    # In place from here on: large arrays made anew would cost more than the arithmetic.
    low >>= _HALF
    middle += low
    np.bitwise_and(middle, _LOW, out=low)
    a0 *= b1
    low += a0
    low >>= _HALF
    middle >>= _HALF
    high *= b1
    high += middle
    high += low
    return high

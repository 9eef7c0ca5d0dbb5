"""The bulk draw on a line in NumPy: the same reports from the same words as the compiled and the scalar draw.

Used for calls too small to be worth loading the compiler, and where numba is missing or cannot cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.line import LineLottery

_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(2**32 - 1)


def high_half(a: NDArray[np.uint64], b: int) -> NDArray[np.uint64]:
    """⌊a·b / 2^64⌋, from four 32-bit products."""
    a0, a1 = a & _LOW, a >> _HALF
    b0, b1 = np.uint64(b & 0xFFFFFFFF), np.uint64(b >> 32)
    middle = a1 * b0 + ((a0 * b0) >> _HALF)
    carry = (middle & _LOW) + a0 * b1
    high: NDArray[np.uint64] = a1 * b1 + (middle >> _HALF) + (carry >> _HALF)
    return high


class VectorisedLine:
    """Draws blocks of reports on a line with NumPy."""

    __slots__ = ("_lottery",)

    def __init__(self, lottery: LineLottery) -> None:
        self._lottery = lottery

    def draw(
        self,
        codes: NDArray[np.int64],
        reports: NDArray[np.int64],
        words: NDArray[np.uint64],
        code_offset: int,
        report_offset: int,
    ) -> tuple[int, int, bool]:
        """Draw for as many codes as the words serve; return (values done, words used, all codes inside the domain)."""
        lottery = self._lottery
        kept = (words * np.uint64(lottery.total)) >= np.uint64(lottery.redraw_below)
        positions = np.flatnonzero(kept)[: len(codes)]
        done = len(positions)
        used = int(positions[-1]) + 1 if done == len(codes) and done else len(words) if len(codes) else 0
        ticket = high_half(words[positions], lottery.total)

        index = codes[:done] - np.int64(code_offset)
        inside = bool((index.view(np.uint64) < np.uint64(lottery.inputs)).all())
        start = np.clip(index + np.int64(lottery.shift), 0, lottery.outputs - lottery.m)

        near = start + (ticket // np.uint64(lottery.tickets.near)).view(np.int64)
        shift = np.uint64(lottery.tickets.far.bit_length() - 1)
        far = ((ticket - np.uint64(lottery.near_total)) >> shift).view(np.int64)
        far += lottery.m * (far >= start)
        report = np.where(ticket < np.uint64(lottery.near_total), near, far)
        np.add(report, np.int64(report_offset), out=reports[:done])
        return done, used, inside

"""The NumPy bulk draw on a line: the same reports from the same random words as the compiled and the scalar draw.

Used for calls too small to be worth loading the compiler, and where numba is missing or cannot cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.kernel import all_inside
from bipartite.lottery.uniform import tickets_below

if TYPE_CHECKING:
    from bipartite.lottery.kernel import Drawn, Whole, Words
    from bipartite.lottery.line import LineLottery

# Values per block: temporary arrays of 64 KiB stay in the cache and are reused by malloc. From 128 KiB on, the C
# library requests new pages each time (blocks of 2^14 took twice as long per value, measured).
_BLOCK: Final = 2**13


@dataclass(frozen=True, slots=True)
class VectorisedLine:
    """Draws blocks of reports on a line with NumPy."""

    lottery: LineLottery

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """See `Kernel`."""
        done = used = 0
        inside = True
        while done < len(codes) and used < len(words):
            block = slice(done, done + _BLOCK)
            drawn, taken, fine = self._draw(
                codes[block], reports[block], words[used : used + _BLOCK], code_offset, report_offset
            )
            done, used, inside = done + drawn, used + taken, inside and fine
        return done, used, inside

    def _draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """Draw one block."""
        lottery = self.lottery
        ticket, used = tickets_below(lottery.total, words, len(codes))
        done = len(ticket)

        start = codes[:done] - np.int64(code_offset)
        inside = all_inside(start, lottery.inputs)
        start += np.int64(lottery.shift)
        np.maximum(start, np.int64(0), out=start)
        np.minimum(start, np.int64(lottery.outputs - lottery.m), out=start)

        is_near = ticket < np.uint64(lottery.near_total)
        near = (ticket // np.uint64(lottery.tickets.near)).view(np.int64)
        near += start
        ticket -= np.uint64(lottery.near_total)
        ticket >>= np.uint64(lottery.tickets.far.bit_length() - 1)
        far = ticket.view(np.int64)
        far = np.where(far < start, far, far + np.int64(lottery.m))
        np.add(np.where(is_near, near, far), np.int64(report_offset), out=reports[:done])
        return done, used, inside

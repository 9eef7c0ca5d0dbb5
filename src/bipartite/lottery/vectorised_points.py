"""The NumPy bulk draw on points: the same reports from the same random words as the compiled draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.kernel import all_inside
from bipartite.lottery.uniform import high_half, is_kept, tickets_below

if TYPE_CHECKING:
    from bipartite.lottery.kernel import Drawn, Whole, Words
    from bipartite.lottery.points import PointLottery


_MOST_MASK_BYTES: Final = 2**27


class PointKernel(ABC):
    """Draws on a set of points, whose codes are their indices."""

    __slots__ = ("_lottery",)

    def __init__(self, lottery: PointLottery) -> None:
        self._lottery = lottery

    @abstractmethod
    def _draw(self, codes: Whole, reports: Whole, words: Words) -> tuple[int, int]:
        """(values done, words used)."""

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:  # noqa: ARG002
        """See `Kernel`."""
        if not len(codes) or not all_inside(codes, self._lottery.inputs):
            return 0, 0, not len(codes)
        return *self._draw(codes, reports, words), True


class TriedPoints(PointKernel):
    """Draws by rejection, one word after another, as the scalar draw does."""

    __slots__ = ()

    def _draw(self, codes: Whole, reports: Whole, words: Words) -> tuple[int, int]:
        lottery = self._lottery
        # Each distinct value needs a mask of all points; the rest waits for the next call.
        codes = codes[: max(1, _MOST_MASK_BYTES // lottery.inputs)]
        kept = is_kept(words, lottery.drawn_from)
        outputs, rest = np.divmod(high_half(words, lottery.drawn_from), np.uint64(lottery.tickets.near))
        always = (rest < np.uint64(lottery.tickets.far)).tolist()
        near = {x: lottery.near(x) for x in np.unique(codes).tolist()}
        done = 0
        for j, (serves, y) in enumerate(zip(kept.tolist(), outputs.tolist(), strict=True)):
            if serves and (always[j] or near[int(codes[done])][y]):
                reports[done] = y
                done += 1
                if done == len(codes):
                    return done, j + 1
        return done, len(words)


class ListedPoints(PointKernel):
    """Draws by the line's rule over the listed near outputs of each value."""

    __slots__ = ()

    def _draw(self, codes: Whole, reports: Whole, words: Words) -> tuple[int, int]:
        lottery = self._lottery
        # Whether a word is redrawn does not depend on the value, so every value's word is known at once.
        ticket, used = tickets_below(lottery.drawn_from, words, len(codes))
        done = len(ticket)
        is_near = ticket < np.uint64(lottery.near_total)
        near_item = (ticket // np.uint64(lottery.tickets.near)).view(np.int64)
        far_item = ((ticket - np.uint64(lottery.near_total)) // np.uint64(lottery.tickets.far)).view(np.int64)
        for x in np.unique(codes[:done]).tolist():
            mask = lottery.near(x)
            mine = codes[:done] == x
            chosen = mine & is_near
            reports[:done][chosen] = np.flatnonzero(mask)[near_item[chosen]]
            chosen = mine & ~is_near
            reports[:done][chosen] = np.flatnonzero(~mask)[far_item[chosen]]
        return done, used

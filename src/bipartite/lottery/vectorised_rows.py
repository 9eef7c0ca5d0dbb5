"""NumPy bulk draws for lotteries that look up the owners of many tickets at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bipartite.lottery.kernel import all_inside
from bipartite.lottery.uniform import tickets_below

if TYPE_CHECKING:
    from bipartite.lottery.grouped import GroupedLottery
    from bipartite.lottery.kernel import Drawn, Kernel, Whole, Words
    from bipartite.lottery.mixed import MixedLottery
    from bipartite.lottery.noise import NoiseLottery
    from bipartite.lottery.regional import BlockLottery, WeightLottery
    from bipartite.lottery.ring import RingLottery
    from bipartite.lottery.rows import RowLottery


@dataclass(frozen=True, slots=True)
class SearchedRows:
    """Draws a ticket for each value and looks up its owner."""

    lottery: RowLottery | NoiseLottery | MixedLottery | BlockLottery | WeightLottery

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """See `Kernel`."""
        tickets, used = tickets_below(self.lottery.total, words, len(codes))
        index = codes[: len(tickets)] - np.int64(code_offset)
        if not all_inside(index, self.lottery.inputs):
            return 0, 0, False
        reports[: len(tickets)] = self.lottery.outputs_of(index, tickets.view(np.int64)) + np.int64(report_offset)
        return len(tickets), used, True


@dataclass(frozen=True, slots=True)
class GroupedKernel:
    """Draws for the group of each input, with the kernel of the inner lottery."""

    lottery: GroupedLottery
    inner: Kernel

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """See `Kernel`."""
        index = codes - np.int64(code_offset)
        if not all_inside(index, self.lottery.inputs):
            return 0, 0, False
        return self.inner.draw(self.lottery.groups[index], reports, words, 0, report_offset)


@dataclass(frozen=True, slots=True)
class RingKernel:
    """Draws each report's offset from the first near output with a line kernel, and adds it modulo N."""

    lottery: RingLottery
    turn: Kernel

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """See `Kernel`."""
        index = codes - np.int64(code_offset)
        size = np.int64(self.lottery.inputs)
        if not all_inside(index, self.lottery.inputs):
            return 0, 0, False
        done, used, _ = self.turn.draw(np.zeros_like(index), reports, words, 0, 0)
        reports[:done] += index[:done]
        reports[:done] -= np.int64(self.lottery.m // 2)
        reports[:done] %= size  # non-negative, since the divisor is positive
        reports[:done] += np.int64(report_offset)
        return done, used, True

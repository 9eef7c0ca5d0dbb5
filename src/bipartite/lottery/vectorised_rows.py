"""The bulk draw of lotteries that find the owners of many tickets at once, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bipartite.lottery.kernel import all_inside
from bipartite.lottery.uniform import tickets_below

if TYPE_CHECKING:
    from bipartite.lottery.grouped import GroupedLottery
    from bipartite.lottery.kernel import Drawn, Kernel, Whole, Words
    from bipartite.lottery.noise import NoiseLottery
    from bipartite.lottery.regional import BlockLottery, WeightLottery
    from bipartite.lottery.rows import RowLottery


class SearchedRows:
    """Draws a ticket for each value and looks up its owner."""

    __slots__ = ("_lottery",)

    def __init__(self, lottery: RowLottery | NoiseLottery | BlockLottery | WeightLottery) -> None:
        self._lottery = lottery

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """See `Kernel`."""
        tickets, used = tickets_below(self._lottery.total, words, len(codes))
        index = codes[: len(tickets)] - np.int64(code_offset)
        if not all_inside(index, self._lottery.inputs):
            return 0, 0, False
        reports[: len(tickets)] = self._lottery.outputs_of(index, tickets.view(np.int64)) + np.int64(report_offset)
        return len(tickets), used, True


class GroupedKernel:
    """Draws for the group of each input, with the kernel of the smaller lottery."""

    __slots__ = ("_groups", "_inner")

    def __init__(self, lottery: GroupedLottery, inner: Kernel) -> None:
        self._groups = lottery.groups
        self._inner = inner

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """See `Kernel`."""
        index = codes - np.int64(code_offset)
        if not all_inside(index, len(self._groups)):
            return 0, 0, False
        return self._inner.draw(self._groups[index], reports, words, 0, report_offset)

"""The bulk draw of lotteries that hold their rows: a search in running sums, for many reports at once, in NumPy.

The search takes the same number of steps for every report, whatever the value and whatever is drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from bipartite.lottery.kernel import all_inside
from bipartite.lottery.uniform import tickets_below

if TYPE_CHECKING:
    from bipartite.lottery.grouped import GroupedLottery
    from bipartite.lottery.kernel import Drawn, Kernel, Whole, Words
    from bipartite.lottery.noise import NoiseLottery
    from bipartite.lottery.regional import BlockLottery, WeightLottery
    from bipartite.lottery.rows import RowLottery

L = TypeVar("L", bound="RowLottery | NoiseLottery | BlockLottery | WeightLottery")


def owners(running: Whole, rows: Whole, tickets: Words) -> Whole:
    """For each row number and ticket the column that holds it: how many running sums of the row are at most ticket."""
    columns = running.shape[1]
    wanted = tickets.view(np.int64)
    passed = np.zeros(len(rows), dtype=np.int64)
    step = 1 << (columns.bit_length() - 1)
    while step:
        ahead = np.minimum(passed + step, columns)
        passed = np.where(running[rows, ahead - 1] <= wanted, ahead, passed)
        step >>= 1
    return passed


class _Searched(ABC, Generic[L]):
    """Draws a ticket for each value and looks up its owner."""

    __slots__ = ("_lottery",)

    def __init__(self, lottery: L) -> None:
        self._lottery = lottery

    @abstractmethod
    def _outputs(self, index: Whole, tickets: Words) -> Whole:
        """The outputs that hold these tickets of these inputs."""

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """See `Kernel`."""
        tickets, used = tickets_below(self._lottery.total, words, len(codes))
        index = codes[: len(tickets)] - np.int64(code_offset)
        if not all_inside(index, self._lottery.inputs):
            return 0, 0, False
        reports[: len(tickets)] = self._outputs(index, tickets) + np.int64(report_offset)
        return len(tickets), used, True


class SearchedRows(_Searched["RowLottery"]):
    """Draws from a row of tickets for each input."""

    __slots__ = ()

    def _outputs(self, index: Whole, tickets: Words) -> Whole:
        return owners(self._lottery.running, index, tickets)


class SearchedNoise(_Searched["NoiseLottery"]):
    """Adds noise drawn from one row of tickets, and stops at the ends."""

    __slots__ = ()

    def _outputs(self, index: Whole, tickets: Words) -> Whole:
        lottery = self._lottery
        row = np.zeros(len(index), dtype=np.int64)
        shifts = owners(lottery.running[None, :], row, tickets) - lottery.reach
        stopped: Whole = np.clip(index + lottery.padding + shifts, 0, lottery.outputs - 1)
        return stopped


class SearchedRegions(_Searched["BlockLottery | WeightLottery"]):
    """Draws on places in regions."""

    __slots__ = ()

    def _outputs(self, index: Whole, tickets: Words) -> Whole:
        return self._lottery.outputs_of(index, tickets.view(np.int64))


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

"""The bulk draw of lotteries that hold their rows: a search in running sums, for many reports at once, in NumPy.

The search takes the same number of steps for every report, whatever the value and whatever is drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from bipartite.lottery.uniform import tickets_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.bulk import Kernel
    from bipartite.lottery.grouped import GroupedLottery
    from bipartite.lottery.noise import NoiseLottery
    from bipartite.lottery.regional import BlockLottery, WeightLottery
    from bipartite.lottery.rows import RowLottery


def owners(running: NDArray[np.int64], rows: NDArray[np.int64], tickets: NDArray[np.uint64]) -> NDArray[np.int64]:
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


class _Searched(ABC):
    """Draws a ticket for each value and looks up its owner."""

    __slots__ = ("_lottery",)
    _lottery: RowLottery | NoiseLottery | BlockLottery | WeightLottery

    @abstractmethod
    def _outputs(self, index: NDArray[np.int64], tickets: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The outputs that hold these tickets of these inputs."""

    def draw(
        self,
        codes: NDArray[np.int64],
        reports: NDArray[np.int64],
        words: NDArray[np.uint64],
        code_offset: int,
        report_offset: int,
    ) -> tuple[int, int, bool]:
        """Draw for as many codes as the words serve; return (values done, words used, all codes inside the domain)."""
        tickets, used = tickets_below(self._lottery.total, words, len(codes))
        index = codes[: len(tickets)] - np.int64(code_offset)
        if not _inside(index, self._lottery.inputs):
            return 0, 0, False
        reports[: len(tickets)] = self._outputs(index, tickets) + np.int64(report_offset)
        return len(tickets), used, True


class SearchedRows(_Searched):
    """Draws from a row of tickets for each input."""

    __slots__ = ()
    _lottery: RowLottery

    def __init__(self, lottery: RowLottery) -> None:
        self._lottery = lottery

    def _outputs(self, index: NDArray[np.int64], tickets: NDArray[np.uint64]) -> NDArray[np.int64]:
        return owners(self._lottery.running, index, tickets)


class SearchedNoise(_Searched):
    """Adds noise drawn from one row of tickets, and stops at the ends."""

    __slots__ = ()
    _lottery: NoiseLottery

    def __init__(self, lottery: NoiseLottery) -> None:
        self._lottery = lottery

    def _outputs(self, index: NDArray[np.int64], tickets: NDArray[np.uint64]) -> NDArray[np.int64]:
        lottery = self._lottery
        row = np.zeros(len(index), dtype=np.int64)
        shifts = owners(lottery.running[None, :], row, tickets) - lottery.reach
        stopped: NDArray[np.int64] = np.clip(index + lottery.padding + shifts, 0, lottery.outputs - 1)
        return stopped


class SearchedRegions(_Searched):
    """Draws on places in regions."""

    __slots__ = ()
    _lottery: BlockLottery | WeightLottery

    def __init__(self, lottery: BlockLottery | WeightLottery) -> None:
        self._lottery = lottery

    def _outputs(self, index: NDArray[np.int64], tickets: NDArray[np.uint64]) -> NDArray[np.int64]:
        return self._lottery.outputs_of(index, tickets.view(np.int64))


class GroupedKernel:
    """Draws for the group of each input, with the kernel of the smaller lottery."""

    __slots__ = ("_groups", "_inner")

    def __init__(self, lottery: GroupedLottery, inner: Kernel) -> None:
        self._groups = lottery.groups
        self._inner = inner

    def draw(
        self,
        codes: NDArray[np.int64],
        reports: NDArray[np.int64],
        words: NDArray[np.uint64],
        code_offset: int,
        report_offset: int,
    ) -> tuple[int, int, bool]:
        """Draw for as many codes as the words serve; return (values done, words used, all codes inside the domain)."""
        index = codes - np.int64(code_offset)
        if not _inside(index, len(self._groups)):
            return 0, 0, False
        return self._inner.draw(self._groups[index], reports, words, 0, report_offset)


def _inside(index: NDArray[np.int64], inputs: int) -> bool:
    return bool((index.view(np.uint64) < np.uint64(inputs)).all())

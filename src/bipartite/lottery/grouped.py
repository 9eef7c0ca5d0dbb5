"""A lottery for groups of inputs: every input of a group has the same row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.line import LineLottery
    from bipartite.lottery.words import Stream


@dataclass(frozen=True, slots=True, eq=False)
class GroupedLottery:
    """Input x is drawn as input ``groups[x]`` of a smaller lottery."""

    groups: NDArray[np.int64]
    inner: LineLottery

    def __post_init__(self) -> None:
        if self.groups.min() < 0 or self.groups.max() >= self.inner.inputs:
            msg = "a group of this lottery has no row"
            raise AssertionError(msg)
        self.groups.flags.writeable = False

    @property
    def inputs(self) -> int:
        """N, the number of inputs."""
        return len(self.groups)

    @property
    def outputs(self) -> int:
        """M, the outputs of the smaller lottery."""
        return self.inner.outputs

    @property
    def total(self) -> int:
        """W, the tickets of every row."""
        return self.inner.total

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The tickets of inputs start … stop − 1."""
        # Only rows that occur: the smaller lottery may have very many that no input has.
        present, which = np.unique(self.groups[start:stop], return_inverse=True)
        rows = np.concatenate([self.inner.rows(group, group + 1) for group in present.tolist()])
        return cast("NDArray[np.int64]", rows[which])

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x, in plain Python."""
        return self.inner.draw(int(self.groups[x]), stream)

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets of one output: that of the groups that occur, in O(N).

        Where two windows of the same length differ, some output is near in one and far in the other.
        """
        inner = self.inner
        if not 1 <= inner.m <= inner.outputs or inner.total != inner.tickets.total(inner.m, inner.outputs):
            msg = "the rows of this lottery do not hold the same total"
            raise AssertionError(msg)
        ratio = inner.tickets.ratio
        differ = inner.start(int(self.groups.min())) < inner.start(int(self.groups.max()))
        return max(ratio, 1 / ratio) if differ else Fraction(1)

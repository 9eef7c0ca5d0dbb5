"""A lottery in which all inputs of a group share one row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.line import LineLottery
    from bipartite.lottery.words import Stream


@dataclass(frozen=True, slots=True, eq=False)
class GroupedLottery:
    """Input x is drawn as input ``groups[x]`` of a smaller lottery."""

    flat: ClassVar[bool] = False

    groups: NDArray[np.int64]
    inner: LineLottery

    def __post_init__(self) -> None:
        if self.groups.min() < 0 or self.groups.max() >= self.inner.inputs:
            raise AssertionError("a group of this lottery has no row")
        self.groups.flags.writeable = False

    @property
    def inputs(self) -> int:
        """N, the number of inputs."""
        return len(self.groups)

    @property
    def outputs(self) -> int:
        """M, the number of outputs."""
        return self.inner.outputs

    @property
    def total(self) -> int:
        """W, the number of tickets in every row."""
        return self.inner.total

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The tickets of inputs start … stop − 1."""
        return self.inner.rows_of(self.groups[start:stop])

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x, in plain Python."""
        return self.inner.draw(int(self.groups[x]), stream)

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, over the groups that occur.

        Two different windows of equal size leave some output near for one group and far for the other.
        """
        windows = {self.inner.start(group) for group in np.unique(self.groups).tolist()}
        return self.inner.largest_ratio() if len(windows) > 1 else Fraction(1)

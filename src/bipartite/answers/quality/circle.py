"""The quality of reports on a circle in closed form; it is the same for every value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bipartite.answers.quality.closed import ClosedForm
from bipartite.domains.losses import Function, applied
from bipartite.mechanisms.design.m import near_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Ring


@dataclass(frozen=True)
class Circle(ClosedForm):
    """A near window around every value of a circle."""

    lottery: Ring
    step: float = 1.0

    def local_loss(self, function: Function) -> NDArray[np.float64]:
        """Q^(x) for every x, the same for all, for a loss that is a function of the distance."""
        lottery = self.lottery
        by_distance = applied(function, np.arange(self.farthest + 1, dtype=np.float64))
        offsets = np.arange(lottery.inputs)
        everything = float(by_distance[np.minimum(offsets, lottery.inputs - offsets)].sum())
        near = float(by_distance[np.abs(np.arange(lottery.m) - lottery.m // 2)].sum())
        a, b = lottery.tickets.near, lottery.tickets.far
        return np.full(lottery.inputs, ((a - b) / lottery.total) * near + (b / lottery.total) * everything)

    def expected_loss(self) -> float:
        size, m = self.lottery.inputs, self.lottery.m
        return float(self._mean(int(near_sum(m // 2, m)), size * size // 4))

    def worst_loss(self) -> float:
        return self.expected_loss()

    @property
    def farthest(self) -> int:
        return self.lottery.inputs // 2

    def share_within_steps(self, reach: int) -> Fraction:
        m = self.lottery.m
        near = min(reach, m // 2) + min(reach, m - 1 - m // 2) + 1
        return self._mean(near, min(2 * reach + 1, self.lottery.inputs))

    def _mean(self, near: int, everything: int) -> Fraction:
        """The mean of a quantity whose sum over near outputs and over all of them is given."""
        a, b = self.lottery.tickets.near, self.lottery.tickets.far
        return Fraction((a - b) * near + b * everything, self.lottery.total)

"""The quality of reports on a line in closed form, without a matrix, for any N.

:class:`Line` is for mechanisms with a window (BRR, GRR, Square Wave): every output is near or far, and sums of
distances over a window are differences of triangular numbers. :class:`SingleAnswer` is for those that always report the
same value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bipartite.answers.quality.circle import Circle
from bipartite.answers.quality.closed import ClosedForm
from bipartite.domains.losses import Function, applied
from bipartite.lottery import Ring, Window
from bipartite.mechanisms.design.m import near_sum, total_near_sum, triangular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism


@dataclass(frozen=True)
class Line(ClosedForm):
    """A near window around every value; ``padding`` is the output index of the first value of the domain."""

    lottery: Window
    padding: int
    step: float

    def local_loss(self, function: Function) -> NDArray[np.float64]:
        """Q^(x) for every x, for a loss that is a function of the distance; in O(N).

        Q^(x) = ((a−b)·D_near + b·D_all)/W, with D the sums of losses of the near and of all outputs, both from running
        sums over distances; a and b are the tickets of near and far outputs, W their total.
        """
        lottery = self.lottery
        x = np.arange(lottery.inputs)
        # The position of x among the outputs, and in its window.
        at = x + self.padding
        position = at - np.clip(x + lottery.shift, 0, lottery.outputs - lottery.m)
        by_distance = applied(function, np.arange(lottery.outputs, dtype=np.float64) * self.step)
        # Sums over distances 1 … n; the distance 0 counts once.
        up_to = np.cumsum(by_distance) - by_distance[0]
        near = up_to[position] + up_to[lottery.m - 1 - position] + by_distance[0]
        everything = up_to[at] + up_to[lottery.outputs - 1 - at] + by_distance[0]
        a, b = lottery.tickets.near, lottery.tickets.far
        loss: NDArray[np.float64] = ((a - b) * near + b * everything) / lottery.total
        return loss

    def expected_loss(self) -> float:
        lottery = self.lottery
        n, m, h = lottery.inputs, lottery.m, self.padding
        if h:
            near = n * int(near_sum(h, m))
            # Σ_x T(x+h) + T(n−1−x+h) = 2·(Tet(n−1+h) − Tet(h−1)), Tet the tetrahedral numbers.
            everything = 2 * (_tetrahedral(n - 1 + h) - _tetrahedral(h - 1))
        else:
            near = total_near_sum(n, m)
            everything = n * (n * n - 1) // 3
        return float(self._mean(near, everything) / n) * self.step

    def worst_loss(self) -> float:
        # At the ends the sum over all outputs is largest, and so is the sum over the window, which lies entirely on one
        # side. An even window leans low, so the two ends may differ.
        return float(max(self._loss_at(x) for x in (0, self.lottery.inputs - 1))) * self.step

    def _loss_at(self, x: int) -> Fraction:
        at = x + self.padding
        near = int(near_sum(at - self.lottery.start(x), self.lottery.m))
        return self._mean(near, int(near_sum(at, self.lottery.outputs)))

    def _mean(self, near: int, everything: int) -> Fraction:
        """The mean of a quantity whose sum over near outputs and over all of them is given."""
        a, b = self.lottery.tickets.near, self.lottery.tickets.far
        return Fraction((a - b) * near + b * everything, self.lottery.total)

    @property
    def farthest(self) -> int:
        return self.padding + self.lottery.inputs - 1

    def share_within_steps(self, reach: int) -> Fraction:
        n, m, pad = self.lottery.inputs, self.lottery.m, self.padding
        # A value at index i of the outputs has min(reach, i) outputs within reach below it, and as many above by
        # symmetry.
        everything = 2 * (_sum_of_least(reach, pad + n - 1) - _sum_of_least(reach, pad - 1)) + n
        middle = min(reach, m // 2) + min(reach, m - 1 - m // 2) + 1
        # Clamped: m values take every position in their window once, the others are in its middle.
        at_the_ends = 2 * _sum_of_least(reach, m - 1) + m
        near = n * middle if pad else at_the_ends + (n - m) * middle
        return self._mean(near, everything) / n


@dataclass(frozen=True)
class SingleAnswer(ClosedForm):
    """The same report for all ``inputs`` values: the one with index ``answer``."""

    inputs: int
    answer: int
    step: float

    def expected_loss(self) -> float:
        return float(Fraction(int(near_sum(self.answer, self.inputs)), self.inputs)) * self.step

    def worst_loss(self) -> float:
        return self.farthest * self.step

    @property
    def farthest(self) -> int:
        return max(self.answer, self.inputs - 1 - self.answer)

    def share_within_steps(self, reach: int) -> Fraction:
        within = min(reach, self.answer) + min(reach, self.inputs - 1 - self.answer) + 1
        return Fraction(within, self.inputs)


def closed_form(mechanism: Mechanism) -> Line | Circle | SingleAnswer | None:
    """The closed form of a mechanism, if it has one."""
    domain, outputs, lottery = mechanism.domain, mechanism.outputs, mechanism.lottery
    ring, line = lottery.ring, lottery.line
    if ring is not None:
        return Circle(ring)
    if domain.wraps and line is not None and outputs is domain:
        return Circle(Ring(line.inputs, 1, line.tickets)) if line.m == 1 else None  # GRR
    if not domain.has_ends:
        return None
    if outputs.indices is not None:
        return SingleAnswer(len(domain), int(outputs.indices[0]), domain.step) if len(outputs) == 1 else None
    if line is not None:
        return Line(line, (len(outputs) - len(domain)) // 2, domain.step)
    return None


def _sum_of_least(reach: int, last: int) -> int:
    """Σ min(reach, i) for i = 0 … last."""
    low = min(reach, last)
    return int(triangular(low)) + reach * (last - low) if last > 0 else 0


def _tetrahedral(n: int) -> int:
    """1 + 3 + 6 + … : the sum of the first n triangular numbers."""
    return int(triangular(n)) * (n + 2) // 3 if n > 0 else 0

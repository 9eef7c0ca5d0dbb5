"""The lottery on a set of points: the m nearest outputs hold ``near`` tickets each, all others ``far``.

Draw by rejection: take u uniform on 0 … M·a − 1; y = u div a and t = u mod a; accept y if it is near or t < b, else try
again. Each output is accepted with probability (its tickets)/(M·a), the same law as on a line, and only the m-th
neighbour of x has to be known. Where more than 16 tries are expected, the near outputs of x are listed and the line's
rule is used.

A try is accepted with probability W/(M·a), the same for every x: the number of tries reveals nothing about x.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, cast

import numpy as np

from bipartite.lottery.order import farthest_near
from bipartite.lottery.tickets import UNEQUAL
from bipartite.lottery.uniform import WORD_BITS, ticket_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.lottery.compiled_nearest import NearestTable
    from bipartite.lottery.order import Order
    from bipartite.lottery.tickets import Tickets
    from bipartite.lottery.words import Stream

MOST_EXPECTED_TRIES: Final = 16


@dataclass(frozen=True, slots=True, eq=False)
class PointLottery:
    """The integer parameters of a draw on a set of points."""

    flat: ClassVar[bool] = False

    order: Order
    m: int
    tickets: Tickets
    by_list: bool
    """Whether near outputs are listed (the line's rule) instead of drawn by rejection."""
    word_bits: int = WORD_BITS
    """64; smaller only in tests, which enumerate every word."""
    total: int = field(init=False)
    near_total: int = field(init=False)
    drawn_from: int = field(init=False)
    """The number of tickets a word draws from: W by list, M·a by rejection."""
    redraw_below: int = field(init=False)
    _neighbours: NearestTable | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        total = self.tickets.total(self.m, len(self.order))
        drawn_from = total if self.by_list else len(self.order) * self.tickets.near
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "near_total", self.m * self.tickets.near)
        object.__setattr__(self, "drawn_from", drawn_from)
        object.__setattr__(self, "redraw_below", 2**self.word_bits % drawn_from)

    @property
    def inputs(self) -> int:
        """N, the number of points."""
        return len(self.order)

    @property
    def outputs(self) -> int:
        """M = N."""
        return len(self.order)

    @property
    def prepared(self) -> bool:
        """Whether the m-th neighbours of all points are already computed."""
        return self._neighbours is not None

    def neighbours(self, progress: Callable[[int], None] | None = None) -> NearestTable:
        """The m-th neighbours of all points, computed on first use; needs the compiler."""
        if self._neighbours is None:
            from bipartite.lottery.compiled_nearest import NearestTable  # noqa: PLC0415 (numba, only when it pays)

            object.__setattr__(self, "_neighbours", NearestTable(self.order, self.m, progress))
        return cast("NearestTable", self._neighbours)

    def near(self, x: int) -> NDArray[np.bool_]:
        """Which outputs are near x."""
        distances = self.order.distances(x)
        return farthest_near(x, distances, self.m).near(x, distances)

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x, in plain Python and NumPy; O(N) to find its m-th neighbour."""
        near = self.near(x)
        if self.by_list:
            return self._output_of(near, ticket_below(self.drawn_from, stream, self.word_bits))
        while True:
            y, ticket = divmod(ticket_below(self.drawn_from, stream, self.word_bits), self.tickets.near)
            if near[y] or ticket < self.tickets.far:
                return y

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The tickets of inputs start … stop − 1."""
        near = np.array([self.near(x) for x in range(start, stop)])
        return np.where(near, self.tickets.near, self.tickets.far)

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, from every near-set.

        Every row is checked: its near-set must have exactly m items, so that all rows hold the same total.
        """
        near_for = np.zeros(self.outputs, dtype=np.int64)
        for x in range(self.inputs):
            near = self.near(x)
            if np.count_nonzero(near) != self.m:
                raise AssertionError(UNEQUAL)
            near_for += near
        mixed = bool(((near_for > 0) & (near_for < self.inputs)).any())
        return max(self.tickets.ratio, 1 / self.tickets.ratio) if mixed else Fraction(1)

    def _output_of(self, near: NDArray[np.bool_], ticket: int) -> int:
        """The output that holds this ticket: near outputs first, then far ones, each in ascending order."""
        if ticket < self.near_total:
            return int(np.flatnonzero(near)[ticket // self.tickets.near])
        return int(np.flatnonzero(~near)[(ticket - self.near_total) // self.tickets.far])


def needs_list(m: int, outputs: int, tickets: Tickets) -> bool:
    """Whether rejection would take more than 16 tries on average: M·a > 16·W."""
    return outputs * tickets.near > MOST_EXPECTED_TRIES * tickets.total(m, outputs)

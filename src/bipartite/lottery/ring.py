"""The lottery on a ring: m neighbouring outputs hold ``near`` tickets each, all others ``far``.

All rows are rotations of one row: the report of x is x − ⌊m/2⌋ + K modulo N, and the law of K does not depend on x. K
is drawn as on a line, for a window that starts at 0: tickets below m·a belong to K = 0 … m − 1, the rest to the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bipartite.lottery.line import LineLottery
from bipartite.lottery.uniform import WORD_BITS

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.lottery.tickets import Tickets
    from bipartite.lottery.words import Stream


@dataclass(frozen=True, slots=True)
class RingLottery:
    """The integer parameters of a draw on a ring.

    The near outputs of x are x − ⌊m/2⌋ … x − ⌊m/2⌋ + m − 1 modulo N: of two outputs equally far from x, the one before
    it counts as nearer, wherever x is, so that the law is invariant under rotation.
    """

    flat: ClassVar[bool] = False

    inputs: int
    m: int
    tickets: Tickets
    word_bits: int = WORD_BITS
    """64; smaller only in tests, which enumerate every word."""
    turn: LineLottery = field(init=False)
    """The law of K, the report's offset from the first near output."""

    def __post_init__(self) -> None:
        turn = LineLottery(1, self.inputs, self.m, shift=0, tickets=self.tickets, word_bits=self.word_bits)
        object.__setattr__(self, "turn", turn)

    @property
    def outputs(self) -> int:
        """M = N."""
        return self.inputs

    @property
    def total(self) -> int:
        """W, the number of tickets in every row."""
        return self.turn.total

    def start(self, x: int) -> int:
        """The first near output of input x."""
        return (x - self.m // 2) % self.inputs

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x, in plain Python."""
        return (self.start(x) + self.turn.draw(0, stream)) % self.inputs

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The tickets of inputs start … stop − 1."""
        first = np.arange(start, stop)[:, None] - self.m // 2
        at = (np.arange(self.inputs)[None, :] - first) % self.inputs
        return np.where(at < self.m, self.tickets.near, self.tickets.far)

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly.

        All rows are rotations of one row with m near outputs, so they hold the same total; with 1 ≤ m < N every output
        is near for m inputs and far for the others.
        """
        if not 1 <= self.m < self.inputs:
            raise AssertionError("a window on a ring has fewer outputs than the ring")
        return max(self.tickets.ratio, 1 / self.tickets.ratio)

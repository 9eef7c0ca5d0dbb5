"""The lottery of added noise: one row of tickets over shifts, the same for every input, stopped at the ends.

Report = clamp(x + z), with z drawn from tickets that are the same for −z and z and never rise with |z|. All inputs
share one row, so every row holds the same total. The last count holds the whole tail: from any input such a shift
reaches the end of the outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bipartite.lottery.rows import largest_fraction
from bipartite.lottery.tickets import MAX_TOTAL
from bipartite.lottery.uniform import WORD_BITS, ticket_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.words import Stream


@dataclass(frozen=True, slots=True, eq=False)
class NoiseLottery:
    """Noise on a line of ``inputs`` values, stopped ``padding`` steps past both ends."""

    inputs: int
    padding: int
    tickets: NDArray[np.int64]
    """The tickets of shifts 0, 1, …, N − 1 + padding, the last holding all shifts beyond it too."""
    word_bits: int = WORD_BITS
    """64; smaller only in tests, which draw with every word there is."""
    total: int = field(init=False)
    running: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        tickets = self.tickets
        # The last count is a whole tail, and may exceed the one before it.
        falls = (np.diff(tickets[:-1]) <= 0).all()
        if len(tickets) != self.inputs + self.padding or (tickets < 1).any() or not falls:
            msg = "the tickets of this noise do not fall on both sides of zero"
            raise AssertionError(msg)
        running = np.cumsum(np.concatenate([tickets[:0:-1], tickets]))
        # Summed in floats first: counts of a false spec may be so many that whole numbers run over.
        if tickets.sum(dtype=np.float64) > MAX_TOTAL or running[-1] > MAX_TOTAL:
            msg = "the rows of this lottery hold more than 2^52 tickets"
            raise AssertionError(msg)
        running.flags.writeable = tickets.flags.writeable = False
        object.__setattr__(self, "total", int(running[-1]))
        object.__setattr__(self, "running", running)

    @property
    def outputs(self) -> int:
        """M = N + 2·padding."""
        return self.inputs + 2 * self.padding

    @property
    def reach(self) -> int:
        """The largest shift that is told apart."""
        return self.inputs - 1 + self.padding

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The tickets of inputs start … stop − 1."""
        # Output y of input x is shift y − padding − x, but for the ends, which hold all shifts beyond them.
        first = np.arange(start, stop)[:, None] + self.padding
        shifts = np.arange(self.outputs)[None, :] - first
        rows: NDArray[np.int64] = self.tickets[np.abs(shifts)]
        tails = np.cumsum(self.tickets[::-1])[::-1]
        rows[:, 0] = tails[first[:, 0]]
        rows[:, -1] = tails[self.outputs - 1 - first[:, 0]]
        return rows

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x."""
        ticket = ticket_below(self.total, stream, self.word_bits)
        shift = int(np.searchsorted(self.running, ticket, side="right")) - self.reach
        return min(max(x + self.padding + shift, 0), self.outputs - 1)

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets of one output, exactly, in O(M)."""
        tails = np.cumsum(self.tickets[::-1])[::-1]
        ends = Fraction(int(tails[self.padding]), int(tails[self.reach]))
        # An inner output sees the shifts low … high; tickets fall with |shift|.
        high = np.arange(1, self.outputs - 1) - self.padding
        low = high - (self.inputs - 1)
        if not len(high):
            return ends
        nearest = np.where((low <= 0) & (high >= 0), 0, np.minimum(np.abs(low), np.abs(high)))
        farthest = np.maximum(np.abs(low), np.abs(high))
        return max(ends, largest_fraction(self.tickets[nearest], self.tickets[farthest]))

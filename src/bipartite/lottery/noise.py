"""The lottery of added noise: one row of tickets over shifts, shared by all inputs and clamped at the ends.

Report = clamp(x + z), with z drawn from tickets that are symmetric and non-increasing in |z|. All inputs share one row,
so every row holds the same total. The last count holds the whole tail: such a shift reaches the end of the outputs from
any input.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery.epsilon import series_below_exp
from bipartite.lottery.rows import largest_fraction, owners, totals_of
from bipartite.lottery.tickets import MAX_TOTAL
from bipartite.lottery.uniform import WORD_BITS, ticket_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.epsilon import Epsilon
    from bipartite.lottery.words import Stream


# The rest is reserved for rounding up, at most 1/ε tickets for each of 2^22 shifts, and for the tail.
_ISSUED: Final = MAX_TOTAL * (1 - 2**-12)
_SCALE_BITS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class NoiseLottery:
    """Noise on a line of ``inputs`` values, clamped ``padding`` steps past both ends."""

    flat: ClassVar[bool] = False

    inputs: int
    padding: int
    tickets: NDArray[np.int64]
    """The tickets of shifts 0, 1, …, N − 1 + padding; the last includes all larger shifts."""
    word_bits: int = WORD_BITS
    """64; smaller only in tests, which enumerate every word."""
    total: int = field(init=False)
    running: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        tickets = self.tickets
        # The last count is a whole tail, and may exceed the one before it.
        falls = (np.diff(tickets[:-1]) <= 0).all()
        if len(tickets) != self.inputs + self.padding or (tickets < 1).any() or not falls:
            raise AssertionError("the tickets of this noise do not fall on both sides of zero")
        both = np.concatenate([tickets[:0:-1], tickets])
        if totals_of(both[None, :]) is None:
            raise AssertionError("the rows of this lottery hold more than 2^52 tickets")
        running = np.cumsum(both)
        running.flags.writeable = tickets.flags.writeable = False
        object.__setattr__(self, "total", int(running[-1]))
        object.__setattr__(self, "running", running)

    @property
    def outputs(self) -> int:
        """M = N + 2·padding."""
        return self.inputs + 2 * self.padding

    @property
    def reach(self) -> int:
        """The largest shift with its own ticket count."""
        return self.inputs - 1 + self.padding

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The tickets of inputs start … stop − 1."""
        # Output y of input x is shift y − padding − x, except at the ends, which collect all shifts beyond them.
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

    def outputs_of(self, index: NDArray[np.int64], tickets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The outputs that hold these tickets of these inputs."""
        shifts = len(self.running)
        at = owners(self.running, tickets, firsts=0, lengths=shifts, longest=shifts)
        clamped: NDArray[np.int64] = np.clip(index + self.padding + at - self.reach, 0, self.outputs - 1)
        return clamped

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly, in O(M)."""
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


def issue_noise(chances: NDArray[np.float64], inputs: int, epsilon: Epsilon) -> NDArray[np.int64]:
    """Issue tickets for shifts 0, 1, …, the last for the whole tail, such that no ratio exceeds e^ε.

    Two inputs are at most Δ = N − 1 steps apart, so shift z of one is at most shift z + Δ of another. ε is kept when
    t_z ≤ e^ε·t_{z+Δ} for every shift with its own count, and the tail that reaches an end from that end is at most e^ε
    times the tail that reaches it from the other end. Counts are issued outwards, Δ shifts at a time, each at least the
    smallest integer that its partner Δ further in requires; the raised counts still decrease, because the partners do.
    The tail comes last: the smallest count that the ends allow.

    Parameters
    ----------
    chances
        The probabilities of shifts 0, 1, …, padding + Δ − 1: decreasing, each at most about e^ε times that of the shift
        Δ further out.
    inputs
        N, the number of values.
    epsilon
        The budget that the tickets keep.
    """
    apart = inputs - 1
    padding = len(chances) - apart
    tickets = np.floor(np.minimum.accumulate(chances) * _ISSUED).astype(np.int64)
    # With the first Δ shifts at least what shift 0 requires, counts decrease from block to block.
    tickets[:apart] = np.maximum(tickets[:apart], _least_partners(tickets[:1], epsilon))
    for start in range(apart, len(tickets), apart):
        stop = min(start + apart, len(tickets))
        partners = tickets[start - apart : stop - apart]
        tickets[start:stop] = np.maximum(tickets[start:stop], _least_partners(partners, epsilon))
    numerator, denominator = series_below_exp(epsilon.value)
    # The smallest tail L with S + L ≤ e^ε·L, where S counts the tickets of the shifts that reach an end from itself.
    reaching = int(tickets[padding:].sum())
    tail = -(-reaching * denominator // (numerator - denominator))
    # With a tiny ε the tail takes all tickets and leaves none for the shifts.
    if tickets.min() < 1 or 2 * (int(tickets.sum()) + tail) - int(tickets[0]) > MAX_TOTAL:
        raise DesignError(
            f"2^52 tickets cannot keep ε={epsilon.text} on N={inputs} values; use a larger ε, or fewer values."
        )
    return np.append(tickets, np.int64(tail))


def _least_partners(partners: NDArray[np.int64], epsilon: Epsilon) -> NDArray[np.int64]:
    """For each t a small integer f with t ≤ e^ε·f, from ⌊2^64·e^ε⌋, which avoids a long division each."""
    scale = epsilon.most_near_tickets(1 << _SCALE_BITS)
    return np.array([-(-(count << _SCALE_BITS) // scale) for count in partners.tolist()], dtype=np.int64)

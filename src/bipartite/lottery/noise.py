"""Added noise: one row of tickets over shifts, shared by all inputs and clamped at the ends.

Report = clamp(x + z), with z drawn from tickets that are symmetric and non-increasing in |z|. All inputs share one row,
so every row holds the same total. The last count holds the whole tail: such a shift reaches the end of the outputs from
any input.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery.channel import Dense
from bipartite.lottery.deal import Deal, largest_fraction
from bipartite.lottery.epsilon import series_below_exp
from bipartite.lottery.table import search, totals_of
from bipartite.lottery.tickets import MAX_TOTAL
from bipartite.lottery.uniform import WORD_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.channel import Array, Channel
    from bipartite.lottery.deal import Whole
    from bipartite.lottery.epsilon import Epsilon

# The rest is reserved for rounding up, at most 1/ε tickets for each of 2^22 shifts, and for the tail.
_ISSUED: Final = MAX_TOTAL * (1 - 2**-12)
_SCALE_BITS: Final = 64


# Outputs of noise on more values than this are not merged: no scores are computed for it either.
_MOST_CELLS: Final = 2048
# The number of tickets by which counts may differ from a geometric law, from rounding and from keeping ε.
_WHOLE: Final = 8
# A Fourier transform takes about this many times as long as cumulative sums.
_TRANSFORMED: Final = 32


@dataclass(frozen=True, eq=False)
class Noise(Deal):
    """Noise on a line of ``inputs`` values, clamped ``padding`` steps past both ends."""

    inputs: int
    padding: int
    tickets: Whole
    """The tickets of shifts 0, 1, …, N − 1 + padding; the last includes all larger shifts."""
    word_bits: int = WORD_BITS
    outputs: int = field(init=False)
    """M = N + 2·padding."""
    reach: int = field(init=False)
    """The largest shift with its own ticket count."""
    total: int = field(init=False)
    running: Whole = field(init=False)
    shifted = True

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
        self._set(tickets=tickets, running=running, total=int(running[-1]))
        self._set(outputs=self.inputs + 2 * self.padding, reach=self.inputs - 1 + self.padding)

    def rows_of(self, inputs: Whole) -> Whole:
        # Output y of input x is shift y − padding − x, except at the ends, which collect all shifts beyond them.
        first = inputs + self.padding
        rows: Whole = self.tickets[np.abs(np.arange(self.outputs) - first[:, None])]
        tails = np.cumsum(self.tickets[::-1])[::-1]
        rows[:, 0], rows[:, -1] = tails[first], tails[self.outputs - 1 - first]
        return rows

    def owner(self, x: int, ticket: int) -> int:
        shift = int(np.searchsorted(self.running, ticket, side="right")) - self.reach
        return min(max(x + self.padding + shift, 0), self.outputs - 1)

    def owners(self, index: Whole, tickets: Whole) -> Whole:
        shifts = len(self.running)
        at = search(self.running, tickets, firsts=0, lengths=shifts, longest=shifts)
        clamped: Whole = np.clip(index + self.padding + at - self.reach, 0, self.outputs - 1)
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

    # The matrix is a convolution, clamped at both ends.

    def channel(self) -> Channel:
        return self

    @property
    def work(self) -> int:
        return _TRANSFORMED * (self.inputs + self.outputs)

    @functools.cached_property
    def _convolution(self) -> tuple[NDArray[np.complex128], int, int]:
        """(the transform of the shifts' probabilities, its length, that of the whole convolution)."""
        whole = self.inputs + len(self.running) - 1
        length = _next_fast_length(whole)  # long enough that nothing wraps around
        return np.fft.rfft(np.concatenate([self.tickets[:0:-1], self.tickets]) / self.total, length), length, whole

    def forward(self, f: Array) -> Array:
        transform, length, size = self._convolution
        whole = np.fft.irfft(np.fft.rfft(f, length) * transform, length)[..., :size]
        # Position 0 of the whole convolution is value 0 shifted by −reach; output 0 is value −padding.
        first = self.reach - self.padding
        last = first + self.outputs
        spread: Array = whole[..., first:last].copy()
        spread[..., 0] += whole[..., :first].sum(axis=-1)
        spread[..., -1] += whole[..., last:].sum(axis=-1)
        # Probabilities below the rounding error of the transform may come out slightly negative.
        return np.maximum(spread, 0.0)

    def backward(self, v: Array) -> Array:
        transform, length, size = self._convolution
        first = self.reach - self.padding
        after = size - first - self.outputs
        ends = [np.repeat(v[..., :1], first, axis=-1), v, np.repeat(v[..., -1:], after, axis=-1)]
        product = np.fft.rfft(np.concatenate(ends, axis=-1), length) * np.conj(transform)
        means: Array = np.fft.irfft(product, length)[..., : self.inputs]
        return means

    def cells(self, values: Whole) -> tuple[Array, Whole | None]:
        return self.rows_of(values) / self.total, None

    @functools.cached_property
    def _cells(self) -> tuple[Whole | None, Channel]:
        size = self.inputs
        if self.padding == 0 or size > _MOST_CELLS:
            return None, self
        # Output positions relative to the first value, and their distances beyond either end.
        at = np.arange(self.outputs) - self.padding
        past = np.maximum(np.maximum(-at, at - (size - 1)), 0)
        if _is_geometric(self.tickets[:size]):
            # Beyond an end, every further step multiplies the probability by the same factor for all values.
            held = self.tickets[:size].copy()
            held[-1] = self.tickets[size - 1 :].sum()
            return np.clip(at, 0, size - 1), Noise(size, 0, held)
        # A staircase falls by the same factor every N − 1 steps.
        past %= size - 1
        cell_of = np.where(at <= 0, size - 2 - past, np.where(at >= size - 1, 2 * size - 3 + past, at + size - 2))
        rows = [np.bincount(cell_of, self.rows(x, x + 1)[0], 3 * size - 4) for x in range(size)]
        return cell_of, Dense(np.array(rows) / self.total)

    def condensed(self) -> tuple[Whole | None, Channel]:
        """Beyond both ends, the distance of a report carries no information (for a staircase, except modulo N − 1)."""
        return self._cells


def _next_fast_length(least: int) -> int:
    """The smallest number from ``least`` on without prime factors above 5: transforms of that length are fast."""
    found, fives = 2 * least, 1
    while fives < found:
        odd = fives
        while odd < found:
            found = min(found, odd << (-(-least // odd) - 1).bit_length())
            odd *= 3
        fives *= 5
    return found


def _is_geometric(tickets: Whole) -> bool:
    """Whether tickets fall by a constant factor per step, up to rounding to whole tickets."""
    if len(tickets) < 3:  # noqa: PLR2004 (two numbers are always geometric)
        return True
    held = tickets.astype(np.float64)
    factor = (held[-1] / held[0]) ** (1 / (len(held) - 1))
    return bool((np.abs(held[1:] - factor * held[:-1]) <= _WHOLE + 1e-6 * held[1:]).all())


def issue_noise(chances: Array, inputs: int, epsilon: Epsilon) -> Whole:
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


def _least_partners(partners: Whole, epsilon: Epsilon) -> Whole:
    """For each t a small integer f with t ≤ e^ε·f, from ⌊2^64·e^ε⌋, which avoids a long division each."""
    scale = epsilon.most_near_tickets(1 << _SCALE_BITS)
    return np.array([-(-(count << _SCALE_BITS) // scale) for count in partners.tolist()], dtype=np.int64)

"""The lottery on a line: m neighbouring outputs hold ``near`` tickets each, all others ``far``.

Draw: take a random 64-bit word w; u = ⌊w·W/2^64⌋ is a ticket; redraw if the low half of w·W is below 2^64 mod W, which
makes u exactly uniform (Lemire 2019). Tickets below m·a belong to near outputs in ascending order, the rest to far
ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bipartite.lottery.tickets import UNEQUAL
from bipartite.lottery.uniform import WORD_BITS, ticket_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.tickets import Tickets
    from bipartite.lottery.words import Stream


@dataclass(frozen=True, slots=True)
class LineLottery:
    """The integer parameters of a draw on a line.

    The near outputs of input x are start(x) … start(x) + m − 1 with start(x) = clamp(x + shift, 0, M − m). With clamped
    edges M = N and shift = −⌊m/2⌋; with padded edges M = N + m − 1 and shift = 0, so that every window is centred.
    """

    flat: ClassVar[bool] = False

    inputs: int
    outputs: int
    m: int
    shift: int
    tickets: Tickets
    word_bits: int = WORD_BITS
    """64; smaller only in tests, which enumerate every word."""
    total: int = field(init=False)
    near_total: int = field(init=False)
    redraw_below: int = field(init=False)

    def __post_init__(self) -> None:
        total = self.tickets.total(self.m, self.outputs)
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "near_total", self.m * self.tickets.near)
        object.__setattr__(self, "redraw_below", 2**self.word_bits % total)

    def start(self, x: int) -> int:
        """The first near output of input x."""
        return min(max(x + self.shift, 0), self.outputs - self.m)

    def output_of(self, x: int, ticket: int) -> int:
        """The output that holds this ticket of input x."""
        start = self.start(x)
        if ticket < self.near_total:
            return start + ticket // self.tickets.near
        far = (ticket - self.near_total) // self.tickets.far
        return far if far < start else far + self.m

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x, in plain Python."""
        return self.output_of(x, ticket_below(self.total, stream, self.word_bits))

    def rows(self, start: int, stop: int) -> NDArray[np.int64]:
        """The tickets of inputs start … stop − 1."""
        return self.rows_of(np.arange(start, stop))

    def rows_of(self, inputs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The tickets of these inputs, one row each."""
        first = np.clip(inputs + self.shift, 0, self.outputs - self.m)[:, None]
        at = np.arange(self.outputs)[None, :] - first
        return np.where((at >= 0) & (at < self.m), self.tickets.near, self.tickets.far)

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly.

        From one input to the next start(x) stays or rises by one, so the windows are exactly those from start(0) to
        start(N−1). If both ends lie within the outputs, every near-set has exactly m items and every row the same
        total; an output has the ratio near/far when one window covers it and another does not. Rows of unequal totals,
        or a window outside the outputs, are refused.
        """
        first, last = self.start(0), self.start(self.inputs - 1)
        if not 0 <= first <= last <= self.outputs - self.m or self.total != self.tickets.total(self.m, self.outputs):
            raise AssertionError(UNEQUAL)
        # Some output is near for one input and far for another if and only if two windows differ.
        return max(self.tickets.ratio, 1 / self.tickets.ratio) if first < last else Fraction(1)

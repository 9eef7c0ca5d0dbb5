"""Points: on a set of them, the m nearest outputs hold ``near`` tickets each, all others ``far``.

Draw by rejection: take u uniform on 0 … M·a − 1; y = u div a and t = u mod a; accept y if it is near or t < b, else try
again. Each output is accepted with probability (its tickets)/(M·a), the same law as on a line, and only the m-th
neighbour of x has to be known. Where more than 16 tries are expected, the near outputs of x are listed and the rule of
windows is used.

A try is accepted with probability W/(M·a), the same for every x: the number of tries reveals nothing about x.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from bipartite.lottery.deal import Deal, all_inside
from bipartite.lottery.kernel import point_kernels
from bipartite.lottery.order import farthest_near
from bipartite.lottery.tickets import UNEQUAL
from bipartite.lottery.uniform import WORD_BITS, high_half, is_kept, ticket_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.lottery.compiled_nearest import NearestTable
    from bipartite.lottery.deal import Drawn, Index, Kernel, Runs, Whole, Words
    from bipartite.lottery.order import Order
    from bipartite.lottery.tickets import Tickets
    from bipartite.lottery.words import Stream

MOST_EXPECTED_TRIES: Final = 16
_MOST_MASK_BYTES: Final = 2**27


@dataclass(frozen=True, eq=False)
class Nearest(Deal):
    """The integer parameters of a draw on a set of points."""

    order: Order
    m: int
    tickets: Tickets
    by_list: bool
    """Whether near outputs are listed (the rule of windows) instead of drawn by rejection."""
    word_bits: int = WORD_BITS
    inputs: int = field(init=False)
    outputs: int = field(init=False)
    total: int = field(init=False)
    near_total: int = field(init=False)
    by_tries: bool = field(init=False)
    drawn_from: int = field(init=False)
    """The number of tickets a word draws from: W by list, M·a by rejection."""
    redraw_below: int = field(init=False)
    _neighbours: NearestTable | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        size = len(self.order)
        total = self.tickets.total(self.m, size)
        drawn_from = total if self.by_list else size * self.tickets.near
        self._set(inputs=size, outputs=size, total=total, near_total=self.m * self.tickets.near)
        self._set(by_tries=not self.by_list, drawn_from=drawn_from, redraw_below=2**self.word_bits % drawn_from)

    @property
    def prepared(self) -> bool:
        """Whether the m-th neighbours of all points are already computed."""
        return self._neighbours is not None

    def neighbours(self, progress: Callable[[int], None] | None = None) -> NearestTable:
        """The m-th neighbours of all points, computed on first use; needs the compiler."""
        if self._neighbours is None:
            from bipartite.lottery.compiled_nearest import NearestTable  # noqa: PLC0415 (numba, only when it pays)

            self._set(_neighbours=NearestTable(self.order, self.m, progress))
        return cast("NearestTable", self._neighbours)

    def near(self, x: int) -> NDArray[np.bool_]:
        """Which outputs are near x."""
        distances = self.order.distances(x)
        return farthest_near(x, distances, self.m).near(x, distances)

    def runs(self, x: Index) -> Runs:
        """Near outputs first, then far ones, each in ascending order; of one input."""
        near = self.near(x)
        yield from ((y, 1, self.tickets.near) for y in np.flatnonzero(near).tolist())
        yield from ((y, 1, self.tickets.far) for y in np.flatnonzero(~near).tolist())

    def owner(self, x: int, ticket: int) -> int:
        near = self.near(x)
        if ticket < self.near_total:
            return int(np.flatnonzero(near)[ticket // self.tickets.near])
        return int(np.flatnonzero(~near)[(ticket - self.near_total) // self.tickets.far])

    def owners(self, index: Whole, tickets: Whole) -> Whole:
        """The near outputs of every value that occurs are listed once."""
        found, is_near = np.empty_like(index), tickets < self.near_total
        near_item, far_item = tickets // self.tickets.near, (tickets - self.near_total) // self.tickets.far
        is_far = ~is_near
        for x in np.unique(index).tolist():
            near, mine = self.near(x), index == x
            for outputs, items, chosen in ((near, near_item, mine & is_near), (~near, far_item, mine & is_far)):
                found[chosen] = np.flatnonzero(outputs)[items[chosen]]
        return found

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x, in plain Python and NumPy; O(N) to find its m-th neighbour."""
        if self.by_list:
            return super().draw(x, stream)
        near = self.near(x)
        while True:
            y, ticket = divmod(ticket_below(self.drawn_from, stream, self.word_bits), self.tickets.near)
            if near[y] or ticket < self.tickets.far:
                return y

    def rows_of(self, inputs: Whole) -> Whole:
        near = np.array([self.near(x) for x in inputs.tolist()])
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

    def kernel(self, values: int) -> Kernel:
        kernels = point_kernels(values, self.inputs, prepared=self.prepared)
        return self.draw_block if kernels is None else kernels.point_kernel(self)

    def draw_block(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """By list as any deal, else by rejection, one word after another, as the scalar draw does."""
        if self.by_list:
            return super().draw_block(codes, reports, words, code_offset, report_offset)
        if not len(codes) or not all_inside(codes, self.inputs):  # the codes of points are their indices
            return 0, 0, not len(codes)
        # Each distinct value needs a mask of all points; the rest waits for the next call.
        codes = codes[: max(1, _MOST_MASK_BYTES // self.inputs)]
        kept = is_kept(words, self.drawn_from)
        outputs, rest = np.divmod(high_half(words, self.drawn_from), np.uint64(self.tickets.near))
        always = (rest < np.uint64(self.tickets.far)).tolist()
        near = {x: self.near(x) for x in np.unique(codes).tolist()}
        done = 0
        for j, (serves, y) in enumerate(zip(kept.tolist(), outputs.tolist(), strict=True)):
            if serves and (always[j] or near[int(codes[done])][y]):
                reports[done] = y
                done += 1
                if done == len(codes):
                    return done, j + 1, True
        return done, len(words), True


def needs_list(m: int, outputs: int, tickets: Tickets) -> bool:
    """Whether rejection would take more than 16 tries on average: M·a > 16·W."""
    return outputs * tickets.near > MOST_EXPECTED_TRIES * tickets.total(m, outputs)

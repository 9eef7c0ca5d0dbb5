"""Lotteries on places in regions: one set of tickets within the input's own region, another outside it.

Outputs are laid out region by region, so that "outside" is everything before and everything after the own region. A
ticket below the own region's total belongs to that region; the others belong to the outside, in layout order.

`BlockLottery` has a table for each region, and for each output one count that all inputs of other regions give it.
`WeightLottery` has no table: all inputs of a region share a row with one count inside the region and one outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery.rows import MOST_TICKET_COUNTS, largest_fraction, owners, totals_of
from bipartite.lottery.tickets import UNEQUAL
from bipartite.lottery.uniform import WORD_BITS, ticket_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.lottery.words import Stream

    Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Outputs region by region, ascending within each."""

    labels: Whole
    """The region of each output, 0 … R − 1, none of them empty."""
    order: Whole = field(init=False)
    """The outputs in the order of the layout."""
    starts: Whole = field(init=False)
    """Where each region starts in the layout, followed by the end of the last."""
    sizes: Whole = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.bincount(self.labels)
        if not sizes.all():
            raise AssertionError("a region of this lottery is empty")
        object.__setattr__(self, "order", np.argsort(self.labels, kind="stable"))
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "starts", np.concatenate([[0], np.cumsum(sizes)]))
        for array in (self.labels, self.order, self.starts, self.sizes):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.sizes)

    def members(self, region: int) -> Whole:
        """The outputs of a region, ascending."""
        return self.order[self.starts[region] : self.starts[region + 1]]


def check_blocks(sizes: Whole) -> None:
    """Refuse regions whose tables are too large for memory."""
    counts = int((sizes.astype(np.float64) ** 2).sum())
    if counts > MOST_TICKET_COUNTS:
        raise DesignError(
            f"This mechanism holds a ticket count for every pair of places in one region, at most 2^25, got {counts}; "
            "use smaller regions (the largest has "
            f"{int(sizes.max())} places), region-weighted ones, or bp.BRR, which need no table."
        )


class _Regional(ABC):
    """A lottery on places that are laid out region by region."""

    __slots__ = ("layout", "total", "word_bits")

    layout: Layout
    total: int
    word_bits: int

    @property
    def inputs(self) -> int:
        """N, the number of places."""
        return len(self.layout.labels)

    @property
    def outputs(self) -> int:
        """M = N."""
        return self.inputs

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x."""
        ticket = np.array([ticket_below(self.total, stream, self.word_bits)], dtype=np.int64)
        return int(self.outputs_of(np.array([x]), ticket)[0])

    @abstractmethod
    def outputs_of(self, index: Whole, tickets: Whole) -> Whole:
        """The outputs that hold these tickets of these inputs; inside and outside are both computed."""


class BlockLottery(_Regional):
    """For each region a table of tickets among its places; each place has one count for all inputs outside."""

    __slots__ = (
        "_before",
        "_firsts",
        "_outside_running",
        "_own",
        "_running",
        "blocks",
        "outside",
    )

    def __init__(self, labels: Whole, blocks: Sequence[Whole], outside: Whole, word_bits: int = WORD_BITS) -> None:
        """Tables of regions 0, 1, …, rows and columns ascending, and the count of each output for other regions."""
        layout = Layout(labels)
        check_blocks(layout.sizes)
        self.layout, self.blocks, self.outside, self.word_bits = layout, tuple(blocks), outside, word_bits
        given = np.bincount(labels, outside.astype(np.float64), len(layout))
        own = [totals_of(block) for block in blocks]
        if len(own) != len(layout) or any(each is None for each in own) or (outside < 0).any() or given.sum() > 2.0**53:
            raise AssertionError(UNEQUAL)
        running = np.concatenate([[0], np.cumsum(outside[layout.order])])
        given_by_region = np.diff(running[layout.starts])
        totals = np.concatenate(
            [
                own_totals + running[-1] - given_by_region[r]
                for r, own_totals in enumerate(own)
                if own_totals is not None
            ]
        )
        negative = any((block < 0).any() for block in blocks)
        shapes = [block.shape for block in blocks] == [(n, n) for n in layout.sizes.tolist()]
        if negative or not shapes or totals[0] < 1 or (totals != totals[0]).any():
            raise AssertionError(UNEQUAL)
        self.total = int(totals[0])
        self._own: Whole = np.array([int(each[0]) for each in own if each is not None], dtype=np.int64)
        self._outside_running: Whole = running[1:]
        self._before: Whole = running[layout.starts]
        self._running: Whole = np.concatenate([np.cumsum(block, axis=1).ravel() for block in blocks])
        # Where the row of each input starts in the flat running sums.
        widths = layout.sizes[layout.labels[layout.order]]
        self._firsts: Whole = np.empty(len(labels), dtype=np.int64)
        self._firsts[layout.order] = np.cumsum(widths) - widths
        for array in (*blocks, outside, self._running, self._outside_running, self._own, self._before, self._firsts):
            array.flags.writeable = False

    def rows(self, start: int, stop: int) -> Whole:
        """The tickets of inputs start … stop − 1."""
        dense = np.tile(self.outside, (stop - start, 1))
        for x in range(start, stop):
            region = int(self.layout.labels[x])
            members = self.layout.members(region)
            dense[x - start, members] = self.blocks[region][np.searchsorted(members, x)]
        return dense

    def outputs_of(self, index: Whole, tickets: Whole) -> Whole:
        """See `_Regional`: both searches always run."""
        layout = self.layout
        region = layout.labels[index]
        sizes, firsts = layout.sizes[region], self._firsts[index]
        passed = owners(self._running, tickets, firsts=firsts, lengths=sizes, longest=int(layout.sizes.max()))
        inside = tickets < self._own[region]
        at_home = layout.starts[region] + np.minimum(passed, sizes - 1)
        rest = np.where(inside, 0, tickets - self._own[region])
        before, after = self._before[region], self._before[region + 1]
        rest = np.where(rest >= before, rest + (after - before), rest)
        away = np.minimum(np.searchsorted(self._outside_running, rest, side="right"), self.inputs - 1)
        found: Whole = layout.order[np.where(inside, at_home, away)]
        return found

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly."""
        return max(map(self._ratio, range(len(self.layout))))

    def _ratio(self, region: int) -> Fraction:
        most, least = self.blocks[region].max(axis=0), self.blocks[region].min(axis=0)
        if len(self.layout) > 1:
            given = self.outside[self.layout.members(region)]
            most, least = np.maximum(most, given), np.minimum(least, given)
        return largest_fraction(most, least)


class WeightLottery(_Regional):
    """Inputs of a region hold ``own`` tickets for each of its places and ``other`` for each place outside.

    The first ``extra`` places of the region hold one more, so that all rows hold the same total.
    """

    __slots__ = ("_own", "extra", "other", "own")

    def __init__(self, labels: Whole, own: Whole, other: Whole, total: int, word_bits: int = WORD_BITS) -> None:
        layout = Layout(labels)
        sizes = layout.sizes
        outsiders = len(labels) - sizes
        if (own * sizes.astype(np.float64) + other * outsiders.astype(np.float64)).max() > 2.0**53:
            raise AssertionError(UNEQUAL)  # before 64 bits wrap
        extra = total - own * sizes - other * outsiders
        if (own < 1).any() or (other < 1).any() or (extra < 0).any() or (extra >= sizes).any():
            raise AssertionError(UNEQUAL)
        self.layout, self.own, self.other, self.extra = layout, own, other, extra
        self.total, self.word_bits = total, word_bits
        self._own: Whole = own * sizes + extra
        for array in (own, other, extra, self._own):
            array.flags.writeable = False

    def row_of(self, region: int) -> Whole:
        """The tickets of every input of a region."""
        row = np.full(self.outputs, self.other[region])
        members = self.layout.members(region)
        row[members] = self.own[region]
        row[members[: self.extra[region]]] += 1
        return row

    def rows(self, start: int, stop: int) -> Whole:
        """The tickets of inputs start … stop − 1."""
        regions, which = np.unique(self.layout.labels[start:stop], return_inverse=True)
        dense: Whole = np.array([self.row_of(region) for region in regions.tolist()])[which.ravel()]
        return dense

    def outputs_of(self, index: Whole, tickets: Whole) -> Whole:
        """See `_Regional`: both are always computed."""
        layout = self.layout
        region = layout.labels[index]
        own, extra, start = self.own[region], self.extra[region], layout.starts[region]
        inside = tickets < self._own[region]
        raised = tickets < extra * (own + 1)
        number = np.where(raised, tickets // (own + 1), extra + (tickets - extra * (own + 1)) // own)
        rest = np.where(inside, 0, tickets - self._own[region]) // self.other[region]
        rest = np.where(rest >= start, rest + layout.sizes[region], rest)
        last = self.inputs - 1
        found: Whole = layout.order[np.where(inside, np.minimum(start + number, last), np.minimum(rest, last))]
        return found

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly, over all pairs of regions."""
        if len(self.layout) == 1:
            return Fraction(1)
        # A place gets `own` tickets, or one more, from its own region, and `other` from each other region.
        most = self.own + (self.extra > 0)
        smallest, largest = np.argsort(self.other, kind="stable")[[0, -1]].tolist()
        ratios = []
        for region in range(len(self.layout)):
            rest = np.delete(self.other, region) if region in {smallest, largest} else self.other
            low, high = int(rest.min()), int(rest.max())
            above, below = max(int(most[region]), high), min(int(self.own[region]), low)
            ratios.append(Fraction(above, below))
        return max(ratios)

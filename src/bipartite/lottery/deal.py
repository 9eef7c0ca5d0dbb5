"""A deal: how the W tickets of every input are dealt to the outputs. Whatever draws one ticket is a deal.

A row is a few *runs* of outputs that hold equally many tickets: (first, how many, tickets each), in the order dealt.
The report of x is the owner of one uniform ticket, so its probability is a count over W, and a ratio of two
probabilities is a fraction of whole numbers that anyone can check, provided that all rows hold the same W.

A kind of deal says its ``runs``, or its ``rows_of`` where counts follow no pattern; draws, rows, the exact ratio and
the products with the matrix follow from that, and a kind overrides what it can do faster.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery.channel import Channel, Dense
from bipartite.lottery.tickets import UNEQUAL
from bipartite.lottery.uniform import ticket_below, tickets_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bipartite.lottery.window import Ring, Window
    from bipartite.lottery.words import Stream

    Whole = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Drawn = tuple[int, int, bool]
    """(values done, words used, all codes inside the domain)."""
    Kernel = Callable[[Whole, Whole, Words, int, int], Drawn]
    """Draw reports (second) of codes (first) from words until either runs out; a code is an index plus the first
    offset, a report an output plus the second. Compiled or NumPy: every kernel of a deal gives the same reports."""
    Array = NDArray[np.float64]
    Index = Any
    """One input as an int, or several as an array."""
    Runs = Iterable[tuple[Any, Any, Any]]

# Counts per block of rows.
_BLOCK: Final = 2**22
# The most entries of the matrix of a deal without structure.
_MOST_DENSE: Final = 2**26


class Deal(Channel):
    """The tickets of every input, all rows of one total."""

    total: int
    """W, the number of tickets in every row."""
    word_bits: int
    """64; smaller only in tests, which enumerate every word."""
    flat: ClassVar[bool] = False
    """Every report is one output; see `bipartite.mechanisms.categories` for rows of bits and numbers."""
    layout: Whole | None = None
    """The output at each position of a run, where positions are not outputs; such a kind says its ``rows_of``, too."""
    by_tries: bool = False
    """Whether a report may take several tickets."""
    rounded: bool = False
    """Whether tickets are rounded probabilities, so that rows may differ by rounding alone."""
    shifted: bool = False
    """Whether all rows are one row, shifted: such rows are nearly always independent."""

    def runs(self, x: Index) -> Runs:
        """The runs of one input, or of several as arrays: here, every output on its own, ascending."""
        rows = self.rows_of(np.atleast_1d(x)).T
        return ((y, 1, row if np.ndim(x) else int(row[0])) for y, row in enumerate(rows))

    def rows_of(self, inputs: Whole) -> Whole:
        """The tickets of these inputs, one row each."""
        steps, who = np.zeros((len(inputs), self.outputs + 1), dtype=np.int64), np.arange(len(inputs))
        for first, count, each in self.runs(inputs):
            steps[who, first] += each
            steps[who, first + count] -= each
        return np.cumsum(steps, axis=1)[:, :-1]

    def rows(self, start: int, stop: int) -> Whole:
        """The tickets of inputs start … stop − 1."""
        return self.rows_of(np.arange(start, stop))

    def owner(self, x: int, ticket: int) -> int:
        """The output that holds this ticket of input x, in plain integers."""
        for first, count, each in self.runs(x):
            if ticket < count * each:
                at = first + ticket // each
                return at if self.layout is None else int(self.layout[at])
            ticket -= count * each
        raise AssertionError(UNEQUAL)

    def owners(self, index: Whole, tickets: Whole) -> Whole:
        """The same for many; every run is visited, so that the time does not tell which one it was."""
        at, left = np.zeros_like(index), tickets.copy()
        for first, count, each in self.runs(index):
            at = np.where((left >= 0) & (left < count * each), first + left // np.maximum(each, 1), at)
            left -= count * each
        return at if self.layout is None else self.layout[at]

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x."""
        return self.owner(x, ticket_below(self.total, stream, self.word_bits))

    def draw_block(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """The kernel in NumPy: a ticket for each value, and its owner."""
        tickets, used = tickets_below(self.total, words, len(codes))
        index = codes[: len(tickets)] - np.int64(code_offset)
        if not all_inside(index, self.inputs):
            return 0, 0, False
        reports[: len(tickets)] = self.owners(index, tickets.view(np.int64)) + np.int64(report_offset)
        return len(tickets), used, True

    def kernel(self, values: int) -> Kernel:
        """The fastest kernel for a call of ``values`` values."""
        del values
        return self.draw_block

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly; rows of unequal totals are refused."""
        most, least = np.zeros(self.outputs, dtype=np.int64), np.full(self.outputs, self.total)
        for _, rows in self._blocks(self.distinct_inputs()):
            if (rows < 0).any() or (rows.sum(axis=1) != self.total).any():
                raise AssertionError(UNEQUAL)
            most, least = np.maximum(most, rows.max(axis=0)), np.minimum(least, rows.min(axis=0))
        return largest_fraction(most, least)

    def forward(self, f: Array) -> Array:
        blocks = self._blocks(np.arange(self.inputs))
        return sum((f[..., at] @ (rows / self.total) for at, rows in blocks), np.zeros(1))

    def backward(self, v: Array) -> Array:
        blocks = self._blocks(np.arange(self.inputs))
        return np.concatenate([v @ (rows.T / self.total) for _, rows in blocks], axis=-1)

    def distinct_inputs(self) -> Whole:
        """Inputs that have all rows; here, all of them."""
        return np.arange(self.inputs)

    def _blocks(self, inputs: Whole) -> Iterator[tuple[slice, Whole]]:
        step = max(1, _BLOCK // self.outputs)
        for start in range(0, len(inputs), step):
            yield slice(start, start + step), self.rows_of(inputs[start : start + step])

    def channel(self) -> Channel:
        """The form in which many products are fastest; a matrix that is too large is refused."""
        if self.inputs * self.outputs > _MOST_DENSE:
            raise DesignError(
                f"Estimating from {self.inputs} × {self.outputs} probabilities without structure takes too much "
                "memory; use GRR, Anchored, a flat-category mechanism, or fewer values."
            )
        return Dense(self.rows(0, self.inputs) / self.total)

    @property
    def line(self) -> Window | None:
        """The deal itself, if its rows are windows that move along a line of values."""
        return None

    @property
    def ring(self) -> Ring | None:
        """The deal itself, if its rows are windows on a circle."""
        return None

    def distinct_rows(self) -> tuple[Whole | None, Window | Ring] | None:
        """(the index of each input's distinct row, the distinct rows), if known without comparing; otherwise None.

        The indices are None if every input has a row of its own.
        """
        return None

    def limits(self) -> tuple[Array, Array] | None:
        """The smallest and the largest probability of each output, where known without a look at the rows."""
        return None

    def _set(self, **facts: object) -> None:
        """Set facts that follow from the fields; arrays become read-only."""
        for name, fact in facts.items():
            if isinstance(fact, np.ndarray):
                fact.flags.writeable = False
            object.__setattr__(self, name, fact)


def all_inside(index: Whole, inputs: int) -> bool:
    """Whether all indices are valid; viewed as unsigned, negative ones are too large."""
    return bool((index.view(np.uint64) < np.uint64(inputs)).all())


def largest_fraction(above: Whole, below: Whole) -> Fraction:
    """The largest of these ratios of counts, exactly: floats select a few candidates, fractions decide.

    Outputs that no input reports are ignored.
    """
    # Counts up to 2^52 are exact doubles and division rounds correctly, so a larger ratio never has a smaller quotient:
    # the largest ratio is among those with the largest quotient.
    held = above > 0
    above, below = above[held], below[held]
    if not below.all():
        raise AssertionError("an output that one input can report and another cannot has an infinite ratio")
    near = above / below
    candidates = np.flatnonzero(near == near.max())
    pairs = set(zip(above[candidates].tolist(), below[candidates].tolist(), strict=True))
    return max(Fraction(a, b) for a, b in pairs)

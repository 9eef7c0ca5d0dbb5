"""The deal of any finite mechanism: every input has a row of integer tickets, and all rows hold the same total.

A ticket is drawn uniformly, and its owner is found in the running sums of the row by a search of a fixed number of
steps. `issue_rows` turns float probabilities into tickets that keep ε exactly: in each column every count lies between
a floor c ≥ 1 and the largest integer below e^ε·c, and what rounding leaves over goes where there is room.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery.deal import Deal
from bipartite.lottery.tickets import MAX_TOTAL, UNEQUAL
from bipartite.lottery.uniform import WORD_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.lottery.deal import Whole
    from bipartite.lottery.epsilon import Epsilon

MOST_TICKET_COUNTS: Final = 2**25
"""The largest table of rows × outputs: a quarter of a gigabyte."""


@dataclass(frozen=True, eq=False)
class Table(Deal):
    """One row of tickets for each input."""

    tickets: Whole
    """tickets[x, y]: the number of input x's W tickets that output y holds."""
    word_bits: int = WORD_BITS
    inputs: int = field(init=False)
    outputs: int = field(init=False)
    total: int = field(init=False)
    running: Whole = field(init=False)
    rounded = True

    def __post_init__(self) -> None:
        totals = totals_of(self.tickets)
        if totals is None or (self.tickets < 0).any() or (totals != totals[0]).any() or totals[0] < 1:
            raise AssertionError(UNEQUAL)
        inputs, outputs = self.tickets.shape
        running = np.ascontiguousarray(np.cumsum(self.tickets, axis=1))
        self._set(tickets=self.tickets, inputs=inputs, outputs=outputs, total=int(totals[0]), running=running)

    def rows_of(self, inputs: Whole) -> Whole:
        return self.tickets[inputs]

    def rows(self, start: int, stop: int) -> Whole:
        """The tickets of inputs start … stop − 1, not copied."""
        return self.tickets[start:stop]

    def owner(self, x: int, ticket: int) -> int:
        return int(np.searchsorted(self.running[x], ticket, side="right"))

    def owners(self, index: Whole, tickets: Whole) -> Whole:
        columns = self.outputs
        return search(self.running.ravel(), tickets, firsts=index * columns, lengths=columns, longest=columns)


def search(
    running: Whole,
    tickets: Whole,
    *,
    firsts: Whole | int,
    lengths: Whole | int,
    longest: int,
) -> Whole:
    """Find the column of each ticket: the number of running sums of its row that are at most the ticket.

    Rows start at ``firsts`` in ``running`` and have ``lengths`` sums. The search always takes the number of steps that
    the longest row needs, whatever the value and the ticket.
    """
    passed = np.zeros(len(tickets), dtype=np.int64)
    step = 1 << (longest.bit_length() - 1)
    while step:
        ahead = np.minimum(passed + step, lengths)
        passed = np.where(running[firsts + ahead - 1] <= tickets, ahead, passed)
        step >>= 1
    return passed


def totals_of(tickets: Whole) -> Whole | None:
    """The total of each row of counts ≥ 0, or None if one exceeds 2^52, checked before 64 bits could wrap."""
    if tickets.sum(axis=-1, dtype=np.float64).max() > 2 * MAX_TOTAL:
        return None
    totals: Whole = tickets.sum(axis=-1)
    return totals if totals.max() <= MAX_TOTAL else None


def issue_rows(probabilities: NDArray[np.float64], epsilon: Epsilon | None) -> Whole:
    """Issue tickets for these rows of probabilities that keep ε exactly; ε = None only rounds, without a guarantee.

    Parameters
    ----------
    probabilities
        One row per input, each summing to one up to rounding, with ratios within a column of at most about e^ε. A
        column is either zero or positive in every row.
    epsilon
        The budget that the tickets keep.
    """
    rows, outputs = probabilities.shape
    check_table(rows, outputs)
    if not np.isfinite(probabilities).all():
        raise DesignError("Expected probabilities as finite numbers; scale the losses that they come from.")
    # One ticket per output is held back, so that no row has too many when floors are rounded up: with floors rounded
    # down, e^ε times the floor could leave a row up to e^ε tickets short, and the realised ε far below the requested
    # one.
    tickets = np.floor(probabilities * float(MAX_TOTAL - outputs)).astype(np.int64)
    offered = (probabilities > 0).any(axis=0)
    least = tickets.min(axis=0)
    floors = np.where(offered, np.maximum(least, 1) if epsilon is None else least + 1, 0)
    ceilings = np.full(outputs, MAX_TOTAL) if epsilon is None else _ceilings(floors, epsilon)
    tickets = np.clip(tickets, floors, ceilings)
    left = MAX_TOTAL - tickets.sum(axis=1)
    _spread(tickets, left, floors, ceilings)
    return tickets


def check_table(rows: int, outputs: int) -> None:
    """Refuse a table of tickets that is too large for memory."""
    if rows * outputs > MOST_TICKET_COUNTS:
        raise DesignError(
            f"This mechanism holds a ticket count for every value and report, at most 2^25, got {rows} × {outputs}; "
            "use a smaller domain, or BRR, GRR or Anchored, which need no table."
        )


def _ceilings(floors: Whole, epsilon: Epsilon) -> Whole:
    distinct, where = np.unique(floors, return_inverse=True)
    most = [min(epsilon.most_near_tickets(floor), MAX_TOTAL) for floor in distinct.tolist()]
    return np.array(most, dtype=np.int64)[where]


def _spread(tickets: Whole, left: Whole, floors: Whole, ceilings: Whole) -> None:
    """Add each row's missing tickets, or remove its excess, where there is room, starting where there is most."""
    for x in np.flatnonzero(left).tolist():
        row, rest = tickets[x], int(left[x])
        room = ceilings - row if rest > 0 else row - floors
        order = np.argsort(-room, kind="stable")
        shares = _shares(room[order].tolist(), abs(rest))
        row[order[: len(shares)]] += np.array(shares, dtype=np.int64) * (1 if rest > 0 else -1)


def _shares(room: Sequence[int], rest: int) -> list[int]:
    shares = []
    for each in room:
        if not rest:
            break
        shares.append(min(each, rest))
        rest -= shares[-1]
    if rest:
        raise DesignError("2^52 tickets cannot keep this ε on this domain; use a larger ε, or fewer values.")
    return shares

"""One lottery made of several: a public set of outputs is drawn afresh for every report, then one output of the set.

Set k has K_k outputs, of which every input has one *own*, with ``near`` tickets; the others have ``far`` tickets each.
All sets share one row: it holds T = Σ_k (near_k + (K_k − 1)·far_k) tickets whatever the input is, and set k is drawn
with chance (near_k + (K_k − 1)·far_k)/T.

Draw: one ticket u below T. Go through the sets in order, taking off what each holds, until u is below what set k holds.
Below near_k it is the own output; else far output number (u − near_k) div far_k, ascending, the own one left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.rows import largest_fraction
from bipartite.lottery.tickets import MAX_TOTAL, UNEQUAL
from bipartite.lottery.uniform import WORD_BITS, ticket_below

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.lottery.words import Stream

    Wholes = NDArray[np.int64]

# Tickets that are written out at a time.
_BLOCK: Final = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class MixedLottery:
    """Everything that such a draw needs, as whole numbers."""

    sets: tuple[Wholes, ...]
    """The outputs of each set, ascending."""
    own: NDArray[np.unsignedinteger]
    """own[k, x]: which output of set k, counted from 0, is input x's own."""
    near: Wholes
    far: Wholes
    outputs: int
    """M, how many outputs there are in all; each belongs to some set."""
    word_bits: int = WORD_BITS
    """64; smaller only in tests, which draw with every word there is."""
    total: int = field(init=False)
    _ends: Wholes = field(init=False)
    _firsts: Wholes = field(init=False)
    _members: Wholes = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.array([len(each) for each in self.sets])
        # Python's whole numbers, which do not wrap.
        held = [a + (k - 1) * b for a, b, k in zip(self.near.tolist(), self.far.tolist(), sizes.tolist(), strict=True)]
        if min(self.near.min(), self.far.min()) < 1 or sum(held) > MAX_TOTAL or (self.own.max(axis=1) >= sizes).any():
            raise AssertionError(UNEQUAL)
        object.__setattr__(self, "total", sum(held))
        object.__setattr__(self, "_ends", np.cumsum(held))
        object.__setattr__(self, "_firsts", np.cumsum(sizes) - sizes)
        object.__setattr__(self, "_members", np.concatenate(self.sets))
        for each in (self.own, self.near, self.far, self._ends, self._firsts, self._members, *self.sets):
            each.flags.writeable = False

    @property
    def inputs(self) -> int:
        """N, the number of inputs."""
        return int(self.own.shape[1])

    def rows(self, start: int, stop: int) -> Wholes:
        """The tickets of inputs start … stop − 1."""
        return self.rows_of(np.arange(start, stop))

    def rows_of(self, inputs: Wholes) -> Wholes:
        """The tickets of these inputs, one row each."""
        rows = np.zeros((len(inputs), self.outputs), dtype=np.int64)
        everyone = np.arange(len(inputs))
        for members, own, near, far in zip(self.sets, self.own, self.near, self.far, strict=True):
            rows[:, members] += far
            rows[everyone, members[own[inputs]]] += near - far
        return rows

    def draw(self, x: int, stream: Stream) -> int:
        """One report for input x, in plain Python."""
        ticket = ticket_below(self.total, stream, self.word_bits)
        owns, nears, fars = self.own[:, x].tolist(), self.near.tolist(), self.far.tolist()
        for members, own, near, far in zip(self.sets, owns, nears, fars, strict=True):
            held = near + (len(members) - 1) * far
            if ticket < held:
                other = (ticket - near) // far
                return int(members[own if ticket < near else other + (other >= own)])
            ticket -= held
        raise AssertionError(UNEQUAL)

    def outputs_of(self, index: Wholes, tickets: Wholes) -> Wholes:
        """The outputs that hold these tickets of these inputs."""
        # Which set it is depends on the ticket alone; after that every step is done for all.
        drawn = np.searchsorted(self._ends, tickets, side="right")
        rest = tickets - np.concatenate([[0], self._ends[:-1]])[drawn]
        own = self.own[drawn, index].astype(np.int64)
        near = self.near[drawn]
        other = (rest - near) // self.far[drawn]
        other += other >= own
        return np.asarray(self._members[self._firsts[drawn] + np.where(rest < near, own, other)])

    def groups(self) -> tuple[Wholes, Wholes]:
        """(which row each input has, the tickets of the different rows): neighbours often have the same."""
        begins = self._beginnings()
        first = np.flatnonzero(begins)
        _, chosen, groups = np.unique(self.own[:, first], axis=1, return_index=True, return_inverse=True)
        return groups.ravel()[np.cumsum(begins) - 1], self.rows_of(first[chosen])

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets of one output, exactly, from the rows of all inputs."""
        inputs = np.flatnonzero(self._beginnings())
        above, below = np.zeros(self.outputs, dtype=np.int64), np.full(self.outputs, MAX_TOTAL)
        for part in np.array_split(inputs, 1 + len(inputs) * self.outputs // _BLOCK):
            rows = self.rows_of(part)
            if (rows.sum(axis=1) != self.total).any():
                raise AssertionError(UNEQUAL)
            above, below = np.maximum(above, rows.max(axis=0)), np.minimum(below, rows.min(axis=0))
        return largest_fraction(above, below)

    def _beginnings(self) -> NDArray[np.bool_]:
        """Which inputs have another row than the one before them: another own output in some set."""
        begins = np.ones(self.inputs, dtype=bool)
        begins[1:] = (self.own[:, 1:] != self.own[:, :-1]).any(axis=0)
        return begins

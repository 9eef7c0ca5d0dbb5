"""A mixture: every report first draws a public set of outputs, then one output of that set.

Set k has K_k outputs. One of them is the input's *own* and has near_k tickets; the others have far_k tickets each. A
row holds T = Σ_k (near_k + (K_k − 1)·far_k) tickets for every input, so set k is drawn with probability
(near_k + (K_k − 1)·far_k)/T.

Draw: one ticket u below T. Subtract the tickets of one set after another until u falls within set k. If u < near_k the
report is the own output; otherwise it is far output number (u − near_k) div far_k, ascending, skipping the own one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.channel import Dense, Grouped
from bipartite.lottery.deal import Deal, largest_fraction
from bipartite.lottery.tickets import MAX_TOTAL, UNEQUAL
from bipartite.lottery.uniform import WORD_BITS

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.lottery.channel import Channel
    from bipartite.lottery.deal import Index, Runs, Whole

# Own outputs per block of inputs.
_BLOCK: Final = 2**22


@dataclass(frozen=True, eq=False)
class Mixture(Deal):
    """The integer parameters of a mixture."""

    sets: tuple[Whole, ...]
    """The outputs of each set, ascending."""
    own: NDArray[np.unsignedinteger]
    """own[k, x]: the position, from 0, of input x's own output in set k."""
    near: Whole
    far: Whole
    outputs: int
    """M, the number of outputs in the union of the sets."""
    word_bits: int = WORD_BITS
    inputs: int = field(init=False)
    total: int = field(init=False)
    layout: Whole = field(init=False)
    """The outputs of one set after the other."""
    _ends: Whole = field(init=False)
    _firsts: Whole = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.array([len(each) for each in self.sets])
        # Python integers, which do not wrap.
        held = [a + (k - 1) * b for a, b, k in zip(self.near.tolist(), self.far.tolist(), sizes.tolist(), strict=True)]
        if min(self.near.min(), self.far.min()) < 1 or sum(held) > MAX_TOTAL or (self.own.max(axis=1) >= sizes).any():
            raise AssertionError(UNEQUAL)
        self._set(total=sum(held), inputs=int(self.own.shape[1]), own=self.own, near=self.near, far=self.far)
        self._set(_ends=np.cumsum(held), _firsts=np.cumsum(sizes) - sizes, layout=np.concatenate(self.sets))
        for each in self.sets:
            each.flags.writeable = False

    def runs(self, x: Index) -> Runs:
        """For each set the own output, and the others before and after it."""
        first = 0
        owns = self.own[:, x].astype(np.int64)
        each_own = owns if owns.ndim > 1 else owns.tolist()
        for members, own, near, far in zip(self.sets, each_own, self.near.tolist(), self.far.tolist(), strict=True):
            yield first + own, 1, near
            yield first, own, far
            yield first + own + 1, len(members) - 1 - own, far
            first += len(members)

    def rows_of(self, inputs: Whole) -> Whole:
        # Not from the runs: they have as many positions as all sets together have members.
        rows = np.zeros((len(inputs), self.outputs), dtype=np.int64)
        everyone = np.arange(len(inputs))
        for members, own, near, far in zip(self.sets, self.own, self.near, self.far, strict=True):
            rows[:, members] += far
            rows[everyone, members[own[inputs]]] += near - far
        return rows

    def owner(self, x: int, ticket: int) -> int:
        drawn = int(self._ends.searchsorted(ticket, side="right"))
        rest = ticket - (int(self._ends[drawn - 1]) if drawn else 0)
        own, near = int(self.own[drawn, x]), int(self.near[drawn])
        other = (rest - near) // int(self.far[drawn])
        return int(self.sets[drawn][own if rest < near else other + (other >= own)])

    def owners(self, index: Whole, tickets: Whole) -> Whole:
        # The set depends on the ticket alone; every later step is the same for all inputs.
        drawn = np.searchsorted(self._ends, tickets, side="right")
        rest = tickets - np.concatenate([[0], self._ends[:-1]])[drawn]
        own = self.own[drawn, index].astype(np.int64)
        near = self.near[drawn]
        other = (rest - near) // self.far[drawn]
        other += other >= own
        return np.asarray(self.layout[self._firsts[drawn] + np.where(rest < near, own, other)])

    def channel(self) -> Channel:
        """The matrix of the distinct rows."""
        groups, rows = self.groups()
        return Grouped(groups, Dense(rows / self.total))

    def groups(self) -> tuple[Whole, Whole]:
        """(the row number of each input, the distinct rows of tickets): neighbours often share a row."""
        # Whether each input's row differs from the previous input's: another own output in some set.
        begins = np.append(True, (self.own[:, 1:] != self.own[:, :-1]).any(axis=0))
        first = np.flatnonzero(begins)
        _, chosen, groups = np.unique(self.own[:, first], axis=1, return_index=True, return_inverse=True)
        return groups.ravel()[np.cumsum(begins) - 1], self.rows_of(first[chosen])

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two inputs' tickets for one output, exactly.

        For every input an output holds the far tickets of all its sets, and near − far more in each set in which it is
        the input's own output. Only runs of inputs with the same own output are visited, not one row per input.
        """
        always = np.zeros(self.outputs, dtype=np.int64)
        for members, far in zip(self.sets, self.far.tolist(), strict=True):
            always[members] += far
        if always.sum() + (self.near - self.far).sum() != self.total:
            raise AssertionError(UNEQUAL)
        above, below = np.zeros_like(always), np.full_like(always, MAX_TOTAL)
        step = max(1, _BLOCK // len(self.sets))
        for start in range(0, self.inputs, step):
            output, held = self._own_tickets(self.own[:, start : start + step])
            np.maximum.at(above, output, always[output] + held)
            np.minimum.at(below, output, always[output] + held)
        return largest_fraction(above, below)

    def _own_tickets(self, own: NDArray[np.unsignedinteger]) -> tuple[Whole, Whole]:
        """(outputs, tickets beyond those that every input gives the output), for all pairs that occur."""
        begins = np.ones(own.shape, dtype=bool)
        begins[:, 1:] = own[:, 1:] != own[:, :-1]
        which, first = np.divmod(np.flatnonzero(begins), own.shape[1])  # faster than nonzero
        last_run = np.append(which[1:] != which[:-1], True)
        end = np.where(last_run, own.shape[1], np.append(first[1:], 0))
        member = self.layout[self._firsts[which] + own[which, first]]
        gain = (self.near - self.far)[which]
        # The tickets of an output change only where a run starts or ends; every output starts with none.
        output = np.concatenate([np.arange(self.outputs), member, member])
        at = np.concatenate([np.zeros(self.outputs, dtype=np.int64), first, end])
        order = np.lexsort((at, output))
        output, at = output[order], at[order]
        held = np.cumsum(np.concatenate([np.zeros(self.outputs, dtype=np.int64), gain, -gain])[order])
        settled = np.append((output[1:] != output[:-1]) | (at[1:] != at[:-1]), True) & (at < own.shape[1])
        return output[settled], held[settled]

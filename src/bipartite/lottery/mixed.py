"""A mixture of lotteries: every report first draws a public set of outputs, then one output of that set.

Set k has K_k outputs. One of them is the input's *own* and has near_k tickets; the others have far_k tickets each. A
row holds T = Σ_k (near_k + (K_k − 1)·far_k) tickets for every input, so set k is drawn with probability
(near_k + (K_k − 1)·far_k)/T.

Draw: one ticket u below T. Subtract the tickets of one set after another until u falls within set k. If u < near_k the
report is the own output; otherwise it is far output number (u − near_k) div far_k, ascending, skipping the own one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from bipartite.lottery.rows import largest_fraction
from bipartite.lottery.tickets import MAX_TOTAL, UNEQUAL
from bipartite.lottery.uniform import WORD_BITS, ticket_below

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.lottery.words import Stream

    Wholes = NDArray[np.int64]

# Own outputs per block of inputs.
_BLOCK: Final = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class MixedLottery:
    """The integer parameters of a mixture."""

    flat: ClassVar[bool] = False

    sets: tuple[Wholes, ...]
    """The outputs of each set, ascending."""
    own: NDArray[np.unsignedinteger]
    """own[k, x]: the position, from 0, of input x's own output in set k."""
    near: Wholes
    far: Wholes
    outputs: int
    """M, the number of outputs in the union of the sets."""
    word_bits: int = WORD_BITS
    """64; smaller only in tests, which enumerate every word."""
    total: int = field(init=False)
    _ends: Wholes = field(init=False)
    _firsts: Wholes = field(init=False)
    _members: Wholes = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.array([len(each) for each in self.sets])
        # Python integers, which do not wrap.
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
        # The set depends on the ticket alone; every later step is the same for all inputs.
        drawn = np.searchsorted(self._ends, tickets, side="right")
        rest = tickets - np.concatenate([[0], self._ends[:-1]])[drawn]
        own = self.own[drawn, index].astype(np.int64)
        near = self.near[drawn]
        other = (rest - near) // self.far[drawn]
        other += other >= own
        return np.asarray(self._members[self._firsts[drawn] + np.where(rest < near, own, other)])

    def groups(self) -> tuple[Wholes, Wholes]:
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

    def _own_tickets(self, own: NDArray[np.unsignedinteger]) -> tuple[Wholes, Wholes]:
        """(outputs, tickets beyond those that every input gives the output), for all pairs that occur."""
        begins = np.ones(own.shape, dtype=bool)
        begins[:, 1:] = own[:, 1:] != own[:, :-1]
        which, first = np.divmod(np.flatnonzero(begins), own.shape[1])  # faster than nonzero
        last_run = np.append(which[1:] != which[:-1], True)
        end = np.where(last_run, own.shape[1], np.append(first[1:], 0))
        member = self._members[self._firsts[which] + own[which, first]]
        gain = (self.near - self.far)[which]
        # The tickets of an output change only where a run starts or ends; every output starts with none.
        output = np.concatenate([np.arange(self.outputs), member, member])
        at = np.concatenate([np.zeros(self.outputs, dtype=np.int64), first, end])
        order = np.lexsort((at, output))
        output, at = output[order], at[order]
        held = np.cumsum(np.concatenate([np.zeros(self.outputs, dtype=np.int64), gain, -gain])[order])
        settled = np.append((output[1:] != output[:-1]) | (at[1:] != at[:-1]), True) & (at < own.shape[1])
        return output[settled], held[settled]

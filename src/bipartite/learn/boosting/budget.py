"""How ε is divided: over ensembles, trees, levels and leaves, in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import EpsilonError
from bipartite.lottery import MAX_TOTAL, Epsilon
from bipartite.lottery.budgets import round_down
from bipartite.lottery.epsilon import SMALLEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHARE_BITS: Final = 128


@dataclass(frozen=True)
class Budget:
    """What each part of a tree may spend.

    Trees of one ensemble see disjoint records, so that each may spend what the ensemble may; ensembles see the same
    records, and share. Half of a tree's ε goes to its leaves, which hold disjoint records; the other half in equal
    parts to its levels, whose nodes hold disjoint records too.
    """

    epsilon: Epsilon
    """What all ensembles together spend."""
    ensembles: int
    depth: int

    @property
    def tree(self) -> Fraction:
        """ε of one tree."""
        return Fraction(self.epsilon.value) / self.ensembles

    @property
    def split(self) -> Fraction:
        """ε of one node's cut."""
        return self.tree / (2 * self.depth)

    @property
    def leaf(self) -> Epsilon:
        """ε of one leaf: half of the tree's, rounded down to twenty digits."""
        return part_of_epsilon(self.tree / 2)


def part_of_epsilon(epsilon: Fraction) -> Epsilon:
    """The largest ε of twenty digits that is not above this part of one, or why there is none."""
    value = round_down(epsilon)
    if value < SMALLEST:
        msg = "Expected epsilon that leaves at least 1e-15 to every leaf; use a larger epsilon, or fewer ensembles."
        raise EpsilonError(msg)
    return Epsilon.of(value)


def tree_tickets(trees: int, eta: Fraction) -> NDArray[np.int64]:
    """Tickets of the trees of an ensemble, in the ratio 1 : (1 − η) : (1 − η)² : …, at least one each.

    The chances are public, whatever they are: nothing private depends on how they were rounded.
    """
    shares = [1 << _SHARE_BITS]
    for _ in range(trees - 1):
        shares.append(shares[-1] * (eta.denominator - eta.numerator) // eta.denominator)
    # A little is kept back for the tickets that are lifted to one.
    most, whole = MAX_TOTAL - trees, sum(shares)
    return np.array([max(1, share * most // whole) for share in shares], dtype=np.int64)

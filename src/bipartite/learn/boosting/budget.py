"""How ε is divided over the mean, ensembles, trees, levels and leaves, in exact numbers."""

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
MEAN_SHARE: Final = Fraction(1, 20)
"""The share of ε that ``leaf="sums"`` spends on the mean; the figures of ``docs/private-boosting.md`` chose it."""


@dataclass(frozen=True)
class Budget:
    """What each part of a model may spend.

    Ensembles see the same records and share what the mean leaves of ε. Trees of one ensemble see disjoint records, so
    each may spend what its ensemble may. Half of a tree's ε goes to its leaves, which hold disjoint records; the other
    half goes in equal parts to its levels, whose nodes hold disjoint records too.
    """

    epsilon: Epsilon
    """What the whole model spends."""
    ensembles: int
    depth: int
    mean_share: Fraction = Fraction(0)
    """The share of ε spent on the mean of all labels before the first tree."""

    @property
    def mean(self) -> Fraction:
        """ε of the mean."""
        return self.mean_share * Fraction(self.epsilon.value)

    @property
    def tree(self) -> Fraction:
        """ε of one tree."""
        return (Fraction(self.epsilon.value) - self.mean) / self.ensembles

    @property
    def split(self) -> Fraction:
        """ε of one node's cut."""
        return self.tree / (2 * self.depth)

    @property
    def leaf(self) -> Epsilon:
        """ε of one leaf: half of the tree's, rounded down to twenty digits."""
        return part_of_epsilon(self.tree / 2)


def part_of_epsilon(epsilon: Fraction) -> Epsilon:
    """The largest ε of twenty digits that is not above this part; refuses one that is too small."""
    value = round_down(epsilon)
    if value < SMALLEST:
        raise EpsilonError(
            "Expected epsilon that leaves at least 1e-15 to every leaf; use a larger epsilon, or fewer ensembles."
        )
    return Epsilon.of(value)


def tree_tickets(trees: int, eta: Fraction) -> NDArray[np.int64]:
    """Tickets of the trees of an ensemble, in the ratio 1 : (1 − η) : (1 − η)² : …, at least one each.

    The probabilities are public: nothing private depends on how they were rounded.
    """
    shares = [1 << _SHARE_BITS]
    for _ in range(trees - 1):
        shares.append(shares[-1] * (eta.denominator - eta.numerator) // eta.denominator)
    # A little is kept back for the tickets that are lifted to one.
    most, whole = MAX_TOTAL - trees, sum(shares)
    return np.array([max(1, share * most // whole) for share in shares], dtype=np.int64)

"""How ε is divided over the mean and the trees, and their levels and leaves, in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from bipartite.errors import EpsilonError
from bipartite.lottery import Epsilon
from bipartite.lottery.budgets import round_down
from bipartite.lottery.epsilon import SMALLEST

if TYPE_CHECKING:
    from bipartite.learn.boosting.trees import Growth

MEAN_SHARE: Final = Fraction(1, 20)
"""The share of ε that is spent on the mean; the figures of ``docs/private-boosting.md`` chose it."""


@dataclass(frozen=True)
class Stage:
    """One tree and what it spends: the nodes of a level hold disjoint records, and so do the leaves."""

    growth: Growth
    split: Fraction
    """ε of one node's cut."""
    leaf: Fraction
    """ε of one leaf."""


def stages_of(growth: Growth, trees: int, epsilon: Fraction) -> list[Stage]:
    """The mean, as a tree of one leaf, and ``trees`` alike: half of a tree's ε for its levels, half for its leaves."""
    total = Fraction(part_of_epsilon(epsilon).value)
    mean = MEAN_SHARE * total
    each = (total - mean) / trees
    leaf = Fraction(part_of_epsilon(each / 2).value)
    first = replace(growth, depth=0, eta=Fraction(1), clip=Fraction(1))
    return [Stage(first, Fraction(0), mean), *[Stage(growth, each / (2 * growth.depth), leaf)] * trees]


def part_of_epsilon(epsilon: Fraction) -> Epsilon:
    """The largest ε of twenty digits that is not above this part; refuses one that is too small."""
    value = round_down(epsilon)
    if value < SMALLEST:
        raise EpsilonError(
            "Expected epsilon that leaves at least 1e-15 to every leaf; use a larger epsilon, or fewer trees."
        )
    return Epsilon.of(value)

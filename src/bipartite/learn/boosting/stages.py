"""How ε is divided over the mean and the trees, and their levels and leaves, in exact numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from bipartite.errors import EpsilonError
from bipartite.lottery import Epsilon
from bipartite.lottery.budgets import round_down
from bipartite.lottery.epsilon import SMALLEST

if TYPE_CHECKING:
    from bipartite.learn.boosting.trees import Growth

_MEAN_SHARE: Final = Fraction(1, 50)
"""The share of ε that is spent on the mean; ``docs/private-boosting.md`` says on which tables these were chosen."""
_CUT_SHARE: Final = Fraction(3, 5)
"""The share of a level's ε that its cuts spend; what is released of their sides spends the rest."""


@dataclass(frozen=True)
class Stage:
    """One tree and what it spends: the nodes of a level hold disjoint records, and so do the sides of their cuts."""

    growth: Growth
    split: Fraction
    """ε of one node's cut."""
    leaf: Fraction
    """ε of one side of a cut."""


def stages_of(growth: Growth, trees: int | None, epsilon: Fraction) -> list[Stage]:
    """The mean, as a tree of one leaf, and ``trees`` alike; None: as many as suit ε, 3 + ⌈5ε/2⌉ and at most 100."""
    total = Fraction(part_of_epsilon(epsilon).value)
    if trees is None:
        trees = min(3 + math.ceil(total * 5 / 2), 100)
    mean = _MEAN_SHARE * total
    level = (total - mean) / (trees * growth.depth)
    leaf = Fraction(part_of_epsilon((1 - _CUT_SHARE) * level).value)
    first = replace(growth, depth=0, eta=Fraction(1), clip=Fraction(1))
    return [Stage(first, Fraction(0), mean), *[Stage(growth, _CUT_SHARE * level, leaf)] * trees]


def part_of_epsilon(epsilon: Fraction) -> Epsilon:
    """The largest ε of twenty digits that is not above this part; refuses one that is too small."""
    value = round_down(epsilon)
    if value < SMALLEST:
        raise EpsilonError(
            "Expected epsilon that leaves at least 1e-15 to every leaf; use a larger epsilon, or fewer trees."
        )
    return Epsilon.of(value)

"""Trees in order: each record serves one tree of each ensemble, drawn for it alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bipartite.learn.boosting.budget import tree_tickets
from bipartite.learn.boosting.leaves import UNIT, LeafRule, LeafScale, leaf_scale
from bipartite.learn.boosting.trees import Choices, Growth, Tree, grow
from bipartite.lottery.uniform import draw_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.learn.boosting.grids import Grid
    from bipartite.learn.boosting.splits import BestSplit, SplitRule
    from bipartite.lottery import Stream

    Whole = NDArray[np.int64]

Large = Literal["clip", "skip"]


@dataclass(frozen=True)
class Recipe:
    """Everything public that trees are grown from."""

    grid: Grid
    trees: int
    ensemble_trees: int
    depth: int
    eta: Fraction
    lam: Fraction
    leaf_range: Fraction | None
    large_gradients: Large
    splits: SplitRule | BestSplit
    leaves: LeafRule

    def sizes(self) -> Iterator[int]:
        """How many trees each ensemble has."""
        for start in range(0, self.trees, self.ensemble_trees):
            yield min(self.ensemble_trees, self.trees - start)

    def growth(self, tree: int) -> Growth:
        """The parameters of tree 0, 1, … of an ensemble."""
        scale = leaf_scale(tree, self.eta, self.lam, self.leaf_range)
        return Growth(self.grid, self.depth, self.lam, self.eta, scale)


@dataclass(frozen=True)
class Drawn:
    """Choices by lottery."""

    recipe: Recipe
    stream: Stream

    def split(self, utilities: Whole) -> int:
        """A cut."""
        return self.recipe.splits.draw(utilities, self.stream)

    def leaf(self, value: int, scale: LeafScale) -> int:
        """A released value."""
        return self.recipe.leaves.draw(value, scale, self.stream)


def boost(
    recipe: Recipe,
    bins: NDArray[np.uint8],
    labels: Whole,
    stream: Stream,
    progress: Callable[[int], None] | None = None,
) -> list[Tree]:
    """Trees for these records, whose labels are whole numbers of units in [−1, 1]."""
    grown: list[Tree] = []
    scores = np.zeros(len(labels), dtype=np.int64)
    for size in recipe.sizes():
        serves = draw_trees(len(labels), tree_tickets(size, recipe.eta), stream)
        for number in range(size):
            choices = Drawn(recipe, stream)
            tree = next_tree(recipe, number, bins, labels, scores, np.flatnonzero(serves == number), choices)
            tree.add_to(scores, bins)
            grown.append(tree)
            if progress is not None:
                progress(1)
    return grown


def next_tree(
    recipe: Recipe,
    number: int,
    bins: NDArray[np.uint8],
    labels: Whole,
    scores: Whole,
    rows: Whole,
    choices: Choices,
) -> Tree:
    """The next tree, from the records that serve it and the scores of the trees before it."""
    rows, gradients = gradients_of(rows, labels, scores, recipe.large_gradients)
    return grow(recipe.growth(number), bins, rows, gradients, choices)


def gradients_of(rows: Whole, labels: Whole, scores: Whole, large: Large) -> tuple[Whole, Whole]:
    """The gradients of the square loss, score − label, of at most one: larger ones are clipped, or their rows skipped.

    Whether a record is clipped or skipped depends on that record and on published trees alone, so that it changes
    nothing for any other record.
    """
    gradients = scores[rows] - labels[rows]
    if large == "skip":
        kept = np.abs(gradients) <= UNIT
        return rows[kept], gradients[kept]
    return rows, np.clip(gradients, -UNIT, UNIT)


def draw_trees(records: int, tickets: Whole, stream: Stream) -> Whole:
    """The tree of every record, drawn for each on its own; how many records there are plays no part."""
    running = np.cumsum(tickets)
    drawn = draw_below(int(running[-1]), records, stream)
    return np.searchsorted(running, drawn.view(np.int64), side="right")


def scores_of(trees: Sequence[Tree], bins: NDArray[np.uint8]) -> Whole:
    """The sum of all trees for each record, in units."""
    scores = np.zeros(len(bins), dtype=np.int64)
    for tree in trees:
        tree.add_to(scores, bins)
    return scores

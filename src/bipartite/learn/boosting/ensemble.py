"""Trees in order: each record serves one tree of each ensemble, drawn for that record alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from bipartite.learn.boosting.budget import tree_tickets
from bipartite.learn.boosting.leaves import UNIT, LeafRule, LeafScale, NoisySums, leaf_scale, leaf_value
from bipartite.learn.boosting.trees import Choices, Growth, Tree, grow
from bipartite.lottery.uniform import draw_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    mean: NoisySums | None = None
    """How the mean of all labels is released before the first tree; None starts in the middle of the range."""
    gradient_clip: Fraction = Fraction(1)
    """The largest gradient that is used in full, where a label lies in [−1, 1]."""

    def sizes(self) -> Iterator[int]:
        """The number of trees of each ensemble."""
        for start in range(0, self.trees, self.ensemble_trees):
            yield min(self.ensemble_trees, self.trees - start)

    def growth(self, tree: int) -> Growth:
        """The parameters of tree 0, 1, … of an ensemble."""
        scale = leaf_scale(tree, self.eta, self.lam, self.leaf_range)
        return Growth(self.grid, self.depth, self.lam, self.eta * self.gradient_clip, scale)


@dataclass(frozen=True)
class Drawn:
    """Choices by lottery."""

    recipe: Recipe
    stream: Stream

    def mean(self, count: int, total: int) -> int:
        """The released mean."""
        if self.recipe.mean is None:
            raise AssertionError("this recipe starts in the middle of the range")
        return self.recipe.mean.draw(count, total, self.stream)

    def split(self, utilities: Whole) -> int:
        """A cut."""
        return self.recipe.splits.draw(utilities, self.stream)

    def leaf(self, count: int, total: int, scale: LeafScale) -> int:
        """A released value."""
        rule = self.recipe.leaves
        if isinstance(rule, NoisySums):
            return rule.draw(count, total, self.stream)
        return rule.draw(leaf_value(count, total, self.recipe.lam, scale.clip), scale, self.stream)


def boost(
    recipe: Recipe,
    bins: NDArray[np.uint8],
    labels: Whole,
    stream: Stream,
    progress: Callable[[int], None] | None = None,
) -> list[Tree]:
    """The mean, if it is released, and the trees of these records, whose labels are whole units in [−1, 1]."""
    grown: list[Tree] = []
    scores = np.zeros(len(labels), dtype=np.int64)
    choices = Drawn(recipe, stream)
    if recipe.mean is not None:
        grown.append(mean_of(labels, choices))
        grown[0].add_to(scores, bins)
    for size in recipe.sizes():
        serves = draw_trees(len(labels), tree_tickets(size, recipe.eta), stream)
        for number in range(size):
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
    rows, gradients = gradients_of(rows, labels, scores, recipe.gradient_clip, recipe.large_gradients)
    return grow(recipe.growth(number), bins, rows, gradients, choices)


def mean_of(labels: Whole, choices: Choices) -> Tree:
    """The mean of all labels, as a tree without cuts: one leaf, whose gradients at score 0 are the negative labels."""
    nothing = np.zeros(0, dtype=np.int64)
    return Tree(nothing, nothing, np.array([choices.mean(len(labels), -int(labels.sum()))], dtype=np.int64))


def gradients_of(rows: Whole, labels: Whole, scores: Whole, clip: Fraction, large: Large) -> tuple[Whole, Whole]:
    """The gradients of the squared loss, score − label, divided by ``clip`` and rounded down to whole units.

    Those beyond ``clip`` are clipped, or their rows skipped, so that none exceeds 2^20 units. Every gradient depends on
    its own record and on published trees alone.
    """
    most = UNIT * clip.numerator // clip.denominator
    gradients = scores[rows] - labels[rows]
    if large == "skip":
        kept = np.abs(gradients) <= most
        rows, gradients = rows[kept], gradients[kept]
    return rows, np.clip(gradients, -most, most) * clip.denominator // clip.numerator


def draw_trees(records: int, tickets: Whole, stream: Stream) -> Whole:
    """The tree of every record, drawn for each on its own, whatever the number of records."""
    running = np.cumsum(tickets)
    drawn = draw_below(int(running[-1]), records, stream)
    return np.searchsorted(running, drawn.view(np.int64), side="right")


def scores_of(trees: Sequence[Tree], bins: NDArray[np.uint8]) -> Whole:
    """The sum of all trees for each record, in units."""
    scores = np.zeros(len(bins), dtype=np.int64)
    for tree in trees:
        tree.add_to(scores, bins)
    return scores

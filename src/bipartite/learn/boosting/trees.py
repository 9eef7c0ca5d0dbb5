"""One complete tree, level by level: every node cuts and every leaf speaks, whether records reach it or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bipartite.learn.boosting.compiled import add_tree, gains, histograms, step_down
from bipartite.learn.boosting.leaves import LeafScale, leaf_value

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.learn.boosting.grids import Grid

    Whole = NDArray[np.int64]


class Choices(Protocol):
    """What decides the cuts and leaves: a lottery, or in tests every possible decision in turn."""

    def split(self, utilities: Whole) -> int:
        """The number of the cut that a node with these gains makes."""

    def leaf(self, value: int, scale: LeafScale) -> int:
        """What is released of a leaf with this value."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A complete binary tree; nodes are numbered level by level, leaves from left to right."""

    features: Whole
    """The feature that each of the 2^depth − 1 nodes looks at."""
    cuts: Whole
    """A record goes left when its bin is at most this."""
    leaves: Whole
    """What each of the 2^depth leaves adds to the score, in units of 2^−20."""

    @property
    def depth(self) -> int:
        """How many cuts lead to a leaf."""
        return len(self.leaves).bit_length() - 1

    def add_to(self, scores: Whole, bins: NDArray[np.uint8]) -> None:
        """Add to each record's score the value of its leaf."""
        add_tree(bins, self.features, self.cuts, self.leaves, self.depth, scores)


@dataclass(frozen=True)
class Growth:
    """The public parameters of one tree."""

    grid: Grid
    depth: int
    lam: Fraction
    eta: Fraction
    scale: LeafScale


def grow(growth: Growth, bins: NDArray[np.uint8], rows: Whole, gradients: Whole, choices: Choices) -> Tree:
    """The tree of these rows, whose gradients are whole numbers of units of at most one.

    Nothing here depends on how many rows there are, but for the gains and leaf values that ``choices`` are made from.
    """
    grid = growth.grid
    by_candidate = grid.candidates
    nodes = np.zeros(len(rows), dtype=np.int64)
    chosen: list[int] = []
    widest = int(grid.bins.max())
    for level in range(growth.depth):
        shape = (2**level, grid.features, widest)
        counts, sums = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        histograms(bins, rows, nodes, gradients, counts, sums)
        utilities = np.empty((2**level, len(by_candidate[0])), dtype=np.int64)
        gains(counts, sums, grid.bins, growth.lam.numerator, growth.lam.denominator, utilities)
        picked = np.array([choices.split(row) for row in utilities], dtype=np.int64)
        chosen += picked.tolist()
        step_down(bins, rows, by_candidate[0][picked], by_candidate[1][picked], nodes)
    return Tree(by_candidate[0][chosen], by_candidate[1][chosen], _leaves(growth, nodes, gradients, choices))


def _leaves(growth: Growth, nodes: Whole, gradients: Whole, choices: Choices) -> Whole:
    size = 2**growth.depth
    counts, sums = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    np.add.at(counts, nodes, 1)
    np.add.at(sums, nodes, gradients)
    released = [
        choices.leaf(leaf_value(count, total, growth.lam, growth.scale.clip), growth.scale)
        for count, total in zip(counts.tolist(), sums.tolist(), strict=True)
    ]
    # The step η is public, and what is released may be rounded as one likes.
    return np.array([each * growth.eta.numerator // growth.eta.denominator for each in released], dtype=np.int64)

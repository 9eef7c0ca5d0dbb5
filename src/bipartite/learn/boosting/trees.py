"""One complete tree, level by level: every node cuts and every leaf is released, whether records reach it or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bipartite.learn.boosting.compiled import add_tree, gains, histograms, step_down
from bipartite.learn.boosting.leaves import UNIT

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.learn.boosting.grids import Grid

    Whole = NDArray[np.int64]


class Choices(Protocol):
    """What decides the cuts and leaves: a lottery, or in tests every possible decision in turn."""

    def split(self, utilities: Whole) -> int:
        """The number of the cut that a node with these gains makes."""

    def leaf(self, count: int, total: int) -> int:
        """What is released of a leaf with this many records, whose gradients have this sum."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A complete binary tree; nodes are numbered level by level, leaves from left to right."""

    features: Whole
    """The feature that each of the 2^depth − 1 nodes reads."""
    cuts: Whole
    """A record goes left when its bin is at most this."""
    leaves: Whole
    """What each of the 2^depth leaves adds to the score, in units of 2^−20."""

    @property
    def depth(self) -> int:
        """The number of cuts on the way to a leaf; 0 for the mean, which is one leaf for all records."""
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
    """λ: what counts of records are raised by in gains."""
    eta: Fraction
    """The learning rate."""
    clip: Fraction
    """The largest gradient that is used in full, where a label lies in [−1, 1]."""


def grow(growth: Growth, bins: NDArray[np.uint8], rows: Whole, gradients: Whole, choices: Choices) -> Tree:
    """The tree of these rows; ``gradients`` are those of all records, score − label in whole units.

    Nothing here depends on the number of rows, except the gains and sums that ``choices`` are made from.
    """
    grid = growth.grid
    by_candidate = grid.candidates
    gradients = clipped(gradients[rows], growth.clip)
    nodes = np.zeros(len(rows), dtype=np.int64)
    chosen = np.zeros(0, dtype=np.int64)
    widest = int(grid.bins.max())
    for level in range(growth.depth):
        shape = (2**level, grid.features, widest)
        counts, sums = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        histograms(bins, rows, nodes, gradients, counts, sums)
        utilities = np.empty((2**level, len(by_candidate[0])), dtype=np.int64)
        gains(counts, sums, grid.bins, growth.lam.numerator, growth.lam.denominator, utilities)
        picked = np.array([choices.split(row) for row in utilities], dtype=np.int64)
        chosen = np.concatenate([chosen, picked])
        step_down(bins, rows, by_candidate[0][picked], by_candidate[1][picked], nodes)
    return Tree(by_candidate[0][chosen], by_candidate[1][chosen], _leaves(growth, nodes, gradients, choices))


def clipped(gradients: Whole, clip: Fraction) -> Whole:
    """Gradients clipped to ±``clip``, divided by it and rounded down: none exceeds 2^20 units."""
    most = UNIT * clip.numerator // clip.denominator
    return np.clip(gradients, -most, most) * clip.denominator // clip.numerator


def _leaves(growth: Growth, nodes: Whole, gradients: Whole, choices: Choices) -> Whole:
    size = 2**growth.depth
    counts, sums = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    np.add.at(counts, nodes, 1)
    np.add.at(sums, nodes, gradients)
    released = [choices.leaf(count, total) for count, total in zip(counts.tolist(), sums.tolist(), strict=True)]
    # The step is public, and what is released may be rounded freely.
    step = growth.eta * growth.clip
    return np.array([each * step.numerator // step.denominator for each in released], dtype=np.int64)

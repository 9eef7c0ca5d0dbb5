"""One complete tree, level by level: every node cuts, and both sides are released, whether records reach it or not."""

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
        """What is released of a side of a cut with this many records, whose gradients have this sum."""


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
    eta: Fraction
    """The learning rate."""
    clip: Fraction
    """The largest gradient that is used in full, where a label lies in [−1, 1]."""

    def step(self, released: int) -> int:
        """What a released value adds to the score: it is public, and may be rounded freely."""
        step = self.eta * self.clip
        return released * step.numerator // step.denominator


def grow(growth: Growth, bins: NDArray[np.uint8], gradients: Whole, choices: Choices) -> Tree:
    """The tree of these records, whose gradients are score − label in whole units.

    Every level cuts, releases what its nodes add to the score, and leaves the new gradients to the next. Nothing here
    depends on the number of records, except the gains, counts and sums that ``choices`` are made from.
    """
    features, cuts = growth.grid.candidates
    nodes, values, chosen = (np.zeros(size, dtype=np.int64) for size in (len(bins), 1, 0))
    if not growth.depth:
        values = _released(growth, values, nodes, clipped(gradients, growth.clip), choices)
    for level in range(growth.depth):
        left_over = clipped(gradients + values[nodes], growth.clip)
        sums = np.zeros((2**level, growth.grid.features, int(growth.grid.bins.max())), dtype=np.int64)
        histograms(bins, nodes, left_over, sums)
        utilities = np.empty((2**level, len(cuts)), dtype=np.int64)
        gains(sums, growth.grid.bins, utilities)
        picked = np.array([choices.split(row) for row in utilities], dtype=np.int64)
        chosen = np.concatenate([chosen, picked])
        step_down(bins, features[picked], cuts[picked], nodes)
        values = _released(growth, np.repeat(values, 2), nodes, left_over, choices)
    return Tree(features[chosen], cuts[chosen], values)


def clipped(gradients: Whole, clip: Fraction) -> Whole:
    """Gradients clipped to ±``clip``, divided by it and rounded down: none exceeds 2^20 units."""
    most = UNIT * clip.numerator // clip.denominator
    return np.clip(gradients, -most, most) * clip.denominator // clip.numerator


def _released(growth: Growth, before: Whole, nodes: Whole, gradients: Whole, choices: Choices) -> Whole:
    """What nodes add to the score: what they added ``before`` and, of these gradients, what is released."""
    counts, sums = np.zeros_like(before), np.zeros_like(before)
    np.add.at(counts, nodes, 1)
    np.add.at(sums, nodes, gradients)
    released = [choices.leaf(count, total) for count, total in zip(counts.tolist(), sums.tolist(), strict=True)]
    return before + np.array([growth.step(each) for each in released], dtype=np.int64)

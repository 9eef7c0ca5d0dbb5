"""Boosting: the mean of all labels, then trees that each learn from all records what those before left over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bipartite.learn.boosting.leaves import NoisySums
from bipartite.learn.boosting.splits import SplitRule
from bipartite.learn.boosting.trees import Tree, grow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.learn.boosting.stages import Stage
    from bipartite.lottery import Stream

    Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Drawn:
    """Choices by lottery, each with the ε that its stage gives it."""

    stage: Stage
    stream: Stream

    def split(self, utilities: Whole) -> int:
        """A cut."""
        return SplitRule(self.stage.split).draw(utilities, self.stream)

    def leaf(self, count: int, total: int) -> int:
        """A released value."""
        return NoisySums(self.stage.leaf).draw(count, total, self.stream)


def boost(
    stages: Sequence[Stage],
    bins: NDArray[np.uint8],
    labels: Whole,
    stream: Stream,
    progress: Callable[[int], None] | None = None,
) -> list[Tree]:
    """The trees of these stages and records, whose labels are whole units in [−1, 1]."""
    grown: list[Tree] = []
    scores = np.zeros(len(labels), dtype=np.int64)
    for stage in stages:
        tree = grow(stage.growth, bins, scores - labels, Drawn(stage, stream))
        tree.add_to(scores, bins)
        grown.append(tree)
        if progress is not None and tree.depth:
            progress(1)
    return grown


def scores_of(trees: Sequence[Tree], bins: NDArray[np.uint8]) -> Whole:
    """The sum of all trees for each record, in units."""
    scores = np.zeros(len(bins), dtype=np.int64)
    for tree in trees:
        tree.add_to(scores, bins)
    return scores

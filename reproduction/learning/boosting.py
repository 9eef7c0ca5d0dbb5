"""DPBoost made sound, as the BRR paper's figure 9 is measured here: its leaves, and records that serve one tree each.

Grids, trees and the lottery of a cut are the library's. What is the paper's own: gains with λ; leaves that release one
noised ratio, whose range shrinks from tree to tree; ensembles whose trees share the records; large gradients that leave
their tree.

Li, Wu, Wen, He: *Privacy-Preserving Gradient Boosting Decision Trees* (AAAI 2020), with the changes that make it sound:
``bench/results/paper_boosting.md``. Leaves by BRR as in the BRR paper, appendix B.1.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from bipartite.errors import InputError, Problems, is_one_of, shown
from bipartite.learn import Guarantee, PrivateBoostingRegressor
from bipartite.learn.boosting.compiled import histograms, step_down
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.settings import decimal, short_decimal, whole
from bipartite.learn.boosting.splits import SplitRule
from bipartite.learn.boosting.stages import part_of_epsilon
from bipartite.learn.boosting.trees import Choices, Growth, Tree, clipped
from bipartite.lottery import MAX_TOTAL
from bipartite.lottery.uniform import draw_below
from reproduction.learning.compiled_gains import GAIN_BITS, WIDTH, gains
from reproduction.learning.leaves import LEAVES, Leaf, LeafRule, LeafScale, leaf_rule, leaf_scale, leaf_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.learn.boosting.estimator import Grown
    from bipartite.learn.boosting.settings import Settings
    from bipartite.lottery import Stream

    Whole = NDArray[np.int64]

Large = Literal["clip", "skip"]
MOST_POINTS: Final = 10_001
_SHARE_BITS: Final = 128
_TREES: Final = 50
"""Of the paper's scripts."""


@dataclass(frozen=True)
class Recipe:
    """Everything public that trees are grown from."""

    growth: Growth
    lam: Fraction
    """λ: what counts of records are raised by in gains and leaves."""
    sizes: tuple[int, ...]
    """The number of trees of each ensemble."""
    leaf_range: Fraction | None
    large_gradients: Large
    splits: SplitRule | None
    leaves: LeafRule | None
    """How cuts and leaves are drawn; None has no privacy."""

    def scale(self, tree: int) -> LeafScale:
        """The numbers of the leaves of tree 0, 1, … of an ensemble."""
        return leaf_scale(tree, self.growth.eta, self.lam, self.leaf_range)


@dataclass(frozen=True)
class Drawn:
    """Choices by lottery; without privacy the first of the cuts with the largest gain, and the value itself."""

    recipe: Recipe
    scale: LeafScale
    stream: Stream

    def split(self, utilities: Whole) -> int:
        """A cut."""
        rule = self.recipe.splits
        return int(np.argmax(utilities)) if rule is None else rule.draw(utilities, self.stream)

    def leaf(self, count: int, total: int) -> int:
        """A released value."""
        value, rule = leaf_value(count, total, self.recipe.lam, self.scale.clip), self.recipe.leaves
        return value if rule is None else rule.draw(value, self.scale, self.stream)


def boost(
    recipe: Recipe,
    bins: NDArray[np.uint8],
    labels: Whole,
    stream: Stream,
    progress: Callable[[int], None] | None = None,
) -> list[Tree]:
    """The trees of these records, whose labels are whole units in [−1, 1]."""
    grown: list[Tree] = []
    scores = np.zeros(len(labels), dtype=np.int64)
    for size in recipe.sizes:
        serves = draw_trees(len(labels), tree_tickets(size, recipe.growth.eta), stream)
        for number in range(size):
            choices = Drawn(recipe, recipe.scale(number), stream)
            tree = next_tree(recipe, bins, np.flatnonzero(serves == number), scores - labels, choices)
            tree.add_to(scores, bins)
            grown.append(tree)
            if progress is not None:
                progress(1)
    return grown


def next_tree(recipe: Recipe, bins: NDArray[np.uint8], rows: Whole, gradients: Whole, choices: Choices) -> Tree:
    """The next tree, from the records that serve it; those with a large gradient are clipped, or leave the tree."""
    growth, lam, clip = recipe.growth, recipe.lam, recipe.growth.clip
    if recipe.large_gradients == "skip":
        rows = rows[np.abs(gradients[rows]) <= UNIT * clip.numerator // clip.denominator]
    bins, gradients = bins[rows], clipped(gradients[rows], clip)
    features, cuts = growth.grid.candidates
    nodes, chosen, ones = np.zeros_like(rows), np.zeros(0, dtype=np.int64), np.ones_like(rows)
    for level in range(growth.depth):
        shape = (2**level, growth.grid.features, int(growth.grid.bins.max()))
        counts, sums = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        histograms(bins, nodes, ones, counts)
        histograms(bins, nodes, gradients, sums)
        utilities = np.empty((2**level, len(cuts)), dtype=np.int64)
        gains(counts, sums, growth.grid.bins, lam.numerator, lam.denominator, utilities)
        picked = np.array([choices.split(row) for row in utilities], dtype=np.int64)
        chosen = np.concatenate([chosen, picked])
        step_down(bins, features[picked], cuts[picked], nodes)
    counts, sums = np.zeros(2**growth.depth, dtype=np.int64), np.zeros(2**growth.depth, dtype=np.int64)
    np.add.at(counts, nodes, 1)
    np.add.at(sums, nodes, gradients)
    released = [choices.leaf(count, total) for count, total in zip(counts.tolist(), sums.tolist(), strict=True)]
    return Tree(features[chosen], cuts[chosen], np.array([growth.step(each) for each in released], dtype=np.int64))


def most_records(lam: Fraction) -> int:
    """The largest number of records for which gains fit in 64 bits."""
    return math.isqrt((2**64 - 1) // (lam.denominator << GAIN_BITS))


def tree_tickets(trees: int, eta: Fraction) -> Whole:
    """Tickets of the trees of an ensemble, in the ratio 1 : (1 − η) : (1 − η)² : …, at least one each.

    The probabilities are public: nothing private depends on how they were rounded.
    """
    shares = [1 << _SHARE_BITS]
    for _ in range(trees - 1):
        shares.append(shares[-1] * (eta.denominator - eta.numerator) // eta.denominator)
    # A little is kept back for the tickets that are lifted to one.
    most, total = MAX_TOTAL - trees, sum(shares)
    return np.array([max(1, share * most // total) for share in shares], dtype=np.int64)


def draw_trees(records: int, tickets: Whole, stream: Stream) -> Whole:
    """The tree of every record, drawn for each on its own, whatever the number of records."""
    running = np.cumsum(tickets)
    drawn = draw_below(int(running[-1]), records, stream)
    return np.searchsorted(running, drawn.view(np.int64), side="right")


@dataclass(kw_only=True, eq=False, repr=False)
class PaperBoostingRegressor(PrivateBoostingRegressor):
    r"""The library's boosting with the leaves of the BRR paper and the trees of its scripts.

    Parameters
    ----------
    regularization
        λ in the gains and leaves.
    leaf
        What is released of a leaf: ``"brr"``, ``"anchored"``, ``"geometric"``, ``"laplace"``, ``"clamped-laplace"``.
        ``"none"`` is a baseline without privacy.
    ensemble_trees
        The number of trees that share the records, each record serving one of them, drawn with public probabilities
        ∝ (1 − η)\ :sup:`i`. Ensembles share ε. 1: every tree sees every record. None: one ensemble, as in DPBoost.
    large_gradients
        ``"clip"``, or ``"skip"``, DPBoost's rule: a record whose gradient is beyond ``gradient_clip`` leaves its tree.
    leaf_range, leaf_points
        c, in halves of the target's range (None for c = ΔV/2, which is 1/(2 + 2λ)), and the number of points of
        [−c, c].

    Guarantee
    ---------
    As that of the library's regressor; the proof is in ``bench/results/paper_boosting.md``. The refusal of more than 42
    million records (λ = 0.1) is not covered. Predictions may lie beyond the target's range.
    """

    trees: int | None = _TREES
    depth: int = 5
    learning_rate: float = 0.1
    gradient_clip: float = 1.0
    regularization: float = 0.1
    leaf: Leaf = "brr"
    ensemble_trees: int | None = None
    large_gradients: Large = "skip"
    leaf_range: float | None = None
    leaf_points: int = 21

    def predict(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """The predicted target of every record, which may lie beyond the target's range."""
        (scores,) = self._scores(X)
        return self._targets(scores)

    def _learn(self, values: NDArray[np.float64], targets: NDArray[Any], settings: Settings) -> Guarantee:
        if len(values) > (most := most_records(self._lam(Problems()))):
            raise InputError(f"Expected at most {most} records; use a regularization of fewer decimals.")
        promised = super()._learn(values, targets, settings)
        if self.leaf == "none":
            return Guarantee("none", math.inf, math.inf, not_covered=("everything: leaf='none' adds no noise",))
        return promised

    def _lam(self, problems: Problems) -> Fraction:
        return short_decimal("regularization", self.regularization, Fraction(1_000), problems)

    def _grown(self, growth: Growth, settings: Settings, epsilon: Fraction) -> Grown:
        recipe = self.recipe(growth, settings.trees or _TREES, epsilon)
        return functools.partial(boost, recipe, progress=self.progress)

    def recipe(self, growth: Growth, trees: int, epsilon: Fraction) -> Recipe:
        """What is grown with ε; raises with every problem found."""
        problems = Problems()
        for name, words in (("leaf", LEAVES), ("large_gradients", get_args(Large))):
            if not is_one_of(given := getattr(self, name), words):
                problems.add(f"Expected {name} as one of {', '.join(map(repr, words))}, got {shown(given)}.")
        size, reach = self.ensemble_trees, self.leaf_range
        size = trees if size is None else whole("ensemble_trees", size, 1, trees, problems)
        limits = Fraction(1, 10_000), Fraction(1_000)
        leaf_range = None if reach is None else decimal("leaf_range", reach, *limits, problems)
        leaf_points = whole("leaf_points", self.leaf_points, 2, MOST_POINTS, problems)
        lam = self._lam(problems)
        problems.raise_if_any(InputError)
        sizes = tuple(min(size, trees - start) for start in range(0, trees, size))
        # Ensembles share ε; half of a tree's goes to its leaves, half to its levels.
        each = Fraction(part_of_epsilon(epsilon).value) / len(sizes)
        splits = None if self.leaf == "none" else SplitRule(each / (2 * growth.depth), WIDTH)
        leaves = leaf_rule(self.leaf, part_of_epsilon(each / 2), leaf_points)
        return Recipe(growth, lam, sizes, leaf_range, self.large_gradients, splits, leaves)

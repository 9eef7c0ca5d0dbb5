"""The privacy of whole trees and whole models, by enumeration of every output on neighbouring data sets.

Nothing is sampled: `next_tree` is run once for every possible sequence of cuts and leaves, through the same code that
fits models, with choices that are dictated instead of drawn. The probability of a sequence is the product of the laws
that the lotteries draw from, as exact fractions for leaves and as fractions on both sides of the truth for cuts.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from bipartite.learn.boosting.grids import Grid
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.trees import Growth
from bipartite.lottery import Epsilon
from bipartite.lottery.epsilon import exp_between
from reproduction.learning.boosting import PaperBoostingRegressor, next_tree, tree_tickets
from reproduction.learning.leaves import leaf_value

EPSILON = Epsilon.of(2)


class Dictated:
    """Choices from a list; beyond its end the first, noting how many there were. Keeps the probability of the path."""

    def __init__(self, recipe, script):
        self.recipe, self.script = recipe, script
        self.scale = None
        self.options = []
        self.low = self.high = Fraction(1)

    def _choose(self, law):
        at = len(self.options)
        self.options.append(len(law))
        chosen = self.script[at] if at < len(self.script) else 0
        low, high = law[chosen]
        self.low, self.high = self.low * low, self.high * high
        return chosen

    def split(self, utilities):
        return self._choose(self.recipe.splits.law(utilities, 30))

    def leaf(self, count, total):
        value = leaf_value(count, total, self.recipe.lam, self.scale.clip)
        law = sorted(self.recipe.leaves.law(value, self.scale).items())
        return law[self._choose([(chance, chance) for _, chance in law])][0]


def outcomes(run):
    """Every path that ``run`` can take: (its result, low, high)."""
    script = []
    while True:
        result, dictated = run(script)
        yield result, dictated.low, dictated.high
        taken = (script + [0] * len(dictated.options))[: len(dictated.options)]
        while taken and taken[-1] + 1 == dictated.options[len(taken) - 1]:
            taken.pop()
        if not taken:
            return
        script = [*taken[:-1], taken[-1] + 1]


def law_of_model(recipe, records):
    """Fractions around the probability of every model, over all ways to draw trees for the records."""
    bins = np.array([features for features, _ in records], dtype=np.uint8).reshape(
        len(records), recipe.growth.grid.features
    )
    labels = np.array([int(label * UNIT) for _, label in records], dtype=np.int64)
    tickets = tree_tickets(recipe.trees, recipe.growth.eta).tolist()
    law = {}
    for serves in itertools.product(range(recipe.trees), repeat=len(records)):
        weight = Fraction(1)
        for tree in serves:
            weight *= Fraction(tickets[tree], sum(tickets))

        def run(script, serves=serves):
            dictated = Dictated(recipe, script)
            scores, released = np.zeros(len(records), dtype=np.int64), []

            def publish(tree):
                tree.add_to(scores, bins)
                released.append((*tree.features.tolist(), *tree.cuts.tolist(), *tree.leaves.tolist()))

            for number in range(recipe.trees):
                rows = np.array([at for at, tree in enumerate(serves) if tree == number], dtype=np.int64)
                dictated.scale = recipe.scale(number)
                publish(next_tree(recipe, bins, rows, scores - labels, dictated))
            return tuple(released), dictated

        for result, low, high in outcomes(run):
            before = law.get(result, (Fraction(0), Fraction(0)))
            law[result] = (before[0] + weight * low, before[1] + weight * high)
    return law


def recipe_for(bins, *, trees=1, depth=1, leaf="brr", points=3, factor=1, large="skip", leaf_range=None):
    """A recipe that spends ``factor`` times what it may."""
    grid = Grid(np.zeros(len(bins)), np.ones(len(bins)), np.array(bins, dtype=np.int64))
    growth = Growth(grid, depth, Fraction(1, 10), Fraction(1))
    model = PaperBoostingRegressor(leaf=leaf, large_gradients=large, leaf_range=leaf_range, leaf_points=points)
    return model.recipe(growth, trees, Fraction(EPSILON.value) * factor)


def largest_ratio(one, other):
    """Upper and lower bound on the largest ratio of probabilities, either way round."""
    assert set(one) == set(other)
    for law in (one, other):
        assert sum(low for low, _ in law.values()) <= 1 <= sum(high for _, high in law.values())
        assert sum(high - low for low, high in law.values()) < Fraction(1, 10**20)
    pairs = [(one[each], other[each]) for each in one] + [(other[each], one[each]) for each in one]
    return max(a[1] / b[0] for a, b in pairs), max(a[0] / b[1] for a, b in pairs)


E = exp_between(EPSILON.value, 40)
# Records are (bins of the features, label). Opposite labels on one side make gains fall the most.
NEIGHBOURS = {
    "an empty data set": ([], ([0], 1)),
    "a lone record": ([([1], Fraction(1))], ([1], -1)),
    "against all others": ([([0], 1), ([1], 1), ([1], 1), ([2], -1)], ([0], -1)),
    "with all others": ([([0], -1), ([1], Fraction(-1, 3)), ([2], 1)], ([2], 1)),
}


@pytest.mark.parametrize("leaf", ["brr", "anchored", "geometric"])
@pytest.mark.parametrize("case", NEIGHBOURS)
def test_every_output_of_a_tree_keeps_epsilon_when_a_record_is_added(case, leaf):
    records, more = NEIGHBOURS[case]
    recipe = recipe_for([3], leaf=leaf)
    upper, lower = largest_ratio(law_of_model(recipe, records), law_of_model(recipe, [*records, more]))
    assert upper <= E[0]
    # Where the best release of three points says nothing, nothing is lost; elsewhere the record leaves a trace.
    assert lower > 1 or leaf == "anchored"


def test_a_tree_of_two_levels_and_two_features_keeps_epsilon():
    records = [([0, 1], 1), ([1, 0], Fraction(1, 2)), ([1, 1], -1), ([0, 0], 1)]
    recipe = recipe_for([2, 2], depth=2, points=2)
    upper, lower = largest_ratio(law_of_model(recipe, records), law_of_model(recipe, [*records, ([0, 1], -1)]))
    assert upper <= E[0]
    # The levels and leaves that the record passes all spend: far more than a half of ε is really used.
    assert lower > exp_between(EPSILON.value / 2, 40)[1]


@pytest.mark.parametrize("large", ["skip", "clip"])
@pytest.mark.parametrize("leaf_range", [None, 1])
def test_a_model_of_two_trees_keeps_epsilon_though_the_second_learns_from_the_first(large, leaf_range):
    # A leaf of the wrong sign makes gradients of the second tree exceed one: records are skipped or clipped there.
    records = [([0], 1), ([1], -1)]
    recipe = recipe_for([2], trees=2, points=2, large=large, leaf_range=leaf_range)
    upper, lower = largest_ratio(law_of_model(recipe, records), law_of_model(recipe, [*records, ([0], -1)]))
    assert upper <= E[0]
    assert lower > exp_between(EPSILON.value / 8, 40)[1]


def test_a_replaced_record_keeps_twice_epsilon_and_may_exceed_epsilon():
    # The record leaves one leaf for another and turns both values round; the cut changes as well.
    recipe = recipe_for([3], points=2)
    one, other = (law_of_model(recipe, [([0], -1), record]) for record in (([0], 1), ([1], -1)))
    upper, lower = largest_ratio(one, other)
    assert upper <= exp_between(2 * EPSILON.value, 40)[0]
    assert lower > E[1]


def test_the_enumeration_notices_a_budget_that_is_exceeded():
    records, more = NEIGHBOURS["a lone record"]
    recipe = recipe_for([3], factor=3)
    _, lower = largest_ratio(law_of_model(recipe, records), law_of_model(recipe, [*records, more]))
    assert lower > E[1]

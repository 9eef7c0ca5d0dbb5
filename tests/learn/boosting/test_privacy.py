"""The privacy of whole trees and whole models, by enumeration of every output on neighbouring data sets.

Nothing is sampled: `grow` is run once for every possible sequence of cuts and leaves, through the same code that fits
models, with choices that are dictated instead of drawn. The probability of a sequence is the product of the laws that
the lotteries draw from, as fractions on both sides of the truth.
"""

import functools
import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from bipartite.learn.boosting.grids import Grid
from bipartite.learn.boosting.leaves import UNIT, NoisySums
from bipartite.learn.boosting.splits import SplitRule
from bipartite.learn.boosting.stages import stages_of
from bipartite.learn.boosting.trees import Growth, grow
from bipartite.lottery import Epsilon
from bipartite.lottery.decay import decay_between
from bipartite.lottery.epsilon import exp_between

decay = functools.cache(functools.partial(decay_between, digits=30))
EPSILON = Epsilon.of(2)
# Noisy counts and sums that the enumeration tries, on both sides of the true ones. There are endlessly many others; the
# ratio of each is bounded by itself, so that those left out cannot hide behind these.
NOISY = list(itertools.product((-1, 9), (-7 * UNIT, 7 * UNIT)))


class Dictated:
    """Choices from a list; beyond its end the first, noting how many there were. Keeps the probability of the path."""

    def __init__(self, script):
        self.script = script
        self.stage = None
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
        return self._choose(SplitRule(self.stage.split).law(utilities, 30))

    def leaf(self, count, total):
        # Without the factor that all probabilities have in common: it is the same for neighbours.
        rule = NoisySums(self.stage.leaf)
        gammas = [rule.count_rate * abs(c - count) + rule.sum_rate * abs(s - total) for c, s in NOISY]
        return rule.value(*NOISY[self._choose([decay(gamma) for gamma in gammas])])


def law_of_model(stages, records):
    """Fractions around the probability of every model, over every path that the stages can take."""
    features = stages[0].growth.grid.features
    bins = np.array([features for features, _ in records], dtype=np.uint8).reshape(len(records), features)
    labels = np.array([int(label * UNIT) for _, label in records], dtype=np.int64)
    law, script = {}, []
    while True:
        choices = Dictated(script)
        scores, released = np.zeros(len(records), dtype=np.int64), []
        for choices.stage in stages:
            tree = grow(choices.stage.growth, bins, scores - labels, choices)
            tree.add_to(scores, bins)
            released.append((*tree.features.tolist(), *tree.cuts.tolist(), *tree.leaves.tolist()))
        low, high = law.get(tuple(released), (Fraction(0), Fraction(0)))
        law[tuple(released)] = (low + choices.low, high + choices.high)
        script = (script + [0] * len(choices.options))[: len(choices.options)]
        while script and script[-1] + 1 == choices.options[len(script) - 1]:
            script.pop()
        if not script:
            return law
        script[-1] += 1


def stages(bins, *, trees=1, depth=1, factor=1, clip=Fraction(1, 5)):
    """The mean and trees that spend ``factor`` times what they may."""
    grid = Grid(np.zeros(len(bins)), np.ones(len(bins)), np.array(bins, dtype=np.int64))
    growth = Growth(grid, depth, Fraction(1), Fraction(clip))
    return stages_of(growth, trees, Fraction(EPSILON.value) * factor)


def largest_ratio(one, other):
    """Upper and lower bound on the largest ratio of probabilities, either way round."""
    assert set(one) == set(other)
    pairs = [(one[each], other[each]) for each in one] + [(other[each], one[each]) for each in one]
    return max(a[1] / b[0] for a, b in pairs), max(a[0] / b[1] for a, b in pairs)


E = exp_between(EPSILON.value, 40)
# Records are (bins of the features, label).
NEIGHBOURS = {
    "an empty data set": ([], ([0], 1)),
    "a lone record": ([([1], Fraction(1))], ([1], -1)),
    "against all others": ([([0], 1), ([1], 1), ([1], 1), ([2], -1)], ([0], -1)),
    "with all others": ([([0], -1), ([1], Fraction(-1, 3)), ([2], 1)], ([2], 1)),
    "for one cut and against the other": ([([0], -1)] * 3 + [([2], 1)], ([1], 1)),
}


def ratio_of_neighbours(made, records, more):
    return largest_ratio(*(law_of_model(made, each) for each in (records, [*records, more])))


@pytest.mark.parametrize("case", NEIGHBOURS)
@pytest.mark.parametrize("clip", [Fraction(1, 5), Fraction(1)])
def test_mean_cut_and_noisy_sums_keep_epsilon_when_a_record_is_added(case, clip):
    upper, lower = ratio_of_neighbours(stages([3], clip=clip), *NEIGHBOURS[case])
    assert upper <= E[0]
    # The mean and one side of the cut use all of their ε somewhere: 0.02, and two fifths of the rest.
    assert lower > exp_between(EPSILON.value * Decimal("0.41"), 40)[1]
    if case == "for one cut and against the other" and clip == 1:
        assert lower > exp_between(EPSILON.value * Decimal("0.6"), 40)[1]


def test_a_tree_of_two_levels_and_two_features_keeps_epsilon():
    records = [([0, 1], 1), ([1, 0], Fraction(1, 2)), ([1, 1], -1), ([0, 0], 1)]
    one_noise = [NOISY[0], NOISY[-1]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "NOISY", one_noise)  # enough for seven choices
        upper, lower = ratio_of_neighbours(stages([2, 2], depth=2), records, ([0, 1], -1))
    assert upper <= E[0]
    assert lower > exp_between(EPSILON.value * Decimal("0.41"), 40)[1]


def test_two_trees_share_epsilon_though_every_record_serves_both():
    upper, lower = ratio_of_neighbours(stages([2], trees=2), *NEIGHBOURS["a lone record"])
    assert upper <= E[0]
    assert lower > exp_between(EPSILON.value * Decimal("0.41"), 40)[1]


def test_a_replaced_record_keeps_twice_epsilon_and_may_exceed_epsilon():
    # The record leaves one side for the other and turns both values round; the cut changes as well.
    laws = (law_of_model(stages([3], clip=1), [([1], 1), record]) for record in (([0], 1), ([2], -1)))
    upper, lower = largest_ratio(*laws)
    assert upper <= exp_between(2 * EPSILON.value, 40)[0]
    assert lower > E[1]


def test_the_enumeration_notices_a_budget_that_is_exceeded():
    assert ratio_of_neighbours(stages([2], factor=3), *NEIGHBOURS["a lone record"])[1] > E[1]

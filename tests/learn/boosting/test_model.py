from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import EpsilonError, InputError
from bipartite.learn.boosting import model
from bipartite.learn.boosting.compiled import gains, histograms
from bipartite.learn.boosting.grids import Grid, grid_of
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.model import scores_of
from bipartite.learn.boosting.splits import SplitRule
from bipartite.learn.boosting.stages import part_of_epsilon, stages_of
from bipartite.learn.boosting.trees import Growth, clipped

TENTH = Fraction(1, 10)


def growth_of(widths, **changes):
    grid = Grid(np.zeros(len(widths)), np.ones(len(widths)), np.array(widths))
    return Growth(**{"grid": grid, "depth": 2, "eta": TENTH, "clip": Fraction(1, 5)} | changes)


def test_epsilon_is_divided_over_the_mean_and_the_trees():
    mean, *trees = stages_of(growth_of([4], depth=7), 3, Fraction(5))
    assert (mean.growth.depth, mean.leaf) == (0, Fraction(1, 10))
    assert len(trees) == 3
    level = Fraction(49, 10) / 21
    for each in trees:
        assert each.split == level * 3 / 5
        assert each.leaf <= level * 2 / 5 < each.leaf * (1 + Fraction(1, 10**18))
    # The leaves' part is rounded down to twenty digits: no more than ε is spent, and hardly less.
    spent = mean.leaf + sum(7 * (each.split + each.leaf) for each in trees)
    assert spent <= 5 < spent * (1 + Fraction(1, 10**18))


def test_a_larger_epsilon_is_shared_by_more_trees():
    several = {"0.01": 4, "0.5": 5, "1": 6, "2": 8, "3": 11, "5": 16, "8": 23, "38.8": 100, "50": 100}
    found = {each: len(stages_of(growth_of([4]), None, Fraction(each))) - 1 for each in several}
    assert found == several


@given(st.fractions(Fraction(1, 10**14), 50))
def test_rounding_epsilon_never_raises_it(epsilon):
    rounded = Fraction(part_of_epsilon(epsilon).value)
    assert rounded <= epsilon < rounded * (1 + Fraction(1, 10**18))


def test_nothing_is_left_of_too_small_an_epsilon():
    with pytest.raises(EpsilonError, match="leaves at least 1e-15 to every leaf; use a larger epsilon"):
        part_of_epsilon(Fraction(1, 10**16))


@given(
    st.lists(st.tuples(st.integers(-UNIT, UNIT), st.integers(-(2**50), 2**50)), min_size=1),
    st.integers(1, 2000),
)
def test_gradients_are_clipped_and_divided_by_their_bound_and_never_exceed_one(records, thousandths):
    labels, scores = np.array(records).T.copy()
    clip = Fraction(thousandths, 1000)
    found = clipped(scores - labels, clip)
    most = int(clip * UNIT)  # the bound itself is rounded down to whole units first
    assert found.tolist() == [(min(max(score - label, -most), most) / clip).__floor__() for label, score in records]
    assert np.abs(found).max() <= UNIT


@given(st.integers(0, 40), st.integers(1, 3), st.integers(1, 4), st.randoms(use_true_random=False))
def test_histograms_and_gains_are_those_of_plain_python(records, features, nodes, random):
    widths = [random.randint(2, 5) for _ in range(features)]
    bins = np.array([[random.randrange(w) for w in widths] for _ in range(records)], dtype=np.uint8)
    bins = bins.reshape(records, features)
    of_node = np.array([random.randrange(nodes) for _ in bins], dtype=np.int64)
    gradients = np.array([random.randint(-UNIT, UNIT) for _ in bins], dtype=np.int64)
    sums = np.zeros((nodes, features, max(widths)), dtype=np.int64)
    histograms(bins, of_node, gradients, sums)
    computed = np.empty((nodes, sum(widths) - features), dtype=np.int64)
    gains(sums, np.array(widths, dtype=np.int64), computed)
    for node in range(nodes):
        mine = [(row, g) for row, k, g in zip(bins.tolist(), of_node, gradients.tolist(), strict=True) if k == node]
        expected = [naive_gain(mine, feature, cut) for feature, w in enumerate(widths) for cut in range(w - 1)]
        assert computed[node].tolist() == expected


def naive_gain(records, feature, cut):
    return sum(abs(sum(g for row, g in records if (row[feature] <= cut) == left)) for left in (True, False))


def test_the_range_that_the_exponential_mechanism_counts_on_is_used():
    # A record that fits in with its side of the first cut and against its side of the second: gains move by +1 and −1.
    laws, rule = [], SplitRule(Fraction(1))
    for more in ([], [([1], UNIT)]):
        records = [([0], -UNIT)] * 3 + [([2], UNIT)] + more
        sums = np.zeros((1, 1, 3), dtype=np.int64)
        bins, gradients = (np.array(each) for each in zip(*records, strict=True))
        histograms(bins.astype(np.uint8), np.zeros(len(records), dtype=np.int64), gradients, sums)
        utilities = np.empty((1, 2), dtype=np.int64)
        gains(sums, np.array([3]), utilities)
        laws.append((utilities[0], rule.law(utilities[0])))
    assert (laws[1][0] - laws[0][0]).tolist() == [UNIT, -UNIT]
    ratios = [laws[a][1][cut][1] / laws[b][1][cut][0] for cut in (0, 1) for a, b in ((0, 1), (1, 0))]
    # Below e, and above e^0.5: the two cuts share what they lose and gain.
    assert 1.64 < max(ratios) < 2.7183


class Greedy:
    """Choices without noise: the first of the best cuts, and a leaf's mean, rounded down."""

    def __init__(self, stage, stream):
        pass

    def split(self, utilities):
        return int(np.argmax(utilities))

    def leaf(self, count, total):
        return -total // max(count, 1)


def naive_tree(bins, gradients, depth, widths, most):
    """The greedy tree in plain Python: [(feature, cut)] and what the leaves add, a tenth of mean gradients a level."""
    cuts, members = [], [(list(range(len(bins))), 0)]
    for _ in range(depth):
        following = []
        for rows, added in members:
            pulled = {row: min(max(gradients[row] + added, -most), most) * 5 for row in rows}
            of = [(bins[row], pulled[row]) for row in rows]
            options = [(feature, cut) for feature, width in enumerate(widths) for cut in range(width - 1)]
            feature, cut = max(options, key=lambda option: naive_gain(of, *option))
            cuts.append((feature, cut))
            for left in (True, False):
                side = [row for row in rows if (bins[row][feature] <= cut) == left]
                leaf = -sum(pulled[row] for row in side) // max(len(side), 1)
                following.append((side, added + leaf // 50))  # the learning rate times the clip
        members = following
    return cuts, [added for _, added in members]


def test_boosting_without_noise_is_greedy_boosting_in_plain_python(monkeypatch):
    monkeypatch.setattr(model, "Drawn", Greedy)
    generator = np.random.default_rng(5)
    widths, told = [4, 3], []
    bins = np.column_stack([generator.integers(0, w, 60) for w in widths]).astype(np.uint8)
    labels = generator.integers(-UNIT, UNIT + 1, 60)
    stages = stages_of(growth_of(widths, depth=3), 3, Fraction(1))
    mean, *trees = model.boost(stages, bins, labels, None, told.append)
    assert (len(trees), told) == (3, [1] * 3)
    assert (mean.features.tolist(), mean.leaves.tolist()) == ([], [labels.sum() // 60])
    scores = np.full(60, mean.leaves[0])
    for tree in trees:
        cuts, leaves = naive_tree(bins.tolist(), (scores - labels).tolist(), 3, widths, UNIT // 5)
        assert list(zip(tree.features.tolist(), tree.cuts.tolist(), strict=True)) == cuts
        assert tree.leaves.tolist() == leaves
        tree.add_to(scores, bins)
    np.testing.assert_array_equal(scores_of([mean, *trees], bins), scores)


@given(st.floats(-5, 5), st.integers(2, 256))
def test_a_value_goes_to_the_bin_that_holds_it(value, bins):
    grid = grid_of((-1, 2), bins, 1)
    code = int(grid.encode(np.array([[value]]), "clip")[0, 0])
    edges = np.linspace(-1, 2, bins + 1)
    inside = min(max(value, -1), 2)
    assert edges[code] <= inside + 1e-9
    assert inside <= edges[code + 1] + 1e-9


def test_more_cuts_than_tickets_are_refused():
    with pytest.raises(InputError, match="Expected at most 2.22 cuts of all features together, got 4335000"):
        grid_of((0, 1), 256, 17_000)


def test_candidates_are_all_cuts_between_bins():
    features, cuts = grid_of((0, 1), [3, 2], 2).candidates
    assert list(zip(features.tolist(), cuts.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0)]

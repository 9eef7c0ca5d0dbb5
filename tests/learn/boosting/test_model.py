from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import EpsilonError, InputError
from bipartite.learn.boosting import model
from bipartite.learn.boosting.compiled import GAIN_BITS, gains, histograms
from bipartite.learn.boosting.grids import Grid, grid_of
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.model import scores_of
from bipartite.learn.boosting.splits import SplitRule
from bipartite.learn.boosting.stages import part_of_epsilon, stages_of
from bipartite.learn.boosting.trees import Growth, clipped

TENTH = Fraction(1, 10)


def growth_of(widths, **changes):
    grid = Grid(np.zeros(len(widths)), np.ones(len(widths)), np.array(widths))
    return Growth(**{"grid": grid, "depth": 2, "lam": TENTH, "eta": TENTH, "clip": Fraction(1, 5)} | changes)


def test_epsilon_is_divided_over_the_mean_and_the_trees():
    mean, *trees = stages_of(growth_of([4], depth=7), 3, Fraction(5))
    assert (mean.growth.depth, mean.leaf) == (0, Fraction(1, 4))
    assert len(trees) == 3
    for each in trees:
        assert each.split * 7 == Fraction(19, 24)
        assert each.leaf <= Fraction(19, 24) < each.leaf * (1 + Fraction(1, 10**18))
    # The leaves' part is rounded down to twenty digits: no more than ε is spent, and hardly less.
    spent = mean.leaf + sum(7 * each.split + each.leaf for each in trees)
    assert spent <= 5 < spent * (1 + Fraction(1, 10**18))


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
    rows = np.array([row for row in range(records) if random.random() < 0.7], dtype=np.int64)
    of_node = np.array([random.randrange(nodes) for _ in rows], dtype=np.int64)
    gradients = np.array([random.randint(-UNIT, UNIT) for _ in rows], dtype=np.int64)
    counts, sums = (np.zeros((nodes, features, max(widths)), dtype=np.int64) for _ in range(2))
    histograms(bins, rows, of_node, gradients, counts, sums)
    computed = np.empty((nodes, sum(widths) - features), dtype=np.int64)
    gains(counts, sums, np.array(widths, dtype=np.int64), 1, 10, computed)
    for node in range(nodes):
        expected = []
        for feature, width in enumerate(widths):
            for cut in range(width - 1):
                total = 0
                for left in (True, False):
                    side = [
                        int(g)
                        for row, k, g in zip(rows, of_node, gradients, strict=True)
                        if k == node and (bins[row, feature] <= cut) == left
                    ]
                    total += int(Fraction(sum(side), UNIT) ** 2 / (len(side) + TENTH) * 2**GAIN_BITS)
                expected.append(total)
        assert computed[node].tolist() == expected


def test_the_range_that_the_exponential_mechanism_counts_on_is_nearly_used():
    # A record that fits in with one side of the first cut and against one of the second: gains move by +1 and −3.
    laws, rule = [], SplitRule(Fraction(1))
    for more in ([], [(1, UNIT)]):
        records = [(0, -UNIT)] * 4000 + [(2, UNIT)] * 4000 + more
        bins = np.array([[b] for b, _ in records], dtype=np.uint8)
        gradients = np.array([g for _, g in records], dtype=np.int64)
        counts, sums = np.zeros((1, 1, 3), dtype=np.int64), np.zeros((1, 1, 3), dtype=np.int64)
        rows = np.arange(len(records))
        histograms(bins, rows, np.zeros_like(rows), gradients, counts, sums)
        utilities = np.empty((1, 2), dtype=np.int64)
        gains(counts, sums, np.array([3]), 1, 10, utilities)
        laws.append((utilities[0], rule.law(utilities[0])))
    change = laws[1][0] - laws[0][0]
    assert (change / 2**GAIN_BITS).round(2).tolist() == [1.0, -3.0]
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


def naive_tree(bins, gradients, depth, widths):
    """The greedy tree in plain Python: [(feature, cut)] and leaf values."""
    cuts, members = [], [list(range(len(bins)))]
    for _ in range(depth):
        following = []
        for rows in members:
            best = None
            for feature, width in enumerate(widths):
                for cut in range(width - 1):
                    sides = [[r for r in rows if bins[r][feature] <= cut], [r for r in rows if bins[r][feature] > cut]]
                    gain = sum(
                        int(Fraction(sum(gradients[r] for r in side), UNIT) ** 2 / (len(side) + TENTH) * 2**GAIN_BITS)
                        for side in sides
                    )
                    if best is None or gain > best[0]:
                        best = (gain, feature, cut, sides)
            cuts.append(best[1:3])
            following += best[3]
        members = following
    return cuts, [-sum(gradients[r] for r in rows) // max(len(rows), 1) for rows in members]


def test_boosting_without_noise_is_greedy_boosting_in_plain_python(monkeypatch):
    monkeypatch.setattr(model, "Drawn", Greedy)
    generator = np.random.default_rng(5)
    widths, told = [4, 3], []
    bins = np.column_stack([generator.integers(0, w, 60) for w in widths]).astype(np.uint8)
    labels = generator.integers(-UNIT, UNIT + 1, 60)
    stages = stages_of(growth_of(widths), 3, Fraction(1))
    mean, *trees = model.boost(stages, bins, labels, None, told.append)
    assert (len(trees), told) == (3, [1] * 3)
    assert (mean.features.tolist(), mean.leaves.tolist()) == ([], [labels.sum() // 60])
    scores = np.full(60, mean.leaves[0])
    for tree in trees:
        most = UNIT // 5
        gradients = [(min(max(each, -most), most)) * 5 for each in (scores - labels).tolist()]
        cuts, leaves = naive_tree(bins.tolist(), gradients, 2, widths)
        assert list(zip(tree.features.tolist(), tree.cuts.tolist(), strict=True)) == cuts
        assert tree.leaves.tolist() == [leaf // 50 for leaf in leaves]  # the learning rate times the clip
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

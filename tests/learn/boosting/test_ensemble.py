from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import fixed_words, insecure_seed
from bipartite.errors import EpsilonError, InputError
from bipartite.learn.boosting.budget import Budget, part_of_epsilon, tree_tickets
from bipartite.learn.boosting.compiled import GAIN_BITS, gains, histograms
from bipartite.learn.boosting.ensemble import Recipe, boost, draw_trees, gradients_of, scores_of
from bipartite.learn.boosting.grids import Grid, grid_of
from bipartite.learn.boosting.leaves import UNIT, AsItIs, leaf_scale
from bipartite.learn.boosting.splits import BestSplit, SplitRule
from bipartite.lottery import MAX_TOTAL, Epsilon

TENTH = Fraction(1, 10)


def test_epsilon_is_divided_without_remainder():
    budget = Budget(Epsilon.of(5), ensembles=3, depth=7, mean_share=Fraction(1, 20))
    assert budget.mean + budget.tree * 3 == 5
    assert budget.mean * 20 == 5
    assert Budget(Epsilon.of(5), ensembles=3, depth=7).tree * 3 == 5
    assert budget.split * 7 == budget.tree / 2
    assert Fraction(budget.leaf.value) <= budget.tree / 2 < Fraction(budget.leaf.value) * (1 + Fraction(1, 10**18))


@given(st.fractions(Fraction(1, 10**14), 50))
def test_rounding_epsilon_never_raises_it(epsilon):
    rounded = Fraction(part_of_epsilon(epsilon).value)
    assert rounded <= epsilon < rounded * (1 + Fraction(1, 10**18))


def test_nothing_is_left_of_too_small_an_epsilon():
    with pytest.raises(EpsilonError, match="leaves at least 1e-15 to every leaf; use a larger epsilon"):
        part_of_epsilon(Fraction(1, 10**16))


@pytest.mark.parametrize(
    ("trees", "eta"), [(1, TENTH), (50, TENTH), (50, Fraction(99, 100)), (10_000, Fraction(1, 1000))]
)
def test_trees_are_drawn_with_the_public_chances_of_the_paper(trees, eta):
    tickets = tree_tickets(trees, eta)
    assert tickets.min() >= 1
    assert tickets.sum() <= MAX_TOTAL
    whole = 1 - (1 - eta) ** trees
    for tree in {0, 1, trees // 2, trees - 1} & set(range(trees)):
        chance = float(eta * (1 - eta) ** tree / whole)
        assert tickets[tree] / tickets.sum() == pytest.approx(chance, rel=1e-9, abs=1e-11)


def test_every_record_draws_its_tree_from_its_own_ticket():
    tickets = np.array([3, 2, 1])
    # Tickets 0, 1, …, 5 in turn: word w gives ⌊6w/2^64⌋.
    words = [-(-(k << 64) // 6) + 7 for k in (0, 5, 2, 3, 4, 1)]
    drawn = draw_trees(6, tickets, fixed_words(words).stream(0, 1))
    assert drawn.tolist() == [0, 2, 0, 1, 1, 0]


def test_draws_of_many_records_go_on_over_windows_and_follow_the_chances():
    # False alarms below 1e-9: 6.2 standard errors; a chance off by a twentieth would be 40 of them away.
    size, tickets = 200_000, np.array([1, 3])
    drawn = draw_trees(size, tickets, insecure_seed(1).streams().stream(0, size))
    assert abs(np.mean(drawn) - 0.75) < 6.2 * (0.75 * 0.25 / size) ** 0.5
    # A record's tree does not depend on how many come after it.
    few = draw_trees(1000, tickets, insecure_seed(1).streams().stream(0, 1000))
    np.testing.assert_array_equal(drawn[:1000], few)


def test_gradients_are_bounded_by_clipping_or_by_leaving():
    labels, scores = np.array([UNIT, -UNIT, 0, 5]), np.array([-7, 3, UNIT + 1, 5])
    rows = np.array([0, 1, 2, 3])
    kept, gradients = gradients_of(rows, labels, scores, Fraction(1), "skip")
    assert (kept.tolist(), gradients.tolist()) == ([3], [0])
    kept, gradients = gradients_of(rows, labels, scores, Fraction(1), "clip")
    assert (kept.tolist(), gradients.tolist()) == ([0, 1, 2, 3], [-UNIT, UNIT, UNIT, 0])


@given(
    st.lists(st.tuples(st.integers(-UNIT, UNIT), st.integers(-(2**50), 2**50)), min_size=1),
    st.integers(1, 2000),
    st.sampled_from(["skip", "clip"]),
)
def test_gradients_are_divided_by_their_bound_and_never_exceed_one(records, thousandths, large):
    labels, scores = np.array(records).T.copy()
    clip = Fraction(thousandths, 1000)
    kept, gradients = gradients_of(np.arange(len(records)), labels, scores, clip, large)
    expected = {}
    for at, (label, score) in enumerate(records):
        if large == "clip" or abs(score - label) <= clip * UNIT:
            # The bound itself is rounded down to whole units first.
            most = int(clip * UNIT)
            expected[at] = (min(max(score - label, -most), most) / clip).__floor__()
    assert dict(zip(kept.tolist(), gradients.tolist(), strict=True)) == expected
    assert np.abs(gradients).max(initial=0) <= UNIT


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


def naive_tree(bins, gradients, depth, widths, clip):
    """The greedy tree in plain Python: {path: (feature, cut)} and leaf values."""
    cuts, leaves = [], []
    members = [list(range(len(bins)))]
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
    for rows in members:
        value = int((-Fraction(sum(gradients[r] for r in rows)) / (len(rows) + TENTH)).__floor__())
        leaves.append(min(max(value, -clip), clip) // 10)
    return cuts, leaves


def test_boosting_without_noise_is_greedy_boosting_in_plain_python():
    generator = np.random.default_rng(5)
    widths = [4, 3]
    bins = np.column_stack([generator.integers(0, w, 60) for w in widths]).astype(np.uint8)
    labels = generator.integers(-UNIT, UNIT + 1, 60)
    grid = Grid(np.zeros(2), np.ones(2), np.array(widths))
    recipe = Recipe(grid, 4, 2, 2, TENTH, TENTH, None, "skip", BestSplit(), AsItIs())
    told = []
    trees = boost(recipe, bins, labels, insecure_seed(3).streams().stream(0, 60), told.append)
    assert told == [1] * 4
    stream = insecure_seed(3).streams().stream(0, 60)
    scores = np.zeros(60, dtype=np.int64)
    for first in (0, 2):
        serves = draw_trees(60, tree_tickets(2, TENTH), stream)
        for number in range(2):
            tree = trees[first + number]
            gradients = (scores - labels).tolist()
            rows = [row for row in range(60) if serves[row] == number and abs(gradients[row]) <= UNIT]
            clip = leaf_scale(number, TENTH, TENTH, None).clip
            cuts, leaves = naive_tree(bins[rows].tolist(), [gradients[r] for r in rows], 2, widths, clip)
            assert list(zip(tree.features.tolist(), tree.cuts.tolist(), strict=True)) == cuts
            assert tree.leaves.tolist() == leaves
            tree.add_to(scores, bins)
    np.testing.assert_array_equal(scores_of(trees, bins), scores)


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

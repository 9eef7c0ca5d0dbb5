"""DPBoost as published and as scripted, followed node by node in plain Python, and what it really spends."""

import itertools
import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from bipartite.domains import Integers
from bipartite.learn.boosting.grids import grid_of
from bipartite.mechanisms import BRR
from reproduction.experiments import dpboost
from reproduction.experiments.dpboost import Binned, Noise, Published, ScriptedDPBoost, ScriptedGradients, boost
from reproduction.experiments.dpboost_ratio import (
    DRAWN,
    FEW,
    FIXED,
    ONE_MORE,
    drawn_subsets,
    fixed_subsets,
    likelihood,
    log_ratio,
)
from reproduction.experiments.gbdt_tasks import Records

FIVE = Decimal(5)
PLAIN = "no privacy"
PUBLISHED = Published(FIVE, "BRR", trees=3)


@pytest.fixture(scope="module")
def records():
    features, targets = load_diabetes(return_X_y=True)
    return Records(features, targets, ((-0.1, 0.15),) * 10, (8, 5) * 5, (25.0, 350.0))


def test_bins_are_those_of_the_sound_build(records):
    grid = grid_of(records.feature_range, records.bins, 10)
    np.testing.assert_array_equal(Binned.of(records).bins, grid.encode(records.features, "clip"))


def check_node(build, tree, at, rows, bins, widths, labels, gradients, limit):
    """The node at (level, place) makes a cut of the largest Σ²/(n + λ) on both sides; a leaf is −Σ/(n + λ)."""

    def half(side):
        return math.fsum(gradients[row] for row in side) ** 2 / (len(side) + 0.1)

    level, node = at
    if level == len(tree.features):
        if isinstance(build, ScriptedGradients):
            value = -math.fsum(min(max(gradients[row], -limit), limit) for row in rows) / (len(rows) + 0.1)
        else:
            value = 0.1 * min(max(-math.fsum(gradients[row] for row in rows) / (len(rows) + 0.1), -limit), limit)
        assert tree.leaves[node] == pytest.approx(value, abs=1e-12)
        return
    sides = {
        (feature, last): [[row for row in rows if (bins[row, feature] > last) == right] for right in (False, True)]
        for feature, width in enumerate(widths) for last in range(width - 1)
    }  # fmt: skip
    allowed = list(sides.values())
    if build.scripted:
        # Cuts part records whose labels differ; where gradients are reported, they gain something too.
        allowed = [both for both in allowed if all(both) and len({labels[row] for row in rows}) > 1]
    if isinstance(build, ScriptedGradients):
        allowed = [both for both in allowed if sum(map(half, both)) > half(rows)]
    cut = int(tree.features[level][node]), int(tree.last[level][node])
    assert (cut in sides) == bool(allowed)
    chosen = sides[cut] if allowed else [rows, []]
    assert sum(map(half, chosen)) >= max((sum(map(half, both)) for both in allowed), default=0) - 1e-9
    for right, side in enumerate(chosen):
        check_node(build, tree, (level + 1, 2 * node + right), side, bins, widths, labels, gradients, limit)


BUILDS = [
    Published(FIVE, PLAIN, trees=4, depth=3),
    ScriptedDPBoost(FIVE, PLAIN, trees=4, depth=6),
    ScriptedGradients(FIVE, PLAIN, trees=4, depth=6, cut_share=Decimal("0.2")),
]


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: type(build).__name__)
def test_without_noise_every_cut_and_leaf_is_that_of_the_published_algorithm_and_of_the_scripts(build, records):
    # Subsets of fixed size of those that no tree has used; gradients beyond 1 leave their tree; limits fall by 1 − η.
    labels, binned = 1.5 * ((records.targets - 25) / 162.5 - 1), Binned.of(records)
    labels[::3] = 0.5
    rng, free, scores, skipped, eta = np.random.default_rng(1), set(range(442)), np.zeros(442), 0, 0.1
    for number, tree in enumerate(boost(build, binned, labels, np.random.default_rng(1))):
        wanted = build.picks(number, 442, eta)
        if not build.scripted:
            assert wanted == math.floor(442 * 0.1 * 0.9**number / sum(0.1 * 0.9**each for each in range(4)))
        rows = rng.choice(sorted(free), wanted, replace=False) if wanted <= len(free) else sorted(free)
        gradients = scores - labels
        kept = [row for row in rows if abs(gradients[row]) <= 1]
        skipped += len(rows) - len(kept)
        free -= set(kept if build.scripted else rows)
        check_node(build, tree, (0, 0), kept, binned.bins, binned.widths, labels, gradients, (1 - eta) ** number)
        scores += tree.of(binned.bins)
        if build.scripted and number == 0:
            # The ratio of prediction and label, the smaller over the larger; nothing for records that were used.
            ratios = [sorted(np.abs([scores[row], labels[row]])) for row in free]
            eta = sum(small / large for small, large in ratios) / 442
    assert skipped > 20
    assert eta != 0.1 if build.scripted else len(free) < 4


def test_trees_as_scripted_take_the_exponents_of_the_scripts():
    assert [ScriptedDPBoost(FIVE, "BRR").picks(tree, 10_000, 0.1) for tree in (0, 48, 49)] == [
        math.floor(1000 * 0.9**exponent / (1 - 0.9**50)) for exponent in (1, 49, 0)
    ]
    build = ScriptedGradients(FIVE, "BRR", cut_share=Decimal("0.2"))
    assert [build.picks(tree, 10_000, 0.1) for tree in (0, 48, 49)] == [
        math.floor(1000 * 0.9**exponent / (1 - 0.9**49)) for exponent in (0, 48, -1)
    ]


def test_the_scripts_estimate_eta_where_there_is_nothing_to_divide():
    assert dpboost._estimated(np.array([0.5, 0.0]), np.array([-1.0, 0.0]), 4) == pytest.approx(0.125)


def test_the_scripts_report_gradients_with_what_cuts_leave_of_epsilon(monkeypatch):
    build, seen = ScriptedGradients(FIVE, "BRR", cut_share=Decimal("0.2")), []
    assert build.cut_rate == pytest.approx(1 / 5 / (2 * 2))
    monkeypatch.setattr(dpboost, "_brr", lambda *given: seen.append(given) or np.eye(21))
    assert build.leaves(np.zeros(2, dtype=int), np.array([0.5, 2.0]), 1.0, np.random.default_rng(0))[0] < -0.5
    assert seen == [(Decimal(4), "best")]


def test_one_draw_moves_all_gradients_of_a_leaf_and_draws_of_their_own_do_not():
    build = ScriptedGradients(FIVE, "Laplace", cut_share=Decimal("0.2"), depth=1)
    nodes, gradients = np.repeat([0, 1], [3, 40]), np.linspace(-0.5, 0.5, 43)

    def leaves(limit=1.0, **changes):
        return replace(build, **changes).leaves(nodes, gradients, limit, np.random.default_rng(3))

    plain = leaves(mechanism=PLAIN)
    noise, own = (np.random.default_rng(3).laplace(0, 2 / 4, count) for count in (2, 43))
    np.testing.assert_allclose(leaves(), plain - noise * np.array([3, 40]) / np.array([3.1, 40.1]))
    np.testing.assert_allclose(leaves(shared=False), plain - np.bincount(nodes, own) / np.array([3.1, 40.1]))
    assert (np.abs(leaves(0.2, mechanism="Laplace, clamped")) <= 0.2).all()


# Each share of the draws lies within six of its standard deviations: false alarms below 10⁻⁷ in all.
def near(found, expected, draws=200_000):
    return (np.abs(found - expected) <= 6 * np.sqrt(expected * (1 - expected) / draws) + 1e-12).all()


@pytest.mark.parametrize(("value", "point"), [(0.33, 17), (-0.9, 0)])
def test_draws_have_the_likelihood_that_is_said(value, point):
    rng, many = np.random.default_rng(4), np.full(200_000, value)
    brr, clamped, laplace = (
        Noise(name, Decimal("2.5"), 1.0, 0.5) for name in ("BRR", "Laplace, clamped", "Laplace")
    )  # fmt: skip
    points = np.linspace(-0.5, 0.5, 21)
    said = np.array([brr.likelihood(value, each) for each in points])
    np.testing.assert_allclose(said, BRR(Integers(0, 20), "2.5").matrix()[point])
    found = np.histogram(brr.draw(many, rng), np.append(points - 0.025, 0.525))[0] / len(many)
    assert near(found, said) and not near(found, np.roll(said, 1))

    drawn, ends = clamped.draw(many, rng), np.array([clamped.likelihood(value, end) for end in (-0.5, 0.5)])
    found = np.array([(drawn == -0.5).mean(), (drawn == 0.5).mean()])
    assert near(found, ends) and not near(found, ends[::-1])

    # Beyond z on each side: half of the density at z, which the likelihood gives times 2·scale.
    drawn, beyond = laplace.draw(many, rng), laplace.likelihood(value, value + 0.8) / 2
    assert near((drawn > value + 0.8).mean(), beyond) and not near((drawn > value + 0.7).mean(), beyond)


def test_cuts_are_drawn_by_the_exponential_mechanism():
    binned = Binned(np.repeat(np.arange(4, dtype=np.uint8), 5)[:, None], np.array([4]))
    labels = np.repeat([0.8, 0.1, -0.2, -0.6], 5)
    assert PUBLISHED.cut_rate == pytest.approx(5 / 2 / 6 / (2 * 3))  # levels share it
    build, rng, rows = Published(Decimal(30), "Laplace", trees=1, depth=1), np.random.default_rng(5), np.arange(20)
    drawn = [dpboost._grow(build, binned, rows, -labels, labels, 1.0, rng).last[0][0] for _ in range(20_000)]
    sums = [(labels[: 5 * n].sum(), labels[5 * n :].sum(), 5 * n) for n in (1, 2, 3)]
    gains = np.array([a**2 / (n + 0.1) + b**2 / (20 - n + 0.1) for a, b, n in sums])
    # Sensitivity 3, and not 2.
    law, wrong = (np.exp(30 / 2 / (2 * change) * gains) for change in (3, 2))
    found = np.bincount(drawn, minlength=3) / len(drawn)
    assert near(found, law / law.sum(), len(drawn)) and not near(found, wrong / wrong.sum(), len(drawn))


def test_a_leaf_is_changed_by_at_most_what_its_noise_is_for():
    for limit in (1, 0.9**10, 0.9**49):
        noise = PUBLISHED.noise(limit)
        assert (noise.change, noise.reach) == pytest.approx((min(1 / 1.1, 2 * limit), min(1 / 2.2, limit)))
        assert noise.epsilon == FIVE / 2
        for count in range(6):
            sums = np.linspace(-count, count, 41)
            before = PUBLISHED.value(np.array(count), sums, limit)
            after = [PUBLISHED.value(np.array(count + 1), sums + gradient, limit) for gradient in (-1, 1)]
            assert np.abs(after - before).max() <= noise.change + 1e-12


def by_hand(epsilon):
    """ln of the ratio for Laplace leaves: −1 serves tree 1, 2, 3 or none, each with probability 1/4."""
    leaves, limits = (-1 / 1.1, 0.9, 0.81), (1, 0.9, 0.81)
    scores = (0.0, 0.1 * leaves[0], 0.1 * (leaves[0] + leaves[1]))
    old, new = (
        [min(max((label - score) / 1.1, -limit), limit) for score, limit in zip(scores, limits, strict=True)]
        for label in (0.9, -1)
    )

    def likely(*values):
        return math.exp(sum(-epsilon / 2 * 1.1 * abs(leaf - value) for leaf, value in zip(leaves, values, strict=True)))

    more = sum(likely(*(new[tree] if tree == place else old[tree] for tree in range(3))) for place in range(4)) / 4
    return math.log(more / likely(old[0], 0, 0))


@pytest.mark.parametrize("epsilon", [1, 5, 10])
def test_the_ratio_is_that_of_sums_by_hand(epsilon):
    build = Published(Decimal(epsilon), "Laplace", trees=3)
    assert log_ratio(build, FIXED) == pytest.approx(by_hand(epsilon), rel=1e-9)
    assert log_ratio(build, FIXED) > epsilon > log_ratio(build, DRAWN)


def test_subsets_are_what_the_page_says():
    for people, sizes in ((3, [1, 0, 0]), (4, [1, 1, 1])):
        for ways, least in ((fixed_subsets, sum(sizes)), (drawn_subsets, people)):
            found = list(ways(PUBLISHED, people))
            assert math.fsum(probability for _, probability in found) == pytest.approx(1)
            for subsets, _ in found:
                everyone = list(itertools.chain(*subsets))
                assert len(set(everyone)) == len(everyone) == least
                assert ways is drawn_subsets or list(map(len, subsets)) == sizes
        first = math.fsum(probability for subsets, probability in drawn_subsets(PUBLISHED, people) if 0 in subsets[0])
        assert first == pytest.approx(1 / 2.71)


def test_a_record_whose_gradient_is_large_leaves_its_tree():
    model = (0.4, -0.4, 0.1)  # lifts the score, so that −1 has a gradient of 1.04
    served, empty = (likelihood(PUBLISHED, (-1.0,), [[], rows, []], model) for rows in ([0], []))
    assert served == empty != likelihood(PUBLISHED, (-0.9,), [[], [0], []], model)


def test_where_each_record_draws_its_tree_no_model_goes_beyond_what_leaves_spend():
    reaches = [PUBLISHED.noise(0.9**tree).reach for tree in range(3)]
    models = [tuple(np.multiply(each, reaches)) for each in itertools.product(np.linspace(-1, 1, 5), repeat=3)]

    def worst(ways):
        chances = [
            [sum(p * likelihood(PUBLISHED, labels, subsets, model) for subsets, p in ways(PUBLISHED, len(labels)))
             for model in models] for labels in (FEW, ONE_MORE)
        ]  # fmt: skip
        return np.abs(np.log(np.divide(*chances))).max()

    # Half of ε is for the cuts, which tell nothing here.
    assert worst(drawn_subsets) <= 2.5 + 1e-9
    assert worst(fixed_subsets) >= log_ratio(PUBLISHED, FIXED) - 1e-9 > 5

"""DPBoost as published and as scripted, against sums that are done by hand or by the library's sound build."""

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from bipartite import insecure_seed
from bipartite.domains import Integers
from bipartite.learn.boosting.grids import grid_of
from bipartite.mechanisms import BRR
from reproduction.experiments import dpboost
from reproduction.experiments.dpboost import Binned, Noise, Published, ScriptedDPBoost, ScriptedGradients, boost
from reproduction.experiments.gbdt_tasks import Records
from reproduction.learning.boosting import PaperBoostingRegressor
from reproduction.runner.intervals import MeanInterval

FIVE = Decimal(5)


class Undivided(Published):
    """One tree of all records."""

    def picks(self, tree, people, eta):
        return people


@pytest.fixture(scope="module")
def records():
    features, targets = load_diabetes(return_X_y=True)
    return Records(features, targets, ((-0.1, 0.15),) * 10, (8, 5) * 5, (25.0, 350.0))


@pytest.fixture(scope="module")
def labels(records):
    return (records.targets - 25) / 162.5 - 1


def test_bins_are_those_of_the_sound_build(records):
    grid = grid_of(records.feature_range, records.bins, 10)
    np.testing.assert_array_equal(Binned.of(records).bins, grid.encode(records.features, "clip"))


def test_sides_are_sums_over_records(records, labels):
    binned, rows = Binned.of(records), np.arange(5, 300)
    nodes = rows % 4
    sides = binned.sides(rows, nodes, labels[rows], 2)
    for at, (feature, last) in enumerate(zip(*binned.cuts, strict=True)):
        for node in range(4):
            left = rows[(nodes == node) & (binned.bins[rows, feature] <= last)]
            assert sides[0, node, at] == len(left)
            assert sides[1, node, at] == pytest.approx(labels[left].sum(), abs=1e-9)
    np.testing.assert_allclose(sides[:, :, -1], [np.bincount(nodes), np.bincount(nodes, labels[rows])])


def test_a_tree_without_noise_makes_the_best_cut(records, labels):
    binned = Binned.of(records)
    build = Undivided(FIVE, "no privacy", trees=1, depth=1)
    (tree,) = boost(build, binned, labels, np.random.default_rng(0))

    def gain(feature, last):
        left = binned.bins[:, feature] <= last
        return sum(labels[side].sum() ** 2 / (side.sum() + 0.1) for side in (left, ~left))

    best = max(zip(*binned.cuts, strict=True), key=lambda cut: gain(*cut))
    assert (tree.features[0][0], tree.last[0][0]) == best
    left = binned.bins[:, best[0]] <= best[1]
    expected = [0.1 * labels[side].sum() / (side.sum() + 0.1) for side in (left, ~left)]
    np.testing.assert_allclose(tree.of(binned.bins), np.where(left, *expected))


@dataclass(frozen=True)
class Spy(Published):
    """Keeps how many records each tree gets."""

    seen: list = field(default_factory=list)

    def leaves(self, nodes, gradients, limit, rng):
        self.seen.append((len(nodes), limit))
        return super().leaves(nodes, gradients, limit, rng)


def test_trees_as_published_get_subsets_of_fixed_size_and_a_falling_limit(records, labels):
    build = Spy(FIVE, "BRR", depth=2)
    # Small labels: nobody's gradient is beyond 1.
    boost(build, Binned.of(records), labels / 10, np.random.default_rng(1))
    shares = [0.1 * 0.9**tree / (1 - 0.9**50) for tree in range(50)]
    assert [count for count, _ in build.seen] == [math.floor(442 * share) for share in shares]
    np.testing.assert_allclose([limit for _, limit in build.seen], [0.9**tree for tree in range(50)])
    assert math.fsum(shares) == pytest.approx(1)


def test_records_with_a_large_gradient_leave_their_tree():
    binned = Binned(np.zeros((40, 1), dtype=np.uint8), np.array([2]))
    build = Spy(FIVE, "no privacy", trees=1, depth=1)
    boost(build, binned, np.where(np.arange(40) < 10, 1.5, 0.5), np.random.default_rng(2))
    assert build.seen == [(30, 1.0)]


def test_trees_as_scripted_take_the_exponents_of_the_scripts():
    assert [ScriptedDPBoost(FIVE, "BRR").picks(tree, 10_000, 0.1) for tree in (0, 48, 49)] == [
        math.floor(1000 * 0.9**exponent / (1 - 0.9**50)) for exponent in (1, 49, 0)
    ]
    build = ScriptedGradients(FIVE, "BRR", Decimal("0.2"))
    assert [build.picks(tree, 10_000, 0.1) for tree in (0, 48, 49)] == [
        math.floor(1000 * 0.9**exponent / (1 - 0.9**49)) for exponent in (0, 48, -1)
    ]


def test_the_scripts_estimate_eta_from_predictions_and_labels():
    # 1/2, 1/4, nothing to divide, and one record that was used: (1/2 + 1/4)/4.
    assert dpboost._estimated(np.array([0.5, -2.0, 0.0]), np.array([-1.0, 0.5, 0.0]), 4) == pytest.approx(0.1875)


def test_scripted_trees_stop_where_labels_are_alike_or_nothing_is_gained():
    binned = Binned(np.array([[0], [0], [1], [1]], dtype=np.uint8), np.array([2]))
    build = ScriptedGradients(FIVE, "no privacy", Decimal("0.2"), trees=2, depth=1)
    tree = dpboost._grow(build, binned, np.arange(4), np.full(4, 0.5), np.full(4, -0.5), 1.0, np.random.default_rng(0))
    assert tree.last[0].tolist() == [2] and tree.leaves.tolist() == [pytest.approx(-2 / 4.1), 0.0]
    labels = np.array([-0.5, -0.5, 0.5, 0.5])
    tree = dpboost._grow(build, binned, np.arange(4), -labels, labels, 1.0, np.random.default_rng(0))
    assert tree.last[0].tolist() == [0] and tree.leaves.tolist() == [pytest.approx(-1 / 2.1), pytest.approx(1 / 2.1)]


def test_one_draw_moves_all_gradients_of_a_leaf_and_draws_of_their_own_do_not():
    build = ScriptedGradients(FIVE, "Laplace", Decimal("0.2"), depth=1)
    nodes, gradients = np.repeat([0, 1], [3, 40]), np.linspace(-0.5, 0.5, 43)
    plain = replace(build, mechanism="no privacy").leaves(nodes, gradients, 1.0, np.random.default_rng(3))
    moved = build.leaves(nodes, gradients, 1.0, np.random.default_rng(3))
    noise = np.random.default_rng(3).laplace(0, 2 / 4, 2)
    np.testing.assert_allclose(moved, plain - noise * np.array([3, 40]) / np.array([3.1, 40.1]))
    each = replace(build, shared=False).leaves(nodes, gradients, 1.0, np.random.default_rng(3))
    own = np.random.default_rng(3).laplace(0, 2 / 4, 43)
    np.testing.assert_allclose(each, plain - np.bincount(nodes, own) / np.array([3.1, 40.1]))
    held = replace(build, mechanism="Laplace, clamped").leaves(nodes, gradients, 0.2, np.random.default_rng(3))
    assert (np.abs(held) <= 0.2).all()


def frequencies(drawn, edges):
    return np.histogram(drawn, edges)[0] / len(drawn)


# Each share of 200,000 draws lies within six of its standard deviations: false alarms below 10⁻⁷ in all.
def near(found, expected, draws=200_000):
    return (np.abs(found - expected) <= 6 * np.sqrt(expected * (1 - expected) / draws) + 1e-12).all()


@pytest.mark.parametrize("value", [0.3, -0.9])
def test_draws_have_the_likelihood_that_is_said(value):
    rng, many = np.random.default_rng(4), np.full(200_000, value)
    brr = Noise("BRR", Decimal("2.5"), 1.0, 0.5)
    points = np.linspace(-0.5, 0.5, 21)
    said = np.array([brr.likelihood(value, point) for point in points])
    np.testing.assert_allclose(said, BRR(Integers(0, 20), "2.5").matrix()[16 if value > 0 else 0])
    found = frequencies(brr.draw(many, rng), np.append(points - 0.025, 0.525))
    assert near(found, said) and not near(found, np.roll(said, 1))

    clamped = Noise("Laplace, clamped", Decimal("2.5"), 1.0, 0.5)
    drawn = clamped.draw(many, rng)
    ends = np.array([clamped.likelihood(value, end) for end in (-0.5, 0.5)])
    found = np.array([(drawn == -0.5).mean(), (drawn == 0.5).mean()])
    assert near(found, ends) and not near(found, ends[::-1])

    laplace = Noise("Laplace", Decimal("2.5"), 1.0, 0.5)
    drawn = laplace.draw(many, rng)
    # Beyond z on each side: half of the density at z, which the likelihood gives times 2·scale.
    beyond = np.array([laplace.likelihood(value, value + 0.8) / 2])
    assert near(np.array([(drawn > value + 0.8).mean()]), beyond)
    assert not near(np.array([(drawn > value + 0.7).mean()]), beyond)


def test_cuts_are_drawn_by_the_exponential_mechanism():
    binned = Binned(np.repeat(np.arange(4, dtype=np.uint8), 5)[:, None], np.array([4]))
    labels = np.repeat([0.8, 0.1, -0.2, -0.6], 5)
    build = Undivided(Decimal(30), "Laplace", trees=1, depth=1)
    rng = np.random.default_rng(5)
    drawn = [boost(build, binned, labels, rng)[0].last[0][0] for _ in range(20_000)]
    sums = [(labels[: 5 * n].sum(), labels[5 * n :].sum(), 5 * n) for n in (1, 2, 3)]
    gains = np.array([a**2 / (n + 0.1) + b**2 / (20 - n + 0.1) for a, b, n in sums])
    law = np.exp(30 / 2 / (2 * 3) * gains)
    found = np.bincount(drawn, minlength=3) / len(drawn)
    assert near(found, law / law.sum(), len(drawn))
    wrong = np.exp(30 / 2 / (2 * 2) * gains)
    assert not near(found, wrong / wrong.sum(), len(drawn))


def test_a_leaf_is_changed_by_at_most_what_its_noise_is_for():
    build = Published(FIVE, "Laplace")
    for tree in (0, 10, 49):
        limit = 0.9**tree
        change = build.noise(limit).change
        assert change == pytest.approx(min(1 / 1.1, 2 * limit))
        assert build.noise(limit).reach == pytest.approx(change / 2)
        for count in range(6):
            sums = np.linspace(-count, count, 41)
            before = build.value(np.array(count), sums, limit)
            after = [build.value(np.array(count + 1), sums + gradient, limit) for gradient in (-1, 1)]
            assert np.abs(after - before).max() <= change + 1e-12


def test_without_noise_it_learns_what_the_sound_build_learns(records):
    errors = {"lab": [], "library": []}
    for seed in range(8):
        held = np.arange(442) % 4 == seed % 4
        build = Published(FIVE, "no privacy", depth=3)
        predicted = dpboost.predictions(build, records, held, np.random.default_rng(seed))
        errors["lab"].append(math.sqrt(((predicted - records.targets[held]) ** 2).mean()))
        model = PaperBoostingRegressor(
            epsilon=1, leaf="none", feature_range=records.feature_range, target_range=records.target_range,
            bins=records.bins, trees=50, ensemble_trees=None, depth=3, learning_rate=0.1, gradient_clip=1.0,
            large_gradients="skip", outside="clip", rng=insecure_seed(seed),
        )  # fmt: skip
        predicted = model.fit(records.features[~held], records.targets[~held]).predict(records.features[held])
        errors["library"].append(math.sqrt(((predicted - records.targets[held]) ** 2).mean()))
    ratio = MeanInterval.of(a / b for a, b in zip(*errors.values(), strict=True))
    assert 0.9 < ratio.mean < 1.1

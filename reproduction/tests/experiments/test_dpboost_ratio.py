"""The loss of DPBoost on one pair of data sets, against sums by hand and over every model."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest

from reproduction.experiments import dpboost_ratio
from reproduction.experiments.dpboost import Published
from reproduction.experiments.dpboost_ratio import (
    DRAWN,
    FEW,
    FIXED,
    ONE_MORE,
    Cell,
    Settings,
    cells,
    log_ratio,
    measure,
)
from reproduction.tests.reading import words


def by_hand(epsilon):
    """Laplace leaves, subsets of fixed size: −1 serves tree 1, 2, 3 or none, each with probability 1/4."""
    rate = epsilon / 2 * 1.1

    def likely(leaf, value):
        return math.exp(-rate * abs(leaf - value))

    leaves = (-1 / 1.1, 0.9, 0.81)
    scores = (0.0, 0.1 * leaves[0], 0.1 * (leaves[0] + leaves[1]))
    limits = (1, 0.9, 0.81)
    old = [min((0.9 - score) / 1.1, limit) for score, limit in zip(scores, limits, strict=True)]
    new = [max((-1 - score) / 1.1, -limit) for score, limit in zip(scores, limits, strict=True)]
    assert abs(scores[1] + 1) <= 1 < abs(-scores[2] - 1) + 0.01
    few = likely(leaves[0], old[0]) * likely(leaves[1], 0) * likely(leaves[2], 0)
    more = 0.0
    for place in range(4):
        values = [new[tree] if tree == place else old[tree] for tree in range(3)]
        more += math.prod(map(likely, leaves, values)) / 4
    return math.log(more / few)


@pytest.mark.parametrize("epsilon", [1, 5, 10])
def test_the_ratio_is_that_of_sums_by_hand(epsilon):
    found = log_ratio(Published(Decimal(epsilon), "Laplace", trees=3), FIXED)
    assert found == pytest.approx(by_hand(epsilon), rel=1e-9)
    assert found > epsilon


def test_subsets_are_what_the_page_says():
    build = Published(Decimal(5), "BRR", trees=3)
    assert [build.picks(tree, 3, 0.1) for tree in range(3)] == [1, 0, 0]
    assert [build.picks(tree, 4, 0.1) for tree in range(3)] == [1, 1, 1]
    for ways in (dpboost_ratio.fixed_subsets, dpboost_ratio.drawn_subsets):
        for people in (3, 4):
            found = list(ways(build, people))
            assert math.fsum(probability for _, probability in found) == pytest.approx(1)
            for subsets, _ in found:
                everyone = [record for rows in subsets for record in rows]
                assert len(set(everyone)) == len(everyone)
    assert all(sum(map(len, subsets)) == 4 for subsets, _ in dpboost_ratio.drawn_subsets(build, 4))


def worst(build, ways):
    """The largest |ln ratio| over every model of BRR's leaves, likelihoods multiplied in another order."""
    points = np.linspace(-1, 1, 21)
    reaches = [build.noise(0.9**tree).reach for tree in range(3)]
    models = [
        tuple(x * reach for x, reach in zip(each, reaches, strict=True))
        for each in itertools.product(points[::5], repeat=3)
    ]
    losses = []
    for model in models:
        few, more = (
            sum(p * dpboost_ratio.likelihood(build, labels, subsets, model) for subsets, p in ways(build, len(labels)))
            for labels in (FEW, ONE_MORE)
        )
        losses.append(abs(math.log(more / few)))
    return max(losses)


def test_where_each_record_draws_its_tree_no_model_goes_beyond_what_leaves_spend():
    build = Published(Decimal(5), "BRR", trees=3)
    # Half of ε is for the cuts, which tell nothing here.
    assert worst(build, dpboost_ratio.drawn_subsets) <= 2.5 + 1e-9
    beyond = worst(build, dpboost_ratio.fixed_subsets)
    assert beyond >= log_ratio(build, FIXED) - 1e-9 > 5


def test_every_cell_says_both_and_is_drawn():
    rows = [row for cell in cells(Settings(epsilons=("1", "5"))) for row in measure(cell)]
    assert len(rows) == 3 * 2 * 2
    assert all(row["log_ratio"] < row["epsilon"] for row in rows if row["build"] == DRAWN)
    told = words(dpboost_ratio.draw(rows)["dpboost_ratio"])
    assert all(name in told for name in ("what is promised", "BRR", "Laplace", "Laplace, clamped"))
    assert all(f"Three trees, 3 or 4 records: {build}" in told for build in (FIXED, DRAWN))


def test_a_cell_is_measured_the_same_every_time():
    assert measure(Cell("BRR", "5")) == measure(Cell("BRR", "5"))

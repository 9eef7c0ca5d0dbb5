"""The m-th neighbours of all points, found through a tree, are those that each row says on its own."""

from __future__ import annotations

import numpy as np
import pytest

from bipartite import BRR, Points, from_spec, insecure_seed
from bipartite.lottery import draw_many, kernel
from bipartite.lottery.compiled_nearest import NearestTable
from bipartite.lottery.order import VectorOrder, farthest_near

RNG = np.random.default_rng(11)


def clusters(count, axes, spread):
    """Points in tight groups far apart, as places are: bands are narrow within a group and wide between two."""
    middles = RNG.integers(-(2**25), 2**25, (9, axes))
    made = middles[RNG.integers(0, 9, 2 * count)] + RNG.integers(-spread, spread + 1, (2 * count, axes))
    return np.unique(made, axis=0)[:count]


GRID = np.array(np.meshgrid(np.arange(40), np.arange(33))).reshape(2, -1).T
SETS = {
    "a grid, full of ties": GRID[RNG.permutation(len(GRID))] * 1000,
    "a grid of small steps": GRID,
    "a line": np.arange(1100)[:, None] * 3,
    "clusters in space": clusters(1200, 3, 40),
    "wide clusters": clusters(1200, 3, 2**20),
    "many axes": RNG.integers(-(2**21), 2**21, (700, 11)),
    "far from the origin": RNG.integers(0, 2**20, (700, 2)) + 2**51,
    "one leaf": RNG.integers(0, 100_000, (20, 3)),
}


@pytest.mark.grid(5)
@pytest.mark.parametrize("kind", ["squared", "manhattan"])
@pytest.mark.parametrize("name", SETS)
def test_the_tree_finds_what_each_row_says(name, kind):
    vectors = np.random.default_rng(12).permutation(np.unique(SETS[name], axis=0))
    order = VectorOrder(vectors, kind)
    for m in {1, 2, 7, len(vectors) // 3, len(vectors) - 1}:
        table = NearestTable(order, m)
        expected = [farthest_near(x, order.distances(x), m) for x in range(len(vectors))]
        assert table.farthest.tolist() == [each.distance for each in expected]
        assert table.last.tolist() == [each.index for each in expected]


def test_a_large_design_finds_the_neighbours_ahead_and_tells_of_it(monkeypatch):
    monkeypatch.setattr(kernel, "PREPARE_FROM", 700)
    places = Points(RNG.uniform([-60, -180], [70, 180], (700, 2)), metric="haversine")
    done = []
    mechanism = BRR(places, 1, progress=done.append)
    assert sum(done) == 2 * 700
    assert mechanism.lottery.prepared
    found = mechanism.lottery.neighbours()
    assert mechanism.lottery.kernel(5).__module__ == "bipartite.lottery.compiled_points"  # a few reports are fast too
    values = RNG.integers(0, 700, 5000)
    reports = mechanism.privatize(values, rng=insecure_seed(1))
    assert mechanism.lottery.neighbours() is found
    restored = from_spec(mechanism.to_spec())
    assert not restored.lottery.prepared
    assert (restored.lottery.neighbours().farthest == found.farthest).all()
    assert (restored.lottery.neighbours().last == found.last).all()
    assert (restored.privatize(values, rng=insecure_seed(1)) == reports).all()


def test_a_small_design_finds_nothing_ahead():
    mechanism = BRR(Points(RNG.uniform(0, 1, (300, 2))), 1)
    mechanism.privatize(3)
    assert not mechanism.lottery.prepared


def test_near_outputs_are_listed_alike_with_and_without_the_compiler(monkeypatch):
    monkeypatch.setattr(kernel, "PREPARE_FROM", 2)
    grid = np.array(np.meshgrid(np.arange(30), np.arange(20))).reshape(2, -1).T  # full of ties
    sphere = Points(RNG.uniform([-60, -180], [70, 180], (600, 2)), metric="haversine")
    for domain, m in ((Points(grid), 1), (Points(grid), 2), (Points(grid), 20), (sphere, 1), (sphere, 20)):
        mechanism = BRR(domain, 6, m=m)
        assert mechanism.lottery.by_list and mechanism.lottery.prepared
        assert mechanism.lottery.kernel(5).__module__ == "bipartite.lottery.compiled_points"
        values = RNG.integers(0, 600, 4000)
        plain = draw_many(
            mechanism.lottery,
            mechanism.domain.codec(mechanism.outputs, "error"),
            values,
            insecure_seed(3),
            kernel=mechanism.lottery.draw_block,
        )
        assert (mechanism.privatize(values, rng=insecure_seed(3)) == plain).all()
        assert len(np.unique(plain)) > 100


def test_without_a_compiler_a_large_design_is_made_all_the_same(monkeypatch):
    monkeypatch.setattr(kernel, "PREPARE_FROM", 2)
    monkeypatch.setattr(kernel, "compiled", lambda _: None)
    mechanism = BRR(Points(RNG.uniform(0, 1, (30, 2))), 1)
    assert not mechanism.lottery.prepared
    assert mechanism.privatize(3) in range(30)

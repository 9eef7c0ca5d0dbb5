"""Lotteries over sets of anchors against the linear programme over all releases; ``bench/best_release.py`` has more."""

import itertools
import math

import numpy as np
import pytest

from bipartite import Items, Points
from bipartite.errors import InputError
from bipartite.mechanisms.design.minimax import minimax_lottery_of_set, minimax_lottery_on_line
from tests.mechanisms.design.test_anchors_sets import least_of_any_release


def losses_of(kind, size):
    """The argument, and the N × N losses."""
    distances = np.abs(np.arange(size)[:, None] - np.arange(size))
    if kind == "table":
        table = np.sqrt(np.arange(size)) + (np.arange(size) > size / 3) - 0.25
        return table, table[distances]
    return kind, distances.astype(float) if kind == "absolute" else distances.astype(float) ** 2


def worst_of_best(sets, loss, e):
    """The least worst-case loss of any of these sets alone."""
    tables = ((loss[:, each], e - 1 + len(each)) for each in map(list, sets))
    return min(float(((e - 1) * table.min(axis=1) + table.sum(axis=1)).max()) / total for table, total in tables)


def tree(rng, size):
    """Distances along a random tree."""
    apart = np.zeros((size, size))
    for new in range(1, size):
        way = apart[rng.integers(new), :new] + rng.uniform(0.1, 1)
        apart[new, :new] = apart[:new, new] = way
    return apart


def worst_of(loss, e, choice):
    """What the worst item pays under a lottery, from GRR's own chances."""
    paid = np.zeros(len(loss))
    for weight, anchors in zip(choice.weights.tolist(), choice.sets, strict=True):
        chances = np.full((len(loss), len(anchors)), 1 / (e + len(anchors) - 1))
        chances[np.arange(len(loss)), loss[:, anchors].argmin(axis=1)] *= e
        paid += weight * (chances * loss[:, anchors]).sum(axis=1)
    return float(paid.max())


def check(choice, loss, e):
    """The lottery is a lottery, costs what it says, and its bound is one."""
    assert choice.weights.min() > 0 and choice.weights.sum() == pytest.approx(1)
    assert all((np.diff(anchors) > 0).all() for anchors in choice.sets)
    assert len({anchors.tobytes() for anchors in choice.sets}) == len(choice.sets)
    assert choice.loss == pytest.approx(worst_of(loss, e, choice), rel=1e-9, abs=1e-12)
    optimum = least_of_any_release(loss, e)
    spread = np.ptp(loss) or 1.0
    assert choice.lower <= optimum + 1e-7 * spread
    assert choice.loss >= optimum - 1e-7 * spread
    return optimum


@pytest.mark.parametrize("kind", ["absolute", "squared", "table"])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 6])
def test_on_a_line_it_is_the_best_release(kind, epsilon):
    e = math.exp(epsilon)
    for size in (2, 5, 14):
        own, loss = losses_of(kind, size)
        choice = minimax_lottery_on_line(size, e, own)
        optimum, base = check(choice, loss, e), loss.min()
        assert choice.loss - base == pytest.approx(optimum - base, rel=1e-6)
        assert choice.lower - base == pytest.approx(optimum - base, rel=1e-6)


def test_the_figures_of_the_page():
    """Ten values at ε = 3: 1.116, where the best set is 36 % above; and a line of three with e^ε = 2."""
    choice = minimax_lottery_on_line(10, math.exp(3), "absolute")
    assert choice.loss == pytest.approx(1.11612, abs=1e-5)
    every_set = (each for count in range(1, 11) for each in itertools.combinations(range(10), count))
    single = worst_of_best(every_set, losses_of("absolute", 10)[1], math.exp(3))
    assert single / choice.loss == pytest.approx(1.362, abs=1e-3)
    three = minimax_lottery_on_line(3, 2.0, "absolute")
    assert three.weights == pytest.approx([3 / 7, 4 / 7], rel=1e-6) and three.loss == pytest.approx(5 / 7, rel=1e-8)


@pytest.mark.grid(3)
@pytest.mark.parametrize("case", range(8))
def test_on_trees_it_is_the_best_release(case):
    rng = np.random.default_rng(case)
    size, e = int(rng.integers(3, 17)), float(np.exp(rng.uniform(0.3, 4)))
    loss = tree(rng, size) ** rng.uniform(0.5, 2)
    choice = minimax_lottery_of_set(Items(None, loss=loss), e)
    assert choice.loss == pytest.approx(check(choice, loss, e), rel=1e-6)


@pytest.mark.grid(4)
@pytest.mark.parametrize("case", range(8))
def test_elsewhere_it_is_close_and_says_how_close(case):
    rng = np.random.default_rng(100 + case)
    size, e = int(rng.integers(3, 17)), float(np.exp(rng.uniform(0.3, 4)))
    domain = (
        Points(rng.random((size, 2)))
        if case % 2
        else Items(None, loss=rng.random((size, size)), allow_off_diagonal=True)
    )
    loss = domain.loss_matrix()
    choice = minimax_lottery_of_set(domain, e)
    optimum = check(choice, loss, e)
    # Over many cases: points are within 0.1 %, and losses without any structure within 3 %.
    assert choice.loss <= optimum * (1.002 if case % 2 else 1.05)
    assert choice.lower >= optimum * 0.9


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("kind", "size", "gap"), [("absolute", 150, 1e-3), ("squared", 150, 1e-3), ("table", 100, 0.01)]
)
def test_on_a_longer_line_the_gap_is_small(kind, size, gap):
    own, matrix = losses_of(kind, size)
    choice = minimax_lottery_on_line(size, math.exp(1), own)
    # A set and its mirror image: rarer ones would have too few tickets.
    assert choice.weights.min() > 4e-9
    assert choice.loss == pytest.approx(worst_of(matrix, math.exp(1), choice), rel=1e-9)
    assert choice.lower <= choice.loss <= choice.lower * (1 + gap)


def test_a_very_long_line_keeps_fewer_sets(monkeypatch):
    many = minimax_lottery_on_line(150, math.exp(2), "absolute")
    monkeypatch.setattr("bipartite.mechanisms.design.minimax.MOST_ENTRIES", 150 * 8)
    few = minimax_lottery_on_line(150, math.exp(2), "absolute")
    assert len(few.sets) <= 8 < len(many.sets)
    matrix = losses_of("absolute", 150)[1]
    fours = ([a, b, 149 - b, 149 - a] for a, b in itertools.combinations(range(75), 2))
    assert many.loss < few.loss < worst_of_best(fours, matrix, math.exp(2))
    assert few.loss == pytest.approx(worst_of(matrix, math.exp(2), few), rel=1e-9)


def test_no_epsilon_at_all_leaves_the_middle():
    choice = minimax_lottery_on_line(5, 1.0, "absolute")
    assert choice.loss == pytest.approx(2) and choice.lower == pytest.approx(2)
    assert minimax_lottery_on_line(1, 2.0, "absolute").sets[0].tolist() == [0]


def test_a_loss_that_is_neither_named_nor_a_table_is_refused():
    with pytest.raises(
        InputError, match="Expected loss as 'absolute', 'squared' or an array of 3 numbers, got 'cubic'"
    ):
        minimax_lottery_on_line(3, 2.0, "cubic")

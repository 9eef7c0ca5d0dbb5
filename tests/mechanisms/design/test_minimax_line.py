"""Anchors for the worst case: against every subset, and the bound against the linear programme."""

import itertools
import math

import numpy as np
import pytest

from bipartite.errors import InputError
from bipartite.mechanisms.design.minimax_line import minimax_anchors_on_line
from bipartite.mechanisms.design.optimum import optimal_matrix


def losses_of(kind, size):
    """The argument, and the N × N losses."""
    distances = np.abs(np.arange(size)[:, None] - np.arange(size))
    if kind == "table":
        table = np.sqrt(np.arange(size)) + (np.arange(size) > size / 3) - 0.25
        return table, table[distances]
    return kind, distances.astype(float) if kind == "absolute" else distances.astype(float) ** 2


def worst_of(anchors, e, matrix):
    near = matrix[:, list(anchors)]
    return float(((e - 1) * near.min(axis=1) + near.sum(axis=1)).max()) / (e + len(anchors) - 1)


@pytest.mark.parametrize("kind", ["absolute", "squared", "table"])
@pytest.mark.parametrize("epsilon", [0, 0.1, 1, 3, 6])
def test_hardly_any_subset_is_better(kind, epsilon):
    e = math.exp(epsilon)
    for size in (1, 2, 5, 8, 10):
        loss, matrix = losses_of(kind, size)
        choice = minimax_anchors_on_line(size, e, loss)
        assert choice.loss == pytest.approx(worst_of(choice.anchors, e, matrix), rel=1e-12)
        sets = (s for k in range(1, size + 1) for s in itertools.combinations(range(size), k))
        best, base = min(worst_of(s, e, matrix) for s in sets), matrix.min()
        assert choice.loss >= best - 1e-12
        assert choice.loss - base <= (best - base) * 1.05 + 1e-12


@pytest.mark.parametrize("kind", ["absolute", "squared", "table"])
@pytest.mark.parametrize("epsilon", [0.25, 1, 2, 4])
def test_the_bound_is_below_the_optimum_of_all_releases_and_close_to_it(kind, epsilon):
    e = math.exp(epsilon)
    for size in (12, 33):
        loss, matrix = losses_of(kind, size)
        choice = minimax_anchors_on_line(size, e, loss)
        base = matrix.min()
        optimum = optimal_matrix(matrix, e, "minimax")[1] - base
        assert 0.98 * optimum <= choice.lower - base <= optimum * (1 + 1e-9)
        # One set cannot do better than all releases, and a lottery over sets does better than one: by up to 40 % here.
        assert optimum * (1 - 1e-9) <= choice.loss - base <= 1.4 * optimum


def test_at_small_epsilon_one_set_is_as_good_as_any_release_for_the_squared_loss():
    for epsilon in (0.25, 1):
        choice = minimax_anchors_on_line(31, math.exp(epsilon), "squared")
        optimum = optimal_matrix(losses_of("squared", 31)[1], math.exp(epsilon), "minimax")[1]
        assert choice.loss == pytest.approx(optimum, rel=1e-7)


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_long_lines_scale_as_short_ones(loss):
    power = 1 if loss == "absolute" else 2
    short, long = (minimax_anchors_on_line(size, math.exp(2), loss) for size in (300, 20_000))
    assert long.loss / 20_000**power == pytest.approx(short.loss / 300**power, rel=0.02)
    assert long.lower / 20_000**power == pytest.approx(short.lower / 300**power, rel=0.02)
    assert long.lower <= long.loss


def test_a_huge_budget_gives_grr():
    choice = minimax_anchors_on_line(20, 1e12, "absolute")
    assert choice.anchors.tolist() == list(range(20))
    assert choice.loss == pytest.approx(19 * 20 / 2 / (1e12 + 19), rel=1e-9)


def test_what_is_no_line_is_refused():
    with pytest.raises(
        InputError, match="Expected loss as 'absolute', 'squared' or an array of 3 numbers, got 'cubic'"
    ):
        minimax_anchors_on_line(3, 2.0, "cubic")

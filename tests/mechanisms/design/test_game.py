"""The least worst row of a table: both players at one value, against a linear programme stated the other way."""

import numpy as np
import pytest
from scipy.optimize import linprog

from bipartite.mechanisms.design.minimax import solve_game


def value_of(losses):
    """The value of the game by linear programming."""
    rows, columns = losses.shape
    worst = np.column_stack([losses, -np.ones(rows)])
    weights = np.append(np.ones(columns), 0.0)[None, :]
    bounds = [(0, None)] * columns + [(None, None)]
    solved = linprog(np.append(np.zeros(columns), 1.0), worst, np.zeros(rows), weights, [1.0], bounds=bounds)
    assert solved.status == 0
    return solved.fun


@pytest.mark.parametrize("case", range(60))
def test_both_players_reach_the_value(case):
    rng = np.random.default_rng(case)
    losses = rng.normal(size=(rng.integers(1, 30), rng.integers(1, 30)))
    if case % 3 == 0:
        losses = np.round(2 * losses)  # many ties
    columns, rows = solve_game(losses)
    assert columns.min() >= 0 and rows.min() >= 0
    assert (columns.sum(), rows.sum()) == pytest.approx((1, 1))
    value = value_of(losses)
    scale = np.ptp(losses) or 1.0
    assert float((losses @ columns).max()) == pytest.approx(value, abs=1e-7 * scale)
    assert float((rows @ losses).min()) == pytest.approx(value, abs=1e-7 * scale)


def test_where_all_losses_are_equal_any_weights_will_do():
    columns, rows = solve_game(np.full((3, 2), 5.0))
    assert columns.tolist() == [1, 0] and rows.tolist() == [1, 0, 0]


def test_a_column_without_any_loss_is_taken():
    assert solve_game(np.array([[1.0, 0.0], [2.0, 0.0]]))[0] == pytest.approx([0, 1])


def test_scissors_paper_and_stone_are_drawn_alike():
    columns, rows = solve_game(np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]]))
    assert columns == pytest.approx([1 / 3] * 3) and rows == pytest.approx([1 / 3] * 3)

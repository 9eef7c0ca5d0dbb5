"""The linear programme: against closed forms and the textbook's form of it, and what it promises about the matrix."""

import math

import numpy as np
import pytest
from scipy import optimize

from bipartite.errors import DesignError, InputError, PriorError
from bipartite.mechanisms.design.optimum import optimal_matrix


def line(size):
    points = np.arange(size)
    return np.abs(points[:, None] - points).astype(float)


def random_prior(rng, size):
    weights = rng.random(size) * (rng.random(size) < 0.7)
    weights[rng.integers(size)] += 0.2
    return weights / weights.sum()


CASES = [
    (size, epsilon, kind, prior)
    for size in (2, 7, 30)
    for epsilon in (0.01, 1, 5, 12)
    for kind in ("line", "any")
    for prior in ("none", "zeros", "minimax")
]


@pytest.mark.parametrize(("size", "epsilon", "kind", "prior"), CASES)
def test_the_matrix_is_a_release_that_keeps_epsilon_and_costs_what_it_says(size, epsilon, kind, prior):
    rng = np.random.default_rng(size)
    losses = line(size) if kind == "line" else rng.normal(size=(size, size))
    weights = {"none": None, "zeros": random_prior(rng, size), "minimax": "minimax"}[prior]
    matrix, value = optimal_matrix(losses, math.exp(epsilon), weights)
    assert matrix.shape == (size, size) and (matrix >= 0).all()
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-15 * size
    used = matrix.max(axis=0) > 0
    # An output is either never given or can come from every input.
    assert (matrix[:, ~used] == 0).all() and (matrix[:, used] > 0).all()
    assert (matrix[:, used].max(axis=0) / matrix[:, used].min(axis=0)).max() <= math.exp(epsilon) * (1 + 1e-9)
    by_item = [math.fsum(matrix[x] * losses[x]) for x in range(size)]
    if prior == "minimax":
        assert value == pytest.approx(max(by_item), rel=1e-12)
    else:
        weights = np.full(size, 1 / size) if weights is None else weights
        assert value == pytest.approx(math.fsum(weights * by_item), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1, 3, 10])
def test_two_items_give_randomised_response(epsilon):
    e = math.exp(epsilon)
    wrong = 1 / (1 + e)
    for prior in (None, "minimax"):
        matrix, value = optimal_matrix(line(2), e, prior)
        assert value == pytest.approx(wrong, rel=1e-9)
        assert matrix == pytest.approx(np.array([[1 - wrong, wrong], [wrong, 1 - wrong]]), rel=1e-8)


@pytest.mark.parametrize("prior", [None, "minimax"])
def test_equal_losses_for_all_wrong_reports_give_grr_its_value(prior):
    # The loss of GRR is the best here: Kairouz, Oh and Viswanath (2014).
    e = math.exp(2.5)
    _, value = optimal_matrix(1 - np.eye(12), e, prior)
    assert value == pytest.approx(11 / (e + 11), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 1, 2, 5])
def test_the_programme_as_a_textbook_writes_it_has_the_same_value(epsilon):
    rng = np.random.default_rng(5)
    size, e = 8, math.exp(epsilon)
    losses, prior = rng.random((size, size)), random_prior(rng, 8)
    _, value = optimal_matrix(losses, e, prior)
    # The programme as a textbook writes it, for every pair of inputs: P_xy ≤ e·P_x'y.
    pairs = [
        (x * size + y, other * size + y)
        for x in range(size)
        for other in range(size)
        for y in range(size)
        if x != other
    ]
    ratios = np.zeros((len(pairs), size * size))
    for row, (top, bottom) in enumerate(pairs):
        ratios[row, top], ratios[row, bottom] = 1, -e
    sums = np.kron(np.eye(size), np.ones(size))
    textbook = optimize.linprog(
        (prior[:, None] * losses).ravel(), ratios, np.zeros(len(pairs)), sums, np.ones(size), method="highs-ipm"
    )
    assert value == pytest.approx(textbook.fun, rel=1e-8)


@pytest.mark.parametrize("prior", [None, "minimax"])
def test_gains_are_negative_losses_and_shifts_only_shift(prior):
    rng = np.random.default_rng(1)
    sets = rng.random((15, 6)) < 0.5
    sets[:, 0] = True
    similarity = (sets[:, None] & sets).sum(axis=2) / (sets[:, None] | sets).sum(axis=2)
    gain, distance = optimal_matrix(-similarity, 5.0, prior)[1], optimal_matrix(1 - similarity, 5.0, prior)[1]
    assert gain == pytest.approx(distance - 1, rel=1e-9)
    assert optimal_matrix(1e6 * (1 - similarity), 5.0, prior)[1] == pytest.approx(1e6 * distance, rel=1e-9)
    if prior is None:
        shift = rng.normal(size=15) * 100
        shifted = optimal_matrix(1 - similarity + shift[:, None], 5.0, None)[1]
        assert shifted == pytest.approx(distance + shift.mean(), rel=1e-9)


def test_rows_that_cost_more_anyway_count_in_the_worst_case():
    # Item 1 costs 10 whatever is said, so the others need not be served well: the worst case is 10, not less.
    losses = line(5)
    losses[1] += 10
    matrix, value = optimal_matrix(losses, 2.0, "minimax")
    assert value == pytest.approx(float((matrix * losses).sum(axis=1)[1]), rel=1e-12)
    assert 10 <= value < optimal_matrix(line(5), 2.0, "minimax")[1] + 10


@pytest.mark.parametrize("epsilon", [0.2, 1, 3])
def test_the_worst_case_costs_at_least_what_any_prior_costs_and_some_prior_reaches_it(epsilon):
    rng = np.random.default_rng(3)
    e, losses = math.exp(epsilon), rng.random((10, 10))
    matrix, worst = optimal_matrix(losses, e, "minimax")
    assert worst == pytest.approx((matrix * losses).sum(axis=1).max(), rel=1e-12)
    for _ in range(30):
        assert optimal_matrix(losses, e, random_prior(rng, 10))[1] <= worst * (1 + 1e-9)
    # von Neumann: the best of all priors reaches it. Cutting planes find that prior.
    rows = [np.full(10, losses.mean())]
    for _ in range(200):
        game = optimize.linprog(
            np.r_[np.zeros(10), -1],
            np.c_[-np.array(rows), np.ones(len(rows))],
            np.zeros(len(rows)),
            np.r_[np.ones(10), 0][None],
            [1],
            bounds=[(0, 1)] * 10 + [(None, None)],
        )
        prior = np.clip(game.x[:10], 0, None)
        prior /= prior.sum()
        answer, value = optimal_matrix(losses, e, prior)
        if value > worst * (1 - 1e-7):
            return
        rows.append((answer * losses).sum(axis=1))
    pytest.fail("no prior reaches the value of the worst case")


def test_losses_that_no_report_can_change_cost_what_they_are():
    matrix, value = optimal_matrix(np.array([[1.0, 1.0], [3.0, 3.0]]), 2.0, np.array([0.5, 0.5]))
    assert value == 2 and matrix.tolist() == [[1, 0], [1, 0]]
    assert optimal_matrix(np.array([[1.0, 1.0], [3.0, 3.0]]), 2.0, "minimax")[1] == 3
    assert optimal_matrix(np.array([[7.0]]), 2.0, None) == (np.ones((1, 1)), 7)


def test_without_a_budget_the_answer_is_constant():
    matrix, value = optimal_matrix(line(9), 1.0, None)
    assert value == pytest.approx(20 / 9, rel=1e-12)
    assert (matrix == matrix[0]).all()


@pytest.mark.parametrize(
    ("losses", "e", "kind", "message"),
    [
        (np.zeros((2, 3)), 2.0, InputError, r"Expected losses as an N × N array .* got float64 of shape \(2, 3\)"),
        (np.zeros((0, 0)), 2.0, InputError, "give the loss of reporting each item for each item"),
        (np.array([["a"]]), 2.0, InputError, "Expected losses as an N × N array of numbers, got <U1"),
        (np.array([[0, np.nan], [1, 0]]), 2.0, InputError, "Expected finite losses, got NaN or infinity; give a large"),
        (np.eye(2), 0.5, InputError, r"Expected e as e\^ε, a finite number of at least 1, got 0.5; pass math.exp"),
        (np.eye(2), math.inf, InputError, "got inf; pass math.exp"),
        (np.eye(2), "1", InputError, "got '1'; pass math.exp"),
        (np.eye(2), 1e9, DesignError, r"Expected e\^ε of at most 1e\+08 .* got 1e\+09; use Anchored or GRR"),
        (np.zeros((401, 401)), 2.0, DesignError, "Expected at most 400 items for the optimum, got 401; use Anchored"),
    ],
)
def test_what_cannot_be_solved_is_refused(losses, e, kind, message):
    with pytest.raises(kind, match=message):
        optimal_matrix(losses, e, None)


@pytest.mark.parametrize(
    ("prior", "kind", "message"),
    [
        (
            "maximin",
            InputError,
            "Expected prior as probabilities, None for uniform, or 'minimax', got 'maximin'",
        ),
        (np.array([0.5, 0.25, 0.25]), PriorError, r"Expected prior as 2 probabilities, got shape \(3,\)"),
        (np.array([0.5, 0.6]), PriorError, "got a sum of 1.1; divide it by its sum"),
    ],
)
def test_what_is_no_prior_is_refused(prior, kind, message):
    with pytest.raises(kind, match=message):
        optimal_matrix(line(2), 2.0, prior)


def test_a_solver_that_gives_up_is_an_error(monkeypatch):
    gave_up = optimize.OptimizeResult(status=4, message="Numerical difficulties.", x=None)
    monkeypatch.setattr(optimize, "linprog", lambda *_, **__: gave_up)
    with pytest.raises(DesignError, match=r"the solver gave up: Numerical difficulties\. Use Anchored, or fewer items"):
        optimal_matrix(line(3), 2.0, None)

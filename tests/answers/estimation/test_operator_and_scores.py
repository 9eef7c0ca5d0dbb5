"""Products without a matrix, scores in closed form, and what can be told apart: all against the dense matrix."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import (
    BRR,
    GRR,
    Constant,
    Cyclic,
    Duchi,
    Geometric,
    Hybrid,
    Integers,
    Interval,
    Laplace,
    Piecewise,
    Points,
    SquareWave,
    Staircase,
    identifiability,
)
from bipartite.answers.estimation.output_scores import CellScores, DenseScores, WindowScores
from bipartite.errors import DesignError, InputError
from bipartite.lottery import Deal, Tickets, Window
from bipartite.lottery.noise import _next_fast_length
from tests.locations.worlds import authors_places
from tests.rivals import MECHANISMS
from tests.strategies import brr, epsilons, integer_domains
from tests.strategies_sets import sets

SMALL = Interval(0, 1, points=11)
CONTINUOUS = {
    "laplace": Laplace(SMALL, 1),
    "clamped laplace": Laplace(SMALL, 1, clamped=True),
    "staircase": Staircase(SMALL, 1),
    "duchi": Duchi(SMALL, 1),
    "piecewise": Piecewise(SMALL, 1),
    "hybrid": Hybrid(SMALL, 1),
}
ALL = MECHANISMS | CONTINUOUS


@pytest.mark.parametrize("name", ALL)
def test_both_products_are_those_of_the_matrix(name):
    mechanism = ALL[name]
    operator, matrix = mechanism.lottery.channel(), mechanism.matrix()
    generator = np.random.default_rng(1)
    f, v = generator.dirichlet(np.ones(len(matrix)), size=3), generator.normal(size=(3, matrix.shape[1]))
    np.testing.assert_allclose(operator.forward(f), f @ matrix, atol=1e-14)
    np.testing.assert_allclose(operator.backward(v), v @ matrix.T, atol=1e-14)
    np.testing.assert_allclose(operator.forward(f[0]), f[0] @ matrix, atol=1e-14)
    np.testing.assert_allclose(operator.uniform_law(), matrix.mean(axis=0), atol=1e-14)


def test_what_has_no_structure_and_does_not_fit_is_refused():
    class Huge(Deal):
        inputs = outputs = 2**14

    with pytest.raises(DesignError, match="without structure takes too much memory; use GRR"):
        Huge().channel()


NOISES = [
    Laplace(Interval(0, 1, points=30), 1),
    Laplace(Interval(0, 1, points=2), 1),
    Laplace(Interval(0, 1, points=30), 8),
    Staircase(Interval(0, 1, points=30), 1),
    Staircase(Interval(0, 1, points=6), 4),
]


@pytest.mark.parametrize("mechanism", NOISES, ids=str)
def test_outputs_past_both_ends_of_noise_are_condensed_without_loss(mechanism):
    matrix, operator = mechanism.matrix(), mechanism.lottery.channel()
    cell_of, cells = operator.condensed()
    added = np.zeros((len(matrix), cells.outputs))
    np.add.at(added.T, cell_of, matrix.T)
    assert cells.outputs < matrix.shape[1] / 3
    np.testing.assert_allclose(cells.forward(np.eye(len(matrix))), added, atol=1e-14)
    # What a report tells, for a uniform population: the same before and after, but for the rounding of tickets.
    before, after = ((p / p.mean(axis=0)) @ p.T for p in (matrix, added))
    np.testing.assert_allclose(after, before, rtol=1e-8)


@pytest.mark.parametrize("mechanism", NOISES[:4], ids=str)
def test_scores_of_cells_are_unbiased_and_of_least_variance(mechanism):
    matrix, found = mechanism.matrix(), identifiability(mechanism)
    law = matrix.mean(axis=0)
    scores, dense = found.scores(law), DenseScores(matrix, law, found.rank)
    assert found.identifiable and isinstance(scores, CellScores)
    ours, theirs = (each.of(np.eye(len(matrix))) for each in (scores, dense))
    np.testing.assert_allclose(ours @ matrix.T, np.eye(len(matrix)), atol=1e-9)
    np.testing.assert_allclose(ours**2 @ law, theirs**2 @ law, rtol=1e-6)
    for name in ("shares", "cumulative"):
        ours, theirs = (getattr(each, name)(law) for each in (scores, dense))
        np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-6)
        np.testing.assert_allclose(ours.square, theirs.square, rtol=1e-6)
    np.testing.assert_allclose(scores.share_spreads(), np.ptp(scores.of(np.eye(len(matrix))), axis=1))


@given(st.sampled_from(["padded", "clamped", "grr", "ring", "noise", "points"]), st.integers(0, 2**32))
def test_rows_on_cells_are_the_rows_of_the_matrix(name, seed):
    generator = np.random.default_rng(seed)
    mechanism = {
        "padded": BRR(Integers(0, 30), 1, edges="padded"),
        "clamped": BRR(Integers(0, 30), 1),
        "grr": GRR(Integers(0, 30), 1),
        "ring": BRR(Cyclic(31), 1, m=9),
        "noise": Laplace(Interval(0, 1, points=31), 5),
        "points": BRR(Points(np.random.default_rng(1).random((31, 2))), 1),
    }[name]
    operator, matrix = mechanism.lottery.channel(), mechanism.matrix()
    chosen = np.sort(generator.choice(31, generator.integers(1, 31), replace=False))
    rows, starts = operator.cells(chosen)
    assert (starts is not None) == operator.has_cells
    if starts is not None:
        rows = np.repeat(rows, np.diff(np.append(starts, operator.outputs)), axis=1)
    np.testing.assert_allclose(rows, matrix[chosen], rtol=1e-12)
    # Values in one group have equal rows on what was seen, and so only they, but for those near nothing that was seen:
    # their share is zero.
    seen = generator.random(operator.outputs) < 0.2
    groups, distinct = operator.distinct(seen)
    groups = np.arange(31) if groups is None else groups
    rows = distinct.forward(np.eye(distinct.inputs))[groups]
    np.testing.assert_allclose(rows[:, seen], matrix[:, seen], atol=1e-14)
    near = np.flatnonzero((matrix[:, seen] > matrix.min()).any(axis=1))
    if name not in {"noise", "grr"}:
        assert len(np.unique(matrix[near][:, seen], axis=0)) == len(np.unique(groups[near]))


@given(st.integers(2, 25), st.integers(0, 14), epsilons, st.integers(0, 2**32))
def test_scores_of_a_window_are_those_of_least_variance(size, half, epsilon, seed):
    try:
        mechanism = BRR(Integers(0, size - 1), epsilon, m=2 * half + 1, edges="padded")
    except DesignError:
        mechanism = BRR(Integers(0, size - 1), 3, m=2 * half + 1, edges="padded")
    generator = np.random.default_rng(seed)
    matrix = mechanism.matrix()
    law, other = generator.dirichlet(np.ones(matrix.shape[1]), size=2)
    law, other = law + 1e-3, other + 1e-3
    w = generator.normal(size=(3, size))
    window, dense = WindowScores(mechanism.lottery.channel(), law), DenseScores(matrix, law, size)
    found = window.of(w)
    # Unbiased for every value, and by an independent solver (the pseudo-inverse of the scaled matrix) the least.
    scale = np.abs(found).max()
    np.testing.assert_allclose(found @ matrix.T, w, atol=1e-12 * scale)
    least = w @ np.linalg.pinv(matrix / np.sqrt(law)).T / np.sqrt(law)
    np.testing.assert_allclose(found, least, atol=1e-6 * scale)
    np.testing.assert_allclose(window.of(w[0]), found[0])
    for ours, theirs in (
        (window.shares(other), dense.shares(other)),
        (window.cumulative(other), dense.cumulative(other)),
    ):
        largest = np.abs(theirs.square).max()
        np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-6 * np.sqrt(largest))
        np.testing.assert_allclose(ours.square, theirs.square, atol=1e-6 * largest)


def test_blocks_do_not_change_scores(monkeypatch):
    module = importlib.import_module("bipartite.answers.estimation.output_scores")
    window = SquareWave(Integers(0, 30), 1).lottery.channel()
    w = np.random.default_rng(3).normal(size=(20, 31))
    whole = WindowScores(window, window.uniform_law()).of(w)
    monkeypatch.setattr(module, "_ROOM", 100)
    np.testing.assert_allclose(WindowScores(window, window.uniform_law()).of(w), whole, atol=1e-11)


def exact_rank(rows, prime=2**31 - 1):
    """The rank of whole numbers modulo a prime: never above the true one, and below it with a chance of 10⁻⁶."""
    rows = [[int(entry) % prime for entry in row] for row in rows]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((at for at in range(rank, len(rows)) if rows[at][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        inverse = pow(rows[rank][column], -1, prime)
        for at in range(rank + 1, len(rows)):
            factor = rows[at][column] * inverse % prime
            if factor:
                rows[at] = [(a - factor * b) % prime for a, b in zip(rows[at], rows[rank], strict=True)]
        rank += 1
    return rank


def check_identifiability(mechanism):
    found = identifiability(mechanism)
    tickets = mechanism.lottery.rows(0, len(mechanism.domain))
    assert found.rank == exact_rank(tickets)
    same = (tickets[:, None, :] == tickets[None, :, :]).all(axis=2)
    np.testing.assert_array_equal(found.group_of[:, None] == found.group_of[None, :], same)
    assert found.rows == len(np.unique(tickets, axis=0))
    assert found.identifiable == (found.rank == len(mechanism.domain))
    listed = sorted(value for group in found.groups for value in group)
    alone = np.flatnonzero(same.sum(axis=1) == 1)
    assert len(listed) == len(mechanism.domain) - len(alone)
    if found.groups_identifiable:
        distinct = mechanism.matrix()[np.unique(found.group_of, return_index=True)[1]]
        assert found.condition() == pytest.approx(np.linalg.cond(distinct), rel=1e-6)
    else:
        assert found.condition() == float("inf")


@pytest.mark.parametrize("name", ALL)
def test_rank_and_groups_are_those_of_the_tickets(name):
    check_identifiability(ALL[name])


@given(brr(integer_domains(sizes=st.integers(2, 16))))
def test_rank_and_groups_of_any_window(mechanism):
    check_identifiability(mechanism)


@given(sets, epsilons)
def test_rank_and_groups_on_any_set(domain, epsilon):
    try:
        mechanism = BRR(domain, epsilon)
    except DesignError:
        mechanism = BRR(domain, "3")
    check_identifiability(mechanism)


@pytest.mark.parametrize("epsilon", ["0.0001", "0.5", "5"])
def test_the_clamped_window_has_rank_n_minus_m_plus_one(epsilon):
    mechanism = BRR(Integers(0, 199), epsilon)
    assert identifiability(mechanism).rank == 200 - mechanism.m + 1


@pytest.mark.data
@pytest.mark.slow
def test_ranks_of_the_authors_places_are_those_of_the_findings():
    places = authors_places()
    found = [identifiability(BRR(places, epsilon)) for epsilon in ("0.5", "1", "2")]
    assert [each.rank for each in found] == [809, 810, 878]
    assert [each.rows for each in found] == [855, 856, 901]


def test_identifiability_in_words():
    line = Integers(1, 10)
    assert str(identifiability(GRR(line, 1))) == "all 10 shares can be estimated (rank 10)"
    assert str(identifiability(Constant(line))).startswith("rank 1 of 10; 10 values in 1 groups share their rows: 1–10")
    duchi = identifiability(Duchi(SMALL, 1))
    assert str(duchi) == "rank 2 of 11; the 11 distinct rows depend on each other"


def test_what_is_no_mechanism_and_what_is_too_large_is_refused():
    with pytest.raises(InputError, match="Expected a mechanism, got int"):
        identifiability(3)
    with pytest.raises(DesignError, match="Expected at most 2048 values for a mechanism without windows or groups"):
        identifiability(Geometric(Integers(0, 4000), 1))
    with pytest.raises(DesignError, match="at most 2048 values"):
        identifiability(SquareWave(Integers(0, 5000), 1)).condition()


@pytest.mark.parametrize(("inputs", "m"), [(1, 1), (2, 1), (7, 1), (7, 3)])
def test_how_far_a_report_moves_a_share_is_that_of_the_scores_of_all_shares(inputs, m, monkeypatch):
    window = Window(inputs, inputs + m - 1, m, 0, Tickets(11, 2))
    scores = WindowScores(window, window.uniform_law())
    u = scores.of(np.eye(inputs))
    np.testing.assert_allclose(scores.share_spreads(), u.max(axis=1) - u.min(axis=1), atol=1e-12)
    if m == 1 < inputs:
        # Of GRR it is known without the N × N scores.
        monkeypatch.setattr(WindowScores, "of", None)
        assert len(scores.share_spreads()) == inputs


def test_lengths_of_transforms_are_the_least_products_of_2_3_and_5():
    products = sorted(2**i * 3**j * 5**k for i in range(13) for j in range(9) for k in range(6))
    for least in range(1, 4000):
        assert _next_fast_length(least) == next(each for each in products if each >= least)

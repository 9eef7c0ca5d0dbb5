"""BRR where values go around: m, rank, optimality, vectors, and what other mechanisms say."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import bipartite as bp
from bipartite.errors import DesignError, InputError
from bipartite.lottery import Epsilon, Nearest
from bipartite.lottery.order import RingOrder
from bipartite.mechanisms.design.m import least_loss_m, ring_rank
from bipartite.mechanisms.design.m_for_statistics import ring_risk, statistical_m
from tests.strategies import epsilons

PRIME = 2**31 - 1


def rank_modulo(rows):
    """The rank modulo a prime, by elimination: never above the rank over the rationals."""
    rows, rank = np.array(rows, dtype=np.int64) % PRIME, 0
    for column in range(rows.shape[1]):
        below = np.flatnonzero(rows[rank:, column])
        if not len(below):
            continue
        pivot = rank + int(below[0])
        rows[[rank, pivot]] = rows[[pivot, rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, column]), -1, PRIME) % PRIME
        rows[rank + 1 :] = (rows[rank + 1 :] - rows[rank + 1 :, column, None] * rows[rank]) % PRIME
        rank += 1
        if rank == len(rows):
            break
    return rank


def test_elimination_finds_the_rank():
    assert rank_modulo([[1, 2], [2, 4]]) == 1 and rank_modulo([[1, 2], [2, 5]]) == 2
    assert rank_modulo([[0, 0, 1], [0, 1, 0], [0, 1, 1]]) == 2


@pytest.mark.parametrize(
    "sizes",
    [
        range(2, 25),
        pytest.param(range(25, 46), marks=pytest.mark.slow),
        pytest.param(range(46, 61), marks=pytest.mark.slow),
    ],
    ids=["2–24", "25–45", "46–60"],
)
def test_the_rank_is_as_stated_for_every_size_and_m(sizes):
    # Exactly: elimination modulo a prime bounds the rank from below, whole vectors that the rows send to 0 from above.
    for size in sizes:
        for m in range(1, size):
            mechanism = bp.BRR(bp.Cyclic(size), 1, m=m)
            rows = mechanism.lottery.rows(0, size)
            g = math.gcd(m, size)
            assert rank_modulo(rows) >= size - g + 1 == ring_rank(size, m)
            # Patterns that repeat every g values and add up to zero: g − 1 of them are independent.
            unit = np.eye(g, dtype=np.int64)
            hidden = np.array([np.tile(unit[j] - unit[0], size // g) for j in range(1, g)]).reshape(g - 1, size)
            assert not (rows @ hidden.T).any()
            assert bp.identifiability(mechanism).rank == size - g + 1


def test_the_example_of_the_docs():
    mechanism = bp.BRR(bp.Cyclic(24), 1)
    assert mechanism.m == 9 and bp.identifiability(mechanism).rank == 22
    assert str(bp.identifiability(mechanism)) == (
        "rank 22 of 24; m = 9 and N = 24 share the factor 3, so every window contains as many of 0, 3, 6, … as of 1, "
        "4, 7, …: how people are distributed over these 3 classes cannot be estimated; with an m coprime to 24, such "
        "as m='histogram' chooses, everything can"
    )


@pytest.mark.parametrize("wanted", ["mean", "cdf", "histogram"])
def test_for_statistics_m_is_coprime_and_has_the_least_risk(wanted):
    for size, epsilon in itertools.product(range(2, 61), ("0.5", "1", "4")):
        m = statistical_m(size, Epsilon.of(epsilon), wanted)
        assert math.gcd(m, size) == 1 and 1 <= m < size
    budget = Epsilon.of("0.7")
    tried = [m for m in range(1, 30) if math.gcd(m, 30) == 1]
    assert statistical_m(30, budget, wanted) == min(tried, key=lambda m: _risk_by_matrices(30, budget.exp, m, wanted))


def _risk_by_matrices(size, exp, m, wanted, people=100_000):
    """The error that van Trees leaves, with matrices: information of the shares, and a density as rough as stated."""
    rows = np.ones((size, size))
    for x in range(size):
        rows[x, [(x - m // 2 + step) % size for step in range(m)]] = exp
    matrix = rows / rows.sum(axis=1, keepdims=True)
    information = matrix @ np.diag(1 / matrix.mean(axis=0)) @ matrix.T
    steps = np.roll(np.eye(size), -1, axis=0) - np.eye(size)
    precision = people * information + size**3 * steps.T @ steps
    variance = people * np.linalg.inv(precision)
    free = np.eye(size) - 1 / size  # shares add up to one
    variance = free @ variance @ free
    if wanted == "histogram":
        return variance.trace()
    if wanted == "mean":
        wave = np.exp(2j * np.pi * np.arange(size) / size)
        return (wave.conj() @ variance @ wave).real
    arcs = [np.arange(size) < length for length in range(1, size)]
    return sum(np.roll(arc, turn) @ variance @ np.roll(arc, turn) for arc in arcs for turn in range(size))


@pytest.mark.parametrize("wanted", ["mean", "cdf", "histogram"])
def test_the_risk_of_waves_is_that_of_matrices(wanted):
    ratios = [ring_risk(12, 3.0, m, wanted) / _risk_by_matrices(12, 3.0, m, wanted) for m in (1, 5, 7, 11)]
    assert ratios == pytest.approx([ratios[0]] * 4, rel=1e-6)


def test_on_large_circles_m_is_still_coprime():
    assert math.gcd(statistical_m(86_400, Epsilon.of(1), "histogram"), 86_400) == 1


@given(st.integers(2, 80), epsilons)
def test_one_m_has_the_least_loss_for_every_value_and_prior(size, epsilon):
    # By trying every m, in fractions, with e^ε as a fraction near it.
    budget = Epsilon.of(epsilon)
    exp = Fraction(budget.exp)
    losses = sorted(min(d, size - d) for d in range(size))

    def expected(m):
        return (exp * sum(losses[:m]) + sum(losses[m:])) / (exp * m + size - m)

    best = least_loss_m(size, budget)
    assert 1 <= best < size and best % 2 == 1
    assert expected(best) <= min(expected(m) for m in range(1, size)) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("m", ["safe", "best"])
def test_safe_and_best_are_one(m):
    prior = np.arange(1, 25) / np.arange(1, 25).sum()
    assert bp.BRR(bp.Cyclic(24), 1, m=m).m == 9 == bp.BRR(bp.Cyclic(24), 1, m="best", prior=prior).m


@given(st.integers(2, 30), st.data(), epsilons)
def test_a_circle_that_is_turned_has_the_same_law_turned(size, data, epsilon):
    m = data.draw(st.integers(1, size - 1))
    mechanism = bp.BRR(bp.Cyclic(size), epsilon, m=m)
    rows = mechanism.lottery.rows(0, size)
    for turn in range(size):
        assert (np.roll(np.roll(rows, turn, axis=0), turn, axis=1) == rows).all()
    # The same near-sets as by the order of neighbours, where nothing is known of circles.
    by_order = Nearest(RingOrder(size), m, mechanism.tickets, by_list=True)
    assert (by_order.rows(0, size) == rows).all()
    assert bp.verify(mechanism).holds and bp.verify(mechanism).ratio == mechanism.tickets.ratio
    assert bp.from_spec(mechanism.to_spec()) == mechanism


@pytest.mark.parametrize(("size", "epsilon"), [(5, 1), (8, "0.5"), (9, 2), (12, 1), (12, 3)])
def test_no_release_has_a_smaller_expected_or_worst_loss(size, epsilon):
    # A linear programme of our own over all ε-LDP matrices, for the mean and for the worst case.
    mechanism = bp.BRR(bp.Cyclic(size), epsilon)
    exp = float(mechanism.tickets.ratio)
    losses = mechanism.domain.loss_matrix()
    count = size * size
    unequal = []
    for y, x, other in itertools.product(range(size), repeat=3):
        if x != other:
            row = np.zeros(count + 1)
            row[x * size + y], row[other * size + y] = 1, -exp
            unequal.append(row)
    sums = np.zeros((size, count + 1))
    for x in range(size):
        sums[x, x * size : (x + 1) * size] = 1
    worst = np.zeros((size, count + 1))
    for x in range(size):
        worst[x, x * size : (x + 1) * size], worst[x, -1] = losses[x], -1
    limits = {"A_eq": sums, "b_eq": np.ones(size), "bounds": (0, None), "method": "highs"}
    mean = linprog(np.append(losses.ravel() / size, 0), A_ub=unequal, b_ub=np.zeros(len(unequal)), **limits)
    least = linprog(np.eye(count + 1)[-1], A_ub=[*unequal, *worst], b_ub=np.zeros(len(unequal) + size), **limits)
    assert bp.loss(mechanism).mean == pytest.approx(mean.fun, rel=1e-7)
    assert bp.loss(mechanism).worst == pytest.approx(least.fun, rel=1e-7)
    assert bp.loss(mechanism).by_value == pytest.approx([mean.fun] * size, rel=1e-7)


def test_anchors_of_a_circle_come_with_a_certificate():
    hours = bp.Cyclic(24)
    prior = np.full(24, 0.5 / 22)
    prior[[3, 15]] = 0.25
    mechanism = bp.Anchored(hours, 3, prior=prior)
    best = bp.loss(bp.Optimal(hours, 3, prior=prior), prior).mean
    assert mechanism.lower_bound <= best * (1 + 1e-9) <= mechanism.achieved_loss * (1 + 2e-9)
    assert mechanism.gap <= 0.05


def test_anchors_of_many_values_around_a_circle_are_refused():
    with pytest.raises(DesignError, match="Expected at most 4096 values around a circle, got 86400; use coarser steps"):
        bp.Anchored(bp.Cyclic(86_400), 1)


@pytest.mark.parametrize(
    "kind", [bp.Laplace, bp.Staircase, bp.Duchi, bp.Piecewise, bp.Hybrid, bp.Geometric, bp.SquareWave], ids=str
)
def test_mechanisms_of_a_range_refuse_a_circle(kind):
    message = (
        "Expected domain as a range of numbers, got Cyclic\\(24\\), which wraps around and has no ends; use bp.BRR, "
        "bp.GRR, bp.Exponential or bp.Anchored there."
    )
    with pytest.raises(DesignError, match=message):
        kind(bp.Cyclic(24), 1)


def test_edges_and_m_of_a_circle_are_checked():
    with pytest.raises(InputError, match="Expected edges='clamped' on a circle, points and items, which have no ends"):
        bp.BRR(bp.Cyclic(24), 1, edges="padded")
    with pytest.raises(DesignError, match="Expected 1 ≤ m < 24, the number of values, got 24"):
        bp.BRR(bp.Cyclic(24), 1, m=24)
    with pytest.raises(DesignError, match=r"ε=0.000000000001 is too small for N=24.*the smallest ε"):
        bp.BRR(bp.Cyclic(24), "1e-12")

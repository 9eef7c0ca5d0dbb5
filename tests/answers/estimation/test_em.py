"""The most likely distribution against a general solver and its certificate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from bipartite import (
    BRR,
    GRR,
    Exponential,
    Geometric,
    Integers,
    Interval,
    Laplace,
    SquareWave,
    estimate,
    insecure_seed,
)
from bipartite.answers.estimation import em
from bipartite.answers.estimation.cells import Cells
from bipartite.answers.estimation.em import AIM, MOST_GAP, Problem, fit_em
from bipartite.answers.estimation.two_reports import Kronecker
from bipartite.lottery import Dense


def likelihood(matrix, counts, f):
    law = f @ matrix
    return math.fsum(c * math.log(r) for c, r in zip(counts, law, strict=True) if c)


MECHANISMS = {
    "padded": BRR(Integers(0, 11), 1, edges="padded"),
    "clamped": BRR(Integers(0, 11), 1),
    "grr": GRR(Integers(0, 7), 1),
    "square wave": SquareWave(Integers(0, 9), 2),
    "exponential": Exponential(Integers(0, 7), 1),
    "geometric": Geometric(Integers(0, 7), 1),
    "two values": GRR(Integers(0, 1), 1),
    "two values, padded": BRR(Integers(0, 1), 1, m=3, edges="padded"),
}


def counts_for(mechanism, people=5000, seed=1):
    generator = np.random.default_rng(seed)
    f = generator.dirichlet(np.ones(len(mechanism.domain)))
    return generator.multinomial(people, f @ mechanism.matrix()).astype(np.float64)


def solved(matrix, counts):
    """The top by a general solver, which knows nothing of mixtures (scipy's SLSQP), from equal shares."""
    size, people, seen = len(matrix), counts.sum(), counts > 0
    found = minimize(
        lambda f: -(counts[seen] @ np.log(f @ matrix[:, seen])) / people,
        np.full(size, 1 / size),
        jac=lambda f: -(matrix[:, seen] @ (counts[seen] / (f @ matrix[:, seen]))) / people,
        bounds=[(0, 1)] * size,
        constraints={"type": "eq", "fun": lambda f: f.sum() - 1, "jac": lambda _: np.ones(size)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    top = np.maximum(found.x, 0)
    return top / top.sum()


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_fit_is_the_top_that_a_general_solver_finds(name):
    mechanism = MECHANISMS[name]
    matrix, counts = mechanism.matrix(), counts_for(mechanism)
    found = fit_em(mechanism.lottery.channel(), counts)
    assert found.converged and found.gap <= AIM
    assert found.frequencies.min() >= 0 and found.frequencies.sum() == pytest.approx(1)
    reached, top = (likelihood(matrix, counts, f) for f in (found.frequencies, solved(matrix, counts)))
    assert found.log_likelihood == pytest.approx(reached)
    assert top - 1e-6 <= reached + found.gap and reached <= top + AIM
    # Nowhere along EM from here is it higher either.
    plain = found.frequencies * 0.99 + 0.01 / len(matrix)
    for _ in range(500):
        plain *= matrix @ (counts / (plain @ matrix)) / counts.sum()
    assert likelihood(matrix, counts, plain) <= reached + found.gap + 1e-6


@given(st.integers(2, 6), st.integers(1, 7), st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_the_certified_gap_is_a_bound_for_any_matrix_and_any_counts(size, outputs, seed, most_steps):
    generator = np.random.default_rng(seed)
    matrix = generator.dirichlet(np.full(outputs, 0.5), size) * 0.99 + 0.01 / outputs
    counts = generator.multinomial(generator.integers(1, 2000), generator.dirichlet(np.ones(outputs)))
    held = counts.astype(np.float64)
    found = fit_em(Dense(matrix), held, most_steps=most_steps)
    reached = likelihood(matrix, held, found.frequencies)
    better = fit_em(Dense(matrix), held).frequencies
    rivals = [better, *generator.dirichlet(np.ones(size), 20), *np.eye(size)]
    assert max(likelihood(matrix, held, f) for f in rivals) <= reached + found.gap + 1e-7
    assert found.converged == (found.gap <= MOST_GAP)


@pytest.mark.grid(8)
@pytest.mark.parametrize(
    "mechanism",
    [
        BRR(Integers(1, 1000), 1, edges="padded"),
        BRR(Integers(1, 1000), 5),
        GRR(Integers(1, 1000), 3),
        Geometric(Integers(1, 1000), 10),
        Exponential(Integers(1, 300), 4),
        BRR(Integers(0, 39), 30, m=9, edges="padded"),
    ],
    ids=str,
)
@pytest.mark.parametrize("people", [1, 30, 10_000, 10_000_000])
def test_up_to_a_thousand_values_the_gap_is_always_closed(mechanism, people):
    operator = mechanism.lottery.channel()
    generator = np.random.default_rng(people)
    f = generator.dirichlet(np.full(operator.inputs, 0.1))
    law = np.maximum(operator.forward(f), 0)
    counts = generator.multinomial(people, law / law.sum()).astype(np.float64)
    found = fit_em(operator, counts)
    assert found.converged and found.gap <= AIM
    assert found.frequencies.min() >= 0 and found.frequencies.sum() == pytest.approx(1)
    # The same reports at a weight of a third are the same question.
    third = fit_em(operator, counts / 3)
    assert third.log_likelihood * 3 == pytest.approx(found.log_likelihood, abs=4 * AIM)


@pytest.mark.parametrize("people", [1, 1000])
def test_values_that_the_reports_cannot_tell_apart_have_equal_shares(people):
    mechanism = BRR(Integers(0, 99), 1, edges="padded")
    counts = np.zeros(len(mechanism.outputs))
    counts[60] = people
    near = mechanism.matrix()[:, 60] == mechanism.matrix()[:, 60].max()
    for operator in (mechanism.lottery.channel(), Dense(mechanism.matrix())):
        assert fit_em(operator, counts).frequencies == pytest.approx(near / near.sum())
    clamped = MECHANISMS["clamped"]
    shares = fit_em(clamped.lottery.channel(), counts_for(clamped)).frequencies
    dense = fit_em(Dense(clamped.matrix()), counts_for(clamped)).frequencies
    same = (clamped.matrix() == clamped.matrix()[0]).all(axis=1)
    assert same.sum() > 1 and np.ptp(shares[same]) == np.ptp(dense[same]) == 0


def test_one_value_and_reports_that_no_value_makes_likely():
    assert fit_em(Dense(np.array([[0.3, 0.7]])), np.array([5.0, 1.0])).frequencies.tolist() == [1.0]
    # Every value alone makes some reports impossible: the fit begins where all are possible.
    counts = np.random.default_rng(1).multinomial(1000, np.full(64, 1 / 64)).astype(np.float64)
    found = fit_em(Dense(np.eye(64)), counts)
    assert found.converged and found.frequencies == pytest.approx(counts / 1000)
    # A report that cannot come leaves the others as they are.
    matrix = np.array([[0.8, 0.2, 0.0], [0.3, 0.7, 0.0]])
    found = fit_em(Dense(matrix), np.array([60.0, 40.0, 1.0]))
    assert found.frequencies == pytest.approx([0.6, 0.4], abs=0.05)


def three_point(size):
    """(1, 2, 1)/4, reflected at the ends, as a matrix."""
    matrix = np.eye(size) / 2 + np.eye(size, k=1) / 4 + np.eye(size, k=-1) / 4
    matrix[0, 0] += 1 / 4
    matrix[-1, -1] += 1 / 4
    return matrix


@pytest.mark.parametrize("half_width", [1, 8, 200, 5000])
@pytest.mark.parametrize("people", [50, 5000, 500_000])
def test_the_most_likely_smooth_distribution_is_that_of_a_general_solver(half_width, people):
    """Rows that are almost equal are hard for Newton steps: their systems are almost singular."""
    mechanism = BRR(Integers(0, 24), 1, edges="padded")
    f = np.zeros(25)
    f[[5, 20]] = 0.65, 0.35
    counts = np.random.default_rng(1).multinomial(people, f @ mechanism.matrix()).astype(np.float64)
    matrix = np.linalg.matrix_power(three_point(25), half_width) @ mechanism.matrix()
    found = fit_em(Dense(matrix), counts)
    assert found.converged and found.gap <= AIM
    assert found.log_likelihood == pytest.approx(likelihood(matrix, counts, found.frequencies))
    assert likelihood(matrix, counts, solved(matrix, counts)) <= found.log_likelihood + found.gap + 1e-6


def test_where_too_many_values_are_needed_em_goes_on_and_says_how_far_it_came(monkeypatch):
    monkeypatch.setattr(em, "_MOST_SUPPORT", 3)
    mechanism = MECHANISMS["padded"]
    operator, counts = mechanism.lottery.channel(), counts_for(mechanism)
    found = fit_em(operator, counts)
    assert found.converged and found.gap <= MOST_GAP and found.steps > 20
    monkeypatch.setattr(em, "_EM_WORK", 10 * (operator.inputs + operator.outputs))
    short = fit_em(operator, counts)
    assert not short.converged and short.gap > MOST_GAP and short.steps < 20
    top = found.log_likelihood + found.gap
    assert short.log_likelihood <= top <= short.log_likelihood + short.gap + found.gap


@pytest.mark.slow
def test_a_table_of_pairs_needs_more_values_than_newton_steps_can_hold():
    """16 million probabilities may be held: rows of 113 pairs of 2 × 300 values. EM then closes most of the gap."""
    side = BRR(Integers(0, 299), 3, edges="padded", m=9).lottery.channel()
    operator, generator = Kronecker(side, side), np.random.default_rng(3)
    f = generator.dirichlet(np.full(operator.inputs, 0.002))
    law = np.maximum(operator.forward(f), 0)
    counts = generator.multinomial(200_000, law / law.sum()).astype(float)
    alone = Problem(operator, counts)._newton(Problem(operator, counts)._covered(None), None, 200)
    assert alone.gap > 100 * MOST_GAP
    assert fit_em(operator, counts).gap < alone.gap / 10


def test_noise_past_both_ends_is_counted_together():
    mechanism = Laplace(Interval(0, 1, points=12), 2)
    matrix, counts = mechanism.matrix(), counts_for(mechanism)
    found = fit_em(mechanism.lottery.channel(), counts)
    dense = fit_em(Dense(matrix), counts)
    assert found.converged and dense.converged
    reached, other = (likelihood(matrix, counts, fit.frequencies) for fit in (found, dense))
    assert reached == pytest.approx(other, abs=2 * AIM)


def test_a_fit_stops_when_told_to_and_says_so():
    mechanism = MECHANISMS["padded"]
    found = fit_em(mechanism.lottery.channel(), counts_for(mechanism), most_steps=2)
    assert (found.steps, found.converged) == (2, False)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_tilted_fit_is_the_top_that_a_general_solver_finds(name):
    """ℓ(f) + n·t·f, with another tilt for values that share a row: only the best of those can gain."""
    mechanism = MECHANISMS[name]
    matrix, counts = mechanism.matrix(), counts_for(mechanism, people=800)
    people, tilt = counts.sum(), np.random.default_rng(7).normal(0, 0.05, len(matrix))
    problem = Problem(mechanism.lottery.channel(), counts)
    found = problem.fit(tilt=problem.largest(tilt), start=problem.fit().frequencies)
    reached = found.log_likelihood + people * float(problem.largest(tilt) @ found.frequencies)
    seen = counts > 0
    general = minimize(
        lambda f: -(counts[seen] @ np.log(f @ matrix[:, seen])) / people - tilt @ f,
        np.full(len(matrix), 1 / len(matrix)),
        jac=lambda f: -(matrix[:, seen] @ (counts[seen] / (f @ matrix[:, seen]))) / people - tilt,
        bounds=[(0, 1)] * len(matrix),
        constraints={"type": "eq", "fun": lambda f: f.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    top = np.maximum(general.x, 0)
    top /= top.sum()
    best = likelihood(matrix, counts, top) + people * float(tilt @ top)
    # Outputs that tell nothing more are added up, which changes the log-likelihood by a constant.
    apart = likelihood(matrix, counts, problem.of_values(problem.fit().frequencies)) - problem.fit().log_likelihood
    assert found.gap <= AIM and best - 1e-5 <= reached + apart + found.gap and reached + apart <= best + AIM


def test_two_values_have_the_share_that_a_formula_gives():
    """With N = 2 and GRR the likelihood has its top where the expected share of reports is the seen one."""
    mechanism = MECHANISMS["two values"]
    counts = np.array([620.0, 380.0])
    p = mechanism.matrix()[0, 0]
    truth = (0.62 - (1 - p)) / (2 * p - 1)
    assert fit_em(mechanism.lottery.channel(), counts).frequencies[0] == pytest.approx(truth, abs=0.02)
    # What no share explains ends at the limit: more zeros than p allows.
    edge = fit_em(mechanism.lottery.channel(), np.array([990.0, 10.0]))
    assert edge.frequencies[0] == pytest.approx(1, abs=1e-3)


def test_outputs_without_reports_and_outputs_without_chance_do_no_harm():
    matrix = np.array([[0.7, 0.3, 0.0, 0.0], [0.2, 0.5, 0.3, 0.0], [0.1, 0.1, 0.8, 0.0]])
    counts = np.array([50.0, 0.0, 30.0, 0.0])
    fit = fit_em(Dense(matrix), counts)
    assert np.isfinite(fit.frequencies).all() and fit.frequencies.sum() == pytest.approx(1)
    assert np.isfinite([fit.log_likelihood, fit.gap]).all()


@pytest.mark.parametrize("epsilon", [8, 12, 20])
def test_at_large_epsilon_em_does_not_stop_far_from_the_top(epsilon):
    mechanism = BRR(Integers(0, 39), epsilon, m=9, edges="padded")
    reports = mechanism.privatize([5, 30] * 5000, rng=insecure_seed(1))
    found = estimate(mechanism, reports, method="em")
    assert found.shares[[5, 30]] == pytest.approx(0.5, abs=0.03)
    assert found._histogram.fit.converged


def test_where_doubles_hold_no_more_digits_a_fit_ends_at_once_and_says_how_far_it_came():
    """10^13 reports: the gap is 10^-12 of them, and EM ended hundreds of times farther off after 100,000 steps."""
    rng, size = np.random.default_rng(4), 60
    counts = np.zeros(size)
    counts[rng.choice(size, 45, replace=False)] = rng.choice([1, 2, 49, 50, 20_000, 10**12], 45)
    cells = Cells(BRR(Integers(0, size - 1), 2).lottery.channel(), together=True)
    fit = fit_em(Dense(cells.rows(1)), cells.counts(counts))
    assert fit.steps < 200 and fit.gap < 1e-11 * counts.sum() and fit.converged == (fit.gap <= MOST_GAP)

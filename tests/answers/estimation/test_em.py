"""EM and EMS against independent ones: loops over a dense matrix, a general solver, and the certificate as a bound."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from bipartite import BRR, GRR, Exponential, Geometric, Integers, SquareWave, estimate, insecure_seed
from bipartite.answers.estimation.em import EM_GAIN, EMS_GAIN, fit_em, fit_ems, spread_out
from bipartite.answers.estimation.operator import Dense, operator_of


def likelihood(matrix, counts, f):
    law = f @ matrix
    return math.fsum(c * math.log(r) for c, r in zip(counts, law, strict=True) if c)


def plain_em(matrix, counts, steps):
    """EM as it is printed in textbooks, one sum at a time."""
    f = np.full(len(matrix), 1 / len(matrix))
    for _ in range(steps):
        law = [math.fsum(f[x] * matrix[x, y] for x in range(len(f))) for y in range(matrix.shape[1])]
        expected = [
            math.fsum(c * f[x] * matrix[x, y] / law[y] for y, c in enumerate(counts) if c) for x in range(len(f))
        ]
        f = np.array(expected) / math.fsum(expected)
    return f


def literal_ems(matrix, counts, most_steps=10_000):
    """Li et al. (SIGMOD 2020), algorithm 1 with the smoothing of its section 5.5, written down literally."""
    size, outputs = matrix.shape
    people = sum(counts)
    x = [1 / size] * size
    before = sum(counts[j] * math.log(sum(matrix[k, j] * x[k] for k in range(size))) for j in range(outputs))
    for step in range(1, most_steps + 1):
        law = [sum(matrix[k, j] * x[k] for k in range(size)) for j in range(outputs)]
        p = [x[i] * sum(counts[j] * matrix[i, j] / law[j] for j in range(outputs)) for i in range(size)]
        p = [each / people for each in p]
        smooth = [(2 * p[0] + p[1]) / 3]
        smooth += [p[i - 1] / 4 + p[i] / 2 + p[i + 1] / 4 for i in range(1, size - 1)]
        smooth += [(2 * p[-1] + p[-2]) / 3]
        x = [each / sum(smooth) for each in smooth]
        now = sum(counts[j] * math.log(sum(matrix[k, j] * x[k] for k in range(size))) for j in range(outputs))
        if now - before < 1e-3:
            return np.array(x), step, now - before
        before = now
    return np.array(x), most_steps, math.nan


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


@pytest.mark.parametrize("name", MECHANISMS)
def test_two_steps_are_one_and_two_plain_steps_of_the_textbook(name):
    mechanism = MECHANISMS[name]
    counts = counts_for(mechanism)
    found = fit_em(operator_of(mechanism), counts, exp_epsilon=math.e, most_steps=2)
    assert found.steps == 2
    assert found.frequencies == pytest.approx(plain_em(mechanism.matrix(), counts, 1), rel=1e-12, abs=1e-15)
    # The path on which the longer step is refused goes on from the second plain step.
    first = plain_em(mechanism.matrix(), counts, 1)
    begin = np.full(len(first), 1 / len(first))
    gain = likelihood(mechanism.matrix(), counts, first) - likelihood(mechanism.matrix(), counts, begin)
    assert found.gain == pytest.approx(gain, abs=1e-8)


@pytest.mark.parametrize("name", MECHANISMS)
def test_em_comes_as_near_to_the_top_as_its_certificate_says(name):
    """The top by a general solver (SLSQP) from where EM ended, and by 2,000 plain steps: neither is above the bound."""
    mechanism = MECHANISMS[name]
    matrix, counts = mechanism.matrix(), counts_for(mechanism)
    operator = operator_of(mechanism)
    found = fit_em(operator, counts, exp_epsilon=math.e)
    assert found.converged and found.gain <= EM_GAIN * math.e
    assert found.frequencies.min() >= 0 and found.frequencies.sum() == pytest.approx(1)
    people = counts.sum()
    solved = minimize(
        lambda f: -(counts @ np.log(f @ matrix)) / people,
        found.frequencies,
        jac=lambda f: -(matrix @ (counts / (f @ matrix))) / people,
        bounds=[(0, 1)] * len(matrix),
        constraints={"type": "eq", "fun": lambda f: f.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    top = np.maximum(solved.x, 0)
    plain = np.full(len(matrix), 1 / len(matrix))
    for _ in range(2000):
        plain *= matrix @ (counts / (plain @ matrix)) / people
    reached = likelihood(matrix, counts, found.frequencies)
    best = max(likelihood(matrix, counts, top / top.sum()), likelihood(matrix, counts, plain / plain.sum()))
    assert best <= reached + found.gap + 1e-6
    # What the rule leaves is less than what chance does: n reports of N values move the top by about N/2.
    assert reached >= best - 1


@given(
    st.integers(2, 6),
    st.integers(1, 7),
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
)
def test_the_certified_gap_is_a_bound_for_any_matrix_and_any_counts(size, outputs, seed, most_steps):
    generator = np.random.default_rng(seed)
    matrix = generator.dirichlet(np.full(outputs, 0.5), size) * 0.99 + 0.01 / outputs
    counts = generator.multinomial(generator.integers(1, 2000), generator.dirichlet(np.ones(outputs)))
    held = counts.astype(np.float64)
    found = fit_em(Dense(matrix), held, exp_epsilon=1.0, most_steps=most_steps)
    reached = likelihood(matrix, held, found.frequencies)
    better = fit_em(Dense(matrix), held, exp_epsilon=0.0, most_steps=400).frequencies
    rivals = [better, *generator.dirichlet(np.ones(size), 20), *np.eye(size)]
    assert max(likelihood(matrix, held, f) for f in rivals) <= reached + found.gap + 1e-7


@given(st.integers(2, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.5, 1, 3]))
def test_longer_steps_do_not_end_where_shares_were_thrown_away(size, seed, epsilon):
    """A share that an acceleration throws to almost nothing comes back too slowly for the rule to wait for it."""
    mechanism = GRR(Integers(1, size), epsilon)
    counts = counts_for(mechanism, seed=seed)
    found = fit_em(operator_of(mechanism), counts, exp_epsilon=math.exp(epsilon))
    matrix = mechanism.matrix()
    plain = np.full(size, 1 / size)
    for _ in range(3000):
        plain *= matrix @ (counts / (plain @ matrix)) / counts.sum()
    assert likelihood(matrix, counts, found.frequencies) >= likelihood(matrix, counts, plain) - 1


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_likelihood_never_falls(name):
    mechanism = MECHANISMS[name]
    matrix, counts = mechanism.matrix(), counts_for(mechanism, people=300)
    ends = [
        fit_em(operator_of(mechanism), counts, exp_epsilon=0.0, most_steps=steps).frequencies
        for steps in range(2, 61, 2)
    ]
    values = [likelihood(matrix, counts, f) for f in ends]
    assert all(later >= sooner - 1e-9 for sooner, later in itertools.pairwise(values))


@pytest.mark.parametrize("name", ["padded", "square wave", "grr", "clamped", "geometric"])
def test_smoothed_em_is_the_published_loop(name):
    mechanism = MECHANISMS[name]
    counts = counts_for(mechanism)
    found = fit_ems(operator_of(mechanism), counts)
    shares, steps, gain = literal_ems(mechanism.matrix(), counts.tolist())
    assert found.steps == steps
    assert found.frequencies == pytest.approx(shares, rel=1e-9)
    assert found.gain == pytest.approx(gain, abs=1e-7) and found.gain < EMS_GAIN and found.converged


def test_both_stop_when_told_to_and_say_that_they_were():
    mechanism = MECHANISMS["padded"]
    counts = counts_for(mechanism)
    seen = []
    em = fit_em(operator_of(mechanism), counts, exp_epsilon=math.e, most_steps=3, progress=seen.append)
    assert (em.steps, em.converged, seen) == (4, False, [2, 4])
    seen.clear()
    ems = fit_ems(operator_of(mechanism), counts, most_steps=3, progress=seen.append)
    assert (ems.steps, ems.converged, seen) == (3, False, [1, 2, 3])
    assert ems.gain > EMS_GAIN


def test_the_rule_is_less_strict_for_larger_epsilon():
    mechanism = MECHANISMS["padded"]
    counts = counts_for(mechanism)
    steps = [fit_em(operator_of(mechanism), counts, exp_epsilon=e).steps for e in (1e-3, 1.0, 1e3)]
    assert steps[0] > steps[1] > steps[2]


def test_the_smoothing_kernel_is_the_published_one():
    matrix = spread_out(np.eye(6)).T
    expected = np.array(
        [
            [2 / 3, 1 / 3, 0, 0, 0, 0],
            [1 / 4, 1 / 2, 1 / 4, 0, 0, 0],
            [0, 1 / 4, 1 / 2, 1 / 4, 0, 0],
            [0, 0, 1 / 4, 1 / 2, 1 / 4, 0],
            [0, 0, 0, 1 / 4, 1 / 2, 1 / 4],
            [0, 0, 0, 0, 1 / 3, 2 / 3],
        ]
    )
    assert matrix == pytest.approx(expected)
    assert matrix.sum(axis=1) == pytest.approx(1)
    f = np.random.default_rng(1).dirichlet(np.ones(6))
    room = np.empty(6)
    assert spread_out(f, room) is room
    assert room == pytest.approx(expected @ f)


@pytest.mark.parametrize("size", [1, 2])
def test_one_or_two_values_have_no_neighbours_to_smooth_over(size):
    f = np.arange(1.0, size + 1)
    smooth = spread_out(f)
    assert smooth is not f and (smooth == f).all()


def test_two_values_have_the_share_that_a_formula_gives():
    """With N = 2 and GRR the likelihood has its top where the expected share of reports is the seen one."""
    mechanism = MECHANISMS["two values"]
    counts = np.array([620.0, 380.0])
    p = mechanism.matrix()[0, 0]
    truth = (0.62 - (1 - p)) / (2 * p - 1)
    # A plain step is a contraction by what one report tells, so the last gain bounds what is left.
    for fit in (fit_em(operator_of(mechanism), counts, exp_epsilon=1e-9), fit_ems(operator_of(mechanism), counts)):
        assert fit.frequencies[0] == pytest.approx(truth, abs=0.02)
    # What no share explains ends at the limit: more zeros than p allows.
    edge = fit_em(operator_of(mechanism), np.array([990.0, 10.0]), exp_epsilon=1e-9)
    assert edge.frequencies[0] == pytest.approx(1, abs=1e-3)


def test_outputs_without_reports_and_outputs_without_chance_do_no_harm():
    matrix = np.array([[0.7, 0.3, 0.0, 0.0], [0.2, 0.5, 0.3, 0.0], [0.1, 0.1, 0.8, 0.0]])
    counts = np.array([50.0, 0.0, 30.0, 0.0])
    for fit in (fit_em(Dense(matrix), counts, exp_epsilon=1.0), fit_ems(Dense(matrix), counts)):
        assert np.isfinite(fit.frequencies).all() and fit.frequencies.sum() == pytest.approx(1)
        assert np.isfinite([fit.gain, fit.gap]).all()


def test_the_operators_products_in_place_are_the_plain_ones():
    for mechanism in MECHANISMS.values():
        operator = operator_of(mechanism)
        generator = np.random.default_rng(1)
        f, v = generator.random(operator.inputs), generator.random(operator.outputs)
        scratch = np.full(max(operator.inputs, operator.outputs) + 1, np.nan)
        spread, means = np.full(operator.outputs, np.nan), np.full(operator.inputs, np.nan)
        operator.forward_into(f, spread, scratch)
        operator.backward_into(v, means, scratch)
        assert (spread == operator.forward(f)).all() and (means == operator.backward(v)).all()
        assert spread == pytest.approx(f @ mechanism.matrix())
        assert means == pytest.approx(mechanism.matrix() @ v)


@pytest.mark.parametrize("epsilon", [8, 12, 20])
def test_at_large_epsilon_em_does_not_stop_far_from_the_top(epsilon):
    """With e^ε in its rule it would stop after two steps, a tenth of the way from the uniform distribution."""
    mechanism = BRR(Integers(0, 39), epsilon, m=9, edges="padded")
    reports = mechanism.privatize([5, 30] * 5000, rng=insecure_seed(1))
    found = estimate(mechanism, reports, method="em")
    assert found.frequencies[[5, 30]] == pytest.approx(0.5, abs=0.03)
    assert found.fit.converged

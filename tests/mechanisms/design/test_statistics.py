"""The window for statistics: against the information and the prior written out, all windows tried by brute force."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import BRR, Integers, SquareWave, insecure_seed
from bipartite.lottery import Epsilon
from bipartite.mechanisms.design.m_for_statistics import PEOPLE, information, risk, statistical_half_window
from tests.strategies import epsilons, sizes

WANTED = ["mean", "cdf", "histogram"]
EPSILONS = ["0.02", "0.1", "0.5", "1", "2", "3", "5", "8"]


def padded(size, epsilon, half_window):
    return BRR(Integers(1, size), epsilon, m=2 * half_window + 1, edges="padded")


def borders(size):
    """D, shares = uniform + D·F: raising F at a border gives to the value before it and takes from the one after."""
    return (np.eye(size) - np.eye(size, k=-1))[:, :-1]


def written_out(size, epsilon, half_window):
    """Dᵀ·P·diag(1/r)·Pᵀ·D from the mechanism's own matrix."""
    matrix = padded(size, epsilon, half_window).matrix()
    changes = borders(size).T @ matrix
    return changes / matrix.mean(axis=0) @ changes.T


@cache
def prior_covariance(size):
    """The covariance of F where the density over the uniform one is a Brownian motion less its mean."""
    steps = np.tril(np.ones((size, size)), -1) / math.sqrt(
        size
    )  # N independent steps of variance 1/N, the first unused
    centred = steps - steps.mean(axis=0)
    cumulative = np.cumsum(centred, axis=0)[:-1] / size
    return cumulative @ cumulative.T


def brute_risk(size, epsilon, half_window, wanted):
    """The posterior variance by the formula of a Gaussian update, times n."""
    prior = prior_covariance(size)
    seen = PEOPLE * written_out(size, epsilon, half_window)
    left = prior - prior @ seen @ np.linalg.solve(np.eye(size - 1) + prior @ seen, prior)
    shares = borders(size) @ left @ borders(size).T
    values = np.arange(size) / size
    return (
        PEOPLE
        * {
            "mean": values @ shares @ values,
            "cdf": left.trace() / (size - 1),
            "histogram": shares.trace() / size,
        }[wanted]
    )


@given(st.integers(2, 25), st.integers(0, 30), st.sampled_from(EPSILONS))
def test_the_information_is_that_of_the_matrix(size, half_window, epsilon):
    exact = information(size, math.exp(float(epsilon)), half_window)
    # The tickets' ε is short of ε by at most 1e-6 and by a thousandth of it.
    assert np.allclose(exact, written_out(size, epsilon, half_window), rtol=1e-3, atol=1e-9 * exact.max())


@given(st.integers(2, 25), st.integers(0, 30), st.sampled_from(EPSILONS), st.sampled_from(WANTED))
def test_the_risk_is_that_of_the_matrix_and_the_brownian_prior(size, half_window, epsilon, wanted):
    found = risk(size, math.exp(float(epsilon)), half_window, wanted)
    assert found == pytest.approx(brute_risk(size, epsilon, half_window, wanted), rel=1e-4)


@pytest.mark.grid(9)
@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("size", [*range(2, 16), 31, 64])
def test_up_to_64_values_no_window_has_less_risk(size, wanted):
    for epsilon in EPSILONS if size < 16 else ["0.5", "2"]:
        risks = [brute_risk(size, epsilon, h, wanted) for h in range(size + 3)]
        chosen = statistical_half_window(size, Epsilon.of(epsilon), wanted)
        # Equal but for rounding is as good.
        assert risks[chosen] <= min(risks) * (1 + 1e-5), epsilon


@pytest.mark.grid(3)
@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize(
    ("size", "epsilon"),
    [(65, "1"), (100, "0.1"), (100, "3"), (200, "1"), (256, "0.5"), (300, "1"), (300, "5"), (300, "12")],
)
def test_on_more_values_no_window_has_noticeably_less_risk(size, epsilon, wanted):
    exp = math.exp(float(epsilon))
    tried = sorted({*range(8), *np.unique(np.geomspace(8, size, 60).astype(int)).tolist()})
    least = min(risk(size, exp, h, wanted) for h in tried)
    chosen = statistical_half_window(size, Epsilon.of(epsilon), wanted)
    # Up to 256 values it is the least of all; beyond, the share m/N of 256 values is within a thousandth of it.
    assert risk(size, exp, chosen, wanted) <= least * (1 + (1e-9 if size <= 256 else 1e-3))


@pytest.mark.grid(1)
@pytest.mark.parametrize(("epsilon", "wanted"), [("1", "cdf"), ("3", "histogram"), ("12", "cdf"), ("12", "histogram")])
def test_at_1024_values_the_scaled_window_is_as_good_as_its_neighbours(epsilon, wanted):
    exp = math.exp(float(epsilon))
    chosen = statistical_half_window(1024, Epsilon.of(epsilon), wanted)
    beside = {max(chosen - max(chosen // 8, 1), 0), chosen + max(chosen // 8, 1)}
    assert risk(1024, exp, chosen, wanted) <= min(risk(1024, exp, h, wanted) for h in beside)


@given(sizes, epsilons, st.sampled_from(WANTED))
def test_every_size_and_epsilon_has_a_window_no_wider_than_the_domain(size, epsilon, wanted):
    chosen = statistical_half_window(size, Epsilon.of(epsilon), wanted)
    assert 0 <= chosen <= size // 2


@pytest.mark.grid(15)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [2, 3, 7, 20, 50, 100, 10**6])
def test_the_finer_the_question_the_narrower_the_window(size, epsilon):
    mean, cdf, histogram = (statistical_half_window(size, Epsilon.of(epsilon), wanted) for wanted in WANTED)
    assert mean >= cdf >= histogram


def test_the_share_of_near_outputs_does_not_depend_on_how_many_values_there_are():
    for epsilon in ("0.5", "1", "3"):
        shares = [
            (2 * statistical_half_window(size, Epsilon.of(epsilon), "cdf") + 1) / size
            for size in (1000, 10**6, 2**31 - 1, 2**31)
        ]
        assert np.ptp(shares) <= 2 / 1000


def test_tiny_and_huge_epsilons_have_the_window_of_the_limit():
    for wanted in WANTED:
        limit = statistical_half_window(200, Epsilon.of("0.01"), wanted)
        assert statistical_half_window(200, Epsilon.of("1e-15"), wanted) == limit
        # At the limit: half of the ε that is taken for it changes next to nothing.
        risks = [risk(200, math.exp(0.005), h, wanted) for h in (limit, limit - 5, limit + 5)]
        assert risks[0] <= min(risks) * (1 + 1e-5)
        assert statistical_half_window(200, Epsilon.of(50), wanted) == 0


def scored(counts, matrix):
    """Fisher's scoring for F: from the uniform shares to the most likely ones."""
    size, people = len(matrix), counts.sum()
    changes = borders(size).T @ matrix
    shares = np.full(size, 1 / size)
    for _ in range(3):
        law = shares @ matrix
        shares = shares + borders(size) @ np.linalg.solve(changes / law @ changes.T, changes @ (counts / law) / people)
    return np.cumsum(shares)[:-1]


def test_estimates_from_reports_scatter_by_the_asymptotic_variance():
    # 1,000 repetitions of 2,000 people: each variance has a relative error of √(2/1000) = 4.5 %, their average over
    # five dependent borders no more. Seeded; a fresh seed would be off by six of these with probability below 1e-8.
    size, people, repetitions = 6, 2_000, 1_000
    mechanism = padded(size, "2", 1)
    values = np.tile(np.arange(1, size + 1), people * repetitions // size + 1)[: people * repetitions]
    reports = mechanism.privatize(values, rng=insecure_seed(5)).reshape(repetitions, people) - mechanism.outputs.low
    matrix = mechanism.matrix()
    found = np.array([scored(np.bincount(row, minlength=len(mechanism.outputs)), matrix) for row in reports])
    measured = people * found.var(axis=0).mean()

    def expected(half_window):
        # Everyone's value is given here, not drawn: what drawing adds, F(1 − F), is taken out.
        drawing = np.arange(1, size) / size * (1 - np.arange(1, size) / size)
        return np.linalg.inv(information(size, math.exp(2), half_window)).trace() / (size - 1) - drawing.mean()

    assert measured == pytest.approx(expected(1), rel=6 * math.sqrt(2 / repetitions))
    # Power: the variance of the next window is another one.
    assert measured != pytest.approx(expected(2), rel=6 * math.sqrt(2 / repetitions))


def test_for_the_distribution_function_the_window_is_narrower_than_the_square_waves():
    for epsilon in ("0.5", "1", "2", "3"):
        for size in (256, 1024):
            wave = SquareWave(Integers(1, size), epsilon).half_window
            assert 0.5 * wave < statistical_half_window(size, Epsilon.of(epsilon), "cdf") < 0.9 * wave

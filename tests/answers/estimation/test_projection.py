"""Projected shares: when they are shown, and intervals that hold them and the truth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

import bipartite as bp
from bipartite.answers.estimation.projection import projected_bounds

MANY = 10**6  # reports, so that the normal law is taken


def bounds(raw, shift, error, sure=0.95, people=MANY, spread=0.0):
    """With a shift that is known."""
    raw = np.asarray(raw, dtype=float)
    shares = np.maximum(raw - shift, 0.0)
    same = np.ones(len(raw))
    return shares, *projected_bounds(raw, shares, error * same, spread * same, people, sure)


@pytest.mark.grid(5)
@pytest.mark.parametrize("shift", [0.0, 1.0, 1.9, 2.5, 4.0])
@pytest.mark.parametrize("sure", [0.8, 0.95, 0.999])
def test_ends_are_those_that_root_finding_gives(shift, sure):
    error = 0.01
    raw = np.linspace(-5, 9, 57) * error
    _, low, high = bounds(raw, shift * error, error, sure)
    below = min((1 - sure) / 2, norm.sf(shift))
    above = 1 - sure - below
    for x, least, most in zip(raw / error, low / error, high / error, strict=True):
        assert least == pytest.approx(max(x + norm.ppf(below), 0), abs=1e-6)
        end = brentq(lambda u, x=x: norm.logcdf(x - u) - math.log(above) - norm.logcdf(x), 0, 30)
        assert most == pytest.approx(end, abs=1e-4)


@pytest.mark.parametrize("shift", [-3.0, -1.0, 0.0, 1.0, 1.9, 2.5, 4.0])
@pytest.mark.parametrize("sure", [0.8, 0.95])
def test_with_a_known_shift_every_share_is_held_at_least_as_often_as_stated(shift, sure):
    error = 0.01
    for share in (0.0, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0):
        # The law of the unbiased share, on a grid of 1/1000 of a standard error.
        x = share + np.linspace(-8, 8, 16_001)
        _, low, high = bounds(x * error, shift * error, error, sure)
        held = (low <= share * error + 1e-12) & (share * error - 1e-12 <= high)
        covered = norm.pdf(x - share)[held].sum() / 1000
        assert covered >= sure - 5e-4
        if share == 5:
            assert covered <= sure + 2e-3  # far from zero it is exact


@pytest.mark.parametrize("people", [20, MANY])
@pytest.mark.parametrize("shift", [-60.0, -0.3, 0.0, 0.3, 60.0])
def test_a_projected_share_lies_in_its_interval(people, shift):
    shares, low, high = bounds(np.linspace(-1, 1, 61) + shift, shift, 0.01, people=people, spread=4.0)
    assert (low <= shares + 1e-12).all() and (shares <= high + 1e-12).all()
    assert low.min() >= 0 and high.max() <= 1
    assert (high > low).all() or abs(shift) > 1


def test_with_few_reports_both_sides_are_bounds_that_hold_for_any_number():
    people, spread, shift = 30, 2.0, 0.8
    _, low, high = bounds([0.9], shift, 0.1, people=people, spread=spread)

    def missed(off):
        """Hoeffding: the chance that an average of numbers within the spread is off by so much, to one side."""
        return math.exp(-2 * people * off**2 / spread**2)

    # The side of the shift, and what is left for the other.
    below = min(0.025, missed(shift))
    assert low[0] == pytest.approx(max(0.9 - max(shift, spread * math.sqrt(math.log(1 / below) / (2 * people))), 0))
    assert high[0] == pytest.approx(min(0.9 + spread * math.sqrt(math.log(1 / (0.05 - below)) / (2 * people)), 1))


@given(
    n=st.integers(1, 3000),
    size=st.integers(3, 200),
    epsilon=st.sampled_from([0.2, 1, 3]),
    spikes=st.integers(0, 3),
    seed=st.integers(0, 10**6),
)
def test_every_share_that_is_shown_by_default_lies_in_its_interval(n, size, epsilon, spikes, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(size, 0.3))
    shares[rng.integers(0, size, spikes)] += 1
    mech = bp.OUE(bp.Integers(1, size), epsilon)
    values = rng.choice(np.arange(1, size + 1), n, p=shares / shares.sum())
    est = bp.estimate(mech, mech.privatize(values, rng=bp.insecure_seed(seed)))
    low, high = est._histogram.share_bounds(0.95)
    if est.method == "projected":
        assert (low <= est.shares).all() and (est.shares <= high).all()
        at = int(np.argmax(est.shares))
        assert est.ask(("bin", at + 1)).ci() == (low[at], high[at])


def test_the_default_is_the_projection_which_is_never_farther_from_the_truth_than_unbiased_shares():
    """In every single sample, few values and many people among them: by proof, not on average."""
    for size, people in ((2, 100_000), (4, 300), (16, 10_000), (50, 500)):
        domain, truth = bp.Integers(1, size), np.arange(1.0, size + 1) / (size * (size + 1) / 2)
        values = np.random.default_rng(size).choice(size, people, p=truth) + 1
        for make in (bp.OUE, bp.SUE, bp.SubsetSelection, bp.OLH, bp.HadamardResponse):
            mech = make(domain, 1)
            counts = bp.Counts(mech).add(mech.privatize(values, rng=bp.insecure_seed(1)))
            est, unbiased = bp.estimate(mech, counts=counts), bp.estimate(mech, counts=counts, method="inverse")
            assert est.method == "projected" and "never farther" in est._histogram.reason
            assert est.shares.sum() == pytest.approx(1) and est.shares.min() >= 0
            far, farther = (np.sum((each.shares - truth) ** 2) for each in (est, unbiased))
            assert far <= farther * (1 + 1e-12)


# Supports of OUE are sums of two binomials. 200 samples, in which an interval holds its truth with 95 %: the share
# held, weighted by population, varies by at most 0.0154, as if one value were all. 0.85 is 6.5 times that below: 1e-10.
# Power: an interval of the usual width around the projected share holds fewer than 0.85 where few values are heavy.
@pytest.mark.grid(1)
@pytest.mark.parametrize("size", [64, 300])
@pytest.mark.parametrize("shape", ["uniform", "zipf", "spike", "few"])
def test_intervals_of_projected_shares_hold_the_truth(size, shape):
    ranks = np.arange(1.0, size + 1)
    shares = {
        "uniform": ranks**0,
        "zipf": 1 / ranks,
        "spike": np.where(ranks == size // 3, 4.0 * (size - 1), 1.0),
        "few": np.where(ranks <= 3, 6 - ranks, 0.0),
    }[shape]
    shares = shares / shares.sum()
    mech, people = bp.OUE(bp.Integers(1, size), 1), 3000
    p, q = map(float, mech.support)
    rng = np.random.default_rng(size)
    held, usual, errors = np.zeros(size), np.zeros(size), np.zeros(2)
    for _ in range(200):
        who = rng.multinomial(people, shares)
        supports = rng.binomial(who, p) + rng.binomial(people - who, q)
        counts = bp.Counts(mech)
        counts.values, counts.n = supports, people
        est = bp.estimate(mech, counts=counts)
        low, high = est._histogram.share_bounds(0.95)
        held += (low <= shares) & (shares <= high)
        usual += np.abs(est.shares - shares) <= 1.96 * est._histogram.share_errors
        unbiased = bp.estimate(mech, counts=counts, method="inverse")
        errors += [((each.shares - shares) ** 2).sum() for each in (est, unbiased)]
    assert est.method == "projected"
    assert errors[0] < errors[1] / 2
    assert shares @ held / 200 >= 0.85
    assert shape != "few" or shares @ usual / 200 < 0.85
    assert held.mean() / 200 >= 0.94


# 150 samples: intervals of 95 % hold the truth in fewer than 118 of them with chance below 1e-9. Around the sum of
# projected shares 53 % did, and 118 of 150 with chance below 1e-9.
def test_the_share_up_to_a_value_is_held_also_where_single_shares_are_projected():
    size, people = 300, 1000
    mech = bp.OUE(bp.Integers(1, size), 3)
    shares = 1 / np.arange(1.0, size + 1)
    shares /= shares.sum()
    rng, words = np.random.default_rng(7), bp.insecure_seed(7)
    truth = shares[:76].sum()
    held = 0
    for _ in range(150):
        est = bp.estimate(mech, mech.privatize(rng.choice(np.arange(1, size + 1), people, p=shares), rng=words))
        low, high = est.ask(("cdf", 76)).ci()
        held += low <= truth <= high
        assert low <= est.cdf(76) <= high or not 0 <= est.cdf(76) <= 1
    assert est.method == "projected"
    assert held >= 118


@pytest.mark.parametrize("people", [2, 3, 60])
def test_equal_reports_of_many_values_are_no_certainty(people):
    """Two equal reports of GRR with 100 values had the interval 1 to 1."""
    mechanism = bp.GRR(bp.Integers(1, 100), 1)
    estimate = bp.estimate(mechanism, [1] * people)
    for of in (("bin", 1), ("range", 1, 1), ("cdf", 1)):
        answer = estimate.ask(of)
        assert answer.value == 1
        assert tuple(answer.ci()) == (0, 1)

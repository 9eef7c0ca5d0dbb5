"""Intervals hold the truth as often as they say: small and seeded; bench/answers has the tables."""

import functools
import itertools

import numpy as np
import pytest
from scipy.stats import binom

from bipartite import BRR, GRR, Integers, estimate, insecure_seed

DOMAIN = Integers(0, 31)
VALUES = np.arange(32)
MECHANISMS = {"padded": BRR(DOMAIN, 1, edges="padded"), "grr": GRR(DOMAIN, 1)}
PEOPLE = 5000
REPETITIONS = 1000
# Each test that a coverage is 95 % is wrong about a right estimator once in ten thousand seeds at most, on either side.
FALSE_ALARM = 1e-4


def shape(name):
    t = (VALUES + 0.5) / 32
    f = t * (1 - t) ** 4 if name == "beta" else np.where(VALUES == 0, 0.3, 0.7 / 31)
    return f / f.sum()


@functools.cache
def estimates(kind, name):
    """Of people drawn afresh each time; the counts of their reports are exactly multinomial(n, fᵀP)."""
    mechanism = MECHANISMS[kind]
    generator = np.random.default_rng(7)
    counts = generator.multinomial(PEOPLE, shape(name) @ mechanism.matrix(), REPETITIONS)
    return [estimate(mechanism, counts=row, method="inverse") for row in counts]


def is_as_sure_as_it_says(held, confidence=0.95):
    """A binomial test of how many intervals held, two-sided, with the false-alarm rate above on each side."""
    low, high = binom.ppf([FALSE_ALARM, 1 - FALSE_ALARM], len(held), confidence)
    return low <= np.sum(held) <= high


def is_at_least_as_sure_as_it_says(held, confidence=0.95):
    return np.sum(held) >= binom.ppf(FALSE_ALARM, len(held), confidence)


def averages_to(parts, confidence=0.95):
    """Whether shares of values that hold average to this: values of one repetition go together, repetitions do not.

    Four standard errors over repetitions, one seed in 15,000, and half a percent for counts being whole numbers.
    """
    return abs(np.mean(parts) - confidence) <= 4 * np.std(parts, ddof=1) / np.sqrt(len(parts)) + 0.005


def held(intervals, truth, part=1.0):
    """Which intervals hold the truth, or would if each had only this part of its width."""
    low, high = np.asarray(intervals).T
    return np.abs(truth - (low + high) / 2) <= part * (high - low) / 2


# The quick tier draws the estimates of one case, which all tests share.
CASES = pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("padded", "beta"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("padded", "spike"), ("grr", "beta"), ("grr", "spike"))
        ),
    ],
)


@CASES
def test_intervals_of_the_mean_hold_as_often_as_they_say_and_short_ones_are_found_out(kind, name):
    truth = shape(name) @ VALUES
    for confidence in (0.8, 0.95):
        intervals = [est.ask().ci(confidence) for est in estimates(kind, name)]
        assert is_as_sure_as_it_says([low <= truth <= high for low, high in intervals], confidence)
    # Around the estimate, not the middle: what no population could give is left out of an interval.
    means, errors = np.array([(est.ask().value, est.ask().se) for est in estimates(kind, name)]).T
    assert is_as_sure_as_it_says(np.abs(means - truth) <= 1.959964 * errors)
    assert not is_as_sure_as_it_says(np.abs(means - truth) <= 0.8 * 1.959964 * errors)


@CASES
def test_intervals_of_shares_hold_as_often_as_they_say_and_short_ones_are_found_out(kind, name):
    f = shape(name)
    for part, right in ((1.0, True), (0.8, False)):
        parts = [
            (np.abs(est.shares - f) <= part * 1.959964 * est.to_frame()["se"].to_numpy()).mean()
            for est in estimates(kind, name)
        ]
        assert averages_to(parts) == right


def test_intervals_of_single_shares_are_those_of_all_shares_within_what_is_possible():
    est = estimates("padded", "beta")[0]
    errors = est.to_frame()["se"].to_numpy()
    ends = [est.shares + side * 1.959964 * errors for side in (-1, 1)]
    # An unbiased share below zero stays in its interval, which is about the normal one for many reports.
    expected = np.clip(np.stack(ends, axis=1), np.minimum(est.shares, 0)[:, None], 1)
    found = np.array([est.ask(("bin", value)).ci() for value in range(32)])
    assert (np.abs(found - expected) <= 0.2 * errors[:, None]).all()
    assert found == pytest.approx(est.to_frame()[["low", "high"]].to_numpy(), abs=1e-12)


@CASES
def test_intervals_of_quantiles_and_of_shares_up_to_a_value_hold_at_least_as_often_as_they_say(kind, name):
    f = shape(name)
    for q in (0.25, 0.5, 0.9):
        truth = int(np.searchsorted(f.cumsum(), q - 1e-12))
        found = [est.ask(("quantile", q)).ci() for est in estimates(kind, name)]
        assert is_at_least_as_sure_as_it_says([low <= truth <= high for low, high in found])
    for value in (0, 7, 20):
        found = [est.ask(("cdf", value)).ci() for est in estimates(kind, name)]
        truth = f[: value + 1].sum()
        assert is_at_least_as_sure_as_it_says([low <= truth <= high for low, high in found])


def test_real_reports_are_covered_like_counts_drawn_from_their_law():
    """The same test on people who are drawn and privatised one by one."""
    mechanism, f = MECHANISMS["padded"], shape("beta")
    generator = np.random.default_rng(3)
    found = []
    for number in range(REPETITIONS // 2):
        people = generator.choice(VALUES, PEOPLE, p=f)
        reports = mechanism.privatize(people, rng=insecure_seed(number))
        found.append(estimate(mechanism, reports, method="inverse").ask().ci())
    assert is_as_sure_as_it_says(held(found, f @ VALUES))


@CASES
def test_intervals_of_the_variance_hold_at_least_as_often_as_they_say(kind, name):
    """Under GRR the estimated mean is often outside the range here; the variance's interval must not follow it."""
    f = shape(name)
    truth = f @ VALUES**2 - (f @ VALUES) ** 2
    found = [est.ask("variance").ci() for est in estimates(kind, name)]
    assert is_at_least_as_sure_as_it_says([low <= truth <= high for low, high in found])
    shown = [est.ask("variance").value for est in estimates(kind, name)]
    for (low, high), value in zip(found, shown, strict=True):
        assert min(0, value) - 1e-9 <= low <= value <= high <= max(31**2 / 4, value) + 1e-9
    if kind == "padded":
        # And they are not much wider than they need be: three quarters of the width would not do.
        answers = [est.ask("variance") for est in estimates(kind, name)]
        values, errors = np.array([(answer.value, answer.se) for answer in answers]).T
        assert not is_at_least_as_sure_as_it_says(np.abs(values - truth) <= 0.75 * 1.959964 * errors)


def test_the_variance_is_unbiased():
    """Exactly, by enumeration of all reports of three people."""
    mechanism = BRR(Integers(0, 2), 1, edges="padded")
    matrix, values = mechanism.matrix(), np.arange(3)
    f = np.array([0.2, 0.3, 0.5])
    law, truth, expected = f @ matrix, f @ values**2 - (f @ values) ** 2, 0.0
    for drawn in itertools.product(range(matrix.shape[1]), repeat=3):
        counts = np.bincount(drawn, minlength=matrix.shape[1])
        est = estimate(mechanism, counts=counts, method="inverse")
        expected += np.prod(law[list(drawn)]) * est.ask("variance").value
    assert expected == pytest.approx(truth, abs=1e-9)


def test_variances_of_few_reports_hold():
    mechanism = BRR(DOMAIN, 4, edges="padded")
    f = shape("spike")
    truth = f @ VALUES**2 - (f @ VALUES) ** 2
    generator = np.random.default_rng(5)
    inside = 0
    for row in generator.multinomial(40, f @ mechanism.matrix(), 200):
        found = estimate(mechanism, counts=row, method="inverse").ask("variance").ci()
        inside += found.low <= truth <= found.high
    assert inside >= 0.9 * 200


def test_variances_that_cannot_be_known_are_at_most_what_the_reports_leave_open():
    found = estimate(BRR(DOMAIN, 1), counts=np.full(32, 100)).ask("variance").ci()
    assert found.low == 0 and 31**2 / 12 < found.high <= 31**2 / 4 and "cannot tell" in found.note


def test_errors_of_all_shares_are_those_of_each_with_weights_too():
    """Weights that go with values, as in a stratified survey: one formula for both."""
    mechanism = MECHANISMS["padded"]
    weights = np.where(np.arange(PEOPLE) < 1000, 5.0, 1.0)
    people = np.where(weights > 1, 30, np.arange(PEOPLE) % 10)
    reports = mechanism.privatize(people, rng=insecure_seed(1))
    est = estimate(mechanism, reports, weights=weights, method="inverse")
    each = [est.ask(("bin", value)).se for value in range(32)]
    assert est.to_frame()["se"].to_numpy() == pytest.approx(each, rel=1e-9)

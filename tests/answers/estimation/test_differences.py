"""Differences of two groups: p-values that are uniform where nothing differs, small where something does."""

import functools
import math

import numpy as np
import pytest
from scipy.stats import kstest, norm

from bipartite import BRR, GRR, Integers, Points, difference, estimate
from bipartite.errors import InputError

DOMAIN = Integers(0, 19)
PADDED = BRR(DOMAIN, 2, edges="padded")
PEOPLE = 3000
PAIRS = 400
# Each test that p-values are uniform is wrong about a right estimator once in ten thousand seeds; there are nine.
FALSE_ALARM = 1e-4
CDF = ("cdf", 8)
BIN = ("bin", 3)
WEIGHTS = tuple(np.sqrt(np.arange(20)))


def population(shift=0.0):
    f = np.exp(-0.5 * ((np.arange(20) - 8 - shift) / 4) ** 2)
    return f / f.sum()


def sample(mechanism, f, people, generator):
    """The counts of the reports of people drawn from a population: multinomial(n, fᵀP) is exactly their law."""
    return estimate(mechanism, counts=generator.multinomial(people, f @ mechanism.matrix()), method="inverse")


@functools.cache
def pairs(first, second, shift=0.0, people=PEOPLE):
    generator = np.random.default_rng(11)
    return [
        (sample(first, population(), people, generator), sample(second, population(shift), people, generator))
        for _ in range(PAIRS)
    ]


def p_values(of, mechanisms=(PADDED, PADDED), shift=0.0):
    return np.array([difference(*pair, of=of).p_value for pair in pairs(*mechanisms, shift)])


def looks_uniform(values):
    return kstest(values, "uniform").pvalue > FALSE_ALARM


@pytest.mark.grid(3)
@pytest.mark.parametrize("of", ["mean", "variance", BIN, CDF, WEIGHTS, "distribution"], ids=str)
def test_p_values_are_uniform_where_nothing_differs(of):
    assert looks_uniform(p_values(of))


@pytest.mark.parametrize("of", ["mean", "distribution"])
def test_p_values_are_uniform_between_two_mechanisms_too(of):
    assert looks_uniform(p_values(of, (PADDED, GRR(DOMAIN, 3))))


@pytest.mark.parametrize("of", ["mean", "distribution"])
def test_the_same_test_sees_p_values_that_are_twice_too_large_or_errors_that_are_too_small(of):
    values = p_values(of)
    assert not looks_uniform(np.minimum(1, 2 * values))
    narrow = 2 * norm.sf(norm.isf(values / 2) / 0.7)
    assert not looks_uniform(narrow)


@pytest.mark.parametrize("of", ["mean", CDF, "distribution"], ids=str)
def test_a_shifted_population_is_found(of):
    """A shift of one value, a quarter of a standard deviation: found at 5 % in far more than 5 % of pairs."""
    assert (p_values(of, shift=1.0) < 0.05).mean() > 0.4


def test_the_interval_holds_the_true_difference():
    """Of 400 intervals of 95 %, fewer than 363 or more than 395 hold once in 10,000 seeds or less."""
    truth = float((population() - population(1.0)) @ np.arange(20))
    for of in ("mean", tuple(np.arange(20.0))):
        found = [difference(*pair, of=of) for pair in pairs(PADDED, PADDED, 1.0)]
        held = sum(each.interval.low <= truth <= each.interval.high for each in found)
        assert 363 <= held <= 395
        short = sum(abs(each.value - truth) <= 0.75 * (each.interval.high - each.value) for each in found)
        assert short < 363


def test_the_interval_leaves_out_zero_exactly_where_the_p_value_is_small():
    for pair in pairs(PADDED, PADDED, 1.0)[:50]:
        found = difference(*pair, confidence=0.95)
        assert (found.p_value < 0.05) == (found.interval.low > 0 or found.interval.high < 0)
        assert found.interval.low <= found.value <= found.interval.high


def test_a_difference_is_that_of_the_answers_and_its_error_adds_up():
    first, second = pairs(PADDED, PADDED)[0]
    for of, one, other in (
        ("mean", first.mean, second.mean),
        (BIN, first.shares[3], second.shares[3]),
        (CDF, first.ask(CDF).value, second.ask(CDF).value),
        (WEIGHTS, first.ask(WEIGHTS).value, second.ask(WEIGHTS).value),
    ):
        found, swapped = difference(first, second, of=of), difference(second, first, of=of)
        assert found.value == pytest.approx(one - other)
        assert found.se == pytest.approx(math.hypot(first.ask(of).se, second.ask(of).se))
        assert found.interval.high - found.value == pytest.approx(1.959964 * found.se, rel=0.05)
        assert found.p_value == pytest.approx(2 * norm.sf(abs(found.value) / found.se), abs=0.05)
        assert (swapped.value, swapped.p_value) == pytest.approx((-found.value, found.p_value))
    assert str(difference(first, second)).endswith(f"p = {difference(first, second).p_value:.2g}")


def test_distributions_are_compared_by_the_share_that_differs_most():
    generator = np.random.default_rng(5)
    mechanism = GRR(Integers(1, 3), 3)
    first = sample(mechanism, np.array([0.2, 0.3, 0.5]), 20_000, generator)
    second = sample(mechanism, np.array([0.2, 0.5, 0.3]), 20_000, generator)
    found = difference(first, second, of="distribution")
    apart = first.shares - second.shares
    assert found.value == pytest.approx(apart[np.abs(apart).argmax()])
    assert found.p_value < 1e-6
    # Three shares are compared, so the interval is that of one at a confidence of 1 − 0.05/3.
    error = math.hypot(first.to_frame()["se"].to_numpy()[2], second.to_frame()["se"].to_numpy()[2])
    assert error == pytest.approx(
        math.hypot(first.to_frame()["se"].to_numpy()[1], second.to_frame()["se"].to_numpy()[1]), rel=0.01
    )
    assert found.interval.high - found.value == pytest.approx(norm.isf(0.05 / 6) * error, rel=0.01)


def test_places_are_compared_share_by_share():
    mechanism = GRR(Points([(0, 0), (0, 1), (5, 5)]), 2)
    generator = np.random.default_rng(5)
    f = np.array([0.2, 0.3, 0.5])
    values = [
        difference(*(sample(mechanism, f, 2000, generator) for _ in range(2)), of="distribution").p_value
        for _ in range(PAIRS)
    ]
    assert looks_uniform(np.array(values))


def test_few_reports_have_differences_that_hold():
    """Of 100 intervals of 95 %, fewer than 85 hold once in 10,000 seeds; where the interval ends, p is 0.05."""
    generator = np.random.default_rng(3)
    many, held = sample(PADDED, population(), PEOPLE, generator), 0
    for _ in range(100):
        few = sample(PADDED, population(), 30, generator)
        found = difference(few, many)
        held += found.interval.low <= 0 <= found.interval.high
        assert (found.p_value < 0.05) == (found.interval.low > 0 or found.interval.high < 0)
    assert held >= 85


def test_a_difference_of_ranges_is_that_of_the_shares_shown_and_quantiles_have_one():
    first, second = (
        estimate(PADDED, counts=np.random.default_rng(seed).multinomial(PEOPLE, population(shift) @ PADDED.matrix()))
        for seed, shift in ((1, 0.0), (2, 3.0))
    )
    of = ("range", 4, 9)
    assert difference(first, second, of=of).value == pytest.approx(first.ask(of).value - second.ask(of).value)
    found = difference(second, first, of=("quantile", 0.25))
    assert found.value == second.quantile(0.25) - first.quantile(0.25)
    assert found.interval.low <= found.value <= found.interval.high and found.p_value < 0.05


def test_a_large_difference_is_seen_in_few_reports_too():
    mechanism = GRR(Integers(0, 1), 5)
    low, high = (estimate(mechanism, [value] * 40, method="inverse") for value in (0, 1))
    found = difference(high, low)
    assert found.p_value < 1e-6 and found.interval.low > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda est: (est, 3), "Expected two estimates"),
        (lambda est: ([1, 2], est), "Expected two estimates"),
        (lambda est: (est, estimate(GRR(Integers(0, 18), 1), [3] * 100)), "on one domain"),
        (lambda est: (est, est, "mode"), "Expected 'mean'"),
        (lambda est: (est, est, [1, 2]), "this domain has 20 values"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        difference(*arguments(pairs(PADDED, PADDED)[0][0]))


@pytest.mark.parametrize("confidence", [0, 1, 95, True, "0.95"])
def test_confidence_is_between_zero_and_one(confidence):
    with pytest.raises(InputError, match="Expected confidence"):
        difference(*pairs(PADDED, PADDED)[0], confidence=confidence)


@pytest.mark.parametrize("of", ["mean", "variance", ("bin", 0), "distribution"], ids=str)
def test_what_the_reports_cannot_tell_apart_is_not_compared(of):
    clamped = BRR(DOMAIN, 1)
    found = estimate(clamped, counts=np.full(20, 50))
    with pytest.raises(InputError, match="reports cannot tell apart"):
        difference(found, found, of=of)


@pytest.mark.parametrize("of", ["mean", ("range", 0, 20), ("bin", 72)], ids=str)
def test_differences_hold_where_answers_are_cut_to_what_is_possible(of):
    """At ε = 0.1 the interval of a mean is most of the line, cut at its ends: differences held 0.25 to 0.5."""
    mechanism = GRR(Integers(0, 72), 0.1)
    people = np.zeros(73)
    people[-1], people[:10] = 0.7, 0.03
    law, generator, held = people @ mechanism.matrix(), np.random.default_rng(6), 0
    for _ in range(60):
        first, second = (estimate(mechanism, counts=generator.multinomial(200, law / law.sum())) for _ in range(2))
        low, high = (first.ask(of) - second.ask(of)).ci()
        held += low <= 0 <= high
    # With a coverage of 0.95, fewer than 50 of 60 have a probability of 4e-4.
    assert held >= 50

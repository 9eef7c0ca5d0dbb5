import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from bipartite import insecure_seed
from bipartite.learn.boosting.compiled import ENVELOPE_BITS, GAIN_BITS, half_gain
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.splits import MOST_FALL, MOST_RISE, SplitRule

ONE = 2**GAIN_BITS
utilities = st.lists(st.integers(0, 50 * ONE), min_size=1, max_size=6).map(lambda u: np.array(u, dtype=np.int64))
rules = st.builds(lambda n, d: SplitRule(Fraction(n, d)), st.integers(1, 50), st.integers(1, 60))


def exact_half(count, total, lam):
    return Fraction(total, UNIT) ** 2 / (count + lam)


@given(st.integers(0, 2**20), st.fractions(-1, 1), st.sampled_from(["1/10", "1/1000", "1", "999/1000", "1000"]))
def test_half_a_gain_is_the_formula_rounded_down(count, share, lam):
    lam = Fraction(lam)
    total = int(share * count * UNIT)
    computed = half_gain(count, total, lam.numerator, lam.denominator)
    assert computed == int(exact_half(count, total, lam) * ONE)


def test_the_largest_gains_of_the_most_records_fit():
    # n²·2^10·10 just below 2^64 with λ = 1/10.
    count = 42_000_000
    assert half_gain(count, count * UNIT, 1, 10) == int(exact_half(count, count * UNIT, Fraction(1, 10)) * ONE)


@pytest.mark.parametrize("lam", [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(10)])
def test_one_record_more_moves_a_gain_by_no_more_than_stated(lam):
    # Brute force over counts, sums and gradients; sums and gradients of odd units, so that floors are met.
    rises, falls = [], []
    shares = [Fraction(k, 6) for k in range(-6, 7)]
    for count, share, gradient in itertools.product([0, 1, 2, 3, 4, 5, 7, 10, 100, 10_000], shares, shares):
        total = int(share * count * UNIT)
        change = half_gain(count + 1, total + int(gradient * UNIT), lam.numerator, lam.denominator) - half_gain(
            count, total, lam.numerator, lam.denominator
        )
        rises.append(change)
        falls.append(-change)
    assert max(rises) <= MOST_RISE * ONE
    assert max(falls) <= MOST_FALL * ONE
    # Both bounds are nearly met, so that smaller ones would be wrong.
    assert max(rises) > 0.99 * MOST_RISE * ONE
    assert max(falls) > 0.99 * MOST_FALL * ONE


@given(rules, utilities)
def test_proposals_times_keeping_are_the_exponential_weights_exactly(rule, gains):
    running = rule.proposals(gains)
    for cut, tickets in enumerate(np.diff(running, prepend=0).tolist()):
        gamma, factor = rule.probability_of_keeping(int(gains.max() - gains[cut]), tickets)
        # A try ends with this cut with chance tickets/W · factor·e^−γ = 2^40·e^−γ/W: the law, whatever the tickets are.
        assert tickets * factor == 2**ENVELOPE_BITS
        assert gamma == rule.epsilon * int(gains.max() - gains[cut]) / (4 * ONE)
        # The chance of keeping is none above one, so that nothing is cut off.
        assert mpmath.mpf(factor.numerator) / factor.denominator * mpmath.exp(-float(gamma)) < 1 + 1e-12


@given(rules, utilities)
def test_the_law_encloses_the_softmax(rule, gains):
    with mpmath.workdps(50):
        weights = [mpmath.exp(mpmath.mpf(rule.rate.numerator) / rule.rate.denominator * int(u)) for u in gains]
        for (low, high), weight in zip(rule.law(gains, 40), weights, strict=True):
            truth = weight / sum(weights)
            assert low.numerator / mpmath.mpf(low.denominator) <= truth * (1 + mpmath.mpf(10) ** -45)
            assert high.numerator / mpmath.mpf(high.denominator) >= truth * (1 - mpmath.mpf(10) ** -45)
            assert high - low <= Fraction(1, 10**30)


def test_cuts_are_drawn_by_the_law():
    # False alarms: 1e-9, the level of the chi-squared tests; ε = 2.5 in place of 2 is rejected.
    gains = np.array([0, 3 * ONE, 5 * ONE, 5 * ONE + 7, 9 * ONE], dtype=np.int64)
    rule, size = SplitRule(Fraction(2)), 6000
    stream = insecure_seed(2).streams().stream(0, 1)
    counts = np.bincount([rule.draw(gains, stream) for _ in range(size)], minlength=5)
    for other, accepted in ((rule, True), (SplitRule(Fraction(5, 2)), False)):
        chances = np.array([float(low) for low, _ in other.law(gains)])
        statistic = ((counts - size * chances) ** 2 / (size * chances)).sum()
        assert (statistic < chi2.isf(1e-9, 4)) == accepted

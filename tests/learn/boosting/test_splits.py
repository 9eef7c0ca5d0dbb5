from fractions import Fraction

import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from bipartite import insecure_seed
from bipartite.learn.boosting.compiled import ENVELOPE_BITS, GRADIENT_BITS, gains
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.splits import WIDTH, SplitRule

ONE = 2**GRADIENT_BITS
utilities = st.lists(st.integers(0, 50 * ONE), min_size=1, max_size=6).map(lambda u: np.array(u, dtype=np.int64))
rules = st.builds(lambda n, d: SplitRule(Fraction(n, d)), st.integers(1, 50), st.integers(1, 60))


@given(st.integers(-(2**40), 2**40), st.integers(-(2**40), 2**40), st.integers(-UNIT, UNIT), st.booleans())
def test_one_record_more_moves_a_gain_by_no_more_than_stated(left, right, gradient, goes_left):
    found = []
    for more in (0, gradient):
        sums = np.array([[[left + more * goes_left, right + more * (not goes_left)]]])
        utilities = np.empty((1, 1), dtype=np.int64)
        gains(sums, np.array([2]), utilities)
        found.append(int(utilities[0, 0]))
    assert abs(found[1] - found[0]) <= abs(gradient) <= WIDTH // 2


@given(rules, utilities)
def test_proposals_times_keeping_are_the_exponential_weights_exactly(rule, gains):
    running = rule.proposals(gains)
    for cut, tickets in enumerate(np.diff(running, prepend=0).tolist()):
        gamma, factor = rule.probability_of_keeping(int(gains.max() - gains[cut]), tickets)
        # A try ends with this cut with chance tickets/W · factor·e^−γ = 2^40·e^−γ/W: the law, whatever the tickets are.
        assert tickets * factor == 2**ENVELOPE_BITS
        assert gamma == rule.epsilon * int(gains.max() - gains[cut]) / (2 * ONE)
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

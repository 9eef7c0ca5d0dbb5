"""Tails and bounds against mpmath and exact fractions; SciPy computes the tails, so it is no oracle here."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from bipartite.verification import binomial
from bipartite.verification.binomial import chi_square_tail, lower_bound, tail_above, tail_below, upper_bound


def beta_tail(a, b, x):
    """I_x(a, b) in 40 digits: the factor by mpmath, the continued fraction (DLMF 8.17.22) in decimals."""
    if x > Decimal(a + 1) / (a + b + 2):
        return 1 - beta_tail(b, a, 1 - x)
    d = 1 / (1 - (a + b) * x / (a + 1))
    c, fraction, m = Decimal(1), d, 0
    while abs(c * d - 1) > Decimal("1e-35") or not m:
        m += 1
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + step * d)
            c = 1 + step / c
            fraction *= c * d
    p = mpmath.mpf(str(x))
    gammas = mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)
    return mpmath.exp(a * mpmath.log(p) + b * mpmath.log1p(-p) + gammas) / a * mpmath.mpf(str(fraction))


def exact_above(hits, trials, p):
    with localcontext(prec=60), mpmath.workdps(60):
        return beta_tail(hits, trials - hits + 1, Decimal(p))


def exact_below(hits, trials, p):
    with localcontext(prec=60), mpmath.workdps(60):
        return beta_tail(trials - hits, hits + 1, 1 - Decimal(p))


def test_the_oracle_is_that_of_sums():
    for hits, trials, p in ((3, 10, 0.1), (300, 1000, 0.25), (4000, 5000, 0.79)):
        with mpmath.workdps(60):
            terms = [
                mpmath.binomial(trials, i) * mpmath.mpf(p) ** i * (1 - mpmath.mpf(p)) ** (trials - i)
                for i in range(hits)
            ]
            assert abs(exact_above(hits, trials, p) + mpmath.fsum(terms) - 1) < mpmath.mpf("1e-35")
            assert abs(exact_below(hits - 1, trials, p) - mpmath.fsum(terms)) < mpmath.mpf("1e-35")


def grid():
    """Counts from none to all of 1 to 10^9 trials, near both ends and between."""
    for trials in (1, 2, 7, 40, 1000, 10**5, 10**7, 10**9):
        near = [0, 1, 2, 5, 30, 1000, trials // 1000, trials // 10, trials // 3, trials // 2]
        for hits in sorted({each for few in near if few <= trials for each in (few, trials - few)}):
            yield hits, trials


@pytest.mark.parametrize("alpha", [0.3, 1e-3, 1e-8, 1e-12])
def test_bounds_are_outward_and_as_sharp_as_the_margin_allows(alpha):
    worst = 0.0
    for hits, trials in grid():
        margin = binomial._margin(trials)
        if hits > 0:
            low = lower_bound(hits, trials, alpha)
            right = exact_above(hits, trials, low)
            # Bisection stops at a relative 1e-13; ln of the tail rises at most hits times as fast as ln p.
            assert alpha * (1 - 2 * margin - 2e-13 * hits) < right <= alpha
            worst = max(worst, abs(float(tail_above(hits, trials, low) / right - 1)) / margin)
        if hits < trials and (high := upper_bound(hits, trials, alpha)) < 1:
            right = exact_below(hits, trials, high)
            assert alpha * (1 - 2 * margin - 2e-13 * (trials - hits) / (1 - high)) < right <= alpha
            worst = max(worst, abs(float(tail_below(hits, trials, high) / right - 1)) / margin)
    assert worst < 0.25  # of what is allowed; 0.06 was measured over SciPy 1.12, 1.14 and 1.17


def test_bounds_far_out_are_right_where_the_inverses_of_scipy_are_not():
    # stats.beta.ppf(1e-12, 1000, 10**9 - 999) gives 1.9e-6.
    bound = lower_bound(1000, 10**9, 1e-12)
    assert bound == pytest.approx(7.9343930e-7, rel=1e-7)
    assert exact_above(1000, 10**9, bound) <= 1e-12 < exact_above(1000, 10**9, bound * (1 + 1e-6))


def test_bounds_of_few_trials_are_outward_in_exact_fractions():
    for trials in (1, 2, 3, 5, 8):
        for hits in range(trials + 1):
            for alpha in (0.3, 1e-4, 1e-12):
                low, high = Fraction(lower_bound(hits, trials, alpha)), Fraction(upper_bound(hits, trials, alpha))
                terms = {
                    p: [math.comb(trials, i) * p**i * (1 - p) ** (trials - i) for i in range(trials + 1)]
                    for p in (low, high)
                }
                assert hits == 0 or sum(terms[low][hits:]) <= Fraction(alpha)
                assert hits == trials or sum(terms[high][: hits + 1]) <= Fraction(alpha)


def test_bounds_cover_exactly_as_often_as_they_say():
    # By enumeration, no samples: the bound exceeds p with probability at most α for every p.
    trials, alpha = 30, 0.05
    bounds = [lower_bound(hits, trials, alpha) for hits in range(trials + 1)]
    for p in np.linspace(0.001, 0.999, 97):
        wrong = sum(stats.binom.pmf(hits, trials, p) for hits in range(trials + 1) if bounds[hits] > p)
        assert wrong <= alpha + 1e-12
    # A bound at twice the level would not: the test can fail.
    sharper = [lower_bound(hits, trials, 2 * alpha) for hits in range(trials + 1)]
    misses = [
        sum(stats.binom.pmf(h, trials, p) for h in range(trials + 1) if sharper[h] > p)
        for p in np.linspace(0.001, 0.999, 97)
    ]
    assert max(misses) > alpha


def test_tails_at_the_ends():
    ends = (tail_above(0, 9, 0.3), tail_above(10, 9, 0.3), tail_above(3, 9, 0.0), tail_above(3, 9, 1.0))
    assert ends == (1, 0, 0, 1)
    assert (tail_below(9, 9, 0.3), tail_below(-1, 9, 0.3), tail_below(3, 9, 0.0), tail_below(3, 9, 1.0)) == (1, 0, 1, 0)


class Fails:
    betainc = betaincc = staticmethod(lambda *_: math.nan)


def test_a_tail_that_cannot_be_computed_gives_no_bound(monkeypatch):
    monkeypatch.setattr(binomial, "special", Fails)
    assert lower_bound(5, 10, 0.01) < 1e-300
    assert upper_bound(5, 10, 0.01) == 1


def test_chi_square_tails_are_those_of_mpmath():
    generator = np.random.default_rng(3)
    for _ in range(100):
        freedom = 10 ** generator.uniform(-0.5, 3)
        statistic = freedom * 10 ** generator.uniform(-0.7, 0.7)
        with mpmath.workdps(40):
            exact = float(mpmath.gammainc(mpmath.mpf(freedom) / 2, mpmath.mpf(statistic) / 2, regularized=True))
        assert chi_square_tail(statistic, freedom) == pytest.approx(exact, rel=1e-9, abs=1e-280)
    assert chi_square_tail(0.0, 3) == chi_square_tail(5.0, 0) == 1

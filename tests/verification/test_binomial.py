import mpmath
import numpy as np
import pytest
from scipy import stats

from bipartite.verification.binomial import (
    chi_square_tail,
    lower_bound,
    normal_tail,
    tail_above,
    tail_below,
    upper_bound,
)


def cases(count, seed):
    generator = np.random.default_rng(seed)
    for _ in range(count):
        trials = int(10 ** generator.uniform(0, 9))
        rare = min(trials, int(10 ** generator.uniform(0, 9)))
        yield trials, int(generator.integers(0, trials + 1)) if generator.random() < 0.5 else rare, generator


def test_clopper_pearson_bounds_are_those_of_the_beta_quantiles_and_never_sharper():
    for trials, hits, generator in cases(200, 1):
        alpha = 10 ** generator.uniform(-8, -0.5)
        low, high = lower_bound(hits, trials, alpha), upper_bound(hits, trials, alpha)
        exact_low = stats.beta.ppf(alpha, hits, trials - hits + 1) if hits else 0.0
        exact_high = stats.beta.isf(alpha, hits + 1, trials - hits) if hits < trials else 1.0
        # scipy itself is good to about 1e-10 here; ours is on the safe side of the truth by up to 1e-6.
        assert low <= exact_low * (1 + 1e-10)
        assert low == pytest.approx(exact_low, rel=3e-6, abs=1e-15)
        assert high >= exact_high * (1 - 1e-10)
        assert high == pytest.approx(exact_high, rel=3e-6)


def test_bounds_are_on_the_safe_side_in_forty_digits():
    def tail(hits, trials, p):
        return mpmath.fsum(mpmath.binomial(trials, i) * p**i * (1 - p) ** (trials - i) for i in range(hits + 1))

    with mpmath.workdps(40):
        for trials, _, generator in cases(60, 4):
            hits, alpha = min(trials - 1, int(generator.integers(0, 30))), 10 ** generator.uniform(-8, -0.5)
            high = mpmath.mpf(upper_bound(hits, trials, alpha))
            assert alpha * (1 - 4e-6) < tail(hits, trials, high) <= alpha
            low = mpmath.mpf(lower_bound(trials - hits, trials, alpha))
            assert tail(hits, trials, 1 - low) <= alpha * (1 + 1e-16 * trials)


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


def test_binomial_tails_are_those_of_scipy():
    for trials, hits, generator in cases(400, 2):
        p = generator.random()
        above, below = stats.binom.sf(hits - 1, trials, p), stats.binom.cdf(hits, trials, p)
        assert tail_above(hits, trials, p) == pytest.approx(above, rel=1e-6, abs=1e-280)
        assert tail_below(hits, trials, p) == pytest.approx(below, rel=1e-6, abs=1e-280)
    ends = (tail_above(0, 9, 0.3), tail_above(10, 9, 0.3), tail_above(3, 9, 0.0), tail_above(3, 9, 1.0))
    assert ends == (1, 0, 0, 1)
    assert tail_below(9, 9, 0.3) == 1


def test_chi_square_and_normal_tails_are_those_of_scipy():
    generator = np.random.default_rng(3)
    for _ in range(400):
        freedom = 10 ** generator.uniform(-0.5, 5)
        statistic = freedom * 10 ** generator.uniform(-0.7, 0.7)
        exact = stats.chi2.sf(statistic, freedom)
        smallest = 1e-14 if exact > 0.5 else 1e-280
        assert chi_square_tail(statistic, freedom) == pytest.approx(exact, rel=1e-7, abs=smallest)
    assert chi_square_tail(0.0, 3) == chi_square_tail(5.0, 0) == 1
    for z in (0.0, 1.0, -2.5, 7.0):
        assert normal_tail(z) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)

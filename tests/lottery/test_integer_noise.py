"""Whole-number noise against its exact law, and the paths that words take once in 2^64 draws."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

import bipartite as bp
from bipartite.lottery import integer_noise as noise
from bipartite.lottery.words import SECURE

DRAWS = 200_000


def laplace_law(scale, reach):
    """Pr[z] for |z| ≤ reach, from the sum over all whole numbers."""
    weights = {z: math.exp(-abs(z) / scale) for z in range(-reach, reach + 1)}
    total = (1 + math.exp(-1 / scale)) / (1 - math.exp(-1 / scale))
    return {z: weight / total for z, weight in weights.items()}


def gaussian_law(scale, reach):
    """Pr[round(scale·N) = z], by the normal distribution of mpmath."""
    cut = [float(mpmath.ncdf((z - 0.5) / scale)) for z in range(-reach, reach + 2)]
    return {z: b - a for z, a, b in zip(range(-reach, reach + 1), cut, cut[1:], strict=False)}


def p_value(drawn, law):
    """χ² of draws against a law, what is outside its table counted as one more cell."""
    chances = np.array([*law.values(), 1 - sum(law.values())])
    counts = np.array([*((drawn == z).sum() for z in law), (~np.isin(drawn, list(law))).sum()])
    return stats.chisquare(counts, chances * len(drawn)).pvalue


@pytest.mark.parametrize(
    ("draw", "law", "bits", "reach"),
    [
        (noise.discrete_laplace, laplace_law, 0, 6),
        (noise.discrete_laplace, laplace_law, 3, 40),
        (noise.rounded_gaussian, gaussian_law, 0, 3),
        (noise.rounded_gaussian, gaussian_law, 3, 24),
    ],
)
def test_noise_has_its_law_and_not_one_two_percent_wider(draw, law, bits, reach):
    # Seeded; a right law gives p below 1e-6 once in a million seeds.
    drawn = draw(DRAWS, bits, bp.insecure_seed(11))
    assert p_value(drawn, law(2**bits, reach)) > 1e-6
    assert p_value(drawn, law(2**bits * 1.03, reach)) < 1e-6


def test_wide_noise_has_the_same_shape():
    # Kolmogorov–Smirnov, p below 1e-6 once in a million seeds; the steps of the grid are invisible at this width.
    for draw, name in ((noise.rounded_gaussian, "norm"), (noise.discrete_laplace, "laplace")):
        drawn = draw(DRAWS, noise.MOST_BITS, bp.insecure_seed(12)) / 2.0**noise.MOST_BITS
        assert stats.kstest(drawn, name).pvalue > 1e-6
        assert stats.kstest(1.03 * drawn, name).pvalue < 1e-6


def test_noise_is_not_the_same_twice_and_zero_draws_are_none():
    assert (noise.rounded_gaussian(50, 30, SECURE) != noise.rounded_gaussian(50, 30, SECURE)).any()
    assert len(noise.discrete_laplace(0, 3, SECURE)) == 0


def test_the_bound_on_a_gaussian_draw_holds_for_the_comparisons_it_makes(monkeypatch):
    made = []
    less = noise._less

    def counted(words, others, stream):
        made[-1] += len(words)
        return less(words, others, stream)

    monkeypatch.setattr(noise, "_less", counted)
    stream = bp.insecure_seed(3).streams().stream(0, 100)
    kept = 0
    for _ in range(3000):
        made.append(0)
        kept += len(noise._gaussian_tries(1, 20, stream))
    # A mean of squares of about 40, against 2^13 in the bound; accepted with chance 0.715, five errors of 0.008 apart.
    assert 10 < np.mean(np.square(made)) < 2**13 / 10
    assert abs(kept / 3000 - math.sqrt(math.pi / 2) / sum(math.exp(-k * k / 2) for k in range(14))) < 0.04


def test_coins_are_never_likelier_than_asked():
    threshold = int(0.3 * 2.0**64)
    words = bp.fixed_words([threshold - 1, threshold, threshold + 1, 0])
    assert noise.flip_coins(4, 0.3, words).tolist() == [True, False, False, True]
    assert Fraction(threshold, 2**64) <= Fraction(0.3)
    assert noise.flip_coins(3, 1.0, SECURE).all()


def test_words_that_tie_with_a_threshold_ask_for_64_bits_more():
    words = np.array([4, 5, 5, 6], dtype=np.uint64)
    rest = np.full(4, 100, dtype=np.uint64)
    fives = np.full(4, 5, dtype=np.uint64)
    stream = bp.fixed_words([99, 100])
    assert noise._under(words, fives, rest, stream).tolist() == [True, True, False, False]


def test_uniform_numbers_that_tie_are_told_apart_by_fresh_words():
    words, others = np.array([4, 5, 6], dtype=np.uint64), np.full(3, 5, dtype=np.uint64)
    assert noise._less(words, others, bp.fixed_words([8, 7])).tolist() == [True, True, False]
    assert noise._less(words, others, bp.fixed_words([8, 8])).tolist() == [True, False, False]


def test_a_whole_part_at_a_threshold_is_decided_by_the_next_64_bits():
    first, rest = int(noise._TABLE[0]), int(noise._TABLE_REST[0])
    cases = {(first - 1,): 0, (first, rest - 1): 0, (first, rest): 1, (first + 1,): 1}
    for words, whole in cases.items():
        assert noise._whole_parts(1, bp.fixed_words(words)).tolist() == [whole]


def test_the_table_of_whole_parts_has_the_chances_of_the_normal_distribution():
    with mpmath.workdps(60):
        weights = [mpmath.exp(-mpmath.mpf(k * k) / 2) for k in range(60)]
        for k in range(13):
            share = Fraction(int(noise._TABLE[k]) * 2**64 + int(noise._TABLE_REST[k]), 2**128)
            exact = mpmath.fsum(weights[: k + 1]) / mpmath.fsum(weights)
            assert abs(mpmath.mpf(share.numerator) / share.denominator - exact) < mpmath.mpf(2) ** -126


@pytest.mark.parametrize(("rate", "accepted"), [(Fraction(1, 3), True), (Fraction(2, 5), False)])
def test_noise_has_the_discrete_laplace_law(rate, accepted):
    # False alarms: 1e-9, the level of the chi-squared test; the rate 2/5 in place of 1/3 is rejected.
    source, size, reach = bp.insecure_seed(3).stream(0, 1), 4000, 8
    drawn = [noise.discrete_laplace_of_rate(Fraction(1, 3), source) for _ in range(size)]
    alpha = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)
    inner = [float((1 - alpha) / (1 + alpha) * alpha ** abs(z)) for z in range(-reach, reach + 1)]
    tail = (1 - sum(inner)) / 2
    chances = [tail, *inner, tail]
    counts = [0] * len(chances)
    for z in drawn:
        counts[min(max(z, -reach - 1), reach + 1) + reach + 1] += 1
    statistic = sum((n - size * p) ** 2 / (size * p) for n, p in zip(counts, chances, strict=True))
    assert (statistic < stats.chi2.isf(1e-9, len(chances) - 1)) == accepted


def test_noise_of_tiny_rates_is_wide():
    source = bp.insecure_seed(5).stream(0, 1)
    assert max(abs(noise.discrete_laplace_of_rate(Fraction(1, 10**30), source)) for _ in range(20)) > 10**29

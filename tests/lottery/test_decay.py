from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from bipartite import fixed_words, insecure_seed
from bipartite.lottery.decay import decay_between, discrete_laplace, happens, whole_below

gammas = st.fractions(min_value=0, max_value=2000, max_denominator=10**12)


def stream(seed):
    return insecure_seed(seed).streams().stream(0, 1)


@given(gammas, st.sampled_from([20, 40, 80]))
def test_the_enclosure_holds_the_truth_and_is_tight(gamma, digits):
    low, high = decay_between(gamma, digits)
    with mpmath.workdps(digits + 40):
        truth = mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator <= truth <= mpmath.mpf(high.numerator) / high.denominator
    # The exponent has so many digits too, and is at most 2000.
    assert high - low <= high * Fraction(10**4, 10 ** (digits - 1))


def test_far_out_the_enclosure_is_cheap_until_it_must_not_be():
    assert decay_between(Fraction(10**12), 40) == (0, Fraction(1, 10**4000))
    low, high = decay_between(Fraction(10_001), 4000)
    assert 0 < low < high < Fraction(1, 10**4000)


@given(gammas, st.fractions(min_value=0, max_value=1, max_denominator=10**6), st.integers(0, 2**64 - 1))
def test_the_coin_falls_as_the_random_number_lies_below_its_chance(gamma, factor, word):
    with mpmath.workdps(900):
        p = mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator) * factor.numerator / factor.denominator
        # The words after the first are zeros, so that the number is word/2^64.
        expected = mpmath.mpf(word) / 2**64 < p
    assert happens(gamma, fixed_words([word] + [0] * 64).stream(0, 1), factor) == expected


@pytest.mark.parametrize("after", [0, 2**64 - 1])
def test_a_word_on_the_border_takes_another_and_the_next_word_decides(after):
    with mpmath.workdps(60):
        border = int(mpmath.floor(mpmath.exp(-1) * 2**64))
    words = fixed_words([border, after, 7])
    assert happens(Fraction(1), words.stream(0, 1)) == (after == 0)
    assert repr(words) == "<fixed words, 1 of 3 left>"


def test_a_chance_of_one_always_happens_and_more_is_refused():
    assert happens(Fraction(0), fixed_words([2**64 - 1]).stream(0, 1))
    with pytest.raises(AssertionError, match="a chance above one"):
        happens(Fraction(0), fixed_words([0]).stream(0, 1), Fraction(3, 2))


@pytest.mark.parametrize("total", [1, 2, 5, 8])
def test_whole_numbers_are_uniform_on_every_word_there_is(total):
    # Only the top bits count, at most three: eight words stand for all.
    counts = [0] * total
    for top in range(8):
        words = fixed_words([top << 61, 0])
        number = whole_below(total, words.stream(0, 1))
        if total == 1 or "1 of 2" in repr(words):  # the first word was kept
            counts[number] += 1
    assert len(set(counts)) == 1
    assert counts[0] > 0


def test_whole_numbers_below_totals_of_several_words_use_all_bits():
    assert whole_below(2**100, fixed_words([2**63, 1]).stream(0, 1)) == (2**63 << 64 | 1) >> 28
    drawn = [whole_below(3**100, source) for source in [stream(1)] for _ in range(50)]
    assert max(drawn) > 3**100 // 2 > min(drawn)


@pytest.mark.parametrize(("rate", "accepted"), [(Fraction(1, 3), True), (Fraction(2, 5), False)])
def test_noise_has_the_discrete_laplace_law(rate, accepted):
    # False alarms: 1e-9, the level of the chi-squared test; the rate 2/5 in place of 1/3 is rejected.
    source, size, reach = stream(3), 4000, 8
    drawn = [discrete_laplace(Fraction(1, 3), source) for _ in range(size)]
    alpha = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)
    inner = [float((1 - alpha) / (1 + alpha) * alpha ** abs(z)) for z in range(-reach, reach + 1)]
    tail = (1 - sum(inner)) / 2
    chances = [tail, *inner, tail]
    counts = [0] * len(chances)
    for z in drawn:
        counts[min(max(z, -reach - 1), reach + 1) + reach + 1] += 1
    statistic = sum((n - size * p) ** 2 / (size * p) for n, p in zip(counts, chances, strict=True))
    assert (statistic < chi2.isf(1e-9, len(chances) - 1)) == accepted


def test_noise_of_tiny_rates_is_wide():
    source = stream(5)
    assert max(abs(discrete_laplace(Fraction(1, 10**30), source)) for _ in range(20)) > 10**29

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import fixed_words, insecure_seed
from bipartite.lottery.decay import decay_between, flip_exp_coin

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


def test_far_out_the_enclosure_is_cheap_until_it_must_not_be(monkeypatch):
    assert decay_between(Fraction(10**12), 40) == (0, Fraction(1, 10**4000))
    # 4000 digits take seconds: here a hundred are many.
    monkeypatch.setattr("bipartite.lottery.decay._FAR_DIGITS", 100)
    low, high = decay_between(Fraction(10_001), 100)
    assert 0 < low < high < Fraction(1, 10**4000)


@given(gammas, st.fractions(min_value=0, max_value=1, max_denominator=10**6), st.integers(0, 2**64 - 1))
def test_the_coin_falls_as_the_random_number_lies_below_its_chance(gamma, factor, word):
    with mpmath.workdps(900):
        p = mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator) * factor.numerator / factor.denominator
        # The words after the first are zeros, so that the number is word/2^64.
        expected = mpmath.mpf(word) / 2**64 < p
    assert flip_exp_coin(gamma, fixed_words([word] + [0] * 64).stream(0, 1), factor) == expected


@pytest.mark.parametrize("after", [0, 2**64 - 1])
def test_a_word_on_the_border_takes_another_and_the_next_word_decides(after):
    with mpmath.workdps(60):
        border = int(mpmath.floor(mpmath.exp(-1) * 2**64))
    words = fixed_words([border, after, 7])
    assert flip_exp_coin(Fraction(1), words.stream(0, 1)) == (after == 0)
    assert repr(words) == "<fixed words, 1 of 3 left>"


def test_a_chance_of_one_always_happens_and_more_is_refused():
    assert flip_exp_coin(Fraction(0), fixed_words([2**64 - 1]).stream(0, 1))
    with pytest.raises(AssertionError, match="a probability above one"):
        flip_exp_coin(Fraction(0), fixed_words([0]).stream(0, 1), Fraction(3, 2))

from decimal import ROUND_UP, Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.errors import EpsilonError
from bipartite.lottery.epsilon import Epsilon, exp_between, log_between, series_below_exp
from tests.oracle import exp
from tests.strategies import epsilons


@pytest.mark.parametrize(
    ("given_as", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        ("1.00", "1"),
        (0.1, "0.1"),
        (Decimal("2.50"), "2.5"),
        (1e-9, "0.000000001"),
        (10, "10"),
        (np.float64(0.3), "0.3"),
        (np.float32(0.1), "0.1"),
        (np.int64(2), "2"),
        ("12345678901234567890e-19", "1.234567890123456789"),
        (1.3862943611198906, "1.3862943611198906"),
    ],
)
def test_epsilon_has_one_canonical_form(given_as, text):
    assert Epsilon.of(given_as).text == text
    assert Epsilon.of(text) == Epsilon.of(given_as)
    assert hash(Epsilon.of(text)) == hash(Epsilon.of(given_as))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (0, "got 0; most uses"),
        (-1.0, "got -1.0; most uses"),
        (float("nan"), "got nan; most uses"),
        (float("inf"), "got inf; most uses"),
        (51, "got 51; most uses"),
        (1000, "got 1000; most uses"),
        ("1e-16", "got 1e-16; most uses"),
        ("1e-999999", "got 1e-999999; most uses"),
        ("one", "got 'one'; pass a number"),
        (True, "got bool; pass a number"),
        (None, "got NoneType; pass a number"),
        ([1], "got list; pass a number"),
        ("1.00000000000000000000000001", "got 27 digits; round it to 20"),
        ("0." + "9" * 60, "got 60 digits; round it to 20"),
        pytest.param(10**5000, "got 100000000000000000000; most uses", id="huge"),
        pytest.param(-(10**5000), "got -100000000000000000000; most uses", id="huge and negative"),
        (np.timedelta64(1, "s"), "got timedelta64; pass a number"),
    ],
)
def test_what_is_no_epsilon_is_refused_with_advice(wrong, message):
    with pytest.raises(EpsilonError, match="Expected epsilon as a positive decimal of at most 20 digits") as caught:
        Epsilon.of(wrong)
    assert message in str(caught.value)


def test_the_callers_decimal_context_changes_nothing():
    with localcontext() as context:
        context.prec = 3
        context.rounding = ROUND_UP
        rough = Epsilon.of("1.2345678901234567")
        tickets = rough.most_near_tickets(2**40)
        between = exp_between.__wrapped__(rough.value, 40)
    assert rough.text == "1.2345678901234567"
    assert tickets == rough.most_near_tickets(2**40)
    assert between == exp_between.__wrapped__(rough.value, 40)


@given(epsilons, st.integers(0, 51))
def test_near_tickets_are_the_most_that_e_to_the_epsilon_allows(epsilon, k):
    budget = Epsilon.of(epsilon)
    near = budget.most_near_tickets(2**k)
    assert near == int(mpmath.floor(exp(budget) * 2**k))
    assert budget.allows(near, 2**k)
    assert not budget.allows(near + 1, 2**k)


@given(epsilons)
def test_the_series_lies_below_e_to_the_epsilon_and_within_1e_60(epsilon):
    budget = Epsilon.of(epsilon)
    numerator, denominator = series_below_exp(budget.value)
    gap = exp(budget) - mpmath.mpf(numerator) / denominator
    assert 0 < gap < exp(budget) * mpmath.mpf(10) ** -60


@given(epsilons, st.integers(-(2**70), 2**70), st.integers(-(2**70), 2**70))
def test_the_sign_of_c0_plus_c1_e_to_the_epsilon_is_exact(epsilon, c0, c1):
    budget = Epsilon.of(epsilon)
    assert budget.sign(c0, c1) == int(mpmath.sign(c0 + c1 * exp(budget)))


def convergents(number: mpmath.mpf, terms: int):
    """The best rational approximations: as near to a tie as whole numbers get."""
    before, now = (0, 1), (1, 0)
    for _ in range(terms):
        whole = int(mpmath.floor(number))
        before, now = now, (whole * now[0] + before[0], whole * now[1] + before[1])
        yield now
        number = 1 / (number - whole)


@pytest.mark.parametrize("epsilon", ["0.001", "0.7", "1", "1.3862943611198906", "3", "11.999"])
def test_the_sign_is_exact_at_the_nearest_ties_there_are(epsilon):
    budget = Epsilon.of(epsilon)
    for p, q in convergents(exp(budget), 60):
        expected = int(mpmath.sign(q * exp(budget) - p))
        assert budget.sign(-p, q) == expected
        assert budget.sign(p, -q) == -expected


def test_the_sign_of_nothing_is_zero():
    assert Epsilon.of(1).sign(0, 0) == 0
    assert Epsilon.of(1).sign(-3, 0) == -1


@given(st.integers(1, 2**52), st.integers(1, 2**52))
def test_the_logarithm_is_enclosed_tightly(numerator, denominator):
    low, high = log_between(Fraction(numerator, denominator))
    exact = mpmath.log(mpmath.mpf(numerator) / denominator)
    assert mpmath.mpf(str(low)) <= exact <= mpmath.mpf(str(high))
    assert high - low <= max(abs(high), abs(low)) * Decimal("1e-28")


def test_print_options_and_odd_subclasses_do_not_change_epsilon():
    class Liar(float):
        def __str__(self):
            return "5"

        __repr__ = __str__

    assert Epsilon.of(Liar(1.5)).text == "1.5"
    with np.printoptions(legacy="1.13"):
        assert Epsilon.of(np.float64(0.99999999999999)).text == "0.99999999999999"
        assert Epsilon.of(np.float32(0.1)).text == "0.1"
    assert Epsilon.of(np.float16(0.1)).text == "0.1"
    assert Epsilon.of(np.longdouble("0.25")).text == "0.25"

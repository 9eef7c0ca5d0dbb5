"""Parts of ε: never more than ε together, and short of it by next to nothing."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite.lottery.budgets import exact_sum, float_at_least, round_up, split_epsilon

epsilons = st.decimals("1e-12", 50, allow_nan=False, places=12).filter(lambda value: value > 0)
weights = st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1000), min_size=1, max_size=12)


@given(epsilons, weights, st.data())
def test_parts_never_add_up_to_more_than_epsilon(epsilon, shares, data):
    reported = data.draw(st.none() | st.integers(1, len(shares)))
    parts = split_epsilon(epsilon, shares, reported)
    largest = sorted(map(Fraction, parts), reverse=True)[: reported or len(shares)]
    assert sum(largest) <= Fraction(epsilon)
    # Rounding down in the 20th digit leaves at most 10^-19 of each part.
    assert sum(largest) >= Fraction(epsilon) * (1 - Fraction(1, 10**18))
    assert all(len(part.as_tuple().digits) <= 20 for part in parts)


@given(epsilons, weights)
def test_parts_are_in_the_proportion_of_their_weights(epsilon, shares):
    parts = [Fraction(part) for part in split_epsilon(epsilon, shares)]
    for part, weight in zip(parts, shares, strict=True):
        ideal = Fraction(epsilon) * weight / sum(shares)
        assert ideal * (1 - Fraction(1, 10**18)) <= part <= ideal


@pytest.mark.parametrize("count", [3, 7, 14, 20])
def test_one_in_so_many_parts_stays_within_one(count):
    parts = split_epsilon(Decimal(1), [Fraction(1)] * count)
    assert exact_sum(parts) <= 1
    assert float(exact_sum(parts)) == pytest.approx(1, abs=1e-15)


@given(weights.filter(lambda shares: len(shares) > 1), st.data())
def test_whichever_columns_are_drawn_they_stay_within_epsilon(shares, data):
    reported = data.draw(st.integers(1, len(shares) - 1))
    parts = split_epsilon(Decimal("0.7"), shares, reported)
    assert all(exact_sum(chosen) <= Decimal("0.7") for chosen in combinations(parts, reported))


def test_sums_are_exact_and_plainly_written():
    assert str(exact_sum([Decimal("1E+1"), Decimal("0.10"), Decimal("1e-30")])) == "10.100000000000000000000000000001"
    assert str(exact_sum([Decimal(4), Decimal(6)])) == "10"


@given(epsilons)
def test_an_epsilon_as_a_float_is_never_too_small(epsilon):
    stated = float_at_least(epsilon)
    assert Fraction(stated) >= Fraction(epsilon)
    assert stated == pytest.approx(float(epsilon), rel=1e-15)


@given(epsilons, st.integers(3, 15))
def test_an_epsilon_that_is_shown_is_never_too_small(epsilon, places):
    assert Decimal(0) <= round_up(epsilon, places) - epsilon < Decimal(10) ** -places

"""Leaves and gains of the paper: their formulas in whole numbers, and how far one record moves them."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bipartite import insecure_seed, verify
from bipartite.learn.boosting.leaves import UNIT
from bipartite.lottery import Epsilon
from reproduction.learning import leaves
from reproduction.learning.compiled_gains import GAIN_BITS, MOST_FALL, MOST_RISE, half_gain
from reproduction.learning.leaves import LeafScale, leaf_rule, leaf_scale, leaf_value

TENTH = Fraction(1, 10)
SHARES = [Fraction(k, 6) for k in range(-6, 7)]
ONE_MORE = [  # records, their sum in units, and the gradient of one more
    (count, int(share * count * UNIT), int(gradient * UNIT))
    for count, share, gradient in itertools.product([0, 1, 2, 3, 4, 5, 7, 8, 10, 100, 10_000], SHARES, SHARES)
]


@given(st.integers(0, 1000), st.fractions(-1, 1), st.integers(0, UNIT))
def test_a_leaf_value_is_the_formula_rounded_down_and_clipped(count, share, clip):
    total = int(share * count * UNIT)
    exact = -Fraction(total) / (count + TENTH)
    assert leaf_value(count, total, TENTH, clip) == min(max(exact.__floor__(), -clip), clip)


@given(st.integers(0, 2**20), st.fractions(-1, 1), st.sampled_from(["1/10", "1/1000", "1", "999/1000", "1000"]))
@example(42_000_000, Fraction(1), "1/10")  # n²·2^10·10 just below 2^64
def test_half_a_gain_is_the_formula_rounded_down(count, share, lam):
    lam, total = Fraction(lam), int(share * count * UNIT)
    exact = int(Fraction(total, UNIT) ** 2 / (count + lam) * 2**GAIN_BITS)
    assert half_gain(count, total, lam.numerator, lam.denominator) == exact


@pytest.mark.parametrize("lam", [Fraction(1, 1000), TENTH, Fraction(1), Fraction(7, 3)])
@pytest.mark.parametrize("tree", [0, 6, 20, 49, 300])
def test_one_record_more_moves_a_leaf_by_no_more_than_its_sensitivity(lam, tree):
    scale = leaf_scale(tree, TENTH, lam, None)
    most = max(
        abs(leaf_value(count + 1, total + more, lam, scale.clip) - leaf_value(count, total, lam, scale.clip))
        for count, total, more in ONE_MORE
    )
    # The bound is met, or nearly where clipping decides: a smaller one would be wrong.
    assert 0.45 * scale.sensitivity <= most <= scale.sensitivity or most == scale.clip == 0
    assert most == scale.sensitivity or tree > 0


@pytest.mark.parametrize("lam", [Fraction(1, 1000), TENTH, Fraction(1), Fraction(10)])
def test_one_record_more_moves_a_gain_by_no_more_than_stated(lam):
    both = lam.numerator, lam.denominator
    changes = [
        (half_gain(count + 1, total + more, *both) - half_gain(count, total, *both)) / 2**GAIN_BITS
        for count, total, more in ONE_MORE
    ]
    # Both bounds are kept, and nearly met, so that smaller ones would be wrong.
    assert 0.99 * MOST_RISE < max(changes) <= MOST_RISE
    assert 0.99 * MOST_FALL < -min(changes) <= MOST_FALL


def test_the_scale_is_that_of_the_paper():
    first, last = leaf_scale(0, TENTH, TENTH, None), leaf_scale(49, TENTH, TENTH, None)
    assert first == LeafScale(UNIT, -(-UNIT * 10 // 11), -(-first.sensitivity // 2))
    assert (last.clip, last.sensitivity) == (int(UNIT * Fraction(9, 10) ** 49), 2 * last.clip)
    # The default is the range 1/(2 + 2λ). Beyond the clip there is no leaf to report.
    for tree in (0, 3, 8, 30):
        quarter, half, one = (leaf_scale(tree, TENTH, TENTH, of) for of in (Fraction(1, 4), 1 / (2 + 2 * TENTH), 1))
        assert (quarter.reach, one.reach) == (min(UNIT // 4, one.clip), one.clip)
        assert abs(half.reach - leaf_scale(tree, TENTH, TENTH, None).reach) <= 1


@pytest.mark.parametrize("leaf", ["brr", "anchored", "geometric"])
@pytest.mark.parametrize("points", [2, 3, 21])
@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2.5"])
def test_points_are_released_by_a_mechanism_that_keeps_epsilon_exactly(leaf, points, epsilon):
    budget = Epsilon.of(epsilon)
    rule = leaf_rule(leaf, budget, points)
    assert verify(rule.mechanism).holds
    laws = [rule.law(value, LeafScale(clip=100, sensitivity=90, reach=45)) for value in range(-60, 61)]
    assert all(sum(law.values()) == 1 for law in laws)
    assert all(set(law) == set(laws[0]) <= set(range(-45, 46)) for law in laws)
    for released in laws[0]:
        most, least = max(law[released] for law in laws), min(law[released] for law in laws)
        assert budget.allows(most.numerator * least.denominator, most.denominator * least.numerator)


def test_values_go_to_the_nearest_point_and_points_fill_the_range():
    rule, scale = leaf_rule("brr", Epsilon.of(2), 21), LeafScale(10_000, 8000, 4000)
    for value in (-9999, -4000, -3801, -3799, 0, 199, 200, 3999, 4000, 9999):
        assert rule.encode(value, 4000) == np.argmin(np.abs(np.linspace(-4000, 4000, 21) - value - 1e-9))
    assert [rule.decode(k, scale) for k in range(21)] == np.linspace(-4000, 4000, 21).tolist()


def law_of_laplace(value, alpha, most):
    """Pr[V + Z = y] ∝ α^|y − V| on whole units, clamped to ±most."""

    def above(z):  # Pr[Z ≥ z]
        return alpha**z / (1 + alpha) if z > 0 else 1 - alpha ** (1 - z) / (1 + alpha)

    law = {y: (1 - alpha) / (1 + alpha) * alpha ** abs(y - value) for y in range(-most + 1, most)}
    return law | {most: above(most - value), -most: above(most + value)}


@pytest.mark.parametrize("clamped", [False, True])
def test_laplace_noise_keeps_epsilon_between_values_one_sensitivity_apart(clamped, monkeypatch):
    # The law by its formula, with the rate that the rule draws with.
    scale, rates = LeafScale(clip=10, sensitivity=7, reach=4), []
    monkeypatch.setattr(leaves, "discrete_laplace_of_rate", lambda rate, _: rates.append(rate) or 99)
    rule = leaf_rule("clamped-laplace" if clamped else "laplace", Epsilon.of("1.5"), 21)
    assert rule.draw(1, scale, None) == (4 if clamped else 100)
    with mpmath.workdps(40):
        alpha = mpmath.exp(-mpmath.mpf(rates[0].numerator) / rates[0].denominator)
        laws = {value: law_of_laplace(value, alpha, scale.reach if clamped else 60) for value in range(-10, 11)}
        assert sum(laws[3].values()) == pytest.approx(1)
        worst = max(
            laws[a][y] / laws[b][y] for a in laws for b in laws if abs(a - b) in {1, scale.sensitivity} for y in laws[a]
        )
        assert mpmath.exp(mpmath.mpf("1.4")) < worst <= mpmath.exp(1.5) * (1 + mpmath.mpf(10) ** -30)


def test_noise_of_a_tiny_epsilon_stops_where_sums_stay_whole():
    rule, stream = leaf_rule("laplace", Epsilon.of("1e-15"), 21), insecure_seed(4).streams().stream(0, 1)
    assert max(abs(rule.draw(0, LeafScale(100, 90, 45), stream)) for _ in range(100)) == 2**44

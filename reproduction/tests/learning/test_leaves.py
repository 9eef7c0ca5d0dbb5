import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bipartite import insecure_seed, verify
from bipartite.learn.boosting.leaves import UNIT
from bipartite.lottery import Epsilon
from reproduction.learning.leaves import (
    LEAVES,
    LeafScale,
    OnPoints,
    WithLaplace,
    leaf_rule,
    leaf_scale,
    leaf_value,
)

TENTH = Fraction(1, 10)


def stream(seed):
    return insecure_seed(seed).streams().stream(0, 1)


@given(st.integers(0, 1000), st.fractions(-1, 1), st.integers(0, UNIT))
def test_a_leaf_value_is_the_formula_rounded_down_and_clipped(count, share, clip):
    total = int(share * count * UNIT)
    exact = -Fraction(total) / (count + TENTH)
    assert leaf_value(count, total, TENTH, clip) == min(max(exact.__floor__(), -clip), clip)


@pytest.mark.parametrize("lam", [Fraction(1, 1000), TENTH, Fraction(1), Fraction(7, 3)])
@pytest.mark.parametrize("tree", [0, 6, 20, 49, 300])
def test_one_record_more_moves_a_leaf_by_no_more_than_its_sensitivity(lam, tree):
    scale = leaf_scale(tree, TENTH, lam, None)
    shares = [Fraction(k, 6) for k in range(-6, 7)]
    moves = []
    for count, share, gradient in itertools.product([0, 1, 2, 3, 5, 8, 100], shares, shares):
        total = int(share * count * UNIT)
        before = leaf_value(count, total, lam, scale.clip)
        moves.append(abs(leaf_value(count + 1, total + int(gradient * UNIT), lam, scale.clip) - before))
    assert max(moves) <= scale.sensitivity
    # The bound is met, or nearly where clipping decides: a smaller one would be wrong.
    assert max(moves) >= 0.45 * scale.sensitivity or scale.clip == 0
    if tree == 0:
        assert max(moves) == scale.sensitivity


def test_the_scale_is_that_of_the_paper():
    first, last = leaf_scale(0, TENTH, TENTH, None), leaf_scale(49, TENTH, TENTH, None)
    assert (first.clip, first.sensitivity) == (UNIT, -(-UNIT * 10 // 11))
    assert first.reach == -(-first.sensitivity // 2)
    assert last.clip == int(UNIT * Fraction(9, 10) ** 49)
    assert last.sensitivity == 2 * last.clip
    assert leaf_scale(5, TENTH, TENTH, Fraction(1, 4)).reach == UNIT // 4
    # Beyond the clip there is no leaf to report; and the default is the range 1/(2 + 2λ).
    assert leaf_scale(5, TENTH, TENTH, Fraction(1)).reach == leaf_scale(5, TENTH, TENTH, Fraction(1)).clip
    for tree in (0, 3, 8, 30):
        stated = leaf_scale(tree, TENTH, TENTH, 1 / (2 + 2 * TENTH)).reach
        assert abs(stated - leaf_scale(tree, TENTH, TENTH, None).reach) <= 1


@pytest.mark.parametrize("leaf", ["brr", "anchored", "geometric"])
@pytest.mark.parametrize("points", [2, 3, 21])
@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2.5"])
def test_points_are_released_by_a_mechanism_that_keeps_epsilon_exactly(leaf, points, epsilon):
    budget = Epsilon.of(epsilon)
    rule = leaf_rule(leaf, budget, points)
    assert verify(rule.mechanism).holds
    scale = LeafScale(clip=100, sensitivity=90, reach=45)
    laws = [rule.law(value, scale) for value in range(-60, 61)]
    assert all(sum(law.values()) == 1 for law in laws)
    assert all(set(law) == set(laws[0]) and set(law) <= set(range(-45, 46)) for law in laws)
    for released in laws[0]:
        most, least = max(law[released] for law in laws), min(law[released] for law in laws)
        assert budget.allows(most.numerator * least.denominator, most.denominator * least.numerator)


def test_values_go_to_the_nearest_point_and_points_fill_the_range():
    rule = leaf_rule("brr", Epsilon.of(2), 21)
    reach = 4000
    scale = LeafScale(10_000, 8000, reach)
    for value in (-9999, -4000, -3801, -3799, 0, 199, 200, 3999, 4000, 9999):
        nearest = np.argmin(np.abs(np.linspace(-reach, reach, 21) - value - 1e-9))
        assert rule.encode(value, reach) == nearest
    assert [rule.decode(k, scale) for k in range(21)] == np.linspace(-reach, reach, 21).tolist()


def test_draws_follow_the_law_and_are_reproducible():
    # False alarms below 1e-9: 6.2 standard errors of a share in 4000 draws; a law off by a tenth is 6.9 away.
    rule, scale = leaf_rule("brr", Epsilon.of(2), 3), LeafScale(100, 90, 45)
    source = stream(1)
    drawn = [rule.draw(45, scale, source) for _ in range(4000)]
    chance = float(rule.law(45, scale)[45])
    error = (chance * (1 - chance) / 4000) ** 0.5
    assert abs(np.mean(np.array(drawn) == 45) - chance) < 6.2 * error
    assert abs(np.mean(np.array(drawn) == 45) - chance * 0.9) > 6.2 * error * 0.9
    source = stream(1)
    assert drawn[:20] == [rule.draw(45, scale, source) for _ in range(20)]


@pytest.mark.parametrize("clamped", [False, True])
def test_laplace_noise_keeps_epsilon_between_values_one_sensitivity_apart(clamped):
    # The law of z on whole units, by its formula, with the rate that the rule draws with.
    scale, epsilon = LeafScale(clip=10, sensitivity=7, reach=4), Fraction(3, 2)
    rule = WithLaplace(epsilon, clamped)
    with mpmath.workdps(40):
        rate = rule.rate(scale)
        alpha = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)
        ratios = []
        for before, after in itertools.product(range(-10, 11), repeat=2):
            if abs(before - after) in {1, scale.sensitivity}:
                laws = [_law(value, alpha, scale.reach if clamped else 60) for value in (before, after)]
                ratios += [laws[0][y] / laws[1][y] for y in laws[0]]
        assert max(ratios) <= mpmath.exp(mpmath.mpf(3) / 2) * (1 + mpmath.mpf(10) ** -30)
        assert max(ratios) > mpmath.exp(mpmath.mpf("1.4"))


def _law(value, alpha, most):
    def above(z):  # Pr[Z ≥ z]
        return alpha**z / (1 + alpha) if z > 0 else 1 - alpha ** (1 - z) / (1 + alpha)

    law = {y: (1 - alpha) / (1 + alpha) * alpha ** abs(y - value) for y in range(-most + 1, most)}
    return law | {most: above(most - value), -most: above(most + value)}


def test_clamped_noise_stays_in_its_range_and_plain_noise_leaves_it():
    scale = LeafScale(clip=100, sensitivity=90, reach=45)
    plain, clamped = (leaf_rule(name, Epsilon.of("0.5"), 21) for name in ("laplace", "clamped-laplace"))
    source = stream(4)
    assert all(-45 <= clamped.draw(0, scale, source) <= 45 for _ in range(100))
    assert max(abs(plain.draw(0, scale, source)) for _ in range(100)) > 180
    with_law = {y: float(p) for y, p in _law(0, float(np.exp(-0.5 / 90)), 45).items()}
    assert sum(with_law.values()) == pytest.approx(1)


def test_noise_of_a_tiny_epsilon_stops_where_sums_stay_whole_numbers():
    rule = leaf_rule("laplace", Epsilon.of("1e-15"), 21)
    drawn = [rule.draw(0, LeafScale(UNIT, UNIT, UNIT), stream(k)) for k in range(8)]
    assert {abs(each) for each in drawn} == {2**44}


def test_none_releases_the_value_and_every_name_has_a_rule():
    assert leaf_rule("none", Epsilon.of(1), 21).draw(7, LeafScale(10, 10, 5), stream(0)) == 7
    assert all(leaf_rule(name, Epsilon.of(1), 5) for name in LEAVES)
    assert isinstance(leaf_rule("anchored", Epsilon.of(1), 5), OnPoints)

"""Leaves and gains of the paper: their formulas in whole numbers, and how far one record moves them."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bipartite import insecure_seed, verify
from bipartite.learn.boosting.compiled import histograms
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.splits import SplitRule
from bipartite.lottery import Epsilon
from reproduction.learning import leaves
from reproduction.learning.compiled_gains import GAIN_BITS, MOST_FALL, MOST_RISE, WIDTH, gains, half_gain
from reproduction.learning.leaves import LeafScale, leaf_rule, leaf_scale, leaf_value

TENTH = Fraction(1, 10)
SHARES = [Fraction(k, 6) for k in range(-6, 7)]
SCALE = LeafScale(clip=100, sensitivity=90, reach=45)


def stream(seed):
    return insecure_seed(seed).streams().stream(0, 1)


def exact_half(count, total, lam):
    return int(Fraction(total, UNIT) ** 2 / (count + lam) * 2**GAIN_BITS)


@given(st.integers(0, 1000), st.fractions(-1, 1), st.integers(0, UNIT))
def test_a_leaf_value_is_the_formula_rounded_down_and_clipped(count, share, clip):
    total = int(share * count * UNIT)
    exact = -Fraction(total) / (count + TENTH)
    assert leaf_value(count, total, TENTH, clip) == min(max(exact.__floor__(), -clip), clip)


@given(st.integers(0, 2**20), st.fractions(-1, 1), st.sampled_from(["1/10", "1/1000", "1", "999/1000", "1000"]))
@example(42_000_000, Fraction(1), "1/10")  # n²·2^10·10 just below 2^64
def test_half_a_gain_is_the_formula_rounded_down(count, share, lam):
    lam, total = Fraction(lam), int(share * count * UNIT)
    assert half_gain(count, total, lam.numerator, lam.denominator) == exact_half(count, total, lam)


@pytest.mark.parametrize("lam", [Fraction(1, 1000), TENTH, Fraction(1), Fraction(7, 3)])
@pytest.mark.parametrize("tree", [0, 6, 20, 49, 300])
def test_one_record_more_moves_a_leaf_by_no_more_than_its_sensitivity(lam, tree):
    scale, moves = leaf_scale(tree, TENTH, lam, None), []
    for count, share, gradient in itertools.product([0, 1, 2, 3, 5, 8, 100], SHARES, SHARES):
        total = int(share * count * UNIT)
        before = leaf_value(count, total, lam, scale.clip)
        moves.append(abs(leaf_value(count + 1, total + int(gradient * UNIT), lam, scale.clip) - before))
    assert max(moves) <= scale.sensitivity
    # The bound is met, or nearly where clipping decides: a smaller one would be wrong.
    assert max(moves) >= 0.45 * scale.sensitivity or scale.clip == 0
    assert max(moves) == scale.sensitivity or tree > 0


@pytest.mark.parametrize("lam", [Fraction(1, 1000), TENTH, Fraction(1), Fraction(10)])
def test_one_record_more_moves_a_gain_by_no_more_than_stated(lam):
    # Brute force over counts, sums and gradients; sums and gradients of odd units, so that floors are met.
    both, changes = (lam.numerator, lam.denominator), []
    for count, share, gradient in itertools.product([0, 1, 2, 3, 4, 5, 7, 10, 100, 10_000], SHARES, SHARES):
        total = int(share * count * UNIT)
        more = half_gain(count + 1, total + int(gradient * UNIT), *both)
        changes.append((more - half_gain(count, total, *both)) / 2**GAIN_BITS)
    # Both bounds are kept, and nearly met, so that smaller ones would be wrong.
    assert 0.99 * MOST_RISE < max(changes) <= MOST_RISE
    assert 0.99 * MOST_FALL < -min(changes) <= MOST_FALL


def test_the_range_that_the_exponential_mechanism_counts_on_is_nearly_used_by_one_record():
    # A record that fits in with one side of the first cut and against one of the second: gains move by +1 and −3. Both
    # gains are those of plain Python.
    laws, found = [], []
    for more in ([], [(1, UNIT)]):
        records = [(0, -UNIT)] * 4000 + [(2, UNIT)] * 4000 + more
        bins, gradients = np.array([[at] for at, _ in records], dtype=np.uint8), np.array([g for _, g in records])
        counts, sums = np.zeros((1, 1, 3), dtype=np.int64), np.zeros((1, 1, 3), dtype=np.int64)
        histograms(bins, np.zeros_like(gradients), np.ones_like(gradients), counts)
        histograms(bins, np.zeros_like(gradients), gradients, sums)
        utilities = np.empty((1, 2), dtype=np.int64)
        gains(counts, sums, np.array([3]), 1, 10, utilities)
        sides = [[[g for at, g in records if (at <= cut) == left] for left in (True, False)] for cut in (0, 1)]
        assert utilities[0].tolist() == [sum(exact_half(len(s), sum(s), TENTH) for s in both) for both in sides]
        found.append(utilities[0])
        laws.append(SplitRule(Fraction(1), WIDTH).law(utilities[0]))
    assert ((found[1] - found[0]) / 2**GAIN_BITS).round(2).tolist() == [1.0, -3.0]
    ratios = [laws[a][cut][1] / laws[b][cut][0] for cut in (0, 1) for a, b in ((0, 1), (1, 0))]
    # Below e, and above e^0.5: the two cuts share what they lose and gain.
    assert 1.64 < max(ratios) < 2.7183


def test_the_scale_is_that_of_the_paper():
    first, last = leaf_scale(0, TENTH, TENTH, None), leaf_scale(49, TENTH, TENTH, None)
    assert first == LeafScale(UNIT, -(-UNIT * 10 // 11), -(-first.sensitivity // 2))
    assert (last.clip, last.sensitivity) == (int(UNIT * Fraction(9, 10) ** 49), 2 * last.clip)
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
    laws = [rule.law(value, SCALE) for value in range(-60, 61)]
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


def test_draws_follow_the_law_and_are_reproducible():
    # False alarms below 1e-9: 6.2 standard errors of a share in 4000 draws; a law off by a tenth is 6.9 away.
    rule = leaf_rule("brr", Epsilon.of(2), 3)
    source, again = stream(1), stream(1)
    drawn = [rule.draw(45, SCALE, source) for _ in range(4000)]
    chance = float(rule.law(45, SCALE)[45])
    error, share = (chance * (1 - chance) / 4000) ** 0.5, drawn.count(45) / 4000
    assert abs(share - chance) < 6.2 * error
    assert abs(share - chance * 0.9) > 6.2 * error * 0.9
    assert drawn[:20] == [rule.draw(45, SCALE, again) for _ in range(20)]


@pytest.mark.parametrize("clamped", [False, True])
def test_laplace_noise_keeps_epsilon_between_values_one_sensitivity_apart(clamped, monkeypatch):
    # The law of z on whole units, by its formula, with the rate that the rule draws with.
    scale, rates = LeafScale(clip=10, sensitivity=7, reach=4), []
    monkeypatch.setattr(leaves, "discrete_laplace_of_rate", lambda rate, _: rates.append(rate) or 99)
    rule = leaf_rule("clamped-laplace" if clamped else "laplace", Epsilon.of("1.5"), 21)
    assert rule.draw(1, scale, stream(1)) == (4 if clamped else 100)
    with mpmath.workdps(40):
        alpha = mpmath.exp(-mpmath.mpf(rates[0].numerator) / rates[0].denominator)
        ratios = []
        for before, after in itertools.product(range(-10, 11), repeat=2):
            if abs(before - after) in {1, scale.sensitivity}:
                laws = [_law(value, alpha, scale.reach if clamped else 60) for value in (before, after)]
                ratios += [laws[0][y] / laws[1][y] for y in laws[0]]
        assert sum(laws[0].values()) == pytest.approx(1)
        assert mpmath.exp(mpmath.mpf("1.4")) < max(ratios) <= mpmath.exp(1.5) * (1 + mpmath.mpf(10) ** -30)


def _law(value, alpha, most):
    def above(z):  # Pr[Z ≥ z]
        return alpha**z / (1 + alpha) if z > 0 else 1 - alpha ** (1 - z) / (1 + alpha)

    law = {y: (1 - alpha) / (1 + alpha) * alpha ** abs(y - value) for y in range(-most + 1, most)}
    return law | {most: above(most - value), -most: above(most + value)}


def test_clamped_noise_stays_in_its_range_plain_noise_leaves_it_and_stops_where_sums_stay_whole():
    source = stream(4)
    plain, clamped, tiny = (
        [leaf_rule(name, Epsilon.of(epsilon), 21).draw(0, SCALE, source) for _ in range(100)]
        for name, epsilon in (("laplace", "0.5"), ("clamped-laplace", "0.5"), ("laplace", "1e-15"))
    )
    assert max(map(abs, clamped)) <= 45 and max(map(abs, plain)) > 180
    assert max(map(abs, tiny)) == 2**44

"""Ratios of two groups: against published formulas, and against differences asked one by one."""

import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation import Answer
from bipartite.answers.estimation.intervals import ConfidenceInterval
from bipartite.answers.surveys.ratios import _interval
from bipartite.errors import InputError

LINE = bp.Integers(0, 9)
MECH = bp.BRR(LINE, 2, edges="padded")
FEW = bp.estimate(MECH, MECH.privatize([3] * 600, rng=bp.insecure_seed(1)))
MANY = bp.estimate(MECH, MECH.privatize([6, 7] * 500, rng=bp.insecure_seed(2)))


def told(value, low, high, cut=None):
    """An answer with this interval, whatever the confidence."""
    shown = (low, high) if cut is None else cut
    return Answer(
        value, (high - low) / 4, lambda sure: ConfidenceInterval(*shown, sure), None,
        None if cut is None else lambda sure: ConfidenceInterval(low, high, sure),
    )  # fmt: skip


def donner_zou(a, la, ua, b, lb, ub):
    """Donner and Zou 2012, for positive answers."""
    low = (a * b - math.sqrt((a * b) ** 2 - la * ub * (2 * a - la) * (2 * b - ub))) / (ub * (2 * b - ub))
    high = (a * b + math.sqrt((a * b) ** 2 - ua * lb * (2 * a - ua) * (2 * b - lb))) / (lb * (2 * b - lb))
    return low, high


def test_the_formula_of_donner_and_zou():
    found = bp.surveys.ratio(MANY, FEW, "mean")
    a, b = MANY.ask("mean"), FEW.ask("mean")
    for sure in (0.8, 0.95):
        assert found.ci(sure) == pytest.approx(donner_zou(a.value, *a.ci(sure), b.value, *b.ci(sure)), rel=1e-9)
    assert found.value == a.value / b.value
    relative = math.hypot(a.se / a.value, b.se / b.value)
    assert found.se == pytest.approx(found.value * relative)


def test_symmetric_intervals_give_that_of_fieller():
    a, se_a, b, se_b, z = 3.0, 0.7, 5.0, 1.1, 1.96
    g = (z * se_b / b) ** 2
    half = z / b * math.sqrt(se_a**2 * (1 - g) + (a / b) ** 2 * se_b**2)
    fieller = [(a / b - half) / (1 - g), (a / b + half) / (1 - g)]
    found = _interval(told(a, a - z * se_a, a + z * se_a), told(b, b - z * se_b, b + z * se_b), 0.95)
    assert found == pytest.approx(fieller, rel=1e-12)


def test_a_ratio_is_held_exactly_if_that_difference_may_be_zero():
    rng = np.random.default_rng(36)
    for _ in range(300):
        a, b = rng.normal(0, 3), rng.choice([-1, 1]) * rng.uniform(1, 4)
        above = told(a, a - rng.exponential(2), a + rng.exponential(2))
        below = told(b, b - rng.uniform(0, abs(b)), b + rng.uniform(0, abs(b)))
        low, high = _interval(above, below, 0.95)
        assert low <= a / b <= high
        near = 1e-6 * max(high - low, 1e-6)
        for r, inside in ((low - near, False), (low + near, True), (high - near, True), (high + near, False)):
            first, last = (above - below * r).ci()
            assert (first <= 0 <= last) == inside


def test_a_long_arm_of_the_denominator():
    """With an upper end of exactly twice the value the equation is linear; beyond, the other root would be negative."""
    for most in (9.999999, 10.0, 14.0):
        low, _ = _interval(told(3, 2, 4), told(5, 4, most), 0.95)
        assert 0 < low < 3 / 5
        assert (told(3, 2, 4) - told(5, 4, most) * low).ci().low == pytest.approx(0, abs=1e-9)


def test_one_is_held_if_the_difference_holds_zero():
    for of in ("mean", "median", ("range", 5, 9), np.arange(10) ** 2):
        for sure in (0.5, 0.95):
            ratio, gap = (
                bp.surveys.ratio(FEW, MANY, of).ci(sure),
                bp.difference(FEW, MANY, of, confidence=sure).interval,
            )
            assert (ratio.low <= 1 <= ratio.high) == (gap.low <= 0 <= gap.high)


def test_a_denominator_that_may_be_zero():
    note = "the denominator may be zero, so the ratio may be as large as one likes"
    anything = _interval(told(3, 2, 4), told(1, -1, 3), 0.95)
    assert anything == (-math.inf, math.inf)
    assert anything.note == note
    # Shares cannot be negative, and their intervals are cut there: the ratio has a lower end.
    above, below = told(0.3, 0.2, 0.4, cut=(0.2, 0.4)), told(0.05, -0.01, 0.09, cut=(0.0, 0.09))
    low, high = _interval(above, below, 0.95)
    assert (high, low) == (math.inf, pytest.approx(donner_zou(0.3, 0.2, 0.4, 0.05, 0.01, 0.09)[0]))
    assert _interval(told(0.01, -0.1, 0.2, cut=(0, 0.2)), below, 0.95) == (0, math.inf)
    # A numerator near zero is cut, too.
    assert _interval(told(0.01, -0.1, 0.2, cut=(0, 0.2)), told(0.5, 0.4, 0.6, cut=(0.4, 0.6)), 0.95).low == 0
    # By chance below zero itself, it is not.
    assert _interval(told(-0.01, -0.1, 0.2, cut=(-0.01, 0.2)), told(0.5, 0.4, 0.6), 0.95).low < -0.01
    coarse = bp.GRR(LINE, 1)
    one, two = (bp.estimate(coarse, coarse.privatize([3] * 200, rng=bp.insecure_seed(seed))) for seed in (1, 2))
    rare = bp.surveys.ratio(one, two, ("range", 0, 1))
    assert (rare.note, rare.ci().high) == (note, math.inf)


def test_a_denominator_of_zero():
    zeros = bp.estimate(MECH, MECH.privatize([0] * 500, rng=bp.insecure_seed(3)))
    found = bp.surveys.ratio(FEW, zeros, "median")
    assert (found.value, found.ci().high) == (math.inf, math.inf)
    assert math.isnan(found.se)
    few, none = FEW.ask("median"), zeros.ask("median")
    least = found.ci().low
    assert (few - none * least).ci().low == pytest.approx(0, abs=1e-9) if none.ci().high else math.isinf(least)
    assert str(found).startswith("inf, ")
    assert math.isnan(bp.surveys.ratio(zeros, zeros, "median").value)


def test_answers_that_cannot_be_compared_have_no_ratio():
    clamped = bp.BRR(LINE, 1)
    blurred = bp.estimate(clamped, clamped.privatize([0] * 500, rng=bp.insecure_seed(3)))
    with pytest.raises(InputError, match="reports cannot tell apart, so groups cannot be compared by it; collect with"):
        bp.surveys.ratio(FEW, blurred, "mean")
    other = bp.estimate(bp.GRR(bp.Integers(0, 3), 1), [1, 2])
    with pytest.raises(InputError, match="Expected estimates on one domain"):
        bp.surveys.ratio(FEW, other)
    with pytest.raises(InputError, match="Expected two estimates"):
        bp.surveys.ratio(FEW, 3)
    hours = bp.BRR(bp.Cyclic(24), 1)
    night = bp.estimate(hours, [1, 2, 3])
    with pytest.raises(InputError, match="Directions have no difference on a line"):
        bp.surveys.ratio(night, night, "circular_mean")


@pytest.mark.parametrize(
    "wrong", ["3", None, [1, 2], 3j, FEW.ask("mean"), math.nan, math.inf, 10**400],
    ids=["text", "none", "list", "complex", "answer", "nan", "inf", "huge"],
)  # fmt: skip
def test_a_total_of_unknown_size_is_refused(wrong):
    # Times another answer it was "bad operand type for abs(): 'Answer'".
    with pytest.raises(InputError, match="Expected the size of a population as a finite number"):
        FEW.ask("mean") * wrong


def test_medians_around_a_circle_are_no_numbers_on_a_line():
    # Both groups lie around midnight: 23 minus 0 was a difference of 23, "21 to 55, p = 1e-12".
    hours = bp.BRR(bp.Cyclic(24), 3)
    values = np.random.default_rng(3).integers(-4, 5, (2, 300)) % 24
    one, two = (bp.estimate(hours, hours.privatize(each, rng=bp.insecure_seed(3))) for each in values)
    for compared in (bp.difference, bp.surveys.ratio):
        with pytest.raises(InputError, match="Directions have no difference on a line; compare resultant lengths"):
            compared(one, two, ("quantile", 0.5, 12))
        assert compared(one, two, np.arange(24) < 12).se > 0
    with pytest.raises(InputError, match="Directions have no difference on a line; compare resultant lengths"):
        bp.surveys.contrasts({"a": one, "b": two}, ("quantile", 0.5, 12))


def test_totals_of_shares_keep_what_averages_know():
    coarse = bp.GRR(LINE, 1)
    one, two = (bp.estimate(coarse, coarse.privatize([3] * 200, rng=bp.insecure_seed(seed))) for seed in (1, 2))
    share, other = one.ask(("bin", 5)), two.ask(("bin", 5))
    total = share * -2000
    assert total.value == -2000 * share.value
    assert total.se == 2000 * share.se
    assert total.ci(0.9) == tuple(sorted(-2000 * end for end in share.ci(0.9)))
    low, high, note = share.forged(7)
    assert total.forged(7) == (-2000 * high, -2000 * low, note)
    # Cut intervals would make differences of totals too short: those of scores are kept.
    assert share.uncut is not None
    assert share.ci() != share.uncut(0.95)
    doubled = (share * 2 - other * 2).ci()
    assert doubled == pytest.approx([2 * end for end in (share - other).ci()], rel=1e-12)
    assert (FEW.ask("median") * 3).uncut is None
    with pytest.raises(InputError, match="No bound is known"):
        (FEW.ask("median") * 3).forged(1)


def test_a_standard_deviation_of_zero_by_chance_can_be_compared():
    """Its error is not known, but not infinite: that would say that the reports cannot tell."""
    least = next(est for seed in range(9) if (est := alike(seed)).ask("variance").value <= 0)
    told = least.ask("std")
    assert told.value == 0
    assert math.isnan(told.se)
    assert told.ci().low == 0 < told.ci().high
    gap = bp.difference(MANY, least, "std")
    assert gap.value == MANY.ask("std").value
    clamped = bp.BRR(LINE, 1)
    assert math.isinf(bp.estimate(clamped, clamped.privatize([0] * 50, rng=bp.insecure_seed(3))).ask("std").se)


def alike(seed):
    return bp.estimate(MECH, MECH.privatize([4] * 200, rng=bp.insecure_seed(seed)))

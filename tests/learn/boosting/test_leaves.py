import itertools
from fractions import Fraction

import mpmath
import pytest

from bipartite.learn.boosting import leaves
from bipartite.learn.boosting.leaves import UNIT, NoisySums


def test_sum_and_count_of_a_leaf_keep_epsilon_together():
    # Every pair that may be released, by the formula of the law and with the rates that the rule draws with: one record
    # more moves the sum by at most 2^20 units and the count by one.
    rule = NoisySums(Fraction(3, 2))
    with mpmath.workdps(40):
        by_sum, by_count = (mpmath.mpf(each.numerator) / each.denominator for each in (rule.sum_rate, rule.count_rate))
        logs = []
        for gradient, total, count in itertools.product((-UNIT, -7, 0, UNIT), (-5 * UNIT, 0, 3), (0, 4)):
            for noisy_total, noisy_count in itertools.product((-9 * UNIT, -UNIT, 0, 2, 9 * UNIT), (-6, 0, 4, 5, 11)):
                before = by_sum * abs(noisy_total - total) + by_count * abs(noisy_count - count)
                after = by_sum * abs(noisy_total - total - gradient) + by_count * abs(noisy_count - count - 1)
                logs.append(abs(before - after))
        assert max(logs) == pytest.approx(mpmath.mpf("1.5"), abs=1e-30)


def test_the_value_of_a_noisy_leaf_is_shrunk_rounded_down_and_clipped():
    rule = NoisySums(Fraction(1, 2))  # which raises counts by ten
    assert rule.value(10, -7) == 0 and rule.value(10, 7) == -1 and rule.value(10, -147) == 7
    # A negative count is none.
    assert rule.value(-3, -50) == rule.value(0, -50) == 5
    assert rule.value(5, -16 * UNIT) == UNIT and rule.value(5, 16 * UNIT) == -UNIT
    assert NoisySums(Fraction(2, 7)).value(0, -180) == 10  # raised by 5/ε, rounded up: 18


def test_both_the_sum_and_the_count_are_released_with_noise(monkeypatch):
    rule, drawn = NoisySums(Fraction(1, 2)), []
    monkeypatch.setattr(leaves, "discrete_laplace_of_rate", lambda rate, _: drawn.append(rate) or len(drawn))
    # The sum is off by one unit, the count by two records; ten are added.
    assert rule.draw(8, -6789, None) == rule.value(10, -6788) == 339
    assert drawn == [rule.sum_rate, rule.count_rate]

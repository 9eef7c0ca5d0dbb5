"""One interval for all experiments, against scipy's Student's t."""

import math

import numpy as np
import pytest
from scipy import stats

from reproduction.runner.intervals import MeanInterval, t_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 31, 100, 501])
@pytest.mark.parametrize("miss", [0.05, 0.05 / 6, 0.05 / 28, 1e-5])
def test_the_quantiles_are_students(freedom, miss):
    assert t_quantile(freedom, miss) == pytest.approx(stats.t.ppf(1 - miss / 2, freedom), rel=1e-9)


def test_an_interval_is_students_around_the_mean():
    values = [1.0, 2.0, 4.0, 7.0]
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    found = MeanInterval.of(values)
    assert (found.mean, found.low, found.high) == pytest.approx((3.5, low, high), rel=1e-7)
    assert found.repetitions == 4
    assert found.deviation == pytest.approx(np.std(values, ddof=1))


def test_one_repetition_tells_nothing_about_its_error():
    found = MeanInterval.of([0.5])
    assert (found.mean, found.low, found.high) == (0.5, -math.inf, math.inf)
    assert found.say() == "0.5 (one repetition)"
    assert not found.is_above and not found.is_below

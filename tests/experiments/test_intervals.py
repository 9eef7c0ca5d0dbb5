"""One interval for all experiments, against scipy's Student's t."""

import math

import numpy as np
import pytest
from scipy import stats

from bipartite.experiments.intervals import Interval, t_quantile


@pytest.mark.parametrize("freedom", [*range(1, 40), 60, 100, 1000])
def test_the_quantiles_are_students(freedom):
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=1e-7 if freedom <= 30 else 1e-4)


def test_an_interval_is_students_around_the_mean():
    values = [1.0, 2.0, 4.0, 7.0]
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    found = Interval.of(values)
    assert (found.mean, found.low, found.high) == pytest.approx((3.5, low, high), rel=1e-7)
    assert found.repetitions == 4


def test_one_repetition_tells_nothing_about_its_error():
    found = Interval.of([0.5])
    assert (found.mean, found.low, found.high) == (0.5, -math.inf, math.inf)

"""Intervals of means, alone and together, and differences paired by seed."""

import math
from operator import sub

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reproduction.intervals import MeanInterval, brackets, paired, together


def test_an_interval_is_students_around_the_mean():
    values = [1.0, 2.0, 4.0, 7.0]
    for count in (1, 6, 28):
        low, high = stats.t.interval(1 - 0.05 / count, 3, loc=np.mean(values), scale=stats.sem(values))
        found = MeanInterval.of(values, count)
        assert (found.mean, found.low, found.high) == pytest.approx((3.5, low, high), rel=1e-9)
    assert found.repetitions == 4 and found.deviation == pytest.approx(np.std(values, ddof=1))
    assert f"{MeanInterval(1, 0.5, 1.5, 4):.2f}" == "1.00 (0.50 to 1.50)"


def test_one_repetition_tells_nothing_about_its_error():
    found = MeanInterval.of([0.5])
    assert (found.mean, found.low, found.high) == (0.5, -math.inf, math.inf)
    assert f"{found}" == "0.5 (one repetition)"
    assert not found.is_above and not found.is_below


@pytest.mark.parametrize("diverged", [math.nan, math.inf, -math.inf])
def test_a_run_that_diverged_tells_nothing_about_the_mean(diverged):
    found = MeanInterval.of([0.5, diverged, 0.7])
    assert math.isnan(found.mean) and (found.low, found.high, found.repetitions) == (-math.inf, math.inf, 3)
    assert not found.is_above and not found.is_below


def test_all_of_many_comparisons_hold_together_as_often_as_they_say():
    # 1000 families of 20 comparisons without any difference: single 95 % intervals err in about 640 families, those
    # that hold together in at most 50 expected; 87 or more have a probability below 1e-6.
    draws = np.random.default_rng(7).normal(size=(1000, 20, 5))
    cases = [pd.DataFrame({"case": np.repeat(np.arange(20), 5), "value": family.ravel()}) for family in draws]
    errs = sum(any(each.is_above or each.is_below for each in together(rows, "case").values()) for rows in cases)
    single = sum(
        any((each := MeanInterval.of(values)).is_above or each.is_below for values in family) for family in draws
    )
    assert errs < 87 and single > 500


def test_seeds_are_paired_and_those_of_one_side_left_out():
    rows = pd.DataFrame(
        [("BRR", 0, 1.0), ("BRR", 1, 2.0), ("BRR", 2, 9.0), ("GRR", 1, 1.5), ("GRR", 0, 0.5), ("GRR", 7, 3.0)],
        columns=["mechanism", "seed", "value"],
    )
    found = paired(rows, "BRR", "GRR", "value", sub)
    assert found.to_dict("list") == {"seed": [0, 1], "value": [0.5, 0.5]}
    interval = MeanInterval.of(found["value"])
    assert "all 2 together, 2 seeds" in brackets([interval, interval])
    assert brackets([interval]) == "(in brackets: 95 % intervals, 2 seeds)"

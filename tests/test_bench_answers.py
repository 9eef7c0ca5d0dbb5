"""The oracles of bench/answers: what they count as held, as the least error and as surely below."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1] / "bench" / "answers"))
from asked import Told
from coverage_of_intervals import Asked, Sums, circular, questions
from shapes import SHAPES, efficient, shape


def test_an_arc_holds_what_lies_from_its_first_end_up_to_its_second():
    arc = Told(23.0, math.nan, 22.0, 2.0)
    assert [arc.holds(at, 24.0, turn=24.0) for at in (21.0, 22.0, 23.5, 0.0, 2.0, 3.0)] == [False, *[True] * 4, False]
    assert not Told(1.0, 0.1, math.nan, math.nan).holds(1.0, 1.0)


def test_the_least_error_of_randomized_response_is_that_of_its_coin():
    p, share = 0.8, 0.3
    yes = share * p + (1 - share) * (1 - p)
    bound = efficient(np.array([[1 - p, p], [p, 1 - p]])[:, ::-1], np.array([1 - share, share]), np.array([[0.0, 1.0]]))
    assert bound[0] == pytest.approx(math.sqrt(yes * (1 - yes)) / (2 * p - 1))
    # Equal rows tell nothing.
    assert np.isnan(efficient(np.full((2, 2), 0.5), np.array([0.5, 0.5]), np.array([[0.0, 1.0]])))[0]


def test_a_cell_is_surely_below_only_if_so_many_misses_are_that_unlikely():
    sums = Sums()
    for at in range(40):
        sums.add(Told(0.0, 1.0, -1.0, 1.0), Asked("mean", 0.0 if at < 30 else 3.0))
    assert (sums.trials, sums.misses, sums.below, sums.outside) == (40, 10, 10, 0)
    assert binom.cdf(30, 40, sums.upper(1e-3)) == pytest.approx(1e-3)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("size", [5, 20, 73])
def test_truths_are_those_of_many_people(name, size):
    f = shape(name, size)
    people = np.repeat(np.arange(size), np.random.default_rng(1).multinomial(10**6, f))
    asked = questions(f)
    assert people.mean() == pytest.approx(asked["mean"].truth, abs=0.005 * size)
    assert people.std() == pytest.approx(asked["std"].truth, abs=0.005 * size)
    for each in asked.values():
        if isinstance(each.of, tuple) and each.of[0] == "range":
            assert np.mean((people >= each.of[1]) & (people <= each.of[2])) == pytest.approx(each.truth, abs=0.005)
    vector = np.exp(2j * np.pi * people / size).mean()
    assert abs(vector) == pytest.approx(circular(f)["length"].truth, abs=0.005)
    for each in circular(f).values():
        if isinstance(each.of, tuple) and each.of[0] == "range":
            first, last = each.of[1:]
            assert np.mean((people - first) % size <= (last - first) % size) == pytest.approx(each.truth, abs=0.005)

"""As many ranges as reports can carry: more people or a larger ε give more; the answer decides nothing."""

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.estimation.carried import (
    PRECISION,
    _round_edges,
    _standard_error,
    carried_arcs,
    carried_edges,
)

AGES = bp.Integers(18, 90)


def padded(domain, epsilon=1):
    return bp.BRR(domain, epsilon, m="cdf", edges="padded")


def ranges(mechanism, people):
    return len(carried_edges(mechanism, people)) + 1


@pytest.mark.parametrize(
    ("domain", "most", "edges"),
    [
        (AGES, 10, [30.0, 40.0, 50.0, 60.0, 70.0, 80.0]),
        (AGES, 5, [40.0, 60.0, 80.0]),
        (AGES, 3, [50.0, 75.0]),
        (AGES, 2, [50.0]),
        (bp.Interval(0, 200_000, points=201), 5, [50_000.0, 100_000.0, 150_000.0]),
        (bp.Interval(0, 200_000, points=201), 10, [20_000.0 * at for at in range(1, 10)]),
        (bp.Interval(-1, 1, points=21), 10, [-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8]),
        (bp.Interval(0, 1, points=11), 4, [0.25, 0.5, 0.75]),
        (bp.Integers(1, 7), 5, [2.0, 4.0, 6.0]),
        (bp.Integers(1, 2), 2, [2.0]),
    ],
)
def test_edges_are_round_and_equally_far_apart(domain, most, edges):
    assert _round_edges(domain, most) == edges and len(edges) < most


def test_more_people_or_a_larger_epsilon_carry_more_ranges():
    counts = [ranges(padded(AGES), people) for people in (100, 4_000, 20_000, 200_000, 10**7)]
    assert counts == sorted(counts) and counts[0] == 2 and counts[-1] > counts[0]
    assert counts[2] <= 5  # ten at 20,000 people were noise
    assert ranges(padded(AGES, 4), 20_000) > counts[2]


def test_what_a_domain_is_made_of_does_not_matter():
    coarse, fine = (padded(bp.Interval(0, 200_000, points=points)) for points in (201, 2001))
    for people in (1_000, 20_000, 500_000):
        assert carried_edges(coarse, people) == carried_edges(fine, people)


def test_the_expected_error_is_that_of_unbiased_shares():
    # GRR between ranges of one value each: the errors of single shares, which a forecast knows.
    grr = bp.GRR(bp.Integers(1, 6), epsilon=1)
    assert _standard_error(grr, 6) == pytest.approx(bp.forecast(grr, 1, "share"))
    oue = bp.OUE(bp.Integers(1, 6), epsilon=1)
    assert _standard_error(oue, 6) == pytest.approx(bp.forecast(oue, 1, "share"))
    assert ranges(bp.OUE(bp.Integers(1, 100), 1), 10**9) == 10 and ranges(bp.OUE(bp.Integers(1, 100), 1), 10) == 2
    assert 0 < PRECISION < 1


def test_values_that_no_report_tells_apart_stay_in_one_range():
    clamped = bp.BRR(AGES, epsilon=1)
    (low, *_, high) = bp.identifiability(clamped).groups
    for people in (1_000, 20_000, 10**7):
        edges = carried_edges(clamped, people)
        assert not any(group[0] < edge <= group[-1] for edge in edges for group in (low, high))


def test_only_the_number_of_reports_decides_and_never_what_they_say():
    mechanism = padded(AGES)
    assert carried_edges(mechanism, 5000) == carried_edges(mechanism, np.float64(5000))


def test_arcs_of_a_circle_are_equal_and_as_many_as_reports_carry():
    hours, days = (bp.BRR(bp.Cyclic(size), epsilon=1, m="histogram") for size in (24, 31))
    assert [carried_arcs(hours, people) for people in (300, 20_000, 10**8)] == [2, 6, 8]
    assert (carried_arcs(days, 10), carried_arcs(days, 10**8)) == (2, 10)  # 31 has no divisors

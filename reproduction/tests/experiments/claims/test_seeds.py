"""Intervals that hold together, and what they decide."""

import pytest

from reproduction.claims import Verdict
from reproduction.claims.seeds import brackets, everywhere, paired
from reproduction.runner.intervals import MeanInterval


def test_one_of_many_comparisons_counts_only_beyond_what_chance_gives_to_many():
    values = [0.010, 0.020, 0.012, 0.003, 0.015]
    alone, together = MeanInterval.of(values), MeanInterval.of(values, 28)
    assert alone == MeanInterval.of(values, 1) and alone.is_above
    assert not together.is_above and together.low < alone.low < alone.high < together.high
    assert together.mean == alone.mean


def test_all_of_many_comparisons_hold_together_as_often_as_they_say():
    # 1000 families of 20 comparisons without any difference: single 95 % intervals err in about 640 families, those
    # that hold together in at most 50 expected; 87 or more have a probability below 1e-6.
    numpy = pytest.importorskip("numpy")
    draws = numpy.random.default_rng(7).normal(size=(1000, 20, 5))
    errs = {}
    for together in (1, 20):
        wrong = 0
        for family in draws:
            found = [MeanInterval.of(values.tolist(), together) for values in family]
            wrong += any(each.is_above or each.is_below for each in found)
        errs[together] = wrong
    assert errs[20] < 87
    assert errs[1] > 500


def test_seeds_are_paired_and_those_of_one_side_left_out():
    found = paired({0: 1.0, 1: 2.0, 2: 9.0}, {0: 0.5, 1: 1.5, 7: 3.0}, lambda a, b: a - b)
    assert (found.mean, found.repetitions) == (0.5, 2)
    assert paired({0: 1.0}, {1: 1.0}, lambda a, b: a - b) is None
    assert "all 2 together, 2 seeds" in brackets([found, found])


SURE, NONE, UNCLEAR, AGAINST = (
    MeanInterval(1, 0.5, 1.5, 5),
    MeanInterval(0, -0.1, 0.1, 5),
    MeanInterval(0.2, -1, 1.4, 5),
    MeanInterval(-1, -1.5, -0.5, 5),
)


@pytest.mark.parametrize(
    ("cases", "expected", "says"),
    [
        ([SURE, SURE], Verdict.HOLDS, "So."),
        ([SURE, AGAINST], Verdict.FAILS, "Not so. Surely so: 0. Surely the other way round: 1."),
        ([UNCLEAR, AGAINST], Verdict.FAILS, "Not so. Surely the other way round: 1."),
        ([SURE, UNCLEAR], Verdict.CORRECTED, "More for sure only at 0; unclear elsewhere."),
        ([SURE, NONE], Verdict.CORRECTED, "More for sure only at 0; no difference of note or unclear elsewhere."),
        ([UNCLEAR, NONE], Verdict.FAILS, "Not so. No gain of note: 1."),
        ([UNCLEAR, UNCLEAR], Verdict.UNDECIDED, "No difference that could be told from chance"),
        ([], Verdict.UNDECIDED, "No difference"),
    ],
)
def test_a_claim_about_every_case_is_refuted_by_one_and_not_by_ignorance(cases, expected, says):
    gains = {str(at): each for at, each in enumerate(cases)}
    found = everywhere(gains, 0.2, "measured", ("So.", "Not so."), "More")
    assert found.verdict == expected
    assert found.why.startswith(says)

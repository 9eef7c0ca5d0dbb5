"""ε in words: every number against an independent formula, and never better-looking than the truth."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from bipartite import BRR, Integers
from bipartite.answers.explain import ASSUMPTIONS, explain, percent
from bipartite.errors import EpsilonError, InputError
from tests.oracle import number

EPSILONS = ["1e-15", "0.001", "0.01", "0.1", "0.5", "1", "2", "3", "5", "7", "10", "50"]


def belief(before, epsilon):
    """Bayes' rule by log-odds, with mpmath."""
    before = mpf(before)
    return 1 / (1 + mp.exp(-(mp.log(before / (1 - before)) + number(epsilon))))


def never_below(shown, truth, start, unit):
    """Whether a number is at least the truth, and above it by a quarter of the news or the doubt at most, or a unit."""
    shown = mpf(str(shown))
    return truth <= shown < truth + max(min(truth - start, 1 - truth) / 4, mpf(unit))


@given(st.decimals("0.000001", "50", places=6))
def test_no_number_looks_better_than_the_truth_nor_much_worse(epsilon):
    explained = explain(epsilon)
    assert never_below(explained.certainty, belief(0.5, epsilon), 0.5, "1e-6")
    growth = mp.exp(mpf(str(epsilon)))
    assert growth <= mpf(str(explained.odds)) <= growth + max((growth - 1) / 4, mpf("1e-6"))
    crowd = explained.crowd
    assert never_below(Decimal(crowd.by_report) / crowd.people, belief(0.5, epsilon), 0.5, "1e-6")
    assert crowd.by_coin * 2 == crowd.people
    for each in explained.beliefs:
        assert never_below(each.after, belief(str(each.before), epsilon), mpf(str(each.before)), "1e-6")


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_reports_add_up_in_the_worst_case(epsilon):
    explained = explain(epsilon, reports=30)
    assert [each.reports for each in explained.reports] == [1, 2, 5, 10, 30]
    for each in explained.reports:
        assert Decimal(each.epsilon) == each.reports * Decimal(epsilon)
        assert never_below(each.certainty, belief(0.5, Decimal(each.epsilon)), 0.5, "1e-6")
    assert explained.reports[0].crowd == explained.crowd
    assert len(explain(epsilon, reports=5).reports) == 4


def test_known_numbers_stand_in_the_sentences():
    one = explain(1)
    assert "for 50 of 100 people like you without a report" in one.guess
    assert "at most 74 of 100: they can become 73.2 % sure, never more." in one.guess
    assert "grow or shrink 2.72-fold at most." in one.growth
    assert "the truth with probability 73.2 %, a lie otherwise. Of 100 people at least 26 would be lying" in one.coin
    assert [percent(each.after) for each in one.beliefs] == ["2.7 %", "23.2 %", "73.2 %", "96.1 %"]
    assert "1,100-fold" in explain(7).growth


def test_rounding_up_never_makes_a_certainty_of_a_doubt_that_a_millionth_shows():
    assert explain(5).crowd.by_report == 994 and explain(5).crowd.people == 1000
    assert explain(13).certainty < 1
    assert explain(50).certainty == 1


def test_a_warning_stands_where_one_report_gives_the_answer_away_and_only_there():
    assert explain(2).warning is None
    assert explain("2.3").warning.startswith("This is weak protection")
    assert explain(4).warning.startswith("This is weak protection")
    assert explain(5).warning.startswith("This is little protection")


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_no_report_of_a_real_mechanism_tells_more_than_was_said(epsilon):
    explained, matrix = explain(epsilon), BRR(Integers(1, 12), epsilon).matrix()
    after = matrix[:, None, :] / (matrix[:, None, :] + matrix[None, :, :])
    assert float(explained.certainty) - 0.01 < after.max() <= float(explained.certainty)
    # Wrong if said of a smaller ε: the test can fail.
    assert after.max() > float(explain(Decimal(epsilon) * Decimal("0.9")).certainty)


def test_the_limits_of_the_promise_are_stated():
    text = " ".join(ASSUMPTIONS)
    for words in ("one report", "Reporting again spends again", "does not hide that you reported", "without yours"):
        assert words in text


@pytest.mark.parametrize("reports", [0, -1, 10**6 + 1, True, 1.5, "many"])
def test_a_number_of_reports_that_is_none_is_refused(reports):
    with pytest.raises(InputError, match="Expected reports from 1 to 1,000,000, got .*; one report is explained"):
        explain(1, reports=reports)


def test_an_epsilon_that_is_none_is_refused():
    with pytest.raises(EpsilonError, match="Expected epsilon as a positive decimal"):
        explain("much")


def test_many_reports_are_certain_and_cost_nothing():
    assert explain(50, reports=10**6).reports[-1].certainty == 1


def test_percentages_lose_only_zeros_that_say_nothing():
    assert [percent(Decimal(text)) for text in ("0.550", "1", "0.5", "0.0101", "1.0")] == [
        "55 %", "100 %", "50 %", "1.01 %", "100 %",
    ]  # fmt: skip

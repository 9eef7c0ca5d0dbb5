"""Contrasts of several groups: Holm's method against closed tests, and each row against the difference of two."""

import itertools
import math

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.surveys.contrasts import holm
from bipartite.errors import InputError

LINE = bp.Integers(0, 9)
MECH = bp.BRR(LINE, 2, edges="padded")


def groups(values, each, seed=1, mech=MECH):
    labels = np.repeat(list("abcdefgh"[: len(values)]), each)
    return bp.estimate(mech, mech.privatize(np.repeat(values, each), rng=bp.insecure_seed(seed)), by=labels)


ESTS = groups([3, 3, 4, 6], 300)


def closed(p):
    """Holm's method is the closed test by Bonferroni: the largest p-value of all sets of hypotheses with this one."""
    at = range(len(p))
    sets = [each for size in range(1, len(p) + 1) for each in itertools.combinations(at, size)]
    return [max(min(1.0, len(s) * min(p[i] for i in s)) for s in sets if one in s) for one in at]


def test_adjusted_p_values_are_those_of_closed_tests():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    rng = np.random.default_rng(36)
    for size in range(1, 8):
        p = np.round(rng.random(size) ** 3, 2).tolist()  # with ties
        assert holm(p) == pytest.approx(closed(p), abs=1e-12)


def test_a_p_value_that_is_not_known_stays_so_and_counts():
    assert holm([0.01, math.nan, 0.3]) == pytest.approx([0.03, math.nan, 0.6], nan_ok=True)


def test_each_row_is_the_difference_of_two_groups_at_a_higher_confidence():
    found = bp.surveys.contrasts(ESTS, confidence=0.9)
    assert [(row.first, row.second) for row in found] == list(itertools.combinations("abcd", 2))
    for row in found:
        alone = bp.difference(ESTS[row.first], ESTS[row.second], confidence=1 - 0.1 / 6)
        assert (row.difference, row.se, row.p_value) == (alone.value, alone.se, alone.p_value)
        assert row.interval == alone.interval
        assert row.interval.confidence == 0.9
    assert [row.adjusted for row in found] == pytest.approx(closed([row.p_value for row in found]))


def test_all_against_one():
    found = bp.surveys.contrasts(ESTS, ("range", 5, 9), against="b")
    assert [(row.first, row.second) for row in found] == [("a", "b"), ("c", "b"), ("d", "b")]
    assert found[1].interval == bp.difference(ESTS["c"], ESTS["b"], ("range", 5, 9), confidence=1 - 0.05 / 3).interval
    assert len(bp.surveys.contrasts({"a": ESTS["a"], "b": ESTS["b"]}, against="a")) == 1


def test_medians_and_distributions_are_contrasted_too():
    few = {label: ESTS[label] for label in "ad"}
    for of in ("median", "std", "distribution"):
        assert bp.surveys.contrasts(few, of)[0].difference == bp.difference(ESTS["a"], ESTS["d"], of).value


def test_p_values_of_medians_are_where_their_intervals_reach_zero():
    """They move in steps, so that no iteration in proportion to a width settles."""
    for seed in range(6):
        ests = groups([4, 5], 40, seed=seed, mech=bp.GRR(LINE, 3))
        p, gap = (
            bp.difference(ests["a"], ests["b"], "median").p_value,
            ests["a"].ask("median") - ests["b"].ask("median"),
        )
        surely, hardly = gap.ci(1 - 0.98 * p), gap.ci(1 - 1.02 * p)
        assert surely.low <= 0 <= surely.high
        assert not hardly.low <= 0 <= hardly.high


def test_holm_may_reject_what_an_interval_still_allows():
    found = bp.surveys.contrasts(groups([3, 4, 6], 60, seed=12), against="a")
    odd = [row for row in found if row.adjusted <= 0.05 and row.interval.low <= 0 <= row.interval.high]
    assert [row.first for row in odd] == ["b"]


def test_equal_groups_are_seldom_called_different():
    """False alarms: 100 trials with a true rate of 5 % have more than 13 with a probability of 5e-4 (binomial)."""
    coin = bp.GRR(bp.Integers(0, 1), 3)
    any_adjusted = any_alone = 0
    for seed in range(100):
        people = np.random.default_rng([36, seed]).integers(0, 2, 400)
        reports = coin.privatize(people, rng=bp.insecure_seed(seed))
        found = bp.surveys.contrasts(bp.estimate(coin, reports, by=np.arange(400) % 4))
        any_adjusted += any(row.adjusted <= 0.05 for row in found)
        any_alone += any(row.p_value <= 0.05 for row in found)
    assert any_adjusted <= 13 < any_alone


def test_they_are_shown_as_a_table():
    found = bp.surveys.contrasts(ESTS, against="a")
    frame = found.to_frame()
    assert frame.columns.tolist() == ["first", "second", "difference", "se", "low", "high", "p", "p_holm"]
    assert frame["high"].tolist() == [row.interval.high for row in found]
    assert frame["p_holm"].tolist() == [row.adjusted for row in found]
    text = str(found).split("\n")
    assert text[0] == "3 differences between groups; intervals hold together with 95 % (Bonferroni)"
    assert text[1].split() == ["groups", "difference", "interval", "p", "p", "after", "Holm"]
    assert text[2].startswith("b − a ")
    assert repr(found) == f"<Contrasts: {text[0]} …>"
    assert "<table>" in found._repr_html_()


def test_what_cannot_be_contrasted():
    record = bp.Record({"a": MECH, "b": MECH})
    both = bp.estimate(record, record.privatize({"a": [1, 2], "b": [3, 4]}, rng=bp.insecure_seed(1)))
    with pytest.raises(InputError, match="groups of different people, got attributes of the same ones; give a public"):
        bp.surveys.contrasts(both)
    with pytest.raises(InputError, match="estimates of at least 2 groups, as of bp.estimate.*, got 1"):
        bp.surveys.contrasts({"a": ESTS["a"]})
    with pytest.raises(InputError, match="at least 2 groups, as of bp.estimate.*, got Estimate"):
        bp.surveys.contrasts(ESTS["a"])
    with pytest.raises(InputError, match="Expected against as one of the groups 'a', 'b', 'c', 'd', got 'north'"):
        bp.surveys.contrasts(ESTS, against="north")
    with pytest.raises(InputError, match="Expected confidence between 0 and 1"):
        bp.surveys.contrasts(ESTS, confidence=95)
    with pytest.raises(InputError, match="at least 2 groups, as of bp.estimate.*, got int"):
        bp.surveys.contrasts({"a": ESTS["a"], "b": 3})
    other = bp.estimate(bp.GRR(bp.Integers(0, 3), 1), [1, 2])
    with pytest.raises(InputError, match="Expected estimates on one domain, got .*0, 9.* and .*0, 3"):
        bp.surveys.contrasts(dict(ESTS) | {"z": other})

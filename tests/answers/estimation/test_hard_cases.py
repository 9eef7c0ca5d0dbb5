"""What breaks careless estimators: values nobody has, one report, weights of any size, labels of any kind."""

import json

import numpy as np
import pytest
from scipy.stats import binom

from bipartite import (
    BRR,
    GRR,
    OUE,
    Counts,
    Integers,
    Items,
    Record,
    difference,
    estimate,
    insecure_seed,
)
from bipartite.answers.estimation.source import prepared
from bipartite.errors import InputError, SpecError

DIGITS = Integers(0, 9)
PADDED = BRR(DIGITS, 1, m="cdf", edges="padded")
CERTAIN = GRR(DIGITS, 12)
# Nine of ten values are rare, so that in fifty people many of them have nobody.
SPIKE = np.where(np.arange(10) == 0, 0.85, 0.15 / 9)


def samples(mechanism, f, people, repetitions, seed=3):
    """Counts of reports of people drawn from a population: multinomial(n, fᵀP) is exactly their law."""
    return np.random.default_rng(seed).multinomial(people, f @ mechanism.matrix(), repetitions)


@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", [4, 12])
@pytest.mark.parametrize("of", [("bin", 7), ("cdf", 8), ("quantile", 0.99)], ids=str)
def test_intervals_hold_for_values_that_hardly_anybody_has(epsilon, of):
    """Where nobody in the sample has a value, the estimated error is zero, and the share is not."""
    mechanism = GRR(DIGITS, epsilon)
    truth = {"bin": SPIKE[7], "cdf": SPIKE[:9].sum(), "quantile": 9.0}[of[0]]
    held = 0
    for counts in samples(mechanism, SPIKE, 50, 300):
        low, high = estimate(mechanism, counts=counts, method="inverse").ask(of).ci()
        held += low - 1e-12 <= truth <= high + 1e-12
    assert held >= binom.ppf(1e-4, 300, 0.95)


def test_intervals_in_tables_are_those_of_single_shares_for_values_that_nobody_has():
    est = estimate(CERTAIN, [1] * 60, method="inverse")
    frame = est.to_frame()
    assert tuple(frame.loc[7, ["low", "high"]]) == pytest.approx(tuple(est.ask(("bin", 7)).ci()))
    # Of 60 people nobody: Wilson's end is z²/(n + z²), about 0.06.
    assert 0.04 < frame.high[7] < 0.08


def test_intervals_of_shares_up_to_a_value_are_within_what_is_possible():
    mechanism = BRR(Integers(0, 19), 0.2, m="cdf", edges="padded")
    for counts in samples(mechanism, np.full(20, 0.05), 60, 60):
        est = estimate(mechanism, counts=counts, method="inverse")
        for value in range(19):
            low, high = est.ask(("cdf", value)).ci()
            # An unbiased share may be impossible, and is in its interval; beyond it nothing impossible is.
            # Where all of it is impossible, it is left as it is.
            outside = low > 1 or high < 0
            assert outside or min(0, est.cdf(value)) - 1e-12 <= low < high <= max(1, est.cdf(value)) + 1e-12
        assert est.ask(("cdf", 19)).ci() == pytest.approx((1, 1))


def test_one_report_does_not_tell_its_own_error():
    for mechanism, report in ((PADDED, [3]), (OUE(DIGITS, 1), OUE(DIGITS, 1).privatize([3], rng=insecure_seed(1)))):
        est = estimate(mechanism, report, method="inverse")
        assert np.isnan(est.ask().se)
        assert np.isnan(est.to_frame()["se"].to_numpy()).all()
        # Everything that is possible, and the answer shown, which need not be.
        assert tuple(est.ask().ci()) == (min(0.0, est.mean), max(9.0, est.mean))


def test_tables_of_few_pairs_rest_on_a_bound_that_holds_for_any_number():
    record = Record({"a": PADDED, "b": GRR(Integers(0, 1), 1)})
    reports = record.privatize({"a": [1, 5, 7], "b": [0, 1, 1]}, rng=insecure_seed(1))
    joint = estimate(record, reports).joint("a", "b")
    frame = joint.to_frame()
    assert tuple(frame.loc[2, ["low", "high"]]) == pytest.approx(tuple(joint.ask(("cell", 1, 0)).ci()))
    assert (frame.high > frame.low).all()


@pytest.mark.grid(1)
@pytest.mark.parametrize(("size", "people"), [(10, 60), (64, 200)])
def test_distributions_are_rarely_found_to_differ_where_they_do_not(size, people):
    """With many values and few people the covariance is hardly known."""
    mechanism = GRR(Items([str(value) for value in range(size)], loss=1 - np.eye(size)), 3)
    f = np.random.default_rng(1).dirichlet(np.ones(size))
    pairs = samples(mechanism, f, people, 400).reshape(200, 2, -1)
    found = [
        difference(*(estimate(mechanism, counts=counts) for counts in pair), of="distribution").p_value < 0.05
        for pair in pairs
    ]
    assert np.sum(found) <= binom.ppf(1 - 1e-4, 200, 0.05)


@pytest.mark.parametrize("mechanism", [CERTAIN, PADDED], ids=["certain", "padded"])
def test_distributions_of_groups_that_all_say_one_thing_can_be_compared(mechanism):
    first, second, few = (estimate(mechanism, [value] * count) for value, count in ((1, 60), (5, 60), (5, 3)))
    assert difference(first, second, of="distribution").p_value < 1e-6
    assert difference(first, first, of="distribution").p_value == 1
    found = difference(first, few, of="distribution")
    assert found.interval.low <= found.value < found.interval.high
    with pytest.raises(InputError, match="at least two reports per group"):
        difference(first, estimate(mechanism, [1]), of="distribution")


def test_a_difference_of_unanimous_groups_has_an_interval():
    first, second = (estimate(CERTAIN, [value] * 60) for value in (1, 2))
    found = difference(first, second, of=("bin", 1))
    assert found.interval.low < 1 < found.interval.high
    assert 0 < found.p_value < 1e-6
    few = [estimate(CERTAIN, [value] * 10) for value in (1, 2)]
    assert difference(*few, of=np.ones(10)).p_value == 1


@pytest.mark.parametrize("weights", [[1.0] * 9, [1.0] * 11, 1.0, ["a"] * 10, [1e200] * 10, [1e-200] * 10])
@pytest.mark.parametrize("by", [None, ["a", "b"] * 5])
def test_weights_that_are_not_one_usable_number_a_report_are_refused(weights, by):
    """Also beside groups, where more weights than reports would be taken from the wrong rows."""
    mechanism = OUE(DIGITS, 1)
    for each, reports in (
        (PADDED, list(range(10))),
        (mechanism, mechanism.privatize(list(range(10)), rng=insecure_seed(1))),
    ):
        with pytest.raises(InputError, match="weight"):
            estimate(each, reports, weights=weights, by=by)


def test_groups_keep_their_labels_and_missing_ones_are_refused():
    groups = estimate(PADDED, list(range(10)), by=[1, "1", "a", 2.5, True] * 2)
    assert [*groups] == [1, "1", "a", 2.5]
    for missing in (None, float("nan")):
        with pytest.raises(InputError, match="missing"):
            estimate(PADDED, list(range(10)), by=["a", missing] * 5)


def test_nobody_changes_what_later_estimates_share():
    with pytest.raises(ValueError, match="read-only"):
        prepared(PADDED).found.group_of[0] = 5


@pytest.mark.parametrize(
    "counts", [[[1], 2], [2**63 - 1, 2**63 - 1, 9, *[0] * 9], [2**62] * 12], ids=["ragged", "wraps around", "too many"]
)
def test_edited_counts_are_refused(counts):
    held = Counts(PADDED).add([1] * 7).to_dict()
    with pytest.raises((InputError, SpecError)):
        Counts.from_json(json.dumps(held | {"counts": counts}))
    with pytest.raises(InputError):
        estimate(PADDED, counts=counts)


def test_a_confidence_that_rounds_to_one_is_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        estimate(PADDED, [1, 2]).ask().ci(1 - 1e-16)


@pytest.mark.parametrize("method", ["em", "smooth"])
def test_no_interval_of_a_share_from_few_reports_rests_on_the_normal_law(method):
    """One report at ε = 1 cannot show that hardly anybody has a value far from it."""
    for reports in ([0], [0] * 20):
        est = estimate(PADDED, reports, method=method)
        low, high = est.ask(("bin", 9)).ci()
        assert low == 0 and high > (0.9 if len(reports) == 1 else 0.2)
        assert "too few" in est.ask(("bin", 9)).ci().note
    clamped = estimate(BRR(DIGITS, 1), [0] * 20, method=method)
    low, high = clamped.ask(("bin", 0)).ci()
    assert (low, high) == pytest.approx((0, 1), abs=1e-6)


@pytest.mark.parametrize("of", [("bin", 24), ("range", 21, 27)], ids=str)
def test_a_value_that_all_people_have_is_covered_with_few_reports_and_a_large_epsilon(of):
    """At ε = 6 each of 50 reports that is noise looks like a person: likelihood intervals held 0.25 and 0.33."""
    mechanism = BRR(Integers(0, 72), 6, edges="padded")
    law, generator = mechanism.matrix()[24], np.random.default_rng(3)
    answers = [estimate(mechanism, counts=generator.multinomial(50, law / law.sum())).ask(of) for _ in range(40)]
    held = sum(answer.ci().low <= 1 <= answer.ci().high for answer in answers)
    assert all(answer.ci().low <= answer.value <= answer.ci().high for answer in answers)
    # With a coverage of 0.95, fewer than 33 of 40 have a probability of 1e-4.
    assert held >= 33

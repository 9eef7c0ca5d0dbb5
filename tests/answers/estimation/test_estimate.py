"""From reports to answers: unbiased, with errors that are true, and with refusals that say what to do."""

import importlib
import itertools
import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from bipartite import (
    BRR,
    GRR,
    OUE,
    Anchored,
    Counts,
    Duchi,
    Exponential,
    Geometric,
    Integers,
    Interval,
    Items,
    Laplace,
    Piecewise,
    Points,
    SquareWave,
    estimate,
    insecure_seed,
)
from bipartite.answers.estimation import ConfidenceInterval as Bounds
from bipartite.errors import BipartiteError, DesignError, InputError, NullError, OutsideDomainError, SpecError
from tests.rivals import MECHANISMS

AGES = Integers(18, 90)
PADDED = BRR(AGES, 1, edges="padded")


def reports_of(mechanism, values, seed=1):
    return mechanism.privatize(values, rng=insecure_seed(seed))


# The law of one report decides what a linear answer is on average: exactly, without drawing anything.


def expected_answer(mechanism, population, answer, people=3):
    """The expected value of an answer over all reports of a few people, by enumeration."""
    law = population @ mechanism.matrix()
    total = 0.0
    for drawn in itertools.product(range(len(law)), repeat=people):
        counts = np.bincount(drawn, minlength=len(law))
        total += float(np.prod(law[list(drawn)])) * answer(estimate(mechanism, counts=counts, method="inverse"))
    return total


@pytest.mark.parametrize(
    "mechanism",
    [BRR(Integers(0, 3), 1, edges="padded"), GRR(Integers(0, 3), 1), Geometric(Integers(0, 3), 2)],
    ids=["padded", "grr", "geometric"],
)
def test_means_shares_and_linear_answers_are_unbiased_for_every_population(mechanism):
    for population in (np.array([1.0, 0, 0, 0]), np.array([0.1, 0.2, 0.3, 0.4])):
        values = np.arange(4)
        for answer, truth in (
            (lambda est: est.mean, population @ values),
            (lambda est: est.shares[2], population[2]),
            (lambda est: est.ask([1, 0, 0, 5]).value, population @ [1, 0, 0, 5]),
            (lambda est: (est.ask() * 100).value, 100 * population @ values),
        ):
            assert expected_answer(mechanism, population, answer) == pytest.approx(truth, abs=1e-9)


def test_the_squared_standard_error_is_unbiased_too():
    """Its expectation over all reports of n people is the variance of the mean."""
    mechanism, people = BRR(Integers(0, 2), 1, edges="padded"), 3
    matrix = mechanism.matrix()
    law = np.array([0.2, 0.3, 0.5]) @ matrix
    moments = np.zeros(3)
    for drawn in itertools.product(range(matrix.shape[1]), repeat=people):
        answer = estimate(mechanism, counts=np.bincount(drawn, minlength=matrix.shape[1]), method="inverse").ask()
        moments += np.prod(law[list(drawn)]) * np.array([answer.value, answer.value**2, answer.se**2])
    assert moments[0] == pytest.approx(1.3, abs=1e-9)
    assert moments[2] == pytest.approx(moments[1] - moments[0] ** 2, abs=1e-9)


def test_every_method_comes_near_the_truth_with_many_reports():
    mechanism = BRR(Integers(0, 9), 4, edges="padded")
    values = np.repeat(np.arange(10), np.arange(1, 11) * 20_000)
    reports = reports_of(mechanism, values)
    truth = np.arange(1, 11) / 55
    for method, near in (("inverse", 0.003), ("projected", 0.003), ("em", 0.003)):
        found = estimate(mechanism, reports, method=method)
        assert np.abs(found.shares - truth).max() < near
        assert found.mean == pytest.approx(values.mean(), abs=0.02)
        assert found.median == 6
        assert found.ask("variance").value == pytest.approx(values.var(), abs=0.1)
        assert found.method == method and "asked for" in found.summary()
        assert found.shares.sum() == pytest.approx(1)


def test_auto_says_why():
    few_values = estimate(BRR(Integers(0, 3), 4, edges="padded"), reports_of(GRR(Integers(0, 3), 4), [0, 1] * 5000))
    assert few_values.method == "inverse" and "small compared to an average share" in few_values.summary()
    many = estimate(PADDED, reports_of(PADDED, [30] * 20_000))
    assert many.method == "em" and "closer to the truth than unbiased shares" in many.summary()
    assert "held-out reports are predicted best without smoothing" in many.summary()
    noisy = BRR(Integers(0, 9), 0.2, edges="padded")
    assert "mostly noise" in estimate(noisy, reports_of(noisy, [3] * 100)).summary()
    smooth = estimate(PADDED, reports_of(PADDED, np.arange(20, 80).repeat(50)))
    assert smooth.method == "smooth" and "values, weighted by how well held-out reports are" in smooth.summary()
    clamped = BRR(AGES, 1)
    hidden = estimate(clamped, reports_of(clamped, [30] * 1000))
    assert hidden.method in {"em", "smooth"} and "without bias" in hidden.summary()
    few = estimate(clamped, reports_of(clamped, [30] * 10))
    assert few.method == "smooth" and "as always for so few reports" in few.summary()
    items = Items(["a", "b", "c"], loss=1 - np.eye(3))
    flat = GRR(items, 1)
    assert estimate(flat, reports_of(flat, ["a", "b"] * 50)).method == "inverse"
    anchored = Anchored(items, 0.1, anchors=["a", "b"])
    assert estimate(anchored, reports_of(anchored, ["a", "b"] * 50)).method == "em"


@pytest.mark.grid(18)
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_on_every_domain_can_be_estimated_from(name):
    mechanism = MECHANISMS[name]
    domain = mechanism.domain
    values = [domain[0], domain[1]] * 200
    found = estimate(mechanism, reports_of(mechanism, values))
    assert found.nobs == 400 and len(found.shares) == len(domain)
    assert found.shares.sum() == pytest.approx(1)
    assert found.summary().startswith("400 reports of")
    frame = found.to_frame()
    assert list(frame.columns) == ["value", "share", "se", "low", "high", "note"]
    assert len(frame) == len(domain)
    if (frame["note"] != "").all():
        assert frame[["se", "low", "high"]].isna().all(axis=None)
    else:
        assert (frame["low"] <= frame["share"] + 1e-12).all() and (frame["share"] <= frame["high"] + 1e-12).all()
    low, high = found.ask(("bin", domain[1])).ci()
    assert low - 1e-9 <= found.shares[1] <= high + 1e-9


@pytest.mark.parametrize(
    "mechanism",
    [Laplace(Interval(0, 1, points=6), 1), Duchi(Interval(0, 1, points=6), 1), Piecewise(Interval(0, 1, points=6), 1)],
    ids=["laplace", "duchi", "piecewise"],
)
def test_means_of_continuous_mechanisms(mechanism):
    reports = reports_of(mechanism, [0.2] * 20_000 + [0.8] * 20_000)
    found = estimate(mechanism, reports)
    low, high = found.ask().ci(0.999)
    assert low < 0.5 < high and high - low < 0.2


def test_weights_count_like_copies_and_scale_out():
    reports = reports_of(PADDED, [30, 40, 50, 60] * 100)
    weights = np.array([1, 2, 3, 4] * 100)
    weighted = estimate(PADDED, reports, weights=weights, method="inverse")
    copied = estimate(PADDED, np.repeat(reports, weights), method="inverse")
    # Scores of shares are fitted to other reports, which copies are not; those of numbers depend on none.
    for w in np.eye(73)[::9] + np.arange(73):
        assert weighted.ask(w).value == pytest.approx(copied.ask(w).value)
    assert weighted.mean == pytest.approx(copied.mean)
    # Four copies of a report are not four people.
    assert weighted.ask().se > copied.ask().se
    assert weighted.ask().se / copied.ask().se == pytest.approx(math.sqrt(3), rel=0.1)  # by (Σw)²/Σw² = 1000/3 reports
    scaled = estimate(PADDED, reports, weights=weights * 0.001, method="em")
    same = estimate(PADDED, reports, weights=weights, method="em")
    np.testing.assert_allclose(scaled.shares, same.shares, atol=1e-6)
    assert scaled.ask().ci() == pytest.approx(same.ask().ci())


def test_groups_are_estimated_each_on_its_own():
    values = np.array([20] * 3000 + [70] * 3000)
    labels = np.array(["young"] * 3000 + ["old"] * 3000)
    order = np.random.default_rng(1).permutation(6000)
    reports = reports_of(PADDED, values[order])
    found = estimate(PADDED, reports, by=labels[order])
    assert set(found) == {"young", "old"} and len(found) == 2
    alone = estimate(PADDED, reports[labels[order] == "old"])
    assert found["old"].mean == alone.mean and found["old"].nobs == 3000
    frame = found.to_frame(confidence=0.9).set_index("group")
    assert list(frame.columns) == ["n", "mean", "se", "low", "high"] and frame.loc["old", "n"] == 3000
    assert tuple(frame.loc["old", ["mean", "se"]]) == (alone.mean, alone.ask().se)
    assert tuple(frame.loc["old", ["low", "high"]]) == tuple(alone.ask().ci(0.9))
    ranges = found.to_frame(bins=[30, 60])
    assert list(ranges.columns)[:3] == ["group", "first", "last"] and len(ranges) == 6
    told = found.summary()
    assert "\nold: 3,000 reports\n" in told and "Estimates of 2 groups" in repr(found)
    # What the groups have in common is said once.
    assert told.count("intervals are for") == told.count("histogram by") == told.count("of BRR(") == 1
    assert " in 2 groups; " in told
    weighted = estimate(PADDED, reports, by=labels[order], weights=np.ones(6000))
    assert weighted["young"].mean == pytest.approx(found["young"].mean)
    for series in (pd.Series(labels[order]), pl.Series(labels[order].tolist()), labels[order].tolist()):
        assert estimate(PADDED, reports, by=series)["old"].mean == alone.mean
    with pytest.raises(KeyError, match="There is no group 'middle'; there are"):
        found["middle"]


# Intervals.


def test_an_interval_is_a_pair_with_a_confidence_and_a_note():
    found = estimate(PADDED, reports_of(PADDED, [30] * 1000))
    interval = found.ask().ci(0.9)
    low, high = interval
    assert (interval.low, interval.high, interval.confidence, interval.note) == (low, high, 0.9, "")
    copy = pickle.loads(pickle.dumps(interval))
    assert copy == interval and copy.confidence == 0.9
    assert str(Bounds(1.0, 2.0, 0.95, "why")) == "1 to 2 (95 %; why)"
    wider = found.ask().ci(0.99)
    assert wider.low < low < high < wider.high
    half = (high - low) / 2
    assert half == pytest.approx(1.6448536 * found.ask().se, rel=0.05)


def test_intervals_of_everything_that_can_be_asked_for():
    values = np.repeat([20, 40, 60, 80], 20_000)
    found = estimate(PADDED, reports_of(PADDED, values), method="inverse")
    truths = {
        "mean": values.mean(),
        "variance": values.var(),
        "median": 40,
        ("quantile", 0.9): 80,
        ("cdf", 45): 0.5,
        ("bin", 60): 0.25,
        tuple([0] * 72 + [1]): 0.0,
    }
    for of, truth in truths.items():
        asked = list(of) if isinstance(of, tuple) and len(of) > 2 else of
        low, high = found.ask(asked).ci(0.9999)
        assert low <= truth <= high, of
    error = found.to_frame()["se"].to_numpy()[42]
    ends = found.shares[42] + np.array([-1, 1]) * 1.959964 * error
    assert found.ask(("bin", 60)).ci() == pytest.approx(ends, abs=0.05 * error)
    assert found.cdf(90) == pytest.approx(1) and len(found.cdf()) == 73
    assert found.quantile(0.2) <= found.quantile(0.9)


def test_quantile_intervals_of_a_window_are_useful_not_only_true():
    values = 18 + np.arange(73).repeat(400)
    found = estimate(PADDED, reports_of(PADDED, values))
    low, high = found.ask("median").ci()
    assert low <= 54 <= high and high - low < 15
    # By single steps of the cumulative distribution the same interval would be far wider.
    step = found.ask(("cdf", 54))
    assert 2 * 1.96 * step.se * 73 > 1.2 * (high - low)


@given(
    st.lists(st.integers(0, 8), min_size=60, max_size=200),
    st.sampled_from([0.1, 0.5, 0.95]),
    st.sampled_from(["padded", "grr", "clamped", "geometric"]),
)
def test_quantiles_and_their_intervals_stay_in_the_domain(values, q, kind):
    line = Integers(0, 8)
    mechanism = {
        "padded": BRR(line, 2, edges="padded"),
        "grr": GRR(line, 2),
        "clamped": BRR(line, 2),
        "geometric": Geometric(line, 2),
    }[kind]
    found = estimate(mechanism, reports_of(mechanism, values))
    low, high = found.ask(("quantile", q)).ci()
    assert 0 <= low <= high <= 8 and found.quantile(q) in line
    below, above = found.ask(("cdf", 5)).ci()
    assert 0 <= below <= above <= 1


def test_few_reports_have_intervals_of_everything():
    for count in (1, 2, 30):
        found = estimate(PADDED, reports_of(PADDED, [30] * count), method="inverse")
        for of in ("mean", "std", "variance", "median", ("cdf", 40), ("bin", 30)):
            low, high = found.ask(of).ci()
            assert low <= high and (count == 1 or low <= found.ask(of).value <= high), of


def test_what_cannot_be_known_has_an_interval_of_everything_that_is_left_open():
    clamped = BRR(AGES, 1)
    # All in one of the groups that share a row: 18 to 31.
    found = estimate(clamped, reports_of(clamped, [18] * 200_000))
    interval = found.ask().ci()
    assert interval.low <= 18.5 and interval.high >= 31 and "cannot tell all values apart" in interval.note
    assert found.ask().se == np.inf
    assert found.ask(("cdf", 20)).ci().low == 0 and found.ask(("cdf", 20)).ci().high > 0.9
    quantile = found.ask("median").ci()
    assert quantile.low == 18 and quantile.high >= 31
    group = found.ask(("range", 18, 31))
    assert group.value == pytest.approx(1, abs=0.1) and 0 < group.se < 0.1
    assert "not identifiable: rank 47 of 73" in found.summary() and "collect with edges='padded'" in found.summary()
    em = estimate(clamped, reports_of(clamped, [40] * 1000), method="em")
    assert (
        np.isnan(em.to_frame()["se"].to_numpy()).all() and em.to_frame()["note"].str.contains("ask for a range").all()
    )
    # Whoever is at 18 might as well be at 31: one is left open as the other is, and what they have together is known.
    one, other, both = (em.ask(of).ci() for of in (("bin", 18), ("bin", 31), ("range", 18, 31)))
    assert one == pytest.approx(other, abs=1e-6) and one.low == 0 and one.high == pytest.approx(both.high, abs=1e-3)
    assert both.high < 0.5


def test_what_depends_on_itself_is_left_open_too():
    """Two outputs tell the mean, and the interval of anything else holds all that distributions of such a mean have."""
    mechanism = Duchi(Interval(0, 1, points=6), 1)
    reports = reports_of(mechanism, [0.2] * 1000)
    found = estimate(mechanism, reports)
    # The largest and least mean within half a χ² of one to three degrees of freedom, from the binomial law.
    ups = np.count_nonzero(np.asarray(reports) > 0.5)
    chances = np.linspace(*mechanism.matrix()[[0, -1], -1], 100_001)
    drop = binom.logpmf(ups, 1000, ups / 1000) - binom.logpmf(ups, 1000, chances)
    means = np.linspace(0, 1, 100_001)
    (least, most), (least3, most3) = (means[drop <= chi2.ppf(0.95, degrees) / 2][[0, -1]] for degrees in (1, 3))
    # With all others at 0 and at 1, whichever helps: up to 0.4 at least 1 − (mean at 0.6 and beyond)/0.6.
    low, high = found.ask(("cdf", 0.4)).ci()
    assert 1 - most3 / 0.6 - 0.01 <= low <= 1 - most / 0.6 + 0.01 and high == pytest.approx(1)
    low, high = found.ask([1, 0, 0, 0, 0, 0]).ci()
    assert low == pytest.approx(0, abs=0.01) and 1 - least - 0.01 <= high <= 1 - least3 + 0.01
    # Half of the people, and no more, may lie above twice the mean.
    ends = [np.floor(2 * each / 0.2) * 0.2 for each in (most, most3)]
    low, high = found.ask("median").ci()
    assert low == 0 and ends[0] - 1e-9 <= high <= ends[1] + 1e-9


@pytest.mark.parametrize("method", ["em", "smooth"])
def test_fitted_curves_have_no_errors_of_single_shares_and_say_why(method):
    found = estimate(PADDED, reports_of(PADDED, [30, 60] * 1000), method=method)
    frame = found.to_frame()
    assert frame[["se", "low", "high"]].isna().all(axis=None) and frame["note"].str.contains("ask for a range").all()
    parts = found.to_frame(bins=6)
    assert parts["first"].tolist() == [18, 30, 42, 54, 67, 79] and parts["last"].iloc[-1] == 90
    assert parts["share"].sum() == pytest.approx(1) and (parts["note"] == "").all()
    for first, last, share, low, high, _ in parts.itertuples(index=False):
        answer = found.ask(("range", first, last))
        assert (low, high) == tuple(answer.ci()) and share == pytest.approx(answer.value)
        assert low <= share <= high


# Counts.


@given(st.lists(st.lists(st.integers(-13, 86), max_size=20), max_size=6), st.randoms())
def test_counts_are_exact_whatever_the_batches_and_their_order(batches, random):
    mechanism = BRR(Integers(0, 73), 1, m=27, edges="padded")
    together = Counts(mechanism)
    for batch in batches:
        together.add(batch)
    shuffled = list(batches)
    random.shuffle(shuffled)
    middle = len(shuffled) // 2
    parts = [Counts(mechanism), Counts(mechanism)]
    for part, some in zip(parts, (shuffled[:middle], shuffled[middle:]), strict=True):
        for batch in some:
            part.add(batch)
    merged = parts[1].merge(parts[0])
    assert merged == together and merged.n == sum(map(len, batches))
    assert Counts.from_json(together.to_json()) == together
    assert Counts.from_dict(json.loads(json.dumps(together.to_dict()))) == together
    assert pickle.loads(pickle.dumps(together)) == together
    counter = (
        np.bincount(np.array(list(itertools.chain(*batches))) + 13, minlength=100) if together.n else np.zeros(100)
    )
    np.testing.assert_array_equal(together.values, counter)


def test_counts_are_all_that_an_estimate_needs():
    reports = reports_of(PADDED, [30, 40, 70] * 500)
    counts = Counts(PADDED).add(reports[:700]).add(reports[700:])
    from_counts, from_reports = estimate(PADDED, counts=counts), estimate(PADDED, reports)
    np.testing.assert_array_equal(from_counts.shares, from_reports.shares)
    assert from_counts.ask().ci() == from_reports.ask().ci()
    assert estimate(PADDED, counts=counts.values).mean == from_reports.mean
    assert repr(counts).startswith("<Counts of 1,500 reports of BRR(")


def test_counts_refuse_what_does_not_belong_to_them():
    counts = Counts(PADDED).add([30, 31])
    with pytest.raises(SpecError, match="their specs differ"):
        counts.merge(Counts(BRR(AGES, 2, edges="padded")))
    with pytest.raises(InputError, match="Expected Counts to merge, got list; use add for reports"):
        counts.merge([30])
    with pytest.raises(OutsideDomainError, match=r"1 report, the first at reports\[1\], cannot have come from BRR"):
        counts.add([30, 500])
    assert counts.n == 2  # all of a batch or nothing
    with pytest.raises(InputError, match="Expected a mechanism, got str"):
        Counts("brr")
    with pytest.raises(InputError, match="at most 2\\^27 different reports"):
        Counts(GRR(Integers(0, 2**28), 5))
    assert Counts(PADDED) != counts and counts != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bipartite_counts": 2}, "of a later version"),
        ({"spec_sha256": "0" * 64}, "do not belong to the spec beside them"),
        ({"people": 3}, "cannot have come from 3 reports"),
        ({"people": -1}, "people as a whole number from 0 to 2\\^53; the file was edited: ask for it again"),
        ({"people": None}, "people as a whole number"),
        ({"counts": [1, 2]}, "Expected counts as 99 whole numbers"),
        ({"counts": [0.5] * 99}, "Expected counts as 99 whole numbers"),
        ({"counts": [-1] + [0] * 95 + [1, 1, 1]}, "Expected counts of at least 0"),
        ({"spec": {"bipartite": 1}}, "Expected"),
    ],
)
def test_counts_from_a_damaged_file_are_refused(change, message):
    held = Counts(PADDED).add([30, 31]).to_dict() | change
    with pytest.raises(BipartiteError, match=message):
        Counts.from_dict(held)


def test_counts_from_half_a_file_are_refused():
    text = Counts(PADDED).add([30]).to_json()
    with pytest.raises(SpecError, match="the file may be truncated"):
        Counts.from_json(text[: len(text) // 2])
    with pytest.raises(SpecError, match="Expected counts as written by Counts.to_dict"):
        Counts.from_json("[]")


def test_more_people_than_can_be_counted_are_refused():
    text = Counts(OUE(Integers(0, 5), 1)).to_json().replace('"people": 0', f'"people": {10**400}')
    with pytest.raises(InputError, match="Expected people as a whole number from 0 to 2\\^53"):
        Counts.from_json(text)


def test_counts_of_flat_categories_hold_supports_and_people():
    mechanism = OUE(Integers(0, 5), 1)
    reports = reports_of(mechanism, np.array([0, 1, 2] * 100))
    counts = Counts(mechanism).add(reports[:100]).merge(Counts(mechanism).add(reports[100:]))
    assert counts.n == 300
    np.testing.assert_array_equal(counts.values, mechanism.count(reports))
    assert Counts.from_json(counts.to_json()) == counts


# Reports.


@pytest.mark.parametrize(
    "container", [list, tuple, np.array, pd.Series, lambda x: pl.Series(list(x)), lambda x: pa.array(list(x))]
)
def test_reports_come_in_any_container(container):
    reports = reports_of(PADDED, [30] * 100)
    assert estimate(PADDED, container(reports)).mean == estimate(PADDED, reports).mean
    places = Points([[0, 0], [0, 1], [1, 1]], labels=["a", "b", "c"])
    named = GRR(places, 2)
    labels = named.privatize(["a"] * 100, rng=insecure_seed(1))
    assert estimate(named, container(labels)).shares == pytest.approx(estimate(named, labels).shares)


def test_reports_of_intervals_survive_files_and_narrow_types():
    mechanism = BRR(Interval(0, 1, points=61), 1, edges="padded")
    reports = reports_of(mechanism, np.linspace(0, 1, 500))
    exact = estimate(mechanism, reports).shares
    through_text = [float(f"{report:.12g}") for report in reports]
    np.testing.assert_array_equal(estimate(mechanism, through_text).shares, exact)
    np.testing.assert_array_equal(estimate(mechanism, reports.astype(np.float32)).shares, exact)
    whole = estimate(PADDED, np.array(reports_of(PADDED, [30] * 100), dtype=float))
    assert whole.nobs == 100


@pytest.mark.parametrize(
    ("mechanism", "reports"),
    [
        (PADDED, [30, 200]),
        (PADDED, [30.5]),
        (PADDED, np.array([30, np.nan])),
        (PADDED, np.array([2**63], dtype=np.uint64)),
        (BRR(AGES, 1), [17]),
        (BRR(Interval(0, 1, points=11), 1), [0.123]),
        (BRR(Interval(0, 1, points=11), 1), [np.inf, 0.1]),
        (Anchored(AGES, 1), [18]),
        (Duchi(Interval(0, 1, points=5), 1), [0.5]),
        (GRR(Points([[0, 0], [1, 1]]), 1), [2]),
        (GRR(Points([[0, 0], [1, 1]], labels=["a", "b"]), 1), ["c"]),
    ],
)
def test_reports_that_the_mechanism_does_not_give_are_refused(mechanism, reports):
    with pytest.raises(OutsideDomainError, match="cannot have come from .*; pass reports as they came, unclipped"):
        estimate(mechanism, reports)


def test_missing_reports_are_refused_or_dropped():
    with pytest.raises(NullError, match="1 of 3 values are missing.*nulls='drop'"):
        estimate(PADDED, [30, None, 40])
    assert estimate(PADDED, [30, None, 40], nulls="drop").nobs == 2
    assert estimate(PADDED, np.array([30.0, np.nan]), nulls="drop").nobs == 1
    with pytest.raises(InputError, match="Expected nulls='error' or 'drop'"):
        estimate(PADDED, [30], nulls="keep")
    with pytest.raises(InputError, match="would pair weights and groups with the wrong reports"):
        estimate(PADDED, [30, None], nulls="drop", weights=[1, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Expected either reports or counts="),
        ({"reports": [30], "counts": [1]}, "Expected either reports or counts="),
        ({"reports": []}, "There are no reports"),
        ({"reports": 30}, r"Expected reports as a list, an array or a column, got int; pass \[report\]"),
        ({"counts": np.zeros(99, dtype=int)}, "There are no reports"),
        ({"counts": [1, 2, 3]}, "Expected counts as 99 whole numbers"),
        ({"counts": np.ones(99, dtype=int), "by": ["a"]}, "weights= and by= need the reports themselves"),
        ({"reports": [30, 31], "weights": [1]}, "Expected weights as 2 finite numbers"),
        ({"reports": [30, 31], "weights": [1, -1]}, "of at least 0, one per report and not all 0, got 1 others;"),
        ({"reports": [30, 31], "weights": [0, 0]}, "not all 0, got only zeros;"),
        ({"reports": [30, 31], "by": ["a"]}, "Expected by as 2 labels"),
        ({"reports": [30], "method": "best"}, "Expected method as one of 'auto', 'inverse'"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        estimate(PADDED, **arguments)


def test_counts_of_another_spec_are_refused():
    other = Counts(BRR(AGES, 2, edges="padded")).add([30])
    with pytest.raises(SpecError, match="The counts are of BRR.*pass the mechanism or spec that the reports were made"):
        estimate(PADDED, counts=other)
    with pytest.raises(InputError, match="Expected a mechanism, got int"):
        estimate(3, [30])


def test_methods_that_do_not_fit_are_refused_with_what_to_use_instead():
    clamped = BRR(AGES, 1)
    with pytest.raises(InputError, match="rank 47 of 73.*use method='smooth' or 'em'.*edges='padded'"):
        estimate(clamped, [30], method="inverse")
    items = Items(["a", "b", "c"], loss=1 - np.eye(3))
    with pytest.raises(InputError, match="collect with GRR"):
        estimate(Anchored(items, 0.1, anchors=["a", "b"]), ["a"], method="projected")
    with pytest.raises(InputError, match="'smooth' smooths over neighbours, and points and items have no order"):
        estimate(GRR(items, 1), ["a"], method="smooth")


def test_answers_that_do_not_exist_are_refused():
    items = Items(["a", "b", "c"], loss=1 - np.eye(3))
    named = estimate(GRR(items, 1), ["a", "b"])
    for ask in (lambda: named.mean, lambda: named.median, lambda: named.cdf("a"), named.ask):
        with pytest.raises(InputError, match="are not numbers; use est.shares"):
            ask()
    found = estimate(PADDED, [30, 40])
    for of in ("mode", ("share", 3), None, b"mean", {"mean": 1}, [1, 2, 3], ["a"] * 73, np.full(73, np.nan)):
        with pytest.raises(InputError, match="Expected 'mean', 'std', 'variance', 'median'"):
            found.ask(of).ci()
    for confidence in (0, 1, 95, "high", True):
        with pytest.raises(InputError, match="Expected confidence between 0 and 1"):
            found.ask().ci(confidence)
    for q in (0, 1, "half", True):
        with pytest.raises(InputError, match="Expected a quantile between 0 and 1"):
            found.quantile(q)
    assert math.isnan(found.ask("median").se)
    for count in (0, -3, 2.5, True, "ten"):
        with pytest.raises(InputError, match="Expected bins as a number of ranges of at least 1"):
            found.to_frame(bins=count)
    with pytest.raises(InputError, match="first value of a range before its last"):
        found.ask(("range", 40, 30)).ci()
    with pytest.raises(OutsideDomainError):
        found.ask(("bin", 17)).ci()


def test_large_mechanisms_without_structure_have_answers_by_likelihood(monkeypatch):
    monkeypatch.setattr(importlib.import_module("bipartite.answers.estimation.output_scores"), "MOST_DENSE", 100)
    mechanism = Exponential(Integers(0, 100), 8)
    reports = reports_of(mechanism, np.arange(101))
    found = estimate(mechanism, reports)
    assert found.identifiable is None and found.method == "em" and "too many values" in found.summary()
    assert found.shares.sum() == pytest.approx(1) and np.isnan(found.to_frame()["se"].to_numpy()).all()
    low, high = found.ask(("cdf", 50)).ci()
    assert low <= found.cdf(50) <= high and low <= 0.5 <= high
    with pytest.raises(DesignError, match="at most 100 values.*use method='em'"):
        estimate(mechanism, reports, method="smooth")


@pytest.mark.slow
def test_smoothed_shares_of_many_values_have_intervals_of_answers_but_not_of_each():
    mechanism = SquareWave(Integers(0, 2999), 2)
    found = estimate(mechanism, reports_of(mechanism, np.arange(3000).repeat(5)))
    assert found.method == "smooth" and np.isnan(found.to_frame()["se"].to_numpy()).all()
    low, high = found.ask().ci()
    assert low < 1499.5 < high
    low, high = found.ask("median").ci()
    assert low <= 1499 <= high and low <= found.median <= high


def test_frames_without_pandas_name_what_to_do(monkeypatch):
    import sys

    from bipartite.errors import MissingExtraError

    found = estimate(PADDED, [30, 40])
    grouped = estimate(PADDED, [30, 40], by=["a", "b"])
    monkeypatch.setitem(sys.modules, "pandas", None)
    for each in (found, grouped):
        with pytest.raises(MissingExtraError, match="needs pandas, which is not installed"):
            each.to_frame()


def test_an_interval_that_is_all_impossible_does_not_read_as_certainty():
    from bipartite.answers.estimation.intervals import within

    low, high = within(np.array([-3.0, 0.2, 1.5, -1.0]), np.array([-1.0, 0.4, 1.9, 2.0]), 0.3, (0.0, 1.0))
    np.testing.assert_allclose(low, [-3.0, 0.2, 1.5, 0.0])
    np.testing.assert_allclose(high, [-1.0, 0.4, 1.9, 1.0])
    # 8.4 % of all reports would be this one if nobody held it: an unlucky share below zero, or no report at all.
    mechanism = GRR(Integers(0, 9), 1)
    counts = np.full(10, 1000)
    counts[5] = 300
    forged = estimate(mechanism, counts=counts, method="inverse").ask(("bin", 5)).ci()
    assert forged.high < 0 and "these reports cannot have come from this mechanism" in forged.note
    counts[5] = 700
    found = estimate(mechanism, counts=counts, method="inverse")
    interval = found.ask(("bin", 5)).ci()
    assert interval.high < 0 and "the sample is an unlucky one" in interval.note
    low, high = found.to_frame()[["low", "high"]].to_numpy().T
    assert (low[5], high[5]) == pytest.approx(tuple(interval)) and (low[:5] >= 0).all()


def test_shares_of_ranges_lie_in_their_intervals_to_the_last_bit():
    mechanism = GRR(Integers(18, 90), 2)  # unbiased, and every other empty range lies below zero
    for seed in range(5):
        reports = mechanism.privatize([30] * 12_000 + [62] * 8000, rng=insecure_seed(seed))
        parts = estimate(mechanism, reports).to_frame(bins=10)
        assert (parts["low"] <= parts["share"]).all() and (parts["share"] <= parts["high"]).all()


def test_an_answer_that_chance_moved_beyond_what_is_possible_says_so():
    counts = np.full(10, 1000)
    counts[5] = 820
    share = estimate(GRR(Integers(0, 9), 1), counts=counts, method="inverse").ask(("bin", 5)).ci()
    assert share.low < 0 < share.high and "chance has moved it beyond the possible range" in share.note
    gains = BRR(Integers(0, 19), 1, edges="padded")
    for seed in range(1, 6):  # nobody gains anything, and every other estimate of that is negative
        found = estimate(gains, gains.privatize([0] * 200, rng=insecure_seed(seed)), method="inverse")
        moved = "chance has moved it beyond the possible range" in found.ask().ci().note
        assert moved == (found.mean < 0) and moved == ("chance has moved it" in found.summary())


@given(st.integers(0, 2**32), st.sampled_from(["inverse", "projected"]), st.sampled_from([0.05, 0.3, 0.5, 0.9]))
def test_a_quantile_of_unbiased_shares_lies_in_its_own_interval(seed, method, q):
    mechanism = BRR(Integers(0, 39), 1, edges="padded")
    law = np.random.default_rng(seed).dirichlet(np.ones(40)) @ mechanism.matrix()
    counts = np.random.default_rng(seed).multinomial(5000, law)
    found = estimate(mechanism, counts=counts, method=method)
    low, high = found.ask(("quantile", q)).ci()
    assert low <= found.quantile(q) <= high


def test_quantiles_between_tested_rows_are_read_in_proportion():
    mechanism = SquareWave(Integers(0, 1999), 4)
    found = estimate(mechanism, counts=np.round(1e9 * mechanism.matrix().mean(axis=0)).astype(int), method="inverse")
    for q in (0.1, 0.5, 0.77):
        assert found.quantile(q) == pytest.approx(2000 * q, abs=3)
    assert found.quantile(1e-6) == 0
    assert found.quantile(1 - 1e-9) >= 1995


def test_counts_say_whether_reports_were_drawn_from_known_words():
    mech = GRR(Integers(1, 3), epsilon=1)

    def marked(insecure):
        counts = Counts(mech).add([1, 2])
        counts.insecure = insecure
        return counts

    assert "insecure" not in marked(None).to_dict()
    for mark in (None, False, True):
        assert Counts.from_json(marked(mark).to_json()).insecure is mark
        assert Counts(mech).merge(marked(mark)).insecure is mark
        assert marked(True).merge(marked(mark)).insecure is True
        assert marked(mark).merge(marked(True)).insecure is True
    assert marked(False).merge(marked(False)).insecure is False
    assert marked(False).merge(marked(None)).insecure is None
    # More reports, of which nothing is said.
    assert marked(False).add([3]).insecure is None and marked(True).add([3]).insecure is True
    assert marked(True) != marked(None)
    with pytest.raises(SpecError, match="ask for it again"):
        Counts.from_dict(marked(None).to_dict() | {"insecure": "no"})


@pytest.mark.parametrize("method", ["inverse", "projected", "em", "smooth"])
def test_all_people_are_up_to_the_last_value_whatever_rounding_says(method):
    for size in (3, 10, 40, 100):
        mech = BRR(Integers(1, size), 1, edges="padded")
        found = estimate(mech, mech.privatize([size] * 70 + [1] * 50, rng=insecure_seed(size)), method=method)
        assert found.cdf(size) == 1 and found.ask(("cdf", size)).ci() == (1, 1)
        assert found.to_frame(bins=1)["share"].tolist() == [1]

"""Post-stratification, against formulas written here; figures of R's survey package are in test_raking.py."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import bipartite as bp
from bipartite.errors import InputError

LINE = bp.Integers(0, 9)
MECH = bp.BRR(LINE, 2, edges="padded")
TOTALS = {"young": 2_000_000, "old": 1_000_000, "very old": 500_000}
SHARES = np.array([4, 2, 1]) / 7


def groups(sizes=(900, 250, 60), mech=MECH, seed=1, weights=None):
    values = np.concatenate([np.full(n, at) for n, at in zip(sizes, (2, 5, 8), strict=True)])
    labels = np.repeat([*TOTALS], sizes)
    reports = mech.privatize(values, rng=bp.insecure_seed(seed))
    return bp.estimate(mech, reports, by=labels, weights=weights), reports, labels


@pytest.mark.parametrize("mech", [MECH, bp.GRR(LINE, 2), bp.OUE(LINE, 2)], ids=repr)
def test_the_mean_and_its_error_are_those_of_independent_groups(mech):
    ests, reports, labels = groups(mech=mech)
    found = bp.surveys.poststratify(ests, TOTALS)
    scores = [bp.scores(mech, reports)[labels == label] for label in TOTALS]
    assert found.value == pytest.approx(SHARES @ [u.mean() for u in scores], rel=1e-12)
    variance = SHARES**2 @ [u.var(ddof=1) / len(u) for u in scores]  # Holt and Smith
    assert found.se == pytest.approx(math.sqrt(variance), rel=1e-9)
    assert found.note == "post-stratified by 3 groups, each assumed to be like those of it who report"
    assert bp.surveys.poststratify(ests, pd.Series(TOTALS) / 3_500_000).value == pytest.approx(found.value, rel=1e-12)


@pytest.mark.parametrize("mech", [MECH, bp.GRR(LINE, 4)], ids=repr)
def test_the_interval_is_that_of_random_weights_on_what_groups_leave_unexplained(mech):
    ests, reports, labels = groups((90, 40, 9), mech)
    found, u = bp.surveys.poststratify(ests, TOTALS), bp.scores(mech, reports)
    every = bp.scores(mech, mech.outputs.to_numpy())
    means, sizes = (np.array([f(u[labels == label]) for label in TOTALS]) for f in (np.mean, len))
    group = np.repeat([0, 1, 2], sizes)
    weight, square = (SHARES / sizes)[group], (SHARES**2 / sizes / (sizes - 1))[group]
    rng = np.random.default_rng(1)
    for sign in (1, -1):
        apart = sign * (u - means[group])
        top = (sign * every).max() - (sign * means).min()  # the largest that any report could have, and its weight:
        unit = square.sum() / weight.sum()
        drawn = [rng.gamma(w**2 / v, v / w, 20_000) for w, v in zip(weight, square, strict=True)]
        drawn.append(rng.gamma(1, unit, 20_000))
        averages = (np.append(apart, top) @ np.array(drawn)) / np.sum(drawn, axis=0)
        for confidence in (0.8, 0.95):
            end = found.value + sign * np.quantile(averages, (1 + confidence) / 2)
            # A quantile of so many is known to 0.02 standard errors; the saddlepoint is off by less than that.
            assert found.uncut(confidence)[sign > 0] == pytest.approx(end, abs=0.1 * found.se)


def test_totals_the_sample_has_change_nothing_and_others_mend_it():
    ests, reports, _ = groups((9000, 2500, 600))
    same = bp.surveys.poststratify(ests, {"young": 9000, "old": 2500, "very old": 600})
    assert same.value == pytest.approx(bp.estimate(MECH, reports).mean, rel=1e-12)
    assert same.se < 0.97 * bp.estimate(MECH, reports).ask("mean").se  # what groups explain is no error
    low, high = bp.surveys.poststratify(ests, TOTALS).ci(0.999)
    assert low < SHARES @ [2, 5, 8] < high
    assert not low < same.value < high


@pytest.mark.parametrize("of", [("range", 4, 9), ("cdf", 3), ("bin", 5), np.arange(10) ** 2])
def test_shares_and_weights_are_unbiased(of):
    truth = {("range", 4, 9): 3 / 7, ("cdf", 3): 4 / 7, ("bin", 5): 2 / 7}.get(of if isinstance(of, tuple) else "")
    truth = SHARES @ [4, 25, 64] if truth is None else truth
    found = [bp.surveys.poststratify(groups(seed=seed)[0], TOTALS, of) for seed in range(60)]
    # Four standard errors: a false alarm once in 16,000 questions.
    off = np.mean([each.value for each in found]) - truth
    assert abs(off) < 4 * np.std([each.value for each in found], ddof=1) / math.sqrt(60)
    assert np.mean([each.se for each in found]) == pytest.approx(np.std([each.value for each in found]), rel=0.35)
    assert all(each.ci().low <= each.value <= each.ci().high for each in found)


def test_a_group_with_one_report_is_refused_and_one_with_two_has_a_wide_interval():
    with pytest.raises(InputError, match="There is a single report from 'very old', and its error cannot be estimated"):
        bp.surveys.poststratify(groups((900, 250, 1))[0], TOTALS)
    two, many = (bp.surveys.poststratify(groups((900, 250, n))[0], TOTALS) for n in (2, 200))
    assert two.ci().low < SHARES @ [2, 5, 8] < two.ci().high
    assert two.ci().high - two.ci().low > 2 * (many.ci().high - many.ci().low)
    with pytest.raises(InputError, match="No bound is known on what forged reports can do"):
        two.forged(1)


def test_intervals_hold_rare_values_where_normal_ones_do_not():
    # 300 trials of 95 %: fewer than 269 hold with a probability of 3e-4 if 95 % do.
    assert binom.cdf(268, 300, 0.95) < 3e-4
    mech, rng, held = bp.GRR(bp.Integers(0, 1), 9), np.random.default_rng(3), np.zeros(2)
    likely = np.array([0.98, 0.02]) @ mech.matrix()[:, 1]
    for _ in range(300):
        ests = bp.estimate(mech, (rng.random(300) < likely).astype(int), by=np.repeat([*"abcd"], [200, 60, 30, 10]))
        found = bp.surveys.poststratify(ests, dict.fromkeys("abcd", 1), ("bin", 1))
        held += [found.ci().low <= 0.02 <= found.ci().high, abs(found.value - 0.02) <= 1.96 * found.se]
    assert held[0] > 268
    assert held[1] < 240


def test_reports_may_have_weights():
    weights = np.random.default_rng(1).uniform(0.5, 2, 1210)
    ests, reports, labels = groups(weights=weights)
    u = bp.scores(MECH, reports)
    means = [np.average(u[labels == label], weights=weights[labels == label]) for label in TOTALS]
    assert bp.surveys.poststratify(ests, TOTALS).value == pytest.approx(SHARES @ means, rel=1e-12)


@pytest.mark.parametrize(
    ("totals", "of", "message"),
    [
        (TOTALS | {"ancient": 5}, "mean", "There are no reports from 'ancient', so nothing is known about them; merge"),
        ({"young": 1, "old": 1}, "mean", "There are reports but no totals of 'very old'; add totals, or leave"),
        (TOTALS | {"old": 0}, "mean", "Expected totals as a mapping from labels to positive public counts or shares"),
        (TOTALS | {"old": math.nan}, "mean", "Expected totals as a mapping from labels to positive public counts"),
        ([1, 2, 3], "mean", "Expected totals as a mapping from labels to positive public counts or shares"),
        (TOTALS, "median", "got 'median'; for others pass bp.surveys.raking_weights"),
        (TOTALS, "std", "whose errors do not know the totals"),
        (TOTALS, "average", "Expected 'mean', 'std', 'variance'"),
    ],
)
def test_what_cannot_be_post_stratified_is_refused(totals, of, message):
    with pytest.raises(InputError) as error:
        bp.surveys.poststratify(groups()[0], totals, of)
    assert message in str(error.value)


def test_attributes_of_the_same_people_are_no_groups():
    mech = bp.BRR(LINE, 2, edges="padded")
    record = bp.Record({"work": mech, "sleep": mech})
    reports = record.privatize({"work": [1, 2, 3] * 9, "sleep": [7, 8, 9] * 9}, rng=bp.insecure_seed(1))
    with pytest.raises(InputError, match="Expected groups of different people, got attributes of the same ones"):
        bp.surveys.poststratify(bp.estimate(record, reports), {"work": 1, "sleep": 1})


def test_other_things_than_groups_are_refused():
    est = groups()[0]["young"]
    with pytest.raises(InputError, match=r"Expected estimates of at least 1 group, .*by=…\), got Estimate"):
        bp.surveys.poststratify(est, TOTALS)
    record = bp.Record({"young": bp.GRR(LINE, 1), "old": bp.GRR(LINE, 1)})
    answers = bp.estimate(record, record.privatize({"young": [1, 2], "old": [3, 4]}, rng=bp.insecure_seed(1)))
    with pytest.raises(InputError, match="groups of different people, got attributes of the same ones"):
        bp.surveys.poststratify(answers, {"young": 1, "old": 1})
    other = bp.estimate(bp.GRR(bp.Integers(0, 3), 1), [0, 1, 2, 3])
    with pytest.raises(
        InputError, match=r"Expected estimates on one domain, got Integers\(0, 9\) and Integers\(0, 3\)"
    ):
        bp.surveys.poststratify({"young": est, "old": other}, {"young": 1, "old": 1})
    oue = bp.OUE(LINE, 2)
    counted = bp.Counts(oue).add(oue.privatize([1] * 9, rng=bp.insecure_seed(1)))
    with pytest.raises(
        InputError, match="The counts of 'young' do not tell the score of each report; pass the reports"
    ):
        bp.surveys.poststratify({"young": bp.estimate(oue, counts=counted)}, {"young": 1})
    clamped = bp.estimate(bp.BRR(LINE, 1), list(range(10)), by=["young", "old"] * 5)
    with pytest.raises(
        InputError, match=r"The reports of 'young' cannot tell this; collect with edges='padded' or GRR"
    ):
        bp.surveys.poststratify(clamped, {"young": 1, "old": 1})

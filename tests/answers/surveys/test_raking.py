"""Raking, against what R's survey package published, and against derivatives and formulas written here.

``apiclus1.csv`` and ``apistrat.csv`` hold some columns of two samples of Californian schools (Academic Performance
Index, California Department of Education) that come with R's package survey, as stored in ``assets`` of xKDR/Survey.jl.
What R prints about them is in that package: ``tests/rakecheck.Rout.save``, ``tests/testoutput/api.Rout.saved`` and, for
the example of Kalton and Flores-Cervantes (Journal of Official Statistics 2003), ``tests/kalton.Rout.save``. Its errors
come from a regression that gives everybody the same weight, ours from one with the weights that were found.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom

import bipartite as bp
from bipartite.answers.surveys.raking import Raking
from bipartite.errors import InputError

TYPES = {"E": 4421, "H": 755, "M": 1018}
WIDE = {"No": 1072, "Yes": 5122}
LINE = bp.Integers(0, 9)
MECH = bp.BRR(LINE, 2, edges="padded")


def table(name):
    with (Path(__file__).parent / f"{name}.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {key: [row[key] for row in rows] for key in rows[0]}


def published_error(raking, values, clusters, sampled_of):
    """R's standard error of a total: linearised values summed by cluster, with its finite population correction."""
    left, _ = raking.residuals(values, np.ones(len(values)))
    sums = np.array([(raking.weights * left)[clusters == each].sum() for each in np.unique(clusters)])
    k = len(sums)
    return math.sqrt((1 - k / sampled_of) * k * sums.var(ddof=1))


SCHOOLS = table("apiclus1")
BOTH = [f"{a}{b}" for a, b in zip(SCHOOLS["stype"], SCHOOLS["sch.wide"], strict=True)]
JOINT = {"ENo": 472, "EYes": 3949, "HNo": 334, "HYes": 421, "MNo": 266, "MYes": 752}  # xtabs(~stype+sch.wide, apipop)


@pytest.mark.parametrize(
    ("columns", "totals", "mean", "error", "total", "total_error"),
    [
        ({"stype": SCHOOLS["stype"]}, {"stype": TYPES}, 642.31, 23.921, 3680893, 406293),
        (
            {"stype": SCHOOLS["stype"], "sch.wide": SCHOOLS["sch.wide"]},
            {"stype": TYPES, "sch.wide": WIDE},
            *(641.23, 23.704, 3647280, 400603),
        ),
        (
            {"both": BOTH, "comp.imp": SCHOOLS["comp.imp"]},
            {"both": JOINT, "comp.imp": {"No": 1712, "Yes": 4482}},
            *(642.61, 22.731, None, None),
        ),
    ],
    ids=["postStratify(~stype)", "rake(~stype, ~sch.wide)", "rake(~stype+sch.wide, ~comp.imp)"],
)
def test_what_r_published_about_schools(columns, totals, mean, error, total, total_error):
    raking, districts = Raking.of(columns, totals), np.array(SCHOOLS["dnum"])
    points, pupils = (np.array(SCHOOLS[name], float) for name in ("api00", "enroll"))
    w = raking.weights
    assert w.sum() == pytest.approx(6194)
    assert w @ points / 6194 == pytest.approx(mean, abs=0.0051)
    assert published_error(raking, points, districts, 757) / 6194 == pytest.approx(error, abs=0.00055)
    if total is not None:
        assert w @ pupils == pytest.approx(total, abs=0.51)
        assert published_error(raking, pupils, districts, 757) == pytest.approx(total_error, abs=0.51)


def test_what_r_published_about_a_stratified_sample():
    # svymean(~api00, dstrat): every school of a type has the same weight, so leverages make n − 1 of n.
    schools = table("apistrat")
    raking, points = Raking.of({"stype": schools["stype"]}, {"stype": TYPES}), np.array(schools["api00"], float)
    assert raking.weights @ points / 6194 == pytest.approx(662.29, abs=0.0051)
    left, leverage = raking.residuals(points, raking.weights)
    drawn = np.array([{"E": 100 / 4421, "H": 50 / 755, "M": 50 / 1018}[each] for each in schools["stype"]])
    parts = (raking.weights * left) ** 2 / (1 - leverage) / 6194**2
    assert math.sqrt(parts @ (1 - drawn)) == pytest.approx(9.4089, abs=0.000051)
    variance, _ = raking.left_over(points, (np.zeros(1), np.full(1, 1000.0)))
    assert variance == pytest.approx(parts.sum(), rel=1e-12)


def test_what_kalton_and_flores_cervantes_published():
    sample, people = [20, 50, 100, 30, 40, 140, 50, 100, 40, 310, 50, 70], [80, 60, 170, 55, 40, 150, 60, 165, 55, 340]
    people += [200, 125]
    a, b = np.tile([1, 2, 3, 4], 3), np.repeat([1, 2, 3], 4)
    columns = {"a": np.repeat(a, sample), "b": np.repeat(b, sample)}
    totals = {
        "a": {k: int(np.array(people)[a == k].sum()) for k in (1, 2, 3, 4)},
        "b": {k: int(np.array(people)[b == k].sum()) for k in (1, 2, 3)},
    }
    first = np.cumsum([0, *sample[:-1]])
    found = bp.surveys.raking_weights(columns, totals)[first]
    published = [1.81, 1.08, 2.20, 1.83, 1.45, 0.87, 1.76, 1.47, 2.02, 1.21, 2.45, 2.04]
    np.testing.assert_allclose(found, published, atol=0.0051)
    cells = np.repeat(np.arange(12), sample)
    found = bp.surveys.raking_weights({"cell": cells}, {"cell": dict(enumerate(people))})[first]
    np.testing.assert_allclose(found, [4, 1.2, 1.7, 1.83, 1, 1.07, 1.2, 1.65, 1.375, 1.1, 4, 1.79], atol=0.0051)


def people_of(n, seed):
    """Made-up people whose columns say something about their values and about whether they report."""
    rng = np.random.default_rng(seed)
    sex, region = rng.random(n) < 0.5, rng.integers(0, 3, n)
    values = np.clip(rng.normal(3 + 2 * sex + region, 1.5).round(), 0, 9).astype(int)
    there = rng.random(n) < np.where(sex, 0.8, 0.35) * np.array([0.3, 0.6, 1])[region]
    columns = {"sex": np.where(sex, "m", "f")[there], "region": np.array(["n", "e", "s"])[region[there]]}
    return values, values[there], columns


TOTALS = {"sex": {"f": 0.5, "m": 0.5}, "region": {"n": 1 / 3, "e": 1 / 3, "s": 1 / 3}}


REGIONS = (("region", "e"), ("region", "s"))


def test_residuals_are_what_a_change_of_one_starting_weight_does():
    # The derivative of a raked mean by the logarithm of one starting weight is w·e / Σ w: what linearisation claims.
    _, values, columns = people_of(120, 1)
    start = np.random.default_rng(2).uniform(0.5, 3, len(values))
    raking, y = Raking.of(columns, TOTALS, start), values.astype(float)
    left, leverage = raking.residuals(y, raking.weights)
    for at in range(0, len(y), 7):
        means = []
        for step in (1e-4, -1e-4):
            moved = start.copy()
            moved[at] *= math.exp(step)
            w = bp.surveys.raking_weights(columns, TOTALS, moved)
            means.append(w @ y / w.sum())
        assert (means[0] - means[1]) / 2e-4 == pytest.approx(raking.weights[at] * left[at], rel=1e-4, abs=1e-9)
    # A fit that is linear in the values: leverages are its diagonal.
    units = [y[7] - raking.residuals(y, raking.weights)[0][7], y[7] + 1 - raking.residuals(
        y + (np.arange(len(y)) == 7), raking.weights)[0][7]]  # fmt: skip
    assert units[1] - units[0] == pytest.approx(leverage[7], rel=1e-9)


def test_totals_are_met_and_weights_are_starting_ones_times_a_factor_per_label():
    _, _, columns = people_of(400, 3)
    start = np.random.default_rng(4).uniform(0.5, 3, len(columns["sex"]))
    counts = {name: {label: 3000 * share for label, share in each.items()} for name, each in TOTALS.items()}
    w = bp.surveys.raking_weights(columns, counts, start)
    for name, each in counts.items():
        for label, total in each.items():
            assert w[columns[name] == label].sum() == pytest.approx(total, rel=1e-11)
    ratio = {(s, r): (w / start)[(columns["sex"] == s) & (columns["region"] == r)] for s in "fm" for r in "nes"}
    assert all(np.ptp(each) < 1e-9 * each[0] for each in ratio.values())
    for region in "es":
        assert ratio["f", region][0] / ratio["m", region][0] == pytest.approx(ratio["f", "n"][0] / ratio["m", "n"][0])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_may_be_those_of_a_frame(frame):
    _, _, columns = people_of(400, 3)
    given = frame(columns | {"name": np.arange(len(columns["sex"]))})
    found = bp.surveys.raking_weights(given, TOTALS)
    np.testing.assert_array_equal(found, bp.surveys.raking_weights(columns, TOTALS))
    ages = {"age": {1: 0.5, 2: 0.5}}
    with pytest.raises(InputError, match="got columns 'sex', 'region' and totals of 'sex', 'region', 'age'"):
        bp.surveys.raking_weights(given, TOTALS | ages)
    with pytest.raises(InputError, match="There is no total for 2 in 'age'"):
        bp.surveys.raking_weights({"age": pd.Series([1, 2]).to_numpy()}, {"age": {1: 0.5, "2": 0.5}})


@pytest.mark.parametrize(
    "mech", [MECH, bp.GRR(LINE, 2), bp.OUE(LINE, 2), bp.Piecewise(bp.Interval(0, 9, points=10), 2)], ids=repr
)
@pytest.mark.parametrize("of", ["mean", np.arange(10) ** 2 / 10])
def test_one_column_is_post_stratification(mech, of):
    _, values, columns = people_of(4000, 5)
    reports = mech.privatize(values, rng=bp.insecure_seed(6))
    ests = bp.estimate(mech, reports, by=columns["region"])
    strata = bp.surveys.poststratify(ests, TOTALS["region"], of)
    raked = bp.surveys.rake(mech, reports, {"region": columns["region"]}, {"region": TOTALS["region"]}, of)
    assert raked.value == pytest.approx(strata.value, rel=1e-12)
    assert raked.se == pytest.approx(strata.se, rel=1e-9)
    np.testing.assert_allclose(raked.ci(), strata.ci(), atol=2e-3 * strata.se)  # scores in bins


def test_the_value_is_the_weighted_average_of_scores_and_the_error_knows_the_totals():
    _, values, columns = people_of(4000, 7)
    reports = MECH.privatize(values, rng=bp.insecure_seed(8))
    w, u = bp.surveys.raking_weights(columns, TOTALS), bp.scores(MECH, reports)
    found, known = bp.surveys.rake(MECH, reports, columns, TOTALS), bp.estimate(MECH, reports, weights=w).ask("mean")
    assert found.value == pytest.approx(w @ u / w.sum(), rel=1e-12)
    assert found.value == pytest.approx(known.value, rel=1e-12)
    assert 0.85 * known.se < found.se < 0.98 * known.se
    rows = np.column_stack([np.ones(len(u)), *(columns[name] == label for name, label in (("sex", "m"), *REGIONS))])
    root = np.sqrt(w)[:, None]
    q = np.linalg.qr(rows * root)[0]
    left = u - (q @ (q.T @ (u[:, None] * root)) / root)[:, 0]
    variance = np.sum((w * left) ** 2 / (1 - (q**2).sum(axis=1))) / w.sum() ** 2
    assert found.se == pytest.approx(math.sqrt(variance), rel=1e-9)
    np.testing.assert_allclose(found.ci(), [found.value - 1.96 * found.se, found.value + 1.96 * found.se], atol=0.02)
    assert found.ci(0.8)[0] > found.ci(0.95)[0]
    assert found.forged(5) == known.forged(5)
    assert "raked to sex, region in" in found.note
    share = bp.surveys.rake(MECH, reports, columns, TOTALS, ("range", 5, 9))
    scores = bp.scores(MECH, reports, ("range", 5, 9))
    assert share.value == pytest.approx(w @ scores / w.sum(), rel=1e-12)
    rest = bp.surveys.rake(MECH, reports, columns, TOTALS, ("range", 0, 4))
    assert (rest.value, rest.se) == pytest.approx((1 - share.value, share.se), rel=1e-9)


def test_raked_intervals_hold_the_truth_where_those_of_the_reports_do_not():
    # 250 trials of 95 %: fewer than 223 hold with a probability of 2e-4 if 95 % do.
    assert binom.cdf(222, 250, 0.95) < 2e-4
    truth = float(people_of(10**6, 0)[0].mean())
    held = np.zeros(2, int)
    for seed in range(250):
        _, values, columns = people_of(500, [9, seed])
        reports = MECH.privatize(values, rng=bp.insecure_seed(seed))
        answers = bp.surveys.rake(MECH, reports, columns, TOTALS), bp.estimate(MECH, reports).ask("mean")
        held += [low <= truth <= high for low, high in (answer.ci() for answer in answers)]
    assert held[0] > 222
    assert held[1] < 180


COLUMNS = {"sex": ["f", "m", "f", "m"] * 3, "region": ["n", "n", "s", "s"] * 3}
AIMS = {"sex": {"f": 0.5, "m": 0.5}, "region": {"n": 0.4, "s": 0.6}}


@pytest.mark.parametrize(
    ("columns", "totals", "message"),
    [
        (["f", "m"], AIMS, "Expected columns and totals as mappings with the same names"),
        ({}, {}, "Expected columns and totals as mappings with the same names"),
        ({"sex": COLUMNS["sex"]}, AIMS, "got columns 'sex' and totals of 'sex', 'region'"),
        (COLUMNS, AIMS | {"sex": {"f": 0.5, "m": -1}}, "Expected the totals of 'sex' as a mapping from labels"),
        (COLUMNS, AIMS | {"sex": {"f": 0.5, "m": "x"}}, "Expected the totals of 'sex' as a mapping from labels"),
        (COLUMNS, AIMS | {"sex": {"f": 50, "m": 50}}, "add up to different numbers: 'sex' 100, 'region' 1; give all"),
        (COLUMNS, AIMS | {"sex": {"f": 0.4, "m": 0.4, "x": 0.2}}, "Nobody in the sample has 'x' in 'sex'"),
        (COLUMNS | {"sex": ["f", "m", "x", "m"] * 3}, AIMS, "There is no total for 'x' in 'sex'; add it"),
        (COLUMNS | {"sex": ["f", "m", None, "m"] * 3}, AIMS, "There is no total for None in 'sex'; add it"),
        (COLUMNS | {"sex": ["f", "m"]}, AIMS, "got different lengths: 'sex' 2, 'region' 12"),
        (COLUMNS | {"sex": 3}, AIMS, "Expected a public label per person in 'sex', got int"),
        (COLUMNS | {"sex": [["f"]] * 12}, AIMS, "Expected a public label per person in 'sex', got list"),
        (COLUMNS | {"sex": np.zeros((12, 2))}, AIMS, "Expected a public label per person in 'sex', got ndarray"),
        ({"sex": ["f", "m"], "region": ["n", "s"]}, AIMS, "after 10,000 rounds, 'f' in 'sex' is off by"),
    ],
)
def test_what_cannot_be_raked_is_refused(columns, totals, message):
    with pytest.raises(InputError) as error:
        bp.surveys.raking_weights(columns, totals)
    assert message in str(error.value)


def test_reports_that_cannot_be_raked_are_refused():
    reports = MECH.privatize([1] * 12, rng=bp.insecure_seed(1))
    with pytest.raises(InputError, match="Expected one label per report in each column, 11, got 12"):
        bp.surveys.rake(MECH, reports[:11], COLUMNS, AIMS)
    with pytest.raises(InputError, match=r"got 'median'; for others pass bp.surveys.raking_weights"):
        bp.surveys.rake(MECH, reports, COLUMNS, AIMS, "median")
    alone, few = COLUMNS | {"region": ["n"] * 11 + ["s"]}, AIMS | {"region": {"n": 0.9, "s": 0.1}}
    with pytest.raises(
        InputError, match=r"somebody with sex 'm', region 's', and its error cannot be estimated; merge"
    ):
        bp.surveys.rake(MECH, reports, alone, few)
    with pytest.raises(InputError, match="Expected weights as 12 finite numbers"):
        bp.surveys.rake(MECH, reports, COLUMNS, AIMS, weights=[1] * 3)
    mixed = bp.BRR(LINE, 1)
    with pytest.raises(InputError, match=r"cannot tell this; collect with edges='padded' or GRR"):
        bp.surveys.rake(mixed, [0, 1] * 6, COLUMNS, AIMS)

"""Verdicts are computed: true and false evidence give different ones, and each names what it rests on."""

import pytest

from bipartite.experiments.claims import CLAIMS, Verdict, judge_all
from bipartite.experiments.claims.learning import CLAIMS as LEARNING
from bipartite.experiments.intervals import Interval, t_quantile
from bipartite.experiments.registry import EXPERIMENTS, Entry
from bipartite.experiments.running import Outcome

BY_KEY = {claim.key: claim for claim in CLAIMS}


def verdict(key, **evidence):
    return BY_KEY[key].judge(evidence).verdict


def test_every_claim_has_its_own_key_a_place_and_known_evidence():
    assert len(BY_KEY) == len(CLAIMS)
    known = {entry.name for entry in EXPERIMENTS}
    for claim in CLAIMS:
        assert claim.where and claim.says, claim.key
        assert set(claim.needs) <= known, claim.key


def test_claims_whose_experiment_did_not_run_say_so():
    judged = {each.claim.key: each.judgement for each in judge_all([])}
    assert judged["theorem 3"].verdict == Verdict.NOT_RUN
    assert "bipartite reproduce theorems" in judged["theorem 3"].why
    assert judged["open science"].verdict == Verdict.UNCHECKABLE
    missing = Outcome(Entry("theorems", "", ""), "missing data", "fetch https://example.org")
    judged = {each.claim.key: each.judgement for each in judge_all([missing])}
    assert judged["theorem 3"].why == "fetch https://example.org"


def count(what, **columns):
    return {"what": what, **columns}


@pytest.mark.parametrize(
    ("printed", "corrected", "expected"),
    [(0, 0, Verdict.HOLDS), (3, 0, Verdict.CORRECTED), (3, 1, Verdict.FAILS)],
)
def test_algorithm_3_is_judged_by_its_counts(printed, corrected, expected):
    row = count("algorithm 3", cases=9, printed_differs=printed, corrected_differs=corrected, last=5)
    assert verdict("algorithm 3", theorems=[row]) == expected


@pytest.mark.parametrize(("harms", "expected"), [(7, Verdict.HOLDS), (6, Verdict.FAILS)])
def test_raising_m_must_harm_somebody_every_time(harms, expected):
    row = count("pointwise", raising_harms=harms, raisings=7, average_better=2, cases=3)
    assert verdict("raising m", theorems=[row]) == expected


@pytest.mark.parametrize(("off", "expected"), [(0.0, Verdict.HOLDS), (0.02, Verdict.FAILS)])
def test_a_limit_that_is_not_approached_fails(off, expected):
    rows = [
        count("limits", quantity="global ratio", points=1001, epsilon=1.0, measured=0.732 + off, limit=0.732),
        count("limits", quantity="global ratio", points=1001, epsilon=2.0, measured=0.507, limit=0.507),
    ]
    assert verdict("theorem 3", theorems=rows) == expected


def losses(**of):
    return [
        {"points": points, "epsilon": 1.0, "mechanism": name, "qloss": value, "realised_epsilon": 0.5}
        for name, values in of.items()
        for points, value in zip((20, 100), values, strict=True)
    ]


def test_stability_is_measured_across_n():
    for brr, expected in (
        ((0.25, 0.24), Verdict.HOLDS),
        ((0.25, 0.21), Verdict.CORRECTED),
        ((0.25, 0.1), Verdict.FAILS),
    ):
        rows = losses(BRR=brr, Exponential=(0.3, 0.3), GRR=(0.2, 0.33))
        assert verdict("stable across N", qloss_by_epsilon=rows) == expected


@pytest.mark.parametrize(
    ("falling", "expected"), [(None, Verdict.HOLDS), ("BRR", Verdict.CORRECTED), ("GRR", Verdict.FAILS)]
)
def test_a_utility_that_falls_is_seen(falling, expected):
    rows = [
        {
            "points": 20,
            "epsilon": epsilon,
            "mechanism": name,
            "utility": 0.6 + (-0.01 if name == falling else 0.01) * at,
        }
        for name in ("BRR", "GRR", "Exponential")
        for at, epsilon in enumerate((1.0, 2.0))
    ]
    assert verdict("Jaccard, grows with ε", jaccard=rows) == expected


def test_a_rival_that_is_better_somewhere_is_seen():
    tight = {"Exponential, tight": (0.28, 0.28)}
    rows = losses(BRR=(0.25, 0.25), GRR=(0.3, 0.3), Exponential=(0.31, 0.31), **tight)
    assert verdict("lower than GRR and Exponential", qloss_by_epsilon=rows) == Verdict.HOLDS
    rows = losses(BRR=(0.25, 0.25), GRR=(0.3, 0.2), Exponential=(0.31, 0.31), **tight)
    assert verdict("lower than GRR and Exponential", qloss_by_epsilon=rows) == Verdict.FAILS


def test_silence_that_is_better_corrects_the_state_of_the_art():
    rows = losses(BRR=(0.25, 0.25), **{"always the middle": (0.3, 0.3), "Anchored": (0.2, 0.2)})
    assert verdict("state of the art", qloss_by_epsilon=rows) == Verdict.HOLDS
    rows = losses(BRR=(0.25, 0.25), **{"always the middle": (0.3, 0.2), "Anchored": (0.2, 0.2)})
    assert verdict("state of the art", qloss_by_epsilon=rows) == Verdict.CORRECTED


def test_the_regions_of_gowalla_are_compared_with_the_paper():
    def rows(sizes):
        return [{"dataset": "Gowalla", "places": sum(sizes), "size": size, "bits": 3.0} for size in sizes]

    assert verdict("regions of Gowalla", location_maps=rows([235, *[20] * 11, 7])) == Verdict.HOLDS
    assert verdict("regions of Gowalla", location_maps=rows([235, *[20] * 12, 7])) == Verdict.CORRECTED
    assert verdict("regions of Gowalla", location_maps=rows([100, 7])) == Verdict.FAILS


def boosting(brr, laplace, seeds=5):
    return [
        {"task": task, "mechanism": name, "epsilon": 5.0, "points": 21, "seed": seed, "rmse": value + 0.001 * seed}
        for task in ("bias-slope", "abalone", "superconduct")
        for name, value in (("BRR", brr), ("Laplace", laplace))
        for seed in range(seeds)
    ]


def test_boosting_needs_seeds_and_an_interval():
    key = "boosting at ε = 5"
    paper = {"bias-slope": 0.66, "abalone": 0.45, "superconduct": 0.67}
    rows = boosting(1.0, 1.0)
    for row in rows:
        row["rmse"] *= paper[row["task"]] if row["mechanism"] == "BRR" else 1
    assert verdict(key, gbdt=rows) == Verdict.HOLDS
    assert verdict(key, gbdt=boosting(0.2, 1.0)) == Verdict.CORRECTED
    assert verdict(key, gbdt=boosting(1.2, 1.0)) == Verdict.FAILS
    assert verdict(key, gbdt=boosting(0.2, 1.0, seeds=1)) == Verdict.UNDECIDED
    assert verdict("boosting, consistently better", gbdt=boosting(0.9, 1.0)) == Verdict.HOLDS
    assert verdict("boosting, consistently better", gbdt=boosting(1.1, 1.0)) == Verdict.FAILS


def training(brr, laplace, measure="final", seeds=4):
    return [
        {"network": "paper-cnn", "mechanism": name, "epsilon": epsilon, "measure": measure, "seed": seed,
         "value": value + 0.001 * (seed % 3), "spent": "∞"}
        for name, value in (("paper-brr", brr), ("paper-laplace", laplace))
        for epsilon in (0.3, 0.5, 0.7)
        for seed in range(seeds)
    ]  # fmt: skip


def test_training_is_judged_by_paired_differences():
    assert verdict("SGD, eventually equal", sgd=training(0.9, 0.9)) == Verdict.HOLDS
    assert verdict("SGD, eventually equal", sgd=training(0.7, 0.9)) == Verdict.FAILS
    assert verdict("SGD, +28 %, +21 %, +12 %", sgd=training(0.9, 0.4)) == Verdict.CORRECTED
    assert verdict("SGD, +28 %, +21 %, +12 %", sgd=training(0.4, 0.9)) == Verdict.FAILS
    assert verdict("SGD, +28 %, +21 %, +12 %", sgd=training(0.9, 0.4, seeds=1)) == Verdict.UNDECIDED
    assert verdict("SGD, smoother", sgd=training(0.01, 0.05, "stability")) == Verdict.HOLDS
    assert verdict("SGD, smoother", sgd=training(0.05, 0.01, "stability")) == Verdict.FAILS
    assert verdict("SGD, slower", sgd=training(50, 20, "convergence")) == Verdict.HOLDS
    assert verdict("SGD is private", sgd=training(0.9, 0.9)) == Verdict.FAILS


def networks(brr, laplace, seeds=4):
    return [
        {"dataset": dataset, "mechanism": name, "epsilon": epsilon, "labels": "public", "seed": seed,
         "setting": "paper", "metric": "accuracy", "value": value + 0.001 * (seed % 3)}
        for dataset in ("adult", "bank")
        for name, value in (("brr", brr), ("laplace", laplace))
        for epsilon in (0.25, 3.5)
        for seed in range(seeds)
    ]  # fmt: skip


def test_networks_are_judged_by_paired_differences():
    assert verdict("networks, consistently better", dnn=networks(0.8, 0.7)) == Verdict.HOLDS
    assert verdict("networks, consistently better", dnn=networks(0.7, 0.8)) == Verdict.FAILS
    assert verdict("networks, +3.22 %", dnn=networks(0.8, 0.7)) == Verdict.CORRECTED
    assert verdict("networks, +3.22 %", dnn=networks(0.74, 0.7)) == Verdict.HOLDS
    assert verdict("networks, +3.22 %", dnn=networks(0.7, 0.7)) == Verdict.FAILS
    assert verdict("networks, +3.22 %", dnn=networks(0.8, 0.7, seeds=1)) == Verdict.UNDECIDED


def test_every_claim_about_learning_gives_a_verdict_on_such_rows():
    evidence = {
        "gbdt": boosting(0.5, 1.0),
        "sgd": training(0.9, 0.4) + training(0.1, 0.2, "stability") + training(5, 4, "convergence"),
        "dnn": networks(0.8, 0.7),
        "data_sets": [
            {"dataset": name, "complete_rows": 1, "features": 1, "printed_rows": 1, "printed_features": 1,
             "columns_with_the_scripted_range": "Slope"}
            for name in ("bias", "abalone", "superconduct")
        ],
    }  # fmt: skip
    for claim in LEARNING:
        found = claim.judge(evidence)
        assert found.measured and found.why and found.verdict != Verdict.NOT_RUN, claim.key


def test_intervals_are_those_of_student():
    stats = pytest.importorskip("scipy.stats")
    for freedom in (1, 2, 7, 30, 31, 60, 500):
        assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-3)
    found = Interval.of([1.0, 2.0, 4.0])
    low, high = stats.t.interval(0.95, 2, loc=7 / 3, scale=stats.sem([1.0, 2.0, 4.0]))
    assert (found.low, found.high) == (pytest.approx(low, rel=1e-4), pytest.approx(high, rel=1e-4))
    assert Interval.of([3.0]).say() == "3 (one repetition)"
    assert not Interval.of([3.0]).is_above

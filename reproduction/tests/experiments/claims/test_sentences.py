"""Sentences between the figures: true and false rows give different verdicts."""

import pytest

from reproduction.claims import CLAIMS, Verdict

BY_KEY = {claim.key: claim for claim in CLAIMS}


def verdict(key, **evidence):
    return BY_KEY[key].judge(evidence).verdict


@pytest.mark.parametrize(
    ("chances", "expected", "less"),
    [
        ((0.2, 0.3, 0.3, 0.2), Verdict.HOLDS, True),
        ((0.1, 0.4, 0.4, 0.1), Verdict.HOLDS, False),
        ((0.21, 0.29, 0.29, 0.21), Verdict.FAILS, False),
    ],
)
def test_near_reports_are_likelier_and_the_true_one_may_not_be(chances, expected, less):
    of = {"BRR": chances, "GRR": (0.2001, 0.3999, 0.2, 0.2001)}
    rows = [
        {"mechanism": name, "epsilon": "1", "points": 4, "truth": 2, "report": at, "chance": chance}
        for name, all_of_them in of.items()
        for at, chance in enumerate(all_of_them, start=1)
    ]
    found = BY_KEY["nearer is likelier"].judge({"pmf": rows})
    assert found.verdict == expected
    assert ("is reported less often than under GRR" in found.why) == less


@pytest.mark.parametrize(("broken", "expected"), [(5, Verdict.HOLDS), (4, Verdict.FAILS)])
def test_every_difference_of_m_must_break_epsilon(broken, expected):
    row = {"what": "local m", "most": 9, "cases": 7, "differ": 5, "worst": 1.2, "worst_points": 6, "worst_epsilon": "1"}
    rows = [{**row, "broken": broken}, {**row, "broken": 5, "worst": 1.1}]
    assert verdict("an m for each value", sentences=rows) == expected
    assert "10 of 14 cases" in BY_KEY["an m for each value"].judge({"sentences": rows}).measured


@pytest.mark.parametrize(
    ("bound", "ordered", "expected"), [(9, 9, Verdict.HOLDS), (0, 9, Verdict.CORRECTED), (0, 8, Verdict.FAILS)]
)
def test_a_wrong_bound_with_a_right_end_is_corrected(bound, ordered, expected):
    row = {"what": "roots", "most": 9, "cases": 9, "end_below_its_bound": bound, "middle_above_its_bound": 9}
    rows = [{**row, "ordered": ordered, "cases_below_one": 4, "middle_matters": 0}]
    assert verdict("proof of theorem 1 (2)", sentences=rows) == expected


def test_the_limits_of_the_theorems_are_in_order():
    assert verdict("local bounds, global ratio") == Verdict.HOLDS


@pytest.mark.parametrize(("last", "expected"), [(0.1, Verdict.HOLDS), (0.2, Verdict.FAILS)])
def test_finer_nodes_must_be_nearer(last, expected):
    rows = [{"what": "rounding", "nodes": at, "moved": moved} for at, moved in enumerate((0.3, 0.2, last), start=2)]
    assert verdict("rounding to nodes", sentences=rows) == expected


@pytest.mark.parametrize(
    ("ours", "m", "expected"),
    [
        ((0.5, 0.6), (8, 10), Verdict.HOLDS),
        ((0.5, 0.6), (3, 38), Verdict.HOLDS),  # GRR's of as many: 4.72/11.72 = 0.40 and 39.72/101.72 = 0.39
        ((0.5, 0.1), (3, 38), Verdict.FAILS),
    ],
)
def test_the_share_of_near_reports_must_vary_less_than_under_grr(ours, m, expected):
    rows = [
        {"what": "near reports", "mechanism": name, "points": points, "epsilon": 1.0, "near": near, "m": size}
        for name, of in (("BRR", ours), ("GRR", (0.4, 0.2)))
        for points, near, size in zip((10, 100), of, m if name == "BRR" else (1, 1), strict=True)
    ]
    found = BY_KEY["share of near reports"].judge({"sentences": rows})
    assert found.verdict == expected
    assert ("is the stabler of the two at ε = 1." in found.why) == (m == (3, 38) and expected == Verdict.HOLDS)
    if m == (3, 38):
        assert "GRR’s of BRR’s near ones 0.39 to 0.4" in found.measured


@pytest.mark.parametrize(("last", "expected"), [(0.2, Verdict.HOLDS), (0.3, Verdict.CORRECTED), (0.31, Verdict.FAILS)])
def test_a_loss_that_is_not_below_that_of_grr_is_seen(last, expected):
    rows = [
        {"mechanism": name, "points": points, "epsilon": "2", "qloss": loss}
        for points, ours in ((5, last), (100, 0.1))
        for name, loss in (("BRR", ours), ("GRR", 0.3))
    ]
    assert verdict("lower at every N", qloss_by_n=rows) == expected


@pytest.mark.parametrize(("last", "expected"), [(0.1, Verdict.HOLDS), (0.4, Verdict.FAILS)])
def test_the_ratio_must_fall_with_every_step_of_epsilon(last, expected):
    rows = [
        {"mechanism": name, "points": 1000, "epsilon": epsilon, "qloss": loss}
        for epsilon, ours in (("1", 0.3), ("2", 0.2), ("4", last))
        for name, loss in (("BRR", ours), ("GRR", 1.0))
    ]
    assert verdict("the ratio falls with ε", qloss_by_n=rows) == expected


@pytest.mark.parametrize(
    ("budgets", "last", "expected"),
    [(8, 1.0, Verdict.HOLDS), (8, 9.0, Verdict.FAILS), (7, 1.0, Verdict.UNDECIDED), (7, 9.0, Verdict.FAILS)],
)
def test_an_error_of_places_that_rises_with_epsilon_is_seen(budgets, last, expected):
    rows = [
        {
            "dataset": "Gowalla",
            "scope": "within regions",
            "mechanism": name,
            "epsilon": 0.25 * at,
            "expected_km": last if (name, at) == ("BRR", budgets) else 8.0 / at,
        }
        for name in ("GRR", "L-SRR as published", "BRR")
        for at in range(1, budgets + 1)
    ]
    assert verdict("places, falls with ε", location_errors=rows) == expected


@pytest.mark.parametrize(
    ("of_the_mean", "of_the_sum", "expected"),
    [(2.0, 1.0, Verdict.HOLDS), (2.0, 0.1, Verdict.READING), (0.2, 0.1, Verdict.FAILS)],
)
def test_noise_is_compared_where_it_is_added(of_the_mean, of_the_sum, expected):
    of = {"BRR": 0.5, "Laplace on the mean": of_the_mean, "Laplace on the sum": of_the_sum}
    rows = [
        {"what": "gradient noise", "mechanism": name, "epsilon": epsilon, "noise": noise}
        for name, noise in of.items()
        for epsilon in (0.3, 1.0)
    ]
    found = BY_KEY["SGD, larger noise"].judge({"sentences": rows})
    assert found.verdict == expected
    falling = [row | {"noise": row["noise"] / (row["epsilon"] if row["mechanism"] != "BRR" else 1)} for row in rows]
    found = BY_KEY["SGD, larger noise"].judge({"sentences": falling})
    assert found.verdict == (Verdict.CORRECTED if expected == Verdict.READING else expected)
    assert ("it grows 3.3 times over these, BRR’s 1.0 times" in found.why) == (expected == Verdict.READING)
    found = BY_KEY["SGD, larger noise"].judge({"sentences": rows})
    assert ("at least 5 times smaller than BRR’s" in found.why) == (expected == Verdict.READING)


@pytest.mark.parametrize(
    ("brr", "laplace", "expected"),
    [(0.975, 0.965, Verdict.HOLDS), (0.975, 0.945, Verdict.CORRECTED), (0.975, 0.5, Verdict.FAILS)],
)
def test_training_near_no_noise_is_within_five_points(brr, laplace, expected):
    rows = [
        {"network": "paper-cnn", "measure": "final", "mechanism": name, "epsilon": epsilon, "seed": seed}
        | {"value": value + seed / 10_000}
        for name, value in (("none", 0.98), ("paper-brr", brr), ("paper-laplace", laplace))
        for epsilon in ((0.0,) if name == "none" else (0.3, 0.5, 0.7, 1.0))
        for seed in range(5)
    ]
    found = BY_KEY["SGD, near no noise"].judge({"sgd": rows})
    assert found.verdict == expected
    # 2.48 % and 5.48 % wrong answers where there are 1.98 % without noise
    assert ("as many: BRR-SGD 1.3, Laplace on the sum 2.8." in found.why) == (expected == Verdict.CORRECTED)
    few = [row for row in rows if row["seed"] < 2]
    assert verdict("SGD, near no noise", sgd=few) == Verdict.UNDECIDED
    nothing = [row for row in rows if row["mechanism"] != "none"]
    assert verdict("SGD, near no noise", sgd=nothing) == Verdict.UNDECIDED

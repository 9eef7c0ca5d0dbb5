"""Sentences between the figures: true and false rows give different verdicts."""

import pytest

from reproduction.claims import CLAIMS, Verdict

BY_KEY = {claim.key: claim for claim in CLAIMS}


def verdict(key, **evidence):
    return BY_KEY[key].judge(evidence).verdict


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

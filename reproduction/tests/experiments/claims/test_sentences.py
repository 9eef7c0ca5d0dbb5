"""Sentences between the figures: true and false rows give different verdicts."""

import pytest

from reproduction.claims import CLAIMS, Verdict

BY_KEY = {claim.key: claim for claim in CLAIMS}


def verdict(key, **evidence):
    return BY_KEY[key].judge(evidence).verdict


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

"""Columns that go around: plans, frames and files."""

import numpy as np
import pandas as pd
import pytest

import bipartite as bp
from bipartite.errors import DataError, InputError
from bipartite.tables import privatize_file

PLAN = {
    "hour": {"domain": {"cyclic": 24}, "epsilon": 2, "m": "histogram"},
    "month": {"domain": {"cyclic": 12, "start": 1}, "epsilon": 1, "outside": {"as": 12}},
    "day": {"domain": {"cyclic": 3, "labels": ["Fri", "Sat", "Sun"]}, "epsilon": 1, "mechanism": "grr"},
}


def plan_of(**columns):
    return bp.Plan.from_dict({"columns": columns})


def test_a_plan_names_circles():
    found = plan_of(**PLAN).mechanisms()
    assert found["hour"] == bp.BRR(bp.Cyclic(24), 2, m="histogram")
    assert found["month"] == bp.BRR(bp.Cyclic(12, start=1), 1)
    assert found["day"] == bp.GRR(bp.Cyclic(3, labels=["Fri", "Sat", "Sun"]), 1)


def test_a_frame_is_released_and_what_lies_outside_takes_its_place():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "hour": rng.integers(0, 24, 3000),
        "month": np.where(np.arange(3000) % 2, 0, 13),
        "day": np.array(["Fri", "Sat", "Sun"])[rng.integers(0, 3, 3000)],
    })  # fmt: skip
    plan = plan_of(**PLAN)
    released = bp.privatize_frame(frame, plan, rng=bp.insecure_seed(3))
    assert set(released["month"]) == set(range(1, 13)) and set(released["day"]) == {"Fri", "Sat", "Sun"}
    assert released["hour"].between(0, 23).all()
    # All months lie outside and count as December.
    est = bp.estimate(plan.mechanisms()["month"], released["month"])
    low, high = est.ask("circular_mean").ci(0.999)
    assert (12 - low) % 12 <= (high - low) % 12 < 6


def test_a_file_is_released(tmp_path):
    source, target = tmp_path / "hours.csv", tmp_path / "reports.csv"
    source.write_text("hour,month,day\n" + "23,12,Sun\n0,1,Fri\n" * 50, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(
        "[columns.hour]\ndomain = { cyclic = 24 }\nepsilon = 2\n[columns.month]\ndomain = { cyclic = 12, start = 1 }\n"
        'epsilon = 1\n[columns.day]\ndomain = { cyclic = 3, labels = ["Fri", "Sat", "Sun"] }\nepsilon = 1\n',
        encoding="utf-8",
    )
    privatize_file(source, target, bp.Plan.read(tmp_path / "plan.toml"))
    released = pd.read_csv(target)
    assert len(released) == 100 and released["month"].between(1, 12).all()
    source.write_text("hour,month,day\n24,12,Sun\n", encoding="utf-8")
    with pytest.raises(DataError, match="is outside 0..23") as refusal:
        privatize_file(source, tmp_path / "other.csv", bp.Plan.read(tmp_path / "plan.toml"))
    assert "24" not in str(refusal.value).replace("cyclic = 24", "")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"domain": {"cyclic": "24"}, "epsilon": 1}, "Expected size as a whole number, got '24'"),
        ({"domain": {"cyclic": 24, "points": 3}, "epsilon": 1}, "A domain of cyclic takes no points; leave it out"),
        ({"domain": {"cyclic": 24}, "epsilon": 1, "edges": "padded"}, "Expected edges='clamped' on a circle"),
        ({"domain": {"cyclic": 24}, "epsilon": 1, "outside": "clip"}, "outside='clip' has no meaning on a set"),
        ({"domain": {"cyclic": 24}, "epsilon": 1, "mechanism": "laplace"}, "which wraps around and has no ends"),
    ],
)
def test_what_a_circle_does_not_take_is_refused(column, message):
    with pytest.raises(InputError, match=message):
        plan_of(hour=column)


def test_a_plan_says_what_it_publishes():
    published = plan_of(hour={"domain": {"cyclic": 24}, "epsilon": 1}).publishes
    assert any("that no value is outside 0..23" in each for each in published)
    assert any("that every value is a whole number" in each for each in published)

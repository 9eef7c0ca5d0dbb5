"""Running times are rows with their quartiles, and pictures of what was timed: no sentinel can hold them."""

import pytest

from reproduction.experiments import runtime
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA
from reproduction.form import frame


@pytest.mark.data
def test_everything_is_timed_for_as_many_users_as_asked():
    rows = frame([
        row for dataset, places in ((GOWALLA, 40), (FOURSQUARE, 60))
        for row in runtime.measure(
            dataset=dataset, places=places, shares=(50, 100), rounds=1, many=(50, 100), many_rounds=2, estimates=1,
            singles=5,
        )
    ])  # fmt: skip
    users = rows.groupby("what")["users"].unique().map(list).to_dict()
    assert users == {
        "design": [0], "reports": [20, 40, 50, 100, 30, 60], "counting": [50, 100], "estimate": [50, 100],
        "one report": [1],
    }  # fmt: skip
    estimated = rows.loc[rows["what"] == "estimate", "mechanism"].unique()
    assert list(estimated) == ["BRR", "GRR", "L-SRR as published", "L-SRR calibrated"]  # Anchored reports a few places
    assert (rows["low"].ge(0) & rows["seconds"].between(rows["low"], rows["high"])).all()
    assert set(runtime.draw(rows)) == {"runtime", "runtime_of_a_report", "runtime_of_estimates"}
    assert set(runtime.draw(rows[rows["what"] != "estimate"])) == {"runtime", "runtime_of_a_report"}

"""What a column is for chooses what its plan leaves open; plans that say nothing mean what they always meant."""

import tomllib

import numpy as np
import pytest

import bipartite as bp
from bipartite.errors import InputError
from bipartite.mechanisms.spec import spec_sha256
from bipartite.tables.drafting import Draft
from bipartite.tables.purposes import PURPOSES, best_for_shares, prospect

AGES = {"domain": {"integers": [18, 90]}, "epsilon": 1}


def flat(size):
    return bp.Items([f"c{at}" for at in range(size)], loss=1 - np.eye(size))


def jobs(size):
    return {"domain": {"categories": [f"c{at}" for at in range(size)]}, "epsilon": 1}


def mechanism(column):
    return bp.Plan.from_dict({"columns": {"a": column}}).mechanisms()["a"]


# As plans were written before they could say what a column is for; the names of their specs were computed then.
OLD = {
    "age": (AGES, "9e125d224edc975991f0f94ed8063a11d23b4ad51bcd7f2dd45521d5319bf18a"),
    "padded": (
        AGES | {"mechanism": "brr", "edges": "padded"},
        "4f434b16bf1e4fda0fe99b6fbd486176a551c84145940d41eab98fb5c6c62e57",
    ),
    "job": (jobs(40), "a06dbf707b42e73e22b777520b9e09c999ab422d2bd0d9e093897dbba9ec1dde"),
    "income": (
        {"domain": {"interval": [0, 200_000], "points": 401}, "epsilon": "0.5", "edges": "padded"},
        "66240a3c5b5455487a3773f4a85a17723f40b5a9ea97f6702137787f8c76d487",
    ),
}


@pytest.mark.parametrize("name", OLD)
def test_plans_that_say_no_purpose_mean_what_they_always_meant(name):
    column, known = OLD[name]
    assert spec_sha256(mechanism(column)) == known
    assert bp.Plan.from_dict({"columns": {"a": column}}).private()["a"].purpose is None


@pytest.mark.parametrize(
    ("purpose", "numbers"),
    [
        ("statistics", bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="cdf")),
        ("mean", bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="mean")),
        ("histogram", bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="histogram")),
        ("single-values", bp.Anchored(bp.Integers(18, 90), 1)),
    ],
)
def test_a_purpose_chooses_what_the_plan_leaves_open(purpose, numbers):
    assert mechanism(AGES | {"for": purpose}) == numbers
    if purpose != "mean":
        labels = mechanism(jobs(40) | {"for": purpose})
        assert labels == (bp.GRR if purpose == "single-values" else bp.SubsetSelection)(flat(40), 1)
    assert bp.Plan.from_dict({"columns": {"a": AGES | {"for": purpose}}}).private()["a"].purpose == purpose


def test_what_a_plan_says_itself_holds():
    statistics = AGES | {"for": "statistics"}
    line = bp.Integers(18, 90)
    assert mechanism(statistics | {"m": 31}) == bp.BRR(line, 1, edges="padded", m=31)
    assert mechanism(statistics | {"edges": "clamped"}) == bp.BRR(line, 1)
    assert mechanism(statistics | {"mechanism": "brr"}) == bp.BRR(line, 1, edges="padded", m="cdf")
    assert mechanism(statistics | {"mechanism": "grr"}) == bp.GRR(line, 1)
    assert mechanism(AGES | {"for": "single-values", "mechanism": "brr"}) == bp.BRR(line, 1)
    assert mechanism(jobs(40) | {"for": "statistics", "mechanism": "grr"}) == bp.GRR(flat(40), 1)
    for name, kind in (("oue", bp.OUE), ("olh", bp.OLH), ("hadamard-response", bp.HadamardResponse)):
        assert mechanism(jobs(40) | {"mechanism": name}) == kind(flat(40), 1)


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (
            AGES | {"for": "statistic"},
            "the column is for, got 'statistic'; did you mean 'statistics'?",
        ),
        (AGES | {"for": 3}, "Expected for = what the column is for, got 3; one of statistics, mean, histogram"),
        (jobs(3) | {"for": "mean"}, "Expected numbers for a mean, got a set of values"),
        (jobs(3) | {"mechanism": "rappor"}, "a permanent answer stored on each device, which a table lacks: use 'oue'"),
        (jobs(3) | {"mechanism": "oue", "m": 3}, "m applies to brr; leave it out."),
        (AGES | {"for": "TODO"}, "for still says TODO"),
    ],
)
def test_purposes_that_cannot_be_are_refused(column, told):
    with pytest.raises(InputError) as caught:
        mechanism(column)
    assert told in str(caught.value)


@pytest.mark.parametrize("size", [2, 5, 10, 40])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
def test_the_choice_for_shares_has_the_least_forecast_error(size, epsilon):
    kinds = [bp.GRR, bp.OUE, bp.SUE, bp.OLH, bp.SubsetSelection, bp.HadamardResponse]
    errors = [bp.forecast(kind(flat(size), epsilon), 1, "share") for kind in kinds]
    taken = {"grr": errors[0], "subset-selection": errors[4]}[best_for_shares(flat(size), epsilon)]
    assert taken <= min(errors) * (1 + 1e-9)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("purpose", "advised"), [("statistics", "distribution"), ("mean", "mean"), ("single-values", "release")]
)
@pytest.mark.parametrize("epsilon", [1, 2])
def test_plans_choose_what_the_adviser_recommends(purpose, advised, epsilon):
    ages = mechanism(AGES | {"for": purpose, "epsilon": epsilon})
    assert ages == bp.recommend(ages.domain, epsilon, advised).mechanism


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("kind", ["whole", "real", "text", "truth"])
def test_a_first_plan_that_is_filled_in_says_every_choice(purpose, kind):
    filled = {"whole": {"ends": ("18", "90")}, "real": {"ends": ("0.0", "1.0")}, "text": {"labels": ("a", "b")}}
    draft = Draft(kind, purpose, epsilon="1", **filled.get(kind, {}))
    column = tomllib.loads(draft.to_toml())
    assert "mechanism" in column and column["for"] == draft.own_purpose
    made = mechanism(column)
    # Every choice is there: without its purpose the column means the same.
    assert mechanism({key: value for key, value in column.items() if key != "for"}) == made
    del column["mechanism"]
    assert mechanism({key: value for key, value in column.items() if key not in {"m", "edges"}}) == made
    assert tomllib.loads(Draft(kind, purpose, public=True).to_toml()) == {"public": True}


def test_prospects_are_those_of_the_estimator():
    """The widths that are promised are those that estimates of other people then have, which vary by a half."""
    padded = bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="cdf")
    promised = prospect(padded, 20_000)
    truth = 18 + (np.arange(20_000) * 73) // 20_000
    found = [bp.estimate(padded, padded.privatize(truth, rng=bp.insecure_seed(seed))) for seed in range(3)]
    mean, median = ([np.diff(each.ask(of).ci())[0] / 2 for each in found] for of in ("mean", "median"))
    assert promised.mean == pytest.approx(np.mean(mean), rel=0.03)
    assert promised.median == pytest.approx(np.mean(median), rel=0.5)
    assert promised.questions == ["the mean", "the median", "shares of ranges"] and promised.note == ""
    ways = bp.SubsetSelection(flat(12), 1)
    assert prospect(ways, 10_000).share == pytest.approx(1.96 * bp.forecast(ways, 10_000, "share"), rel=1e-3)


@pytest.mark.slow
def test_a_fine_line_has_a_coarse_stand_in():
    promised = prospect(bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="cdf"), 20_000)
    fine = prospect(bp.BRR(bp.Integers(0, 7200), 1, edges="padded", m="cdf"), 20_000)
    assert fine.median / 7200 == pytest.approx(promised.median / 72, rel=0.5)


def test_prospects_say_what_cannot_be_told(monkeypatch):
    clamped = prospect(bp.BRR(bp.Integers(18, 90), 1), 10**9)
    assert clamped.questions == [] and clamped.mean is None
    assert clamped.note.startswith("cannot tell 18–31 apart, nor 77–90 apart: no number of people gives the mean")
    assert prospect(bp.Duchi(bp.Interval(0, 1, points=11), 1), 1000).questions == ["the mean"]
    some = prospect(bp.BRR(bp.Integers(1, 5), 1, edges="padded"), 5)
    assert some.questions == ["the mean", "the median", "the share of each value"] and some.mean <= 2
    many = bp.Points(np.random.default_rng(1).uniform(0, 1, (300, 2)))
    anchored = prospect(bp.Anchored(many, 1), 1000)
    assert anchored.questions == [] and "…" in anchored.note and len(anchored.note) < 200
    monkeypatch.setattr("bipartite.answers.advise.forecasting.MOST_DENSE", 299)
    assert prospect(bp.Exponential(many, 1), 1000).note.startswith("no forecast: statistics left out")


@pytest.mark.parametrize(
    ("high", "domain"),
    [
        ("10000", {"integers": [0, 10_000]}),
        ("200000", {"interval": [0, 200_000], "points": 401}),
    ],
)
def test_a_wide_range_of_whole_numbers_becomes_an_interval_that_answers_as_precisely(high, domain):
    plan = tomllib.loads(Draft("whole", ends=("0", high), epsilon="1").to_toml())
    assert plan["domain"] == domain
    made = bp.Plan.from_dict({"columns": {"income": plan}}).mechanisms()["income"]
    whole = bp.BRR(bp.Integers(0, int(high)), epsilon=1, edges="padded", m="cdf")
    assert bp.forecast(made, 50_000) == pytest.approx(bp.forecast(whole, 50_000), rel=0.01)

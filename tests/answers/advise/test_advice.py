"""The sentences: what is recommended, why, and what is said against it."""

import numpy as np
import pytest

import bipartite as bp
from bipartite.answers.advise import candidates as building
from bipartite.answers.advise import recommending
from bipartite.answers.advise.candidates import WANTED
from bipartite.answers.advise.forecasting import Foreseen
from bipartite.answers.advise.measuring import shapes_of
from bipartite.locations.atlas import cities

AGES = bp.Integers(18, 50)
FLAT = bp.Items(list("abcdefgh"), loss=1 - np.eye(8))
PLACES = bp.Points(cities().coordinates[:20], metric="haversine")


def only(compared, purpose):
    found = [each for each in compared.advice if each.purpose == purpose]
    assert len(found) == 1
    return found[0]


def test_single_values_without_a_prior_get_anchors_for_equally_likely_values_beside_what_serves_everybody():
    compared = bp.compare(AGES, 2)
    advice = only(compared, "release")
    assert (advice.name, advice.code) == ("Anchored", "bp.Anchored(domain, ε)")
    assert advice.reason == "the least expected error if all values are equally likely, though not at each value"
    assert advice.error == compared["Anchored"].expected_loss == pytest.approx(bp.loss(bp.Anchored(AGES, 2)).mean)
    assert advice.baseline == compared["always 34"].expected_loss > advice.error
    assert "always 34, which asks nobody: 8.24" in advice.figures
    assert "BRR, safe m, under which no value fares worse than under GRR: 5.55; GRR: 9.21" in advice.figures
    assert (bp.loss(bp.BRR(AGES, 2)).by_value <= bp.loss(bp.GRR(AGES, 2)).by_value + 1e-9).all()
    assert advice.warning == ""


def test_single_values_with_a_prior_get_anchored_with_its_certified_gap():
    prior = np.exp(-np.arange(33) / 10)
    prior /= prior.sum()
    compared = bp.compare(AGES, 2, prior=prior)
    advice = only(compared, "release")
    assert (advice.name, advice.code) == ("Anchored", "bp.Anchored(domain, ε, prior=prior)")
    assert "least expected error for the prior given, though not at each value" in advice.reason
    assert "proved to be within 0.001 % of the least possible" in advice.figures
    others = [row.expected_loss for row in compared.rows if row.kind == "mechanism" and row.expected_loss is not None]
    assert compared["Anchored"].expected_loss == min(others)
    assert compared["Anchored"].gap == bp.Anchored(AGES, 2, prior=prior).gap
    # Off the line the gap is not nothing, and is rounded up.
    uneven = np.arange(1, 21) / 210
    gap = bp.Anchored(PLACES, 1, prior=uneven).gap
    said = float(only(bp.compare(PLACES, 1, prior=uneven), "release").figures.split("within ")[1].split(" %")[0])
    assert 100 * gap <= said <= 100 * gap + 0.1


def test_the_constant_answer_is_named_where_it_is_nearly_as_good():
    stars = bp.Integers(1, 11)
    low, high = bp.compare(stars, 0.5), bp.recommend(stars, 1.5, "release")
    warning = only(low, "release").warning
    assert warning.startswith("always 6, which asks nobody, is almost as good if all values are equally likely")
    assert high.warning == ""
    assert "But always 6" in low.recommendation and "2.73" in low.recommendation
    several = bp.compare(stars, [0.25, 0.5, 1.5]).recommendation
    assert "But at ε = 0.25 to 0.5: always 6, which asks nobody" in several
    # Where everybody is the same, nothing is better than saying so.
    sure = np.eye(11)[3]
    assert "is as good for this prior" in bp.recommend(stars, 1, "release", prior=sure).warning


@pytest.mark.grid(1)
@pytest.mark.parametrize("epsilon", [0.3, 1, 3, 5])
def test_what_is_taken_is_within_5_percent_of_everything_that_keeps_epsilon(epsilon):
    compared = bp.compare(AGES, epsilon, n=100_000)
    for advice in compared.advice:
        column = WANTED[advice.purpose].figure
        known = [row for row in compared.rows if row.kind == "mechanism" and row.holds]
        least = min(error for row in known if (error := getattr(row, column)) is not None)
        assert advice.error == getattr(compared[advice.name], column) <= 1.05 * least
        assert 1 <= advice.ratio <= advice.worst_ratio * (1 + 1e-9)
        assert advice.worst_shape in shapes_of(AGES)


def test_statistics_on_a_line_get_the_padded_window_made_for_them_and_the_better_rival_is_named():
    compared = bp.compare(AGES, 1, n=100_000, purpose="statistics")
    assert [each.purpose for each in compared.advice] == ["mean", "distribution"]
    mean, distribution = compared.advice
    assert (mean.name, mean.best) == ("BRR, padded, mean", "Optimal, unbiased")
    assert "Optimal, unbiased: 1.4 % less" in mean.figures and "with 100,000 people" in mean.figures
    assert mean.baseline == 16 and "the middle of the range, which asks nobody: up to 16" in mean.figures
    assert distribution.name == distribution.best == "BRR, padded, CDF"
    assert 0 < distribution.error < distribution.baseline / 10


def test_the_worst_ratio_over_shapes_is_that_of_each_shape_as_the_prior():
    """Of the mean, where one candidate alone depends on the prior: it stays the one for equally likely values."""
    stars = bp.Integers(1, 9)
    best = Foreseen(bp.Optimal(stars, 4, unbiased=True))
    advice = only(bp.compare(stars, 4, n=1000, purpose="mean"), "mean")
    ratios = {}
    for name, shares in shapes_of(stars).items():
        rows = [row for row in bp.compare(stars, 4, n=1000, prior=shares).rows if row.holds and row.mean_error]
        # Clamped numbers and the rivals of a release are not made for means.
        made = [row for row in rows if not row.mechanism.endswith("clamped") and "Exponential" not in row.mechanism]
        errors = {row.mechanism: row.mean_error for row in made}
        errors["Optimal, unbiased"] = float(best.errors("mean", shares[None, :], 1000)[0])
        ratios[name] = errors[advice.name] / min(errors.values())
    assert advice.worst_ratio == pytest.approx(max(ratios.values()), rel=1e-9)
    assert advice.worst_shape == max(ratios, key=ratios.get)


@pytest.mark.parametrize(("size", "epsilon", "expected"), [(3, 2, "GRR"), (60, 1, "Subset Selection")])
def test_flat_categories_are_chosen_by_the_number_of_values_and_epsilon(size, epsilon, expected):
    items = bp.Items(None, loss=1 - np.eye(size))
    assert items.is_flat
    compared = bp.compare(items, epsilon)
    advice = only(compared, "categories")
    assert advice.name == expected
    assert "with 100,000 people" in advice.figures and advice.n == 100_000
    with_people = bp.compare(items, epsilon, n=100)
    errors = {row.mechanism: row.histogram_error for row in with_people.rows if row.histogram_error is not None}
    assert errors[expected] <= min(errors.values()) * (1 + 1e-9)
    assert only(compared, "release").name == "GRR"


def test_only_equal_losses_are_flat():
    assert bp.Items(None, similarity=np.eye(4)).is_flat
    assert not bp.Items(None, loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]).is_flat
    assert not AGES.is_flat


def test_too_few_people_for_a_histogram_are_told_how_many_would_do():
    few = bp.recommend(AGES, 1, "categories", n=1000)
    assert "1,000 people are too few for a useful histogram of 33 values" in few.warning
    enough = int(few.detail.split("about ")[1].split(" people")[0].replace(",", ""))
    assert bp.recommend(AGES, 1, "categories", n=enough).warning == ""
    # Two digits, rounded up: a tenth less is too few.
    assert bp.recommend(AGES, 1, "categories", n=int(enough / 1.2)).warning
    distribution = bp.recommend(AGES, "0.2", "distribution", n=30)
    assert "30 people are too few for the distribution over 33 values" in distribution.warning
    # No number of people that anybody has.
    hopeless = bp.recommend(AGES, "1e-9", "categories", n=1000)
    assert hopeless.detail == "more than 10^12 people would make them equal, and so would fewer values"


def test_too_few_people_for_a_mean_are_told_what_asking_nobody_gives():
    few = bp.recommend(AGES, "0.1", "mean", n=20)
    assert few.warning == (
        "20 people are too few for a mean: the middle of the range, which asks nobody, is off by 16 at most"
    )
    assert bp.recommend(AGES, 1, "mean", n=100_000).warning == ""


def test_a_window_of_one_value_is_called_grr():
    # At ε = 4 the window for shares has one value.
    assert bp.BRR(AGES, 4, m="histogram", edges="padded").m == 1
    compared = bp.compare(AGES, 4, n=10_000, purpose="categories")
    errors = [compared[name].histogram_error for name in ("GRR", "BRR, padded, shares")]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)
    assert bp.recommend(bp.Integers(0, 1), 1, "categories").name == "GRR"
    assert bp.BRR(bp.Integers(1, 3), 5, m="mean", edges="padded").m == 1
    assert bp.recommend(bp.Integers(1, 3), 5, "mean").name == "GRR"


def test_equals_are_not_said_to_be_better():
    advice = only(bp.compare(bp.Integers(0, 1), 1, n=50, purpose="mean"), "mean")
    assert advice.name == "GRR" and "less)" not in advice.figures


def test_of_very_many_values_nothing_else_is_looked_at_where_the_bound_is_close(monkeypatch):
    monkeypatch.setattr(recommending, "LOOK_AT_ALL", 19)
    looked_at = []
    measure = recommending.measure
    monkeypatch.setattr(recommending, "measure", lambda *given: looked_at.append(given[0].name) or measure(*given))
    advice = bp.recommend(PLACES, 1, "release")
    assert (looked_at, advice.name, advice.worst_ratio) == (["Anchored"], "Anchored", None)
    assert "shapes" not in advice.figures and "proved to be within" in advice.figures


def test_what_nothing_can_give_is_said():
    nothing = only(bp.compare(PLACES, 1, n=100, purpose="mean"), "mean")
    assert nothing.name is None
    with pytest.raises(bp.errors.DesignError, match="can give it; ask for another purpose"):
        _ = nothing.mechanism
    assert str(nothing).startswith("To estimate the mean: no mechanism that was compared")


def test_every_purpose_that_applies_is_answered_when_people_are_known():
    assert [each.purpose for each in bp.compare(AGES, 1).advice] == ["release"]
    every = ["release", "mean", "distribution", "categories"]
    assert [each.purpose for each in bp.compare(AGES, 1, n=9).advice] == every
    assert [each.purpose for each in bp.compare(PLACES, 1, n=9).advice] == ["release", "map"]
    assert [each.purpose for each in bp.compare(PLACES, 1, purpose="statistics").advice] == ["categories"]


def test_runs_of_epsilons_with_one_answer_are_said_once():
    text = bp.compare(bp.Integers(1, 100), [1, 2, 4.5], n=10**6, purpose="categories").recommendation
    assert "at ε = 1 to 2, take Subset Selection" in text
    assert "at ε = 4.5, take GRR" in text


def test_what_is_too_large_for_anchored_falls_back_and_says_so(monkeypatch):
    monkeypatch.setattr(building, "_MOST_ANCHORS_ON_A_LINE", 32)
    advice = only(bp.compare(AGES, 1, prior=np.full(33, 1 / 33)), "release")
    assert advice.name == "BRR, best m"
    assert (
        "Anchored, which may have a smaller one, was left out: its search takes too long with 33 values"
        in advice.reason
    )
    monkeypatch.setattr(building, "_MOST_ANCHORS_OF_A_SET", 20)
    compared = bp.compare(PLACES, 1)
    assert "left out" in compared["Anchored"].note
    assert "limit for reported values" not in [row.mechanism for row in compared.rows]
    assert "take BRR, best m" in compared.recommendation

"""Heat maps and counts: unbiased where reports can tell, open and said so where they cannot."""

import numpy as np
import pytest

from bipartite import (
    BRR,
    GRR,
    OLH,
    OUE,
    HadamardResponse,
    Integers,
    SubsetSelection,
    estimate,
    identifiability,
    insecure_seed,
    recommend,
)
from bipartite.errors import InputError
from bipartite.locations import (
    heat_map,
    places,
    range_count,
    top_places,
)
from bipartite.locations.areas import Box
from bipartite.locations.heat import smoothing
from bipartite.plots.figure import as_svg
from reproduction.places import region_weighted
from tests.locations.worlds import in_regions

RNG = np.random.default_rng(5)
ROWS = np.column_stack([RNG.uniform(35, 60, 30), RNG.uniform(-10, 30, 30)])
TRUTH = np.concatenate([np.full(5, 0.12), np.full(25, 0.016)])
PLACES = places(ROWS)
PEOPLE = 60_000


def reports(mechanism, people=PEOPLE, seed=1):
    counts = np.round(TRUTH * people).astype(int)
    return mechanism.privatize(np.repeat(np.arange(30), counts), rng=insecure_seed(seed))


def kilometres(a, b):
    """By the law of cosines, another formula than the library's."""
    p, q = np.radians(a), np.radians(b)
    cosine = np.sin(p[0]) * np.sin(q[0]) + np.cos(p[0]) * np.cos(q[0]) * np.cos(p[1] - q[1])
    return 6371.0088 * np.arccos(np.clip(cosine, -1, 1))


@pytest.fixture(scope="module")
def grr():
    mechanism = GRR(PLACES, 3)
    return estimate(mechanism, reports(mechanism))


@pytest.fixture(scope="module")
def brr():
    mechanism = BRR(PLACES, 2, m=8)
    assert not identifiability(mechanism).identifiable
    return estimate(mechanism, reports(mechanism))


def test_without_smoothing_a_heat_map_holds_the_unbiased_shares(grr):
    heat = heat_map(grr)
    np.testing.assert_allclose(heat.shares, grr.shares, atol=1e-12)
    np.testing.assert_allclose(heat.standard_errors, grr.to_frame()["se"].to_numpy(), rtol=1e-6)
    low, high = heat.intervals(0.999)
    assert ((low <= TRUTH) & (high >= TRUTH)).all()
    assert (heat.people, heat.note, heat.smoothing_km) == (60_000, "", 0.0)


def test_smoothing_spreads_each_person_over_a_normal_law_of_kilometres(grr):
    width = 250.0
    weights = np.array([[np.exp(-((kilometres(a, b) / width) ** 2) / 2) for b in ROWS] for a in ROWS])
    weights /= weights.sum(axis=0)
    heat = heat_map(grr, smoothing_km=250)
    np.testing.assert_allclose(smoothing(PLACES, width), weights, atol=1e-5)
    np.testing.assert_allclose(heat.shares, weights @ grr.shares, atol=1e-6)
    assert heat.shares.sum() == pytest.approx(1)
    errors = [grr.ask(row).se for row in weights]
    np.testing.assert_allclose(heat.standard_errors, errors, rtol=1e-3)
    assert heat.standard_errors.mean() < grr.to_frame()["se"].to_numpy().mean()


@pytest.mark.parametrize("kind", [GRR, SubsetSelection])
def test_smoothed_intervals_hold_the_smoothed_truth_as_often_as_they_say(kind):
    mechanism = kind(PLACES, 2)
    smooth = smoothing(PLACES, 150.0) @ TRUTH
    held = []
    for seed in range(40):
        low, high = heat_map(mechanism, reports(mechanism, 10_000, seed), smoothing_km=150).intervals(0.9)
        held.append((low <= smooth) & (smooth <= high))
    assert 0.87 < np.mean(held) < 0.95  # fixed people: errors for a population are a little too large


def test_a_heat_map_of_what_cannot_be_told_apart_is_a_guess_and_says_so(brr):
    heat = heat_map(brr, smoothing_km=100)
    assert heat.standard_errors is None
    assert heat.note.startswith("a guess without intervals: the reports cannot tell all of these places apart")
    np.testing.assert_allclose(heat.shares, smoothing(PLACES, 100.0) @ brr.shares)
    with pytest.raises(InputError, match=r"There are no intervals: .* collect with the mechanism that bp.recommend"):
        heat.intervals()
    drawn = as_svg(heat.plot)
    assert ", a guess. 60,000 reports" in drawn and "A guess without intervals" in drawn


def test_a_heat_map_is_drawn_with_its_intervals_and_promise(grr):
    drawn = as_svg(heat_map(grr, smoothing_km=50).plot)
    assert "60,000 reports, smoothed over 50 km. Guarantee: ε-LDP of each report with ε = 3." in drawn
    assert " to " in drawn and "a guess" not in drawn


def test_little_data_and_much_noise_are_said():
    mechanism = GRR(PLACES, 1)
    few = heat_map(mechanism, mechanism.privatize([0] * 20, rng=insecure_seed(1)))
    assert few.note == "only 20 reports: too few for intervals"
    with pytest.raises(InputError, match="Expected at least 50 reports for normal intervals, got 20"):
        few.intervals()
    noisy = heat_map(mechanism, mechanism.privatize([0] * 400, rng=insecure_seed(1)))
    assert "the noise exceeds the average share" in noisy.note


def test_the_top_places_are_the_true_ones_with_intervals_for_all_together(grr):
    top = top_places(grr, k=5)
    assert {each.place for each in top} == {0, 1, 2, 3, 4}
    assert all(each.known and each.low < 0.12 < each.high and each.note == "" for each in top)
    assert [each.share for each in top] == sorted((each.share for each in top), reverse=True)
    # Wider than one alone: 30 of them hold together.
    alone = grr.ask(("bin", top[0].place)).ci()
    assert top[0].high - top[0].low > 1.5 * (alone.high - alone.low)
    assert top[0].to_dict()["place"] == top[0].place
    assert top[0].name == f"{top[0].place} ({ROWS[top[0].place][0]:.4f}, {ROWS[top[0].place][1]:.4f})"


def test_top_places_hold_together_as_often_as_they_say():
    mechanism = GRR(PLACES, 1)
    misses = 0
    for seed in range(60):
        found = top_places(mechanism, reports(mechanism, 2_000, seed), k=3, confidence=0.9)
        misses += any(not each.low <= TRUTH[each.place] <= each.high for each in found)
    assert misses <= 12  # 6 expected at most; picking the largest of 30 without care would miss far more


def test_a_place_that_cannot_be_told_has_an_open_interval():
    mechanism = region_weighted(in_regions(PLACES, [number % 3 for number in range(30)]), 2)
    top = top_places(mechanism, reports(mechanism), k=1)[0]
    assert not top.known and top.low == 0 and top.high > 0.3
    assert "collect with the mechanism that bp.recommend(places, epsilon, 'map') names" in top.note
    # A region as a whole is known, although no place in it is.
    est = estimate(mechanism, reports(mechanism))
    low, high = est.ask((np.arange(30) % 3 == 0).astype(float)).ci(0.999)
    assert low < TRUTH[::3].sum() < high


def test_a_box_and_a_circle_count_what_lies_in_them(grr):
    inside = (ROWS[:, 0] >= 45) & (ROWS[:, 0] <= 60) & (ROWS[:, 1] >= 0) & (ROWS[:, 1] <= 20)
    found, share = range_count(grr, box=(45, 0, 60, 20)), grr.ask(inside.astype(float))
    assert (found.value, found.se, found.note) == (share.value * PEOPLE, share.se * PEOPLE, "")
    assert found.ci(0.999).low < TRUTH[inside].sum() * PEOPLE < found.ci(0.999).high
    assert found.ci(0.9) == pytest.approx([PEOPLE * end for end in share.ci(0.9)])
    near = np.array([kilometres(row, (50.0, 8.0)) for row in ROWS]) <= 700
    found = range_count(grr, centre=(50, 8), radius_km=700)
    assert found.value == grr.ask(near.astype(float)).value * PEOPLE
    assert found.ci(0.999).low < TRUTH[near].sum() * PEOPLE < found.ci(0.999).high


def test_the_top_places_are_named_by_their_labels():
    names = [f"place {number}" for number in range(30)][::-1]
    mechanism = GRR(places(ROWS, names), 3)
    found = estimate(mechanism, mechanism.privatize([names[2]] * 300 + [names[7]] * 200, rng=insecure_seed(1)))
    assert [each.place for each in top_places(found, k=2)] == [names[2], names[7]]


def test_a_box_across_the_date_line_and_empty_or_whole_ones():
    pacific = places([[-18.1, 178.4], [-13.8, -171.8], [0.0, 0.0]])
    mechanism = GRR(pacific, 2)
    est = estimate(mechanism, mechanism.privatize([0] * 600 + [1] * 300 + [2] * 100, rng=insecure_seed(2)))
    low, high = range_count(est, box=(-30, 170, 0, -160)).ci()
    assert low < 900 < high and Box(-30, 170, 0, -160).holds(pacific).tolist() == [True, True, False]
    nothing, everything = range_count(est, box=(50, 0, 60, 10)), range_count(est, box=(-90, -180, 90, 180))
    assert (nothing.value, *nothing.ci()) == (0, 0, 0)
    assert nothing.ci().note == "no place of the domain lies there; is it (latitude, longitude)?"
    assert (everything.value, *everything.ci()) == (1000, 1000, 1000)


def test_a_range_that_cannot_be_known_has_an_honest_interval():
    mechanism = region_weighted(in_regions(PLACES, [number % 3 for number in range(30)]), 2)
    est = estimate(mechanism, reports(mechanism))
    box = (45, 0, 60, 20)
    inside = (ROWS[:, 0] >= 45) & (ROWS[:, 0] <= 60) & (ROWS[:, 1] >= 0) & (ROWS[:, 1] <= 20)
    found = range_count(est, box=box)
    assert found.se == np.inf and "however many there are" in found.note
    assert found.ci().low <= TRUTH[inside].sum() * PEOPLE <= found.ci().high


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda est: heat_map(est, [1, 2]), "An estimate already has its reports"),
        (
            lambda est: heat_map(est.mechanism),
            "Expected an estimate on places, or a mechanism and its reports, got GRR",
        ),
        (lambda _: heat_map(3, [1]), "Expected an estimate on places, or a mechanism and its reports, got int"),
        (lambda _: heat_map(GRR(Integers(1, 5), 1), [1]), "Expected places as bp.Points"),
        (lambda est: heat_map(est, smoothing_km=-1), "Expected smoothing_km as a number of km ≥ 0, got -1"),
        (lambda est: heat_map(est, smoothing_km="far"), "Expected smoothing_km as a number of km ≥ 0, got 'far'"),
        (lambda est: top_places(est, k=0), "Expected k as a whole number from 1 to 30"),
        (lambda est: top_places(est, k=31), "Expected k as a whole number from 1 to 30"),
        (lambda est: top_places(est, confidence=2), "Expected confidence between 0 and 1"),
        (range_count, "Expected either box=.*, or centre=.* and radius_km; pass one"),
        (lambda est: range_count(est, centre=(1, 2)), "pass one"),
        (lambda est: range_count(est, box=(0, 0, 1, 1), centre=(1, 2), radius_km=1), "pass one"),
        (lambda est: range_count(est, box=(1, 0, 0, 1)), "Expected box as .* with −90 ≤ south ≤ north"),
        (lambda est: range_count(est, box=(0, 0, 1)), "Expected box as four numbers, got \\(0, 0, 1\\)"),
        (lambda est: range_count(est, box="here"), "Expected box as four numbers, got 'here'"),
        (lambda est: range_count(est, centre=(95, 0), radius_km=1), "Expected centre=.* in degrees and radius_km ≥ 0"),
        (lambda est: range_count(est, centre=(5, 0), radius_km="x"), "radius_km ≥ 0, got \\(5, 0\\) and 'x'"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_words(grr, call, message):
    with pytest.raises(InputError, match=message):
        call(grr)


def test_more_places_than_a_heat_map_holds_are_refused(grr, monkeypatch):
    monkeypatch.setattr("bipartite.locations.heat.MOST_SMOOTHED", 10)
    with pytest.raises(InputError, match="Expected at most 10 places on a heat map, got 30; use a coarser grid"):
        heat_map(grr)


def test_both_sides_of_the_date_line_and_the_poles_are_in_the_boxes_that_touch_them():
    edge = places([[10, 180], [10, -179.99], [10, 179.99], [90, 0], [-90, 0], [10, 0]])

    def inside(*box):
        return Box.of(box).holds(edge).sum()

    assert inside(0, 179, 20, 180) == 2
    assert inside(0, -180, 20, -179) == 2
    assert inside(0, 170, 20, -170) == 3
    assert inside(0, -179, 20, 179) == 1
    assert inside(-90, -180, 90, 180) == 6
    assert (inside(80, 30, 90, 40), inside(-90, 30, -80, 40), inside(80, 30, 89, 40)) == (1, 1, 0)


@pytest.mark.parametrize("width", [1e-320, 1e-200, 1e-9])
def test_smoothing_over_next_to_nothing_is_no_smoothing(width):
    three = places([[52.52, 13.40], [48.86, 2.35], [51.51, -0.13]])
    mechanism = GRR(three, 2)
    given = mechanism.privatize([0] * 300, rng=insecure_seed(1))
    assert heat_map(mechanism, given, smoothing_km=width).shares.tolist() == heat_map(mechanism, given).shares.tolist()


@pytest.mark.parametrize("kind", [SubsetSelection, OUE, OLH, HadamardResponse], ids=lambda kind: kind.__name__)
def test_what_the_adviser_recommends_for_a_map_can_be_mapped(kind):
    assert isinstance(recommend(PLACES, 1, "map").mechanism, SubsetSelection)
    mechanism = kind(PLACES, 2)
    found = estimate(mechanism, reports(mechanism))
    low, high = heat_map(found).intervals(0.999)  # seeded: with other seeds 3 % of the runs would miss a place of 30
    assert ((low <= TRUTH) & (high >= TRUTH)).all()
    assert {each.place for each in top_places(mechanism, reports(mechanism), k=5)} == set(range(5))
    assert range_count(found, box=(-90, -180, 90, 180)).value == pytest.approx(PEOPLE, rel=0.05)


def test_flat_categories_that_are_not_places_have_no_map():
    mechanism = OUE(Integers(1, 3), 1)
    with pytest.raises(InputError, match="Expected places as bp.Points"):
        heat_map(mechanism, mechanism.privatize([1] * 100, rng=insecure_seed(1)))

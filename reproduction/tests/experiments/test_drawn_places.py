"""Other draws of places, and what is guessed from a report: rows against brute force with distances of our own."""

import math

import numpy as np
import pytest

from reproduction.experiments import inference_errors, location_draws, location_errors, location_maps
from reproduction.experiments.location_draws import AUTHORS, FOURSQUARE_CITY, GOWALLA_WORLD, POOLS, SCRIPTED
from reproduction.experiments.places_of_the_paper import FOURSQUARE, GOWALLA, WORLD, drawn, parts_of, places_of, saved
from reproduction.form import frame
from reproduction.places import BEST_M, CALIBRATED, ONE_PLACE, PUBLISHED, WHOLE, WITHIN, Regions

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def rows():
    """Small draws, of which two of the world are measured, whatever regions they have, and none of FourSquare's."""
    some = {name: (*POOLS[name][:3], range(1, 61), 2) for name in (AUTHORS, GOWALLA_WORLD)}
    some[FOURSQUARE_CITY] = (*POOLS[FOURSQUARE_CITY][:3], range(41, 61), 2)
    with pytest.MonkeyPatch.context() as patch:
        for name, pool in some.items():
            patch.setitem(POOLS, name, pool)
        asked = [(AUTHORS, 60, 1), *((GOWALLA_WORLD, 60, draw) for draw in (1, 2, 3)), (FOURSQUARE_CITY, 40, 1)]
        return frame([row for each in asked for row in location_draws.measure(*each, epsilons=("0.5", "2"))])


def kilometres(coordinates):
    """Distances by the formula with sines of half angles; the library uses chords of whole vectors."""
    lat, lon = np.radians(coordinates).T
    half = np.sin((lat[:, None] - lat) / 2) ** 2
    half += np.cos(lat)[:, None] * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(np.clip(half, 0, 1)))


def of_m(distances, m, e):
    """The mean error with this m, one place at a time."""
    size = len(distances)
    ordered = np.sort(distances, axis=1)
    return float(((e - 1) * ordered[:, :m].sum(axis=1) + ordered.sum(axis=1)).mean()) / ((e - 1) * m + size)


def algorithm_2(distances, e):
    """The least number of places that are raised, over all places."""
    least = len(distances)
    for row in np.sort(distances, axis=1).tolist():
        weights, total, raised = float(len(row)), math.fsum(row), 0
        for each in row:
            if each * weights >= total:
                break
            weights, total, raised = weights + e - 1, total + (e - 1) * each, raised + 1
        least = min(least, max(raised, 1))
    return least


def test_errors_within_regions_are_those_of_brute_force(rows):
    for seed in (1, 2):
        tables = [kilometres(part.coordinates) for part in parts_of(Regions.by_prefix(drawn(WORLD, 60, seed)))]
        for epsilon in (0.5, 2.0):
            e = math.exp(epsilon)
            some = rows.query("what == 'error' and pool == @GOWALLA_WORLD and seed == @seed and epsilon == @epsilon")
            ours = dict(zip(some["mechanism"], some["expected_km"], strict=True))
            expected = {
                "BRR": sum(len(each) * of_m(each, algorithm_2(each, e), e) for each in tables) / 60,
                BEST_M: sum(len(each) * min(of_m(each, m, e) for m in range(1, len(each))) for each in tables) / 60,
                "GRR": sum(len(each) * of_m(each, 1, e) for each in tables) / 60,
            }
            assert {name: ours[name] for name in expected} == pytest.approx(expected, rel=1e-4)


def test_the_authors_places_have_the_errors_of_figure_8(rows):
    """L-SRR too: the same places, regions and rule as in location_errors."""
    own = rows[rows["pool"] == AUTHORS].set_index(["mechanism", "epsilon"])
    assert set(own["regions"]) == {len(places_of(GOWALLA, 60)[1])}
    for epsilon in ("0.5", "2"):
        for same in location_errors.measure(GOWALLA, 60, epsilon):
            assert same["scope"] == WHOLE or same["realised_epsilon"] == math.inf
            assert same["mechanism"] == PUBLISHED or same["epsilon_within"] <= float(epsilon) * (1 + 1e-12)
            if same["scope"] == WITHIN and same["mechanism"] in {"BRR", "GRR", PUBLISHED, CALIBRATED}:
                row = own.loc[(same["mechanism"], float(epsilon))]
                assert row["expected_km"] == pytest.approx(same["expected_km"], rel=1e-9)
                assert row["epsilon_within"] == pytest.approx(same["epsilon_within"], rel=1e-6)


@pytest.mark.slow
def test_the_errors_on_all_places_are_those_of_the_reference():
    whole = {}
    for epsilon in ("1", "2"):
        for row in location_errors.measure(GOWALLA, 1000, epsilon):
            whole |= {(row["mechanism"], epsilon): row["expected_km"]} if row["scope"] == WHOLE else {}
    for name, *errors in (
        ("GRR", 2063, 2054), ("BRR", 1683, 1311), (BEST_M, 1637, 1243), ("Anchored", 1385, 1100),
        ("Region-weighted", 1878, 1656),
    ):  # fmt: skip
        assert [whole[name, epsilon] for epsilon in "12"] == pytest.approx(errors, abs=0.6)


def test_only_some_draws_are_measured_and_all_are_counted(rows):
    world = rows[rows["pool"] == GOWALLA_WORLD]
    assert set(world[world["what"] == "regions"]["seed"]) == {1, 2, 3}
    assert set(world[world["what"] == "error"]["seed"]) == {1, 2}
    assert set(rows[rows["pool"] == FOURSQUARE_CITY]["what"]) == {"regions"}
    counted = rows[rows["what"] == "regions"]
    assert (counted["smallest"] * counted["regions"] <= counted["places"]).all()
    assert (counted["places"] <= counted["largest"] * counted["regions"]).all()
    kept = rows[(rows["what"] == "error") & ~rows["mechanism"].isin([PUBLISHED, SCRIPTED])]
    assert (kept["epsilon_within"] <= kept["epsilon"] * (1 + 1e-9)).all()


def test_savings_are_of_the_same_draw_at_the_same_epsilon(rows):
    found = saved(rows, "GRR").set_index(["pool", "seed", "epsilon"])["saved"]
    cells = rows[rows["what"] == "error"].set_index(["pool", "seed", "epsilon", "mechanism"])["expected_km"]
    assert len(found) == 6
    for at, share in found.items():
        assert share == pytest.approx(1 - cells[(*at, "BRR")] / cells[(*at, "GRR")])


def test_the_rows_of_a_map_are_the_regions_and_every_place_once():
    rows = frame(list(location_maps.measure(FOURSQUARE, 300)))
    regions, spots = location_maps.regions_of(rows), rows[rows["latitude"].notna()]
    assert regions["size"].sum() == len(spots) == 300 and set(regions["places"]) == {300}
    assert spots["region"].value_counts().to_dict() == dict(zip(regions["region"], regions["size"], strict=True))
    assert len(spots[["latitude", "longitude"]].drop_duplicates()) == 300  # rounded, and still apart
    read = location_maps._read(rows)
    assert read.sizes.sum() == 300 and read.bits() == pytest.approx(regions["bits"].iloc[0])


@pytest.mark.parametrize("scope", [WHOLE, WITHIN])
def test_the_best_guess_is_that_of_brute_force(scope):
    from bipartite import BRR, Anchored

    rows = frame(list(inference_errors.measure(GOWALLA, 40, scope, "1"))).set_index("mechanism")
    _, regions = places_of(GOWALLA, 40)
    for name, make in (("BRR", BRR), ("Anchored", Anchored)):
        total = 0.0
        for part in [regions.places] if scope == WHOLE else parts_of(regions):
            matrix, apart = make(part, "1").matrix(), kilometres(part.coordinates)
            total += (matrix.T @ apart).min(axis=1).sum()
        assert rows.loc[name, "inference_km"] == pytest.approx(total / 40, rel=1e-4)
    one = rows.loc[ONE_PLACE, "expected_km"]
    assert (rows["inference_km"] <= np.minimum(rows["expected_km"], one) * (1 + 1e-9)).all()

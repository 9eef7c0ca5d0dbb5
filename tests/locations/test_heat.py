"""Heat maps in cells and as GeoJSON: positions, shares, intervals and promises are read back."""

import json
import sys

import numpy as np
import pytest

from bipartite import BRR, GRR, insecure_seed
from bipartite.errors import InputError
from bipartite.locations import grid, heat_map, places
from bipartite.plots.figure import as_svg

SQUARE = grid((50, 0, 51, 1), metres=40_000)  # three rows of two
EVEN = [each for each in range(6) for _ in range(1000)]


def heated(domain, values, epsilon=2, mechanism=GRR, seed=1):
    made = mechanism(domain, epsilon)
    return heat_map(made, made.privatize(values, rng=insecure_seed(seed)))


@pytest.fixture(scope="module")
def square():
    return heated(SQUARE, [0] * 12_000 + [5] * 4_000)


def test_a_grid_becomes_polygons_around_its_centres(square):
    assert len(SQUARE) == 6
    found = json.loads(json.dumps(square.to_geojson(0.9)))
    assert found["type"] == "FeatureCollection" and len(found["features"]) == 6
    assert found["bipartite"]["guarantee"] == "ε-LDP of each report with ε = 2"
    assert (found["bipartite"]["reports"], found["bipartite"]["confidence"]) == (16_000, 0.9)
    low, high = square.intervals(0.9)
    for number, each in enumerate(found["features"]):
        (ring,) = each["geometry"]["coordinates"]
        assert each["geometry"]["type"] == "Polygon" and ring[0] == ring[-1]
        corners = np.array(ring[:-1])
        np.testing.assert_allclose(corners.mean(axis=0)[::-1], SQUARE.coordinates[number], atol=1e-6)
        x, y = corners.T
        assert (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() > 0  # counter-clockwise, as RFC 7946 asks for
        said = each["properties"]
        assert (said["place"], said["share"]) == (number, square.shares[number])
        assert said["name"] == ["A3", "B3", "A2", "B2", "A1", "B1"][number]
        assert (said["low"], said["high"]) == (low[number], high[number])
        assert said["low_together"] <= said["low"] and said["high"] <= said["high_together"]


def test_cells_across_the_date_line_are_cut_there():
    domain = grid((-1, 179, 1, -179.2), metres=100_000)
    shapes = [each["geometry"] for each in heated(domain, [0] * 100).to_geojson()["features"]]
    cut = [each for each in shapes if each["type"] == "MultiPolygon"]
    whole = [each["coordinates"] for each in shapes if each["type"] == "Polygon"]
    longitudes = np.array(
        [x for shape in (*whole, *(p for each in cut for p in each["coordinates"])) for r in shape for x, _ in r]
    )
    assert cut and np.abs(longitudes).max() == 180
    for each in cut:
        west, east = (np.array(ring)[:, 0] for (ring,) in each["coordinates"])
        assert west.min() > 178 and west.max() == 180 and east.min() == -180 and east.max() < -178


def test_other_places_become_points_and_unknown_intervals_null():
    three = places([[52.52, 13.40], [48.86, 2.35], [51.51, -0.13]], labels=["Berlin", "Paris", "London"])
    told = heated(three, ["Paris"] * 500).to_geojson()["features"][1]
    assert told["geometry"] == {"type": "Point", "coordinates": [2.35, 48.86]}
    assert told["properties"]["place"] == told["properties"]["name"] == "Paris" and told["properties"]["low"] > 0.8
    guessed = heat_map(BRR(SQUARE, 1, m=3), [0] * 60).to_geojson()
    few = heated(SQUARE, [0] * 20).to_geojson()
    for each in (*guessed["features"], *few["features"]):
        assert all(each["properties"][key] is None for key in ("low", "high", "low_together", "high_together"))
    assert "too few for intervals" in few["bipartite"]["note"]


def test_intervals_for_all_together_hold_for_all_cells():
    # 200 runs, each missed with a chance of at most 0.1: more than 40 missed has a chance below 2e-5, and the seeds are
    # fixed. Intervals of each alone miss somewhere in about 47 % of the runs.
    missed = {True: 0, False: 0}
    for seed in range(200):
        heat = heated(SQUARE, EVEN, seed=seed)
        for together in missed:
            low, high = heat.intervals(0.9, together=together)
            missed[together] += bool(((low > 1 / 6) | (high < 1 / 6)).any())
    assert missed[True] <= 40 < missed[False]


def test_reports_that_do_not_fit_claim_nothing():
    heat = heat_map(GRR(SQUARE, 1), [0] * 5000)
    assert heat.guarantee.startswith("no ε is claimed") and heat.note
    assert "no ε is claimed" in as_svg(heat.plot)


def test_a_confidence_that_is_none_is_refused(square):
    with pytest.raises(InputError, match="confidence"):
        square.to_geojson(1.5)


def test_a_heat_map_is_short_in_words_and_a_picture_in_a_notebook(square, monkeypatch):
    assert repr(square) == "<heat map of 6 places from 16,000 reports: ε-LDP of each report with ε = 2>"
    assert square._repr_svg_() == as_svg(square.plot)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "matplotlib", None)
        assert square._repr_svg_() is None
    smoothed = heat_map(GRR(SQUARE, 2), [0, 1, 2, 3, 4, 5] * 10, smoothing_km=30)
    assert "60 reports, smoothed over 30 km: " in repr(smoothed)
    said = "shares and intervals are of people spread over 30 km around where they are"
    assert smoothed.note.endswith(said) and said not in square.note and said[1:] in smoothed.plot().get_label()


def test_a_share_lies_in_its_own_interval_also_below_zero():
    heat = heat_map(GRR(SQUARE, 1), [0] * 50 + [1, 2])
    assert heat.shares.min() < 0
    for together in (False, True):
        low, high = heat.intervals(0.5, together=together)
        assert (low <= heat.shares).all() and (heat.shares <= high).all()

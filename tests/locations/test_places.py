"""Candidates: checks in words, merged duplicates, public check-ins, grids, and the encoding of positions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bipartite as bp
from bipartite import locations
from bipartite.errors import DomainError, InputError
from bipartite.locations.candidates import MOST_GRID_CELLS

BERLIN, PARIS, SYDNEY = [52.52, 13.405], [48.857, 2.352], [-33.869, 151.209]
METRE = 180 / (math.pi * 6371008.8)  # degrees of latitude


def test_places_are_points_on_the_globe():
    found = bp.locations.places([BERLIN, PARIS], labels=["Berlin", "Paris"])
    assert found == bp.Points([BERLIN, PARIS], metric="haversine", labels=["Berlin", "Paris"])
    assert "locations" in dir(bp)


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ([], "Expected two places or more, got none"),
        ([[13.4, 52.5], [151.2, -33.9]], "got 1 of 2 beyond: this looks like \\(longitude, latitude\\); swap"),
        ([[95.0, 120.0], [1.0, 2.0]], "Expected latitudes in ±90 degrees, got 1 of 2 beyond; correct or remove"),
        ([[1.0, 190.0], [1.0, 2.0]], "Expected longitudes in ±180 degrees, got 1 of 2 beyond"),
        ([[95.0, 190.0], [1.0, math.nan]], "3 problems"),
        ([[math.nan, 2.0], [1.0, 2.0]], "Expected finite coordinates, got NaN or infinity in 1 "),
        ([[1, 2, 3], [4, 5, 6]], "Expected rows \\(latitude, longitude\\), got shape \\(2, 3\\)"),
        ([1, 2], "Expected rows \\(latitude, longitude\\), got shape \\(2,\\)"),
        ([["a", "b"]], "Expected coordinates as numbers, one row"),
        ([[1, 2], [3]], "Expected coordinates as numbers, one row"),
        (np.ma.masked_array([[0.0, 0], [1, 1]], mask=True), "Expected coordinates as numbers, one row"),
        ([BERLIN, PARIS, BERLIN], "Expected distinct places, got 1 within about 0.2 m of another; pass merge_within=1"),
        ([[0, 180], [0, -180]], "Expected distinct places, got 1 within about 0.2 m"),
        ([[1.0, 2.0]], "Expected coordinates as 2 rows or more"),
    ],
)
def test_what_is_no_list_of_places_is_refused_in_words(coordinates, message):
    with pytest.raises(DomainError, match=message):
        locations.places(coordinates)


def test_places_are_merged_only_if_asked():
    near = [BERLIN[0] + 5 * METRE, BERLIN[1]]
    rows = [BERLIN, PARIS, near, BERLIN]
    merged = locations.places(rows, labels=["a", "b", "c", "d"], merge_within=10)
    assert merged.labels == ("a", "b")
    assert locations.places([BERLIN, PARIS, near], merge_within=4).size == 3
    assert locations.places(rows, merge_within=0).size == 3
    for wrong in (-1, math.nan, "3", True):
        with pytest.raises(InputError, match="Expected merge_within as metres ≥ 0"):
            locations.places(rows, merge_within=wrong)
    with pytest.raises(DomainError, match="got one after merging within 1e\\+06 m; merge less"):
        locations.places([BERLIN, PARIS], merge_within=1e6)
    for wrong in ("abcd", 4):
        with pytest.raises(DomainError, match="Expected labels as a list, one a place, got "):
            locations.places(rows, labels=wrong, merge_within=10)
    with pytest.raises(DomainError, match="Expected 4 labels, one a place, got 1; name every place, merged ones too"):
        locations.places(rows, labels=["a"], merge_within=10)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=40), st.integers(1, 12))
def test_merging_keeps_the_first_of_each_crowd_as_a_plain_search_does(offsets, metres):
    rows = np.array([*offsets, (0, 500)]) * METRE
    domain_of_all = [bp.Points([row, [45.0, 45.0]], metric="haversine").order.vectors[0] for row in rows]
    reach = 2 * 2**25 * math.sin(metres / 6371008.8 / 2)
    kept = []
    for number, vector in enumerate(domain_of_all):
        if not any(math.dist(vector, domain_of_all[other]) <= reach for other in kept):
            kept.append(number)
    found = locations.places(rows, merge_within=metres)
    assert found.coordinates.tolist() == rows[kept].tolist()


def test_check_ins_must_be_public_and_the_same_seed_gives_the_same_places():
    rng = np.random.default_rng(1)
    distinct = rng.uniform(-60, 60, (200, 2))
    visits = distinct[rng.integers(0, 200, 2000)]
    everything = locations.from_checkins(visits, source="public")
    assert everything.size == len(np.unique(visits, axis=0))
    some = locations.from_checkins(visits, source="public", places=50, seed=4)
    assert some == locations.from_checkins(visits, source="public", places=50, seed=4)
    assert some != locations.from_checkins(visits, source="public", places=50, seed=5)
    assert some.size == 50 and {tuple(row) for row in some.coordinates} <= {tuple(row) for row in visits}
    for source in ("private", None, True):
        with pytest.raises(InputError, match="Expected source='public', got .*tell where somebody was, and no ε"):
            locations.from_checkins(visits, source=source)
    for places in (1, 201, 2.5):
        with pytest.raises(InputError, match="Expected places as a whole number from 2 to "):
            locations.from_checkins(visits, source="public", places=places)


@pytest.mark.parametrize("box", [(52.3, 13.0, 52.7, 13.8), (-10, 20, 10, 40), (59.0, -3, 61, 3), (84, 0, 90, 180)])
def test_cells_of_a_grid_are_no_larger_than_asked_and_cover_the_box(box):
    south, west, north, east = box
    metres = 20_000 if north - south > 1 else 2_000
    found = locations.grid(box, metres=metres)
    latitudes = np.unique(found.coordinates[:, 0])
    assert np.diff(latitudes) * 111_195.08 == pytest.approx((north - south) / len(latitudes) * 111_195.08)
    assert (north - south) / len(latitudes) * 111_195.08 <= metres * (1 + 1e-9)
    for latitude in latitudes[:: max(1, len(latitudes) // 5)]:
        row = found.coordinates[found.coordinates[:, 0] == latitude, 1]
        width = (east - west) / len(row) * 111_195.08 * math.cos(math.radians(latitude))
        assert width <= metres * (1 + 1e-9)
        assert row[0] == pytest.approx(west + (east - west) / len(row) / 2)
    rng = np.random.default_rng(2)
    inside = rng.uniform([south, west], [north, east], (500, 2))
    nearest = found.nearest(inside)
    apart = [
        bp.Points([a, b + 1e-7], metric="haversine").losses(0)[1]
        for a, b in zip(inside[:100], found.coordinates[nearest[:100]], strict=True)
    ]
    assert max(apart) * 1000 <= 0.75 * metres


@pytest.mark.parametrize(
    ("box", "metres", "message"),
    [
        ((52, 13, 53, 14), 1, "Expected at most 100,000 cells, got about .*; use metres="),
        ((1, 2, 3), 1000, "Expected box as four numbers, got \\(1, 2, 3\\)"),
        ((1, 2, 3, "4"), 1000, "Expected box as four numbers"),
        ((53, 13, 52, 14), 1000, "Expected −90 ≤ south < north ≤ 90 and −180 ≤ west < east ≤ 180"),
        ((52, 170, 53, -170), 1000, "make two grids across the date line"),
        ((52, 13, 53, 14), 1e-300, "Expected metres from 0.2, as places are told apart, got 1e-300"),
        ((52, 13, 53, 14), 0, "Expected metres as a positive number, got 0"),
        ((52, 13, 53, 14), math.nan, "Expected metres as a positive number"),
        ((52, 13, 52.001, 13.001), 1e6, "Expected a grid of two cells or more, got one of 1e\\+06 m"),
        ((-90, 0, 90, 1e-12), 1, "Expected at most 100,000 cells, got about 20,0"),
        ((-1e-3, -180, 1e-3, 180), 160, "Expected at most 100,000 cells"),
    ],
)
def test_what_is_no_grid_is_refused_in_words(box, metres, message):
    with pytest.raises(DomainError, match=message):
        locations.grid(box, metres=metres)


def test_the_advised_width_of_cells_is_enough():
    with pytest.raises(DomainError) as refusal:
        locations.grid((50, 10, 55, 15), metres=100)
    advised = int(str(refusal.value).split("metres=")[1].split(" ")[0])
    assert len(locations.grid((50, 10, 55, 15), metres=advised)) <= MOST_GRID_CELLS


def test_positions_become_the_nearest_place_and_far_ones_tell_nothing_by_default():
    found = locations.places([BERLIN, PARIS, SYDNEY], labels=["Berlin", "Paris", "Sydney"])
    positions = [[52.0, 13.0], [0.0, 0.0], [-34.0, 151.0]]
    assert locations.encode(found, positions) == ["Berlin", "Paris", "Sydney"]
    assert locations.encode(found, positions, max_distance=100) == ["Berlin", "Paris", "Sydney"]
    assert locations.encode(found, positions, max_distance=100, far="drop") == ["Berlin", "Sydney"]
    with pytest.raises(InputError, match="1 of 3 cannot be reported: position 1 is farther than 100 from every point"):
        locations.encode(found, positions, max_distance=100, far="error")
    with pytest.raises(InputError, match="make them with bp.locations.places"):
        locations.encode(bp.Integers(1, 3), positions)

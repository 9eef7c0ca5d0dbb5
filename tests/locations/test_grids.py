"""Grids: cells as small as asked for, that cover their box, with the names of squares of a city map."""

import itertools
import json
import math
import string

import numpy as np
import pytest

import bipartite as bp
from bipartite import locations
from bipartite.errors import DomainError
from bipartite.locations.grids import MOST_GRID_CELLS, names_of, squares_of


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
        ((53, 13, 52, 14), 1000, "Expected box as .* with −90 ≤ south ≤ north ≤ 90 and longitudes in ±180"),
        ((52, 13, 52, 14), 1000, "Expected box as .* with south < north and west ≠ east, got \\(52, 13, 52, 14\\)"),
        ((52, 13, 53, 13), 1000, "Expected box as .* with south < north and west ≠ east"),
        ((52, 13, 53, 14), 1e-300, "Expected metres ≥ 0.2, the resolution of places, got 1e-300"),
        ((52, 13, 53, 14), 0, "Expected metres ≥ 0.2, the resolution of places, got 0;"),
        ((52, 13, 53, 14), math.nan, "Expected metres ≥ 0.2, the resolution of places, got nan"),
        ((52, 13, 52.001, 13.001), 1e6, "Expected a grid of at least two cells, got one of 1e\\+06 m"),
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


def test_a_grid_across_the_date_line_is_the_same_grid_farther_west():
    there, here = locations.grid((-20, 175, -15, -170), metres=50_000), locations.grid((-20, 5, -15, 20), metres=50_000)
    assert np.abs(there.coordinates[:, 1]).max() <= 180
    assert (there.coordinates - here.coordinates)[:, 0] == pytest.approx(0)
    assert (there.coordinates - here.coordinates)[:, 1] % 360 == pytest.approx(170)


@pytest.mark.parametrize(
    ("box", "metres"),
    [
        ((52.3, 13.0, 52.7, 13.8), 5000),
        ((-20, 170, -10, -170), 400_000),
        ((60, -180, 80, 180), 700_000),
        ((0, 0, 1, 1), 60_000),
    ],
)
def test_the_cells_of_a_grid_tile_its_box(box, metres):
    cells = squares_of(locations.grid(box, metres=metres)).boxes
    south, west, north, east = box
    width = (east - west) % 360 or 360
    area = (cells[:, 2] - cells[:, 0]) * (cells[:, 3] - cells[:, 1])
    assert area.sum() == pytest.approx((north - south) * width)
    assert cells[:, 0].min() == pytest.approx(south) and cells[:, 2].max() == pytest.approx(north)
    assert ((cells[:, 1] - west + 1e-6) % 360 <= width).all() and (np.abs(cells[:, 1]) <= 180 + 1e-9).all()
    middles = np.column_stack([cells[:, [0, 2]].mean(axis=1), cells[:, [1, 3]].mean(axis=1)])
    off = middles - locations.grid(box, metres=metres).coordinates
    off[:, 1] = (off[:, 1] + 180) % 360 - 180
    assert np.abs(off).max() < 1e-9


def test_places_that_are_no_grid_have_no_cells():
    rows = locations.grid((0, 0, 3, 3), metres=60_000).coordinates
    moved = rows.copy()
    moved[4, 1] += 0.001
    others = (
        rows[::-1],
        rows[1:],
        rows[:-1],
        moved,
        rows[:3],
        np.array([[0.0, 1.0], [1.0, 1.0]]),
        np.delete(rows, 5, 0),
    )
    for other in others:
        assert squares_of(bp.Points(other, metric="haversine")) is None


@pytest.mark.parametrize(
    ("box", "metres"),
    [
        ((52.3, 13.0, 52.7, 13.8), 10_000),
        ((60, 170, 70, -170), 90_000),
        ((80, 0, 89, 60), 20_000),
        ((0, 0, 1e-4, 1e-4), 5),
    ],
)
def test_a_grid_that_went_through_a_spec_still_has_its_cells(box, metres):
    """Vectors of a spec are rounded to a sixth of a metre, and a map from the command line comes from one."""
    made = locations.grid(box, metres=metres)
    read = bp.from_spec(json.loads(json.dumps(bp.GRR(made, 1).to_spec()))).domain
    assert read.coordinates.tolist() != made.coordinates.tolist()
    np.testing.assert_allclose(squares_of(read).boxes, squares_of(made).boxes, atol=1e-5)
    assert squares_of(read).names == squares_of(made).names
    moved = read.coordinates.copy()
    moved[len(moved) // 2, 0] += 3e-5  # three metres to the north
    assert squares_of(bp.Points(moved, metric="haversine")) is None


def test_cells_have_the_names_of_squares_of_a_city_map():
    berlin = locations.grid((52.3, 13.0, 52.7, 13.8), metres=10_000)  # five rows of six, from the south-west
    names = squares_of(berlin).names
    assert names[:6] == ["A5", "B5", "C5", "D5", "E5", "F5"] and names[-6:] == ["A1", "B1", "C1", "D1", "E1", "F1"]
    assert names_of(berlin)[15] == "D3 (52.50, 13.47)"
    fine = locations.grid((52.5, 13.0, 52.51, 13.01), metres=200)
    assert names_of(fine)[0].startswith("A6 (52.5008, 13.00")
    assert names_of(locations.places([[1, 2], [3, 4]])) == ["0 (1.0000, 2.0000)", "1 (3.0000, 4.0000)"]
    assert names_of(locations.places([[1, 2], [3, 4]], ["a", "b\n"])) == ["a", "b\\n"]


@pytest.mark.parametrize(
    ("box", "metres"),
    [
        ((35, -12, 62, 42), 300_000),
        ((-20, 170, -10, -170), 90_000),
        ((60, -180, 89, 180), 300_000),
        ((0, 0, 9, 99), 90_000),
    ],
)
def test_a_letter_is_a_strip_of_the_map_and_a_number_a_row(box, metres):
    domain = locations.grid(box, metres=metres)
    squares = squares_of(domain)
    assert len(set(squares.names)) == len(domain)
    letters = [*string.ascii_uppercase, *map("".join, itertools.product(string.ascii_uppercase, repeat=2))]
    assert list(squares.letters) == letters[: len(squares.letters)]
    middles = list(squares.letters.values())
    width = (box[3] - box[1]) % 360 or 360
    assert np.diff(middles) == pytest.approx(width / len(middles)) and middles[0] == pytest.approx(
        box[1] + width / len(middles) / 2
    )
    rows = {}
    for name, (latitude, longitude) in zip(squares.names, domain.coordinates.tolist(), strict=True):
        letter, number = name.rstrip(string.digits), name.lstrip(string.ascii_uppercase)
        assert squares.numbers[number] == pytest.approx(latitude)
        aside = (longitude - squares.letters[letter] + 180) % 360 - 180
        assert abs(aside) <= width / len(middles) / 2 * (1 + 1e-9)
        rows.setdefault(int(number), []).append(letters.index(letter))
    assert all(each == sorted(each) for each in rows.values()) and sorted(rows) == list(range(1, len(rows) + 1))
    north_first = [squares.numbers[str(number)] for number in sorted(rows)]
    assert north_first == sorted(north_first, reverse=True)

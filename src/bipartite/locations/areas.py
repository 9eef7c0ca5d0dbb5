"""Boxes and circles on the map, and the places inside them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from bipartite.domains.base import as_real
from bipartite.domains.points import MOST_DEGREES, loss_of, unit_vectors
from bipartite.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bipartite.domains import Points

_POLE, _HALF_TURN = MOST_DEGREES


@dataclass(frozen=True, slots=True)
class Box:
    """A box in degrees, from west eastward to east; it crosses the date line if west > east."""

    south: float
    west: float
    north: float
    east: float

    @classmethod
    def of(cls, given: object, error: type[InputError] = InputError) -> Box:
        """Read a box, or raise ``error``."""
        found = _numbers(given, 4)
        if found is None:
            raise error(
                f"Expected box as four numbers, got {shown(given)}; give (south, west, north, east) in degrees."
            )
        box = cls(*found)
        if not (_on_globe(box.south, box.west) and _on_globe(box.north, box.east) and box.south <= box.north):
            raise error(
                "Expected box as (south, west, north, east) with −90 ≤ south ≤ north ≤ 90 and longitudes in ±180 "
                f"degrees, got {shown(given)}; give them in this order."
            )
        return box

    @property
    def width(self) -> float:
        """The extent from west to east, in degrees."""
        return self.east - self.west + (2 * _HALF_TURN if self.west > self.east else 0.0)

    def holds(self, places: Points) -> NDArray[np.bool_]:
        """Which places lie inside, edges included."""
        latitudes, longitudes = places.coordinates.T
        east_of, west_of = longitudes >= self.west, longitudes <= self.east
        between = east_of | west_of if self.west > self.east else east_of & west_of
        if _HALF_TURN in {-self.west, self.east}:
            between |= np.abs(longitudes) == _HALF_TURN  # +180° and −180° are the same meridian
        between |= np.abs(latitudes) == _POLE  # a pole has every longitude
        inside: NDArray[np.bool_] = between & (latitudes >= self.south) & (latitudes <= self.north)
        return inside


def in_circle(places: Points, centre: object, radius_km: object) -> NDArray[np.bool_]:
    """Which places lie within ``radius_km`` of a position."""
    position, radius = _numbers(centre, 2), as_real(radius_km)
    if position is None or not _on_globe(*position) or not 0 <= radius < math.inf:
        raise InputError(
            f"Expected centre=(latitude, longitude) in degrees and radius_km ≥ 0, got {shown(centre)} and "
            f"{shown(radius_km)}."
        )
    steps = unit_vectors(places.coordinates) - unit_vectors(np.array([position]))
    return loss_of((steps * steps).sum(axis=1), "haversine", 0) <= radius


def _numbers(given: object, count: int) -> list[float] | None:
    """A list of ``count`` finite numbers; None for anything else."""
    try:
        found = [as_real(each) for each in cast("Iterable[object]", given)]
    except TypeError:
        return None
    return found if len(found) == count and all(map(math.isfinite, found)) else None


def _on_globe(latitude: float, longitude: float) -> bool:
    return abs(latitude) <= _POLE and abs(longitude) <= _HALF_TURN

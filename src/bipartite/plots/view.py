"""A map projection of part of the globe, with coasts, a graticule and a scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.svg import path, rule, tag, text, ticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_TALLEST: Final = 560.0
_LEAST_DEGREES: Final = 0.01  # about a kilometre, since a single place has no extent
_MARGIN: Final = 0.07
_FLATTEST: Final = 0.2  # closer to the poles the map would be too wide
_KM_A_DEGREE: Final = 6371.0088 * math.pi / 180
_POLE, _TURN = 90.0, 360.0
_WATER: Final = "#f7fafc"
_SHORE: Final = "#d3cfc5"
_COARSE: Final = 3.0  # degrees of latitude
# Numbers of latitudes leave this room to those of longitudes, and to the scale.
_ROOM_ABOVE: Final = 24
_ROOM_BELOW: Final = 28


class View:
    """The part of the globe around some places, as large as the picture allows, also across the date line.

    An equirectangular projection, true to scale at the middle latitude.
    """

    def __init__(self, coordinates: Array, top: float, across: float = style.WIDTH) -> None:
        latitudes = coordinates[:, 0]
        start, span = _longitudes(coordinates[:, 1])
        south, north = float(latitudes.min()), float(latitudes.max())
        height = max((north - south) * (1 + 2 * _MARGIN), _LEAST_DEGREES)
        width = min(max(span * (1 + 2 * _MARGIN), _LEAST_DEGREES), _TURN)
        self.middle = start + span / 2
        centre = (south + north) / 2
        self.flat = max(math.cos(math.radians(centre)), _FLATTEST)
        self._scale = min(across / (width * self.flat), _TALLEST / height)
        # Use the full width of the picture, up to the whole globe.
        self._half = min(across / self._scale / self.flat / 2, _TURN / 2)
        self.north = min(_POLE, centre + height / 2)
        self.south = max(-_POLE, centre - height / 2)
        self.top = top
        self.width = 2 * self._half * self.flat * self._scale
        self.left = (across - self.width) / 2
        self.height = (self.north - self.south) * self._scale

    @property
    def bottom(self) -> float:
        """The y coordinate of the bottom of the map."""
        return self.top + self.height

    def at(self, coordinates: Array) -> list[tuple[float, float]]:
        """The positions of rows (latitude, longitude)."""
        away = (coordinates[:, 1] - self.middle + _TURN / 2) % _TURN - _TURN / 2
        return [(x + self.left, y + self.top) for x, y in self._drawn(coordinates[:, 0], away)]

    def spans(self, boxes: Array) -> list[tuple[float, float, float, float]]:
        """(x, y, width, height) of rows (south, west, north, east) with west < east."""
        south, west, north, east = boxes.T
        middles = self.at(np.column_stack([north, (west + east) / 2]))
        across, down = (east - west) * self.flat * self._scale, (north - south) * self._scale
        sizes = zip(middles, across.tolist(), down.tolist(), strict=True)
        return [(x - wide / 2, y, wide, tall) for (x, y), wide, tall in sizes]

    def ground(self, coasts: Iterable[Array]) -> list[str]:
        """Water, land, and lines of latitude and longitude, clipped to the map.

        Maps of a town have no coasts: the coasts we have are off by tens of kilometres.
        """
        is_town = self.north - self.south < _COARSE
        land = [
            path(corners, closed=True, fill=style.LAND, stroke=_SHORE, stroke_width=0.7)
            for ring in ([] if is_town else coasts)
            for corners in self._copies(ring)
        ]
        lines, numbers = self._graticule()
        box: dict[str, Any] = {"x": self.left, "y": self.top, "width": self.width, "height": self.height}
        water = tag("rect", x=0, y=0, width=self.width, height=self.height, fill=style.PAPER if is_town else _WATER)
        edge = tag("rect", **box, fill="none", stroke=style.GRR, stroke_width=0.8)
        # A nested svg element clips its contents.
        return [tag("svg", "\n".join([water, *land, *lines]), **box), edge, *numbers]

    def shores(self, coasts: Iterable[Array]) -> list[str]:
        """The coasts as lines, to draw over cells that cover the land; none in a town."""
        if self.north - self.south < _COARSE:
            return []
        lines = [
            path(corners, closed=True, fill="none", stroke=style.INK, stroke_width=0.6, stroke_opacity="0.5")
            for ring in coasts
            for corners in self._copies(ring)
        ]
        box = {"x": self.left, "y": self.top, "width": self.width, "height": self.height}
        return [tag("svg", "\n".join(lines), **box)] if lines else []

    def scale(self) -> list[str]:
        """A scale bar with its length, valid at the middle latitude."""
        room = self.width / 4 / (self._scale / _KM_A_DEGREE)
        kilometres = max(each for each in _round_lengths() if each <= room)
        length = kilometres * self._scale / _KM_A_DEGREE
        x, y = self.left + 12, self.bottom - 12
        words = f"{kilometres:g} km" if kilometres >= 1 else f"{1000 * kilometres:g} m"
        return [
            rule(x, y, x + length, y, stroke=style.PAPER, stroke_width=5),
            rule(x, y, x + length, y, stroke=style.INK, stroke_width=2),
            text(x, y - 6, words, font_size=11, **style.HALO),
        ]

    def _drawn(self, latitudes: Array, away: Array) -> list[tuple[float, float]]:
        """The positions of points within the map; ``away`` is in degrees east of its middle."""
        x = (away + self._half) * self.flat * self._scale
        y = (self.north - latitudes) * self._scale
        return list(zip(x.tolist(), y.tolist(), strict=True))

    def _copies(self, ring: Array) -> list[Sequence[tuple[float, float]]]:
        """The ring at every turn at which it is visible: rings end at the date line, the view may cross it."""
        found: list[Sequence[tuple[float, float]]] = []
        if ring[:, 0].max() < self.south or ring[:, 0].min() > self.north:
            return found
        for turn in (-_TURN, 0.0, _TURN):
            away = ring[:, 1] + turn - self.middle
            if away.max() >= -self._half and away.min() <= self._half:
                found.append(self._drawn(ring[:, 0], away))
        return found

    def _graticule(self) -> tuple[list[str], list[str]]:
        how: dict[str, Any] = {"stroke": "#c9d6e2", "stroke_width": 0.6}
        small = {"font_size": 10, "fill": "#6b7785"}
        lines, numbers = [], []
        for latitude in ticks(self.south, self.north, 5):
            y = (self.north - latitude) * self._scale
            lines.append(rule(0, y, self.width, y, **how))
            if _ROOM_ABOVE < y < self.height - _ROOM_BELOW:
                numbers.append(text(self.left + 4, self.top + y - 3, _degrees(latitude, "N", "S"), **small))
        for longitude in ticks(self.middle - self._half, self.middle + self._half, 7):
            x = (longitude - self.middle + self._half) * self.flat * self._scale
            lines.append(rule(x, 0, x, self.height, **how))
            turned = (longitude + _TURN / 2) % _TURN - _TURN / 2
            if x < self.width - 40:
                numbers.append(text(self.left + x + 3, self.top + 11, _degrees(turned, "E", "W"), **small))
        return lines, numbers


def _longitudes(longitudes: Array) -> tuple[float, float]:
    """(westernmost longitude, extent to the east): the circle without its widest gap."""
    ordered = np.unique(longitudes)
    gaps = np.diff(ordered, append=ordered[0] + _TURN)
    widest = int(gaps.argmax())
    start = float(ordered[(widest + 1) % len(ordered)])
    return start, float(_TURN - gaps[widest])


def _round_lengths() -> list[float]:
    return [factor * 10.0**power for power in range(-6, 5) for factor in (1, 2, 5)]


def _degrees(value: float, positive: str, negative: str) -> str:
    side = positive if value > 0 else negative
    return f"{abs(value):g}° {side}" if value else "0°"

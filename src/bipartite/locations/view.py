"""The part of the globe that a map shows: its projection, coasts, edges, scale, and names beside places."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.locations.atlas import coasts
from bipartite.locations.grids import METRES_A_DEGREE
from bipartite.plots.figure import WIDTH
from bipartite.plots.looks import INK, LAND, PAPER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from bipartite.domains import Points
    from bipartite.locations.grids import Squares

    Array = NDArray[np.float64]

_POLE, _TURN = 90.0, 360.0
_LEAST_DEGREES: Final = 0.01  # about a kilometre, since a single place has no extent
_FLATTEST: Final = 0.2  # closer to the poles the map would be too wide
_SHAPES: Final = (0.4, 1.1)  # the least and the most height of a map, in widths
_COARSE: Final = 3.0  # degrees of latitude: our coasts are off by some 20 km, which would mislead on a smaller map
_TICKS: Final = 20
_WATER, _SHORE = "#F3F8FC", "#8F8A7E"
_SMALL: Final[dict[str, Any]] = {
    "fontsize": 7.5,
    "color": INK,  # on paper, whatever the style of the axes
    "zorder": 6,
    "textcoords": "offset points",
    "parse_math": False,  # a dollar sign in a name is one
    "bbox": {"facecolor": PAPER, "alpha": 0.7, "edgecolor": "none", "pad": 0.8},  # readable on any ground
}


@dataclass(frozen=True, slots=True)
class View:
    """The part of the globe around some places, also across the date line: longitudes count on beyond ±180.

    An equirectangular projection, true to scale at the middle latitude.
    """

    west: float
    south: float
    east: float
    north: float

    @classmethod
    def of(cls, places: Points, squares: Squares | None) -> View:
        """The view of places, or of all cells of a grid."""
        if squares is None:
            return cls.around(places.coordinates)
        first, second, *_ = squares.letters.values()
        south, north = float(squares.boxes[:, 0].min()), float(squares.boxes[:, 2].max())
        return cls.over(first - (second - first) / 2, south, len(squares.letters) * (second - first), north - south)

    @classmethod
    def around(cls, coordinates: Array) -> View:
        """The view of all rows (latitude, longitude): the circle without its widest gap, with a margin."""
        ordered = np.unique(coordinates[:, 1])
        gaps = np.diff(ordered, append=ordered[0] + _TURN)
        widest = int(gaps.argmax())
        west, span = float(ordered[(widest + 1) % len(ordered)]), float(_TURN - gaps[widest])
        return cls.over(west, float(coordinates[:, 0].min()), span, float(np.ptp(coordinates[:, 0])), margin=0.14)

    @classmethod
    def over(cls, west: float, south: float, width: float, height: float, margin: float = 0.04) -> View:
        """The view of a box with a margin, a share of its width and height; neither too tall nor too wide."""
        x, y = west + width / 2, south + height / 2
        height = max(height * (1 + margin), _LEAST_DEGREES)
        width = min(max(width * (1 + margin), _LEAST_DEGREES, height / _longitude_scale(y) / _SHAPES[1]), _TURN)
        height = max(height, width * _longitude_scale(y) * _SHAPES[0])
        return cls(x - width / 2, max(y - height / 2, -_POLE), x + width / 2, min(y + height / 2, _POLE))

    @property
    def longitude_scale(self) -> float:
        """The length of a degree of longitude in degrees of latitude."""
        return _longitude_scale((self.south + self.north) / 2)

    @property
    def has_coasts(self) -> bool:
        """Whether the map is large enough for our coasts."""
        return self.north - self.south >= _COARSE

    def size(self, beside: float) -> tuple[float, float]:
        """The size of a figure in inches, ``beside`` of its height for what stands above and below the map."""
        shape = (self.north - self.south) / ((self.east - self.west) * self.longitude_scale)
        return WIDTH, beside + (WIDTH - 0.5) * shape

    def x(self, longitudes: Array) -> Array:
        """Longitudes moved by whole turns into the view; one rounded to just beyond its western end stays there."""
        start = (self.west + self.east - _TURN) / 2 - 1e-6
        return np.asarray(start + (longitudes - start) % _TURN, dtype=np.float64)

    def draw(self, ax: Axes, squares: Squares | None = None) -> None:
        """Set the axes to the view: coasts, degrees or the names of columns and rows at the edges, and a scale."""
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 (optional, and slow to load)

        ax.set(xlim=(self.west, self.east), ylim=(self.south, self.north), aspect=1 / self.longitude_scale)
        ax.spines[:].set_visible(True)
        if self.has_coasts:
            ax.set_facecolor(_WATER)
            self.land(ax, facecolor=LAND, edgecolor=_SHORE, linewidth=0.5, zorder=0.5)
        if squares is None:
            for axis, letters in ((ax.xaxis, "EW"), (ax.yaxis, "NS")):
                axis.set_major_locator(MaxNLocator(5, steps=[1, 1.5, 2, 3, 5, 10]))
                axis.set_major_formatter(functools.partial(_degrees, letters))
        else:
            ax.grid(visible=False)
            ax.tick_params(length=0)
            for axis, named in ((ax.xaxis, squares.letters), (ax.yaxis, squares.numbers)):
                some = list(named)[:: math.ceil(len(named) / _TICKS)]
                axis.set_ticks([named[each] for each in some], some)
        self._scale(ax)

    def land(self, ax: Axes, **how: Any) -> None:  # noqa: ANN401 (matplotlib's)
        """Draw the coasts, also a turn east or west: they end at the date line, which the view may cross."""
        from matplotlib.collections import PolyCollection  # noqa: PLC0415

        if self.has_coasts:
            rings = [ring[:, ::-1] + (turn, 0.0) for ring in coasts() for turn in (-_TURN, 0.0, _TURN)]
            low, high = (self.west, self.south), (self.east, self.north)
            seen = [ring for ring in rings if (ring.max(axis=0) >= low).all() and (ring.min(axis=0) <= high).all()]
            ax.add_collection(PolyCollection(seen, **how), autolim=False)

    def _scale(self, ax: Axes) -> None:
        """A bar with its length, valid at the middle latitude."""
        degree = METRES_A_DEGREE / 1000 * self.longitude_scale
        room = (self.east - self.west) * degree / 4
        step = 10.0 ** math.floor(math.log10(room))
        length = max(each * step for each in (1, 2, 5) if each * step <= room)
        words = f"{length:g} km" if length >= 1 else f"{1000 * length:g} m"
        x, y = self.west + 0.03 * (self.east - self.west), self.south + 0.04 * (self.north - self.south)
        ax.plot([x, x + length / degree], [y, y], color=INK, linewidth=2, solid_capstyle="butt", zorder=6)
        ax.annotate(words, (x, y), (0, 4), **_SMALL)


def write_names(ax: Axes, names: Sequence[str], x: Array, y: Array, *, gap: float = 4, dot: float = 0) -> None:
    """Write names beside their places, in this order, but none that would leave the map, or cover a name or a place."""
    whole: Any = ax.figure.figure  # of a part of a figure, too
    whole.draw_without_rendering()  # so that it is known where everything is
    frame, spots = ax.get_window_extent(), ax.transData.transform(np.column_stack([x, y]))
    taken: list[Any] = []
    for at, name in enumerate(names):
        others = np.delete(spots, at, axis=0)
        for side, where in ((gap, "left"), (-gap, "right")):
            text = ax.annotate(name, (x[at], y[at]), (side, 0), ha=where, va="center_baseline", **_SMALL)
            box = text.get_window_extent()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not box.count_contains(others) and not box.count_overlaps(taken):
                taken.append(box)
                ax.plot(x[at], y[at], "o", color=INK, markersize=dot, zorder=5)
                break
            text.remove()


def _longitude_scale(latitude: float) -> float:
    return max(math.cos(math.radians(latitude)), _FLATTEST)


def _degrees(letters: str, value: float, _: object = None) -> str:
    turned = round((value + _TURN / 2) % _TURN - _TURN / 2, 6)
    return f"{abs(turned):g}° {letters[int(turned < 0)]}" if turned else "0°"

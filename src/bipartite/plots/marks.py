"""The shapes of points, distinguishable without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import style
from bipartite.plots.palette import mark_of
from bipartite.plots.svg import path, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

_UP: Final = ((0.0, -4.0), (3.6, 2.8), (-3.6, 2.8))
_CORNERS: Final[dict[str, Sequence[tuple[float, float]]]] = {
    "square": ((-2.9, -2.9), (2.9, -2.9), (2.9, 2.9), (-2.9, 2.9)),
    "triangle": _UP,
    "down": tuple((x, -y) for x, y in _UP),
    "diamond": ((0.0, -4.1), (4.1, 0.0), (0.0, 4.1), (-4.1, 0.0)),
}
_HOLLOW: Final = "hollow "


def mark(name: str, x: float, y: float, colour: str) -> str:
    """Draw the point of a mechanism: a dot, unless the palette has another shape for it."""
    shape = mark_of(name)
    how: dict[str, Any] = {"fill": colour}
    if shape.startswith(_HOLLOW):
        shape = shape.removeprefix(_HOLLOW)
        how = {"fill": style.PAPER, "stroke": colour, "stroke_width": 1.3}
    if shape == "dot":
        return tag("circle", cx=x, cy=y, r=2.8, **how)
    return path([(x + right, y + below) for right, below in _CORNERS[shape]], closed=True, **how)


def beyond(x: float, edge: float, colour: str, *, up: bool) -> str:
    """Draw an arrow at the edge of a picture, for a point or interval end that lies beyond it."""
    tip = 1.0 if up else -1.0
    return path(
        [(x - 3.6, edge + 7 * tip), (x, edge + tip), (x + 3.6, edge + 7 * tip)], fill="none", stroke=colour,
        stroke_width=1.6,
    )  # fmt: skip

"""A map of places: which of them a person may report, and with what chance."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.svg import legend, path, percent, picture, tag, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_TOP: Final = 30
_NORTH, _SOUTH = 74.0, -57.0  # where people live; the poles would only push them together
_SCALE: Final = style.WIDTH / 360
_HEIGHT: Final = _TOP + (_NORTH - _SOUTH) * _SCALE * 1.15
# The area of a dot is the chance; the most likely report has this radius.
_LARGEST: Final = 6.5


def chances_on_a_map(
    names: Sequence[str],
    coordinates: NDArray[np.float64],
    chances: NDArray[np.float64],
    *,
    truth: int,
    coasts: Iterable[NDArray[np.float64]],
) -> str:
    """The chance of each report of one person as the area of a dot; near places dark, all others light.

    ``coordinates`` and ``coasts`` are (latitude, longitude) in degrees; ``truth`` is the row of the true place.
    """
    near = chances > chances.min()
    radii = _LARGEST * np.sqrt(chances / chances.max())
    spots = [_at(*place) for place in coordinates.tolist()]
    parts: list[str] = [
        path((_at(*corner) for corner in ring.tolist()), closed=True, fill=style.LAND, stroke="#dcd9d2")
        for ring in coasts
    ]
    # Light dots first, so that a near place is never hidden by one that is not.
    for which in np.argsort(near, kind="stable").tolist():
        x, y = spots[which]
        name = tag("title", html.escape(f"{names[which]}: {percent(float(chances[which]))}"))
        how = style.BRR_NEAR_STYLE if near[which] else style.BRR_FAR_STYLE
        parts.append(
            tag("circle", name, cx=x, cy=y, r=float(radii[which]), stroke=style.PAPER, stroke_width=0.7, **how)
        )
    x, y = spots[truth]
    parts += [
        tag("circle", cx=x, cy=y, r=_LARGEST + 3, fill="none", stroke=style.INK, stroke_width=1.5),
        _label(x, y, f"true answer: {names[truth]}"),
        *legend(
            2,
            14,
            [
                (f"BRR, nearest {near.sum()}: {percent(float(chances.max()))} each", style.BRR_NEAR_STYLE),
                (f"BRR, all others: {percent(float(chances.min()))} each", style.BRR_FAR_STYLE),
            ],
        ),
    ]
    says = (
        f"A map: the {near.sum()} places nearest to {names[truth]} have the chance {percent(float(chances.max()))} "
        f"each, all others {percent(float(chances.min()))}."
    )
    return picture(_HEIGHT, says, parts)


def _at(latitude: float, longitude: float) -> tuple[float, float]:
    """Longitude and latitude as they are, a little taller, so that nothing has to be looked up."""
    return (longitude + 180) * _SCALE, _TOP + (_NORTH - min(_NORTH, latitude)) * _SCALE * 1.15


def _label(x: float, y: float, words: str) -> str:
    """Words beside a dot, on the side with more room, readable on a busy ground."""
    left = x > style.WIDTH / 3
    halo = {"stroke": style.PAPER, "stroke_width": 3.5, "paint_order": "stroke"}
    at = x - _LARGEST - 8 if left else x + _LARGEST + 8
    return text(at, y + 4, words, text_anchor="end" if left else "start", font_weight="bold", **halo)

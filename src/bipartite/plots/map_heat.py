"""A heat map: shares as colours, as cells if the places form a grid, otherwise as dots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.map import LINE, MANY, TOP, finished, heat
from bipartite.plots.svg import LETTER, percent, tag, text, title
from bipartite.plots.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bipartite.plots.svg import Picture

    Array = NDArray[np.float64]

_LEVELS: Final = 5
_STEP: Final = 100.0  # pixels between levels of the legend
_TOWN: Final = 2.2  # the radius of a dot


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The style of a heat map."""

    cells: Array | None = None
    """Rows (south, west, north, east) with west < east; None draws a dot for each place."""
    outlined: NDArray[np.bool_] | None = None
    """The cells with a dark edge."""
    towns: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """(latitude, longitude) by name, shown for orientation; earlier names take precedence."""
    width: float = style.WIDTH


_PLAIN: Final = Drawn()


def shares_on_a_map(
    coordinates: Array,
    shares: Array,
    *,
    labels: Sequence[str],
    words: Sequence[str],
    coasts: Iterable[Array],
    notes: Sequence[str] = (),
    how: Drawn = _PLAIN,
) -> Picture:
    """Plot shares as colours, the largest dark; ``words`` are the tooltips, each a share with its interval if any."""
    cells, width = how.cells, how.width
    view = View(coordinates if cells is None else _corners(cells), TOP, width)
    top = float(max(shares.max(), 0.0)) or 1.0
    rings = list(coasts)
    land, *frame = view.ground(rings)
    says = [title(f"{label}: {each}") for label, each in zip(labels, words, strict=True)]
    colours = [heat(share / top) for share in shares.tolist()]
    order = np.argsort(shares, kind="stable").tolist()  # the largest last, so that nothing hides it
    if cells is None:
        parts = [land, *frame, *_dots(view, coordinates, order, colours, says)]
    else:
        filled, edges = _cells(view, cells, order, colours, says, how.outlined)
        parts = [land, *filled, *view.shores(rings), *edges, *frame]
    parts += _names(view, how.towns)
    parts += view.scale()
    step = min(_STEP, width / _LEVELS)
    for number in range(_LEVELS):
        x, level = 2.0 + number * step, number / (_LEVELS - 1)
        parts.append(tag("rect", x=x, y=8, width=22, height=12, fill=heat(level), stroke=style.GRR, stroke_width=0.3))
        parts.append(text(x + 28, 18, percent(level * top)))
    if width >= style.WIDTH:  # a narrower map has no room beside its legend
        what = "at each place" if cells is None else "in each cell"
        parts.append(text(width - 2, 18, f"share of people {what}", text_anchor="end"))
    most = int(shares.argmax())
    what = "places" if cells is None else "cells"
    spoken = f"A heat map of {len(shares):,} {what}; the largest share, at {labels[most]}: {words[most]}"
    return finished(parts, view.bottom + LINE, spoken, notes, width)


def _dots(view: View, coordinates: Array, order: list[int], colours: list[str], says: list[str]) -> list[str]:
    spots = view.at(coordinates)
    size = {"r": 3.2 if len(spots) > MANY else 5.0}
    edge = {"stroke": style.GRR, "stroke_width": 0.3}
    return [
        tag("circle", says[each], cx=spots[each][0], cy=spots[each][1], **size, fill=colours[each], **edge)
        for each in order
    ]


def _cells(
    view: View, cells: Array, order: list[int], colours: list[str], says: list[str], outlined: NDArray[np.bool_] | None
) -> tuple[list[str], list[str]]:
    """The cells in their colours, and the edges of some of them."""
    boxes = view.spans(cells)
    shapes, edges = [], []
    for which in order:
        x, y, wide, tall = boxes[which]
        where = {"x": x, "y": y, "width": wide, "height": tall}
        shapes.append(tag("rect", says[which], **where, fill=colours[which]))
        if outlined is not None and outlined[which]:
            edges.append(tag("rect", **where, fill="none", stroke=style.INK, stroke_width=1.2))
    return shapes, edges


def _names(view: View, towns: Mapping[str, tuple[float, float]]) -> list[str]:
    """Names of towns within the map; those that would overlap an earlier one are left out."""
    parts: list[str] = []
    taken: list[tuple[float, float, float]] = []
    spots = view.at(np.array(list(towns.values())).reshape(-1, 2))
    for name, (x, y) in zip(towns, spots, strict=True):
        long = LETTER * len(name)
        inside = view.left < x < view.left + view.width - long - 8 and view.top + 14 < y < view.bottom - 30
        if inside and all(abs(y - b) > LINE or x + long < a or x > a + wide for a, b, wide in taken):
            taken.append((x, y, long))
            parts.append(tag("circle", cx=x, cy=y, r=_TOWN, fill=style.INK, stroke=style.PAPER))
            parts.append(text(x + 5, y + 4, name, font_size=11, **style.HALO))
    return parts


def _corners(cells: Array) -> Array:
    """The corners of cells, longitudes within ±180."""
    corners = np.vstack([cells[:, :2], cells[:, 2:]])
    corners[:, 1] = (corners[:, 1] + 180) % 360 - 180
    return np.asarray(corners, dtype=np.float64)

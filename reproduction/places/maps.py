"""Maps of the regions of places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError  # type: ignore[import-untyped]

from bipartite.locations.maps import PUBLIC, add_legend
from bipartite.locations.view import View
from bipartite.plots.figure import as_svg, axes, describe
from bipartite.plots.looks import INK, PAPER
from bipartite.texts import escaped
from reproduction.places.regions import Regions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Final = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#3A9BD9", "#8B3FA0", "#5A6B1F", "#B03060", "#7A4B2A",
)  # fmt: skip
_NAMED: Final = 24  # regions: of more, the largest
_ROOM: Final = (20, 16)  # points across and up, of a number
_LONGEST: Final = 12  # letters of a name
_MANY: Final = 400


def draw(regions: Regions, *, title: str = "", credit: str = "") -> str:
    """The map of :func:`plot` as SVG text."""
    return as_svg(lambda: plot(regions, title=title, credit=credit))


def plot(regions: Regions, *, title: str = "", credit: str = "") -> Axes:
    """Draw places in the colours of their regions, with an outline and a number each; ``credit`` names their source."""
    places, sizes = regions.places, regions.sizes.tolist()
    named = sorted(sorted(range(len(sizes)), key=lambda each: -sizes[each])[:_NAMED])
    names = [f"{each + 1}: {_elided(escaped(regions.names[each]))}, {sizes[each]:,} places" for each in named]
    hidden = [f"and {len(sizes) - len(named):,} smaller regions"] if len(sizes) > len(named) else []
    says = f"{len(places):,} places in {len(sizes)} regions of {min(sizes)} to {max(sizes)}"
    notes, view = [f"{says}.", *_notes(regions, credit)], View.around(places.coordinates)
    with axes(None, view.size(0.5 + 0.3 * bool(title) + 0.2 * -(-len(names) // 2))) as on:
        view.draw(on)
        x, y = view.x(places.coordinates[:, 1]), places.coordinates[:, 0]
        colours = np.array(COLOURS)[np.arange(len(sizes)) % len(COLOURS)]
        on.scatter(x, y, 10 if len(x) <= _MANY else 3, colours[regions.labels], linewidths=0, zorder=4)
        numbered: list[NDArray[np.float64]] = []
        for each in sorted(range(len(sizes)), key=lambda each: -sizes[each]):
            inside = regions.labels == each
            corners = _outline(np.column_stack([x[inside], y[inside]]))
            on.fill(*corners.T, facecolor=f"{colours[each]}1A", edgecolor=colours[each], linewidth=0.8, zorder=3)
            at = float(np.median(x[inside])), float(np.median(y[inside]))
            spot = on.transData.transform(at) / cast("Figure", on.figure).dpi * 72
            if each in named and all((abs(spot - other) > _ROOM).any() for other in numbered):
                numbered.append(spot)
                how: dict[str, Any] = {"facecolor": PAPER, "alpha": 0.75, "edgecolor": "none", "pad": 0.8}
                on.text(*at, str(each + 1), color=INK, weight="bold", fontsize=7.5, ha="center", zorder=6, bbox=how)
        add_legend(on, dict(zip(names, colours[named].tolist(), strict=True)), columns=2)
        told = f"A map: {'; '.join([says, *names, *hidden])}. {' '.join(notes)}"
        describe(on, told, title=title, notes=[*hidden, *notes])
    return on


def _notes(regions: Regions, credit: str) -> list[str]:
    told = (
        f"Publishing a person’s region would reveal {regions.bits():.2f} bits under the uniform prior, and leave only "
        f"{regions.smallest} possible places in the smallest region; no ε covers that."
    )
    named = (
        "A region is named by the leading bits that the map tile codes of its places share. Where numbers would touch, "
        "that of the larger region stands."
    )
    return [named, told, PUBLIC, *([f"Places: {credit}."] if credit else [])]


def _outline(spots: NDArray[np.float64]) -> NDArray[np.float64]:
    """The corners of the convex hull; places on a line have none, and are their own."""
    try:
        return np.asarray(spots[ConvexHull(spots).vertices], dtype=np.float64)
    except (QhullError, ValueError):
        return spots


def _elided(name: str) -> str:
    """Shorten a long name in the middle: the codes of neighbouring tiles start alike."""
    return name if len(name) <= _LONGEST else f"{name[:4]}…{name[5 - _LONGEST :]}"

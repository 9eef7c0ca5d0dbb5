"""Curves with their names beside their right ends, so that nobody has to look up a legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.plots.figure import literal
from bipartite.plots.looks import darker, looks_of
from bipartite.plots.whiskers import inches_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

    from bipartite.plots.looks import Look

_LETTER: Final = 8.5  # points, of a name
_LINE: Final = 1.25  # lines, from one name to the next
_LEADER: Final = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)}
_INSIDE: Final = 0.76  # about the share of a figure's height that its axes take


def curves(
    ax: Axes,
    x: Sequence[float],
    named: Mapping[str, Sequence[float]],
    *,
    looks: Mapping[str, Look] | None = None,
    highest: float | None = None,
) -> None:
    """Draw a curve for each name over common ``x``, named at its right end; above ``highest`` it is cut off."""
    looks = looks or looks_of(named)
    for name, y in named.items():
        ax.plot(x, y, label=literal(name), **looks[name].line())
    ax.margins(x=0)
    if highest is not None:
        ax.set_ylim(top=highest)
    name_ends(ax, {name: float(y[-1]) for name, y in named.items()}, {name: looks[name].color for name in named})


def name_ends(ax: Axes, ends: Mapping[str, float], colours: Mapping[str, str]) -> None:
    """Write each name right of the axes at the height of its end, apart from the others, with a thin line to it."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high)  # as measured, from now on
    scale = ax.yaxis.get_transform().transform
    bottom, top = scale(np.array([low, high])).tolist()
    names = sorted(ends, key=lambda name: ends[name])
    clipped = np.clip([ends[name] for name in names], low, high)
    heights = (np.asarray(scale(clipped), dtype=float) - bottom) / (top - bottom)
    grid = ax.get_gridspec()
    tall = inches_of(ax)[1] * 72 * _INSIDE / (grid.nrows if grid else 1)
    apart = _LETTER * _LINE / tall
    # Within the axes, where all of them fit: below are the numbers of the axis, and notes.
    room = np.arange(len(names)) * apart
    places = np.clip(spread(heights, apart) - room, 0.0, max(0.0, 1 - (len(names) - 1) * apart)) + room
    for name, at, end in zip(names, places.tolist(), heights.tolist(), strict=True):
        ax.annotate(
            literal(name),
            xy=(1.0, end),
            xytext=(1.045, at),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=darker(colours[name]),
            fontsize=_LETTER,
            va="center",
            arrowprops={**_LEADER, "color": colours[name]},
            annotation_clip=False,
        )


def spread(places: Iterable[float], apart: float) -> list[float]:
    """Ascending places moved as little as possible so that neighbours are ``apart`` (isotonic regression).

    >>> [round(each, 2) for each in spread([0.0, 0.5, 0.5, 0.5], 0.1)]
    [0.0, 0.4, 0.5, 0.6]
    """
    blocks: list[list[float]] = []  # [sum, count] of places less the room of those before them
    for number, place in enumerate(places):
        blocks.append([float(place) - number * apart, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    level = [total / count for total, count in blocks for _ in range(int(count))]
    return [each + number * apart for number, each in enumerate(level)]

"""A forest plot: sections below each other on one axis, with one row a group."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots.figure import WIDTH, literal
from bipartite.plots.looks import BLUE
from bipartite.plots.whiskers import SMALL, name_rows, round_ticks, whiskers, words_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from bipartite.plots.whiskers import Mark

    Section = tuple[str, Sequence[Mark]]

_ROW: Final = 0.19  # inches
_HEADING: Final[dict[str, Any]] = {"va": "center", "weight": "bold", "fontsize": SMALL + 0.5}


def forest_size(sections: Sequence[Section]) -> tuple[float, float]:
    """The size of a figure in which all rows can be read."""
    return WIDTH, 0.6 + _ROW * sum(1.4 + len(rows) for _, rows in sections)


def forest(ax: Axes, sections: Sequence[Section], label: str, say: Callable[[float], str]) -> str:
    """Draw a heading for each section, and a row with a whisker for each of its marks; all of it in words."""
    places, names, y = [], [], 0.0
    for heading, rows in sections:
        ax.text(0.0, y, literal(heading), transform=ax.get_yaxis_transform(), **_HEADING)
        for mark in rows:
            y -= 1
            places.append(y)
            names.append(mark.name)
            _row(ax, y, mark)
        y -= 1.4
    ax.set_ylim(y + 0.8, 0.7)
    name_rows(ax, places, names)
    ax.margins(x=0.04)
    ax.set_xlabel(literal(label))
    ax.xaxis.set_major_locator(round_ticks(5))
    ax.xaxis.set_major_formatter(lambda value, _: say(value))
    told = (f"{heading}: " + "; ".join(f"{row.name} {row.words}" for row in rows) + "." for heading, rows in sections)
    return " ".join(told)


def _row(ax: Axes, y: float, mark: Mark) -> None:
    if math.isfinite(mark.low) and math.isfinite(mark.high):
        whiskers(ax, *np.array([[y], [mark.low], [mark.high]]), lying=True)
    if mark.known and math.isfinite(mark.value):
        ax.plot([mark.value], [y], marker="o", ms=4.5, color=BLUE, ls="none")
    words_beside(ax, y, mark.words)

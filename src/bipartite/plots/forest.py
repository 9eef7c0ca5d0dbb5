"""A forest plot: sections below each other on one axis, with one row a group."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots.figure import WIDTH, is_alone, literal
from bipartite.plots.looks import BLUE
from bipartite.plots.whiskers import SMALL, ink, shortened, whisker_style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from bipartite.plots.whiskers import Mark

    Section = tuple[str, Sequence[Mark]]

_ROW: Final = 0.19  # inches
_HEADING: Final[dict[str, Any]] = {"weight": "bold", "fontsize": SMALL + 0.5}


def forest_size(sections: Sequence[Section]) -> tuple[float, float]:
    """The size of a figure in which all rows can be read."""
    return WIDTH, 0.6 + _ROW * sum(1.4 + len(rows) for _, rows in sections)


def forest(ax: Axes, sections: Sequence[Section], label: str, say: Callable[[float], str]) -> str:
    """Draw a heading for each section, and a row with a whisker for each of its marks; all of it in words."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 (optional)

    places, names, y = [], [], 0.0
    for heading, rows in sections:
        ax.text(
            0.0,
            y,
            literal(heading),
            transform=ax.get_yaxis_transform(),
            va="center",
            weight="bold",
            fontsize=SMALL + 0.5,
        )
        for mark in rows:
            y -= 1
            places.append(y)
            names.append(literal(shortened(mark.name)))
            _row(ax, y, mark)
        y -= 1.4
    ax.set_ylim(y + 0.8, 0.7)
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.margins(x=0.04)
    ax.set_xlabel(literal(label))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(lambda value, _: say(value))
    told = (f"{heading}: " + "; ".join(f"{row.name} {row.words}" for row in rows) + "." for heading, rows in sections)
    return " ".join(told)


def _row(ax: Axes, y: float, mark: Mark) -> None:
    if math.isfinite(mark.low) and math.isfinite(mark.high):
        middle = (mark.low + mark.high) / 2
        ax.errorbar([middle], [y], xerr=(mark.high - mark.low) / 2, **whisker_style())
    if mark.known and math.isfinite(mark.value):
        ax.plot([mark.value], [y], marker="o", ms=4.5, color=BLUE, ls="none")
    if is_alone(ax):
        ax.text(1.02, y, mark.words, transform=ax.get_yaxis_transform(), va="center", fontsize=SMALL, color=ink())

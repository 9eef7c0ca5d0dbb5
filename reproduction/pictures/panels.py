"""Small pictures side by side on common axes: the same lines for several data sets, sizes or budgets.

What a panel says beside its curves, numbers beyond its axis and numbers that the paper prints, stands between its
title and its axes, so that no words cover a curve.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pandas as pd

from bipartite.plots import figure as plotting
from bipartite.plots.looks import INK, Look, looks_of
from bipartite.plots.named import name_ends
from reproduction.intervals import MeanInterval
from reproduction.pictures.looks import LOOKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PRINTED: Final = "printed in the paper"
_STAR: Final[dict[str, Any]] = {
    "marker": "*", "markersize": 10, "markerfacecolor": "#F5C400", "markeredgecolor": INK, "markeredgewidth": 0.8,
}  # fmt: skip
_POINTS: Final[dict[str, Any]] = {
    "linestyle": "none", "markersize": 3.5, "markeredgewidth": 0.9, "clip_on": False, "zorder": 3,
}  # fmt: skip
_LEVEL: Final[dict[str, Any]] = {"color": INK, "linewidth": 1, "linestyle": (0, (1, 2))}
_TITLE, _LABEL, _SMALL = 8.5, 8.5, 7.0  # points, of letters
_TALL: Final = {1: 2.2, 2: 1.5}  # inches of a panel between its axes, by columns
_LETTERS: Final = {1: 56, 2: 28}  # of a title in one line, by columns
_NOTE: Final = 93  # letters of a note in one line
_ROOM: Final = 0.05  # of an axis, beyond the lines
_FEW: Final = 16  # up to so many points each is marked
_APART: Final = 1.6  # points between the intervals of two lines at one place
_TOGETHER: Final = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints: a star, its words below the title, never cut off by the edge of its panel."""

    y: float
    words: str
    """The number as it is printed: 66 %."""
    x: float | None = None
    """None where it belongs to no single x: a mean over all of them is a level."""


@dataclass(frozen=True)
class Line:
    """One named line; ``low`` and ``high`` are the ends of an interval at every point, where it has one."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    marked: bool = True
    joined: bool = True
    steps: bool = False
    end: str = ""
    """Words right of its end."""
    like: str = ""
    """The name whose line and points it is drawn with, where that is not its own."""


@dataclass(frozen=True)
class Panel:
    """One small picture. Without ``lowest`` and ``highest`` the lines decide.

    What lies beyond has an arrow at the edge; its value, or the least and the largest, stands below the title.
    """

    title: str
    lines: Sequence[Line]
    lowest: float | None = None
    highest: float | None = None
    printed: Sequence[Printed] = ()


Limit = float | Callable[[pd.DataFrame], float] | None


def panels(  # noqa: PLR0913 (all that a picture says, each by its name)
    rows: pd.DataFrame,
    *,
    x: str,
    y: str,
    hue: str = "mechanism",
    facet: str = "",
    title: str = "{}",
    titles: Mapping[Any, str] | None = None,
    levels: Mapping[str, float | Sequence[float]] | None = None,
    flat: Collection[str] = (),
    dots: Collection[str] = (),
    bare: Collection[str] = (),
    steps: bool = False,
    ends: bool = False,
    like: Mapping[str, str] | None = None,
    between: tuple[str, str] | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
    lowest: Limit = None,
    highest: Limit = None,
    printed: Mapping[Any, Sequence[Printed]] | None = None,
    **how: Any,  # noqa: ANN401 (those of figure_of)
) -> str:
    """Tidy rows as SVG: a panel for each value of ``facet``, in it a line for each of ``hue``, both in order of rows.

    Where several rows share an x (seeds), the line is their mean with a 95 % interval cut at ``within``.

    title, titles
        Of a panel: a format of its value (``"N = {:,}"``), or words by value.
    levels
        Lines at one height, or at each of several, in every panel, such as ``{"equal": 1}``.
    flat
        Names drawn as levels: what does not depend on x. One row is enough; the line is as wide as the others.
    dots
        Names whose points are marked and not joined, because they lie on another line.
    bare
        Names whose points are not marked.
    between
        Columns with the ends of the interval of each row.
    steps, ends
        Lines hold halfway to the next point; lines have their names at their ends.
    like
        The name whose colour and points a line has, where that is not its own.
    lowest, highest
        Ends of the vertical axis: numbers, or functions of the rows of a panel.
    printed
        Numbers that the paper prints, by the value of ``facet`` (``""`` without facets).
    """
    parts = dict(iter(rows.groupby(facet, sort=False))) if facet else {"": rows}
    drawn = []
    for value, own in parts.items():
        named = dict(iter(own.groupby(hue, sort=False)))
        wide = [each for name, some in named.items() if name not in flat for each in some[x]] or list(own[x])
        lines = [
            _level(name, some[y].mean(), wide)
            if name in flat
            else replace(_line(str(name), some, x, y, within, between), joined=name not in dots, steps=steps,
                         marked=not steps and name not in bare, end=str(name) if ends else "")
            for name, some in named.items()
        ]  # fmt: skip
        heights = [(name, at) for name, given in (levels or {}).items() for at in np.atleast_1d(given)]
        lines += [_level(name, at, wide) for name, at in heights]
        drawn.append(
            Panel(
                titles[value] if titles else title.format(value),
                [replace(line, like=(like or {}).get(line.name, "")) for line in lines],
                lowest(own) if callable(lowest) else lowest,
                highest(own) if callable(highest) else highest,
                printed=(printed or {}).get(value, ()),
            )
        )
    return plotting.as_svg(lambda: figure_of(drawn, **how))


def _level(name: str, at: float, wide: Sequence[float]) -> Line:
    return Line(name, [min(wide), max(wide)], [at, at], marked=False)


def _line(
    name: str, rows: pd.DataFrame, x: str, y: str, within: tuple[float, float], between: tuple[str, str] | None
) -> Line:
    if between:
        low, high = between
        return Line(name, list(rows[x]), list(rows[y]), list(rows[low]), list(rows[high]))
    if not rows[x].duplicated().any():
        return Line(name, list(rows[x]), list(rows[y]))
    means = {at: MeanInterval.of(some) for at, some in rows.groupby(x)[y]}
    middle = [each.mean for each in means.values()]
    if any(math.isinf(each.low) for each in means.values()):
        return Line(name, list(means), middle)
    lows = [max(within[0], each.low) for each in means.values()]
    return Line(name, list(means), middle, lows, [min(within[1], each.high) for each in means.values()])


def figure_of(  # noqa: PLR0913 (all that a picture says, each by its name)
    drawn: Sequence[Panel],
    *,
    across: str,
    up: str,
    says: str,
    log_x: bool = False,
    log_y: bool = False,
    share_x: bool = True,
    share_y: bool = True,
    looks: Mapping[str, Look] | None = None,
    notes: Sequence[str] = (),
) -> Figure:
    """Panels in rows on common axes, unless their units differ, with one legend of all names above them.

    ``looks`` overrides the line of a name (:mod:`reproduction.pictures.looks` has the others); ``notes`` are lines
    below. Lines with intervals are moved apart by a point or two, so that one does not hide another.
    """
    columns = min(len(drawn), max(_TALL))
    alike = {line.name: line.like or line.name for panel in drawn for line in panel.lines}
    held = looks_of(alike.values(), LOOKS)
    looks = {**{name: held[like] for name, like in alike.items()}, **(looks or {})}
    rows = -(-len(drawn) // columns)
    figure = plotting.panels(rows, columns, plotting.SIZE, sharex=share_x, sharey=share_y)
    places = list(figure.axes)
    for spare in places[len(drawn) :]:
        spare.set_visible(False)
    with plotting.axes(places[0]):
        for at, (ax, panel) in enumerate(zip(places, drawn, strict=False)):
            _scale(ax, [panel] if not share_x else drawn, "x", log=log_x)
            _scale(ax, [panel] if not share_y else drawn, "y", log=log_y)
            _label(ax, across if not share_x or at + columns >= len(drawn) else "", "" if at % columns else up)
            for line, aside in _side_by_side(panel.lines):
                _draw(ax, line, looks[line.name], aside)
        heads = [_head(ax, panel, looks, _LETTERS[columns]) for ax, panel in zip(places, drawn, strict=False)]
        above = _legend(figure, drawn, looks)
    tall = sum(max(heads[at : at + columns]) for at in range(0, len(heads), columns)) + above
    tall += rows * (_TALL[columns] + 0.3 * (not share_x)) + 0.45 * (1 + (len(drawn) % columns > 0))  # labels of axes
    below = [line for note in notes for line in _wrapped(note, _NOTE)]
    figure.supxlabel("\n".join(below), x=0.01, ha="left", fontsize=_SMALL + 0.5, color="#555555")
    figure.set_size_inches(plotting.WIDTH, tall + len(below) * _SMALL * 1.3 / 72)
    for ax, panel in zip(places[1:], drawn[1:], strict=False):
        ax.set_label(f"{panel.title}.")
    plotting.describe(places[0], f"{says} {drawn[0].title}.")
    return figure


def _scale(ax: Axes, drawn: Sequence[Panel], axis: str, *, log: bool) -> None:
    """Set the ends of an axis: what is drawn and printed with a little room, or what the panels ask for."""
    lines = [line for panel in drawn for line in panel.lines]
    if axis == "x":
        values, lowest, highest = [each for line in lines for each in line.x], [], []
    else:
        values = [each for line in lines for some in (line.y, line.low or (), line.high or ()) for each in some]
        lowest = [panel.lowest for panel in drawn if panel.lowest is not None]
        highest = [panel.highest for panel in drawn if panel.highest is not None]
    finite = [each for each in values if math.isfinite(each)]
    printed = [at for panel in drawn for each in panel.printed if (at := getattr(each, axis)) is not None]
    low, high = min([*(lowest or finite), *printed]), max([*(highest or finite), *printed])
    first, last = (math.log10(low), math.log10(high)) if log else (low, high)
    room = (last - first) * _ROOM or abs(first) * _ROOM or 1.0
    first -= 0.0 if low in lowest and low not in printed else room
    last += 0.0 if high in highest and high not in printed else room
    ends = (10**first, 10**last) if log else (first, last)
    ax.set(**{f"{axis}scale": "log" if log else "linear", f"{axis}lim": ends})
    if log:
        _mark_decades(getattr(ax, f"{axis}axis"), last - first)


def _mark_decades(axis: Any, decades: float) -> None:  # noqa: ANN401 (an axis of matplotlib)
    from matplotlib import ticker  # noqa: PLC0415 (optional, and slow to load)

    between = (1.0, 2.0, 5.0) if decades < 2 else (1.0,)  # noqa: PLR2004
    axis.set_major_locator(ticker.LogLocator(subs=between, numticks=7))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_locator(ticker.NullLocator())


def _label(ax: Axes, across: str, up: str) -> None:
    ax.set_ylabel("\n".join(textwrap.wrap(up, 22)), fontsize=_LABEL)
    ax.set_xlabel(across, fontsize=_LABEL)
    if across:
        ax.tick_params(labelbottom=True)  # nothing stands below


def _side_by_side(lines: Sequence[Line]) -> Iterator[tuple[Line, float]]:
    """Each line, and by how many points it is moved: those with intervals."""
    uncertain = [line.name for line in lines if line.low is not None]
    for line in lines:
        yield line, _APART * (uncertain.index(line.name) - (len(uncertain) - 1) / 2) if line.low is not None else 0.0


def _draw(ax: Axes, line: Line, look: Look, aside: float) -> None:
    """A line, its points and intervals; an arrow at the edge for each that goes on beyond it."""
    from matplotlib.markers import CARETDOWN, CARETUP  # noqa: PLC0415 (optional, and slow to load)
    from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415

    figure = cast("Figure", ax.figure)
    moved = ax.transData + ScaledTranslation(aside / 72, 0, figure.dpi_scale_trans)
    bottom, top = ax.get_ylim()
    if line.joined:
        style = "steps-mid" if line.steps else "default"
        ax.plot(line.x, line.y, transform=moved, drawstyle=style, label=line.name, **look.line())
    inside = [(x, y) for x, y in zip(line.x, line.y, strict=True) if bottom <= y <= top]
    if _is_marked(line) and inside:
        ax.plot(*zip(*inside, strict=True), transform=moved, label=f"points of {line.name}", color=look.color,
                **_POINTS, **look.points())  # fmt: skip
    lows, highs = line.low or line.y, line.high or line.y
    spans = [each for each in zip(line.x, lows, highs, strict=True) if all(map(math.isfinite, each))]
    if line.low is not None and spans:
        x, middle, half = zip(*((x, (low + high) / 2, (high - low) / 2) for x, low, high in spans), strict=True)
        ax.errorbar(x, middle, half, fmt="none", transform=moved, ecolor=look.color, elinewidth=0.8, capsize=1.8)
    for edge, arrow in ((top, CARETUP), (bottom, CARETDOWN)):
        past = [x for x, low, high in spans if (high > top if edge == top else low < bottom)]
        if past:
            ax.plot(past, [edge] * len(past), transform=moved, label=f"beyond, {line.name}", color=look.color,
                    marker=arrow, linestyle="none", markersize=4.5, clip_on=False)  # fmt: skip


def _head(ax: Axes, panel: Panel, looks: Mapping[str, Look], letters: int) -> float:
    """Write the title and what a panel says, draw its stars, name ends; how many inches the words need."""
    said = list(_beyond(ax, panel, looks))
    if panel.printed:
        said.append((f"★ the paper: {'; '.join(each.words for each in panel.printed)}", INK))
    lines = [(line, colour) for words, colour in said for line in _wrapped(words, int(letters * 1.5))]
    for above, (words, colour) in zip(reversed(range(len(lines))), lines, strict=True):
        ax.annotate(words, (0, 1), xytext=(0, 4 + above * _SMALL * 1.35), xycoords="axes fraction",
                    textcoords="offset points", fontsize=_SMALL, color=colour)  # fmt: skip
    title = _wrapped(panel.title, letters)
    ax.set_title("\n".join(title), fontsize=_TITLE, pad=5 + len(lines) * _SMALL * 1.35)
    for each in panel.printed:
        if each.x is None:
            ax.axhline(each.y, **_LEVEL)
        ax.plot([each.x if each.x is not None else _middle(ax)], [each.y], linestyle="none", clip_on=False, zorder=5,
                label=f"the paper: {each.words}", **_STAR)  # fmt: skip
    if named := {line.end: line for line in panel.lines if line.end}:
        name_ends(ax, {end: line.y[-1] for end, line in named.items()},
                  {end: looks[line.name].color for end, line in named.items()})  # fmt: skip
    return (len(title) * _TITLE * 1.2 + len(lines) * _SMALL * 1.35 + 10) / 72


def _beyond(ax: Axes, panel: Panel, looks: Mapping[str, Look]) -> Iterator[tuple[str, str]]:
    """For each line with points beyond the axis: their value, or the least and the largest; and its colour."""
    bottom, top = ax.get_ylim()
    for line in panel.lines:
        finite = sorted({float(f"{y:.3g}") for y in line.y if math.isfinite(y) and not bottom <= y <= top})
        for is_above, some in itertools.groupby(finite, key=lambda y: y > top):
            values = [short(y) for y in some]
            ends = " to ".join(values[:: len(values) - 1 or 1])
            yield f"{'↑' if is_above else '↓'} {line.name}: {ends}", looks[line.name].color


def _middle(ax: Axes) -> float:
    """The middle of the x axis, as it is drawn."""
    return float(ax.transData.inverted().transform(ax.transAxes.transform((0.5, 0.5)))[0])


def _legend(figure: Figure, drawn: Sequence[Panel], looks: Mapping[str, Look]) -> float:
    """One legend of all names above the panels; how many inches it takes."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    samples: dict[str, Line2D] = {}
    for line in (line for panel in drawn for line in panel.lines if not line.end):
        how = looks[line.name].line() if line.joined else {"linestyle": "none", "color": looks[line.name].color}
        points = looks[line.name].points() if _is_marked(line) else {}
        samples.setdefault(line.name, Line2D([], [], markersize=4, **how, **points))
    stars = [each for panel in drawn for each in panel.printed]
    if stars:
        level = _LEVEL if any(each.x is None for each in stars) else {"linestyle": "none"}
        samples[PRINTED] = Line2D([], [], **level, **_STAR)
    columns = max(1, int(plotting.WIDTH * 72 / (max(map(len, samples), default=1) * _SMALL * 0.58 + 42)))
    figure.legend(samples.values(), samples, loc="outside upper left", ncols=columns, fontsize=_SMALL + 0.5,
                  handlelength=3, columnspacing=1.2, borderaxespad=0.2)  # fmt: skip
    return -(-len(samples) // columns) * 0.165 + 0.1


def _is_marked(line: Line) -> bool:
    return line.marked and len(line.x) <= _FEW


def _wrapped(words: str, letters: int) -> list[str]:
    """As many lines as are needed; none ends within "ε = 1" or "3 %"."""
    held = re.sub(r" (?==|%)|(?<==) ", _TOGETHER, words)
    lines = textwrap.wrap(held, letters, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_TOGETHER, " ") for line in lines or [""]]


def short(value: float) -> str:
    """A number as short as it is read: 0.25, 2000, 10⁴, 20,000, 2.5·10⁶."""
    if value >= 10_000 and value == int(value):  # noqa: PLR2004 (five digits and more are grouped, or a power)
        power = math.floor(math.log10(value) + 1e-9)
        raised = f"10{str(power).translate(_RAISED)}"
        if value == 10**power:
            return raised
        return f"{value / 10**power:g}·{raised}" if value >= 100_000 else f"{value:,.0f}"  # noqa: PLR2004
    return f"{value:g}".replace("-", "−")


_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

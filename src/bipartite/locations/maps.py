"""Maps with matplotlib: places, what one person may report, and heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError, how_many
from bipartite.locations.atlas import cities
from bipartite.locations.candidates import check_places
from bipartite.locations.counting import places_of
from bipartite.locations.grids import names_of, squares_of
from bipartite.locations.view import View, write_names
from bipartite.mechanisms import Mechanism
from bipartite.plots.figure import axes, describe, literal
from bipartite.plots.looks import BLUE, GREY, INK, PALE
from bipartite.plots.whiskers import in_percent, pin_legend
from bipartite.texts import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from numpy.typing import NDArray

    from bipartite.domains import Points
    from bipartite.locations.grids import Squares
    from bipartite.locations.heat import HeatMap

    Array = NDArray[np.float64]

PUBLIC: Final = "Made from the places alone, which must be public: never the positions of the people who report."
_MADE_UP: Final = "The person is made up: a map of what a real person may report would publish where they are."
_EDGED: Final = "A dark edge marks a cell whose interval excludes 0 (95 % for all cells together)."
MOST_DRAWN: Final = 20_000
_MANY: Final = 400  # places: their dots are smaller
_NAMED: Final = 40
_SHADES: Final = 32  # of a colour bar: with 50, matplotlib would embed an image
_HEAT: Final = ("#FFFFE5", "#FFF0B2", "#FECE65", "#FE9829", "#DD5F0B", "#9B3503", "#7F2A05")  # ColorBrewer, YlOrBr
_NEVER: Final = "#ABABAB"
_SAME: Final = 1 + 1e-9  # probabilities that differ by less count as equal
_TITLE, _TICKS, _LINE, _BAR = 0.3, 0.35, 0.18, 0.65  # inches of what stands beside a map


def plot(
    shown: Points | Mechanism,
    at: object = None,  # a row number, a label, or the name of a cell
    ax: Axes | None = None,
    *,
    title: str = "",
    credit: str = "",
) -> Axes:
    """Draw places, or what a made-up person may report, on matplotlib axes, and return them; needs the extra ``plots``.

    Parameters
    ----------
    shown
        Places; or a mechanism on places, with ``at``.
    at
        With a mechanism: the place (row number, label, or the name of a cell such as "C4") of a made-up person. The map
        shows what that person may report, with the area of a dot or the shade of a cell as its probability, and the
        mechanism's guarantee. Never pass the place of a real person: the picture would publish it.
    ax
        Where to draw; None makes a new figure.
    credit
        The source of the places, which many licences require.

    Examples
    --------
    >>> from bipartite import BRR
    >>> from bipartite.locations import places
    >>> three = places([[52.52, 13.40], [48.86, 2.35], [51.51, -0.13]], labels=["Berlin", "Paris", "London"])
    >>> plot(BRR(three, epsilon=1), at="Paris").get_label()[:52]
    'A map for a person at Paris: 1 favoured, probability'
    """
    if isinstance(shown, Mechanism):
        return _plot_person(shown, at, ax, title, credit)
    if at is not None:
        raise InputError("at= belongs to a mechanism; pass one, such as bp.BRR(places, epsilon=1), or leave at out.")
    places = _check_number(check_places(shown))
    squares = squares_of(places)
    view = View.of(places, squares)
    notes = [PUBLIC, *_sources(view, credit)]
    with axes(ax, view.size(_TICKS + _TITLE * bool(title))) as on:
        view.draw(on, squares)
        x, y = view.x(places.coordinates[:, 1]), places.coordinates[:, 0]
        if squares is None:
            on.scatter(x, y, 14 if len(x) <= _MANY else 4, BLUE, linewidths=0, zorder=4)
        else:
            draw_cells(on, view, squares.boxes, facecolor="none", edgecolor=BLUE, linewidth=0.5)
        describe(on, f"A map: {len(places):,} places. {' '.join(notes)}", title=title, notes=notes)
        if places.labels is not None:
            write_names(on, names_of(places)[:_NAMED], x[:_NAMED], y[:_NAMED])
    return on


def _plot_person(mechanism: Mechanism, at: object, ax: Axes | None, title: str, credit: str) -> Axes:
    """Draw what a person may report: the most probable places are dark, those that are never reported grey."""
    places = _check_number(places_of(mechanism, reported=True))
    if at is None:
        raise InputError(
            "Expected at= with a mechanism, the place of the made-up person whose reports to show; "
            f"try at={places.decode(0)!r}."
        )
    squares, names = squares_of(places), names_of(places)
    truth = squares.names.index(at) if squares and isinstance(at, str) and at in squares.names else places.encode(at)
    chances, outputs = np.zeros(len(places)), mechanism.outputs.indices
    row = mechanism.lottery.rows(truth, truth + 1)[0] / mechanism.lottery.total
    chances[slice(None) if outputs is None else outputs] = row
    view, kinds = View.of(places, squares), _kinds(chances)
    words = f"A map for a person at {names[truth]}: {'; '.join(kinds)}."
    notes = [f"{type(mechanism).__name__}: {mechanism.guarantee}.", _MADE_UP, PUBLIC, *_sources(view, credit)]
    with axes(ax, view.size(_TICKS + _TITLE * bool(title) + _LINE * len(kinds))) as on:
        view.draw(on, squares)
        x, y = view.x(places.coordinates[:, 1]), places.coordinates[:, 0]
        areas = np.maximum((70 if len(x) <= _MANY else 30) * chances / chances.max(), 5)
        low = 0.0 if len(set(kinds.values()) - {_NEVER}) == 1 else float(chances[chances > 0].min())
        how = _colours((PALE, BLUE), low, float(chances.max()), _NEVER)
        _shade(on, view, squares, np.column_stack([x, y, areas]), chances, how)
        on.plot(x[truth], y[truth], "o", markersize=13, markerfacecolor="none", markeredgecolor=INK, zorder=5)
        add_legend(on, kinds)
        describe(on, f"{words} {' '.join(notes)}", title=title, notes=notes)
        favoured = np.flatnonzero(chances > chances.max() / 2) if places.labels is not None else np.empty(0, int)
        first = np.concatenate([[truth], favoured[favoured != truth][:_NAMED]])
        named = [f"true place: {names[truth]}", *(names[each] for each in first[1:].tolist())]
        write_names(on, named, x[first], y[first], gap=8)
    return on


def plot_heat(heat: HeatMap, ax: Axes | None, title: str, credit: str) -> Axes:
    """Draw shares as colours: as cells if the places form a grid, otherwise as dots."""
    squares, names = squares_of(heat.places), names_of(heat.places)
    view, most = View.of(heat.places, squares), int(heat.shares.argmax())
    notes = [f"{heat.people:,} reports{heat.smoothed}. Guarantee: {heat.guarantee}."]
    notes += [f"{heat.note[0].upper()}{heat.note[1:]}."] if heat.note else []
    notes += [_EDGED] if squares is not None and heat.has_intervals else []
    notes += _sources(view, credit, towns=squares is not None)
    kind, where = ("places", "at each place") if squares is None else ("cells", "in each cell")
    words = f"A heat map of {len(names):,} {kind}; the largest share, at {names[most]}: {_share_text(heat, most)}."
    with axes(ax, view.size(_TICKS + _TITLE * bool(title) + _BAR)) as on:
        view.draw(on, squares)
        x, y = view.x(heat.places.coordinates[:, 1]), heat.places.coordinates[:, 0]
        how = _colours(_HEAT, 0.0, float(max(heat.shares.max(), 0.0)) or 1.0, _HEAT[0])
        areas = np.full(len(x), 40 if len(x) <= _MANY else 15)
        drawn = _shade(on, view, squares, np.column_stack([x, y, areas]), heat.shares, how)
        if squares is not None and heat.has_intervals:
            sure = squares.boxes[heat.intervals(together=True)[0] > 0]
            draw_cells(on, view, sure, facecolor="none", edgecolor=INK, linewidth=1.1, zorder=0.9)
        pad = 0.15 if on.figure.get_layout_engine() is None else 0.03  # below the numbers, which a layout keeps free
        bar: Any = on.figure.colorbar(drawn, ax=on, orientation="horizontal", aspect=40, pad=pad)
        bar.set_label(f"share of people {where}")
        bar.solids.set_edgecolor("face")  # else a browser shows seams
        in_percent(bar.ax.xaxis)
        describe(on, f"{words} {' '.join(notes)}", title=title, notes=notes)
        if squares is not None:
            towns, coordinates = cities()
            write_names(on, towns, view.x(coordinates[:, 1]), coordinates[:, 0], dot=2.5)
        elif heat.places.labels is not None:
            some = np.argsort(-heat.shares, kind="stable")[:_NAMED]
            write_names(on, [names[each] for each in some.tolist()], x[some], y[some])
    return on


def draw_cells(ax: Axes, view: View, boxes: Array, **how: Any) -> Collection:  # noqa: ANN401 (matplotlib's)
    """Draw boxes (south, west, north, east) as rectangles."""
    from matplotlib.collections import PolyCollection  # noqa: PLC0415 (optional, and slow to load)

    south, west, north, east = boxes.T
    left = view.x(west)
    right = left + east - west
    corners = np.stack([left, south, right, south, right, north, left, north], axis=1).reshape(-1, 4, 2)
    return ax.add_collection(PolyCollection(list(corners), **{"zorder": 0.7, **how}), autolim=False)


def add_legend(ax: Axes, kinds: dict[str, str], columns: int = 1) -> None:
    """The kinds of dots below the map, by their words and colours."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    dot: dict[str, Any] = {"linestyle": "", "marker": "o"}
    dots = [Line2D([], [], **dot, color=colour, label=literal(words)) for words, colour in kinds.items()]
    ax.set_anchor("N")  # what the layout leaves over is below
    pin_legend(ax, dots, 72 * (_TICKS - 0.1), ncols=columns, handletextpad=0, frameon=False)


def _check_number(places: Points) -> Points:
    """The places, refused if a picture cannot hold so many."""
    if len(places) > MOST_DRAWN:
        raise InputError(
            f"Expected at most {MOST_DRAWN:,} places in a picture, got {len(places):,}; plot some of them "
            "(bp.locations.from_checkins takes places=), or a coarser grid."
        )
    return places


def _kinds(chances: Array) -> dict[str, str]:
    """The kinds of places in words, with the number of each, and their colours."""
    positive = chances[chances > 0]
    low, high = float(positive.min()), float(positive.max())
    near = int((positive > low * _SAME).sum())
    never = len(chances) - len(positive)
    grey = {f"{never:,} never reported": _NEVER} if never else {}
    if not near:
        return {f"{len(positive):,} places, probability {percent(low)} each": BLUE} | grey
    if low * _SAME < float(positive[positive > low * _SAME].min()) < high / _SAME:
        return {f"highest probability {percent(high)}": BLUE, f"lowest {percent(low)}, shades between": PALE} | grey
    others = f"{how_many(len(positive) - near, 'other')}: {percent(low)} each"
    return {f"{near:,} favoured, probability {percent(high)} each": BLUE, others: PALE} | grey


def _shade(
    ax: Axes, view: View, squares: Squares | None, spots: Array, values: Array, how: dict[str, Any]
) -> Collection:
    """Colour the cells under the coasts; or dots (x, y, area), the largest value last: nothing may hide it."""
    if squares is None:
        order = np.argsort(values, kind="stable")
        x, y, areas = spots[order].T
        return ax.scatter(x, y, areas, values[order], edgecolors=GREY, linewidths=0.3, zorder=4, **how)
    view.land(ax, facecolor="none", edgecolor=INK, linewidth=0.5, alpha=0.5, zorder=0.8)
    return draw_cells(ax, view, squares.boxes, array=values, edgecolor="face", linewidth=0.2, **how)


def _colours(colours: Sequence[str], low: float, high: float, below: str) -> dict[str, Any]:
    """From light to dark, which people with any colour blindness see."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize  # noqa: PLC0415

    shades = LinearSegmentedColormap.from_list("", colours, _SHADES).with_extremes(under=below)
    return {"cmap": shades, "norm": Normalize(low, high)}


def _share_text(heat: HeatMap, at: int) -> str:
    """A share as text, with its interval if there is one."""
    if not heat.has_intervals:
        return f"{percent(float(heat.shares[at]))}{', a guess' if heat.standard_errors is None else ''}"
    low, high = (float(each[at]) for each in heat.intervals())
    return f"{percent(float(heat.shares[at]))}, {percent(low)} to {percent(high)}"


def _sources(view: View, credit: str, *, towns: bool = False) -> list[str]:
    named = "Cities: GeoNames, CC BY 4.0. " if towns else ""
    coast = "Coasts: Natural Earth, coarse." if view.has_coasts else "No coasts: ours are too coarse for this map."
    return [named + coast, *([f"Places: {credit}."] if credit else [])]

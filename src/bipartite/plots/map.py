"""Maps of places: by region, and by the probability that one person reports them."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import how_many
from bipartite.plots import style
from bipartite.plots.map_numbers import numbered
from bipartite.plots.shares import shortened
from bipartite.plots.svg import legend, path, percent, picture, tag, text, title
from bipartite.plots.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.plots.svg import Picture

    Array = NDArray[np.float64]

COLOURS: Final = (
    "#1f5fa8", "#c2571a", "#2e7d4f", "#8b3fa0", "#b8860b",
    "#0f7f8c", "#b03060", "#5a6b1f", "#6a4c93", "#7a4b2a",
)  # fmt: skip
TOP: Final = 30.0
LINE: Final = 18.0
_LETTERS: Final = 120  # per line of text below a map
_LARGEST: Final = 7.0
_LARGEST_OF_MANY: Final = 4.5
_DOT: Final = 2.6
_DOT_OF_MANY: Final = 1.6
MANY: Final = 400
_COLUMNS: Final = 3
_MOST_NAMED: Final = 24
_LONGEST: Final = 18  # the most letters of a name below the map
_NEVER: Final[dict[str, Any]] = {"fill": "#ababab"}
_HEAT: Final = ("#fff3d6", "#fdc46b", "#f0803c", "#c63a2b", "#6d1226")
_CHANCES: Final = (style.BRR_FAR, style.BRR)
_SAME: Final = 1 + 1e-9  # probabilities that differ by less count as equal


def regions_on_a_map(
    coordinates: Array,
    region_of: NDArray[np.int64],
    names: Sequence[str],
    *,
    labels: Sequence[str],
    coasts: Iterable[Array],
    notes: Sequence[str] = (),
) -> Picture:
    """Plot places in the colours of their regions, with the outline and number of each region and its name below.

    ``names`` are the regions (with a single one, no outlines), ``labels`` the places, ``notes`` lines of text below.
    """
    view = View(coordinates, TOP)
    spots = view.at(coordinates)
    parts = view.ground(coasts)
    several = len(names) > 1
    sizes = np.bincount(region_of, minlength=len(names)).tolist()
    for region in range(len(names)) if several else ():
        corners = _hull([spots[each] for each in np.flatnonzero(region_of == region).tolist()])
        colour = COLOURS[region % len(COLOURS)]
        parts.append(path(corners, closed=True, fill=colour, fill_opacity="0.10", stroke=colour, stroke_width=0.9))
    radius = _DOT_OF_MANY if len(spots) > MANY else _DOT
    for (x, y), region, label in zip(spots, region_of.tolist(), labels, strict=True):
        words = f"{label}, region {region + 1}: {names[region]}" if several else label
        parts.append(tag("circle", title(words), cx=x, cy=y, r=radius, fill=COLOURS[region % len(COLOURS)]))
    named = _largest(sizes) if several else []
    middles = {}
    for region in sorted(named, key=lambda each: -sizes[each]):
        inside = [spots[each] for each in np.flatnonzero(region_of == region).tolist()]
        x, y = (float(np.median([spot[axis] for spot in inside])) for axis in (0, 1))
        middles[str(region + 1)] = (x, y)
    parts += numbered(middles, (view.left, view.top, view.left + view.width, view.bottom))
    parts += view.scale()
    count = f"{len(spots):,} places"
    heading = f"{count} in {len(names)} regions of {min(sizes)} to {max(sizes)}" if several else count
    parts.append(text(2, 18, heading, font_weight="bold"))
    y = view.bottom + LINE
    if several:
        y = _named(parts, y, names, sizes, named)
    says = f"A map: {heading}" + (": " + "; ".join(_entries(names, sizes, named)) if several else "")
    return finished(parts, y, says, notes)


def chances_around(
    coordinates: Array,
    chances: Array,
    *,
    truth: int,
    labels: Sequence[str],
    coasts: Iterable[Array],
    notes: Sequence[str] = (),
) -> Picture:
    """Plot what a person at the place ``truth`` may report: the area of a dot is its probability.

    The most probable places are dark, the least probable light, with shades between them; places that are never
    reported are grey.
    """
    view = View(coordinates, TOP)
    spots = view.at(coordinates)
    possible = chances > 0
    low, high = float(chances[possible].min()), float(chances.max())
    radii = np.maximum((_LARGEST if len(spots) <= MANY else _LARGEST_OF_MANY) * np.sqrt(chances / high), 1.6)
    parts = view.ground(coasts)
    # The most probable last, so that nothing hides them.
    for which in np.argsort(chances, kind="stable").tolist():
        x, y = spots[which]
        says = title(f"{labels[which]}: {percent(float(chances[which]))}")
        share = (float(chances[which]) - low) / (high - low) if high > low else 1.0
        colour = blend(_CHANCES, share) if possible[which] else _NEVER["fill"]
        how = {"fill": colour, "stroke": style.PAPER, "stroke_width": 0.5}
        parts.append(tag("circle", says, cx=x, cy=y, r=float(radii[which]), **how))
    x, y = spots[truth]
    left = x > style.WIDTH / 2
    at = x - _LARGEST - 8 if left else x + _LARGEST + 8
    name = shortened(labels[truth])
    parts += [
        tag("circle", cx=x, cy=y, r=_LARGEST + 3, fill="none", stroke=style.INK, stroke_width=1.5),
        text(
            at, y + 4, f"true place: {name}", text_anchor="end" if left else "start", font_weight="bold", **style.HALO
        ),
        *view.scale(),
    ]
    entries = _kinds(chances)
    parts += legend(entries, 18)
    says = f"A map for a person at {labels[truth]}: " + "; ".join(words for words, _ in entries)
    return finished(parts, view.bottom + LINE, says, notes)


def heat(level: float) -> str:
    """The colour of a level from 0 (light) to 1 (dark)."""
    return blend(_HEAT, level)


def blend(colours: Sequence[str], level: float) -> str:
    """Interpolate a list of colours at a level from 0 to 1, clamped."""
    at = min(max(level, 0.0), 1.0) * (len(colours) - 1)
    low = min(int(at), len(colours) - 2)
    first, last = ([int(colours[low + step][each : each + 2], 16) for each in (1, 3, 5)] for step in (0, 1))
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02x}" for a, b in zip(first, last, strict=True))


def _kinds(chances: Array) -> list[tuple[str, Any]]:
    """The kinds of dots, with the number of each."""
    positive = chances[chances > 0]
    low, high = float(positive.min()), float(positive.max())
    near = int((positive > low * _SAME).sum())
    never = len(chances) - len(positive)
    grey = [(f"{never:,} never reported", _NEVER)] if never else []
    if not near:
        return [(f"{len(positive):,} places, probability {percent(low)} each", style.BRR_NEAR_STYLE), *grey]
    if low * _SAME < float(positive[positive > low * _SAME].min()) < high / _SAME:
        return [
            (f"highest probability {percent(high)}", style.BRR_NEAR_STYLE),
            (f"lowest {percent(low)}, shades between", style.BRR_FAR_STYLE),
            *grey,
        ]
    return [
        (f"{near:,} favoured, probability {percent(high)} each", style.BRR_NEAR_STYLE),
        (f"{how_many(len(positive) - near, 'other')}: {percent(low)} each", style.BRR_FAR_STYLE),
        *grey,
    ]


def _largest(sizes: Sequence[int]) -> list[int]:
    """The regions that are numbered on the map and named below it: all, or the largest if there are many."""
    return sorted(sorted(range(len(sizes)), key=lambda region: -sizes[region])[:_MOST_NAMED])


def _entries(names: Sequence[str], sizes: Sequence[int], named: Sequence[int]) -> list[str]:
    entries = [f"{region + 1}: {names[region]}, {sizes[region]:,} places" for region in named]
    hidden = len(names) - len(named)
    return [*entries, f"and {hidden:,} smaller regions"] if hidden else entries


def _named(parts: list[str], y: float, names: Sequence[str], sizes: Sequence[int], named: Sequence[int]) -> float:
    """Append the regions by number, in columns; return the y coordinate of the next line."""
    entries = _entries([_elided(name) for name in names], sizes, named)
    wide = style.WIDTH / _COLUMNS
    rows = -(-len(entries) // _COLUMNS)
    for number, words in enumerate(entries):
        x, line = 2 + number // rows * wide, y + number % rows * LINE
        if number < len(named):
            parts.append(tag("circle", cx=x + 5, cy=line - 4, r=5, fill=COLOURS[named[number] % len(COLOURS)]))
        parts.append(text(x + 16, line, words, font_size=12))
    return y + rows * LINE


def _elided(name: str) -> str:
    """Shorten a long name in the middle: the codes of neighbouring tiles start alike."""
    return name if len(name) <= _LONGEST else f"{name[:4]}…{name[5 - _LONGEST :]}"


def finished(parts: Sequence[str], y: float, says: str, notes: Sequence[str], width: float = style.WIDTH) -> Picture:
    """Complete a picture with notes below it, wrapped to its width."""
    letters = int(_LETTERS * width / style.WIDTH)
    lines = [line for note in notes for line in wrap(note, letters, break_long_words=False, break_on_hyphens=False)]
    below = [text(2, y + number * (LINE - 2), line, font_size=12) for number, line in enumerate(lines)]
    return picture(y + len(lines) * (LINE - 2), f"{says}. {' '.join(notes)}", [*parts, *below], width)


def _hull(spots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of the convex hull (Andrew's monotone chain)."""
    ordered = sorted(set(spots))
    if len(ordered) < 3:  # noqa: PLR2004 (a line has no inside)
        return ordered

    def half(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for x, y in points:
            while len(kept) > 1:
                (x1, y1), (x2, y2) = kept[-2:]
                if (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) > 0:
                    break
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    return [*half(ordered), *half(reversed(ordered))]

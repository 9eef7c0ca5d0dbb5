"""Small pictures side by side on one scale: the same lines for several data sets, sizes or budgets."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import LETTER, Picture, beyond, lines, mark, path, picture, rule, style, text, ticks
from reproduction.figures.labels import Labels, around, star
from reproduction.runner.contract import Rows, distinct, number, select
from reproduction.runner.intervals import MeanInterval, by_seed, each_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 26, 44
_GAP: Final = 16
_HEIGHT: Final = {1: 300, 2: 240, 3: 210}
_KEY: Final = 20
_TOGETHER: Final = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
_LINE: Final = 13  # from one line of small words to the next
_TITLE: Final = 16  # from one line of a title to the next
_BOLD: Final = 7.6  # the mean width of a bold letter
_SAMPLE: Final = 30
_FEW: Final = 16  # up to so many points each is marked
_HEADROOM: Final = 0.05
_FOR_WORDS: Final = 3
_PLACES: Final = (0.5, 0.65, 0.35, 0.8, 0.2, 0.9)  # of the star of a level, the best first
_CAP: Final = 3
_NARROW: Final = 3
_FEW_DECADES: Final = 3
_DECADE: Final = 110  # pixels from which 2 and 5 are marked between powers of ten; upwards half of it is enough
_APART: Final = 2.5  # pixels between the intervals of two lines at one place
_PRINTED: Final = "printed in the paper"
_LEVEL: Final = {"stroke": style.INK, "stroke_width": 1, "stroke_dasharray": "1 2"}


@dataclass(frozen=True)
class Line:
    """One named line; ``low`` and ``high`` are the ends of an interval at every point, where it has one."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    marked: bool = True
    """Whether each point is marked: not for a level that is no measurement."""
    joined: bool = True
    """Whether the points are joined: not where they lie on another line."""
    end: str = ""
    """Words right of its end."""
    like: str = ""
    """The name whose line and points it is drawn with, where that is not its own."""

    @classmethod
    def of(cls, name: str, rows: Rows, x: str, y: str, *, marked: bool = True) -> Line:
        """One column of rows against another."""
        return cls(name, [number(row, x) for row in rows], [number(row, y) for row in rows], marked=marked)

    @classmethod
    def of_means(
        cls, name: str, means: Mapping[float, MeanInterval], ends: tuple[float, float] = (-math.inf, math.inf)
    ) -> Line:
        """Means by x with their intervals, cut at the ends of what is possible; without any where one seed has none."""
        y = [each.mean for each in means.values()]
        if any(math.isinf(each.low) for each in means.values()):
            return cls(name, list(means), y)
        lows = [max(ends[0], each.low) for each in means.values()]
        return cls(name, list(means), y, lows, [min(ends[1], each.high) for each in means.values()])

    @classmethod
    def of_pairs(
        cls,
        name: str,
        pairs: Mapping[float, tuple[Rows, Rows]],
        column: str,
        how: Callable[[float, float], float],
        like: str = "",
    ) -> Line:
        """Differences or ratios of two sets of rows at every x, paired by seed; without a common seed there is none."""
        by_x = {
            x: each_seed(by_seed(ours, column), by_seed(theirs, column), how) for x, (ours, theirs) in pairs.items()
        }
        found = cls.of_means(name, {x: MeanInterval.of(of.values()) for x, of in by_x.items() if of})
        return replace(found, like=like)

    @classmethod
    def of_mechanisms(cls, rows: Rows, x: str, y: str, unmarked: str = "") -> list[Line]:
        """A line for each mechanism; that of one of them is a level."""
        return [
            cls.of(str(name), select(rows, mechanism=name), x, y, marked=name != unmarked)
            for name in distinct(rows, "mechanism")
        ]


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints: a star named "the paper: …", never cut off by the edge of its panel."""

    y: float
    words: str
    """The number as it is printed: 66 %."""
    x: float | None = None
    """None where it belongs to no single x: a mean over all of them is a level."""


@dataclass(frozen=True)
class Panel:
    """One small picture. Without ``lowest`` and ``highest`` the lines decide; what lies beyond is said at the edge.

    There an arrow stands for every point, and their value, or the least and the largest of neighbouring ones.
    """

    title: str
    """What is drawn: which data, network, ε or N; no other panel of the picture has the same."""
    lines: Sequence[Line]
    lowest: float | None = None
    highest: float | None = None
    printed: Sequence[Printed] = ()


def panels(  # noqa: PLR0913 (all that a picture says, each by its name)
    drawn: Sequence[Panel],
    *,
    across: str,
    up: str,
    says: str,
    columns: int = 2,
    log_x: bool = False,
    log_y: bool = False,
    how: Mapping[str, Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
) -> Picture:
    """Panels in rows, one key of all names above them.

    ``how`` overrides the line of a name (:mod:`bipartite.plots.palette` has the others); ``notes`` are lines below.
    Lines with intervals are moved apart by a few pixels, so that one does not hide another.
    """
    names = list(dict.fromkeys(line.name for panel in drawn for line in panel.lines))
    alike = {line.name: line.like or line.name for panel in drawn for line in panel.lines}
    held = lines(alike.values())
    looks = {**{name: held[alike[name]] for name in names}, **(how or {})}
    columns = min(columns, len(drawn))
    wide = (style.WIDTH - _GAP * (columns - 1)) / columns
    titles = [_wrapped(panel.title, wide - _LEFT) for panel in drawn]
    head = _TOP + _TITLE * (max(map(len, titles)) - 1)
    tall = _HEIGHT[columns] + head - _TOP
    marked = {line.name for panel in drawn for line in panel.lines if _is_marked(line)}
    joined = {line.name for panel in drawn for line in panel.lines if line.joined}
    entries = [(name, looks[name], alike[name] if name in marked else "") for name in names]
    parts, top = _key(entries, joined, _stars(drawn))
    for at, panel in enumerate(drawn):
        x, y = (wide + _GAP) * (at % columns), top + (tall + _GAP) * (at // columns)
        parts += [
            text(x + _LEFT, y + _TOP - 9 + _TITLE * line, words, font_weight="bold")
            for line, words in enumerate(titles[at])
        ]
        parts += _Drawn(panel, (x, y + head, wide, tall - head), (log_x, log_y)).parts(looks, across, up)
    bottom = top + (tall + _GAP) * (-(-len(drawn) // columns)) - _GAP + 6
    for note in notes:
        bottom += 16
        parts.append(text(2, bottom, note, font_size=12))
    return picture(bottom + 6, says, parts)


def _wrapped(title: str, wide: float) -> list[str]:
    """A title in as many lines as it needs, one at least; none ends within "ε = 1"."""
    held = [""]
    for word in title.replace(" = ", _TOGETHER).split(" "):
        longer = f"{held[-1]} {word}".strip()
        if _BOLD * len(longer) <= wide or not held[-1]:
            held[-1] = longer
        else:
            held.append(word)
    return [line.replace(_TOGETHER, " = ") for line in held]


def _stars(drawn: Sequence[Panel]) -> list[bool]:
    """For each number that the paper prints: whether it is a level."""
    return [each.x is None for panel in drawn for each in panel.printed]


def _key(
    entries: Sequence[tuple[str, Mapping[str, Any], str]], joined: Collection[str], stars: Sequence[bool]
) -> tuple[list[str], float]:
    """The names with samples of their lines and points, in as many rows as they need; and where the panels begin."""
    parts, x, y = [], 2.0, 14.0
    for name, how, point in [*entries, *([(_PRINTED, _LEVEL, "")] if stars else [])]:
        wide = _SAMPLE + 7 + LETTER * len(name) + 16
        if x + wide > style.WIDTH and x > 2:  # noqa: PLR2004 (the left edge)
            x, y = 2.0, y + _KEY
        if name in joined or (name == _PRINTED and any(stars)):
            parts.append(rule(x, y - 4, x + _SAMPLE, y - 4, **how))
        parts.append(text(x + _SAMPLE + 7, y, name))
        if point:
            parts.append(mark(point, x + _SAMPLE / 2, y - 4, how["stroke"]))
        if name == _PRINTED:
            parts.append(star(x + _SAMPLE / 2, y - 4))
        x += wide
    return parts, y + 10


class _Drawn:
    """One panel in its place."""

    def __init__(self, panel: Panel, place: tuple[float, float, float, float], logs: tuple[bool, bool]) -> None:
        self._panel = panel
        x, y, wide, tall = place
        self._logs = logs
        ends = max((LETTER * len(line.end) for line in panel.lines), default=0)
        self._left, self._right = x + _LEFT, x + wide - _RIGHT - ends
        self._top, self._ground = y, y + tall - _BOTTOM
        self._narrow = wide * _NARROW < style.WIDTH + _GAP
        across = [self._scaled(each, 0) for line in panel.lines for each in line.x]
        across += [self._scaled(each.x, 0) for each in panel.printed if each.x is not None]
        self._x0, self._x1 = min(across), max(across)
        if self._x0 == self._x1:
            self._x0, self._x1 = self._x0 - 0.5, self._x1 + 0.5
        heights = [
            self._scaled(each, 1)
            for line in panel.lines
            for values in (line.y, line.low or (), line.high or ())
            for each in values
            if math.isfinite(each)
        ]
        printed = [self._scaled(each.y, 1) for each in panel.printed]
        lows, highs = (
            [*(heights if held is None else [self._scaled(held, 1)]), *printed]
            for held in (panel.lowest, panel.highest)
        )
        low, high = min(lows), max(highs)
        room = (high - low) * _HEADROOM or abs(low) * _HEADROOM or 1.0
        # Words of a star need room where it is nearly the lowest or the highest.
        below, above = (
            _FOR_WORDS if any(abs(each - end) <= 2 * room for each in printed) else 1 for end in (low, high)
        )
        self._y0 = low - room * below if panel.lowest is None or low in printed else low
        self._y1 = high + room * above if panel.highest is None or high in printed else high
        uncertain = [line.name for line in panel.lines if line.low is not None]
        places = sorted({self._at_x(each) for line in panel.lines if line.low is not None for each in line.x})
        least = min((b - a for a, b in itertools.pairwise(places)), default=math.inf)
        apart = min(_APART, least / (len(uncertain) + 1)) if len(uncertain) > 1 else 0.0
        self._aside = {name: (at - (len(uncertain) - 1) / 2) * apart for at, name in enumerate(uncertain)}
        self._beyond: list[tuple[float, str, str, bool]] = []
        self._words: list[str] = []
        self._labels = Labels((self._left, self._top - 4, self._right, self._ground))

    def _scaled(self, value: float, axis: int) -> float:
        return math.log10(value) if self._logs[axis] else float(value)

    def _at_x(self, value: float) -> float:
        share = (self._scaled(value, 0) - self._x0) / (self._x1 - self._x0)
        return self._left + 6 + share * (self._right - self._left - 12)

    def _at_y(self, value: float) -> float:
        """Where a value stands, be it beyond the picture."""
        share = (self._scaled(value, 1) - self._y0) / (self._y1 - self._y0)
        return self._ground - share * (self._ground - self._top)

    def _held(self, y: float) -> float:
        return min(max(y, self._top), self._ground)

    def _is_inside(self, y: float) -> bool:
        return self._top - 1e-6 <= y <= self._ground + 1e-6

    def parts(self, looks: Mapping[str, Mapping[str, Any]], across: str, up: str) -> list[str]:
        """Grid, axes, lines."""
        parts: list[str] = []
        for value in self._marks(1):
            y = self._at_y(value)
            parts.append(rule(self._left, y, self._right, y, stroke=style.FAINT))
            parts.append(text(self._left - 6, y + 4, _number(value), text_anchor="end", font_size=12))
        for value in self._marks(0):
            x = self._at_x(value)
            parts.append(rule(x, self._ground, x, self._ground + 4, stroke=style.INK))
            parts.append(text(x, self._ground + 17, _number(value), text_anchor="middle", font_size=12))
        parts.append(rule(self._left, self._ground, self._right, self._ground, stroke=style.INK, stroke_width=0.8))
        middle, centre = (self._left + self._right) / 2, (self._top + self._ground) / 2
        parts.append(text(middle, self._ground + 35, across, text_anchor="middle", font_size=12))
        at = self._left - _LEFT + 11
        turned = f"rotate(-90 {at:.0f} {centre:.0f})"
        parts.append(text(at, centre, up, text_anchor="middle", font_size=12, transform=turned))
        for line in self._panel.lines:
            parts += self._line(line, looks[line.name])
        self._words += self._ends()
        for x, words, colour, above in self._beyond:
            self._words.append(self._labels.at_edge(x, words, colour, up=above))
        for each in sorted(self._panel.printed, key=lambda each: each.x is None):  # a level can give way
            parts += self._printed(each)
        return parts + self._words  # words last, above every line

    def _ends(self) -> list[str]:
        """The words right of the lines that have some, pushed down where one would cover another."""
        named = [line for line in self._panel.lines if line.end]
        parts, lowest = [], -math.inf
        for y, words in sorted((self._held(self._at_y(line.y[-1])), line.end) for line in named):
            lowest = max(y, lowest + _LINE)
            parts.append(text(self._right + 6, lowest + 4, words, font_size=12))
        return parts

    def _printed(self, held: Printed) -> list[str]:
        """The star of a printed number; that of a level stands where its words have room."""
        y, words = self._at_y(held.y), f"the paper: {held.words}"
        parts = []
        if held.x is not None:
            x = self._at_x(held.x)
        else:
            self._labels.keep_clear([(self._left, y), (self._right, y)])
            parts.append(rule(self._left, y, self._right, y, **_LEVEL))
            long = self._right - self._left
            x, _ = self._labels.most_room([(self._left + share * long, y) for share in _PLACES], words)
        self._labels.take(around(x, y))
        self._words.append(self._labels.beside(x, y, words))
        return [*parts, star(x, y)]

    def _line(self, line: Line, how: Mapping[str, Any]) -> list[str]:
        colour, aside = how["stroke"], self._aside.get(line.name, 0.0)
        parts: list[str] = []
        if line.low is not None and line.high is not None:
            for x, low, high in zip(line.x, line.low, line.high, strict=True):
                if math.isfinite(low) and math.isfinite(high):
                    parts += self._interval(self._at_x(x) + aside, self._at_y(low), self._at_y(high), colour)
        for run in _runs(line):
            spots = [(self._at_x(x) + aside, self._at_y(y)) for x, y in run]
            if line.joined:
                self._labels.keep_clear(spots)
                parts += [path(piece, fill="none", **how) for piece in self._pieces(spots)]
            if _is_marked(line):
                for x, y in spots:
                    self._labels.keep_clear([(x - 4, y - 4), (x + 4, y + 4), (x - 4, y + 4), (x + 4, y - 4)])
                parts += [mark(line.like or line.name, x, y, colour) for x, y in spots if self._is_inside(y)]
            parts += self._left_out(spots, [y for _, y in run], colour)
        return parts

    def _interval(self, x: float, below: float, above: float, colour: str) -> list[str]:
        """A bar with caps, or an arrow where it goes on."""
        parts = []
        self._labels.keep_clear([(x, self._held(below)), (x, self._held(above))])
        if above <= self._ground and below >= self._top:
            parts.append(rule(x, self._held(below), x, self._held(above), stroke=colour, stroke_width=1))
        for y in (below, above):
            if self._is_inside(y):
                parts.append(rule(x - _CAP, y, x + _CAP, y, stroke=colour, stroke_width=1))
            else:
                up = y < self._top
                parts.append(beyond(x, self._top if up else self._ground, colour, up=up))
        return parts

    def _pieces(self, spots: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
        """The parts of a line within the picture, cut where it crosses an edge."""
        pieces: list[list[tuple[float, float]]] = []
        for (ax, ay), (bx, by) in itertools.pairwise(spots):
            shares = [0.0, 1.0]
            if by != ay:
                shares += [share for edge in (self._top, self._ground) if 0 < (share := (edge - ay) / (by - ay)) < 1]
            for first, last in itertools.pairwise(sorted(shares)):
                middle = (first + last) / 2
                if not self._is_inside(ay + (by - ay) * middle):
                    continue
                ends = [(ax + (bx - ax) * share, ay + (by - ay) * share) for share in (first, last)]
                if pieces and pieces[-1][-1] == ends[0]:
                    pieces[-1].append(ends[1])
                else:
                    pieces.append(ends)
        return pieces

    def _left_out(self, spots: Sequence[tuple[float, float]], values: Sequence[float], colour: str) -> list[str]:
        """An arrow for every point beyond the picture, and what neighbouring ones are."""
        parts = []
        where = [0 if self._is_inside(y) else -1 if y < self._top else 1 for _, y in spots]
        for side, group in itertools.groupby(range(len(spots)), key=lambda at: where[at]):
            some = list(group)
            if side == 0:
                continue
            up = side < 0
            edge = self._top if up else self._ground
            parts += [beyond(spots[at][0], edge, colour, up=up) for at in some]
            for at in some:
                self._labels.take((spots[at][0] - 4, edge, spots[at][0] + 4, edge + (8 if up else -8)))
            written = [_number(each) for each in sorted({float(f"{values[at]:.3g}") for at in some})]
            farthest = max(some, key=lambda at: abs(spots[at][1] - edge))
            words = " to ".join(written[:: len(written) - 1 or 1])
            self._beyond.append((spots[farthest][0], words, colour, up))
        return parts

    def _marks(self, axis: int) -> list[float]:
        low, high = (self._x0, self._x1) if axis == 0 else (self._y0, self._y1)
        if not self._logs[axis]:
            return ticks(low, high, 5 if axis or self._narrow else 8)
        long = self._ground - self._top if axis else self._right - self._left
        roomy = long >= (high - low) * _DECADE / (1 + axis) and high - low <= _FEW_DECADES
        factors = (1, 2, 5) if roomy else (1,)
        values = [f * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for f in factors]
        return [value for value in values if low - 1e-9 <= math.log10(value) <= high + 1e-9]


def _is_marked(line: Line) -> bool:
    return line.marked and len(line.x) <= _FEW


def _runs(line: Line) -> list[list[tuple[float, float]]]:
    """The points between gaps."""
    together = itertools.groupby(
        zip(line.x, line.y, strict=True), key=lambda spot: all(math.isfinite(each) for each in spot)
    )
    return [list(group) for there, group in together if there]


def _number(value: float) -> str:
    if value >= 10_000 and value == int(value):  # noqa: PLR2004 (five digits and more are grouped, or a power)
        power = math.floor(math.log10(value) + 1e-9)
        raised = f"10{str(power).translate(_RAISED)}"
        if value == 10**power:
            return raised
        return f"{value / 10**power:g}·{raised}" if value >= _LONG else f"{value:,.0f}"
    return f"{value:g}".replace("-", "−")


_LONG: Final = 100_000
_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

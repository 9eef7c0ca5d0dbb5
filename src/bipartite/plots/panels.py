"""Small pictures side by side on one scale: the same lines for several data sets, sizes or budgets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import style
from bipartite.plots.palette import MARKS, lines
from bipartite.plots.svg import LETTER, path, picture, rule, tag, text, ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bipartite.plots.svg import Picture

    Scale = Callable[[float], float]

_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 26, 44
_GAP: Final = 16
_HEIGHT: Final = {1: 300, 2: 240, 3: 210}
_KEY: Final = 20
_SAMPLE: Final = 30
_FEW: Final = 16  # up to so many points each is marked
_HEADROOM: Final = 0.05
_CAP: Final = 3
_NARROW: Final = 3
_FEW_DECADES: Final = 2.5


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


@dataclass(frozen=True)
class Panel:
    """One small picture. Without ``lowest`` and ``highest`` the lines decide; beyond them lines leave the picture."""

    title: str
    lines: Sequence[Line]
    lowest: float | None = None
    highest: float | None = None


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
    """
    names = list(dict.fromkeys(line.name for panel in drawn for line in panel.lines))
    looks = {**lines(names), **(how or {})}
    columns = min(columns, len(drawn))
    wide = (style.WIDTH - _GAP * (columns - 1)) / columns
    tall = _HEIGHT[columns]
    marked = {line.name for panel in drawn for line in panel.lines if _is_marked(line)}
    parts, top = _key([(name, looks[name], name in marked) for name in names])
    for number, panel in enumerate(drawn):
        x, y = (wide + _GAP) * (number % columns), top + (tall + _GAP) * (number // columns)
        parts += _Drawn(panel, (x, y, wide, tall), (log_x, log_y)).parts(looks, across, up)
    bottom = top + (tall + _GAP) * (-(-len(drawn) // columns)) - _GAP + 6
    for note in notes:
        bottom += 16
        parts.append(text(2, bottom, note, font_size=12))
    return picture(bottom + 6, says, parts)


def _key(entries: Sequence[tuple[str, Mapping[str, Any], bool]]) -> tuple[list[str], float]:
    """The names with samples of their lines, in as many rows as they need; and where the panels begin."""
    parts, x, y = [], 2.0, 14.0
    for name, how, marked in entries:
        wide = _SAMPLE + 7 + LETTER * len(name) + 16
        if x + wide > style.WIDTH and x > 2:  # noqa: PLR2004 (the left edge)
            x, y = 2.0, y + _KEY
        parts += [rule(x, y - 4, x + _SAMPLE, y - 4, **how), text(x + _SAMPLE + 7, y, name)]
        if marked:
            parts.append(_mark(name, x + _SAMPLE / 2, y - 4, how["stroke"]))
        x += wide
    return parts, y + 10


class _Drawn:
    """One panel in its place."""

    def __init__(self, panel: Panel, place: tuple[float, float, float, float], logs: tuple[bool, bool]) -> None:
        self._panel = panel
        x, y, wide, tall = place
        self._logs = logs
        self._left, self._right = x + _LEFT, x + wide - _RIGHT
        self._top, self._ground = y + _TOP, y + tall - _BOTTOM
        self._narrow = wide * _NARROW < style.WIDTH + _GAP
        across = [self._scaled(each, 0) for line in panel.lines for each in line.x]
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
        low = min(heights) if panel.lowest is None else self._scaled(panel.lowest, 1)
        high = max(heights) if panel.highest is None else self._scaled(panel.highest, 1)
        room = (high - low) * _HEADROOM or abs(low) * _HEADROOM or 1.0
        self._y0 = low - room if panel.lowest is None else low
        self._y1 = high + room if panel.highest is None else high

    def _scaled(self, value: float, axis: int) -> float:
        return math.log10(value) if self._logs[axis] else float(value)

    def _at_x(self, value: float) -> float:
        share = (self._scaled(value, 0) - self._x0) / (self._x1 - self._x0)
        return self._left + 6 + share * (self._right - self._left - 12)

    def _at_y(self, value: float) -> float:
        share = (self._scaled(value, 1) - self._y0) / (self._y1 - self._y0)
        return self._ground - min(max(share, 0.0), 1.0) * (self._ground - self._top)

    def _inside(self, value: float) -> bool:
        return math.isfinite(value) and self._y0 - 1e-9 <= self._scaled(value, 1) <= self._y1 + 1e-9

    def parts(self, looks: Mapping[str, Mapping[str, Any]], across: str, up: str) -> list[str]:
        """Grid, axes, lines."""
        parts = [text(self._left, self._top - 9, self._panel.title, font_weight="bold")]
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
        return parts

    def _line(self, line: Line, how: Mapping[str, Any]) -> list[str]:
        colour = how["stroke"]
        parts = []
        if line.low is not None and line.high is not None:
            for x, low, high in zip(line.x, line.low, line.high, strict=True):
                if not (math.isfinite(low) and math.isfinite(high)):
                    continue
                at, below, above = self._at_x(x), self._at_y(low), self._at_y(high)
                parts.append(rule(at, below, at, above, stroke=colour, stroke_width=1))
                parts += [rule(at - _CAP, y, at + _CAP, y, stroke=colour, stroke_width=1) for y in (below, above)]
        run: list[tuple[float, float]] = []
        for x, y in [*zip(line.x, line.y, strict=True), (math.nan, math.nan)]:
            if math.isfinite(x) and self._inside(y):
                run.append((self._at_x(x), self._at_y(y)))
                continue
            if len(run) > 1:
                parts.append(path(run, fill="none", **how))
            if _is_marked(line):
                parts += [_mark(line.name, at, high, colour) for at, high in run]
            run = []
        return parts

    def _marks(self, axis: int) -> list[float]:
        low, high = (self._x0, self._x1) if axis == 0 else (self._y0, self._y1)
        if not self._logs[axis]:
            return ticks(low, high, 4 if axis else 5 if self._narrow else 8)
        factors = (1, 2, 5) if high - low <= (_FEW_DECADES if axis else 1) else (1,)
        values = [f * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for f in factors]
        return [value for value in values if low - 1e-9 <= math.log10(value) <= high + 1e-9]


def _is_marked(line: Line) -> bool:
    return line.marked and len(line.x) <= _FEW


def _mark(name: str, x: float, y: float, colour: str) -> str:
    shape = MARKS.get(name, "dot")
    if shape == "square":
        return tag("rect", x=x - 2.8, y=y - 2.8, width=5.6, height=5.6, fill=colour)
    if shape == "triangle":
        return path([(x, y - 3.8), (x + 3.4, y + 2.6), (x - 3.4, y + 2.6)], closed=True, fill=colour)
    if shape == "diamond":
        return path([(x, y - 3.8), (x + 3.8, y), (x, y + 3.8), (x - 3.8, y)], closed=True, fill=colour)
    ring = {"fill": style.PAPER, "stroke": colour, "stroke_width": 1.3} if shape == "ring" else {"fill": colour}
    return tag("circle", cx=x, cy=y, r=2.6, **ring)


def _number(value: float) -> str:
    if value >= 10_000 and value == int(value):  # noqa: PLR2004 (five digits and more are grouped, or a power)
        power = round(math.log10(value))
        return f"10{str(power).translate(_RAISED)}" if 10**power == value else f"{value:,.0f}"
    return f"{value:g}".replace("-", "−")


_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

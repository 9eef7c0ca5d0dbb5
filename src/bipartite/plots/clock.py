"""Cyclic values plotted as a clock: the first at the top, the others clockwise, shares outward from a circle."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.frame import extent
from bipartite.plots.shares import share_words, shortened
from bipartite.plots.svg import legend, path, percent, percent_mark, picture, rule, tag, text, ticks, title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bipartite.plots.histogram import Band, Mark
    from bipartite.plots.svg import Picture

    Array = NDArray[np.float64]
    Place = tuple[float, float]

_CENTRE: Final = (300.0, 260.0)
_INNER, _OUTER = 46.0, 182.0
_RIM: Final = 196.0  # the radius at which the mean direction is marked
_NAMES: Final = 213.0
_BESIDE: Final = 560.0  # where text begins, right of the clock
_LETTERS: Final = 42  # of a line of that text
_HEIGHT: Final = 500
_MOST_NAMES: Final = 24
_MOST_WEDGES: Final = 120
_FINE: Final = math.pi / 90  # arcs are drawn in steps of two degrees
_LINE: Final[dict[str, Any]] = {"fill": "none", "stroke": style.BRR, "stroke_width": 1.8}
_GUESS: Final[dict[str, Any]] = {**style.GUESS_STYLE, "fill": "none", "stroke_width": 1.5}


class _Dial:
    """The coordinates of a clock; values count from 0, with half a step of room on each side."""

    def __init__(self, size: int, lowest: float, highest: float) -> None:
        self.size, self.lowest, self.highest = size, lowest, highest

    def radius(self, share: float) -> float:
        """The radius of a share."""
        return _INNER + (share - self.lowest) / (self.highest - self.lowest) * (_OUTER - _INNER)

    def at(self, value: float, radius: float) -> Place:
        """The position of a value at this radius."""
        angle = 2 * math.pi * value / self.size
        return _CENTRE[0] + radius * math.sin(angle), _CENTRE[1] - radius * math.cos(angle)

    def arc(self, first: float, last: float, radius: float) -> list[Place]:
        """Positions from one value to another at one radius."""
        steps = max(2, math.ceil(2 * math.pi * abs(last - first) / self.size / _FINE) + 1)
        return [self.at(value, radius) for value in np.linspace(first, last, steps).tolist()]

    def wedge(self, first: float, last: float, near: float, far: float) -> list[Place]:
        """The outline of the area between two values and two radii."""
        return [*self.arc(first, last, far), *self.arc(last, first, near)]

    def grid(self, names: Sequence[str]) -> list[str]:
        """Circles at round shares, and the names of the values around them."""
        parts = []
        for share in ticks(self.lowest, self.highest, 4):
            ring = {"cx": _CENTRE[0], "cy": _CENTRE[1], "r": self.radius(share), "fill": "none"}
            parts.append(tag("circle", **ring, stroke=style.FAINT if share else style.INK))
        every = -(-self.size // _MOST_NAMES)
        for value in range(0, self.size, every):
            x, y = self.at(value, _NAMES)
            aside = "middle" if abs(x - _CENTRE[0]) < _NAMES / 3 else "start" if x > _CENTRE[0] else "end"
            away = 0 if aside == "middle" else -6 if aside == "start" else 6
            parts.append(text(x + away, y + 4, shortened(names[value]), text_anchor=aside))
        return parts

    def steps(self, shares: Array) -> list[Place]:
        """The corners of a line through the shares."""
        if self.size > _MOST_WEDGES:
            return [self.at(at, self.radius(share)) for at, share in enumerate(shares.tolist())]
        arcs = [self.arc(at - 0.5, at + 0.5, self.radius(share)) for at, share in enumerate(shares.tolist())]
        return [place for arc in arcs for place in arc]

    def numbers(self, heights: Array) -> list[str]:
        """The shares of the circles, between the two values that leave the most room."""
        tall = np.nan_to_num(heights)
        gap = int(np.maximum(tall, np.roll(tall, -1)).argmin()) + 0.5
        marks = ticks(self.lowest, self.highest, 4)
        # Zero is written inside its circle, where the shares do not cover it.
        radii = [self.radius(share) - (0 if share else 15) for share in marks]
        places = [(self.at(gap, radius), percent_mark(share)) for radius, share in zip(radii, marks, strict=True)]
        return [text(x, y + 4, words, text_anchor="middle", font_size=11, **style.HALO) for (x, y), words in places]


def shares_on_a_clock(
    names: Sequence[str],
    shares: Array,
    intervals: tuple[Array, Array] | list[Band],
    *,
    sure: str,
    marks: Sequence[Mark] = (),
    guessed: NDArray[np.bool_] | None = None,
    notes: Sequence[str] = (),
) -> Picture:
    """Plot the share of each value on a clock, with its interval or, for a curve, the intervals of arcs.

    Interval ends are NaN where there is no interval. The first of ``marks`` is the mean direction, drawn at the rim if
    it is known; the text of all marks is written beside the clock. Shares that are ``guessed`` are outlined.
    """
    guesses = np.zeros(len(shares), dtype=np.bool_) if guessed is None else guessed
    bands = intervals if isinstance(intervals, list) else []
    low, high = (shares, shares) if isinstance(intervals, list) else intervals
    ends = np.array([each.high for each in bands])
    dial = _Dial(len(shares), *extent(shares, low[np.isfinite(low)], high[np.isfinite(high)], ends))
    parts = dial.grid(names)
    if bands:
        parts.append(path(dial.steps(shares), closed=True, **(_GUESS if guesses.any() else _LINE)))
        parts += [_band(dial, each) for each in bands]
    elif len(shares) > _MOST_WEDGES:
        parts.append(path(dial.steps(shares), closed=True, **_LINE))
    else:
        for at in range(len(shares)):
            how = style.GUESS_STYLE if guesses[at] else style.SHARE_STYLE
            parts += _bar(dial, at, names[at], (float(shares[at]), float(low[at]), float(high[at])), how)
    parts += dial.numbers(high if not bands else shares)
    for mark in marks[:1]:
        parts += _direction(dial, mark) if mark.known else []
    for number, mark in enumerate(marks):
        parts.append(text(_BESIDE, 150 + 22 * number, mark.words, font_weight="bold"))
    line = bands or len(shares) > _MOST_WEDGES
    entries: list[tuple[str, Any]] = [("estimated share", _LINE if line else style.SHARE_STYLE)]
    if bands:
        entries.append((f"{sure} interval of the average share in each arc", style.ERROR_STYLE))
    elif sure and not line:
        entries.append((f"{sure} interval", style.ERROR_STYLE))
    entries += [("not identifiable: a guess", _GUESS if line else style.GUESS_STYLE)] if guesses.any() else []
    parts += legend(entries[1:] if guesses.all() else entries)
    parts += [text(2, _HEIGHT + 12 + 17 * number, note) for number, note in enumerate(notes)]
    most = int(shares.argmax())
    says = (
        f"The estimated shares of {len(shares)} cyclic values, from {names[0]} to {names[-1]}; the largest, at "
        f"{names[most]}, is {percent(float(shares[most]))}."
        + "".join(f" {each.words}." for each in marks)
        + "".join(f" {each.words}." for each in bands)
    )
    return picture(_HEIGHT + (17 * len(notes) + 4 if notes else 0), says, parts)


def chances_on_a_clock(
    names: Sequence[str], brr: Array, grr: Array, *, truth: int, label: str = "reported value"
) -> Picture:
    """Plot the probability of each report for the value with index ``truth``: BRR as bars, GRR as a line.

    ``label`` names the reports with their unit.
    """
    dial = _Dial(len(brr), 0.0, float(max(brr.max(), grr.max())))
    near = brr > brr.min()
    p, q = (percent(float(chance)) for chance in (brr.max(), brr.min()))
    spike, rest = (percent(float(chance)) for chance in (grr.max(), grr.min()))
    parts = dial.grid(names)
    for at, chance in enumerate(brr.tolist()):
        how = style.BRR_NEAR_STYLE if near[at] else style.BRR_FAR_STYLE
        parts.append(path(dial.wedge(at - 0.45, at + 0.45, dial.radius(0), dial.radius(chance)), closed=True, **how))
    around = dial.steps(grr)
    parts.append(path(around, closed=True, fill="none", stroke=style.PAPER, stroke_width=3.5))
    parts.append(path(around, closed=True, **style.GRR_STYLE))
    parts += dial.numbers(np.maximum(brr, grr))
    parts.append(rule(*_CENTRE, *dial.at(truth, _INNER - 6), stroke=style.INK, stroke_width=1.8))
    parts.append(tag("circle", cx=_CENTRE[0], cy=_CENTRE[1], r=3.5, fill=style.INK))
    parts.append(text(_BESIDE, 150, f"true value: {names[truth]}", font_weight="bold"))
    lines = [*wrap(f"around: {label}", _LETTERS), "outward: probability of this report"]
    parts += [text(_BESIDE, 184 + 18 * number, line) for number, line in enumerate(lines)]
    parts += legend(
        [
            (f"BRR, nearest {int(near.sum())}: {p} each", style.BRR_NEAR_STYLE),
            (f"BRR, all others: {q} each", style.BRR_FAR_STYLE),
            (f"GRR: {spike} for the true value, {rest} for any other", style.GRR_STYLE),
        ]
    )
    nearest = ", ".join(name for name, is_near in zip(names, near, strict=True) if is_near)
    says = (
        f"For {names[truth]}, BRR reports each of {nearest} with probability {p}, every other value with {q}; "
        f"GRR {spike} and {rest}."
    )
    return picture(_HEIGHT, says, parts)


def _shape(corners: Sequence[Place], said: str, how: Mapping[str, Any]) -> str:
    """A filled shape with a tooltip."""
    shape = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
    return tag("path", title(said), d=f"M{shape}Z", **how)


def _bar(dial: _Dial, at: int, name: str, share: tuple[float, float, float], how: Mapping[str, Any]) -> list[str]:
    """One value: its bar, and its interval if it has one."""
    wedge = dial.wedge(at - 0.45, at + 0.45, dial.radius(0), dial.radius(share[0]))
    bar = _shape(wedge, f"{name}: {share_words(*share)}", how)
    return [bar, *(_whisker(dial, at, share[1], share[2], 0.2) if math.isfinite(share[2] - share[1]) else [])]


def _band(dial: _Dial, band: Band) -> str:
    """The interval of an arc as an error bar in its middle, around its average share."""
    middle = (band.left + band.right) / 2
    x, y = dial.at(middle, dial.radius(band.value))
    dot = tag("circle", cx=x, cy=y, r=3.5, fill=style.INK)
    cap = min(dial.size / 72, (band.right - band.left) / 4)
    return tag("g", "".join([title(band.words), *_whisker(dial, middle, band.low, band.high, cap), dot]))


def _whisker(dial: _Dial, value: float, low: float, high: float, cap: float) -> list[str]:
    """A radial error bar, whose caps are arcs."""
    ends = dial.radius(low), dial.radius(high)
    lines = [[dial.at(value, each) for each in ends], *(dial.arc(value - cap, value + cap, each) for each in ends)]
    return [path(line, **style.ERROR_STYLE) for line in lines]


def _direction(dial: _Dial, mark: Mark) -> list[str]:
    """The mean direction at the rim, with its interval as an arc."""
    last = mark.low + (mark.high - mark.low) % dial.size
    parts = [path(dial.arc(mark.low, last, _RIM), fill="none", stroke=style.INK, stroke_width=1.5)]
    parts += [
        rule(*dial.at(end, _RIM - 4), *dial.at(end, _RIM + 4), stroke=style.INK, stroke_width=1.5)
        for end in (mark.low, last)
    ]
    x, y = dial.at(mark.value, _RIM)
    inner = dial.at(mark.value, dial.radius(max(0.0, dial.lowest)))
    parts.append(rule(x, y, *inner, stroke=style.INK, stroke_dasharray="1 3"))
    return [*parts, tag("circle", cx=x, cy=y, r=3.5, fill=style.INK)]

"""Cyclic values plotted as a clock: the first at the top, the others clockwise, shares outward from a circle."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.svg import legend, path, percent, percent_mark, picture, rule, tag, text, ticks
from bipartite.plots.whiskers import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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

"""A forest plot: one number per group, each with its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from bipartite.plots import style
from bipartite.plots.shares import shortened
from bipartite.plots.svg import picture, rule, tag, text, ticks, whisker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bipartite.plots.histogram import Mark
    from bipartite.plots.svg import Picture

_LEFT, _RIGHT = 190, 250
_ROW: Final = 22
_TITLE, _AXIS = 26, 40


def forest(sections: Sequence[tuple[str, Sequence[Mark]]], say: Callable[[float], str], note: str = "") -> Picture:
    """Plot sections such as "mean", each with a row per group on one axis; ``say`` formats the axis numbers."""
    parts: list[str] = []
    top = 4.0
    for title, rows in sections:
        parts.append(text(_LEFT, top + 14, title, font_weight="bold"))
        parts += _section(rows, top + _TITLE, say)
        top += _TITLE + _ROW * len(rows) + _AXIS
    if note:
        parts.append(text(_LEFT, top + 4, note))
        top += 14
    says = " ".join(
        f"{title}: " + "; ".join(f"{row.name} {row.words}" for row in rows) + "." for title, rows in sections
    )
    return picture(top, says, parts)


def _section(rows: Sequence[Mark], top: float, say: Callable[[float], str]) -> list[str]:
    ends = [end for row in rows for end in (row.low, row.high, row.value) if math.isfinite(end)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = (high - low) / 20 or abs(low) / 20 or 1.0
    low, high = low - room, high + room

    def x(value: float) -> float:
        return _LEFT + (min(max(value, low), high) - low) / (high - low) * (style.WIDTH - _LEFT - _RIGHT)

    bottom = top + _ROW * len(rows)
    parts = []
    for value in ticks(low, high, 5):
        parts.append(rule(x(value), top, x(value), bottom, stroke=style.FAINT))
        parts.append(text(x(value), bottom + 16, say(value), text_anchor="middle"))
    parts.append(rule(_LEFT, bottom, style.WIDTH - _RIGHT, bottom, stroke=style.INK))
    for number, row in enumerate(rows):
        y = top + _ROW * number + _ROW / 2
        parts.append(text(_LEFT - 10, y + 4, shortened(row.name), text_anchor="end"))
        parts += whisker(x(row.low), x(row.high), y, 4)
        if row.known:
            parts.append(tag("circle", cx=x(row.value), cy=y, r=4, fill=style.BRR))
        parts.append(text(style.WIDTH - _RIGHT + 16, y + 4, row.words))
    return parts

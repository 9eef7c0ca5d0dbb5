"""Horizontal bars, each with its name and value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bipartite.plots import style
from bipartite.plots.svg import picture, rule, tag, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LEFT, _RIGHT = 190, 270
_ROW, _THICK = 30, 18


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name, its length, the text at its end, and its style."""

    name: str
    length: float
    words: str
    how: Mapping[str, Any]


def bars(rows: Sequence[Bar], label: str) -> str:
    """Plot bars from zero with their values at the end; ``label`` names the axis with its unit."""
    scale = _scale(max(row.length for row in rows))
    parts = []
    for number, row in enumerate(rows):
        y = 8 + number * _ROW
        parts.append(text(_LEFT - 10, y + 14, row.name, text_anchor="end"))
        parts.append(tag("rect", x=_LEFT, y=y, width=scale(row.length), height=_THICK, **row.how))
        parts.append(text(_LEFT + scale(row.length) + 10, y + 14, row.words))
    bottom = 8 + len(rows) * _ROW
    parts.append(rule(_LEFT, 2, _LEFT, bottom - 6, stroke=style.INK))
    parts.append(text(_LEFT, bottom + 12, label))
    return picture(bottom + 20, f"{label}: " + "; ".join(f"{row.name} {row.words}" for row in rows), parts)


def _scale(longest: float) -> Callable[[float], float]:
    return lambda length: length / longest * (style.WIDTH - _LEFT - _RIGHT)

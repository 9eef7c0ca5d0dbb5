"""Several curves in one picture: what mechanisms cost against ε, or against the true value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import style
from bipartite.plots.svg import path, picture, rule, text, ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_HEIGHT: Final = 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 200, 24, 52
_HEADROOM: Final = 1.05
_LINE: Final = 15  # the least distance between two names at the right


@dataclass(frozen=True)
class Curve:
    """One named curve."""

    name: str
    y: Sequence[float]
    how: Mapping[str, Any] = field(default_factory=lambda: {"stroke": style.INK, "stroke_width": 1.8})


def curves(x: Sequence[float], drawn: Sequence[Curve], *, across: str, up: str, says: str, lowest: float = 0) -> str:
    """A picture of curves over common positions, each named at its right end.

    ``across`` and ``up`` name the axes with their units; ``says`` tells what the picture shows, for those who cannot
    see it. Heights begin at ``lowest``.
    """
    highest = lowest + (max(max(curve.y) for curve in drawn) - lowest) * _HEADROOM

    def at_x(value: float) -> float:
        return _LEFT + (value - x[0]) / (x[-1] - x[0]) * (style.WIDTH - _LEFT - _RIGHT)

    def at_y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - lowest) / (highest - lowest) * (_HEIGHT - _TOP - _BOTTOM)

    parts = _axes(at_x, at_y, (x[0], x[-1]), (lowest, highest), across, up)
    for curve in drawn:
        points = [(at_x(a), at_y(b)) for a, b in zip(x, curve.y, strict=True)]
        parts.append(path(points, fill="none", **curve.how))
    parts += _names(drawn, at_y)
    return picture(_HEIGHT, says, parts)


def _axes(
    at_x: Callable[[float], float],
    at_y: Callable[[float], float],
    wide: tuple[float, float],
    high: tuple[float, float],
    across: str,
    up: str,
) -> list[str]:
    parts = []
    for value in ticks(*high, 5):
        y = at_y(value)
        parts += [
            rule(_LEFT, y, style.WIDTH - _RIGHT, y, stroke=style.FAINT),
            text(_LEFT - 8, y + 4, f"{value:g}", text_anchor="end"),
        ]
    for value in ticks(*wide, 8):
        x = at_x(value)
        parts += [
            rule(x, _HEIGHT - _BOTTOM, x, _HEIGHT - _BOTTOM + 4, stroke=style.INK),
            text(x, _HEIGHT - _BOTTOM + 19, f"{value:g}", text_anchor="middle"),
        ]
    middle, centre = (_LEFT + style.WIDTH - _RIGHT) / 2, (_TOP + _HEIGHT - _BOTTOM) / 2
    return [
        *parts,
        text(middle, _HEIGHT - 8, across, text_anchor="middle"),
        text(14, centre, up, text_anchor="middle", transform=f"rotate(-90 14 {centre:.0f})"),
    ]


def _names(drawn: Sequence[Curve], at_y: Callable[[float], float]) -> list[str]:
    """Names beside the right ends, moved apart where they would touch, each with a sample of its line."""
    parts = []
    right = style.WIDTH - _RIGHT
    below = -1.0
    for curve in sorted(drawn, key=lambda each: -each.y[-1]):
        below = max(at_y(curve.y[-1]) + 4, below + _LINE)
        parts += [
            rule(right + 6, below - 4, right + 28, below - 4, **curve.how),
            text(right + 33, below, curve.name),
        ]
    return parts

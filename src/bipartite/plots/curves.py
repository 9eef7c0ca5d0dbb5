"""Several curves in one picture: the loss of mechanisms against ε, or against the true value."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import style
from bipartite.plots.frame import BELOW, axes
from bipartite.plots.svg import path, picture, rule, text, ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_HEIGHT: Final = 380
_LEFT, _RIGHT, _TOP = 76, 200, 24
_HEADROOM: Final = 1.05
_LINE: Final = 15  # the smallest distance between two names at the right
_FEW_DECADES: Final = 2.5  # axes of at most this many decades also mark 2 and 5


@dataclass(frozen=True)
class Curve:
    """One named curve."""

    name: str
    y: Sequence[float]
    how: Mapping[str, Any] = field(default_factory=lambda: {"stroke": style.INK, "stroke_width": 1.8})


def curves(  # noqa: PLR0913 (everything in the picture, by keyword)
    x: Sequence[float],
    drawn: Sequence[Curve],
    *,
    across: str,
    up: str,
    says: str,
    lowest: float = 0,
    highest: float | None = None,
    logarithmic: bool = False,
) -> str:
    """Plot curves over common x values, each named at its right end.

    ``across`` and ``up`` name the axes with their units; ``says`` describes the picture for people who cannot see it.
    The y axis starts at ``lowest``, or on a logarithmic scale at the smallest value, and ends at ``highest`` if given,
    where curves are cut off.
    """
    most = max(max(curve.y) for curve in drawn) if highest is None else highest
    if logarithmic:
        bottom, top = math.log10(min(min(curve.y) for curve in drawn)) - 0.05, math.log10(most) + 0.05
        marks = _decades(bottom, top)
    else:
        bottom, top = lowest, lowest + (most - lowest) * _HEADROOM
        marks = [(value, value) for value in ticks(bottom, top, 5)]

    def at_x(value: float) -> float:
        return _LEFT + (value - x[0]) / (x[-1] - x[0]) * (style.WIDTH - _LEFT - _RIGHT)

    def at_y(value: float) -> float:
        return _HEIGHT - BELOW - (value - bottom) / (top - bottom) * (_HEIGHT - _TOP - BELOW)

    def height(value: float) -> float:
        return at_y(math.log10(value) if logarithmic else value)

    parts = axes(
        (_LEFT, style.WIDTH - _RIGHT),
        (_TOP, _HEIGHT - BELOW),
        across=(across, [(at_x(value), f"{value:g}") for value in ticks(x[0], x[-1], 8)]),
        up=(up, [(at_y(place), f"{value:g}") for place, value in marks]),
    )
    for curve in drawn:
        points = [(at_x(a), height(b)) for a, b in zip(x, curve.y, strict=True)]
        parts += [path(piece, fill="none", **curve.how) for piece in _inside(points)]
    parts += _names(drawn, height)
    return picture(_HEIGHT, says, parts)


def _inside(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """The pieces of a line below the top of the picture, cut where they cross it."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for (ax, ay), (bx, by) in itertools.pairwise(points):
        if ay >= _TOP and not pieces[-1]:
            pieces[-1].append((ax, ay))
        if (ay >= _TOP) != (by >= _TOP):
            pieces[-1].append((ax + (bx - ax) * (_TOP - ay) / (by - ay), float(_TOP)))
        if by >= _TOP:
            pieces[-1].append((bx, by))
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if len(piece) > 1]


def _decades(low: float, high: float) -> list[tuple[float, float]]:
    """(position, value) of round numbers on a logarithmic scale."""
    factors = (1, 2, 5) if high - low <= _FEW_DECADES else (1,)
    values = [f * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for f in factors]
    return [(math.log10(value), value) for value in values if low <= math.log10(value) <= high]


def _names(drawn: Sequence[Curve], height: Callable[[float], float]) -> list[str]:
    """Names at the right ends, moved apart where they would touch, each with a sample of its line."""
    right = style.WIDTH - _RIGHT
    order = sorted(drawn, key=lambda each: -each.y[-1])
    places: list[float] = []
    for curve in order:
        # A curve cut off at the top is named there.
        wanted = max(height(curve.y[-1]), float(_TOP)) + 4
        places.append(max(wanted, places[-1] + _LINE) if places else wanted)
    # Names that would fall below the picture are moved up again.
    room = float(_HEIGHT - 6)
    for number in reversed(range(len(places))):
        places[number] = min(places[number], room)
        room = places[number] - _LINE
    parts = []
    for curve, below in zip(order, places, strict=True):
        parts += [
            rule(right + 6, below - 4, right + 28, below - 4, **curve.how),
            text(right + 33, below, curve.name),
        ]
    return parts

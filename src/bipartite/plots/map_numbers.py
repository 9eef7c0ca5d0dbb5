"""Numbers on a map that do not overlap: one without room is moved aside, with a line to its place."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

from bipartite.plots import style
from bipartite.plots.svg import rule, tag, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Spot = tuple[float, float]
    Box = tuple[float, float, float, float]

_LETTER: Final = 9.0
_TALL: Final = 15.0
_EDGE: Final = 4.0
_RINGS: Final = tuple(range(18, 420, 12))
_DIRECTIONS: Final = 16


def numbered(places: Mapping[str, Spot], frame: Box) -> list[str]:
    """Draw each number at its place; one that would overlap an earlier one is moved aside, with a line."""
    taken: list[Box] = []
    lines, words = [], []
    for number, at in places.items():
        # No free spot: an overlap is better than a missing number.
        x, y = next((spot for spot in _tries(at) if _is_free(_box(number, spot), taken, frame)), at)
        taken.append(_box(number, (x, y)))
        if (x, y) != at:
            lines.append(rule(*at, x, y, stroke=style.PAPER, stroke_width=3))
            lines.append(rule(*at, x, y, stroke=style.INK, stroke_width=0.8))
            lines.append(tag("circle", cx=at[0], cy=at[1], r=2.4, fill=style.INK, stroke=style.PAPER))
        words.append(text(x, y + 4, number, text_anchor="middle", font_weight="bold", **style.HALO))
    return [*lines, *words]


def _tries(at: Spot) -> Iterator[Spot]:
    """The place itself, then positions around it at growing distance."""
    yield at
    for radius, turn in itertools.product(_RINGS, range(_DIRECTIONS)):
        angle = 2 * math.pi * turn / _DIRECTIONS
        yield at[0] + radius * math.cos(angle), at[1] + radius * math.sin(angle)


def _box(number: str, at: Spot) -> Box:
    half = _LETTER * len(number) / 2 + 2
    return at[0] - half, at[1] - _TALL / 2, at[0] + half, at[1] + _TALL / 2


def _is_free(box: Box, taken: list[Box], frame: Box) -> bool:
    left, top, right, bottom = box
    if left < frame[0] + _EDGE or right > frame[2] - _EDGE or top < frame[1] + _EDGE or bottom > frame[3] - _EDGE:
        return False
    return all(right <= other[0] or left >= other[2] or bottom <= other[1] or top >= other[3] for other in taken)

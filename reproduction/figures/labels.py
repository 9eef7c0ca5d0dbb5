"""Words and stars within a panel, where they cover as little of the lines as possible."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

from bipartite.plots import path, style, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    Spot = tuple[float, float]
    Box = tuple[float, float, float, float]

SMALL: Final = 11
SMALLER: Final = 6.2
"""The mean width of a letter of that size."""
HALO: Final[dict[str, Any]] = {"stroke": style.PAPER, "stroke_width": 3, "paint_order": "stroke"}
_RADIUS: Final = 6.5
_WAIST: Final = 0.45  # of a star's inner corners
_STEP: Final = 3.0  # pixels between two places of a line that are looked at
_NEAR: Final = 11.0
_COVERED: Final = 40  # so many covered places of lines are as bad as covering a word
_OUTSIDE: Final = 1000


def star(x: float, y: float) -> str:
    """A number that the paper prints: no line has this shape."""
    corners = [
        (x + size * math.sin(at * math.pi / 5), y - size * math.cos(at * math.pi / 5))
        for at, size in enumerate([_RADIUS, _RADIUS * _WAIST] * 5)
    ]
    return path(corners, closed=True, fill="#f5c400", stroke=style.INK, stroke_width=1.1, stroke_linejoin="round")


class Labels:
    """The words of one panel: each is put where the lines, and the words before it, leave the most room."""

    def __init__(self, frame: Box) -> None:
        self._frame = frame
        self._lines: list[Spot] = []
        self._words: list[Box] = []

    def keep_clear(self, spots: Sequence[Spot]) -> None:
        """Of a line through these places."""
        self._lines += spots[:1]
        for (ax, ay), (bx, by) in itertools.pairwise(spots):
            steps = max(1, math.ceil(math.hypot(bx - ax, by - ay) / _STEP))
            self._lines += [(ax + (bx - ax) * at / steps, ay + (by - ay) * at / steps) for at in range(1, steps + 1)]

    def take(self, box: Box) -> None:
        """Note where something stands that no word may cover."""
        left, one, right, other = box
        self._words.append((left, min(one, other), right, max(one, other)))

    def most_room(self, spots: Sequence[Spot], words: str) -> Spot:
        """The place beside which words cover the least, the first of equals."""
        return min(spots, key=lambda spot: self._beside(spot, SMALLER * len(words))[0])

    def beside(self, x: float, y: float, words: str) -> str:
        """Write words beside a place: to its right or left, above or below."""
        wide = SMALLER * len(words)
        _, (at, base) = self._beside((x, y), wide)
        self.take(_box((at, base), wide))
        return text(at, base, words, font_size=SMALL, **HALO)

    def _beside(self, spot: Spot, wide: float) -> tuple[float, Spot]:
        """How much is covered, and where the words begin."""
        x, y = spot
        left, _, right, _ = self._frame
        middle = min(max(x - wide / 2, left + 1), right - wide - 1)
        starts = [(x + _NEAR, y + 4), (x - _NEAR - wide, y + 4)]
        starts += [(at, y + down) for down in (-_NEAR, _NEAR + 8) for at in (middle, x + 4, x - 4 - wide)]
        starts += [(at, y + down) for down in (-2.4 * _NEAR, 2.4 * _NEAR + 8) for at in (middle, x + 4, x - 4 - wide)]
        return min(((self._covered(_box(start, wide)), start) for start in starts), key=lambda each: each[0])

    def at_edge(self, x: float, words: str, colour: str, *, up: bool) -> str:
        """Write a number near an arrow at the upper or lower edge: as near as leaves most room."""
        wide = SMALLER * len(words)
        left, top, right, ground = self._frame
        bases = [top + 13 + SMALL * (level + 1) - 2 if up else ground - 12 - SMALL * level for level in range(4)]
        asides = [side * far for far in (0, wide / 2 + 6, wide + 6, 1.5 * wide + 6) for side in (1, -1)]
        starts = [
            (min(max(x + aside - wide / 2, left + 1), right - wide - 1), base)
            for level, base in enumerate(bases)
            for aside in (asides if level < 2 else asides[:1])  # noqa: PLR2004 (farther in, at its arrow only)
        ]
        at, base = min(starts, key=lambda start: self._covered(_box(start, wide)))
        self.take(_box((at, base), wide))
        return text(at, base, words, font_size=SMALL, **{**HALO, "fill": colour})

    def _covered(self, box: Box) -> float:
        left, top, right, bottom = box
        outside = sum(max(0.0, each) for each in (
            self._frame[0] - left, self._frame[1] - top, right - self._frame[2], bottom - self._frame[3]
        ))  # fmt: skip
        points = sum(left <= x <= right and top <= y <= bottom for x, y in self._lines)
        return (
            points + _COVERED * sum(_meet(box, other) for other in self._words) + (_OUTSIDE + outside) * (outside > 0)
        )


def _box(start: Spot, wide: float) -> Box:
    left, base = start
    return left - 1, base - SMALL + 1, left + wide + 1, base + 3


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def around(x: float, y: float) -> Box:
    """Where a star stands."""
    return x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS

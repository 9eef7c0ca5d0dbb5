"""Axes and coordinates of pictures over values on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.plots import style
from bipartite.plots.svg import path, percent_mark, rule, text, ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Say = Callable[[float], str]

HEIGHT: Final = 330
LEFT, RIGHT, TOP, BELOW = 76, 34, 56, 52
_HEADROOM: Final = 1.12
_SHORT: Final = 6  # letters of a tick label; longer ones move the name of the axis


def extent(*parts: NDArray[np.float64] | None) -> tuple[float, float]:
    """The ends of an axis for all of these shares: it includes zero and is never empty."""
    ends = [part for part in parts if part is not None and len(part)]
    return min(0.0, *(float(part.min()) for part in ends)), max(float(part.max()) for part in ends) or 1.0


def axes(
    wide: tuple[float, float],
    tall: tuple[float, float],
    *,
    across: tuple[str, Sequence[tuple[float, str]]],
    up: tuple[str, Sequence[tuple[float, str]]],
) -> list[str]:
    """Draw the grid, tick labels and names of two axes.

    ``across`` and ``up`` are each the name of an axis and its (position, tick label) pairs.
    """
    (left, right), (top, ground) = wide, tall
    parts = []
    for y, words in up[1]:
        parts.append(rule(left, y, right, y, stroke=style.FAINT))
        parts.append(text(left - 8, y + 4, words, text_anchor="end"))
    for x, words in across[1]:
        parts.append(rule(x, ground, x, ground + 4, stroke=style.INK))
        parts.append(text(x, ground + 19, words, text_anchor="middle"))
    centre, beside = (top + ground) / 2, 14 if max((len(words) for _, words in up[1]), default=0) <= _SHORT else 11
    parts.append(text((left + right) / 2, ground + BELOW - 8, across[0], text_anchor="middle"))
    parts.append(text(beside, centre, up[0], text_anchor="middle", transform=f"rotate(-90 {beside} {centre:.0f})"))
    return parts


class Frame:
    """The coordinates of one picture, and step functions drawn in them.

    ``values`` are equidistant, ``highest`` and ``lowest`` the shares that must fit, ``say`` formats a value, and
    ``top`` is the margin above.
    """

    def __init__(
        self, values: NDArray[Any], highest: float, say: Say, *, lowest: float = 0.0, top: float = TOP
    ) -> None:
        self._values = values.astype(np.float64)
        self._step = float(self._values[1] - self._values[0])
        self._low, self._high = float(self._values[0]), float(self._values[-1])
        self._top = top
        self.height = HEIGHT + top - TOP
        self._ground = self.height - BELOW
        self.highest, self.lowest = highest * _HEADROOM, lowest * _HEADROOM
        self._say = say

    def x(self, value: float) -> float:
        """The x coordinate of a value; each has half a step of room on each side."""
        share = (value - self._low + self._step / 2) / (self._high - self._low + self._step)
        return LEFT + share * (style.WIDTH - LEFT - RIGHT)

    def y(self, share: float) -> float:
        """The y coordinate of a share."""
        return self._ground - (share - self.lowest) / (self.highest - self.lowest) * (self._ground - self._top)

    def axes(self, across: str, up: str) -> list[str]:
        """The grid, tick labels and names of the axes."""
        shares = ticks(self.lowest, self.highest, 6 if self.lowest < 0 else 4)
        # With a step of 1 only whole numbers are values.
        values = [each for each in ticks(self._low, self._high, 8) if self._step != 1 or each == round(each)]
        return axes(
            (LEFT, style.WIDTH - RIGHT),
            (self._top, self._ground),
            across=(across, [(self.x(value), self._say(value)) for value in values]),
            up=(up, [(self.y(share), percent_mark(share)) for share in shares]),
        )

    def span(self, first: int, last: int) -> tuple[float, float]:
        """The x coordinates where a run of values starts and ends."""
        return self.x(float(self._values[first]) - self._step / 2), self.x(float(self._values[last]) + self._step / 2)

    def area(self, heights: NDArray[np.float64], **how: object) -> str:
        """A step function, filled down to zero."""
        corners = self._corners(heights)
        ground = self.y(0)
        return path([(corners[0][0], ground), *corners, (corners[-1][0], ground)], closed=True, **how)

    def outline(self, heights: NDArray[np.float64], first: int = 0, **how: object) -> str:
        """A step function as a line, starting at value number ``first``."""
        return path(self._corners(heights, first), closed=False, **how)

    def _corners(self, heights: NDArray[np.float64], first: int = 0) -> Sequence[tuple[float, float]]:
        """The corners of the steps; a run of equal heights is one step."""
        starts = np.flatnonzero(np.diff(heights, prepend=np.nan) != 0)
        ends = np.append(starts[1:], len(heights))
        half, corners = self._step / 2, []
        for start, end in zip(starts, ends, strict=True):
            y = self.y(float(heights[start]))
            corners += [
                (self.x(float(self._values[first + start]) - half), y),
                (self.x(float(self._values[first + end - 1]) + half), y),
            ]
        return corners

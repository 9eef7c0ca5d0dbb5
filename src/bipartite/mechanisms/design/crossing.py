"""Where a continuous function crosses a level, to the last bit of a double and from below."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def crossing_from_below(function: Callable[[float], float], level: float, low: float, high: float) -> float:
    """A number whose value is at most ``level``, and more right above it; ``low`` must be such a number, or the same.

    ``high`` doubles until its value reaches the level; then the interval is halved until nothing lies in between.
    """
    while function(high) < level:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if function(middle) <= level else (low, middle)
    return low

"""The point where a continuous function crosses a level from below, to the last bit of a double."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def crossing_from_below(function: Callable[[float], float], level: float, low: float, high: float) -> float:
    """The double at which ``function`` is at most ``level`` and exceeds it at the next; it must not at ``low``.

    ``high`` doubles until its value reaches the level; then the interval is bisected until no double lies inside.
    """
    while function(high) < level:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if function(middle) <= level else (low, middle)
    return low

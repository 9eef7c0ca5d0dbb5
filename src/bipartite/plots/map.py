"""The colours of the picture of pairs; it goes with ``grid.py``."""

from __future__ import annotations

from typing import Final

_HEAT: Final = ("#fff3d6", "#fdc46b", "#f0803c", "#c63a2b", "#6d1226")


def heat(level: float) -> str:
    """The colour of a level from 0 (light) to 1 (dark), clamped."""
    at = min(max(level, 0.0), 1.0) * (len(_HEAT) - 1)
    low = min(int(at), len(_HEAT) - 2)
    first, last = ([int(_HEAT[low + step][each : each + 2], 16) for each in (1, 3, 5)] for step in (0, 1))
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02x}" for a, b in zip(first, last, strict=True))

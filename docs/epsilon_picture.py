"""Draws how sure a report can make anybody, for five ε. A test keeps it up to date."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from bipartite.plots.curves import Curve, curves

TARGET = Path(__file__).parent / "_static" / "epsilon.svg"
EPSILONS = (8, 4, 2, 1, 0.5)
COLOURS = ("#7b1fa2", "#b5651d", "#2e7d32", "#1f5fa8", "#00838f")


def picture() -> str:
    """The SVG, as text."""
    before = np.linspace(0, 1, 101)
    drawn = [
        Curve(
            f"ε = {epsilon:g}",
            (100 * math.exp(epsilon) * before / (1 + math.expm1(epsilon) * before)).tolist(),
            {"stroke": colour, "stroke_width": 2.2},
        )
        for epsilon, colour in zip(EPSILONS, COLOURS, strict=True)
    ]
    plain = {"stroke": "#222222", "stroke_width": 1.2, "stroke_dasharray": "1 3"}
    return (
        curves(
            (100 * before).tolist(),
            [*drawn, Curve("no report", (100 * before).tolist(), plain)],
            across="how sure of something about you before your report, %",
            up="after it, at most, %",
            says="The most that one report can make anybody believe, against what they believed before. At ε = 1 it "
            "lifts 50 % to 73 %; at ε = 4 to 98 %; at ε = 8 anything above 1 % becomes near certainty.",
            highest=100 / 1.05,
        )
        + "\n"
    )


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")

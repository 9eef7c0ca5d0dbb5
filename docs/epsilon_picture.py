"""Draws how sure a report can make anybody, for five ε. A test keeps it up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bipartite.plots.figure import as_svg, axes, describe
from bipartite.plots.looks import BLUE, GREEN, INK, ORANGE, PINK, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TARGET = Path(__file__).parent / "_static" / "epsilon.svg"
DRAWN = {8: (PINK, 12), 4: (RED, 12), 2: (ORANGE, 20), 1: (GREEN, 30), 0.5: (BLUE, 50)}
"""The colour of each ε, and where its name stands: on its curve, for all curves end in one point."""


def draw() -> Axes:
    """What somebody believes after a report, at most, against what they believed before."""

    def after(before: Array, epsilon: float) -> Array:
        return 100 / (1 + np.exp(-epsilon) * (100 / before - 1))

    before = 100 * np.linspace(0.01, 1, 100) ** 2  # closer to each other where curves are steep
    with axes(None, (4.4, 3.2)) as ax:
        for epsilon, (colour, at) in DRAWN.items():
            ax.plot(before, after(before, epsilon), color=colour)
            name = {"ha": "center", "va": "center", "fontsize": "small", "bbox": {"color": "white", "pad": 0.5}}
            ax.text(at, after(np.array(at), epsilon), f"ε = {epsilon:g}", **name)
        ax.plot(before, before, ":", color=INK)
        ax.text(60, 53, "no report", fontsize="small")
        ax.set(xlabel="how sure of something about you\nbefore your report, %", ylabel="after it, at most, %")
        ax.set(xlim=(0, 100), ylim=(0, 103))
        return describe(
            ax,
            "The most that one report can make anybody believe, against what they believed before. At ε = 1 it "
            "lifts 50 % to 73 %; at ε = 4 to 98 %; at ε = 8 anything above 1 % becomes near certainty.",
        )


def picture() -> str:
    """The SVG, as text."""
    return as_svg(draw) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")

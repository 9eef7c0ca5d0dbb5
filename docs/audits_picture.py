"""The picture of the page about audits: how many trials find that a real ε is too large."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bipartite import trials_needed
from bipartite.plots.figure import as_svg, axes, describe
from bipartite.plots.looks import BLUE, GREEN, GREY, Look
from bipartite.plots.named import curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TARGET = Path(__file__).parent / "_static" / "audits.svg"
TOO_LARGE = (2, 3, 5, 7, 10, 15, 20, 30, 40, 50)
COLOURS = {0.5: GREY, 1.0: BLUE, 2.0: GREEN}


def draw() -> Axes:
    """Trials against how much the real ε of randomised response exceeds the claimed one, in percent."""
    trials = {
        f"claimed ε = {claimed:g}": [trials_needed(claimed * (1 + percent / 100), claimed) for percent in TOO_LARGE]
        for claimed in COLOURS
    }
    with axes(None, (4.4, 3.2)) as ax:
        ax.set(yscale="log", xlabel="how much larger the real ε is, %", ylabel="trials")
        ax.yaxis.set_major_formatter("{x:,.0f}")
        curves(ax, TOO_LARGE, trials, looks=dict(zip(trials, map(Look, COLOURS.values()), strict=True)))
        return describe(
            ax,
            "Trials that find in 99 of 100 audits that the real ε of randomised response is too large. At a claimed ε "
            "of 1 120,000 for 5 %, 30,000 for 10 % and 1,400 for 50 %; about three times as many at 0.5, half as many "
            "at 2.",
        )


def picture() -> str:
    """The SVG, as text."""
    return as_svg(draw) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")

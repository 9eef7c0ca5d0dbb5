"""The picture of the page about audits: how many trials find that a real ε is too large."""

from __future__ import annotations

from pathlib import Path

from bipartite import trials_needed
from bipartite.plots.curves import Curve, curves
from bipartite.plots.style import BRR as BLUE
from bipartite.plots.style import GRR as GREY

TARGET = Path(__file__).parent / "_static" / "audits.svg"
TOO_LARGE = (2, 3, 5, 7, 10, 15, 20, 30, 40, 50)
LOOKS = {0.5: GREY, 1.0: BLUE, 2.0: "#2e7d32"}


def picture() -> str:
    """Trials against how much the real ε of randomised response exceeds the claimed one, in percent."""
    drawn = [
        Curve(
            f"claimed ε = {claimed:g}",
            [trials_needed(claimed * (1 + percent / 100), claimed) for percent in TOO_LARGE],
            {"stroke": colour, "stroke_width": 2.2},
        )
        for claimed, colour in LOOKS.items()
    ]
    says = (
        "Trials that find in 99 of 100 audits that the real ε of randomised response is too large. At a claimed ε of 1 "
        "120,000 for 5 %, 30,000 for 10 % and 1,400 for 50 %; about three times as many at 0.5, half as many at 2."
    )
    across, up = "how much larger the real ε is, %", "trials"
    return curves(TOO_LARGE, drawn, across=across, up=up, says=says, logarithmic=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")

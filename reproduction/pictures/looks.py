"""The lines of the laboratory: those of the library, and those of what only the laboratory has."""

from typing import Final

from bipartite.plots.looks import BLUE, DOTTED, GREEN, INK, ORANGE, PINK, RED, Look
from bipartite.plots.looks import LOOKS as KNOWN

LOOKS: Final[dict[str, Look]] = {
    **KNOWN,
    "L-SRR as published": Look(PINK, marker="D"),
    "L-SRR calibrated": Look(PINK, 1.6, (4, 1.5), "D", hollow=True),
    "Two-level": Look(GREEN, 1.4, (7, 2, 1, 2)),
    "Region-weighted": Look(ORANGE, 1.4, (3, 1.5)),
    "BRR-SGD as described": Look(BLUE, 2.2),
    "Laplace, central": Look(RED, 1.6, (4, 1.5), "D"),
    "Laplace on the sum, as described": Look(RED, 1.6, (4, 1.5), "D"),
    "Laplace on the mean": Look(RED, 1.6, (1.5, 1.5), "D", hollow=True),
    "Gaussian, central": Look(PINK, marker="s"),
    "no privacy": Look(INK, 1.4, (8, 3)),
    "the mean (no privacy)": Look(INK, 1.1, (6, 2.5, 1, 2.5)),
    "one answer": DOTTED,
    "one place": DOTTED,
    "majority class": DOTTED,
}

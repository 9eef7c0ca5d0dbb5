"""Figure 4: quality loss against ε for N = 20 to 100, BRR beside GRR and the Exponential mechanism.

The paper runs the Exponential mechanism with exp(−ελ/2Δ), which spends about half of ε on this domain; the column
``realised_epsilon`` says how much. The line with its whole budget, the best possible release and the constant answer
are extra.
"""

from collections.abc import Iterator

import pandas as pd

from bipartite.domains import Integers
from bipartite.verification import verify
from reproduction.experiments.line_rivals import SILENCE, makers
from reproduction.form import Grid, Row
from reproduction.pictures import panels
from reproduction.quality import qloss

# The paper's N, and budgets, which it does not list.
FULL = Grid(
    points=(20, 40, 60, 80, 100),
    epsilon=(
        "0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2", "2.25", "2.5", "2.75", "3", "3.5", "4", "4.5", "5",
    ),
)  # fmt: skip
QUICK = FULL.but(epsilon=("0.25", "0.5", "1", "1.5", "2", "3", "4", "5"))


def measure(points: int, epsilon: str) -> Iterator[Row]:
    """QLoss of every mechanism, and the ε that it really spends."""
    for name, make in makers().items():
        mechanism = make(Integers(1, points), epsilon)
        spent = 0.0 if name == SILENCE else float(verify(mechanism).epsilon_upper)
        yield {"points": points, "epsilon": float(epsilon), "mechanism": name, "qloss": qloss(mechanism),
               "realised_epsilon": spent}  # fmt: skip


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """One panel for each N."""
    return {
        "qloss_by_epsilon": panels(
            rows, x="epsilon", y="qloss", facet="points", title="QLoss, N = {}", flat={SILENCE}, lowest=0, highest=0.36,
            across="ε", up="QLoss",
            says="QLoss against ε for five N: BRR below GRR and the Exponential mechanism at every ε.",
            notes=[
                "QLoss is the expected error over N − 1.",
                "Anchored is the best possible release: nothing ε-LDP that reports values of the domain lies below it.",
            ],
        )
    }  # fmt: skip

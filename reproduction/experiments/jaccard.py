"""Figure 6: expected Jaccard (Tanimoto) similarity between the true and the reported number, against ε.

Bigger is better: section 5.2 calls the quantity an "expected error", which it is not. Extra lines: BRR with the m that
is best on average (the safe m is made for the worst row), the tight Exponential mechanism, Anchored, and the number
that is best for everybody without any report.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from bipartite.domains import Items
from bipartite.mechanisms import BRR
from reproduction.experiments.line_rivals import SILENCE, makers
from reproduction.form import Grid, Row
from reproduction.pictures import panels
from reproduction.quality import expected_loss

_CONSTANT: Final = "always one number"
# The paper's N, and budgets, which it does not list.
FULL = Grid(
    points=(20, 40, 60, 80, 100),
    epsilon=("0.25", "0.5", "0.75", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"),
)
QUICK = FULL.but(epsilon=("0.5", "1", "2", "3", "4", "5"))


def measure(points: int, epsilon: str) -> Iterator[Row]:
    """Expected similarity under every mechanism."""
    domain = Items.tanimoto(np.arange(1, points + 1)[:, None])
    made = {_CONSTANT if name == SILENCE else name: make(domain, epsilon) for name, make in makers().items()}
    for name, mechanism in {**made, "BRR, best m": BRR(domain, epsilon, m="best")}.items():
        yield {"points": points, "epsilon": float(epsilon), "mechanism": name, "utility": -expected_loss(mechanism),
               "m": mechanism.m if isinstance(mechanism, BRR) else 0}  # fmt: skip


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """One panel for each N."""
    return {
        "jaccard": panels(
            rows, x="epsilon", y="utility", facet="points", title="Jaccard, N = {}", flat={_CONSTANT}, lowest=0.5,
            highest=1.0, across="ε", up="expected similarity",
            says="Expected Jaccard similarity against ε for five N: bigger is better; BRR above GRR and Exponential.",
            notes=["Bigger is better. Uniform prior over 1 … N. The vertical axis begins at 0.5."],
        )
    }  # fmt: skip

"""Section 4.1: does a finer grid hurt? Total error of a report on an interval against the number of nodes.

The paper says that finer nodes hurt GRR and not BRR, and shows no figure. The total error is that of rounding and
randomizing together, for a value spread evenly over [0, 1].
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from bipartite.domains import Interval
from bipartite.mechanisms import BRR, GRR, Mechanism
from reproduction.form import Grid, Row
from reproduction.pictures import panels

POSITIONS: Final = 4 * 3 * 512  # spread evenly over the interval, none of them on a rounding edge
FULL = Grid(epsilon=("1", "2", "4"), nodes=(2, 3, 5, 9, 17, 33, 65, 129, 257, 513))
QUICK = FULL.but(epsilon=("1", "4"), nodes=(2, 3, 5, 9, 17, 33, 65, 129, 257))


def measure(nodes: int, epsilon: str) -> Iterator[Row]:
    """The total error of both."""
    domain = Interval(0, 1, points=nodes)
    brr = BRR(domain, epsilon, m="safe" if nodes > 2 else 1)  # noqa: PLR2004 (two nodes leave no choice of m)
    for mechanism in (brr, GRR(domain, epsilon)):
        yield {"nodes": nodes, "epsilon": epsilon, "mechanism": type(mechanism).__name__,
               "error": total_error(mechanism)}  # fmt: skip


def total_error(mechanism: Mechanism) -> float:
    """E|v − report| for a value v spread evenly over [0, 1], on equidistant nodes."""
    nodes = mechanism.domain.to_numpy()
    values = (np.arange(POSITIONS) + 0.5) / POSITIONS
    rows = np.floor(values * (len(nodes) - 1) + 0.5).astype(int)
    matrix = mechanism.matrix()
    return float(np.mean([matrix[row] @ np.abs(nodes - value) for row, value in zip(rows, values, strict=True)]))


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """One panel for each ε."""
    return {
        "interval_nodes": panels(
            rows, x="nodes", y="error", facet="epsilon", title="[0, 1] at ε = {:g}",
            levels={"always the middle": 0.25}, lowest=0, across="nodes in [0, 1]", up="total error", log_x=True,
            says="Total error against the number of nodes: falls for BRR, has a least point and then rises for GRR.",
            notes=["The interval has length 1; the error is that of rounding and randomizing together."],
        )
    }  # fmt: skip

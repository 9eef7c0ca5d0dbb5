"""Section 4.1: does a finer grid hurt? Total error of a report on an interval against the number of nodes.

The paper says that finer nodes hurt GRR and not BRR, and shows no figure. The total error is that of rounding and
randomizing together, for a value spread evenly over [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bipartite.domains import Interval
from bipartite.mechanisms import BRR, GRR, Mechanism
from reproduction.figures import Line, Panel, panels
from reproduction.runner.contract import Row, Rows, distinct, select

POSITIONS: Final = 4 * 3 * 512  # spread evenly over the interval, none of them on a rounding edge
_CONSTANT: Final = "always the middle"
_PAIR: Final = 2


@dataclass(frozen=True)
class Settings:
    """Numbers of nodes and budgets."""

    nodes: tuple[int, ...] = (2, 3, 5, 9, 17, 33, 65, 129, 257, 513)
    epsilons: tuple[str, ...] = ("1", "2", "4")


@dataclass(frozen=True)
class Cell:
    """One number of nodes and ε."""

    nodes: int
    epsilon: str


QUICK = Settings(nodes=(2, 3, 5, 9, 17, 33, 65, 129, 257), epsilons=("1", "4"))


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Every number of nodes with every ε."""
    return tuple(Cell(nodes, epsilon) for epsilon in settings.epsilons for nodes in settings.nodes)


def measure(cell: Cell) -> list[Row]:
    """The total error of both."""
    domain = Interval(0, 1, points=cell.nodes)
    both = {"BRR": BRR(domain, cell.epsilon, m=1 if cell.nodes == _PAIR else "safe"), "GRR": GRR(domain, cell.epsilon)}
    return [
        {"nodes": cell.nodes, "epsilon": cell.epsilon, "mechanism": name, "error": total_error(mechanism)}
        for name, mechanism in both.items()
    ]


def total_error(mechanism: Mechanism) -> float:
    """E|v − report| for a value v spread evenly over [0, 1], on equidistant nodes."""
    nodes = mechanism.domain.to_numpy()
    values = (np.arange(POSITIONS) + 0.5) / POSITIONS
    rows = np.floor(values * (len(nodes) - 1) + 0.5).astype(int)
    matrix = mechanism.matrix()
    return float(np.mean([matrix[row] @ np.abs(nodes - value) for row, value in zip(rows, values, strict=True)]))


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """One panel for each ε."""
    drawn = []
    for epsilon in distinct(rows, "epsilon"):
        lines = Line.of_mechanisms(select(rows, epsilon=epsilon), "nodes", "error")
        if extra:
            lines.append(Line(_CONSTANT, [lines[0].x[0], lines[0].x[-1]], [0.25, 0.25], marked=False))
        drawn.append(Panel(f"[0, 1] at ε = {epsilon}", lines, lowest=0))
    return {
        "interval_nodes": panels(
            drawn, across="nodes in [0, 1]", up="total error", log_x=True,
            says="Total error against the number of nodes: falls for BRR, has a least point and then rises for GRR.",
            notes=["The interval has length 1; the error is that of rounding and randomizing together."],
        )
    }  # fmt: skip

"""Figure 1: the chance of each report under GRR and BRR, for one true value.

The paper draws a sketch; here the chances are those of the tickets, in the middle and near an end of the domain, where
the window is clamped and many values share one near-set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bipartite.domains import Integers
from bipartite.mechanisms import BRR, GRR
from bipartite.plots import Picture, chances_on_a_line, titled
from reproduction.runner.contract import Row, Rows, number, select


@dataclass(frozen=True)
class Settings:
    """One domain and a few true values."""

    points: int = 21
    epsilon: str = "1"
    truths: tuple[int, ...] = (11, 3)


@dataclass(frozen=True)
class Cell:
    """One true value."""

    points: int
    epsilon: str
    truth: int


QUICK = Settings()


def cells(settings: Settings) -> tuple[Cell, ...]:
    """One for each true value."""
    return tuple(Cell(settings.points, settings.epsilon, truth) for truth in settings.truths)


def measure(cell: Cell) -> list[Row]:
    """The row of each matrix."""
    domain = Integers(1, cell.points)
    rows: list[Row] = []
    for mechanism in (BRR(domain, cell.epsilon), GRR(domain, cell.epsilon)):
        chances = mechanism.matrix()[cell.truth - 1]
        rows += [
            {"mechanism": type(mechanism).__name__, "epsilon": cell.epsilon, "points": cell.points,
             "truth": cell.truth, "report": y, "chance": float(chance)}
            for y, chance in enumerate(chances.tolist(), start=1)
        ]  # fmt: skip
    return rows


def draw(rows: Rows) -> dict[str, str]:
    """One picture for each true value."""
    pictures: dict[str, str] = {}
    for truth in dict.fromkeys(int(row["truth"]) for row in rows):
        of = {
            name: np.array([number(row, "chance") for row in select(rows, mechanism=name, truth=truth)])
            for name in ("BRR", "GRR")
        }
        values = np.arange(1, len(of["BRR"]) + 1)
        drawn = Picture(
            chances_on_a_line(values, of["BRR"], of["GRR"], truth=truth, label="report", say=lambda value: f"{value:g}")
        )
        pictures[f"pmf_{truth}"] = titled(drawn, f"N = {len(values)}, ε = {rows[0]['epsilon']}, true value {truth}")
    return pictures

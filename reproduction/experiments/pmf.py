"""Figure 1: the chance of each report under GRR and BRR, for one true value.

The paper draws a sketch; here the chances are those of the tickets, in the middle and near an end of the domain, where
the window is clamped and many values share one near-set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bipartite.domains import Integers
from bipartite.mechanisms import BRR, GRR
from reproduction.figures import Line, Panel, panels
from reproduction.runner.contract import Row, Rows, distinct, number, select


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
    """A panel for each true value."""
    drawn = [
        Panel(
            f"N = {rows[0]['points']}, ε = {rows[0]['epsilon']}, true value {truth}",
            [
                replace(Line.of(name, select(rows, mechanism=name, truth=truth), "report", "chance"),
                        marked=False, steps=True)
                for name in ("BRR", "GRR")
            ],
            lowest=0,
        )
        for truth in distinct(rows, "truth")
    ]  # fmt: skip
    chances = {name: [number(row, "chance") for row in select(rows, mechanism=name)] for name in ("BRR", "GRR")}
    says = " ".join(
        f"{name} reports a value near the truth with probability {max(of):.3f}, any other with {min(of):.3f}."
        for name, of in chances.items()
    )
    return {"pmf": panels(drawn, across="report", up="probability of this report", says=says)}

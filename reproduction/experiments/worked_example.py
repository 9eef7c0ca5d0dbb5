"""Figure 2: BRR from a worked example. Every m⁽ˣ⁾ by Algorithm 1, then the least by Algorithm 2.

The paper draws the framework; here its squares hold the numbers of a small domain. Each sign is decided exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from bipartite.design import algorithm_2
from bipartite.lottery import Epsilon
from bipartite.plots.looks import BLUE, PALE, PAPER
from reproduction.experiments.rows_of_a_line import local_m, sorted_distances
from reproduction.figures import Grid, Square, grid, subscripted
from reproduction.runner.contract import Row, Rows, select


@dataclass(frozen=True)
class Settings:
    """A domain that fits on a page."""

    points: int = 9
    epsilon: str = "1"


@dataclass(frozen=True)
class Cell:
    """The whole example."""

    points: int
    epsilon: str


QUICK = Settings()


def cells(settings: Settings) -> tuple[Cell, ...]:
    """One."""
    return (Cell(settings.points, settings.epsilon),)


def measure(cell: Cell) -> list[Row]:
    """For every value and every rank: the distance, whether it is raised there, and m."""
    budget = Epsilon.of(cell.epsilon)
    table = [sorted_distances(cell.points, k) for k in range(1, cell.points + 1)]
    least = algorithm_2(table, cell.epsilon).m
    rows: list[Row] = []
    for k, distances in enumerate(table, start=1):
        m = local_m(distances, budget)
        rows += [
            {"points": cell.points, "epsilon": cell.epsilon, "value": k, "rank": i, "distance": distance,
             "raised": i <= m, "local_m": m, "m": least}
            for i, distance in enumerate(distances, start=1)
        ]  # fmt: skip
    return rows


def draw(rows: Rows) -> dict[str, str]:
    """The table: raised ranks dark, the common m as a heavy line."""
    points, least = int(rows[0]["points"]), int(rows[0]["m"])
    listed = []
    for k in range(1, points + 1):
        of = select(rows, value=k)
        squares = []
        for row in of:
            if int(row["rank"]) <= least:
                squares.append(Square(str(row["distance"]), BLUE, dark=True))
            else:
                squares.append(Square(str(row["distance"]), PALE if row["raised"] else PAPER))
        listed.append((f"x = {k}", squares, f"{of[0]['local_m']}"))
    drawn = Grid([subscripted("λ", i) for i in range(1, points + 1)], listed, "value", "m⁽ˣ⁾", cut=least)
    locals_ = ", ".join(word for _, _, word in listed)
    says = f"N = {points}, ε = {rows[0]['epsilon']}: m⁽ˣ⁾ = {locals_}; the least is m = {least}."
    return {
        "worked_example": grid(
            drawn,
            title=f"N = {points}, ε = {rows[0]['epsilon']}: distances of all reports from x, in order",
            says=says,
            entries={
                "weight e^ε for everybody": BLUE,
                "raised by Algorithm 1, taken back by the minimum": PALE,
                "weight 1": PAPER,
            },
            notes=[f"m = {least}, the least m⁽ˣ⁾, holds for every x."],
        )
    }

"""Figure 3: the table of sorted distances, and in which of two rows each derivative is larger.

The paper orders the derivatives of neighbouring rows column by column, and concludes that the least m stands in the
first or in the middle row. Both are checked for every N up to a limit. The order is decided for every ε at once: the
difference of two derivatives is c0 + c1·e^ε times a positive number, and both coefficients have the same sign.
"""

from __future__ import annotations

from dataclasses import dataclass

from bipartite.design import algorithm_1
from bipartite.plots.looks import BLUE, INK
from reproduction.experiments.rows_of_a_line import numerator, sorted_distances
from reproduction.figures import Grid, Square, grid, subscripted
from reproduction.runner.contract import Row, Rows, select

_EPSILONS = ("0.1", "0.25", "0.5", "0.75", "0.9", "1", "1.5", "2", "3", "4", "5")


@dataclass(frozen=True)
class Settings:
    """The N that is drawn, and up to which N all is checked, with these ε."""

    drawn: int = 10
    most: int = 120
    epsilons: tuple[str, ...] = _EPSILONS


@dataclass(frozen=True)
class Cell:
    """One N: the table that is drawn (``table``), or counts over it."""

    points: int
    epsilons: tuple[str, ...]
    table: bool


QUICK = Settings(most=40)


def cells(settings: Settings) -> tuple[Cell, ...]:
    """The table, then one for each N."""
    counts = (Cell(points, settings.epsilons, table=False) for points in range(2, settings.most + 1))
    return (Cell(settings.drawn, settings.epsilons, table=True), *counts)


def measure(cell: Cell) -> list[Row]:
    """The signs of the table, or how many of them are not as the paper says."""
    middle = (cell.points + 1) // 2
    rows = [sorted_distances(cell.points, k) for k in range(1, middle + 1)]
    if cell.table:
        return [
            {"what": "table", "points": cell.points, "value": k, "rank": i, "distance": distance,
             "larger_above": _larger_above(rows, k, i) if k < middle else 0}
            for k, distances in enumerate(rows, start=1)
            for i, distance in enumerate(distances, start=1)
        ]  # fmt: skip
    wrong = pairs = 0
    for k in range(1, middle):
        for i in range(1, cell.points + 1):
            expected = -1 if i <= 2 * k else 1  # j₀ = 2k ranks are equal in rows k and k + 1
            pairs += 1
            wrong += _larger_above(rows, k, i) != expected
    misplaced = 0
    for epsilon in cell.epsilons:
        found = [algorithm_1(distances, epsilon).m for distances in rows]
        misplaced += min(found) != min(found[0], found[-1])
    return [
        {"what": "count", "points": cell.points, "pairs": pairs, "wrong": wrong, "budgets": len(cell.epsilons),
         "misplaced": misplaced}
    ]  # fmt: skip


def _larger_above(rows: list[list[int]], k: int, i: int) -> int:
    """1 where the derivative of row k is larger than that of row k + 1 for every ε, −1 where it is smaller, else 0."""
    above, below = numerator(rows[k - 1], i), numerator(rows[k], i)
    c0, c1 = above[0] - below[0], above[1] - below[1]
    if c0 >= 0 and c1 >= 0 and (c0, c1) != (0, 0):
        return 1
    return -1 if c0 <= 0 and c1 <= 0 and (c0, c1) != (0, 0) else 0


def draw(rows: Rows) -> dict[str, str]:
    """The table with an arrow between two rows that points to the larger derivative."""
    table, counts = select(rows, what="table"), select(rows, what="count")
    points = int(table[0]["points"])
    last = max(int(row["value"]) for row in table)
    listed, between = [], {}
    for k in range(1, last + 1):
        of = select(table, value=k)
        listed.append((f"k = {k}", [Square(str(row["distance"])) for row in of], ""))
        if k < last:
            for row in of:
                up = int(row["larger_above"]) > 0
                between[k - 1, int(row["rank"]) - 1] = ("▲", BLUE) if up else ("▽", INK)
    pairs, wrong = (sum(int(row[each]) for row in counts) for each in ("pairs", "wrong"))
    most = max(int(row["points"]) for row in counts)
    says = f"Sorted distances for N = {points}; {wrong} of {pairs} orders differ from the paper's."
    return {
        "monotonicity": grid(
            Grid([subscripted("λ", i) for i in range(1, points + 1)], listed, "value", "", between),
            title=f"N = {points}, every ε: sorted distances of the first {last} values",
            says=says,
            notes=["▲ the derivative ∂Q/∂sᵢ is larger in the row above; ▽ in the row below.",
                   f"For every ε. Of {pairs:,} such pairs, N = 2 to {most}, {wrong} are not as the paper says."],
        )
    }  # fmt: skip

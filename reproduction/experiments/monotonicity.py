"""Figure 3: the table of sorted distances, and in which of two rows each derivative is larger.

The paper orders the derivatives of neighbouring rows column by column, and concludes that the least m stands in the
first or in the middle row. Both are checked for every N up to a limit. The order is decided for every ε at once: the
difference of two derivatives is c0 + c1·e^ε times a positive number, and both coefficients have the same sign.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from bipartite.design import algorithm_1
from bipartite.plots.looks import BLUE, INK
from reproduction.experiments.rows_of_a_line import EPSILONS, numerator, rows_of_half
from reproduction.form import Grid, Row
from reproduction.pictures import Square, Squares, squares, subscripted

_TABLE = Grid(what=("table",), points=(10,))
FULL = _TABLE + Grid(what=("count",), points=tuple(range(2, 121)))
QUICK = _TABLE + Grid(what=("count",), points=tuple(range(2, 41)))


def measure(what: str, points: int) -> Iterator[Row]:
    """The signs of the table that is drawn, or how many of them are not as the paper says."""
    rows = rows_of_half(points)
    if what == "table":
        for k, distances in enumerate(rows, start=1):
            for i, distance in enumerate(distances, start=1):
                yield {"what": what, "points": points, "value": k, "rank": i, "distance": distance,
                       "larger_above": _larger_above(rows, k, i) if k < len(rows) else 0}  # fmt: skip
        return
    pairs = [(k, i) for k in range(1, len(rows)) for i in range(1, points + 1)]
    # j₀ = 2k ranks are equal in rows k and k + 1.
    wrong = sum(_larger_above(rows, k, i) != (-1 if i <= 2 * k else 1) for k, i in pairs)
    found = [[algorithm_1(distances, epsilon).m for distances in rows] for epsilon in EPSILONS]
    misplaced = sum(min(m) != min(m[0], m[-1]) for m in found)
    yield {"what": what, "points": points, "pairs": len(pairs), "wrong": wrong, "budgets": len(EPSILONS),
           "misplaced": misplaced}  # fmt: skip


def _larger_above(rows: Sequence[Sequence[int]], k: int, i: int) -> int:
    """1 where the derivative of row k is larger than that of row k + 1 for every ε, −1 where it is smaller, else 0."""
    c0, c1 = (above - below for above, below in zip(numerator(rows[k - 1], i), numerator(rows[k], i), strict=True))
    if c0 == c1 == 0 or c0 * c1 < 0:
        return 0
    return 1 if c0 + c1 > 0 else -1


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The table with an arrow between two rows that points to the larger derivative."""
    table, counts = (rows[rows["what"] == what] for what in ("table", "count"))
    points, last = int(table["points"].iloc[0]), int(table["value"].max())
    listed = [(f"k = {k:g}", [Square(f"{each:g}") for each in of["distance"]], "") for k, of in table.groupby("value")]
    between = {
        (int(row.value) - 1, int(row.rank) - 1): ("▲", BLUE) if row.larger_above > 0 else ("▽", INK)
        for row in table.itertuples()
        if row.value < last
    }
    pairs, wrong, most = (int(each) for each in (counts["pairs"].sum(), counts["wrong"].sum(), counts["points"].max()))
    return {
        "monotonicity": squares(
            Squares([subscripted("λ", i) for i in range(1, points + 1)], listed, "value", "", between),
            title=f"N = {points}, every ε: sorted distances of the first {last} values",
            says=f"Sorted distances for N = {points}; {wrong} of {pairs} orders differ from the paper's.",
            notes=["▲ the derivative ∂Q/∂sᵢ is larger in the row above; ▽ in the row below.",
                   f"For every ε. Of {pairs:,} such pairs, N = 2 to {most}, {wrong} are not as the paper says."],
        )
    }  # fmt: skip

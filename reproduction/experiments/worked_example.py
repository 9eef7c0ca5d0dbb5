"""Figure 2: BRR from a worked example. Every m⁽ˣ⁾ by Algorithm 1, then the least by Algorithm 2.

The paper draws the framework; here its squares hold the numbers of a small domain. Each sign is decided exactly.
"""

from collections.abc import Iterator

import pandas as pd

from bipartite.design import algorithm_2
from bipartite.lottery import Epsilon
from bipartite.plots.looks import BLUE, PALE, PAPER
from reproduction.experiments.rows_of_a_line import local_m, sorted_distances
from reproduction.form import Grid, Row
from reproduction.pictures import Square, Squares, squares, subscripted

FULL = QUICK = Grid(points=(9,), epsilon=("1",))  # a domain that fits on a page


def measure(points: int, epsilon: str) -> Iterator[Row]:
    """For every value and every rank: the distance, whether it is raised there, and m."""
    table = [sorted_distances(points, k) for k in range(1, points + 1)]
    least = algorithm_2(table, epsilon).m
    for k, distances in enumerate(table, start=1):
        m = local_m(distances, Epsilon.of(epsilon))
        for i, distance in enumerate(distances, start=1):
            yield {"points": points, "epsilon": epsilon, "value": k, "rank": i, "distance": distance,
                   "raised": i <= m, "local_m": m, "m": least}  # fmt: skip


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The table: raised ranks dark, the common m as a heavy line."""
    points, epsilon, least = rows.loc[0, ["points", "epsilon", "m"]]
    listed = []
    for k, of in rows.groupby("value"):
        common, raised = of["rank"] <= least, of["raised"]
        fills = common.map({True: BLUE}).fillna(raised.map({True: PALE, False: PAPER}))
        row = [Square(str(each), fill, dark=fill == BLUE) for each, fill in zip(of["distance"], fills, strict=True)]
        listed.append((f"x = {k}", row, str(of["local_m"].iloc[0])))
    locals_ = ", ".join(word for _, _, word in listed)
    return {
        "worked_example": squares(
            Squares([subscripted("λ", i) for i in range(1, points + 1)], listed, "value", "m⁽ˣ⁾", cut=least),
            title=f"N = {points}, ε = {epsilon}: distances of all reports from x, in order",
            says=f"N = {points}, ε = {epsilon}: m⁽ˣ⁾ = {locals_}; the least is m = {least}.",
            entries={
                "weight e^ε for everybody": BLUE,
                "raised by Algorithm 1, taken back by the minimum": PALE,
                "weight 1": PAPER,
            },
            notes=[f"m = {least}, the least m⁽ˣ⁾, holds for every x."],
        )
    }

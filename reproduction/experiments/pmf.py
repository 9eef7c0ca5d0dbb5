"""Figure 1: the chance of each report under GRR and BRR, for one true value.

The paper draws a sketch; here the chances are those of the tickets, in the middle and near an end of the domain, where
the window is clamped and many values share one near-set.
"""

from collections.abc import Iterator

import pandas as pd

from bipartite.domains import Integers
from bipartite.mechanisms import BRR, GRR
from reproduction.form import Grid, Row
from reproduction.pictures import panels

FULL = QUICK = Grid(points=(21,), epsilon=("1",), truth=(11, 3))


def measure(points: int, epsilon: str, truth: int) -> Iterator[Row]:
    """The row of each matrix."""
    for mechanism in (BRR(Integers(1, points), epsilon), GRR(Integers(1, points), epsilon)):
        for y, chance in enumerate(mechanism.matrix()[truth - 1].tolist(), start=1):
            yield {"mechanism": type(mechanism).__name__, "epsilon": epsilon, "points": points, "truth": truth,
                   "report": y, "chance": chance}  # fmt: skip


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """A panel for each true value."""
    first = rows.iloc[0]
    says = " ".join(
        f"{name} reports a value near the truth with probability {of.max():.3f}, any other with {of.min():.3f}."
        for name, of in rows.groupby("mechanism", sort=False)["chance"]
    )
    return {
        "pmf": panels(
            rows, x="report", y="chance", facet="truth", steps=True, lowest=0,
            title=f"N = {first['points']}, ε = {first['epsilon']}, true value {{}}",
            across="report", up="probability of this report", says=says,
        )
    }  # fmt: skip

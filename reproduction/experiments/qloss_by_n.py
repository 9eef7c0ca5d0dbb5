"""Figure 5: quality loss against N with the Exponential mechanism too, and the ratio BRR/GRR with its asymptotes.

QLoss is the expected error over the diameter N − 1 under a uniform prior, exact from the tickets. The text names one
budget of the figure, ε = 2; those of the other figures run too. The lines that the paper does not have: the Exponential
mechanism with its whole budget, the best possible release (Anchored, proved to be that on a line), and the constant
answer, which needs no report at all.
"""

from collections.abc import Iterator
from typing import Final

import pandas as pd

from bipartite.domains import Integers
from bipartite.plots.looks import LOOKS, Look
from reproduction.experiments.line_rivals import SILENCE, makers
from reproduction.experiments.printed import RATIO_AT_2
from reproduction.form import Grid, Row
from reproduction.pictures import Printed, panels
from reproduction.quality import qloss
from reproduction.theory import limit_global_ratio

_ASYMPTOTE: Final = "limit by Theorem 3"
_BLUES: Final = ("#8FBFE6", "#6AA8DB", "#3F8FCC", "#0072B2", "#005A8E", "#003F66", "#00253D")
# Mechanisms with a table of N² tickets are built up to the largest table.
FULL = Grid(
    epsilon=("0.25", "0.5", "1", "2", "3", "4", "5"),
    points=(5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000),
    largest_table=(1000,),
)
QUICK = FULL.but(
    epsilon=("0.5", "1", "2", "3", "5"), points=(5, 10, 20, 50, 100, 200, 500, 1000, 10_000), largest_table=(200,)
)


def measure(points: int, epsilon: str, largest_table: int) -> Iterator[Row]:
    """QLoss of every mechanism."""
    for name, make in makers(tables=points <= largest_table).items():
        yield {"points": points, "epsilon": epsilon, "mechanism": name,
               "qloss": qloss(make(Integers(1, points), epsilon))}  # fmt: skip


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """The ratio of BRR's expected error to GRR's: a row for each N, a column for each ε."""
    loss = rows.pivot(index=["points", "epsilon"], columns="mechanism", values="qloss")
    return (loss["BRR"] / loss["GRR"]).unstack()


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """Quality loss at every budget, and the ratio."""
    by_n = ratios(rows)
    limits = [limit_global_ratio(epsilon) for epsilon in by_n]
    names = [f"ε = {epsilon:g}" for epsilon in by_n]
    largest = by_n.index[-1]
    said = "; ".join(
        f"{name}: {last:.4f} at N = {largest:,}, limit {limit:.4f}"
        for name, last, limit in zip(names, by_n.loc[largest], limits, strict=True)
    )
    tables = rows.loc[rows["mechanism"] == "Exponential", "points"].max()
    return {
        "qloss_by_n": panels(
            rows, x="points", y="qloss", facet="epsilon", title="QLoss at ε = {:g}", bare={SILENCE}, lowest=0,
            across="N", up="QLoss", log_x=True,
            says="QLoss of GRR rises to 1/3 with N; that of BRR stays nearly the same.",
            notes=["QLoss is the expected error over N − 1.",
                   f"Exponential ends at N = {tables:,}: it needs a table of N² tickets."],
        ),
        "ratio_by_n": panels(
            by_n.set_axis(names, axis=1).melt(var_name="budget", value_name="ratio", ignore_index=False).reset_index(),
            x="points", y="ratio", hue="budget", title="Expected error of BRR over that of GRR on 1 … N", ends=True,
            levels={_ASYMPTOTE: limits}, lowest=0, highest=1.05, across="N", up="ratio", log_x=True,
            printed={"": [Printed(RATIO_AT_2, f"about {RATIO_AT_2:g} at ε = 2", largest)]},
            says=f"Ratio of BRR to GRR. {said}.",
            # From light to dark as ε grows, one colour: all of them are BRR.
            looks={**{name: Look(blue, 2.2) for name, blue in zip(names, _BLUES, strict=False)},
                   _ASYMPTOTE: LOOKS["limit"]},
        ),
    }  # fmt: skip

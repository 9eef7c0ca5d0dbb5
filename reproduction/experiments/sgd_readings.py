"""The SGD of appendix B.2 under readings that the paper does not state.

As its text has it, BRR-SGD is not ahead of Laplace noise by the printed 28, 21 and 12 points
(:mod:`~reproduction.experiments.sgd`). It is when the rival's noise is four or five times C_t/ε: somebody who splits a
"total privacy budget" over that many epochs would add so much, and compare it with BRR at the whole ε. **The factor was
fitted to the paper's numbers**: no sentence of it has one, and 200 steps are more than eight epochs.

Beside every reading stands the line that decides what made the difference: the same Laplace noise, clamped to the half
of [−C_t, C_t] in which the coordinate lies, which is BRR-SGD's range. Whoever clamps so publishes every sign, as
BRR-SGD does. No protocol here keeps an ε: C_t comes from private norms.

One network (the paper's), one batch, 200 steps. Each learning rate has rows of its own; what is compared is, for every
mechanism and budget, the rate that is best on held-out pictures.
"""

from typing import Any, Final

import pandas as pd

from reproduction.experiments.printed import SGD_BUDGETS
from reproduction.experiments.sgd import BRR, MEASURES, NETWORKS, PRINTED, SMALL, ahead_of
from reproduction.form import SEED, Grid, Row
from reproduction.intervals import bars_of
from reproduction.pictures import panels

FACTORS: Final = (1, 4, 5)
"""How many times C_t/ε; 1 is the text's."""


def rival(times: int, *, in_half: bool = False) -> str:
    """The name of a reading of the rival."""
    return f"paper-laplace{f'-x{times}' if times > 1 else ''}{'-in-half' if in_half else ''}"


RIVALS: Final = {
    rival(times, in_half=in_half): f"Laplace{f' × {times}' if times > 1 else ''}{', in BRR’s range' if in_half else ''}"
    for in_half in (False, True)
    for times in FACTORS
}
"""The readings of the rival, and what a picture calls them."""
FULL = Grid(
    data=("mnist",),
    people=(50_000,),
    held_out=(10_000,),
    batch=(2048,),
    steps=(200,),
    network=("paper-cnn",),
    learning_rate=(0.01, 0.001, 0.1),
    seed=(0, 1, 2, 3, 4),
    epsilon=SGD_BUDGETS,
    mechanism=(BRR, *RIVALS),
)
QUICK = FULL.but(**SMALL, learning_rate=(0.01,), epsilon=(0.3,))


def measure(learning_rate: float, epsilon: float, mechanism: str, **point: Any) -> list[Row]:  # noqa: ANN401
    """What a training amounts to; the curve is not kept."""
    from reproduction.experiments.sgd_training import rows_of  # noqa: PLC0415 (torch)

    rows = rows_of(release=(mechanism, epsilon), learning_rates=(learning_rate,), **point)
    return [row for row in rows if row["measure"] in MEASURES]


def at_best(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """A measure of every mechanism and budget, at the learning rate that is best on held-out pictures, by its mean."""
    held = rows[rows["measure"] == "held_out"]
    means = held.groupby(["mechanism", "epsilon", "learning_rate"], sort=False)["value"].mean()
    best = means.loc[means.groupby(["mechanism", "epsilon"], sort=False).idxmax()].reset_index()
    return rows[rows["measure"] == measure].merge(best.drop(columns="value"))


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """By how much BRR-SGD is ahead of each reading of its rival."""
    return {"sgd_readings": picture(rows)}


def picture(rows: pd.DataFrame) -> str:
    """The same for the readings that ran, on whatever network."""
    finals = at_best(rows, "final")
    (network,) = finals["network"].unique()
    title = f"MNIST, {NETWORKS[network]}: ahead of"
    noise, in_half = f"{title} Laplace noise", f"{title} the same noise in BRR’s range"
    ran = [name for name in RIVALS if name in set(finals["mechanism"])]
    ahead = ahead_of(finals, {name: f"BRR-SGD minus {RIVALS[name]}" for name in ran})
    return panels(
        ahead.assign(of=ahead["line"].str.endswith("BRR’s range").map({True: in_half, False: noise})),
        x="epsilon", y="points", hue="line", facet="of",
        printed={noise: PRINTED} if network == "paper-cnn" else {}, across="claimed ε", up="points of accuracy",
        says=f"By how many points BRR-SGD is ahead of Laplace noise under several readings; {NETWORKS[network]}.",
        notes=[
            "Final test accuracy of BRR-SGD minus the rival's; none is private, ε = ∞.",
            "Factors of the noise were fitted to the paper's numbers; it states none.",
            "In BRR's range: clamped to the half of [−C, C] in which the coordinate lies.",
            bars_of(rows[SEED]),
        ],
    )  # fmt: skip

"""Figure 10 (appendix B.2): accuracy on MNIST while training, under several budgets.

What the paper shows: test accuracy of BRR-SGD, Laplace DP-SGD and SGD without noise over iterations, at ε = 0.1, 0.3,
0.5, 0.7, 0.9 and 1; BRR ahead of Laplace by about 28 %, 21 % and 12 % at 0.3, 0.5 and 0.7.

What is done differently, and why:

- The paper's protocols are run as described, and every row says what they really spend (``protocols.py``): ε = ∞.
- Beside them stand sound ones. Central: L2 clipping with Gaussian noise ((ε, δ), accounted), L1 clipping with Laplace
  noise (pure ε). Local: everybody answers once, k of d coordinates, by padded BRR, Piecewise, Hybrid and Duchi.
- One grid for all: three learning rates of Adam (the paper's 0.001 among them) and two bounds, those of each norm. The
  choice is made on held-out pictures, as if they were public: **its cost is not in ε**. A row holds the chosen run.
- The paper's network has 26,010 parameters, hopeless for local reports at small ε; a softmax regression on 7 × 7 means
  (500 parameters) shows where they do learn.
- Test pictures are the 10,000 of the test part.

Measures: ``accuracy`` at each measured step; ``final``, the mean over the last 20 % of steps; ``stability``, the
standard deviation over these; ``convergence``, the first measured step with 90 % of final; ``held_out``, what the
choice was made with.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from operator import sub
from typing import Any, Final

import pandas as pd

from reproduction.experiments.printed import SGD_AHEAD, SGD_BUDGETS
from reproduction.form import SEED, Grid, Row
from reproduction.intervals import bars_of, with_each
from reproduction.pictures import panels
from reproduction.pictures.panels import Printed

BRR: Final = "paper-brr"
SOUND: Final = {
    "central-gaussian": "Gaussian, central",
    "central-laplace": "Laplace, central",
    "local-brr": "BRR, padded",
    "local-piecewise": "Piecewise",
    "local-hybrid": "Hybrid",
    "local-duchi": "Duchi",
}
"""What keeps its ε, and what pictures call it."""
PROTOCOLS: Final = {
    BRR: "BRR-SGD as described",
    "paper-laplace": "Laplace on the sum, as described",
    "paper-laplace-of-the-mean": "Laplace on the mean",
}
"""The paper's protocols; it does not say whether noise is added to the sum of a batch's gradients or to their mean."""
PLAIN: Final = {"none": "no privacy"}
NETWORKS: Final = {
    "paper-cnn": "the paper's network, 26,010 parameters",
    "softmax": "softmax regression, 500 parameters",
    "mlp": "one hidden layer, 6,634 parameters",
}
PRINTED: Final = [Printed(100 * each, f"+{100 * each:g} %", epsilon) for epsilon, each in SGD_AHEAD.items()]
"""By how much the paper says that BRR-SGD is ahead of Laplace."""
MEASURES: Final = ("final", "stability", "convergence", "held_out")
"""What a run amounts to, beside its curve."""
_SHORT: Final = {"paper-cnn": "paper's network", "softmax": "softmax regression"}
_MOST_POINTS: Final = 10  # more intervals would cover the lines
_CHOSEN: Final = "Settings were chosen on held-out pictures, which ε does not cover."


def releases(names: Iterable[str], budgets: Iterable[float]) -> tuple[tuple[str, float], ...]:
    """Each of these mechanisms at every budget: pairs of mechanism and ε."""
    return tuple((name, epsilon) for epsilon, name in product(budgets, names))


_LOCAL: Final = [name for name in SOUND if name.startswith("local")]
FULL = Grid(
    data=("mnist",),
    people=(50_000,),
    held_out=(10_000,),
    batch=(2048,),
    steps=(200,),
    learning_rates=((0.001, 0.01, 0.1),),
    seed=(0, 1, 2, 3, 4),  # before mechanisms, so that a run that is cut short has all curves, each less sure
    network=("paper-cnn", "softmax"),
    release=(
        ("none", 0.0),
        *releases(["central-gaussian"], (*SGD_BUDGETS, 3.0, 10.0)),
        *releases(["central-laplace"], (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)),
        *releases(_LOCAL, (0.1, 1.0, 10.0, 100.0, 1000.0)),
        *releases(PROTOCOLS, SGD_BUDGETS),
    ),
)
SMALL: Final[dict[str, tuple[Any, ...]]] = {
    "people": (4096,), "held_out": (512,), "batch": (256,), "steps": (24,), "seed": (0, 1), "network": ("softmax",),
}  # fmt: skip
"""What a quick run has instead."""
QUICK = FULL.but(
    **SMALL,
    learning_rates=((0.01,),),
    release=(
        ("none", 0.0),
        ("central-gaussian", 3.0),
        ("central-laplace", 1000.0),
        *releases(_LOCAL, (10.0, 1000.0)),
        *releases(PROTOCOLS, SGD_BUDGETS),
    ),
)


def measure(**point: Any) -> list[Row]:  # noqa: ANN401 (those of a training)
    """The curve of one mechanism, budget and seed, and what it amounts to."""
    from reproduction.experiments.sgd_training import rows_of  # noqa: PLC0415 (torch)

    return rows_of(**point)


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """Accuracy against what is really spent, for each network; and the paper's protocols, at the end and on the way."""
    bars = bars_of(rows[SEED])
    finals = rows[rows["measure"] == "final"]
    rivals = {rival: f"BRR-SGD minus {words}" for rival, words in PROTOCOLS.items() if rival != BRR}
    found = {
        "sgd_budgets": panels(
            named(finals, SOUND | PLAIN), x="epsilon", y="value", hue="line", facet="network", titles=NETWORKS,
            flat=PLAIN.values(), within=(0, 1), lowest=0, highest=1, across="ε of one person", up="test accuracy",
            log_x=True,
            says="Test accuracy after private SGD against the ε of one person, central and local mechanisms.",
            notes=["BRR, Piecewise, Hybrid and Duchi: local, everybody answers once.", bars, _CHOSEN],
        ),
        "sgd_ahead": panels(
            ahead_of(finals, rivals), x="epsilon", y="points", hue="line", facet="network", lowest=0,
            titles={each: f"{words}: BRR-SGD minus Laplace" for each, words in NETWORKS.items()},
            like={line: PROTOCOLS[rival] for rival, line in rivals.items()},
            printed={"paper-cnn": PRINTED}, across="claimed ε", up="points of accuracy",
            says="Final test accuracy of BRR-SGD minus that of Laplace, by the paper's protocols; none is private.",
            notes=[
                "Final test accuracy of BRR-SGD minus the rival's, by the paper's protocols: none is private, ε = ∞.",
                bars,
            ],
        ),
    }  # fmt: skip
    for network, own in rows[rows["measure"] == "accuracy"].groupby("network", sort=False):
        found[f"sgd_protocols_{network}"] = _while_training(own, _SHORT[str(network)], bars)
    return found


def named(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The rows of these mechanisms in this order, in ``line`` what pictures call them."""
    kept = rows[rows["mechanism"].isin(names)]
    kept = kept.sort_values("mechanism", key=lambda some: some.map(list(names).index), kind="stable")
    return kept.assign(line=kept["mechanism"].map(names))


def ahead_of(rows: pd.DataFrame, rivals: Mapping[str, str]) -> pd.DataFrame:
    """By how many points of accuracy BRR-SGD is ahead of each rival, seed by seed; none of them is private."""
    both = with_each(rows[["network", "epsilon", SEED, "mechanism", "value"]], BRR, rivals, "value", sub)
    return both.assign(points=100 * both["value"])


def _while_training(rows: pd.DataFrame, network: str, bars: str) -> str:
    """One panel for each claimed budget."""
    gaussian = SOUND["central-gaussian"]
    lines = named(rows, PROTOCOLS | {"central-gaussian": gaussian} | PLAIN)
    steps = sorted(lines["step"].unique())
    lines = lines[lines["step"].isin(steps[:: -max(1, len(steps) // _MOST_POINTS)])]  # the last one among them
    plain, claimed = lines["mechanism"] == "none", lines["mechanism"].isin(PROTOCOLS)
    budgets = sorted(lines["epsilon"][claimed].unique())
    drawn = pd.concat([lines[plain | (lines["epsilon"] == each)].assign(claimed=each) for each in budgets])
    sound = [f"{gaussian}: one training keeps the ε of the panel (δ = 0.00001).", _CHOSEN]
    return panels(
        drawn, x="step", y="value", hue="line", facet="claimed",
        title=f"{network}, claimed ε = {{:g}}, spent ε = ∞", within=(0, 1), lowest=0, highest=1,
        across="iterations", up="test accuracy",
        says="Test accuracy while training by the paper's protocols at claimed budgets; none is private.",
        notes=[
            "BRR-SGD publishes the sign of every coordinate, and all protocols scale by private norms: ε = ∞.",
            *(sound if gaussian in set(drawn["line"]) else []),
            bars,
        ],
    )  # fmt: skip

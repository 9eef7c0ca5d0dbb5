"""Figure 11 (appendix B.3): a network trained on private columns of Adult and Bank, tested on clean rows.

What the paper shows: classification accuracy of DNN-BRR above that of DNN-DP (Laplace), +3.22 % on average for ε from
0.25 to 3.5 and +5.29 % at ε = 0.25 on Adult.

What is done differently, and why:

- The authors' scripts add uniform noise of ±0.1 whatever ε is (ε = ∞), take importances from raw data, and give the
  rival ε for each of its d columns. Here ε is that of a **whole row**: every column has ε/d, the sum is exact, and
  every mechanism gets the same. Numbers are reported by the mechanism in question on 101 nodes of a public range,
  categories by GRR for all of them.
- ``labels="public"`` is the paper's setting: nothing protects the label. ``labels="randomised"`` gives half of ε to
  randomised response on the label and corrects the loss for it.
- One grid for every mechanism: epochs and learning rate. All its networks are trained on the *same* reports, which
  costs no further ε, and one is chosen by accuracy on a tenth of the training rows that is taken for public: the people
  in it are not protected, and their rows are not reported. Rows ``setting="paper"`` have 10 epochs at 0.001, without a
  choice.
- Beside accuracy stand balanced accuracy and the area under the ROC curve, because always answering the majority class
  is right for 75 % of Adult and 89 % of Bank.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal
from itertools import product
from operator import sub
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from bipartite.domains import Integers
from bipartite.learn import PrivateColumns
from bipartite.lottery import insecure_seed
from bipartite.mechanisms import GRR
from reproduction.experiments.dnn_data import DOMAINS, split
from reproduction.experiments.printed import NETWORK_GAINS, NETWORK_RANGE
from reproduction.form import Grid
from reproduction.intervals import bars_of, with_each
from reproduction.learning.network_training import TrainingPlan, class_chances, network_inputs, train_network
from reproduction.pictures import panels
from reproduction.pictures.panels import Printed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from reproduction.form import Row
    from reproduction.learning.network_training import Layer

    Plan = tuple[int, float]

PAPER_PLAN: Final = (10, 1e-3)
"""Epochs and learning rate of the paper."""
REPORTED: Final = {"brr": "BRR", "anchored": "Anchored", "laplace": "Laplace", "piecewise": "Piecewise"}
REFERENCES: Final = {"none": "no privacy", "majority": "majority class"}
TITLES: Final = {"adult": "Adult", "bank": "Bank"}
_METRICS: Final = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "area under the ROC curve",
}
_PLANS: Final = {
    "paper": ("the paper's plan", "10 epochs at learning rate 0.001, as in the paper"),
    "tuned": ("chosen plan", "epochs and learning rate chosen on public rows"),
}
_LABELS: Final = {
    "public": "Labels are public: ε does not protect them",
    "randomised": "Labels are randomised within ε",
}
_LABEL_SHARE: Final = Decimal("0.5")
_ROOM: Final = 0.03

_SEEDS: Final[dict[Any, Any]] = {"seed": (0, 1, 2, 3, 4)}
_HOW: Final[dict[Any, Any]] = {
    "rows": (None,),  # all of them
    "epochs": ((1, 3, 10),),
    "learning_rates": ((1e-3, 1e-4),),
    "points": (101,),
}
_NO_EPSILON: Final = ("mechanism", "labels", "epsilon")
# ε is that of a whole row, the label included where it is randomised; 0 where nothing depends on it.
FULL = Grid(*(
    block
    for dataset in TITLES
    for block in (
        {"dataset": (dataset,), "mechanism": tuple(REPORTED), "labels": tuple(_LABELS)} | _SEEDS
        | {"epsilon": (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 5.0, 7.0, 10.0, 15.0, 20.0)} | _HOW,
        {"dataset": (dataset,), _NO_EPSILON: (("none", "public", 0.0),)} | _SEEDS | _HOW,
        {"dataset": (dataset,), (*_NO_EPSILON, "seed"): (("majority", "public", 0.0, 0),)} | _HOW,
    )
))  # fmt: skip
QUICK = FULL.but(epsilon=(0.25, 3.5, 20.0), labels=("public",), seed=(0,), rows=(3_000,))


def measure(  # noqa: PLR0913, PLR0917 (a point of the grid)
    dataset: str, mechanism: str, epsilon: float, labels: str, seed: int, rows: int | None,
    epochs: tuple[int, ...], learning_rates: tuple[float, ...], points: int,
) -> Iterator[Row]:  # fmt: skip
    """Three measures on clean test rows, by the paper's plan and by the one chosen on public rows."""
    where: Row = {"dataset": dataset, "mechanism": mechanism, "epsilon": epsilon, "labels": labels, "seed": seed}
    parts = split(dataset, rows)
    if mechanism == "majority":
        likelier = float(np.mean(parts.private[1]) > 1 / 2)
        chances = dict.fromkeys(_PLANS, np.full(len(parts.test[1]), likelier))
    else:
        # Another word in it would change every row.
        rng = insecure_seed(seed_of(
            f"Cell({dataset=}, {mechanism=}, {epsilon=}, {labels=}, {seed=}, {rows=}, {epochs=}, {learning_rates=}, "
            f"{points=})"
        ))  # fmt: skip
        columns, of_label = columns_of(dataset, mechanism, epsilon, labels, points)
        columns.set_params(rng=rng).fit(parts.private[0])
        domains = {name: each.domain for name, each in columns.mechanisms_.items()}
        released = columns.transform if mechanism == "none" else columns.fit_transform
        inputs = network_inputs(released(parts.private[0]), domains)
        targets, responses = parts.private[1], None
        if of_label is not None:
            response = GRR(Integers(0, 1), of_label)
            targets = response.privatize(targets, rng=rng)
            responses = response.matrix()
        word = rng.streams().stream(0, 1).word()
        trained = networks_of(inputs, targets, epochs, learning_rates, word, responses)
        public, test = (network_inputs(columns.transform(some), domains) for some, _ in (parts.public, parts.test))
        # The first of the best: fewest epochs, the paper's learning rate.
        chosen = max(trained, key=lambda plan: accuracy(chances_of(trained[plan], public), parts.public[1]))
        plans = {"paper": PAPER_PLAN, "tuned": chosen}
        chances = {name: chances_of(trained[plan], test) for name, plan in plans.items() if plan in trained}
    for setting, found in chances.items():
        for metric, value in measures(found, parts.test[1]).items():
            yield where | {"setting": setting, "metric": metric, "value": value}


def seed_of(text: str) -> int:
    """The seed of whatever these words describe."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def columns_of(
    dataset: str, mechanism: str, epsilon: float, labels: str, points: int
) -> tuple[PrivateColumns, Decimal | None]:
    """The columns within their part of ε, and the part of the label."""
    whole = Decimal(repr(epsilon))
    of_label = whole * _LABEL_SHARE if labels == "randomised" else None
    columns = PrivateColumns(
        list(DOMAINS[dataset].values()),
        epsilon=whole - (of_label or 0) or 1,  # without privacy nothing is drawn
        numeric="brr" if mechanism == "none" else mechanism,
        points=points,
        outside="clip",
        at_predict="pass",
    )
    return columns, of_label


def networks_of(
    inputs: NDArray[np.float32], labels: NDArray[np.int64], epochs: tuple[int, ...], rates: tuple[float, ...],
    seed: int, responses: NDArray[np.float64] | None = None,
) -> dict[Plan, list[Layer]]:  # fmt: skip
    """A network for every plan of the grid, all from the same reports; fewer epochs are a stop on the way."""
    trained: dict[Plan, list[Layer]] = {}
    for rate in rates:
        plan = TrainingPlan(epochs=max(epochs), learning_rate=rate, device="cpu")
        for epoch, layers in enumerate(train_network(inputs, labels, 2, plan, seed=seed, responses=responses), 1):
            if epoch in epochs:
                trained[epoch, rate] = layers
    return {plan: trained[plan] for plan in product(sorted(epochs), sorted(rates, reverse=True))}


def chances_of(layers: list[Layer], inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """The chance of the second class, for each row."""
    return class_chances(layers, inputs)[:, 1]


def accuracy(chances: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """How often the likelier class is the right one, from the chances of the second."""
    return float(np.mean((chances > 1 / 2) == labels))


def measures(chances: NDArray[np.float64], labels: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy, balanced accuracy and the area under the ROC curve, from the chances of the second class."""
    return {
        "accuracy": accuracy(chances, labels),
        "balanced_accuracy": float(balanced_accuracy_score(labels, chances > 1 / 2)),
        "auc": float(roc_auc_score(labels, chances)),
    }


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """Every metric against ε, for each plan and treatment of labels; and by how much BRR is ahead of Laplace."""
    bars = bars_of(rows["seed"])
    rows = rows.assign(line=rows["mechanism"].map(REPORTED | REFERENCES))
    rows = rows.sort_values("metric", key=lambda some: some.map(list(_METRICS).index), kind="stable")
    found = {}
    for setting, labels in product(rows["setting"].unique(), rows["labels"].unique()):
        which = (rows["labels"] == labels) | rows["mechanism"].isin(REFERENCES)
        plan, words = _PLANS[setting]
        shown = rows[which & (rows["setting"] == setting)]
        titles = shown["dataset"].map(TITLES) + f", labels {labels}, {plan}: " + shown["metric"].map(_METRICS)
        found[f"dnn_{setting}_{labels}"] = panels(
            shown.assign(of=titles), x="epsilon", y="value", hue="line", facet="of", flat=REFERENCES.values(),
            within=(0, 1), log_x=True, share_y=False,
            lowest=lambda own: max(0.0, _means(own).min() - _ROOM),
            highest=lambda own: min(1.0, _means(own).max() + _ROOM),
            across="ε of a whole row", up="on clean test rows",
            says="Accuracy, balanced accuracy and area under the curve of networks trained on private columns, against "
            f"ε of a whole row; labels {labels}; {words}.",
            notes=[f"{_LABELS[labels]}; {words}. Vertical axes do not begin at 0.", bars],
        )  # fmt: skip
    public = rows[(rows["labels"] == "public") & rows["epsilon"].between(*NETWORK_RANGE)]
    plans = public["setting"].map({setting: f"{plan}: BRR minus Laplace" for setting, (plan, _) in _PLANS.items()})
    found["dnn_gains"] = gain_panels(
        gains(public.assign(of=public["dataset"].map(TITLES) + ", " + plans), AHEAD), across="ε of a whole row",
        says="Accuracy with BRR minus that with Laplace against ε of a whole row, labels public.",
        notes=["Labels are public: ε does not protect them.", bars],
    )  # fmt: skip
    return found


def _means(rows: pd.DataFrame) -> pd.Series[float]:
    """What a panel must hold; long intervals of few seeds go on beyond its edges."""
    return rows.groupby(["mechanism", "epsilon"])["value"].mean()


AHEAD: Final = {"laplace": "BRR minus Laplace"}


def gains(rows: pd.DataFrame, rivals: Mapping[str, str]) -> pd.DataFrame:
    """By how many points BRR is more accurate than each of these rivals, seed by seed, in lines of these names."""
    own = rows[rows["metric"] == "accuracy"].drop(columns=["line", "metric", "spends", "noise_spends"], errors="ignore")
    return with_each(own, "brr", rivals, "value", sub).assign(points=lambda pairs: 100 * pairs["value"])


def gain_panels(rows: pd.DataFrame, like: Mapping[str, str] | None = None, **how: Any) -> str:  # noqa: ANN401 (panels')
    """Gains in panels of these titles (``of``), beside none and what the paper prints, which is for Adult."""
    mean, first = (100 * NETWORK_GAINS[each] for each in ("mean", "at 0.25"))
    printed = [Printed(mean, f"+{mean:.2f} % on average"), Printed(first, f"+{first:.2f} %", NETWORK_RANGE[0])]
    return panels(
        rows, x="epsilon", y="points", hue="line", facet="of", levels={"equal": 0}, up="points of accuracy",
        like={"BRR minus Laplace": "BRR", "equal": "limit", **(like or {})},
        printed=dict.fromkeys(rows["of"][rows["dataset"] == "adult"].unique(), printed), **how,
    )  # fmt: skip

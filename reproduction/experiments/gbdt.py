"""Figure 9: boosted trees whose leaves are randomised, root mean squared error against ε (appendix B.1).

What is done differently, and why. The authors' scripts perturb each record's gradient for BRR but add one shared
Laplace draw to every record for the rival; here every mechanism randomises the same leaf values of the same sound
DPBoost (:class:`~reproduction.learning.boosting.PaperBoostingRegressor`): same folds, same records, same clipping, same
ε. Target and features have public ranges (:mod:`~reproduction.experiments.gbdt_tasks`). Bias has two targets, because
the scripts' scale is that of a feature. Depth is 5 as in the scripts.

Beside the paper's lines stand: Laplace clamped to BRR's range, which is free; the best release on the same points
(anchored) and the geometric mechanism; the middle of the target's public range, which costs nothing; the same trees
without noise; and two that see the data: the mean, and scikit-learn's boosting of all records.

Errors are pooled over five folds. ``rmse_in_range`` is the error of the same predictions clamped to the target's public
range, which is free as well.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from operator import truediv
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bipartite.lottery import insecure_seed
from reproduction.experiments.gbdt_tasks import TASKS, Records, records_of
from reproduction.experiments.printed import BOOSTING_SHARES
from reproduction.form import Grid, Row
from reproduction.intervals import bars_of, with_each
from reproduction.learning.boosting import PaperBoostingRegressor
from reproduction.pictures import panels
from reproduction.pictures.panels import Printed

NOTE = (
    "All lines are DPBoost made sound, with the same trees, folds and ε. The Laplace line of the "
    "public scripts is another algorithm: they add one shared draw to every record."
)
LEAVES: Final[dict[str, Any]] = {
    "BRR": "brr", "Laplace": "laplace", "Laplace, clamped": "clamped-laplace", "Geometric": "geometric",
    "Anchored": "anchored",
}  # fmt: skip
ON_POINTS: Final = ("BRR", "Geometric", "Anchored")
NO_NOISE: Final = "no privacy"
MIDDLE: Final = "always the middle"
MEAN: Final = "the mean (no privacy)"
ALL_RECORDS: Final = "scikit-learn (no privacy)"
BASELINES: Final = (NO_NOISE, MIDDLE, MEAN, ALL_RECORDS)
RIVALS: Final = ("Laplace", "Laplace, clamped")
TREES, DEPTH, POINTS = 50, 5, 21  # the scripts' trees, the paper's points
AT: Final = "5"
"""The budget of the ratios that the paper prints."""
# Two pictures, so that each line can be followed. scikit-learn's level, near "no privacy", is in the table only.
_SHOWN: Final = {
    "gbdt": ("{}", ["BRR", "Laplace", "Laplace, clamped", NO_NOISE, MIDDLE, MEAN]),
    "gbdt_leaves": ("{}, every leaf on points", ["BRR", "Laplace, clamped", "Geometric", "Anchored", MIDDLE]),
}


def _grid(seeds: int, folds: int, epsilons: Sequence[str], points: Sequence[int]) -> Grid:
    """Baselines, which have no ε; every leaf at every ε; and at ε = 5 those on points with other numbers of them."""
    fits = [(name, "0", POINTS) for name in BASELINES]
    fits += [(name, each, POINTS) for name in LEAVES for each in epsilons]
    fits += [(name, AT, each) for name in ON_POINTS for each in points]
    return Grid(
        {"task": ("bias-slope", "bias-tmax", "abalone", "superconduct"), "seed": tuple(range(seeds)),
         ("mechanism", "epsilon", "points"): tuple(fits), "folds": (folds,)}
    )  # fmt: skip


# The budgets of the paper's figure.
FULL = _grid(5, 5, ("1", "2", "4", "5", "6", "8", "10"), (5, 11, 41, 61, 81, 101))
QUICK = _grid(2, 2, ("1", "5"), (101,))


def measure(task: str, mechanism: str, epsilon: str, points: int, seed: int, folds: int) -> Iterator[Row]:
    """The error of one mechanism over all folds, as it is and with predictions clamped to the public range."""
    records = records_of(task)
    squares = {"rmse": 0.0, "rmse_in_range": 0.0}
    for fold, held in enumerate(held_out(task, seed, folds, len(records.targets))):
        words = words_of_fit(task, mechanism, epsilon, seed, folds, points)
        predicted = _predictions(records, held, mechanism, epsilon, f"{words} {fold}", points)
        for name, values in (("rmse", predicted), ("rmse_in_range", np.clip(predicted, *records.target_range))):
            squares[name] += float(((values - records.targets[held]) ** 2).sum())
    errors = {name: math.sqrt(each / len(records.targets)) for name, each in squares.items()}
    yield {"task": task, "mechanism": mechanism, "epsilon": float(epsilon), "points": points, "seed": seed,
           "folds": folds, **errors}  # fmt: skip


def held_out(task: str, seed: int, count: int, records: int) -> Iterator[NDArray[np.bool_]]:
    """Which records are held out in each fold: the same for every mechanism with this seed."""
    words = insecure_seed(number_of(f"folds {task} {seed}")).streams().stream(0, 2**16)
    order = np.argsort(words.window(records)[:records])
    for fold in range(count):
        held = np.zeros(records, dtype=bool)
        held[order[fold::count]] = True
        yield held


def number_of(text: str) -> int:
    """The seed of whatever these words describe."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def words_of_fit(task: str, mechanism: str, epsilon: str, seed: int, folds: int, points: int = POINTS) -> str:
    """What the seeds of fits are made from; another word would change every row."""
    return (
        f"Cell({task=}, {mechanism=}, {epsilon=}, {points=}, {seed=}, {folds=}, trees={TREES}, depth={DEPTH})"
    )  # fmt: skip


def _predictions(
    records: Records, held: NDArray[np.bool_], mechanism: str, epsilon: str, words: str, points: int
) -> NDArray[np.float64]:
    x, y = records.features[~held], records.targets[~held]
    if mechanism in {MIDDLE, MEAN}:
        return np.full(held.sum(), y.mean() if mechanism == MEAN else sum(records.target_range) / 2)
    model: Any = regressor(records, mechanism, epsilon, words, leaf_points=points)
    if mechanism == ALL_RECORDS:
        from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 (one second, for this line only)

        model = HistGradientBoostingRegressor(
            max_iter=TREES, max_depth=DEPTH, max_leaf_nodes=None, random_state=0, early_stopping=False
        )
    predicted: NDArray[np.float64] = model.fit(x, y).predict(records.features[held])
    return predicted


def regressor(
    records: Records,
    mechanism: str,
    epsilon: str,
    words: str,
    **others: Any,  # noqa: ANN401 (its parameters)
) -> PaperBoostingRegressor:
    """The scripts' trees with these leaves, in the sound build, with the seed that these words make."""
    return PaperBoostingRegressor(
        epsilon="1" if mechanism == NO_NOISE else epsilon,
        leaf=LEAVES.get(mechanism, "none"),
        feature_range=records.feature_range,
        target_range=records.target_range,
        bins=records.bins,
        trees=TREES,
        depth=DEPTH,
        outside="clip",
        rng=insecure_seed(number_of(words)),
        **others,
    )


_UNIT: Final = "RMSE in the unit of the target, pooled over folds; an arrow with a number stands for what lies higher."


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """RMSE against ε, the paper's lines and all leaves; shares of the rivals'; RMSE against the number of points."""
    titles = {task: TASKS[task].title for task in rows["task"].unique()}
    bars = bars_of(rows["seed"])
    usual = rows[rows["points"] == POINTS]
    pictures = {
        name: panels(
            pd.concat([usual[usual["mechanism"] == each] for each in shown]),
            x="epsilon", y="rmse", facet="task", titles={task: which.format(each) for task, each in titles.items()},
            flat=BASELINES, lowest=0, highest=highest_but_laplace, across="ε", up="RMSE", share_y=False,
            says="Root mean squared error of private boosting against ε, by what randomises a leaf.",
            notes=[_UNIT, bars],
        )
        for name, (which, shown) in _SHOWN.items()
    }  # fmt: skip
    pictures["gbdt_shares"] = panels(
        shares(usual[["task", "epsilon", "seed", "mechanism", "rmse"]]),
        x="epsilon", y="rmse", hue="line", facet="task",
        titles={task: f"{each}: BRR over its rivals" for task, each in titles.items()}, levels={"equal": 1}, like=LIKE,
        printed=printed(float(AT)), lowest=0, across="ε", up="RMSE with BRR / the rival's",
        says="Root mean squared error with BRR over that with Laplace, clamped or not, against ε.",
        notes=["Below 1 BRR has the smaller error. The paper prints shares of Laplace's at ε = 5.", bars],
    )  # fmt: skip
    pictures["gbdt_points"] = panels(
        rows[rows["mechanism"].isin(ON_POINTS) & (rows["epsilon"] == float(AT))].sort_values("points", kind="stable"),
        x="points", y="rmse", facet="task", titles={task: f"{each}, ε = {AT}" for task, each in titles.items()},
        lowest=0, across="points in [−c, c]", up="RMSE", share_y=False,
        says="Root mean squared error of private boosting at ε = 5 against the number of points of a leaf.",
        notes=[bars],
    )  # fmt: skip
    return pictures


LIKE: Final = {**{f"BRR over {rival}": rival for rival in RIVALS}, "equal": "limit"}


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """RMSE with BRR over that of each of its rivals, seed by seed; all columns but the mechanism say what is alike."""
    return with_each(rows, "BRR", {rival: f"BRR over {rival}" for rival in RIVALS}, "rmse", truediv)


def printed(x: float | None = None) -> dict[str, list[Printed]]:
    """What the paper prints, by task."""
    return {task: [Printed(share, f"{100 * share:g} % of Laplace’s", x)] for task, share in BOOSTING_SHARES.items()}


def highest_but_laplace(rows: pd.DataFrame) -> float:
    """The end of an axis: Laplace at a small ε would flatten all others."""
    tame = rows[rows["mechanism"] != "Laplace"]
    return float(1.18 * tame.groupby(["mechanism", "epsilon"])["rmse"].mean().max())

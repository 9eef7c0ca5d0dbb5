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

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from operator import truediv
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.lottery import insecure_seed
from reproduction.experiments.gbdt_tasks import TASKS, Records, records_of
from reproduction.experiments.printed import BOOSTING_SHARES
from reproduction.figures import Line, Panel, Printed, panels
from reproduction.learning.boosting import PaperBoostingRegressor
from reproduction.runner.contract import Row, Rows, distinct, number, select
from reproduction.runner.intervals import MeanInterval, bars_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

NOTE = (
    "All lines are DPBoost made sound, with the same trees, folds and ε. The paper's Laplace line is another "
    "algorithm: its scripts add one shared draw to every record."
)
LEAVES: Final[dict[str, Any]] = {
    "BRR": "brr",
    "Laplace": "laplace",
    "Laplace, clamped": "clamped-laplace",
    "Geometric": "geometric",
    "Anchored": "anchored",
}
ON_POINTS: Final = ("BRR", "Geometric", "Anchored")
NO_NOISE: Final = "no privacy"
MIDDLE: Final = "always the middle"
MEAN: Final = "the mean (no privacy)"
ALL_RECORDS: Final = "scikit-learn (no privacy)"
BASELINES: Final = (NO_NOISE, MIDDLE, MEAN, ALL_RECORDS)
EXTRA: Final = ("Laplace, clamped", "Geometric", "Anchored", MIDDLE, MEAN, ALL_RECORDS)
"""Lines that the paper does not have."""
# Two pictures, so that each line can be followed. scikit-learn's level, near "no privacy", is in the table only.
_SHOWN: Final = {
    "gbdt": ("BRR", "Laplace", "Laplace, clamped", NO_NOISE, MIDDLE, MEAN),
    "gbdt_leaves": ("BRR", "Laplace, clamped", "Geometric", "Anchored", MIDDLE),
}


_WHICH: Final = {"gbdt": "", "gbdt_leaves": ", every leaf on points"}


@dataclass(frozen=True)
class Settings:
    """The scripts' trees; budgets of the paper's figure."""

    tasks: tuple[str, ...] = ("bias-slope", "bias-tmax", "abalone", "superconduct")
    epsilons: tuple[str, ...] = ("1", "2", "4", "5", "6", "8", "10")
    points: tuple[int, ...] = (5, 11, 41, 61, 81, 101)
    """At ε = 5, beside the 21 of all others."""
    seeds: int = 5
    folds: int = 5
    trees: int = 50
    depth: int = 5


@dataclass(frozen=True)
class Cell:
    """One mechanism at one ε with one seed: as many fits as folds."""

    task: str
    mechanism: str
    epsilon: str
    """0 where there is no privacy."""
    points: int
    seed: int
    folds: int
    trees: int
    depth: int


QUICK = Settings(epsilons=("1", "5"), points=(101,), seeds=2, folds=2)
POINTS: Final = 21
_AT: Final = "5"


def cells(settings: Settings) -> tuple[Cell, ...]:
    """Every mechanism at every ε, those on points with every number of points, and the baselines, for every seed."""
    common = (settings.folds, settings.trees, settings.depth)
    made = []
    for task in settings.tasks:
        for seed in range(settings.seeds):
            made += [Cell(task, name, "0", POINTS, seed, *common) for name in BASELINES]
            made += [Cell(task, name, each, POINTS, seed, *common) for name in LEAVES for each in settings.epsilons]
            made += [Cell(task, name, _AT, points, seed, *common) for name in ON_POINTS for points in settings.points]
    return tuple(made)


def measure(cell: Cell) -> list[Row]:
    """The error of one mechanism over all folds, as it is and with predictions clamped to the public range."""
    records = records_of(cell.task)
    squares = {"rmse": 0.0, "rmse_in_range": 0.0}
    for number_of_fold, held in enumerate(folds(cell.task, cell.seed, cell.folds, len(records.targets))):
        predicted = _predictions(cell, records, held, number_of_fold)
        for name, values in (("rmse", predicted), ("rmse_in_range", np.clip(predicted, *records.target_range))):
            squares[name] += float(((values - records.targets[held]) ** 2).sum())
    errors = {name: math.sqrt(each / len(records.targets)) for name, each in squares.items()}
    settings: Row = {"task": cell.task, "mechanism": cell.mechanism, "epsilon": float(cell.epsilon)}
    return [settings | {"points": cell.points, "seed": cell.seed, "folds": cell.folds} | errors]


def folds(task: str, seed: int, count: int, records: int) -> Iterator[NDArray[np.bool_]]:
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


def _predictions(cell: Cell, records: Records, held: NDArray[np.bool_], fold: int) -> NDArray[np.float64]:
    x, y = records.features[~held], records.targets[~held]
    if cell.mechanism == MIDDLE:
        return np.full(held.sum(), sum(records.target_range) / 2)
    if cell.mechanism == MEAN:
        return np.full(held.sum(), y.mean())
    if cell.mechanism == ALL_RECORDS:
        from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 (one second, for this line only)

        theirs = HistGradientBoostingRegressor(
            max_iter=cell.trees, max_depth=cell.depth, max_leaf_nodes=None, random_state=0, early_stopping=False
        )
        learned: NDArray[np.float64] = theirs.fit(x, y).predict(records.features[held])
        return learned
    model = regressor(records, cell.mechanism, cell.epsilon, number_of(f"{cell} {fold}"), points=cell.points)
    model.set_params(trees=cell.trees, depth=cell.depth)
    predicted: NDArray[np.float64] = model.fit(x, y).predict(records.features[held])
    return predicted


def regressor(
    records: Records,
    mechanism: str,
    epsilon: str,
    seed: int,
    *,
    points: int = POINTS,
    ensemble_trees: int | None = None,
) -> PaperBoostingRegressor:
    """The scripts' trees with these leaves, in the sound build."""
    return PaperBoostingRegressor(
        epsilon="1" if mechanism == NO_NOISE else epsilon,
        leaf=LEAVES.get(mechanism, "none"),
        feature_range=records.feature_range,
        target_range=records.target_range,
        bins=records.bins,
        trees=Settings.trees,
        ensemble_trees=ensemble_trees,
        depth=Settings.depth,
        learning_rate=0.1,
        gradient_clip=1.0,
        large_gradients="skip",
        leaf_points=points,
        outside="clip",
        rng=insecure_seed(seed),
    )


Figures = dict[tuple[str, str, float, int], MeanInterval]
"""By task, mechanism, ε and points."""


def figures(rows: Rows, column: str = "rmse") -> Figures:
    """Mean, interval and spread over seeds for every (task, mechanism, ε, points)."""
    found: dict[tuple[str, str, float, int], list[float]] = {}
    for row in rows:
        key = (str(row["task"]), str(row["mechanism"]), number(row, "epsilon"), int(row["points"]))
        found.setdefault(key, []).append(number(row, column))
    return {key: MeanInterval.of(values) for key, values in found.items()}


def draw(rows: Rows, *, extra: bool = True) -> dict[str, str]:
    """RMSE against ε, the paper's lines and then all leaves; and against the number of points."""
    kept = [row for row in rows if extra or row["mechanism"] not in EXTRA]
    made = figures(kept)
    tasks = distinct(kept, "task")
    notes = [
        "RMSE in the unit of the target, pooled over folds; an arrow with a number stands for what lies higher.",
        bars_of({row["seed"] for row in kept}),
    ]
    pictures: dict[str, str] = {}
    for picture, names in _SHOWN.items():
        if extra or picture == "gbdt":
            pictures[picture] = panels(
                [_against_epsilon(made, str(task), names, _WHICH[picture]) for task in tasks],
                across="ε",
                up="RMSE",
                share_y=False,
                says="Root mean squared error of private boosting against ε, by what randomises a leaf.",
                notes=notes,
            )
        if picture == "gbdt":
            pictures["gbdt_shares"] = panels(
                [_shares(kept, str(task)) for task in tasks],
                across="ε",
                up="RMSE with BRR / the rival's",
                says="Root mean squared error with BRR over that with Laplace, clamped or not, against ε.",
                notes=["Below 1 BRR has the smaller error. The paper prints shares of Laplace's at ε = 5.", notes[1]],
            )
    by_points = [
        Panel(f"{TASKS[str(task)].title}, ε = {_AT}", _against_points(made, str(task)), lowest=0) for task in tasks
    ]
    pictures["gbdt_points"] = panels(
        [panel for panel in by_points if panel.lines],
        across="points in [−c, c]",
        up="RMSE",
        share_y=False,
        says="Root mean squared error of private boosting at ε = 5 against the number of points of a leaf.",
        notes=notes[1:],
    )
    return pictures


def _against_epsilon(made: Figures, task: str, names: Sequence[str], which: str) -> Panel:
    epsilons = sorted({key[2] for key in made if key[0] == task and key[1] not in BASELINES})
    lines = []
    for name in names:
        of = {key: figure for key, figure in made.items() if key[:2] == (task, name)}
        if name in BASELINES:
            level = [figure.mean for figure in of.values()][:1]
            lines += [Line(name, epsilons, level * len(epsilons), marked=False) for _ in level]
        elif of:
            by_epsilon = {key[2]: each for key, each in of.items() if key[3] == POINTS}
            lines.append(Line.of_means(name, {at: by_epsilon[at] for at in sorted(by_epsilon)}))
    # Laplace at a small ε would flatten all others.
    tame = [y for line in lines if line.name != "Laplace" for y in line.y]
    return Panel(f"{TASKS[task].title}{which}", lines, lowest=0, highest=1.18 * max(tame))


def _shares(rows: Rows, task: str) -> Panel:
    """RMSE with BRR over that of its rivals, seed by seed, and what the paper prints."""
    own = select(rows, task=task, points=POINTS)
    epsilons = sorted(distinct(select(own, mechanism="BRR"), "epsilon"))
    lines = []
    for rival in ("Laplace", "Laplace, clamped"):
        pairs = {
            at: (select(own, mechanism="BRR", epsilon=at), select(own, mechanism=rival, epsilon=at)) for at in epsilons
        }
        line = Line.of_pairs(f"BRR over {rival}", pairs, "rmse", truediv, like=rival)
        lines += [line] if line.x else []
    lines.append(Line("equal", [epsilons[0], epsilons[-1]], [1, 1], marked=False, like="limit"))
    share = BOOSTING_SHARES.get(task)
    printed = [Printed(share, f"{100 * share:g} % of Laplace’s", float(_AT))] if share else []
    return Panel(f"{TASKS[task].title}: BRR over its rivals", lines, lowest=0, printed=printed)


def _against_points(made: Figures, task: str) -> list[Line]:
    by_points = {
        name: {key[3]: each for key, each in made.items() if key[:3] == (task, name, float(_AT))} for name in ON_POINTS
    }
    return [Line.of_means(name, {at: of[at] for at in sorted(of)}) for name, of in by_points.items() if of]

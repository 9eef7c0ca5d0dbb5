"""Figure 9 read otherwise: what else the paper's boosting could have been, and whether its ratios appear there.

The paper says that BRR has 66, 45 and 67 % of Laplace's error at ε = 5. It states neither how many trees share the
records nor the depth, nor how ε is divided; and its scripts do something else than its text. Every reading that was
tried is here, those that do not give the numbers too. Folds are those of :mod:`~reproduction.experiments.gbdt`, and
each is run with BRR, with Laplace, with Laplace clamped to the same range, and without noise.

Three ensembles of 17 trees were *chosen because they come near the paper's ratios*: with ε shared by more ensembles
there is more noise on each leaf, and any ratio can be had. So the neighbours, two and five ensembles, stand beside it.
One reading was looked at with a single seed and left out, for its time: all records in every tree and ε for each, which
spends 50 ε; there BRR was no better than Laplace.
"""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from reproduction.experiments import gbdt
from reproduction.experiments.dpboost import Published, ScriptedDPBoost, ScriptedGradients, predictions
from reproduction.experiments.gbdt_tasks import TASKS, records_of
from reproduction.experiments.printed import BOOSTING_SHARES
from reproduction.form import Grid, Row
from reproduction.intervals import bars_of
from reproduction.pictures import panels

NAMES: Final = ("BRR", *gbdt.RIVALS)
# The scripts' share of ε for the cuts.
_CUT_SHARES: Final = {"bias-slope": Decimal("0.1"), "abalone": Decimal("0.2"), "superconduct": Decimal("0.2")}


class Reading(NamedTuple):
    """One way to read appendix B.1."""

    changes: str
    meant_by: str
    """Who could have meant it."""
    ensemble_trees: int | None = None
    """How many trees share the records in the sound build: None is all 50."""
    unsound: Callable[[Decimal, str, str], Published] | None = None
    """Another build, of ε, mechanism and task."""

    @property
    def keeps_epsilon(self) -> bool:
        """Whether it keeps the ε that it names, for one record added or removed; else no ε is known that it keeps."""
        return self.unsound is None


def _scripted(epsilon: Decimal, mechanism: str, task: str, *, shared: bool = True) -> Published:
    return ScriptedGradients(epsilon, mechanism, cut_share=_CUT_SHARES[task], shared=shared)


def _scripted_both(epsilon: Decimal, mechanism: str, task: str) -> Published:
    return _scripted(epsilon, mechanism, task) if mechanism == "BRR" else ScriptedDPBoost(epsilon, mechanism)


ONE, THREE = "one ensemble of 50", "three ensembles of 17"
PUBLISHED, SCRIPTED = "DPBoost as published: unsound", "as scripted: not private"
EQUALLY: Final = "scripted, a draw for each record: not private"
READINGS: Final = {
    ONE: Reading(
        "nothing: each record serves one of 50 trees, with the whole ε",
        "Li et al. 2020 and the scripts, whose ensembles have 50 trees: figure 9 of this report",
    ),
    "two ensembles of 25": Reading(
        "each record serves a tree of each ensemble, with ε/2",
        "the two-level boosting of Li et al.",
        ensemble_trees=25,
    ),
    THREE: Reading(
        "each record serves a tree of each ensemble, with ε/3",
        "the two-level boosting of Li et al.; the number was fitted to the paper's ratios",
        ensemble_trees=17,
    ),
    "five ensembles of 10": Reading(
        "each record serves a tree of each ensemble, with ε/5",
        "the two-level boosting of Li et al.",
        ensemble_trees=10,
    ),
    "all records in every tree, ε/50 each": Reading(
        "no subsets: trees share ε by sequential composition",
        "boosting before DPBoost",
        ensemble_trees=1,
    ),
    PUBLISHED: Reading(
        "subsets of fixed size, depth 6, noisier cuts",
        "the text of B.1, which replaces the leaves of Li et al.",
        unsound=lambda epsilon, mechanism, _: Published(epsilon, mechanism),
    ),
    SCRIPTED: Reading(
        "BRR reports each record's gradient, its rival adds one draw for all of a leaf",
        "the authors' scripts, XGBoost_g_brr against XGBoost_g_lap",
        unsound=_scripted,
    ),
    "scripted BRR, scripted DPBoost: not private": Reading(
        "BRR reports each record's gradient, its rival randomises leaves",
        "the authors' scripts, XGBoost_g_brr against AAAI_paper",
        unsound=_scripted_both,
    ),
    EQUALLY: Reading(
        "each mechanism reports each record's gradient",
        "nobody: the scripts with equal treatment",
        unsound=functools.partial(_scripted, shared=False),
    ),
}  # fmt: skip
"""All that were tried. “Fitted” says that a number was chosen by its outcome."""
NOTE = "\n".join(
    f"{at}, {name}. {each.changes[0].upper()}{each.changes[1:]}; who could have meant it: {each.meant_by}; it spends "
    + ("ε." if each.keeps_epsilon else "no ε that is known.")
    for at, (name, each) in enumerate(READINGS.items(), 1)
)
_BY_EPSILON: Final = (THREE, PUBLISHED, SCRIPTED)


def _grid(tasks: Sequence[str], seeds: int, folds: int, epsilons: Sequence[str]) -> Grid:
    """Every reading at ε = 5, three of them at more budgets, and each once without noise."""
    blocks: list[dict[Any, tuple[Any, ...]]] = []
    for reading in READINGS:
        fits = [(name, each) for name in NAMES for each in (epsilons if reading in _BY_EPSILON else (gbdt.AT,))]
        blocks.append(
            {"reading": (reading,), "task": tuple(tasks), "seed": tuple(range(seeds)),
             ("mechanism", "epsilon"): (*fits, (gbdt.NO_NOISE, gbdt.AT)), "folds": (folds,)}
        )  # fmt: skip
    return Grid(*blocks)


FULL = _grid(tuple(BOOSTING_SHARES), 5, 5, ("1", "5", "10"))
QUICK = _grid(("abalone",), 1, 2, ("1", "5"))


def measure(reading: str, task: str, mechanism: str, epsilon: str, seed: int, folds: int) -> Iterator[Row]:
    """The error of one mechanism over all folds."""
    records = records_of(task)
    words = f"Cell({reading=}, {task=}, {mechanism=}, {epsilon=}, {seed=}, {folds=})"
    private = mechanism != gbdt.NO_NOISE  # what is without noise has no ε
    if reading == ONE:  # what figure 9 measured, draw by draw
        words = gbdt.words_of_fit(task, mechanism, epsilon if private else "0", seed, folds)
    which = READINGS[reading]
    squares = 0.0
    for fold, held in enumerate(gbdt.held_out(task, seed, folds, len(records.targets))):
        if which.unsound is None:
            model = gbdt.regressor(records, mechanism, epsilon, f"{words} {fold}", ensemble_trees=which.ensemble_trees)
            fitted = model.fit(records.features[~held], records.targets[~held])
            predicted = fitted.predict(records.features[held])
        else:
            rng = np.random.default_rng(gbdt.number_of(f"{words} {fold}"))
            predicted = predictions(which.unsound(Decimal(epsilon), mechanism, task), records, held, rng)
        squares += float(((predicted - records.targets[held]) ** 2).sum())
    spent = float(epsilon) if private and which.keeps_epsilon else math.inf
    yield {"reading": reading, "task": task, "mechanism": mechanism, "epsilon": float(epsilon) if private else 0.0,
           "spent": spent, "seed": seed, "folds": folds, "rmse": math.sqrt(squares / len(records.targets))}  # fmt: skip


def draw(rows: pd.DataFrame) -> dict[str, str]:
    """The ratios of every reading at ε = 5, and errors against ε."""
    bars = bars_of(rows["seed"])
    at_5 = rows[rows["epsilon"] == float(gbdt.AT)][["reading", "task", "seed", "mechanism", "rmse"]]
    numbers = {name: at for at, name in enumerate(READINGS, 1)}
    several = pd.concat([rows[rows["reading"] == reading] for reading in _BY_EPSILON])
    both = [
        f"{TASKS[task].title} ({reading})" for task, reading in zip(several["task"], several["reading"], strict=True)
    ]
    return {
        "gbdt_readings": panels(
            gbdt.shares(at_5).assign(number=lambda found: found["reading"].map(numbers)),
            x="number", y="rmse", hue="line", facet="task", dots=gbdt.LIKE, levels={"equal": 1}, like=gbdt.LIKE,
            titles={task: f"{each.title}, by reading, ε = {gbdt.AT}" for task, each in TASKS.items()},
            printed=gbdt.printed(), lowest=0, highest=2, across="reading", up="RMSE with BRR / the rival's",
            notes=[*(f"{at}: {name}" for name, at in numbers.items()), bars],
            says="Error with BRR over that with Laplace and with clamped Laplace, by reading, beside the paper's "
            "ratio.",
        ),
        "gbdt_readings_epsilon": panels(
            several.assign(panel=both), x="epsilon", y="rmse", facet="panel", flat={gbdt.NO_NOISE}, lowest=0,
            highest=gbdt.highest_but_laplace, across="ε", up="RMSE", share_y=False,
            says="Root mean squared error against ε under three readings, by what randomises a leaf.",
            notes=["An arrow with a number stands for what lies higher.", bars],
        ),
    }  # fmt: skip

"""Numbers of the committed full run (``reproduction/results``) that pages of the docs show, from its tables."""

from __future__ import annotations

import functools
from operator import sub, truediv
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reproduction.experiments.printed import NETWORK_RANGE
from reproduction.form import table_of
from reproduction.intervals import MeanInterval

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    Intervals = dict[Any, MeanInterval]

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "reproduction" / "results"
_POINTS: Final = 21
"""The paper's number of points of a leaf."""


@functools.cache
def rows(name: str) -> pd.DataFrame:
    """A table of the full run; nobody may change it."""
    return table_of((RESULTS / f"{name}.csv").read_text(encoding="utf-8"))


def chosen(some: pd.DataFrame, **where: Any) -> pd.DataFrame:  # noqa: ANN401 (cells)
    """The rows with these settings."""
    for column, value in where.items():
        some = some[some[column] == value]
    return some


def apart(
    some: pd.DataFrame, ours: str, theirs: str, *by: str, how: Callable[..., Any] = sub, column: str = "value"
) -> pd.Series[float]:
    """One mechanism compared with another where ``by`` is alike; over what that does not name it is a mean."""
    of = some.pivot_table(column, list(by), "mechanism", sort=False)
    found: pd.Series[float] = how(of[ours], of[theirs]).replace([-np.inf, np.inf], np.nan).dropna()
    return found


def means(values: pd.Series[float], *by: str) -> Intervals:
    """The mean over seeds of every case; several names give tuples for a case."""
    groups = values.groupby(level=by[0] if len(by) == 1 else list(by), sort=False)
    return {case: MeanInterval.of(some) for case, some in groups}


@functools.cache
def sgd_ends() -> Intervals:
    """Accuracy, stability and convergence of every training, by network, mechanism, ε and measure."""
    by = ("network", "mechanism", "epsilon", "measure")
    return means(rows("sgd").query("measure != 'accuracy'").set_index(list(by))["value"], *by)


@functools.cache
def sgd_ahead(rival: str) -> Intervals:
    """By how much BRR-SGD as described ends ahead of a rival, by network and ε."""
    ends = chosen(rows("sgd"), measure="final")
    return means(apart(ends, "paper-brr", rival, "network", "epsilon", "seed"), "network", "epsilon")


def gbdt_errors() -> Intervals:
    """Errors of boosting, by task, mechanism, ε and number of points."""
    by = ("task", "mechanism", "epsilon", "points")
    return means(rows("gbdt").set_index(list(by))["rmse"], *by)


def gbdt_ratios(rival: str, column: str = "rmse") -> Intervals:
    """The error with BRR over that of a rival, on the paper's number of points, by task and ε."""
    some = chosen(rows("gbdt"), points=_POINTS)
    found = apart(some, "BRR", rival, "task", "epsilon", "seed", how=truediv, column=column)
    return means(found, "task", "epsilon")


def gbdt_ratios_read_otherwise(rival: str) -> Intervals:
    """The same under every reading, by reading, task and ε."""
    by = ("reading", "task", "epsilon")
    return means(apart(rows("gbdt_readings"), "BRR", rival, *by, "seed", how=truediv, column="rmse"), *by)


def networks() -> Intervals:
    """Accuracy of networks and what else was measured, by all that they differ in."""
    by = ("dataset", "mechanism", "epsilon", "labels", "setting", "metric")
    return means(rows("dnn").set_index(list(by))["value"], *by)


def network_gain(dataset: str, plan: str, epsilon: float | None = None, metric: str = "accuracy") -> MeanInterval:
    """How much more accurate a network on BRR reports is than on Laplace's; labels are public."""
    some = chosen(rows("dnn"), dataset=dataset, setting=plan, metric=metric, labels="public")
    return _gain(some, epsilon, "brr", "laplace")


def reading_gain(
    reading: str, ours: str, theirs: str, plan: str, epsilon: float | None = None, dataset: str = "adult"
) -> MeanInterval:
    """The same of any two mechanisms under a reading."""
    some = chosen(rows("dnn_readings"), dataset=dataset, reading=reading, setting=plan, metric="accuracy")
    return _gain(some, epsilon, ours, theirs)


def _gain(some: pd.DataFrame, epsilon: float | None, ours: str, theirs: str) -> MeanInterval:
    """At one ε, or averaged over those of the paper's figure; what has no ε is the same at each."""
    low, high = NETWORK_RANGE if epsilon is None else (epsilon, epsilon)
    kept = some[(some["epsilon"] == 0) | some["epsilon"].between(low, high)]
    return MeanInterval.of(apart(kept, ours, theirs, "seed"))


def below(rival: str) -> pd.Series[float]:
    """By which share BRR errs less than a rival in reporting a place, by scope, set of places and ε."""
    by = ("scope", "dataset", "epsilon")
    return apart(rows("location_errors"), "BRR", rival, *by, how=_less, column="expected_km")


def drawn_below(rival: str, ours: str = "BRR") -> pd.Series[float]:
    """The same within regions on other draws, by pool, draw and ε."""
    found = chosen(rows("location_draws"), what="error")
    return apart(found, ours, rival, "pool", "seed", "epsilon", how=_less, column="expected_km")


def _less(ours: pd.Series[float], theirs: pd.Series[float]) -> pd.Series[float]:
    return 1 - ours / theirs

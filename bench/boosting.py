"""Private boosting: how long a fit takes, and how far its predictions are off beside other private learners.

``python bench/boosting.py`` times one fit of 21,263 records of 81 features, and one for each leaf of the paper,
validation and secure words included, beside scikit-learn's boosting without privacy.

``python bench/boosting.py errors`` prints the tables of ``bench/results/boosting.md``: five folds, ``--seeds`` seeds of
the folds and the noise, and 95 % intervals over seeds. DP-EBM (``interpret-core``) and ``diffprivlib`` take part where
they are installed; diffprivlib 0.6.6 needs scikit-learn < 1.7. ``--kept FILE`` adds what was measured to a file and
measures nothing twice: a run that was cut off goes on, and libraries that need other versions join the tables.
The settings were chosen on abalone, on tomorrow's maximum and on made-up records (``bench/results/boosting.md``).
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import math
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score

import bipartite as bp
from bipartite.learn import PrivateBoostingClassifier, PrivateBoostingRegressor
from reproduction.experiments.dnn_data import DOMAINS, prepared
from reproduction.experiments.gbdt_tasks import BINS, TASKS, Records, records_of
from reproduction.learning.boosting import PaperBoostingRegressor
from reproduction.learning.leaves import LEAVES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Predict = Callable[[Array], Array]
    Fit = Callable[["Known", Array, Array, float, int], Predict]
    Cell = tuple[str, str, float, int]

GOAL_SECONDS = 20.0
FOLDS, DELTA = 5, 1e-5
NO_PRIVACY = "no privacy, scikit-learn"
EPSILONS = (0.5, 1, 2, 3, 5, 8)


@dataclass(frozen=True)
class Known:
    """What is public: ranges and bins; ``target_range`` is None where the target is a class, 0 or 1."""

    feature_range: tuple[tuple[float, float], ...]
    bins: tuple[int, ...]
    target_range: tuple[float, float] | None

    @property
    def options(self) -> dict[str, Any]:
        """The same as parameters of our regressors, for which classes are the ends of a range."""
        target_range = (0, 1) if self.target_range is None else self.target_range
        return {
            "feature_range": self.feature_range,
            "bins": self.bins,
            "outside": "clip",
            "target_range": target_range,
        }


def ours(known: Known, x: Array, y: Array, epsilon: float, seed: int) -> Predict:
    """Private boosting."""
    options = known.options | {"epsilon": str(epsilon), "rng": bp.insecure_seed(seed)}
    if known.target_range is not None:
        return PrivateBoostingRegressor(**options).fit(x, y).predict
    del options["target_range"]
    model = PrivateBoostingClassifier(classes=[0, 1], **options).fit(x, y)
    return lambda rows: model.predict_proba(rows)[:, 1]


def papers(known: Known, x: Array, y: Array, epsilon: float, seed: int, *, leaf: str) -> Predict:
    """The paper's leaves on the trees of its scripts; of classes they learn the share of the second."""
    model = PaperBoostingRegressor(leaf=leaf, epsilon=str(epsilon), rng=bp.insecure_seed(seed), **known.options)
    model.fit(x, y)
    return model.predict if known.target_range else lambda rows: np.clip(model.predict(rows), 0, 1)


def noisy_mean(known: Known, x: Array, y: Array, epsilon: float, seed: int) -> Predict:  # noqa: ARG001
    """The mean alone, by the Laplace mechanism on the sum and on the count, half of ε each."""
    low, high = known.target_range or (0, 1)
    noise = np.random.default_rng(seed).laplace(0, 2 / epsilon, 2)
    count = max(1, len(y) + noise[1])
    mean = (low + high) / 2 + (high - low) / 2 * np.clip(
        ((y - low) / (high - low) * 2 - 1).sum() + noise[0], -count, count
    ) / count
    return lambda rows: np.full(len(rows), mean)


def plain(known: Known, x: Array, y: Array, epsilon: float, seed: int) -> Predict:  # noqa: ARG001
    """scikit-learn's boosting without privacy."""
    if known.target_range is None:
        model = HistGradientBoostingClassifier(random_state=0).fit(x, y)
        return lambda rows: model.predict_proba(rows)[:, 1]
    return HistGradientBoostingRegressor(random_state=0).fit(x, y).predict


def dp_ebm(known: Known, x: Array, y: Array, epsilon: float, seed: int) -> Predict:
    """DP-EBM with (ε, δ), Gaussian noise and its own defaults."""
    from interpret.privacy import (
        DPExplainableBoostingClassifier,
        DPExplainableBoostingRegressor,
    )

    low, high = np.array(known.feature_range).T
    common = {
        "epsilon": epsilon,
        "delta": DELTA,
        "privacy_bounds": dict(enumerate(known.feature_range)),
        "feature_types": ["continuous"] * x.shape[1],
        "random_state": seed,
        "n_jobs": 1,
    }
    if known.target_range is None:
        classifier = DPExplainableBoostingClassifier(**common).fit(np.clip(x, low, high), y)
        return lambda rows: classifier.predict_proba(np.clip(rows, low, high))[:, 1]
    ends = dict(zip(("privacy_target_min", "privacy_target_max"), known.target_range, strict=True))
    regressor = DPExplainableBoostingRegressor(**common, **ends).fit(np.clip(x, low, high), y)
    return lambda rows: regressor.predict(np.clip(rows, low, high))


def diffprivlib_simple(known: Known, x: Array, y: Array, epsilon: float, seed: int) -> Predict:
    """diffprivlib: linear regression or naive Bayes of features scaled to [0, 1], pure ε."""
    from diffprivlib import models

    low, high = np.array(known.feature_range).T
    bounds = (np.zeros(x.shape[1]), np.ones(x.shape[1]))

    def scaled(rows: Array) -> Array:
        return (np.clip(rows, low, high) - low) / (high - low)

    if known.target_range is None:
        # Its logistic regression does not run with scipy 1.18.
        bayes = models.GaussianNB(epsilon=epsilon, bounds=bounds, random_state=seed).fit(scaled(x), y)
        return lambda rows: bayes.predict_proba(scaled(rows))[:, 1]
    linear = models.LinearRegression(
        epsilon=epsilon, bounds_X=bounds, bounds_y=known.target_range, random_state=seed
    ).fit(scaled(x), y)
    return lambda rows: linear.predict(scaled(rows))


def diffprivlib_forest(known: Known, x: Array, y: Array, epsilon: float, seed: int) -> Predict:
    """diffprivlib: a random forest of its defaults, for classes only; pure ε."""
    from diffprivlib import models

    low, high = np.array(known.feature_range).T
    forest = models.RandomForestClassifier(
        epsilon=epsilon, bounds=(low, high), classes=[0, 1], random_state=seed, n_jobs=1
    ).fit(np.clip(x, low, high), y)
    return lambda rows: forest.predict_proba(np.clip(rows, low, high))[:, 1]


def learners(*, classes: bool) -> dict[str, Fit]:
    """What is compared, by name."""
    there = {name: importlib.util.find_spec(name) is not None for name in ("interpret", "diffprivlib")}
    found: dict[str, Fit] = {
        "ours": ours,
        "the DP mean": noisy_mean,
        "BRR leaves": functools.partial(papers, leaf="brr"),
        "Laplace leaves": functools.partial(papers, leaf="laplace"),
        "clamped Laplace leaves": functools.partial(papers, leaf="clamped-laplace"),
    }
    if there["interpret"]:
        found[f"DP-EBM, δ = {DELTA:g}"] = dp_ebm
    if there["diffprivlib"]:
        found["diffprivlib, naive Bayes" if classes else "diffprivlib, linear"] = diffprivlib_simple
        if classes:
            found["diffprivlib, forest"] = diffprivlib_forest
    return found


def folds(size: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Which records are held out in each fold: the same for every learner with this seed."""
    order = np.random.default_rng(seed).permutation(size)
    for fold in range(FOLDS):
        held = np.zeros(size, dtype=bool)
        held[order[fold::FOLDS]] = True
        yield held


@functools.lru_cache(maxsize=1)
def data(name: str) -> tuple[Known, Array, Array]:
    """What is public about a target or a data set of classes, its features, and what is to be predicted."""
    if name not in TASKS:
        return as_numbers(name)
    records = records_of(name)
    return known_of(records), records.features, records.targets


def measured(cell: Cell) -> tuple[float, float]:
    """RMSE (clamped to the public range) of all folds; or accuracy and area under the ROC curve."""
    name, learner, epsilon, seed = cell
    known, x, y = data(name)
    fit = plain if learner == NO_PRIVACY else learners(classes=known.target_range is None)[learner]
    predicted = np.empty(len(y))
    for fold, held in enumerate(folds(len(y), seed)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other libraries warn about seeds
            predicted[held] = fit(known, x[~held], y[~held], epsilon, 100 * seed + fold)(x[held])
    if known.target_range is None:
        return float(np.mean(np.rint(predicted) == y)), float(roc_auc_score(y, predicted))
    error = math.sqrt(np.mean((np.clip(predicted, *known.target_range) - y) ** 2))
    return error, error


def with_interval(values: list[float]) -> str:
    """Mean and half the width of a 95 % interval (Student's t)."""
    mean = float(np.mean(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))
    return f"{mean:.4g} ± {half:.2g}"


def as_numbers(dataset: str) -> tuple[Known, Array, Array]:
    """Adult or Bank: numbers as they are, a column of zeros and ones for each category."""
    rows, labels = prepared(dataset)
    columns, ranges, bins = [], [], []
    for at, given in enumerate(DOMAINS[dataset].values()):
        if isinstance(given, tuple):
            columns.append(rows[:, at].astype(np.float64))
            ranges.append(given)
            bins.append(BINS)
        else:
            columns += [(rows[:, at] == word).astype(np.float64) for word in given]
            ranges += [(0.0, 1.0)] * len(given)
            bins += [2] * len(given)
    return Known(tuple(ranges), tuple(bins), None), np.column_stack(columns), labels


def known_of(records: Records) -> Known:
    """What is public about a regression task."""
    return Known(records.feature_range, records.bins, records.target_range)


def measure_all(cells: list[Cell], found: dict[Cell, tuple[float, float]], kept: Path | None, jobs: int) -> None:
    """Measure the cells that were not found yet, and keep each as it comes."""
    missing = [cell for cell in cells if cell not in found]
    with ProcessPoolExecutor(jobs) as pool:
        for cell, value in zip(missing, pool.map(measured, missing), strict=True):
            found[cell] = value
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([cell, value]) + "\n")


def errors(seeds: int, only: list[str], words: list[str], jobs: int, kept: Path | None) -> None:
    """Print one table a target: learners whose names have one of these words, and what was kept of others."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept is not None and kept.exists() else []
    found: dict[Cell, tuple[float, float]] = {tuple(cell): tuple(value) for cell, value in map(json.loads, lines)}
    for name in only:
        classes = name not in TASKS
        _, x, y = data(name)
        asked = [each for each in learners(classes=classes) if any(word in each for word in words)]
        cells = [(name, learner, each, seed) for seed in range(seeds) for learner in asked for each in EPSILONS]
        began = time.perf_counter()
        measure_all([*cells, *[(name, NO_PRIVACY, 0.0, seed) for seed in range(2)]], found, kept, jobs)
        # Of other learners, those that have all figures.
        seen = dict.fromkeys(cell[1] for cell in found if cell[0] == name)
        full = [each for each in seen if all((name, each, e, seed) in found for e in EPSILONS for seed in range(seeds))]
        title = name if classes else TASKS[name].title
        for at, measure in enumerate(("accuracy", "area under the ROC curve") if classes else ("RMSE",)):
            print(f"\n**{title}**, {len(y):,} records, {x.shape[1]} features: {measure}\n")
            print("| | " + " | ".join(f"ε = {each:g}" for each in EPSILONS) + " |")
            print("|---" * (len(EPSILONS) + 1) + "|")
            for learner in [*asked, *[each for each in full if each not in asked]]:
                row = [[found[name, learner, each, seed][at] for seed in range(seeds)] for each in EPSILONS]
                print(f"| {learner} | " + " | ".join(map(with_interval, row)) + " |")
            without = np.mean([found[name, NO_PRIVACY, 0.0, seed][at] for seed in range(2)])
            print(f"| {NO_PRIVACY} | {without:.4g}" + " |" * len(EPSILONS))
        if classes:
            print(f"\nThe majority class alone: accuracy {max(np.mean(y), 1 - np.mean(y)):.4g}.")
        print(f"\n({time.perf_counter() - began:.0f} s)", flush=True)


def seconds_of(job: Callable[[], object]) -> float:
    """The time of one call."""
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def times() -> None:
    """Print one line for each kind of leaf."""
    records = records_of("superconduct")
    x, y = records.features, records.targets
    known = known_of(records).options
    models = {"ours": PrivateBoostingRegressor(**known)}
    models |= {leaf: PaperBoostingRegressor(leaf=leaf, depth=6, **known) for leaf in LEAVES}
    models["brr"].fit(x[:100], y[:100])
    theirs = HistGradientBoostingRegressor(max_iter=50, max_depth=6, max_leaf_nodes=None, early_stopping=False)
    theirs.fit(x[:100], y[:100])
    yardstick = seconds_of(lambda: theirs.fit(x, y))
    print(f"{len(y):,} records of {x.shape[1]} features; 50 trees of depth 6, for ours at ε = 1 6 of depth 2")
    print(f"{'scikit-learn, no privacy':26}{yardstick:7.2f} s")
    for leaf, model in models.items():
        taken = seconds_of(lambda model=model: model.fit(x, y))
        word = "within" if taken <= GOAL_SECONDS else "MISSES"
        print(
            f"{leaf:26}{taken:7.2f} s{taken / yardstick:8.2f} times scikit-learn, {word} the goal of {GOAL_SECONDS:g} s"
        )


def main() -> None:
    """Times, or the errors of named targets."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("what", nargs="?", choices=("times", "errors"), default="times")
    asked.add_argument("--seeds", type=int, default=5)
    asked.add_argument("--learners", nargs="+", help="only those whose names have one of these words", default=[""])
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--only", nargs="+", default=[*TASKS, "adult", "bank"])
    asked.add_argument("--kept", type=Path, help="a file of figures: read first, and added to")
    options = asked.parse_args()
    if options.what == "times":
        times()
    else:
        errors(options.seeds, options.only, options.learners, options.jobs, options.kept)


if __name__ == "__main__":
    main()

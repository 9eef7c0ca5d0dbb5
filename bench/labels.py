"""What private labels cost: error beside private columns and beside no privacy, at ε = 0.5 to 4.

``python bench/labels.py`` prints the tables of ``bench/results/labels.md``. Every line trains the same scikit-learn
boosting on four fifths of the records and predicts the rest, with ``--seeds`` seeds of the split and the reports; 95 %
intervals over seeds (Student's t). Private columns report the features of a row with ε in all; their labels, and the
rows that are predicted, are public.

``--histograms`` compares windows of the reports that a learned prior is made of: the m of padded BRR, by the RMSE that
it leads to, also for ages from the other columns of adult and bank.
"""

from __future__ import annotations

import argparse
import itertools
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score

import bipartite as bp
from bipartite.learn import PrivateColumns, PrivateLabels
from bipartite.learn.label_reports import Numbers
from boosting import with_interval
from reproduction.experiments.dnn_data import DOMAINS, prepared
from reproduction.experiments.gbdt_tasks import TASKS, records_of
from reproduction.learning.network_training import network_inputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0)
# Columns that are known to matter, by position.
THREE = {
    "abalone": (0, 4, 6),
    "bias-tmax": (1, 3, 5),
    "bias-slope": (17, 18, 19),
    "superconduct": (21, 53, 58),
    "adult": (0, 4, 5),
    "bank": (7, 14, 18),
}
HISTOGRAMS = ("safe", "cdf", "histogram")
OF_AGES = {"adult-age": "adult", "bank-age": "bank"}
TREES = {"max_iter": 60, "max_leaf_nodes": 8, "min_samples_leaf": 100, "early_stopping": False, "random_state": 0}


@dataclass(frozen=True, eq=False)
class Problem:
    """A table, the public range or categories of each column, and labels of a public range or list."""

    rows: Array
    domains: list[Any]
    targets: Array
    labels: Any

    @property
    def classes(self) -> bool:
        """Whether labels are classes."""
        return isinstance(self.labels, list)

    def only(self, columns: tuple[int, ...]) -> Problem:
        """The same with a few columns."""
        return Problem(self.rows[:, columns], [self.domains[at] for at in columns], self.targets, self.labels)

    def columns(self, epsilon: float, rng: Any) -> PrivateColumns:  # noqa: ANN401
        """Private columns with ε for a row."""
        return PrivateColumns(self.domains, str(epsilon), points=33, outside="clip", at_predict="pass", rng=rng).fit(
            self.rows[:1]
        )

    def inputs(self, rows: Array) -> Array:
        """Rows as numbers from 0 to 1, categories as one column each."""
        made = self.columns(1, None).mechanisms_
        return network_inputs(rows, {name: each.domain for name, each in made.items()})


def problem(name: str) -> Problem:
    """One of the paper's tables."""
    if name in TASKS:
        records = records_of(name)
        low, high = np.array(records.feature_range).T
        return Problem(
            np.clip(records.features, low, high),
            list(records.feature_range),
            np.clip(records.targets, *records.target_range),
            records.target_range,
        )
    rows, labels = prepared(OF_AGES.get(name, name))
    if name in OF_AGES:
        (_, ages), *domains = DOMAINS[OF_AGES[name]].items()
        return Problem(rows[:, 1:], [each for _, each in domains], np.clip(rows[:, 0].astype(float), *ages), ages)
    return Problem(rows, list(DOMAINS[name].values()), labels, [0, 1])


def measured(name: str, seed: int) -> dict[tuple[str, float], tuple[float, ...]]:
    """RMSE of every way to learn at every ε; for classes accuracy and area under the ROC curve."""
    whole = problem(name)
    few = whole.only(THREE[name])
    order = np.random.default_rng(seed).permutation(len(whole.targets))
    held, train = order[: len(order) // 5], order[len(order) // 5 :]
    kind = HistGradientBoostingClassifier if whole.classes else HistGradientBoostingRegressor

    def judged(fitted: Any, inputs: Array) -> tuple[float, ...]:  # noqa: ANN401
        truth = whole.targets[held]
        if whole.classes:
            chances = fitted.predict_proba(inputs)[:, 1]
            return float(np.mean(np.rint(chances) == truth)), float(roc_auc_score(truth, chances))
        return (math.sqrt(np.mean((np.clip(fitted.predict(inputs), *whole.labels) - truth) ** 2)),)

    def of_labels(epsilon: float, **options: Any) -> tuple[float, ...]:  # noqa: ANN401
        model = PrivateLabels(kind(**TREES), whole.labels, str(epsilon), rng=rng, **options)
        return judged(model.fit(inputs[train], whole.targets[train]), inputs[held])

    def of_columns(which: Problem, epsilon: float) -> tuple[float, ...]:
        reports = which.inputs(which.columns(epsilon, rng).fit_transform(which.rows[train]))
        return judged(kind(**TREES).fit(reports, whole.targets[train]), which.inputs(which.rows[held]))

    def of_values(which: Problem) -> tuple[float, ...]:
        every = which.inputs(which.rows)
        return judged(kind(**TREES).fit(every[train], whole.targets[train]), every[held])

    inputs = whole.inputs(whole.rows)
    middle = whole.targets[train].mean()
    always = (
        (max(middle, 1 - middle), 0.5) if whole.classes else (math.sqrt(np.mean((middle - whole.targets[held]) ** 2)),)
    )
    levels = {
        "the mean or majority": always,
        "no privacy": of_values(whole),
        "three columns, no privacy": of_values(few),
    }
    found: dict[tuple[str, float], tuple[float, ...]] = {}
    for epsilon in EPSILONS:
        rng = bp.insecure_seed(1000 * seed + int(10 * epsilon))
        found["private labels", epsilon] = of_labels(epsilon)
        if not whole.classes:
            found["private labels, uniform prior", epsilon] = of_labels(epsilon, prior="uniform")
        found["all columns private", epsilon] = of_columns(whole, epsilon)
        found["three columns private", epsilon] = of_columns(few, epsilon)
        found |= {(name, epsilon): level for name, level in levels.items()}
    return found


def of_histograms(name: str, seed: int) -> dict[tuple[str, float], float]:
    """RMSE by the m with which a fifth of the people report for the prior, and by ε."""
    whole = problem(name)
    order = np.random.default_rng(seed).permutation(len(whole.targets))
    held, train = order[: len(order) // 5], order[len(order) // 5 :]
    inputs = whole.inputs(whole.rows)
    found = {}
    for m, epsilon in itertools.product(HISTOGRAMS, EPSILONS):
        rng = bp.insecure_seed(1000 * seed + int(10 * epsilon))
        model = PrivateLabels(HistGradientBoostingRegressor(**TREES), whole.labels, str(epsilon), rng=rng)
        made = mock.patch.object(
            Numbers, "for_histogram", lambda kind, budget, m=m: bp.BRR(kind.domain, budget, m=m, edges="padded")
        )
        with made:
            model.fit(inputs[train], whole.targets[train])
        found[m, epsilon] = math.sqrt(np.mean((model.predict(inputs[held]) - whole.targets[held]) ** 2))
    return found


def print_histograms(names: list[str], seeds: int, jobs: int) -> None:
    """Print how much more error other windows lead to, in percent."""
    print("| | m | " + " | ".join(f"ε = {each:g}" for each in EPSILONS) + " |")
    print("|---" * (len(EPSILONS) + 2) + "|")
    for name in names:
        with ProcessPoolExecutor(jobs) as pool:
            runs = list(pool.map(of_histograms, [name] * seeds, range(seeds)))
        for m in HISTOGRAMS[1:]:
            cells = [
                with_interval([100 * math.log(run[m, epsilon] / run["safe", epsilon]) for run in runs])
                for epsilon in EPSILONS
            ]
            print(f"| {name} | {m} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print one table for each set and measure."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seeds", type=int, default=5)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--only", nargs="+", default=list(THREE))
    asked.add_argument("--histograms", action="store_true")
    options = asked.parse_args()
    if options.histograms:
        print_histograms([*TASKS, *OF_AGES], options.seeds, options.jobs)
        return
    for name in options.only:
        with ProcessPoolExecutor(options.jobs) as pool:
            runs = list(pool.map(measured, [name] * options.seeds, range(options.seeds)))
        for at, measure in enumerate(("accuracy", "area under the ROC curve") if name not in TASKS else ("RMSE",)):
            print(f"\n**{TASKS[name].title if name in TASKS else name}**: {measure}\n")
            print("| | " + " | ".join(f"ε = {each:g}" for each in EPSILONS) + " |")
            print("|---" * (len(EPSILONS) + 1) + "|")
            for learner in dict.fromkeys(key for key, _ in runs[0]):
                cells = [with_interval([run[learner, epsilon][at] for run in runs]) for epsilon in EPSILONS]
                print(f"| {learner} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

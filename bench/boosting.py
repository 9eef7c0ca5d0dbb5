"""How long private boosting takes on 21,263 records of 81 features, beside scikit-learn's boosting of the same records.

``python bench/boosting.py`` fits 50 trees of depth 6 with 32 bins, validation and secure words included, once for each
leaf mechanism after a warm-up that loads the compiled kernels. The yardstick is scikit-learn's
``HistGradientBoostingRegressor`` with as many trees of the same depth, without privacy; it sees every record in every
tree, where a private tree sees each record once in all. The goal is 20 seconds on two cores.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sklearn.ensemble import HistGradientBoostingRegressor

from bipartite.learn import PrivateBoostingRegressor
from bipartite.learn.boosting.leaves import LEAVES
from reproduction.experiments.gbdt_tasks import records_of

if TYPE_CHECKING:
    from collections.abc import Callable

GOAL_SECONDS = 20.0
TREES, DEPTH = 50, 6


def seconds_of(job: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def main() -> None:
    """Print one line a mechanism."""
    records = records_of("superconduct")
    x, y = records.features, records.targets
    models = {
        leaf: PrivateBoostingRegressor(
            leaf=leaf,
            feature_range=records.feature_range,
            target_range=records.target_range,
            trees=TREES,
            depth=DEPTH,
            outside="clip",
        )
        for leaf in LEAVES
    }
    models["brr"].fit(x[:100], y[:100])
    theirs = HistGradientBoostingRegressor(max_iter=TREES, max_depth=DEPTH, max_leaf_nodes=None, early_stopping=False)
    theirs.fit(x[:100], y[:100])
    yardstick = seconds_of(lambda: theirs.fit(x, y))
    print(f"{len(y):,} records of {x.shape[1]} features, {TREES} trees of depth {DEPTH}")
    print(f"{'scikit-learn, no privacy':26}{yardstick:7.2f} s")
    for leaf, model in models.items():
        taken = seconds_of(lambda model=model: model.fit(x, y))
        word = "within" if taken <= GOAL_SECONDS else "MISSES"
        print(
            f"{leaf:26}{taken:7.2f} s{taken / yardstick:8.2f} times scikit-learn, {word} the goal of {GOAL_SECONDS:g} s"
        )


if __name__ == "__main__":
    main()

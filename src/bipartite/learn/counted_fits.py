"""Fits are counted: a guarantee is about one of them, and cross-validation and searches make many."""

from __future__ import annotations

import warnings
from typing import Self

from bipartite.learn.scikit import BaseEstimator


class CountedFits(BaseEstimator):
    """Counts the fits of an estimator and of its clones, and warns; each process counts for itself."""

    def __sklearn_clone__(self) -> Self:
        made = super().__sklearn_clone__()
        vars(made)["_fits"] = self._shared_count()
        return made

    def _shared_count(self) -> list[int]:
        found: list[int] = vars(self).setdefault("_fits", [0])
        return found

    def _count_fit(self) -> None:
        """To be called by each fit that has spent its ε; warns at the second, the fourth, the eighth and so on."""
        shared = self._shared_count()
        shared[0] += 1
        count = shared[0]
        if count > 1 and not count & (count - 1):
            warnings.warn(
                f"This was fit {count} of this estimator and its clones, as cross_val_score and searches make them: "
                f"each spends its own ε, and whoever was in all {count} has spent {count} times what guarantee_ says. "
                "Scores on private records, and a choice by them, have no ε at all. Choose settings on public data.",
                UserWarning,
                stacklevel=3,
            )

"""What estimators inherit: scikit-learn's classes with types, which it does not have, and a count of fits."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self, TypeVar

from bipartite.learn.fitting import check_unmasked, without_values

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from sklearn.utils import Tags

    Method = TypeVar("Method", bound=Callable[..., Any])

    class BaseEstimator:
        """Parameters by name, as scikit-learn's tools read and set them."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 (scikit-learn's)
            """Every parameter by its name."""

        def set_params(self, **params: object) -> Self:
            """Other parameters."""

        def __sklearn_tags__(self) -> Tags: ...

        def __sklearn_clone__(self) -> Self: ...

    class RegressorMixin:
        """What regressors have."""

        def score(self, X: object, y: object, sample_weight: object = None) -> float:  # noqa: N803
            """R² of the predictions."""

    class ClassifierMixin:
        """What classifiers have."""

        def score(self, X: object, y: object, sample_weight: object = None) -> float:  # noqa: N803
            """The share of right predictions."""

    class TransformerMixin:
        """What transformers have."""

        def fit_transform(self, X: object, y: object = None) -> object:  # noqa: N803
            """Both, one after the other."""

    def validate_data(estimator: object, X: object, **options: object) -> Any:  # noqa: ANN401, N803
        """X, or X and y, as arrays; how many features there are and their names are kept at fit, compared later."""

    def config_context(*, assume_finite: bool) -> AbstractContextManager[None]:
        """Settings of scikit-learn for a while."""

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
        """A method that an object has only where ``check`` of it is true."""

else:
    from sklearn import config_context
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import validate_data

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "CountedFits",
    "RegressorMixin",
    "TransformerMixin",
    "available_if",
    "config_context",
    "validated",
]


def validated(estimator: object, X: object, y: object = "no_validation", **options: object) -> Any:  # noqa: ANN401, N803
    """``validate_data``, which takes no mask for values, shows none in a refusal, and always looks for infinities."""
    check_unmasked(X=X, y=y)
    with config_context(assume_finite=False):
        return without_values(lambda: validate_data(estimator, X, y=y, **options))


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

"""scikit-learn's base classes with types, which scikit-learn does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

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

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
        """A method that an object has only where ``check`` of it is true."""

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
    from sklearn.utils.metaestimators import available_if

__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin", "TransformerMixin", "available_if"]

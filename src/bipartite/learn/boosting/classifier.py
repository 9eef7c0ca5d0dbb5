"""Classification by private boosting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bipartite.errors import InputError, NotAValueError, NullError, shown
from bipartite.learn.boosting.estimator import PrivateBoosting
from bipartite.learn.boosting.leaves import UNIT
from bipartite.learn.boosting.promise import promise
from bipartite.learn.fitting import check_numbers, positions, without_values
from bipartite.learn.scikit import ClassifierMixin, validated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from bipartite.learn.boosting.settings import Settings
    from bipartite.learn.guarantee import Guarantee

FROM_DATA: Final = "from-data"
_TWO: Final = 2
_SEEN: Final = (
    "which classes exist: they were read from the records (classes='from-data'); state them to cover this too"
)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateBoostingClassifier(ClassifierMixin, PrivateBoosting):
    r"""Gradient-boosted trees that classify and reveal little about any one training record.

    The labels of two classes are −1 and 1, learned with the squared loss; (score + 1)/2, clipped to [0, 1], estimates
    the probability of the second class. With K > 2 classes, K models learn one class against the rest, each with ε/K.

    Parameters
    ----------
    classes
        The public list of all classes. Required, because a list read from the data reveals whether a rare class
        occurs in it; ``"from-data"`` reads it anyway, and ``guarantee_`` says so.
    epsilon, feature_range, trees, depth, learning_rate, gradient_clip, bins, outside, rng, progress
        As in :class:`PrivateBoostingRegressor`.

    Attributes
    ----------
    classes_
        The classes, in order.
    guarantee_
        What the fitted model promises, and what it does not.
    trees_, grid_
        All that was learned, for each model: the mean, as a tree without cuts, and trees of whole numbers.

    Guarantee
    ---------
    ε-differential privacy (central) for data sets that differ by one record added or removed, 2ε for one replaced.

    Examples
    --------
    >>> import numpy as np
    >>> from bipartite import insecure_seed
    >>> X = np.arange(2000).reshape(-1, 1) % 100
    >>> model = PrivateBoostingClassifier(
    ...     epsilon=2, classes=["low", "high"], feature_range=(0, 100), rng=insecure_seed(1)
    ... )
    >>> model.fit(X, np.where(X[:, 0] < 50, "low", "high")).predict([[10], [90]]).tolist()
    ['low', 'high']
    """

    classes: Sequence[Any] | str | None = None

    def decision_function(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """The score of the second of two classes, or of each of several: 1 for, −1 against."""
        scores = [each / UNIT for each in self._scores(X)]
        decided: NDArray[np.float64] = scores[0] if len(scores) == 1 else np.column_stack(scores)
        return decided

    def predict_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """The estimated probability of every class."""
        probabilities = np.clip((self.decision_function(X) + 1) / 2, 0, 1)
        if probabilities.ndim == 1:
            return np.column_stack([1 - probabilities, probabilities])
        # Where no class has a positive score, all are equally likely.
        probabilities[probabilities.sum(axis=1) == 0] = 1
        shares: NDArray[np.float64] = probabilities / probabilities.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803
        """The class of every record: the one with the larger score."""
        scores = self.decision_function(X)
        at = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        chosen: NDArray[Any] = self.classes_[at]
        return chosen

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # The noise of any useful ε hides what the hundred records of a check could teach.
        tags.classifier_tags.poor_score = True
        return tags

    def _read(self, X: object, y: object) -> tuple[NDArray[np.float64], Any]:  # noqa: N803
        check_numbers(X)
        values, given = validated(self, X, y, dtype=np.float64)
        labels = without_values(lambda: column_or_1d(given))
        if labels.dtype == object and any(each is None or each is np.ma.masked for each in labels.tolist()):
            # scikit-learn refuses NaN and NA, but not these.
            raise NullError("Input y contains None; leave out the records without a label.")
        if isinstance(self.classes, str):
            # It may warn about the labels; stated classes make it unnecessary.
            check_classification_targets(labels)
        return values, labels

    def _learn(self, values: NDArray[np.float64], labels: NDArray[Any], settings: Settings) -> Guarantee:
        classes = self._classes(labels)
        at = positions(labels, classes)
        if (at < 0).any():
            raise NotAValueError(
                "Expected every label to be one of classes; state all classes, or leave out the other records."
            )
        positives = [1] if len(classes) == _TWO else range(len(classes))
        self._boost(values, [np.where(at == each, UNIT, -UNIT) for each in positives], settings)
        self.classes_ = classes
        return promise(settings, *([_SEEN] if isinstance(self.classes, str) else []))

    def _classes(self, labels: NDArray[Any]) -> NDArray[Any]:
        if isinstance(self.classes, str) and self.classes == FROM_DATA:
            classes = np.unique(labels)
        elif self.classes is None or isinstance(self.classes, str):
            raise InputError(
                f"Expected classes as the public list of all classes, got {shown(self.classes)}; pass "
                f"classes=[0, 1], or classes='{FROM_DATA}', which reveals which classes the records have."
            )
        else:
            classes = self._stated()
        if len(classes) < _TWO:
            number = "1 class" if len(classes) else "none"
            raise InputError(f"Expected at least two classes, got {number}; state all there are: classes=[0, 1].")
        return classes

    def _stated(self) -> NDArray[Any]:
        try:
            classes = np.unique(np.asarray(self.classes))
            missing = bool((classes != classes).any())  # noqa: PLR0124 (NaN alone is not itself)
        except TypeError:
            missing = True
        if missing:
            raise InputError(
                "Expected classes that can be sorted, without missing values; leave out None, NaN and their records."
            )
        return classes

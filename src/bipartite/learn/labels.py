"""Labels made private while features are public: randomized response around any scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np

from bipartite.answers.estimation import estimate
from bipartite.errors import InputError, Problems, is_one_of, missing_library, shown
from bipartite.learn.fitting import as_it_was, check_present, positions, without_values
from bipartite.learn.guarantee import Guarantee, from_known_words
from bipartite.learn.label_reports import Classes, Numbers, kind_of
from bipartite.lottery import Epsilon, is_secure, source_of
from bipartite.lottery.budgets import float_at_least
from bipartite.lottery.integer_noise import flip_coins
from bipartite.mechanisms.design.m import check_prior

try:
    from sklearn.base import clone, is_classifier
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.utils import _safe_indexing, get_tags, indexable
    from sklearn.utils.validation import check_is_fitted, column_or_1d

    from bipartite.learn.scikit import CountedFits, available_if, validated
except ImportError:
    raise missing_library(what="PrivateLabels needs", library="scikit-learn", extra="boosting") from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from bipartite.domains import LineDomain, Outside
    from bipartite.lottery import Source

    Array = NDArray[Any]

_PRIOR_SHARE: Final = 0.2
_NOT_COVERED: Final = (
    "the features, which are public, and who takes part",
    "whoever calls fit: it is given the labels and draws the reports; in a collection each person draws their own",
    "what the features say about a label by themselves: a model predicts the labels of people who never reported one",
    "a second fit to the same people's labels, which spends its own ε, and so every fit in a cross-validation",
    "whatever else sees true labels: scores, calibration, and earlier steps of a pipeline; put these into estimator=",
    "a refusal, which reveals that some label is missing, outside its range or not listed",
)


def _has_probabilities(self: PrivateLabels) -> bool:
    return hasattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, "predict_proba")


@dataclass(eq=False, repr=False)
class PrivateLabels(CountedFits):
    r"""Fits an estimator to public features and one private report of each label.

    Each label is reported once, by a mechanism that spends ε, and only the reports reach the estimator. Missing labels
    are refused; missing features where the estimator refuses them.

    - **Numbers** (``labels=(low, high)``): randomized response on bins, :class:`~bipartite.AnchoredMeans`. Before
      training, the reports are replaced by the numbers whose mean, given the label's bin, is the mean of that bin, so
      that the estimator learns the label and not its shrunken report.
    - **Classes** (``labels=[…]``): randomized response on all classes, or with a ``prior`` on the k likeliest
      (RRWithPrior). ``predict_proba`` inverts the randomization.

    Parameters
    ----------
    estimator
        A regressor for numbers, a classifier for classes.
    labels
        What is public about the labels: a pair ``(low, high)``, on ``points`` nodes; a domain such as
        ``bp.Integers(0, 30)``; or a list of classes.
    epsilon
        ε of each label.
    prior
        Public weights of the nodes or classes; ``"uniform"``; or ``"learned"``: a fifth of the people, drawn by coins,
        report for the histogram that the mechanism of all others is designed with, and are not trained on. Each person
        reports once, so that everybody spends ε and no more. None: learned for numbers, uniform for classes.
    points
        The number of nodes of a range.
    outside
        "error" refuses numbers outside the range, "clip" moves them to the nearest end.
    rng
        None for the secure source; ``bp.insecure_seed(…)`` for experiments that must be repeated.

    Attributes
    ----------
    n_features_in\_, feature_names_in\_
        What ``predict`` expects of its rows.
    estimator\_, mechanism\_
        The fitted estimator, and the mechanism of the reports it was fitted to.
    classes\_
        All classes, where labels are classes.
    guarantee\_ : Guarantee
        ε-label differential privacy, in the local model: for two labels of one person, features being equal.

    Reference
    ---------
    Ghazi, Kamath, Kumar, Leeman, Manurangsi, Varadarajan, Zhang: *Regression with Label Differential Privacy* (ICLR
    2023); Ghazi, Golowich, Kumar, Manurangsi, Zhang: *Deep Learning with Label Differential Privacy* (NeurIPS 2021).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from bipartite import insecure_seed
    >>> x = np.linspace(0, 1, 5000)[:, None]
    >>> model = PrivateLabels(LinearRegression(), labels=(0, 100), epsilon=2, rng=insecure_seed(1))
    >>> model.fit(x, 20 + 60 * x[:, 0]).predict([[0.5]]).round(-1)
    array([50.])
    """

    estimator: Any = None
    labels: tuple[float, float] | LineDomain | list[Any] | None = None
    epsilon: object = 1.0
    _: KW_ONLY
    prior: Sequence[float] | Array | Literal["uniform", "learned"] | None = None
    points: int = 101
    outside: Outside = "error"
    rng: Source | None = None

    def fit(self, X: object, y: object) -> Self:  # noqa: N803 (scikit-learn's)
        """Draw one report of every label, and fit the estimator to them."""
        with as_it_was(self):
            self._learn(X, y)
        if self.guarantee_.is_private:
            self._count_fit()
        return self

    def _learn(self, X: object, y: object) -> None:  # noqa: N803
        kind, budget, source = self._checked()
        validated(self, X, y, skip_check_array=True)
        X, given = indexable(X, without_values(lambda: np.asarray(column_or_1d(y, warn=True))))  # noqa: N806
        check_present(given)
        values = kind.values(given)
        size = len(kind.domain)
        prior = self.prior
        if prior is None:
            prior = "learned" if isinstance(kind, Numbers) else "uniform"
        rows = np.arange(len(values))
        if isinstance(prior, str) and prior == "learned":
            first = flip_coins(len(values), _PRIOR_SHARE, source)
            if first.all() or not first.any():
                raise InputError(
                    "Expected people to train on and a fifth to report for the prior, got "
                    f"n_samples = {len(values)}; pass a public prior."
                )
            asked = kind.for_histogram(budget)
            told = asked.privatize(values[first], rng=source, outside=self.outside)
            shares = np.clip(estimate(asked, told).shares, 0, None)
            prior, rows = shares / shares.sum(), np.flatnonzero(~first)
        weights = np.full(size, 1 / size) if isinstance(prior, str) else check_prior(prior, size)
        mechanism, to_train_on = kind.designed(budget, weights)
        reports = to_train_on(np.asarray(mechanism.privatize(values[rows], rng=source, outside=self.outside)))
        self.estimator_ = without_values(lambda: clone(self.estimator).fit(_safe_indexing(X, rows), reports))
        self.mechanism_ = mechanism
        vars(self).pop("classes_", None)  # of an earlier fit
        if isinstance(kind, Classes):
            self.classes_ = kind.names
        promised = Guarantee("label", float("inf"), float_at_least(budget.value), not_covered=_NOT_COVERED)
        self.guarantee_ = promised if is_secure(source) else from_known_words(promised)

    def predict(self, X: object) -> Array:  # noqa: N803
        """What the estimator predicts; numbers within the public range."""
        found: Array = self._asked(X, "predict")
        line = self.mechanism_.domain
        if hasattr(self, "classes_") or not line.has_ends:
            return found
        return np.clip(found, line.low, line.high)

    @available_if(_has_probabilities)
    def predict_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """The probabilities of all classes, with the randomization of the reports inverted."""
        theirs = self._asked(X, "predict_proba")
        reported = np.zeros((len(theirs), len(self.classes_)))
        reported[:, positions(self.estimator_.classes_, self.classes_)] = theirs
        return Classes(self.classes_).probabilities(self.mechanism_, reported)

    def _asked(self, X: object, method: str) -> Array:  # noqa: N803
        """What the estimator answers about these rows."""
        check_is_fitted(self)
        found: Array = without_values(lambda: getattr(self.estimator_, method)(X))
        validated(self, X, reset=False, skip_check_array=True)  # after the estimator, which says what to reshape
        return found

    def score(self, X: object, y: object) -> float:  # noqa: N803
        """Accuracy of classes or R² of numbers, on true labels: this number is not private."""
        judge = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(judge(y, self.predict(X)))

    def _checked(self) -> tuple[Numbers | Classes, Epsilon, Source]:
        if not hasattr(self.estimator, "fit"):
            raise InputError(
                f"Expected an estimator with fit, got {type(self.estimator).__name__}; pass one such as Ridge()."
            )
        problems = Problems()
        if not is_one_of(self.outside, ("error", "clip")):
            problems.add(f"Expected outside='error' or 'clip', got {shown(self.outside)}.")
        if isinstance(self.prior, str) and self.prior not in {"uniform", "learned"}:
            problems.add(f"Expected prior as public weights, 'uniform', 'learned' or None, got {shown(self.prior)}.")
        problems.raise_if_any(InputError)
        kind = kind_of(self.labels, self.points, self.outside)
        wanted = "classifier" if isinstance(kind, Classes) else "regressor"
        if is_classifier(self.estimator) != isinstance(kind, Classes):
            raise InputError(f"Expected a {wanted} for these labels; numbers have a range (low, high), classes a list.")
        return kind, Epsilon.of(self.epsilon), source_of(self.rng)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            theirs = get_tags(self.estimator)
            tags.estimator_type, tags.input_tags = theirs.estimator_type, theirs.input_tags
            tags.classifier_tags, tags.regressor_tags = theirs.classifier_tags, theirs.regressor_tags
        tags.target_tags.required = True
        tags.non_deterministic = True
        # The noise of any useful ε hides what the hundred records of a check could teach.
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score, tags.classifier_tags.multi_label = True, False
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = True
        return tags

"""A neural network trained on private reports (the paper's DNN-DP, appendix B.3), in scikit-learn's words."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from bipartite.domains import Integers
from bipartite.errors import DataError, EpsilonError, InputError, Problems, is_one_of, shown
from bipartite.learn import PrivateColumns
from bipartite.learn.fitting import as_it_was, check_unmasked, positions
from bipartite.learn.gradients.checks import positive, whole
from bipartite.learn.scikit import ClassifierMixin, CountedFits
from bipartite.lottery import Epsilon, Source, source_of
from bipartite.lottery.budgets import exact_sum, float_at_least
from bipartite.lottery.checks import is_whole
from bipartite.lottery.words import draw_from
from bipartite.mechanisms import GRR
from reproduction.learning import network_training as training

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from bipartite.learn import Guarantee

_TWO: Final = 2
_LABELS: Final = (
    "Expected labels='public', which says that everybody may know them, or the ε that randomised response spends on "
    "each label, such as labels=0.5"
)


@dataclass(eq=False, repr=False)
class PrivateNetwork(ClassifierMixin, CountedFits):
    r"""A classifier with dense layers that sees reports instead of people's values.

    ``fit`` draws one report of every row by ``columns`` and, unless labels are public, one of every label by randomised
    response; the network is trained on the reports, which spends nothing more.

    Parameters
    ----------
    columns
        A :class:`~bipartite.learn.PrivateColumns`: public ranges, mechanisms and ε of the inputs. Its ``at_predict``
        says what ``predict`` reads: "pass" the rows themselves, on the device of whoever owns them or for public test
        rows; "privatize" reports of them.
    labels
        "public", in words: then nothing protects them. Or the ε of randomised response for each label: training
        maximises the likelihood of the reports, so that the network's probabilities are those of the true label.
    classes
        All classes, public. Needed where labels are private; else those of ``y``.
    hidden, epochs, batch_size, learning_rate
        The network and its training by Adam; the defaults are the paper's.
    device
        None: a GPU when there is one; "cpu" or "cuda". Both see the same weights and batches, and round differently.
    progress
        Called with 1 after each epoch.
    rng
        None for the secure source, ``bp.insecure_seed(…)`` for experiments that must be repeated: for the reports of
        rows (unless None, in place of that of ``columns``), then of labels, then one word that seeds the weights and
        the order of rows.

    Attributes
    ----------
    classes\_, columns\_, layers\_
        The classes, the fitted columns, and the weights and biases as NumPy arrays.
    epsilon_label\_ : Decimal or None
        What was spent on each label; None where they are public.
    label_mechanism\_ : GRR or None
        Randomised response on the positions of ``classes_``.
    guarantee\_ : Guarantee
        ε-LDP of each person, inputs and label together.

    Reference
    ---------
    Wang et al.: *DNN-DP: Differential Privacy Enabled Deep Neural Network Learning Framework for Sensitive
    Crowdsourcing Data* (2020). Patrini et al.: *Making Deep Neural Networks Robust to Label Noise: A Loss Correction
    Approach* (CVPR 2017).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> rows, labels = load_breast_cancer(return_X_y=True)
    >>> columns = PrivateColumns([(6, 30), (9, 40)], epsilon=8, outside="clip", at_predict="pass")
    >>> model = PrivateNetwork(columns, labels=2, classes=[0, 1], epochs=3)
    >>> model.fit(rows[:, :2], labels).guarantee_.replace
    10.0
    """

    columns: PrivateColumns | None = None
    _: KW_ONLY
    labels: object = None
    classes: Sequence[Any] | NDArray[Any] | None = None
    hidden: tuple[int, ...] = (100, 200)
    epochs: int = 10
    batch_size: int = 100
    learning_rate: float = 1e-3
    device: Literal["cpu", "cuda"] | None = None
    progress: Callable[[int], None] | None = None
    rng: Source | None = None

    def fit(self, X: object, y: object) -> Self:  # noqa: N803 (scikit-learn's names)
        """Draw a report of every row, and of every label unless they are public; train on them."""
        with as_it_was(self):
            self._learn(X, y)
        if self.guarantee_.is_private:
            self._count_fit()
        return self

    def _learn(self, X: object, y: object) -> None:  # noqa: N803
        budget = self._checked()
        training.device_for(self.device)  # before anything is drawn
        source = source_of(self.rng)
        labels, self.classes_ = self._labels(X, y)
        self.columns_: PrivateColumns = clone(self.columns)
        vars(self.columns_).pop("_fits", None)  # fits of the network are counted, not those of its parameter
        if self.rng is not None:
            self.columns_.set_params(rng=self.rng)
        reports = self.columns_.fit_transform(X)
        validate_data(self, X, skip_check_array=True)
        self.label_mechanism_ = responses = None
        if budget is not None:
            self.label_mechanism_ = mechanism = GRR(Integers(0, len(self.classes_) - 1), budget.value)
            labels = mechanism.privatize(labels, rng=source)
            responses = mechanism.matrix()
        for layers in training.train_network(
            self._inputs(reports),
            labels,
            len(self.classes_),
            training.TrainingPlan(tuple(self.hidden), self.epochs, self.batch_size, self.learning_rate, self.device),
            seed=draw_from(source, 1, lambda stream: stream.word()),
            responses=responses,
        ):
            self.layers_ = layers
            if self.progress is not None:
                self.progress(1)
        if not all(np.isfinite(part).all() for layer in self.layers_ for part in layer):
            raise InputError(
                "Training diverged, so that weights are no longer numbers; use a smaller learning_rate, or a "
                "mechanism whose reports stay in their range. The reports that were drawn have spent their ε."
            )
        self.epsilon_label_ = None if budget is None else budget.value
        self.guarantee_ = self._promise()

    def predict_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """The probabilities of all classes for each row, read as ``at_predict`` of ``columns`` says."""
        check_is_fitted(self)
        # The columns check names and numbers of columns.
        return training.class_chances(self.layers_, self._inputs(self.columns_.transform(X)))

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803
        """The likeliest class of each row."""
        probabilities = self.predict_proba(X)
        likeliest: NDArray[Any] = self.classes_[np.argmax(probabilities, axis=1)]
        return likeliest

    def _inputs(self, reports: object) -> NDArray[np.float32]:
        return training.network_inputs(reports, {name: each.domain for name, each in self.columns_.mechanisms_.items()})

    def _promise(self) -> Guarantee:
        promise = self.columns_.guarantee_
        spent = self.columns_.plan_.epsilon_decimal
        if self.epsilon_label_ is None:
            return replace(promise, not_covered=(*promise.not_covered, "labels, which were declared public"))
        if not promise.is_private:
            return promise
        return replace(promise, replace=float_at_least(exact_sum([spent, self.epsilon_label_])))

    def _labels(self, X: object, y: object) -> tuple[NDArray[np.int64], NDArray[Any]]:  # noqa: N803
        """Labels as positions among the classes, and the classes."""
        if y is None:
            raise InputError("requires y to be passed, but the target y is None; pass one label a row.")
        check_unmasked(y=y)
        given = np.asarray(column_or_1d(y, warn=True))
        check_consistent_length(X, given)
        if given.dtype.kind == "f" and not np.isfinite(given).all():
            raise InputError("Input y contains NaN or infinity; leave out rows without a label.")
        if _is_public(self.labels):
            check_classification_targets(given)  # may warn about what it sees
        classes = np.unique(given if self.classes is None else np.asarray(self.classes))
        if len(classes) < _TWO:
            raise InputError("Expected at least two classes, got one class; pass classes= with all of them.")
        at = positions(given, classes)
        if (at < 0).any():
            raise DataError(
                f"{int((at < 0).sum())} of {len(at)} labels are not among the classes, the first in row "
                f"{int(np.argmax(at < 0))} (counted from 0); add them to classes=."
            )
        return at, classes

    def _checked(self) -> Epsilon | None:
        """What each label spends, None for public ones; raises with every problem found."""
        problems, budget = Problems(), None
        if not isinstance(self.columns, PrivateColumns):
            problems.add(
                f"Expected columns as a PrivateColumns, got {type(self.columns).__name__}; it holds ranges and ε."
            )
        if not _is_public(self.labels):
            try:
                budget = Epsilon.of(self.labels)
            except EpsilonError:
                problems.add(f"{_LABELS}, got {shown(self.labels)}.")
            if budget and (self.classes is None or len(np.unique(np.asarray(self.classes))) < _TWO):
                problems.add(
                    "Expected classes, two or more, with randomised labels: which occur is private; pass all of them."
                )
        if not _are_widths(self.hidden):
            problems.add(f"Expected hidden as a tuple of widths such as (100, 200), got {shown(self.hidden)}.")
        whole("epochs", self.epochs, problems, hint="10 are the paper's")
        whole("batch_size", self.batch_size, problems, hint="100 is the paper's")
        positive("learning_rate", self.learning_rate, problems, hint="0.001 is common")
        if self.device is not None and not is_one_of(self.device, ("cpu", "cuda")):
            problems.add(f"Expected device=None, 'cpu' or 'cuda', got {shown(self.device)}.")
        problems.raise_if_any(InputError)
        return budget

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.classifier_tags.poor_score = True
        return tags


def _is_public(labels: object) -> bool:
    return isinstance(labels, str) and labels == "public"


def _are_widths(hidden: object) -> bool:
    return isinstance(hidden, (tuple, list)) and all(is_whole(each) and each >= 1 for each in hidden)

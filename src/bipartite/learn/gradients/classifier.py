"""Private SGD as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import torch

from bipartite.errors import InputError, missing_library, shown
from bipartite.learn.fitting import as_it_was, check_numbers, positions, without_values
from bipartite.learn.gradients.loop import best_device, train_privately
from bipartite.learn.gradients.networks import PicturePlan, tanh_cnn

try:
    from sklearn.utils.validation import check_is_fitted, column_or_1d

    from bipartite.learn.scikit import ClassifierMixin, CountedFits, validated
except ImportError:
    raise missing_library(what="PrivateSGDClassifier needs", library="scikit-learn", extra="learn") from None

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from bipartite.learn.gradients.central import GaussianSGD
    from bipartite.learn.gradients.loop import Optimizer
    from bipartite.learn.guarantee import Guarantee

_ROWS: Final = 4096
_READ: Final[dict[str, Any]] = {"dtype": np.float64, "order": "C", "allow_nd": True}
_NAMED: Final = {"tanh-cnn": tanh_cnn}


@dataclass(eq=False, repr=False)
class PrivateSGDClassifier(ClassifierMixin, CountedFits):
    """A neural network for classes, trained by private SGD.

    Parameters
    ----------
    network
        A function without arguments that makes a ``torch.nn.Module`` from features to one number a class, or a name:
        ``"tanh-cnn"``, for pictures of shape 1 × 28 × 28 and ten classes.
    plan
        How privacy is kept: :class:`GaussianSGD`, or :class:`PicturePlan`, which brings settings and an optimiser for
        ``"tanh-cnn"`` and needs ``people``.
    classes
        All classes there are. Public: they are not looked up in the labels.
    optimizer
        Makes an optimiser of the parameters; None for that of a :class:`PicturePlan`, else Adam with learning rate
        0.01.
    people
        A public number of people, without which nothing is promised about adding or removing a record: see
        :func:`train_privately`.
    weights_seed
        The seed of the first weights, which are public.
    device
        ``"auto"``: a GPU when there is one. All private draws are whole numbers from the CPU, on every device.
    rng
        None for secure words; ``bp.insecure_seed(…)`` for experiments.

    Attributes
    ----------
    guarantee_
        What the trained weights promise: a :class:`~bipartite.learn.Guarantee`.
    network_
        The trained module.
    """

    network: Callable[[], torch.nn.Module] | str
    plan: GaussianSGD | PicturePlan
    _: KW_ONLY
    classes: Sequence[Any]
    optimizer: Optimizer | None = None
    people: int | None = None
    weights_seed: int = 0
    device: str = "auto"
    rng: object = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803 (scikit-learn's names)
        """Train on these people; each fit spends its ε anew, and a warning counts fits that look like a search."""
        with as_it_was(self):
            self._train(X, y)
        if self.guarantee_.is_private:
            self._count_fit()
        return self

    def _train(self, X: ArrayLike, y: ArrayLike) -> None:  # noqa: N803
        device = self._device()
        plan, optimizer = self._planned()
        classes = np.unique(np.asarray(self.classes))
        if classes.size < 2:  # noqa: PLR2004
            number = "1 class" if classes.size else "none"
            raise InputError(f"Expected two classes or more, got {number}; state all there are: classes=[0, 1].")
        check_numbers(X)
        read, given = validated(self, X, y, **_READ)
        rows = _single(read)
        labels = positions(without_values(lambda: column_or_1d(given)), classes)
        if (labels < 0).any():
            raise InputError(
                f"Expected every label among the {len(classes)} classes, {int((labels < 0).sum())} are not; add them."
            )
        with torch.random.fork_rng():
            torch.manual_seed(self.weights_seed)
            network = self._made().to(device)
            # A row of zeros also gives lazy layers their weights.
            _check_outputs(network, rows.shape[1:], device, len(classes))
        self.guarantee_: Guarantee = train_privately(
            network,
            torch.from_numpy(rows).to(device),
            torch.from_numpy(labels).to(device),
            plan,
            optimizer=optimizer,
            people=self.people,
            rng=self.rng,
        )
        self.classes_ = classes
        self.network_ = network.eval()
        self._shape = rows.shape[1:]

    def _planned(self) -> tuple[GaussianSGD, Optimizer]:
        if not isinstance(self.plan, PicturePlan):
            return self.plan, self.optimizer or (lambda parameters: torch.optim.Adam(parameters, lr=0.01))
        if self.people is None:
            raise InputError(
                "Expected people=, a public number of people, with a PicturePlan, got None; say about how many."
            )
        return self.plan.for_people(self.people), self.optimizer or self.plan.optimizer

    def _device(self) -> torch.device:
        try:
            device = best_device() if self.device == "auto" else torch.device(self.device)
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError, TypeError):
            raise InputError(
                f"Expected device as 'auto' or one that torch can use here, got {shown(self.device)}; try 'cpu'."
            ) from None
        return device

    def _made(self) -> torch.nn.Module:
        make = _NAMED.get(self.network) if isinstance(self.network, str) else self.network
        made = make() if callable(make) and not isinstance(make, torch.nn.Module) else None
        if not isinstance(made, torch.nn.Module):
            raise InputError(
                f"Expected network as {' or '.join(map(repr, _NAMED))} or a function without arguments that makes a "
                "torch.nn.Module; pass lambda: torch.nn.Sequential(…)."
            )
        return made

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The probability of every class, as the network sees it."""
        check_is_fitted(self)
        check_numbers(X)
        rows = _single(validated(self, X, reset=False, ensure_min_samples=0, **_READ))
        if rows.shape[1:] != self._shape:
            raise InputError(f"Expected rows of shape {self._shape}, as in fit, got {rows.shape[1:]}.")
        device = next(self.network_.parameters()).device
        with torch.no_grad():
            found = [
                torch.softmax(self.network_(part.to(device)).double(), dim=1).cpu().numpy()
                for part in torch.split(torch.from_numpy(rows), _ROWS)
            ]
        return np.concatenate([np.zeros((0, len(self.classes_))), *found])

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """The likeliest class."""
        probabilities = self.predict_proba(X)
        found: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.three_d_array = True
        # The noise of any useful ε hides what the hundred records of a check could teach.
        tags.classifier_tags.poor_score = True
        return tags


def _single(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """In single precision; from doubles always, since whole numbers would be rounded once, and beside others twice."""
    with np.errstate(over="ignore"):
        found = rows.astype(np.float32)
    if not np.isfinite(found).all():
        raise InputError("Expected features up to 3e38, got larger ones; scale them by a public number first.")
    return found


def _check_outputs(network: torch.nn.Module, shape: tuple[int, ...], device: torch.device, classes: int) -> None:
    """Refuse a network that does not fit the shape of the data, by a row of zeros and not by anybody's."""
    training = network.training
    try:
        with torch.no_grad():
            got = tuple(network.eval()(torch.zeros((1, *shape), device=device)).shape)
    except (RuntimeError, ValueError) as error:
        raise InputError(
            f"Expected a network for rows of shape {shape}, got one that fails on zeros: {error}"
        ) from None
    finally:
        network.train(training)
    if got != (1, classes):
        raise InputError(
            f"Expected a network with one output for each of {classes} classes, got shape {got} for one row."
        )

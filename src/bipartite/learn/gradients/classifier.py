"""Private SGD as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from bipartite.errors import InputError, missing_library, shown
from bipartite.learn.fitting import check_unmasked, positions
from bipartite.learn.gradients.loop import best_device, train_privately
from bipartite.learn.gradients.networks import PicturePlan, paper_cnn, tanh_cnn

try:
    from sklearn.utils.validation import check_is_fitted

    from bipartite.learn.counted_fits import CountedFits
    from bipartite.learn.scikit import ClassifierMixin
except ImportError:
    raise missing_library(what="PrivateSGDClassifier needs", library="scikit-learn", extra="learn") from None

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.learn.gradients.central import GaussianSGD
    from bipartite.learn.gradients.loop import Optimizer
    from bipartite.learn.guarantee import Guarantee

_ROWS = 4096
_NAMED: Final = {"tanh-cnn": tanh_cnn, "paper-cnn": paper_cnn}


@dataclass(eq=False, repr=False)
class PrivateSGDClassifier(ClassifierMixin, CountedFits):
    """A neural network for classes, trained by private SGD.

    Parameters
    ----------
    network
        A function without arguments that makes a ``torch.nn.Module`` from features to one number a class, or a name:
        ``"tanh-cnn"`` or ``"paper-cnn"``, for pictures of shape 1 × 28 × 28 and ten classes.
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
    allow_unproved
        Train also a network of layers for which nothing is proved, under a guarantee that says so first.
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
    allow_unproved: bool = False
    weights_seed: int = 0
    device: str = "auto"
    rng: object = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> PrivateSGDClassifier:  # noqa: N803 (scikit-learn's name)
        """Train on these people; each fit spends its ε anew, and a warning counts fits that look like a search."""
        check_unmasked(X=X, y=y)
        device = self._device()
        classes = np.unique(np.asarray(self.classes))
        if classes.size < 2 or np.ndim(y) != 1:  # noqa: PLR2004
            raise InputError(
                f"Expected two classes or more and one label a row, got {classes.size} and {np.ndim(y)} axes of labels."
            )
        labels = positions(np.asarray(y), classes)
        if (labels < 0).any():
            raise InputError(
                f"Expected every label among the {len(classes)} classes, {int((labels < 0).sum())} are not; add them."
            )
        with torch.random.fork_rng():
            torch.manual_seed(self.weights_seed)
            network = self._made().to(device)
        plan, optimizer = self._planned()
        features = _tensor(X, device)
        _check_outputs(network, features, len(classes))
        self.guarantee_: Guarantee = train_privately(
            network,
            features,
            torch.from_numpy(labels).to(device),
            plan,
            optimizer=optimizer,
            people=self.people,
            allow_unproved=self.allow_unproved,
            rng=self.rng,
        )
        self.classes_ = classes
        self.n_features_in_ = features.shape[1]
        self.network_ = network.eval()
        self._count_fit()
        return self

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
        made = None if make is None else make()
        if not isinstance(made, torch.nn.Module):
            raise InputError(
                f"Expected network as {' or '.join(map(repr, _NAMED))} or a function without arguments that makes a "
                "torch.nn.Module; pass lambda: torch.nn.Sequential(…)."
            )
        return made

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The probability of every class, as the network sees it."""
        check_is_fitted(self)
        device = next(self.network_.parameters()).device
        rows = _tensor(X, device)
        with torch.no_grad():
            found = [
                torch.softmax(self.network_(rows[first : first + _ROWS]).double(), dim=1).cpu().numpy()
                for first in range(0, len(rows), _ROWS)
            ]
        return np.concatenate([np.zeros((0, len(self.classes_))), *found])

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """The likeliest class."""
        probabilities = self.predict_proba(X)
        found: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return found


def _tensor(features: ArrayLike, device: torch.device) -> torch.Tensor:
    try:
        found = np.asarray(features, dtype=np.float32)
    except (TypeError, ValueError):  # which would show a value
        found = np.zeros(0, dtype=np.float32)
    if found.ndim < 2:  # noqa: PLR2004
        raise InputError(
            "Expected X as numbers, a row a person; encode what is not one, and use X.reshape(-1, 1) for one feature."
        )
    return torch.as_tensor(found).to(device)


def _check_outputs(network: torch.nn.Module, features: torch.Tensor, classes: int) -> None:
    """Refuse a network that does not fit the shape of the data, by a row of zeros and not by anybody's."""
    training = network.training
    try:
        with torch.no_grad():
            got = tuple(network.eval()(features.new_zeros((1, *features.shape[1:]))).shape)
    except (RuntimeError, ValueError) as error:
        raise InputError(
            f"Expected a network for rows of shape {tuple(features.shape[1:])}, got one that fails on zeros: {error}"
        ) from None
    finally:
        network.train(training)
    if got != (1, classes):
        raise InputError(
            f"Expected a network with one output for each of {classes} classes, got shape {got} for one row."
        )

"""Private SGD as a scikit-learn classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bipartite.errors import InputError, MissingExtraError
from bipartite.learn.gradients.loop import best_device, train_privately
from bipartite.learn.gradients.networks import paper_cnn
from bipartite.learn.gradients.per_example import TOGETHER

try:
    from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
    from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]
except ImportError:
    _MESSAGE = "PrivateSGDClassifier needs scikit-learn; run: pip install 'bipartite[learn]'"
    raise MissingExtraError(_MESSAGE) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.learn.gradients.loop import Optimizer, Plan
    from bipartite.learn.guarantee import Guarantee

_ROWS = 4096


class PrivateSGDClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """A neural network for classes, trained by private SGD.

    Parameters
    ----------
    network
        A function without arguments that makes a ``torch.nn.Module`` from features to one number a class, or
        ``"paper-cnn"``, the paper's network for MNIST (features of shape 1 × 28 × 28).
    plan
        How privacy is kept: :class:`GaussianSGD`, :class:`LaplaceSGD` or :class:`LocalSGD`.
    classes
        All classes there are. Public: they are not looked up in the labels.
    optimizer
        Makes an optimiser of the parameters; None for Adam with learning rate 0.01.
    people, together
        A public number of people, without which nothing is promised about adding or removing a record, and how many
        gradients are computed at once: see :func:`train_privately`.
    weights_seed
        Of the first weights, which are no secret.
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

    def __init__(  # noqa: PLR0913 (scikit-learn: one argument a setting)
        self,
        network: Callable[[], torch.nn.Module] | str,
        plan: Plan,
        *,
        classes: Sequence[Any],
        optimizer: Optimizer | None = None,
        people: int | None = None,
        together: int = TOGETHER,
        weights_seed: int = 0,
        device: str = "auto",
        rng: Any = None,  # noqa: ANN401
    ) -> None:
        self.network = network
        self.plan = plan
        self.classes = classes
        self.optimizer = optimizer
        self.people = people
        self.together = together
        self.weights_seed = weights_seed
        self.device = device
        self.rng = rng

    def fit(self, X: ArrayLike, y: ArrayLike) -> PrivateSGDClassifier:  # noqa: N803 (scikit-learn's name)
        """Train on these people; each fit spends its ε anew."""
        device = best_device() if self.device == "auto" else torch.device(self.device)
        classes = np.unique(np.asarray(self.classes))
        labels = np.searchsorted(classes, np.asarray(y))
        known = np.append(classes, classes[-1:])[labels] == np.asarray(y)
        if not known.all():
            msg = f"Expected every label among the {len(classes)} classes, {int((~known).sum())} are not; add them."
            raise InputError(msg)
        with torch.random.fork_rng():
            torch.manual_seed(self.weights_seed)
            network = self._made().to(device)
        optimizer = self.optimizer or (lambda parameters: torch.optim.Adam(parameters, lr=0.01))
        self.guarantee_: Guarantee = train_privately(
            network,
            _tensor(X, device),
            torch.from_numpy(labels.astype(np.int64)).to(device),
            self.plan,
            optimizer=optimizer,
            people=self.people,
            together=self.together,
            rng=self.rng,
        )
        self.classes_ = classes
        self.network_ = network.eval()
        return self

    def _made(self) -> torch.nn.Module:
        if self.network == "paper-cnn":
            return paper_cnn()
        made = None if isinstance(self.network, str) else self.network()
        if not isinstance(made, torch.nn.Module):
            msg = (
                "Expected network as 'paper-cnn' or a function without arguments that makes a torch.nn.Module; "
                "pass lambda: torch.nn.Sequential(…)."
            )
            raise InputError(msg)
        return made

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The chance of every class, as the network sees it."""
        check_is_fitted(self)
        device = next(self.network_.parameters()).device
        rows = _tensor(X, device)
        with torch.no_grad():
            found = [
                torch.softmax(self.network_(rows[first : first + _ROWS]).double(), dim=1).cpu().numpy()
                for first in range(0, len(rows), _ROWS)
            ]
        return np.concatenate(found)

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """The likeliest class."""
        chances = self.predict_proba(X)
        found: NDArray[Any] = self.classes_[chances.argmax(axis=1)]
        return found


def _tensor(features: ArrayLike, device: torch.device) -> torch.Tensor:
    return torch.as_tensor(np.asarray(features, dtype=np.float32)).to(device)

"""The loop of private SGD: sample people, get a private gradient, let an optimiser step."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from bipartite.errors import InputError, Problems
from bipartite.learn.gradients.central import NO_PEOPLE, GaussianSGD
from bipartite.learn.gradients.checks import whole
from bipartite.learn.gradients.per_example import PerExample
from bipartite.learn.gradients.progress import progress
from bipartite.learn.guarantee import Guarantee, from_known_words
from bipartite.lottery import Source, is_secure, source_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.learn.gradients.per_example import Loss

    Optimizer = Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]


def best_device() -> torch.device:
    """A GPU when there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def train_privately(  # noqa: PLR0913 (each named, most with a default)
    network: torch.nn.Module,
    features: torch.Tensor,
    labels: torch.Tensor,
    plan: GaussianSGD,
    *,
    optimizer: Optimizer,
    loss: Loss = torch.nn.functional.cross_entropy,
    people: int | None = None,
    rng: object = None,  # what every rng= of bipartite takes
    watch: Callable[[int], None] | None = None,
) -> Guarantee:
    """Train a network in place, under a plan of privacy, and return what the trained weights promise.

    Parameters
    ----------
    network
        Any module on the device of the data whose output for one example depends on that example alone, and whose
        operations are known: dense layers and convolutions, GroupNorm and LayerNorm, attention, residuals, embeddings.
        For any other a refusal names the operation (:class:`PerExample`).
    features, labels
        One row a person.
    plan
        Its clipping, samples and noise.
    optimizer
        Makes an optimiser of the parameters: ``lambda ps: torch.optim.SGD(ps, lr=0.1)``. It sees private gradients
        only, so that any does.
    loss
        The loss of a batch of one.
    people
        A public number of people, about as many as there are rows, by which the sum is divided. None takes the
        number of rows: data sets of one size have it in common, so that the promise about replacing a record holds, but
        nothing is promised then about adding or removing one.
    rng
        None for secure words; ``bp.insecure_seed(…)`` for experiments that must be repeated.
    watch
        Called with the number of each finished step. What it computes from private data is not covered.

    Examples
    --------
    >>> import torch, bipartite as bp
    >>> from bipartite.learn import GaussianSGD, train_privately
    >>> X, y = torch.eye(4).repeat(50, 1), torch.arange(4).repeat(50)
    >>> net = torch.nn.Linear(4, 4)
    >>> plan = GaussianSGD(epsilon=20, delta=1e-4, clip=2.0, steps=10, sampling_rate=0.5)
    >>> train_privately(net, X, y, plan, optimizer=lambda ps: torch.optim.SGD(ps, lr=0.5)).delta
    0.0001
    """
    _check(features, labels, plan, people)
    source = source_of(rng)
    gradients = PerExample(network, loss)
    gradients.read(features, labels)
    promised = plan.guarantee(gradients.size)  # before anything is spent
    if people is None:
        promised = replace(promised, add_remove=math.inf, not_covered=(*promised.not_covered, NO_PEOPLE))
    if not promised.is_private:
        raise InputError(
            "Expected a plan that promises something, got one whose ε is infinite; use a smaller ε or a larger δ."
        )
    if not is_secure(source):
        promised = from_known_words(promised)
    with progress(plan.steps) as tell:

        def done(step: int) -> None:
            tell(step)
            if watch is not None:
                watch(step)

        stepper = optimizer(gradients.parameters)
        follow(plan, gradients, features, labels, stepper, people or len(features), source, done)
    return promised


def _check(features: object, labels: object, plan: object, people: int | None) -> None:
    """Refuse what cannot be trained with."""
    if not isinstance(plan, GaussianSGD):
        raise InputError(
            f"Expected plan as GaussianSGD, got {type(plan).__name__}; make one with GaussianSGD(epsilon, delta, …)."
        )
    if not isinstance(features, torch.Tensor) or not isinstance(labels, torch.Tensor):
        raise InputError("Expected features and labels as tensors; use torch.as_tensor(…).")
    if len(features) != len(labels) or not len(features):
        raise InputError(
            f"Expected as many labels as rows, and at least one, got {len(features)} rows and {len(labels)} labels."
        )
    if people is not None:
        problems = Problems()
        whole("people", people, problems, hint="a public number of people, or None")
        problems.raise_if_any(InputError)


def follow(  # noqa: PLR0913, PLR0917 (the parts of training, made above)
    plan: GaussianSGD,
    gradients: PerExample,
    features: torch.Tensor,
    labels: torch.Tensor,
    stepper: torch.optim.Optimizer,
    people: int,
    source: Source,
    watch: Callable[[int], None] | None = None,
) -> None:
    """All steps of a plan; for what is built on it. People call :func:`train_privately`."""
    for done, rows in enumerate(plan.batches(len(features), source), 1):
        at = torch.from_numpy(rows).to(features.device)
        found = plan.gradient(gradients, features[at], labels[at], people, source)
        gradients.assign(found.to(features.device))
        stepper.step()
        if watch is not None:
            watch(done)
    stepper.zero_grad()

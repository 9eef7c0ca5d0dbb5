"""Training a network of dense layers with torch; nothing here spends ε, for it sees reports only."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bipartite.errors import InputError, missing_library

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from numpy.typing import NDArray
    from torch import Generator, Tensor

    Layer = tuple[NDArray[np.float32], NDArray[np.float32]]

Correction = Literal["forward", "backward", "none"]
_BINARY = 2


@dataclass(frozen=True)
class TrainingPlan:
    """How a network is trained; the defaults are the paper's (appendix B.3)."""

    hidden: tuple[int, ...] = (100, 200)
    epochs: int = 10
    batch_size: int = 100
    learning_rate: float = 1e-3
    device: str | None = None
    """None: a GPU when there is one."""


@dataclass(frozen=True)
class RandomisedLabels:
    """How labels came to be reports: ``matrix[x, y]`` is the probability of report y for label x."""

    matrix: NDArray[np.float64]
    correction: Correction


def load_torch() -> ModuleType:
    """Torch, or what to do when it is not installed."""
    try:
        import torch  # noqa: PLC0415 (heavy, and only networks need it)
    except ImportError:
        raise missing_library(what="PrivateNetwork needs", library="torch", extra="learn") from None
    return torch


def device_for(wanted: str | None) -> str:
    """The device to train on: what was asked for, or a GPU when there is one."""
    there = bool(load_torch().cuda.is_available())
    if wanted == "cuda" and not there:
        raise InputError("Expected a GPU for device='cuda', torch sees none; use device=None or 'cpu'.")
    return wanted or ("cuda" if there else "cpu")


def train_network(
    inputs: NDArray[np.float32],
    labels: NDArray[np.int64],
    classes: int,
    plan: TrainingPlan,
    *,
    seed: int,
    randomised: RandomisedLabels | None = None,
    after_epoch: Callable[[int, Callable[[], list[Layer]]], None] | None = None,
) -> list[Layer]:
    """The layers of a trained network: ReLU between them, and log-odds of the classes at the end.

    Weights and the order of rows come from ``seed``, drawn on the CPU whatever the device. ``after_epoch`` is called
    with the number of the epoch and a function that reads the layers.
    """
    torch = load_torch()
    device = device_for(plan.device)
    generator = torch.Generator().manual_seed(seed)
    # Two classes need one number, the log-odds: a sigmoid, as in the paper.
    widths = [inputs.shape[1], *plan.hidden, 1 if classes == _BINARY else classes]
    layers = [_glorot(torch, a, b, generator, device) for a, b in itertools.pairwise(widths)]
    parameters = [parameter for layer in layers for parameter in layer]
    optimiser = torch.optim.Adam(parameters, lr=plan.learning_rate, fused=True)  # a fifth faster on a CPU
    loss_of = _loss(torch, randomised, device)
    rows, targets = torch.from_numpy(inputs).to(device), torch.from_numpy(labels).to(device)

    def read() -> list[Layer]:
        return [(w.detach().cpu().numpy().copy(), b.detach().cpu().numpy().copy()) for w, b in layers]

    for epoch in range(plan.epochs):
        order = torch.randperm(len(inputs), generator=generator).to(device)
        for batch in order.split(plan.batch_size):
            loss = loss_of(_forward(torch, layers, rows[batch]), targets[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        if after_epoch is not None:
            after_epoch(epoch + 1, read)
    return read()


def class_chances(layers: Sequence[Layer], inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """The probabilities of all classes for each row, by NumPy: a model that is used needs no torch."""
    found = inputs
    for number, (weight, bias) in enumerate(layers):
        found = found @ weight + bias
        if number < len(layers) - 1:
            found = np.maximum(found, 0)
    odds = found.astype(np.float64)
    if odds.shape[1] == 1:
        odds = np.column_stack([np.zeros(len(odds)), odds[:, 0]])
    odds -= odds.max(axis=1, keepdims=True)
    weights = np.exp(odds)
    probabilities: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return probabilities


def _glorot(torch: ModuleType, wide: int, high: int, generator: Generator, device: str) -> tuple[Tensor, Tensor]:
    """A dense layer: uniform weights of Glorot and Bengio (2010), no bias."""
    bound = math.sqrt(6 / (wide + high))
    weight = (torch.rand(wide, high, generator=generator) * 2 - 1) * bound
    return weight.to(device).requires_grad_(), torch.zeros(high, device=device).requires_grad_()


def _forward(torch: ModuleType, layers: Sequence[tuple[Tensor, Tensor]], rows: Tensor) -> Tensor:
    """Logarithms of the probabilities of all classes."""
    *inner, (weight, bias) = layers
    for w, b in inner:
        rows = torch.relu(rows @ w + b)
    odds = rows @ weight + bias
    if odds.shape[1] == 1:
        odds = torch.cat([torch.zeros_like(odds), odds], dim=1)
    probabilities: Tensor = torch.log_softmax(odds, dim=1)
    return probabilities


def _loss(torch: ModuleType, randomised: RandomisedLabels | None, device: str) -> Callable[[Tensor, Tensor], Any]:
    """The mean loss of a batch, for labels as they are or for reports of them (Patrini et al., CVPR 2017).

    Forward: −ln Σ_x P[x|row]·T[x, y], the likelihood of the report y. Backward: Σ_x T⁻¹[y, x]·(−ln P[x|row]), whose
    mean over reports is the loss of the true label exactly.
    """
    nll: Callable[[Tensor, Tensor], Any] = torch.nn.functional.nll_loss
    if randomised is None or randomised.correction == "none":
        return nll
    if randomised.correction == "forward":
        moved = torch.tensor(randomised.matrix, dtype=torch.float32, device=device)
        return lambda probabilities, labels: nll(torch.log(probabilities.exp() @ moved), labels)
    inverse = torch.tensor(np.linalg.inv(randomised.matrix), dtype=torch.float32, device=device)
    return lambda probabilities, labels: -(inverse[labels] * probabilities).sum(dim=1).mean()

"""Networks of dense layers on reports: what they read, how torch trains them, what they say; nothing here spends ε."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bipartite.errors import InputError, missing_library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from numpy.typing import NDArray
    from torch import Tensor

    from bipartite.domains import Domain

    Layer = tuple[NDArray[np.float32], NDArray[np.float32]]

_BINARY = 2


def network_inputs(table: object, domains: Mapping[str, Domain]) -> NDArray[np.float32]:
    """Every row as numbers, by public parameters alone: min–max for numbers, one-hot for categories.

    Reports beyond a range, as of Laplace or padded BRR, stay beyond [0, 1]. A null, where a column was not drawn,
    becomes the middle of the range, or no category at all.
    """
    parts: list[NDArray[np.float32]] = []
    values = np.asarray(table, dtype=object)
    for column, there, domain in zip(values.T, ~pd.isna(values).T, domains.values(), strict=True):
        if domain.has_ends:
            low, high = float(domain.decode(0)), float(domain.decode(len(domain) - 1))
            part = np.full((len(column), 1), 0.5, dtype=np.float32)
            part[there, 0] = (column[there].astype(np.float64) - low) / (high - low)
        else:
            at = {label: place for place, label in enumerate(domain)}
            part = np.zeros((len(column), len(at)), dtype=np.float32)
            part[np.flatnonzero(there), [at[value] for value in column[there].tolist()]] = 1
        parts.append(part)
    return np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class TrainingPlan:
    """How a network is trained; the defaults are the paper's (appendix B.3)."""

    hidden: tuple[int, ...] = (100, 200)
    epochs: int = 10
    batch_size: int = 100
    learning_rate: float = 1e-3
    device: str | None = None
    """None: a GPU when there is one."""


def load_torch() -> ModuleType:
    """Torch, or what to do when it is not installed."""
    try:
        import torch  # noqa: PLC0415 (heavy, and only networks need it)
    except ImportError:
        raise missing_library(what="Training a network needs", library="torch", extra="learn") from None
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
    responses: NDArray[np.float64] | None = None,
) -> Iterator[list[Layer]]:
    """The layers of a network after each epoch: ReLU between them, and log-odds of the classes at the end.

    Weights, by Glorot and Bengio (2010), and the order of rows come from ``seed``, drawn on the CPU whatever the
    device. Where labels are reports, ``responses[x, y]`` is the probability of report y for label x.
    """
    torch, device = load_torch(), device_for(plan.device)
    generator = torch.Generator().manual_seed(seed)
    # Two classes need one number, the log-odds: a sigmoid, as in the paper.
    widths = [inputs.shape[1], *plan.hidden, 1 if classes == _BINARY else classes]
    layers: list[tuple[Tensor, Tensor]] = []
    for wide, high in itertools.pairwise(widths):
        weight = (torch.rand(wide, high, generator=generator) * 2 - 1) * math.sqrt(6 / (wide + high))
        layers.append((weight.to(device).requires_grad_(), torch.zeros(high, device=device).requires_grad_()))
    parameters = [parameter for layer in layers for parameter in layer]
    optimiser = torch.optim.Adam(parameters, lr=plan.learning_rate, fused=True)  # a fifth faster on a CPU
    loss_of = loss_of_labels(responses, device)
    rows, targets = torch.from_numpy(inputs).to(device), torch.from_numpy(labels).to(device)

    def log_chances(found: Tensor) -> Tensor:
        for weight, bias in layers[:-1]:
            found = torch.relu(found @ weight + bias)
        weight, bias = layers[-1]
        odds = found @ weight + bias
        if odds.shape[1] == 1:
            odds = torch.cat([torch.zeros_like(odds), odds], dim=1)
        logarithms: Tensor = torch.log_softmax(odds, dim=1)
        return logarithms

    for _ in range(plan.epochs):
        order = torch.randperm(len(inputs), generator=generator).to(device)
        for batch in order.split(plan.batch_size):
            loss = loss_of(log_chances(rows[batch]), targets[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        yield [(w.detach().cpu().numpy().copy(), b.detach().cpu().numpy().copy()) for w, b in layers]


def loss_of_labels(responses: NDArray[np.float64] | None, device: str) -> Callable[[Tensor, Tensor], Any]:
    """The mean loss of a batch's log-probabilities; the likelihood of reports, where labels are randomised.

    That is −ln Σ_x P[x|row]·T[x, y] for the report y: the "forward" correction of Patrini et al. (CVPR 2017).
    """
    torch = load_torch()
    nll: Callable[[Tensor, Tensor], Any] = torch.nn.functional.nll_loss
    if responses is None:
        return nll
    moved = torch.tensor(responses, dtype=torch.float32, device=device)
    return lambda logarithms, labels: nll(torch.log(logarithms.exp() @ moved), labels)


def class_chances(layers: Sequence[Layer], inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """The probabilities of all classes for each row, by NumPy: a model that is used needs no torch."""
    found = inputs
    for weight, bias in layers[:-1]:
        found = np.maximum(found @ weight + bias, 0)
    odds = (found @ layers[-1][0] + layers[-1][1]).astype(np.float64)
    if odds.shape[1] == 1:
        odds = np.column_stack([np.zeros(len(odds)), odds[:, 0]])
    odds -= odds.max(axis=1, keepdims=True)
    weights = np.exp(odds)
    probabilities: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return probabilities

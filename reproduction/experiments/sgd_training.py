"""One training run of the SGD experiment: a network, a mechanism, a learning rate and a bound; accuracies on the way.

Needs NumPy, torch and the lottery only, so that it runs on a machine where nothing else can be installed. All noise and
all reports are whole numbers drawn on the CPU, the product's own draws, then moved to the device.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from bipartite.learn import GaussianSGD, PerExample, best_device
from bipartite.learn import follow as follow_gaussian
from bipartite.lottery import Source, insecure_seed, whole_numbers_below
from reproduction.datasets import mnist
from reproduction.experiments.protocols import AdaptiveBound, AdaptiveLaplace, HalfIntervalBRR
from reproduction.learning.laplace import LaplaceSGD
from reproduction.learning.local import LocalSGD
from reproduction.learning.loop import follow
from reproduction.learning.pictures import paper_cnn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reproduction.experiments.sgd import Cell

_POOL: Final = 4
_WORDS: Final = 2**63
_SEEDS: Final = 1_000_003


@dataclass(frozen=True)
class Part:
    """Pictures and what they show, on the device."""

    features: torch.Tensor
    labels: torch.Tensor


@dataclass(frozen=True)
class Data:
    """People to learn from, people held out to choose settings with, and people to test with."""

    train: Part
    held_out: Part
    test: Part


@dataclass(frozen=True)
class Outcome:
    """Test accuracies at the steps at which they were measured, and the last accuracy on held-out people."""

    steps: tuple[int, ...]
    accuracies: tuple[float, ...]
    held_out: float


@functools.cache
def load(data: str, people: int, held_out: int) -> Data:
    """MNIST, or scikit-learn's small digits for tests; held-out people are the last of the training part."""
    if data == "mnist":
        parts = mnist("train"), mnist("test")
        images = [np.asarray(each.images, dtype=np.float32)[:, None] / 255 for each in parts]
        labels = [np.array(each.labels) for each in parts]
    else:
        from sklearn.datasets import load_digits  # noqa: PLC0415 (tests only)

        found, digits = load_digits(return_X_y=True)
        pictures = found.reshape(-1, 1, 8, 8).astype(np.float32) / 16
        images, labels = [pictures[:1400], pictures[1400:]], [digits[:1400], digits[1400:]]
    device = best_device()
    x = [torch.from_numpy(each).to(device, torch.get_default_dtype()) for each in images]
    y = [torch.from_numpy(each).to(device, torch.int64) for each in labels]
    last = len(x[0]) - held_out
    first = min(people, last)
    train = Part(x[0][:first], y[0][:first])
    return Data(train, Part(x[0][last:], y[0][last:]), Part(x[1], y[1]))


def made(network: str, side: int) -> torch.nn.Module:
    """``"paper-cnn"``, or ``"softmax"``: logistic regression on means over squares (490 + 10 numbers at 28 × 28)."""
    if network == "paper-cnn":
        return paper_cnn()
    pool = _POOL if side > 2 * _POOL else 2
    return torch.nn.Sequential(torch.nn.AvgPool2d(pool), torch.nn.Flatten(), torch.nn.Linear((side // pool) ** 2, 10))


def trained(cell: Cell, learning_rate: float, clip: float, data: Data) -> Outcome:
    """Train with one setting of the grid, and watch."""
    device = data.train.features.device
    with torch.random.fork_rng():
        torch.manual_seed(cell.seed)
        network = made(cell.network, data.train.features.shape[-1]).to(device)
    source = insecure_seed(cell.seed * _SEEDS + 1)
    people = len(data.train.features)
    steps: list[int] = []
    accuracies: list[float] = []

    def watch(step: int) -> None:
        if step % cell.every == 0:
            steps.append(step)
            accuracies.append(accuracy(network, data.test))

    gradients = PerExample(network, torch.nn.functional.cross_entropy)
    stepper = torch.optim.Adam(gradients.parameters, lr=learning_rate)
    plan = plan_of(cell, clip, people)
    if plan is None:
        _described(cell, gradients, data.train, stepper, source, watch)
    elif isinstance(plan, GaussianSGD):
        follow_gaussian(plan, gradients, data.train.features, data.train.labels, stepper, people, source, watch)
    else:
        train = data.train
        follow(plan, network, train.features, train.labels, stepper=stepper, people=people, source=source, watch=watch)
    return Outcome(tuple(steps), tuple(accuracies), accuracy(network, data.held_out))


def plan_of(cell: Cell, clip: float, people: int) -> GaussianSGD | LaplaceSGD | LocalSGD | None:
    """A plan of the product or of the laboratory; None for no privacy and for the paper's protocols."""
    rate = min(1.0, cell.batch / people)
    if cell.mechanism == "central-gaussian":
        return GaussianSGD(None, cell.delta, clip, cell.steps, rate, cell.noise_multiplier)
    if cell.mechanism == "central-laplace":
        return LaplaceSGD(cell.epsilon, clip, cell.steps, rate)
    if cell.mechanism.startswith("local-"):
        how: Any = cell.mechanism.removeprefix("local-")
        return LocalSGD(cell.epsilon, clip, cell.batch, how, points=cell.points)
    return None


def accuracy(network: torch.nn.Module, part: Part) -> float:
    """The share of pictures that the network reads right."""
    with torch.no_grad():
        right = [
            (network(part.features[first : first + 4096]).argmax(1) == part.labels[first : first + 4096]).sum().item()
            for first in range(0, len(part.features), 4096)
        ]
    return float(sum(right)) / len(part.features)


def _described(
    cell: Cell,
    gradients: PerExample,
    train: Part,
    stepper: torch.optim.Optimizer,
    source: Source,
    watch: Callable[[int], None],
) -> None:
    """No privacy, or the paper's protocol: shuffled batches, clipping to C_t, then the protocol's noise."""
    bound = AdaptiveBound()
    for step, rows in enumerate(_shuffled(len(train.features), cell.batch, cell.steps, source), 1):
        at = torch.from_numpy(rows).to(train.features.device)
        total = torch.zeros(gradients.size, dtype=torch.float64, device=train.features.device)
        blocks = list(gradients.blocks(train.features[at], train.labels[at]))
        if cell.mechanism == "none":
            total = sum((block.double().sum(0) for block in blocks), total)
            released = total / len(rows)
        else:
            norms = [torch.linalg.vector_norm(block, dim=1) for block in blocks]
            bound = bound.after(float(torch.cat(norms).mean()))
            for block, lengths in zip(blocks, norms, strict=True):
                total += (block * (bound.value / torch.clamp(lengths, min=bound.value))[:, None]).double().sum(0)
            noised = protocol_of(cell).perturbed((total / len(rows)).cpu().numpy(), bound.value, len(rows), source)
            released = torch.from_numpy(noised).to(total.device)
        gradients.assign(released)
        stepper.step()
        watch(step)


def protocol_of(cell: Cell) -> HalfIntervalBRR | AdaptiveLaplace:
    """The paper's protocol of this name, or a reading of it: ``paper-laplace-x4-in-half`` has four times the noise."""
    if cell.mechanism == "paper-brr":
        return HalfIntervalBRR(cell.epsilon)
    if cell.mechanism == "paper-laplace-of-the-mean":
        return AdaptiveLaplace(cell.epsilon, "mean")
    reading = cell.mechanism.removeprefix("paper-laplace")
    times, in_half = reading.removesuffix("-in-half").removeprefix("-x"), reading.endswith("-in-half")
    return AdaptiveLaplace(cell.epsilon, times=int(times or 1), in_half=in_half)


def _shuffled(
    people: int, batch: int, steps: int, source: Source
) -> Iterator[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    done = 0
    size = min(batch, people)
    while done < steps:
        order = np.argsort(whole_numbers_below(_WORDS, people, source), kind="stable")
        for first in range(0, people - size + 1, size):
            if done == steps:
                return
            yield order[first : first + size]
            done += 1

"""Trainings of the SGD experiments: a network and a mechanism, with the best of some learning rates and bounds.

All noise and all reports are whole numbers drawn on the CPU, the product's own draws, then moved to the device.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from bipartite.errors import InputError
from bipartite.learn import GaussianSGD, PerExample, Steps, best_device, gaussian_multiplier
from bipartite.learn import follow as follow_gaussian
from bipartite.lottery import Source, insecure_seed, whole_numbers_below
from reproduction.datasets import mnist
from reproduction.experiments.protocols import (
    FIRST_BOUND,
    POINTS,
    AdaptiveLaplace,
    HalfIntervalBRR,
    next_bound,
    protocol_of,
)
from reproduction.form import Row
from reproduction.learning.sgd import LaplaceSGD, LocalSGD, follow, paper_cnn

MEASURED_STEPS: Final = 40
"""About how many steps of a run are measured."""
_LAST: Final = 0.2
_CONVERGED: Final = 0.9
# The two bounds of the grid, in the norm that each mechanism clips.
_CLIPS: Final = {"central-gaussian": (0.3, 1.0), "central-laplace": (5.0, 20.0), "local": (0.01, 0.1)}
_RANGES: Final = {"softmax": 5.0}  # a coordinate of few parameters is larger
_DELTA: Final = 1e-5
_POOL: Final = {"softmax": 4, "mlp": 2}
_HIDDEN: Final = 32
_WORDS: Final = 2**63
_SEEDS: Final = 1_000_003
_AT_ONCE: Final = 4096  # pictures in one look at the accuracy


@dataclass(frozen=True)
class Training:
    """What is trained on which people, under which promise."""

    data: str
    people: int
    held_out: int
    batch: int
    steps: int
    network: str
    mechanism: str
    epsilon: float
    seed: int

    def plan(self, clip: float) -> GaussianSGD | LaplaceSGD | LocalSGD | Described:
        """A plan of the product or of the laboratory."""
        rate = min(1.0, self.batch / self.people)
        if self.mechanism == "central-gaussian":
            multiplier = _multiplier(self.epsilon, Steps(self.steps, rate))
            return GaussianSGD(None, _DELTA, clip, self.steps, rate, multiplier)
        if self.mechanism == "central-laplace":
            return LaplaceSGD(self.epsilon, clip, self.steps, rate)
        if self.mechanism.startswith("local-"):
            how: Any = self.mechanism.removeprefix("local-")
            return LocalSGD(self.epsilon, clip, self.batch, how, points=POINTS)
        protocol = None if self.mechanism == "none" else protocol_of(self.mechanism, self.epsilon)
        return Described(protocol, self.batch, self.steps)


@dataclass(frozen=True)
class Described:
    """SGD as the paper describes it: shuffled batches, clipping to C_t, then the protocol's noise; or neither."""

    protocol: HalfIntervalBRR | AdaptiveLaplace | None
    batch: int
    steps: int

    def gradients(
        self,
        examples: PerExample,
        features: torch.Tensor,
        labels: torch.Tensor,
        people: int,  # noqa: ARG002
        source: Source,
    ) -> Iterator[torch.Tensor]:
        """The mean gradient of each batch, as it is released."""
        bound = FIRST_BOUND
        for rows in islice(self._batches(len(features), source), self.steps):
            at = torch.from_numpy(rows).to(features.device)
            blocks = list(examples.blocks(features[at], labels[at]))
            total = torch.zeros(examples.size, dtype=torch.float64, device=at.device)
            if self.protocol is None:
                for block in blocks:
                    total += block.double().sum(0)
                yield total / len(rows)
                continue
            norms = [torch.linalg.vector_norm(block, dim=1) for block in blocks]
            bound = next_bound(bound, float(torch.cat(norms).mean()))
            for block, lengths in zip(blocks, norms, strict=True):
                total += (block * (bound / lengths.clamp(min=bound))[:, None]).double().sum(0)
            mean = (total / len(rows)).cpu().numpy()
            yield torch.from_numpy(self.protocol.perturbed(mean, bound, len(rows), source))

    def _batches(self, people: int, source: Source) -> Iterator[NDArray[np.int64]]:
        size = min(self.batch, people)
        while True:
            order = np.argsort(whole_numbers_below(_WORDS, people, source), kind="stable")
            yield from (order[first : first + size] for first in range(0, people - size + 1, size))


@dataclass(frozen=True)
class Part:
    """Pictures and what they show, on the device."""

    features: torch.Tensor
    labels: torch.Tensor


def rows_of(
    release: tuple[str, float],
    learning_rates: tuple[float, ...],
    people: int,
    batch: int,
    steps: int,
    **others: Any,  # noqa: ANN401 (those of a training)
) -> list[Row]:
    """Train with every setting of the grid, keep the best on held-out people, and say how it went."""
    mechanism, epsilon = release
    protocol = mechanism == "none" or mechanism.startswith("paper")
    local = mechanism.startswith("local")
    steps = people // batch if local else steps  # locally everybody answers once
    training = Training(people=people, batch=batch, steps=steps, mechanism=mechanism, epsilon=epsilon, **others)
    wide = _RANGES.get(training.network, 1.0) if local else 1.0
    clips = [wide * each for each in _CLIPS.get("local" if local else mechanism, (1.0,))]
    runs = [(rate, clip, *trained(training, rate, clip)) for rate, clip in product(learning_rates, clips)]
    rate, clip, accuracies, held_out = max(runs, key=lambda run: run[-1])
    curve = list(accuracies.values())
    last = curve[-max(2, round(_LAST * len(curve))) :]
    final = statistics.fmean(last)
    arrived = (step for step, each in accuracies.items() if each >= _CONVERGED * final)
    measured = [("accuracy", step, each) for step, each in accuracies.items()] + [
        ("final", steps, final),
        ("stability", steps, statistics.pstdev(last)),
        ("convergence", steps, next(arrived, steps)),
        ("held_out", steps, held_out),
    ]
    about: Row = {
        "network": training.network,
        "mechanism": mechanism,
        "epsilon": epsilon,
        "spent": "∞" if protocol else f"{epsilon:g}",
        "delta": _DELTA if mechanism == "central-gaussian" else 0.0,
        "model": "none" if protocol else "local" if local else "central",
        "seed": training.seed,
        "learning_rate": rate,
        "clip": clip,
    }
    return [about | {"measure": name, "step": step, "value": value} for name, step, value in measured]


@functools.cache
def _multiplier(epsilon: float, steps: Steps) -> float:
    return gaussian_multiplier(epsilon, _DELTA, steps)  # seconds, for every seed the same


@functools.cache
def load(data: str, people: int, held_out: int) -> tuple[Part, Part, Part]:
    """People to learn from, held out to choose settings with (the last of the training part), and to test with.

    Of MNIST, or of scikit-learn's small digits for tests.
    """
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
    if last < people:
        raise InputError(f"Expected at most {last} people beside those held out, got {people}; use fewer.")
    return Part(x[0][:people], y[0][:people]), Part(x[0][last:], y[0][last:]), Part(x[1], y[1])


def made(network: str, side: int) -> torch.nn.Module:
    """A network for square pictures.

    ``"paper-cnn"`` (26,010 parameters); ``"softmax"``, logistic regression on means over 4 × 4 pixels (500 at 28 × 28);
    ``"mlp"``, one hidden layer on means over 2 × 2 pixels (6,634).
    """
    if network == "paper-cnn":
        return paper_cnn()
    pool = _POOL[network] if side > 2 * _POOL["softmax"] else 2
    wide = (side // pool) ** 2
    layers = [torch.nn.AvgPool2d(pool), torch.nn.Flatten()]
    if network == "mlp":
        return torch.nn.Sequential(
            *layers, torch.nn.Linear(wide, _HIDDEN), torch.nn.ReLU(), torch.nn.Linear(_HIDDEN, 10)
        )
    return torch.nn.Sequential(*layers, torch.nn.Linear(wide, 10))


def trained(training: Training, learning_rate: float, clip: float) -> tuple[dict[int, float], float]:
    """Test accuracies by step, with one learning rate and bound, and the last accuracy on held-out people."""
    train, held_out, test = load(training.data, training.people, training.held_out)
    with torch.random.fork_rng():
        torch.manual_seed(training.seed)
        network = made(training.network, train.features.shape[-1]).to(train.features.device)
    source = insecure_seed(training.seed * _SEEDS + 1)
    accuracies = {}

    def watch(step: int) -> None:
        if step % max(1, training.steps // MEASURED_STEPS) == 0:
            accuracies[step] = accuracy(network, test)

    examples = PerExample(network, torch.nn.functional.cross_entropy)
    stepper = torch.optim.Adam(examples.parameters, lr=learning_rate)
    plan = training.plan(clip)
    walk: Any = follow_gaussian if isinstance(plan, GaussianSGD) else follow
    walk(plan, examples, train.features, train.labels, stepper, training.people, source, watch)
    return accuracies, accuracy(network, held_out)


def accuracy(network: torch.nn.Module, part: Part) -> float:
    """The share of pictures that the network reads right."""
    with torch.no_grad():
        seen = torch.cat([network(block).argmax(1) for block in torch.split(part.features, _AT_ONCE)])
    return int((seen == part.labels).sum()) / len(seen)

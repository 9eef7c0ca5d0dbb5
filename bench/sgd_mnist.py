"""The accuracy of MNIST trained with a curator, by the settings of ``PicturePlan``, for several seeds.

``python bench/sgd_mnist.py --epsilon 1 --seeds 0 1 2 3 4 --out rows.csv`` trains the default network on all 60,000
training pictures, a process for each seed on one core each, and tests on 10,000; ``--device cuda`` trains one seed
after another on a GPU. Pictures are those of ``BIPARTITE_DATA``. Words come from a seed, so that a run can be repeated:
such a run is not private. ``--features scattering`` trains a linear model on scattering features, after Tramèr and
Boneh (ICLR 2021). ``--network`` trains another network by the same settings. ``--noise`` is the noise multiplier where
the accountant is not installed; without it, it is computed and printed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch

from bipartite.learn import GaussianSGD, PerExample, PicturePlan, follow, tanh_cnn
from bipartite.lottery import insecure_seed
from reproduction.datasets import mnist

MEAN, DEVIATION = 0.1307, 0.3081
PEOPLE = 60_000
# For scattering features.
BATCH, EPOCHS, RATE = 4096, 40, 8.0


def pictures(part: str, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled by public constants, and what they show."""
    found = mnist(part)
    scaled = (np.asarray(found.images, dtype=np.float32)[:, None] / 255 - MEAN) / DEVIATION
    return torch.from_numpy(scaled).to(device), torch.from_numpy(np.array(found.labels)).to(device, torch.int64)


def scattered(part: str, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Scattering features of pictures from 0 to 1."""
    from reproduction.learning.scattering import Scattering

    found = mnist(part)
    features = Scattering(device).transform(np.asarray(found.images, dtype=np.float64) / 255)
    return torch.from_numpy(features).to(device), torch.from_numpy(np.array(found.labels)).to(device, torch.int64)


class Residual(torch.nn.Module):
    """Two blocks of convolutions that a picture goes round, normalised within each person."""

    def __init__(self) -> None:
        super().__init__()
        nn = torch.nn
        self.first = nn.Conv2d(1, 16, 8, stride=2, padding=3)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.GroupNorm(4, 16), nn.Tanh(), nn.Conv2d(16, 16, 3, padding=1)) for _ in range(2)
        )
        self.last = nn.Sequential(nn.Tanh(), nn.AvgPool2d(2, stride=2), nn.Flatten(), nn.Linear(16 * 49, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Ten scores."""
        x = torch.tanh(self.first(x))
        for block in self.blocks:
            x = x + block(x)
        found: torch.Tensor = self.last(x)
        return found


class Transformer(torch.nn.Module):
    """Attention between the 49 squares of a picture, two layers, layer norms first."""

    def __init__(self) -> None:
        super().__init__()
        nn = torch.nn
        self.squares, self.places = nn.Linear(16, 32), nn.Parameter(0.02 * torch.randn(49, 32))
        layer = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.last = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Ten scores."""
        squares = x.reshape(-1, 7, 4, 7, 4).transpose(2, 3).reshape(-1, 49, 16)
        found: torch.Tensor = self.last(self.layers(self.squares(squares) + self.places).mean(1))
        return found


NETWORKS = {"tanh-cnn": tanh_cnn, "residual": Residual, "transformer": Transformer}


def linear() -> torch.nn.Module:
    """Channels are normalised within each person, by groups of three."""
    return torch.nn.Sequential(torch.nn.GroupNorm(27, 81), torch.nn.Flatten(), torch.nn.Linear(81 * 7 * 7, 10))


def plan_of(features: str, epsilon: float | None, delta: float, noise: float | None) -> GaussianSGD:
    """For all 60,000 people; by ε or by the noise."""
    if features == "pixels":
        return PicturePlan(epsilon or 1.0, delta).for_people(PEOPLE, noise)
    epsilon = epsilon if noise is None else None
    return GaussianSGD(epsilon, delta, 0.1, EPOCHS * PEOPLE // BATCH, BATCH / PEOPLE, noise)


def train(told: argparse.Namespace, noise: float, seed: int) -> None:
    """One training and the accuracy it reaches, as a line of CSV."""
    if told.device == "cpu":
        torch.set_num_threads(1)
    began = time.perf_counter()
    load = pictures if told.features == "pixels" else scattered
    features, labels = load("train", told.device)
    central = plan_of(told.features, told.epsilon, told.delta, noise)
    torch.manual_seed(seed)
    network = (NETWORKS[told.network]() if told.features == "pixels" else linear()).to(told.device)
    gradients = PerExample(network, torch.nn.functional.cross_entropy)
    if told.features == "pixels":
        stepper = PicturePlan(told.epsilon, told.delta).optimizer(gradients.parameters)
    else:
        stepper = torch.optim.SGD(gradients.parameters, lr=RATE, momentum=0.9)
    follow(central, gradients, features, labels, stepper, len(features), insecure_seed(seed + 1))
    tests, answers = load("test", told.device)
    with torch.no_grad():
        right = float((network(tests).argmax(1) == answers).double().mean())
    seconds = time.perf_counter() - began
    name = told.network if told.features == "pixels" else told.features
    told_of = f"{name},{told.epsilon:g},{told.delta:g},{noise:.6g}"
    line = f"{told_of},{central.steps},{seed},{right:.4f},{seconds:.0f},{told.device}"
    print(line, flush=True)
    if told.out is not None:
        with told.out.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")


def main() -> None:
    """Train for every seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--features", choices=("pixels", "scattering"), default="pixels")
    parser.add_argument("--network", choices=tuple(NETWORKS), default="tanh-cnn", help="for pixels")
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--noise", type=float)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    told = parser.parse_args()
    noise = told.noise
    if noise is None:
        noise = 1 / plan_of(told.features, told.epsilon, told.delta, None).grid().ratio
        print(f"noise multiplier {noise!r}", flush=True)
    jobs = [(told, noise, seed) for seed in told.seeds]
    if told.device != "cpu":
        for job in jobs:
            train(*job)
        return
    with multiprocessing.get_context("spawn").Pool(len(jobs)) as pool:
        pool.starmap(train, jobs, chunksize=1)


if __name__ == "__main__":
    main()

"""The accuracy of MNIST trained with a curator, by the settings of ``PicturePlan``, for several seeds.

``python bench/sgd_mnist.py --epsilon 1 --seeds 0 1 2 3 4 --out rows.csv`` trains the default network on all 60,000
training pictures, a process for each seed on one core each, and tests on 10,000; ``--device cuda`` trains one seed
after another on a GPU. Pictures are those of ``BIPARTITE_DATA``. Words come from a seed, so that a run can be repeated:
such a run is not private. ``--features scattering`` trains a linear model on scattering features, after Tramèr and
Boneh (ICLR 2021). ``--noise`` is the noise multiplier where the accountant is not installed; without it, it
is computed and printed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch

from bipartite.learn import GaussianSGD, PerExample, PicturePlan, Scattering, follow, tanh_cnn
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
    found = mnist(part)
    features = Scattering(device).transform(np.asarray(found.images, dtype=np.float64) / 255)
    return torch.from_numpy(features).to(device), torch.from_numpy(np.array(found.labels)).to(device, torch.int64)


def linear() -> torch.nn.Module:
    """Channels are normalised within each person, by groups of three."""
    return torch.nn.Sequential(torch.nn.GroupNorm(27, 81), torch.nn.Flatten(), torch.nn.Linear(81 * 7 * 7, 10))


def plan_of(features: str, epsilon: float | None, delta: float, noise: float | None) -> GaussianSGD:
    """For all 60,000 people; by ε or by the noise."""
    if features == "pixels":
        return PicturePlan(epsilon or 1.0, delta).for_people(PEOPLE, noise)
    epsilon = epsilon if noise is None else None
    return GaussianSGD(epsilon, delta, 0.1, EPOCHS * PEOPLE // BATCH, BATCH / PEOPLE, noise)


def train(data: str, epsilon: float, delta: float, noise: float, seed: int, device: str, out: Path | None) -> None:
    """One training and the accuracy it reaches, as a line of CSV."""
    if device == "cpu":
        torch.set_num_threads(1)
    began = time.perf_counter()
    load = pictures if data == "pixels" else scattered
    features, labels = load("train", device)
    central = plan_of(data, epsilon, delta, noise)
    torch.manual_seed(seed)
    network = (tanh_cnn() if data == "pixels" else linear()).to(device)
    gradients = PerExample(network, torch.nn.functional.cross_entropy)
    gradients.must_be_known()
    if data == "pixels":
        stepper = PicturePlan(epsilon, delta).optimizer(gradients.parameters)
    else:
        stepper = torch.optim.SGD(gradients.parameters, lr=RATE, momentum=0.9)
    follow(central, gradients, features, labels, stepper, len(features), insecure_seed(seed + 1))
    tests, answers = load("test", device)
    with torch.no_grad():
        right = float((network(tests).argmax(1) == answers).double().mean())
    seconds = time.perf_counter() - began
    line = f"{data},{epsilon:g},{delta:g},{noise:.6g},{central.steps},{seed},{right:.4f},{seconds:.0f},{device}"
    print(line, flush=True)
    if out is not None:
        with out.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")


def main() -> None:
    """Train for every seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--features", choices=("pixels", "scattering"), default="pixels")
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
    jobs = [(told.features, told.epsilon, told.delta, noise, seed, told.device, told.out) for seed in told.seeds]
    if told.device != "cpu":
        for job in jobs:
            train(*job)
        return
    with multiprocessing.get_context("spawn").Pool(len(jobs)) as pool:
        pool.starmap(train, jobs, chunksize=1)


if __name__ == "__main__":
    main()

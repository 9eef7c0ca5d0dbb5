"""SGD by a trusted curator with pure ε: the sum of gradients clipped in L1, plus discrete Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from bipartite.errors import InputError
from bipartite.learn import Guarantee, PerExample, Steps
from bipartite.learn.gradients.central import NOT_COVERED, Grid
from bipartite.lottery import Source, discrete_laplace
from bipartite.lottery.integer_noise import flip_coins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

LEAST_RATIO: Final = 2.0**-30
MOST_RATIO: Final = 512.0
"""Bounds over scales of noise for which there is a grid that wastes little: steps of at least 2^10."""
_MARGIN: Final = 1 - 2.0**-30  # so that rounding errors of a norm seldom cost a row
# What floating-point logarithms and sums may lose, many times over.
_UPWARD: Final = 1 + 2.0**-40


def laplace_epsilon(each: float, steps: Steps) -> float:
    """Pure ε, when a record is added or removed, of steps that each keep ``each`` without sampling.

    A step on a sample of rate q costs ln(1 + q(e^ε₀ − 1)) (Li, Qardaji, Su, ASIACCS 2012; Balle, Barthe, Gaboardi,
    NeurIPS 2018), and steps add up.
    """
    return steps.count * math.log1p(steps.rate * math.expm1(each)) * _UPWARD


def laplace_each(epsilon: float, steps: Steps) -> float:
    """What each step may spend, without sampling, so that all together keep ε; ∞ where that is more than a double."""
    try:
        return math.log1p(math.expm1(epsilon / _UPWARD**2 / steps.count) / steps.rate)
    except OverflowError:
        return math.inf


def whole_rows(gradients: torch.Tensor, clip: float, steps: int) -> torch.Tensor:
    """Each row clipped to ``clip`` in L1, as whole numbers (in doubles) of norm at most ``steps``.

    As the library does in L2: what is not a number, or too long by a rounding error, counts as zero. The norm is summed
    by halves of its own row, so that no other person changes it.
    """
    rows = gradients.double()
    norm = rows.abs()
    while norm.shape[1] > 1:
        half = norm.shape[1] // 2
        norm = torch.cat([norm[:, :half] + norm[:, half : 2 * half], norm[:, 2 * half :]], dim=1)
    rows = torch.trunc(rows * (steps * _MARGIN / torch.clamp(norm, min=clip)))
    return torch.where(rows.abs().sum(dim=1, keepdim=True) <= steps, rows, torch.zeros_like(rows))


@dataclass(frozen=True)
class LaplaceSGD:
    r"""SGD with pure ε: gradients clipped in L1, summed over a Poisson sample, plus discrete Laplace noise.

    ``epsilon`` is the promise when a record is added or removed, over all steps; ``clip`` the largest L1 norm of one
    person's gradient, public. The L1 norm of d numbers may be √d times the L2 norm, which is why this needs far more
    noise than :class:`~bipartite.learn.GaussianSGD` on networks.

    Guarantee
    ---------
    ε-DP with δ = 0. One step without sampling keeps ε₀ = (bound in whole numbers)/2\ :sup:`b`, exactly; sampling makes
    it ln(1 + q(e\ :sup:`ε₀` − 1)), and steps add up.
    """

    epsilon: float
    clip: float
    steps: int
    sampling_rate: float

    def __post_init__(self) -> None:
        in_range = self.epsilon > 0 and self.clip > 0 and self.steps >= 1 and 0 < self.sampling_rate <= 1
        if not (in_range and LEAST_RATIO <= laplace_each(float(self.epsilon), self.schedule) <= MOST_RATIO):
            raise InputError(
                f"Expected a plan of which every step can be drawn, got {self}; a step without sampling may spend "
                f"between {LEAST_RATIO:.1g} and {MOST_RATIO:g}."
            )

    @property
    def schedule(self) -> Steps:
        """How many steps, at which rate."""
        return Steps(self.steps, float(self.sampling_rate))

    def grid(self) -> Grid:
        """Scale 2^bits for rows of L1 norm at most ``steps``."""
        return Grid.of(laplace_each(float(self.epsilon), self.schedule))

    def batches(self, people: int, source: Source) -> Iterator[NDArray[np.int64]]:
        """Who is in the sample of each step: everybody on their own, by a coin of probability ``sampling_rate``."""
        for _ in range(self.steps):
            yield np.flatnonzero(flip_coins(people, self.sampling_rate, source))

    def gradient(
        self, gradients: PerExample, features: torch.Tensor, labels: torch.Tensor, people: int, source: Source
    ) -> torch.Tensor:
        """The noised sum over a sample, divided by the public size that a sample of ``people`` has in the mean."""
        grid = self.grid()
        total = discrete_laplace(gradients.size, grid.bits, source)
        for block in gradients.blocks(features, labels):
            total += whole_rows(block, self.clip, grid.steps).sum(dim=0).cpu().numpy().astype(np.int64)
        return torch.from_numpy(total * (self.clip / grid.steps / (self.sampling_rate * people)))

    def guarantee(self, size: int) -> Guarantee:  # noqa: ARG002 (the same for every size)
        """What training promises, where the number of people is a public one."""
        spent = laplace_epsilon(self.grid().ratio, self.schedule)
        return Guarantee("central", spent, 2 * spent, 0.0, NOT_COVERED)

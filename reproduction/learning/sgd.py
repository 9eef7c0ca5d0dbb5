"""SGD with pure ε: by a trusted curator, or on local reports, where nobody is trusted; one loop for both."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from bipartite.errors import InputError
from bipartite.learn import Guarantee, PerExample, tanh_cnn
from bipartite.learn.gradients.central import NOT_COVERED, Grid
from bipartite.learn.gradients.exact_numbers import by_halves
from bipartite.learn.gradients.whole import whole_sum
from bipartite.lottery import Source, discrete_laplace, whole_numbers_below
from bipartite.lottery.integer_noise import flip_coins
from reproduction.learning.coordinates import CoordinateReports, Name, coordinates_for

LEAST_RATIO: Final = 2.0**-30
MOST_RATIO: Final = 512.0
"""Bounds over scales of noise for which there is a grid that wastes little: steps of at least 2^10."""
_MARGIN: Final = 1 - 2.0**-30  # so that rounding errors of a norm seldom cost a row
# What floating-point logarithms and sums may lose, many times over.
_UPWARD: Final = 1 + 2.0**-40
_NOT_COVERED_LOCALLY: Final = (
    "who takes part, and in which step",
    "a second fit with the same people, tuning too, spends ε again",
    "the clipping bound, batch, network and its first weights are public",
    "devices: gradients and reports of everybody are computed here; the promise is about reports made by each alone",
)
_WORDS: Final = 2**63
_BLOCK: Final = 256  # people whose gradients are in memory at a time


def laplace_epsilon(each: float, steps: int, rate: float) -> float:
    """Pure ε, when a record is added or removed, of steps that each keep ``each`` without sampling.

    A step on a sample of rate q costs ln(1 + q(e^ε₀ − 1)) (Li, Qardaji, Su, ASIACCS 2012; Balle, Barthe, Gaboardi,
    NeurIPS 2018), and steps add up.
    """
    return steps * math.log1p(rate * math.expm1(each)) * _UPWARD


def laplace_each(epsilon: float, steps: int, rate: float) -> float:
    """What each step may spend, without sampling, so that all together keep ε; ∞ where that is more than a double."""
    try:
        return math.log1p(math.expm1(epsilon / _UPWARD**2 / steps) / rate)
    except OverflowError:
        return math.inf


def whole_rows(gradients: torch.Tensor, clip: float, steps: int) -> torch.Tensor:
    """Each row clipped to ``clip`` in L1, as whole numbers (in doubles) of norm at most ``steps``.

    As the library does in L2: what is not a number, or too long by a rounding error, counts as zero. The norm is summed
    by halves of its own row, so that no other person changes it.
    """
    rows = gradients.double()
    rows = torch.trunc(rows * (steps * _MARGIN / torch.clamp(by_halves(rows.abs())[:, None], min=clip)))
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
        if not (in_range and LEAST_RATIO <= laplace_each(self.epsilon, self.steps, self.sampling_rate) <= MOST_RATIO):
            raise InputError(
                f"Expected a plan of which every step can be drawn, got {self}; a step without sampling may spend "
                f"between {LEAST_RATIO:.1g} and {MOST_RATIO:g}."
            )

    def grid(self) -> Grid:
        """Scale 2^bits for rows of L1 norm at most ``steps``."""
        return Grid.of(laplace_each(self.epsilon, self.steps, self.sampling_rate))

    def gradients(
        self, examples: PerExample, features: torch.Tensor, labels: torch.Tensor, people: int, source: Source
    ) -> Iterator[torch.Tensor]:
        """The noised sum over each sample, divided by the public size that a sample of ``people`` has in the mean.

        Everybody is in a sample on their own, by a coin of probability ``sampling_rate``.
        """
        grid = self.grid()
        for _ in range(self.steps):
            sample = np.flatnonzero(flip_coins(len(features), self.sampling_rate, source))
            at = torch.from_numpy(sample).to(features.device)
            total = discrete_laplace(examples.size, grid.bits, source)
            for block in examples.blocks(features[at], labels[at]):
                total += whole_sum(whole_rows(block, self.clip, grid.steps))
            yield torch.from_numpy(total * (self.clip / grid.steps / (self.sampling_rate * people)))

    def guarantee(self, size: int) -> Guarantee:  # noqa: ARG002 (the same for every size)
        """What training promises, where the number of people is a public one."""
        spent = laplace_epsilon(self.grid().ratio, self.steps, self.sampling_rate)
        return Guarantee("central", spent, 2 * spent, 0.0, NOT_COVERED)


@dataclass(frozen=True)
class LocalSGD:
    r"""SGD on local reports: people are split into batches, and each person reports k coordinates of one gradient.

    ``epsilon`` is what one person spends, once, on features and label together; the public ``clip``
    bounds each coordinate. ``batch`` people answer each version of the network; who does not fill a last batch is not
    asked. ``coordinates`` is k; None is one for each 2.5 of ε, at least 1.

    Guarantee
    ---------
    ε-LDP for everybody: k reports of ε/k each, about a choice of coordinates that does not look at the data.

    Notes
    -----
    The estimate of a coordinate of n people's mean gradient is unbiased (of the clipped gradients) and has variance
    Σ_i[(d/k)(v(g_i) + g_i²) − g_i²]/n²: it grows with d, and at k = 1 like 1/ε², which is why this learns small models
    from many people and large networks hardly at all.
    """

    epsilon: float
    clip: float
    batch: int
    mechanism: Name = "brr"
    coordinates: int | None = None
    points: int = 21

    def batches(self, people: int, source: Source) -> Iterator[NDArray[np.int64]]:
        """Everybody at most once, in an order drawn without looking at the data."""
        order = np.argsort(whole_numbers_below(_WORDS, people, source), kind="stable")
        if people < self.batch:
            raise InputError(f"Expected at least {self.batch} people for one batch, got {people}; use a smaller batch.")
        for start in range(0, people - self.batch + 1, self.batch):
            yield order[start : start + self.batch]

    def reports(self, size: int) -> CoordinateReports:
        """Both halves of the protocol, for a network of ``size`` parameters."""
        wanted = coordinates_for(self.epsilon, size) if self.coordinates is None else self.coordinates
        return CoordinateReports(self.mechanism, self.epsilon, self.clip, size, wanted, self.points)

    def gradients(
        self,
        examples: PerExample,
        features: torch.Tensor,
        labels: torch.Tensor,
        people: int,  # noqa: ARG002 (the number of rows counts)
        source: Source,
    ) -> Iterator[torch.Tensor]:
        """The mean gradient of each batch, estimated from reports on which its people spend their ε."""
        reports = self.reports(examples.size)  # refuses what cannot be reported, before anybody is asked
        for rows in self.batches(len(features), source):
            at = torch.from_numpy(rows).to(features.device)
            starts = reports.starts(len(rows), source)
            own = coordinates_of(examples.network, features[at], labels[at], reports.chosen(starts))
            yield torch.from_numpy(reports.totals(starts, reports.report(own, source)) / len(rows))

    def guarantee(self, size: int) -> Guarantee:
        """What training promises; refuses what cannot be reported."""
        self.reports(size)
        return Guarantee("local", float("inf"), float(self.epsilon), 0.0, _NOT_COVERED_LOCALLY)


def coordinates_of(
    network: torch.nn.Module, features: torch.Tensor, labels: torch.Tensor, which: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Of each person's gradient the coordinates in that person's row of ``which``.

    Gradients are torch's own, in doubles. Their last bits may depend on who else is in the block, which local reports
    allow: people who compute them alone, on their devices, have no block.
    """
    weights = {name: each.detach().double() for name, each in network.named_parameters()}
    trained = {name: weights.pop(name) for name, each in network.named_parameters() if each.requires_grad}

    def of_one(trained: dict[str, torch.Tensor], row: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return cross_entropy(functional_call(network, {**weights, **trained}, (row[None],)), label[None])

    gradients = vmap(grad(of_one), in_dims=(None, 0, 0))
    found = []
    for first in range(0, len(which), _BLOCK):
        here = slice(first, first + _BLOCK)
        rows = gradients(trained, features[here].double(), labels[here])
        every = torch.cat([each.flatten(1) for each in rows.values()], dim=1)
        found.append(every.gather(1, torch.from_numpy(which[here]).to(every.device)).cpu().numpy())
    return np.concatenate(found)


class Plan(Protocol):
    """How gradients are released, step after step."""

    def gradients(
        self, examples: PerExample, features: torch.Tensor, labels: torch.Tensor, people: int, source: Source
    ) -> Iterator[torch.Tensor]:
        """The released gradient of each step."""


def follow(  # noqa: PLR0913, PLR0917 (as the library's)
    plan: Plan,
    examples: PerExample,
    features: torch.Tensor,
    labels: torch.Tensor,
    stepper: torch.optim.Optimizer,
    people: int,
    source: Source,
    watch: Callable[[int], None] = lambda _: None,
) -> None:
    """All steps of a plan, on features and labels with one row a person; ``watch`` gets the number of each."""
    for done, gradient in enumerate(plan.gradients(examples, features, labels, people, source), 1):
        examples.assign(gradient.to(features.device))
        stepper.step()
        watch(done)
    stepper.zero_grad()


def paper_cnn() -> torch.nn.Module:
    """The paper's network for 28 × 28 pictures and ten classes: 26,010 parameters.

    Conv16(8×8, stride 2, same) – pool(2, stride 1) – Conv32(4×4, stride 2, valid) – pool(2, stride 1) – Dense32 –
    Dense10, with rectifiers; pools take the largest. The library's ``tanh_cnn`` is this network with tanh.
    """
    layers = tanh_cnn().children()
    return torch.nn.Sequential(*(torch.nn.ReLU() if isinstance(each, torch.nn.Tanh) else each for each in layers))

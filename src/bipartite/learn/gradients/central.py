"""SGD by a trusted curator: the sum of clipped gradients, plus whole-number noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from bipartite.errors import InputError, Problems
from bipartite.learn.gradients import accounting
from bipartite.learn.gradients.accounting import LEAST_NOISE, MOST_NOISE, Steps
from bipartite.learn.gradients.checks import REFUSALS, positive, whole
from bipartite.learn.gradients.whole import MOST_STEPS
from bipartite.learn.guarantee import Guarantee
from bipartite.lottery.integer_noise import GAUSSIAN_SLACK, MOST_BITS, flip_coins, rounded_gaussian

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bipartite.learn.gradients.per_example import PerExample
    from bipartite.lottery import Source

NOT_COVERED: Final = (
    (
        "tuning: every fit on the same data spends its own ε, also where the best is then chosen on held-out data; "
        "tune on public or made-up data"
    ),
    "the clipping bound, sampling rate, steps, network and first weights are public; they must not come from the data",
    (
        "how features were computed: each person's must come from that person's data alone, without a mean, a scale or "
        "an order taken from others"
    ),
    "the time that training takes, which grows with the size of the samples and differs with the numbers in them",
    REFUSALS,
    (
        "a processor or library that does not keep IEEE 754, of which the proof of one-persons-row.md assumes rounding "
        "to nearest, subnormal numbers, and matrix products of doubles that are sums of products; or a torch whose "
        "rules for many people at once (vmap) mix them, which no test has found in the operations that are known"
    ),
)
NO_PEOPLE: Final = (
    "the number of people: every step was divided by it, so that nothing is promised about adding or removing a "
    "record; give people= for that"
)


@dataclass(frozen=True)
class Grid:
    """Whole-number noise of scale 2^bits for rows of norm at most ``steps``."""

    bits: int
    steps: int

    @classmethod
    def of(cls, ratio: float) -> Grid:
        """The finest grid on which steps/2^bits is at most ``ratio``, the bound over the scale of the noise."""
        bits = min(MOST_BITS, math.floor(math.log2(MOST_STEPS / ratio)))
        return cls(bits, min(MOST_STEPS, math.floor(ratio * 2.0**bits)))

    @property
    def ratio(self) -> float:
        """Bound over scale, exactly: a fraction with a power of two below."""
        return self.steps / 2.0**self.bits


# Of δ, what is kept for the difference between the drawn noise and the ideal one.
_SLACK_SHARE: Final = 2.0**-20


@dataclass(frozen=True)
class GaussianSGD:
    r"""DP-SGD: gradients clipped in L2, summed over a Poisson sample, plus Gaussian noise: (ε, δ).

    The noise is 2\ :sup:`b` times a standard normal number, rounded to whole numbers, on sums that are whole numbers
    already: the continuous Gaussian mechanism followed by rounding, so that its accounting holds, and no floating-point
    number carries what noise should hide (Mironov, CCS 2012).

    Parameters
    ----------
    epsilon, delta
        The promise when a record is added or removed. About 1/10 of one over the number of people is a usual δ.
    clip
        The largest L2 norm of one person's gradient; public.
    steps
        How many noised gradients.
    sampling_rate
        The probability of everybody, in every step, to be in the sample.
    noise_multiplier
        The noise in units of ``clip`` where it is known already; ε is then computed from it, and ``epsilon`` must be
        None.

    Guarantee
    ---------
    (ε, δ)-DP of all released weights, by ``dp_accounting``'s privacy loss distributions over ``steps`` Poisson-sampled
    Gaussian mechanisms. Finding the noise for an ε takes some seconds, once for each setting.

    Reference
    ---------
    Abadi et al.: *Deep Learning with Differential Privacy* (CCS 2016).
    """

    epsilon: float | None
    delta: float
    clip: float
    steps: int
    sampling_rate: float
    noise_multiplier: float | None = None

    def __post_init__(self) -> None:
        problems = Problems()
        positive("clip", self.clip, problems, hint="1.0 is a usual bound on the norm of one person's gradient")
        whole("steps", self.steps, problems, hint="a few hundred are usual")
        positive("sampling_rate", self.sampling_rate, problems, below=1, hint="1.0 uses everybody in every step")
        if (self.epsilon is None) == (self.noise_multiplier is None):
            problems.add("Expected either epsilon or noise_multiplier, got both or none; set the other to None.")
        elif self.epsilon is None:
            positive("noise_multiplier", self.noise_multiplier, problems, below=MOST_NOISE, hint="1.0 is usual")
            if not problems and (self.noise_multiplier or 0) < LEAST_NOISE:
                problems.add(f"Expected noise_multiplier of at least {LEAST_NOISE:g}; less promises nothing.")
        else:
            positive("epsilon", self.epsilon, problems)
        positive("delta", self.delta, problems, below=0.5, hint="1e-6 is usual")
        problems.raise_if_any(InputError)

    @property
    def schedule(self) -> Steps:
        """How many steps, at which rate."""
        return Steps(self.steps, self.sampling_rate)

    def grid(self) -> Grid:
        """Standard deviation 2^bits for rows of L2 norm at most ``steps``."""
        noise = self.noise_multiplier
        if noise is None:
            assert self.epsilon is not None  # noqa: S101 (one of the two is given)
            # The finest part of δ pays for the bits that the noise's words do not have; see guarantee.
            noise = accounting.gaussian_multiplier(float(self.epsilon), self.delta * (1 - _SLACK_SHARE), self.schedule)
        return Grid.of(1 / noise)

    def batches(self, people: int, source: Source) -> Iterator[NDArray[np.int64]]:
        """Who is in the sample of each step: everybody on their own, by a coin of probability ``sampling_rate``."""
        for _ in range(self.steps):
            yield np.flatnonzero(flip_coins(people, self.sampling_rate, source))

    def gradient(
        self,
        gradients: PerExample,
        features: torch.Tensor,
        labels: torch.Tensor,
        people: int,
        source: Source,
    ) -> torch.Tensor:
        """The noised sum over a sample, divided by the public size that a sample of ``people`` has in the mean."""
        grid = self.grid()
        total = gradients.clipped_sum(features, labels, self.clip, grid.steps)
        total += rounded_gaussian(gradients.size, grid.bits, source)
        return torch.from_numpy(total * (self.clip / grid.steps / (self.sampling_rate * people)))

    def guarantee(self, size: int) -> Guarantee:
        """What training a network of ``size`` parameters promises, where the number of people is a public one."""
        multiplier = 1 / self.grid().ratio
        epsilons = [
            accounting.gaussian_epsilon(multiplier, self.schedule, self.delta * (1 - _SLACK_SHARE), each)
            for each in ("add_remove", "replace")
        ]
        # Ideal and drawn noise differ by η in total variation, which costs (1 + e^ε)·η of δ.
        log_eta = math.log(GAUSSIAN_SLACK * size * self.steps)
        fits = [math.log(2) + each + log_eta <= math.log(_SLACK_SHARE * self.delta) for each in epsilons]
        add_remove, replace = (each if fit else math.inf for each, fit in zip(epsilons, fits, strict=True))
        return Guarantee("central", add_remove, replace, self.delta, NOT_COVERED)

"""The paper's protocols for gradients and networks as it describes them, and why none of them keeps an ε.

None of them is offered for use: they are here so that the paper's figures can be run and seen for what they are.

- **BRR-SGD** (appendix B.2): a gradient coordinate is reported by BRR on [0, C_t] or on [−C_t, 0], where it lies.
  The interval, and so the sign, is published: a positive and a negative value have no report in common but zero. ε = ∞.
- **Laplace DP-SGD** with the same adaptive bound C_t: the scale of the noise is computed from private norms, and two
  scales of Laplace noise have no bounded ratio. ε = ∞.
- **Additive bounded noise** (the network of appendix B.3 as scripted): x plus a uniform number within ±0.1, whatever ε
  is. Two values more than 0.2 apart have no report in common. ε = ∞.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bipartite.domains import Interval
from bipartite.lottery import Source, discrete_laplace, whole_numbers_below
from bipartite.mechanisms import BRR

Array = NDArray[np.float64]

FIRST_BOUND: Final = 1.0
DECAY: Final = 0.99
LEAST_BOUND: Final = 1e-3
POINTS: Final = 21
_LAPLACE_BITS: Final = 24
_FRACTION: Final = 2**53
_HALF_WIDTH: Final = 0.1


def next_bound(bound: float, mean_norm: float) -> float:
    """C_t = max(ρ·C_(t−1) + (1 − ρ)·(mean gradient norm), C_min): computed from private gradients, as described."""
    return max(DECAY * bound + (1 - DECAY) * mean_norm, LEAST_BOUND)


@dataclass(frozen=True)
class HalfIntervalBRR:
    """BRR-SGD: every coordinate of the clipped mean gradient, by BRR on the half of [−C, C] in which it lies."""

    epsilon: float

    def perturbed(self, gradient: Array, bound: float, batch: int, source: Source) -> Array:  # noqa: ARG002
        """The released gradient."""
        mechanism = BRR(Interval(0, 1, points=POINTS), self.epsilon)
        reports: Array = mechanism.privatize(np.minimum(np.abs(gradient) / bound, 1.0), rng=source)
        return np.copysign(reports * bound, gradient)


@dataclass(frozen=True)
class AdaptiveLaplace:
    """The rival: Laplace noise of scale C_t/ε on every coordinate, of the sum (Abadi et al.), or of the mean.

    The paper does not say which. On the mean the noise is ``batch`` times larger. Readings that it does not state
    either: ``times`` as much noise, as if ε were split over so many epochs; and ``in_half``, the released coordinate
    clamped to [0, C_t] or [−C_t, 0], where it lies: the range that BRR-SGD has.
    """

    epsilon: float
    of: str = "sum"
    times: int = 1
    in_half: bool = False

    def perturbed(self, gradient: Array, bound: float, batch: int, source: Source) -> Array:
        """The released mean gradient."""
        noise = discrete_laplace(len(gradient), _LAPLACE_BITS, source) / 2.0**_LAPLACE_BITS
        scale = bound / self.epsilon * self.times
        released: Array = gradient + noise * (scale / batch if self.of == "sum" else scale)
        if not self.in_half:
            return released
        return np.clip(released, np.where(gradient < 0, -bound, 0), np.where(gradient < 0, 0, bound))

    def epsilon_with_public_bound(self, size: int, batch: int, epochs: float) -> float:
        """What it would spend if C_t were public, with a record added or removed.

        ε on every coordinate, for an L2 norm of at most C is an L1 norm of up to √size·C, and in every epoch.
        """
        each = math.sqrt(size) * self.epsilon / self.times / (1 if self.of == "sum" else batch)
        return math.inf if self.in_half else each * math.ceil(epochs)


def protocol_of(mechanism: str, epsilon: float) -> HalfIntervalBRR | AdaptiveLaplace:
    """The paper's protocol of this name, or a reading of it: ``paper-laplace-x4-in-half`` has four times the noise."""
    if mechanism == "paper-brr":
        return HalfIntervalBRR(epsilon)
    if mechanism == "paper-laplace-of-the-mean":
        return AdaptiveLaplace(epsilon, "mean")
    reading = mechanism.removeprefix("paper-laplace")
    times, in_half = reading.removesuffix("-in-half").removeprefix("-x"), reading.endswith("-in-half")
    return AdaptiveLaplace(epsilon, times=int(times or 1), in_half=in_half)


def with_bounded_noise(values: Array, source: Source) -> Array:
    """Each value plus a uniform number within ±0.1: the noise of the scripts."""
    shares = whole_numbers_below(_FRACTION, np.size(values), source).reshape(np.shape(values)) / _FRACTION
    moved: Array = np.asarray(values, dtype=np.float64) + _HALF_WIDTH * (2 * shares - 1)
    return moved

"""What is released of a side of a cut, n records whose gradients sum to Σ, a whole number of units of 2^−20.

Σ and n, each with discrete Laplace noise, which are divided afterwards. A record that is added or removed changes Σ by
at most 2^20 units and n by at most 1. Sides without records are released like all others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from bipartite.learn.boosting.compiled import GRADIENT_BITS
from bipartite.lottery.integer_noise import discrete_laplace_of_rate

if TYPE_CHECKING:
    from bipartite.lottery import Stream

UNIT: Final = 2**GRADIENT_BITS
"""Units in the largest gradient."""
_SUM_SHARE: Final = Fraction(4, 5)
"""The share of a leaf's ε that the sum spends; the count spends the rest."""
_SHRINK: Final = 5
"""A noisy count is raised by this over ε, so that leaves of few records, which are mostly noise, move no score far."""


@dataclass(frozen=True)
class NoisySums:
    """Sum and count of a leaf, each with noise of its own: two queries that share ε."""

    epsilon: Fraction

    @property
    def sum_rate(self) -> Fraction:
        """Noise of the sum falls by the factor e^−rate from one unit to the next."""
        return self.epsilon * _SUM_SHARE / UNIT

    @property
    def count_rate(self) -> Fraction:
        """Noise of the count falls by the factor e^−rate from one record to the next."""
        return self.epsilon * (1 - _SUM_SHARE)

    def draw(self, count: int, total: int, stream: Stream) -> int:
        """The released value, in units."""
        noisy_total = total + discrete_laplace_of_rate(self.sum_rate, stream)
        noisy_count = count + discrete_laplace_of_rate(self.count_rate, stream)
        return self.value(noisy_count, noisy_total)

    def value(self, noisy_count: int, noisy_total: int) -> int:
        """−Σ/(n + 5/ε) of what was released, within [−1, 1]; no further ε is spent here."""
        count = max(noisy_count, 0) + math.ceil(_SHRINK / self.epsilon)
        return min(max(-noisy_total // count, -UNIT), UNIT)

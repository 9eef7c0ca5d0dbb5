r"""Scores of windows around a circle: the Fourier transform of an answer divided by that of the mechanism.

P is circulant: with the waves e^(2πikx/N) as coordinates it multiplies wave k by a number λ_k, 1 for k = 0 and
(p − q)·Σ_{j<m} e^(2πik(j − ⌊m/2⌋)/N) for the others. That sum is zero exactly where N divides k·m: for gcd(m, N) − 1 of
the waves, those that repeat every g = gcd(m, N) values. Which k these are is decided in whole numbers.

So reports cannot tell how people are spread over the g classes x mod g (every window holds as many values of each), and
can tell everything else. An unbiased score of an answer divides its waves by λ_k; where waves are lost, an answer that
holds none of them has many scores, and the one without them has the least variance for a uniform population.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.scores import Moments, Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.operator import Ring

    Array = NDArray[np.float64]

# Tolerance, relative to the largest weight, for waves that an answer does not contain.
_ROUNDED: Final = 1e-9


class RingScores(Scores):
    """Scores of windows around a circle, in closed form."""

    def __init__(self, ring: Ring) -> None:
        self.rows = self.outputs = ring.inputs
        factors = ring.factors()
        self._lost = ring.lost()
        self._inverse = np.divide(1.0, factors, out=np.zeros_like(factors), where=~self._lost)

    def of(self, w: Array) -> Array | None:
        waves = np.fft.rfft(w, axis=-1)
        size = self.rows * max(1.0, float(np.abs(w).max()))
        if (np.abs(waves[..., self._lost]) > _ROUNDED * size).any():
            return None
        found: Array = np.fft.irfft(waves * self._inverse, self.rows, axis=-1)
        return found

    def _of_share(self) -> Array:
        """The score of the share of the first value; those of the others are rotations of it."""
        found: Array = np.fft.irfft(self._inverse, self.rows)
        return found

    def shares(self, law: Array) -> Moments:
        score = self._of_share()
        return Moments(*(self._turned(law, each) for each in (score, score**2)))

    def _turned(self, law: Array, score: Array) -> Array:
        """Σ_y law_y·score_{y−x} for every x."""
        product = np.fft.rfft(law) * np.conj(np.fft.rfft(score))
        found: Array = np.fft.irfft(product, self.rows)
        return found

    def cumulative(self, law: Array) -> Moments:
        scores = np.array([np.roll(self._of_share(), x) for x in range(self.rows)]).cumsum(axis=0)
        return Moments(scores @ law, scores**2 @ law)

    def share_spreads(self) -> Array:
        return np.full(self.rows, float(np.ptp(self._of_share())))

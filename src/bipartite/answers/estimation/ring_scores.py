r"""Scores of windows on a circle: the Fourier transform of an answer divided by that of the mechanism.

P is circulant, so the waves e^(2πikx/N) are its eigenvectors. The eigenvalue λ_k is 1 for k = 0 and
(p − q)·Σ_{j<m} e^(2πik(j − ⌊m/2⌋)/N) for k > 0. That sum is zero exactly if N divides k·m: for gcd(m, N) − 1 of the
frequencies, those whose waves have period g = gcd(m, N). Which k these are is decided in integer arithmetic.

So the distribution of people over the g classes x mod g is not identifiable (every window contains equally many values
of each class), and everything else is. An unbiased score of an answer divides its Fourier coefficients by λ_k. If
frequencies are lost, an answer that contains none of them has many unbiased scores, and the one that does not contain
them either has the least variance for a uniform population.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.output_scores import Moments, Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Ring

    Array = NDArray[np.float64]

# The tolerance, relative to the largest weight, for Fourier coefficients that count as zero.
_ROUNDED: Final = 1e-9


class RingScores(Scores):
    """Scores of windows on a circle, in closed form."""

    fits_a_law = False

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

    def _share_score(self) -> Array:
        """The score of the share of the first value; those of the others are rotations of it."""
        found: Array = np.fft.irfft(self._inverse, self.rows)
        return found

    def shares(self, law: Array) -> Moments:
        score = self._share_score()
        return Moments(*(self._correlate(law, each) for each in (score, score**2)))

    def _correlate(self, law: Array, score: Array) -> Array:
        """The circular correlation Σ_y law_y·score_{y−x} for every x."""
        product = np.fft.rfft(law) * np.conj(np.fft.rfft(score))
        found: Array = np.fft.irfft(product, self.rows)
        return found

    def cumulative(self, law: Array) -> Moments:
        scores = np.array([np.roll(self._share_score(), x) for x in range(self.rows)]).cumsum(axis=0)
        return Moments(scores @ law, scores**2 @ law)

    def share_spreads(self) -> Array:
        return np.full(self.rows, float(np.ptp(self._share_score())))

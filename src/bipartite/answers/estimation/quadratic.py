"""One Newton step towards the most likely distribution: the maximum of a quadratic model over all distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TINY: Final = 1e-140
"""Probabilities are raised to at least this, so that their inverse squares are finite."""
# Keeps steps short if the rows of two values are almost equal.
RIDGE: Final = 1e-10
_EXCHANGES: Final = 15
# Relative tolerance for rounding.
ROUNDED: Final = 1e-13


class Quadratic:
    """The quadratic model of the tilted log-likelihood around x, over z ≥ 0 of sum 1.

    Its gradient at z is 2·slopes + tilt − curvature·z, because curvature·x = slopes. Where the rows of some values
    almost depend on each other, ``ridge`` keeps z near x. All is held in units in which every value has curvature one.
    """

    def __init__(self, curvature: Array, slopes: Array, tilt: Array, x: Array, ridge: float) -> None:
        self._scale = 1 / np.sqrt(np.maximum(np.diag(curvature), TINY + RIDGE * slopes.max()))
        self._matrix = curvature * self._scale * self._scale[:, None]
        self._matrix.flat[:: len(x) + 1] += ridge
        self._begin = x / self._scale
        self._linear = (2 * slopes + tilt) * self._scale + ridge * self._begin
        self.solved = 0

    def top(self) -> Array:
        """The maximum or, failing that, a point where the model is larger than at x."""
        exchanged = self._by_exchanging()
        z: Array = self._scale * (self._by_dropping() if exchanged is None else exchanged)
        return z

    def _solve(self, used: Array) -> tuple[Array, Array]:
        """(the maximum over only these values, which may be negative; the slopes of the others)."""
        at = np.flatnonzero(used)
        many = len(at)
        system = np.zeros((many + 1, many + 1))
        system[:many, :many] = self._matrix[np.ix_(at, at)]
        system[many, :many] = system[:many, many] = self._scale[at]
        solution = np.linalg.solve(system, np.append(self._linear[at], 1.0))
        self.solved += 1
        z = np.zeros(len(used))
        z[at] = solution[:many]
        return z, self._matrix @ z - self._linear + self._scale * solution[many]

    def _by_exchanging(self) -> Array | None:
        """All values on the wrong side change it at once: those below zero, and those at zero that would gain.

        That takes a few rounds even with a thousand values (block principal pivoting; Júdice, Pires 1994), but need not
        come to an end where rows almost depend on each other.
        """
        used = np.ones(len(self._begin), bool)
        for _ in range(_EXCHANGES):
            z, lost = self._solve(used)
            wrong = np.where(used, z < 0, lost < -1e-9 * np.abs(self._linear))
            if not wrong.any():
                return z
            used ^= wrong
        return None

    def _by_dropping(self) -> Array:
        """From x on towards the top until a value is at zero, which is dropped; a few times, for each is a gain."""
        y: Array = self._begin.copy()
        used = np.ones(len(y), bool)
        for _ in range(_EXCHANGES):
            z, _ = self._solve(used)
            low = used & (z < 0)
            if not low.any():
                y = z
                break
            length = float((y[low] / (y[low] - z[low])).min())
            y += length * (z - y)
            ended = low & (y <= ROUNDED * np.abs(z))
            y[ended] = 0.0
            used &= ~ended
        return y

"""One Newton step of a maximum-likelihood fit: maximize a quadratic model over all distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TINY: Final = 1e-140
"""Probabilities are clipped from below at this value, so that their inverse squares are finite."""
# Regularization, which keeps steps short if the rows of two values are almost equal.
RIDGE: Final = 1e-10
_ROUNDS: Final = 15
# The relative tolerance for rounding errors.
ROUNDED: Final = 1e-13


class Quadratic:
    """The quadratic model of the tilted log-likelihood around x, over z ≥ 0 with sum 1.

    Its gradient at z is 2·slopes + tilt − curvature·z, because curvature·x = slopes. If the rows of some values
    are almost linearly dependent, ``ridge`` keeps z near x. Variables are scaled so that every value has curvature one.
    """

    def __init__(self, curvature: Array, slopes: Array, tilt: Array, x: Array, ridge: float) -> None:
        self._scale = 1 / np.sqrt(np.maximum(np.diag(curvature), TINY + RIDGE * slopes.max()))
        self._matrix = curvature * self._scale * self._scale[:, None]
        self._matrix.flat[:: len(x) + 1] += ridge
        self._start = x / self._scale
        self._linear = (2 * slopes + tilt) * self._scale + ridge * self._start
        self.solved = 0

    def maximizer(self) -> Array:
        """The maximizer or, if it is not found, a point where the model is larger than at x."""
        pivoted = self._maximize_by_pivoting()
        z: Array = self._scale * (self._maximize_by_dropping() if pivoted is None else pivoted)
        return z

    def _solve(self, used: Array) -> tuple[Array, Array]:
        """(the maximizer on these values only, which may be negative; the Lagrange multipliers of the others)."""
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

    def _maximize_by_pivoting(self) -> Array | None:
        """Block principal pivoting: drop all negative values and readmit all that would gain, at once.

        That takes a few rounds (Júdice, Pires 1994) even with a thousand values, but need not terminate if rows are
        almost linearly dependent.
        """
        used = np.ones(len(self._start), bool)
        for _ in range(_ROUNDS):
            z, lost = self._solve(used)
            wrong = np.where(used, z < 0, lost < -1e-9 * np.abs(self._linear))
            if not wrong.any():
                return z
            used ^= wrong
        return None

    def _maximize_by_dropping(self) -> Array:
        """Move from x towards the maximizer until a value reaches zero, drop that value, repeat; every move gains."""
        y: Array = self._start.copy()
        used = np.ones(len(y), bool)
        for _ in range(_ROUNDS):
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

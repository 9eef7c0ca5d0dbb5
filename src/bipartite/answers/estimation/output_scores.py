r"""Scores: the contribution of each report to an unbiased answer.

A linear answer about the people, Σ_x w_x·f_x (the mean, a share, the cumulative distribution at a point), is estimated
by the average of a score u(y) over the reports. It is unbiased for **every** population exactly when Pu = w: the
expected score of a person is that person's weight. Of all such scores, the one of least variance under a distribution r
of reports minimises Σ_y r_y·u_y², and that minimum is wᵀI⁻¹w with the information matrix I = P·diag(1/r)·Pᵀ.

:class:`WindowScores` computes it in closed form in O(N + M). With rows q + e·[x ≤ y < x + m], Pu = w says

- u_{x+m} − u_x = (w_{x+1} − w_x)/e for every x: within a class of outputs y ≡ j (mod m) all scores follow from the
  first, a_j, by running sums s;
- Σ_j h_j·a_j + q·Σs = w_0 with h_j = q·(size of class j) + e, for the level.

Minimising Σ r·(a_j + s)² under that one condition gives a_j = (μ·h_j − Σ_class r·s)/R_j, R_j = Σ_class r.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import DesignError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Window

    Array = NDArray[np.float64]

MOST_DENSE: Final = 2048
"""An unstructured matrix with more distinct rows than this is not decomposed."""
_ROOM: Final = 2**23
_SOLVED: Final = 1e-7
STEADY: Final = 1e-9
"""Singular values below this fraction of the largest come from rounding, by a solver or of probabilities to tickets."""


@dataclass(frozen=True, slots=True)
class Moments:
    """The mean and the mean square of the scores of many answers, under some distribution of reports."""

    mean: Array
    square: Array


class Scores(ABC):
    """The scores of least variance for a matrix of distinct rows and a distribution of reports."""

    rows: int
    outputs: int

    @abstractmethod
    def of(self, w: Array) -> Array | None:
        """Scores u with Pu = w, for one w over the distinct rows, or several as rows; None if there are none."""

    @abstractmethod
    def shares(self, law: Array) -> Moments:
        """The moments of every row's own share, under this distribution of reports; every row must be identifiable."""

    @abstractmethod
    def cumulative(self, law: Array) -> Moments:
        """The moments of cumulative shares of rows, under this distribution; every row must be identifiable."""

    fits_a_law = True
    """Whether the scores depend on the distribution of reports; otherwise no others are unbiased, or none is known."""

    def share_spreads(self) -> Array:
        """The largest minus the smallest score of every row's own share; infinite if there is none."""
        u = self.of(np.eye(self.rows))
        return np.full(self.rows, np.inf) if u is None else u.max(axis=1) - u.min(axis=1)


class WindowScores(Scores):
    """Scores of a window that shifts by one with every value, in closed form, O(N + M)."""

    def __init__(self, window: Window, law: Array) -> None:
        self.rows, self.outputs = window.inputs, window.outputs
        self._m, self._q, self._e = window.m, window.q, window.excess
        self.fits_a_law = self._m > 1
        self._length = -(-self.outputs // self._m)
        self._there = self._by_class(np.ones(self.outputs))
        """1 for every output, by class; 0 past the end of a class."""
        self._probabilities = self._q * self._there.sum(axis=0) + self._e
        """h_j, the probability of each class."""
        self._law = self._by_class(law)
        self._weight = self._law.sum(axis=0)
        self._ratio = self._probabilities / self._weight
        self._scale = float((self._probabilities * self._ratio).sum())

    def _by_class(self, values: Array) -> Array:
        """Values of outputs as a table: row k, column j for output j + k·m; zero past the end."""
        full = np.zeros((*values.shape[:-1], self._length * self._m))
        full[..., : values.shape[-1]] = values
        return full.reshape(*values.shape[:-1], self._length, self._m)

    def of(self, w: Array) -> Array:
        many = w.ndim > 1
        found = np.concatenate([self._block(block) for block in _blocks(np.atleast_2d(w), self.outputs)])
        return found if many else found[0]

    def _block(self, w: Array) -> Array:
        """The scores of some rows of w: running sums s along each class, then the first score a_j of each class."""
        # Step x leads from output x to output x + m, the next of its class.
        steps = np.zeros((len(w), self._length * self._m))
        steps[:, self._m : self._m + self.rows - 1] = np.diff(w, axis=-1) / self._e
        sums = steps.reshape(len(w), self._length, self._m).cumsum(axis=1) * self._there
        averages = (sums * self._law).sum(axis=-2) / self._weight
        level = w[..., 0] - self._q * sums.sum(axis=(-2, -1)) + averages @ self._probabilities
        sums -= averages[:, None, :]
        sums += ((level[:, None] / self._scale) * self._ratio)[:, None, :]
        found: Array = sums.reshape(len(w), -1)[:, : self.outputs]
        return found

    def shares(self, law: Array) -> Moments:
        up = np.arange(self.rows) - 1
        start = np.zeros(self.rows)
        start[0] = 1.0
        return self._of_jumps(law, start, up, up + 1)

    def share_spreads(self) -> Array:
        if self._m > 1 or self.rows == 1:
            return super().share_spreads()
        # With one near output per row, the score of a share is (1 − q)/e for its own output and −q/e for all others.
        return np.full(self.rows, 1 / self._e)

    def cumulative(self, law: Array) -> Moments:
        return self._of_jumps(law, np.ones(self.rows), None, np.arange(self.rows))

    def _of_jumps(self, law: Array, start: Array, up: NDArray[np.int64] | None, down: NDArray[np.int64]) -> Moments:
        """Moments of answers w that begin with ``start``, rise by one after row ``up`` and fall by one after ``down``.

        Such a w changes the running sums of only two classes, from one position on, so all moments follow from sums
        over the ends of classes. A jump before the first or after the last row has no effect.
        """
        m, e = self._m, self._e
        ends = [_tail_sums(table) for table in (self._law, self._by_class(law), self._there)]
        whole = self._by_class(law).sum(axis=0)
        jumps = [(down, -1.0)] if up is None else [(up, 1.0), (down, -1.0)]
        level = start.copy()
        parts = []
        for after, sign in jumps:
            real = (after >= 0) & (after < self.rows - 1)
            at = np.where(real, after, 0)
            k, j = at // m + 1, at % m
            own, seen, there = (np.where(real, table[np.minimum(k, self._length), j], 0.0) for table in ends)
            level += sign / e * (own * self._ratio[j] - self._q * there)
            size = np.full(self.rows, sign / e)
            parts.append((j, size, -size * own / self._weight[j], seen))
        level /= self._scale
        mean = level * float(self._ratio @ whole)
        square = level**2 * float(self._ratio**2 @ whole)
        for j, size, base, seen in parts:
            first = base * whole[j] + size * seen
            mean += first
            square += 2 * level * self._ratio[j] * first + base**2 * whole[j] + 2 * base * size * seen + size**2 * seen
        if m == 1 and up is not None:
            # Both jumps are in the only class, so their products count too.
            (_, size, base, seen), (_, size2, base2, seen2) = parts
            later = np.minimum(seen, seen2)
            square += 2 * (base * base2 * whole[0] + base * size2 * seen2 + base2 * size * seen + size * size2 * later)
        return Moments(mean, square)


def _tail_sums(table: Array) -> Array:
    """Sums over a class from each position to its end, with one more row of zeros."""
    sums = np.zeros((len(table) + 1, table.shape[1]))
    sums[:-1] = table[::-1].cumsum(axis=0)[::-1]
    return sums


class DenseScores(Scores):
    """Scores of any matrix of distinct rows, by decomposition."""

    def __init__(self, matrix: Array, law: Array, rank: int) -> None:
        self.rows, self.outputs = matrix.shape
        check_dense(self.rows)
        self._matrix = matrix
        self._full = rank == self.rows
        self.fits_a_law = not self._full or self.rows < self.outputs
        if self._full and self.rows == self.outputs:
            # No other score is unbiased, whatever the distribution.
            self._solve = np.linalg.inv(matrix)
            return
        # An output that is never reported has no score.
        root = np.sqrt(law)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        scaled = matrix * inverse
        if self._full:
            # scaledᵀ = QR, so u = inverse·Q·R⁻ᵀ·w: this has the condition number of the matrix, not its square.
            q, r = np.linalg.qr(scaled.T)
            self._solve = inverse[:, None] * np.linalg.solve(r, q.T).T
        else:
            left, values, right = np.linalg.svd(scaled, full_matrices=False)
            # Beyond the second of these ranks, singular values are rounding errors, which would spoil every score.
            ranks = [rank, int((values > STEADY * values[0]).sum())]
            solves = [(inverse[:, None] * right[:each].T / values[:each]) @ left[:, :each].T for each in ranks]
            self._solve, self._steady = solves

    def of(self, w: Array) -> Array | None:
        if self._full:
            return self._scored(w, self._solve)
        for solve in (self._solve, self._steady):
            found = self._scored(w, solve)
            if np.abs(found @ self._matrix.T - w).max() <= _SOLVED * max(1.0, float(np.abs(w).max())):
                return found
        return None

    @staticmethod
    def _scored(w: Array, solve: NDArray[np.floating[Any]]) -> Array:
        found: Array = w @ solve.T
        return found

    def shares(self, law: Array) -> Moments:
        return Moments(law @ self._solve, law @ self._solve**2)

    def cumulative(self, law: Array) -> Moments:
        scores = self._solve.cumsum(axis=1)
        return Moments(law @ scores, law @ scores**2)


class CellScores(Scores):
    """Scores that are the same for all outputs of a cell; the matrix is that of the cells."""

    def __init__(self, cell_of: NDArray[np.int64], matrix: Array, law: Array, rank: int) -> None:
        self.rows, self.outputs = len(matrix), len(cell_of)
        self._cell_of, self._cells = cell_of, matrix.shape[1]
        self._inner = DenseScores(matrix, self._of_cells(law), rank)
        self.fits_a_law = self._inner.fits_a_law

    def of(self, w: Array) -> Array | None:
        found = self._inner.of(w)
        return None if found is None else found[..., self._cell_of]

    def shares(self, law: Array) -> Moments:
        return self._inner.shares(self._of_cells(law))

    def cumulative(self, law: Array) -> Moments:
        return self._inner.cumulative(self._of_cells(law))

    def share_spreads(self) -> Array:
        return self._inner.share_spreads()

    def _of_cells(self, law: Array) -> Array:
        return np.bincount(self._cell_of, law, self._cells).astype(np.float64)


def check_dense(rows: int) -> None:
    """Refuse a decomposition that would take minutes."""
    if rows > MOST_DENSE:
        raise DesignError(
            f"Expected at most {MOST_DENSE} values for a mechanism without windows or groups, got {rows}; use "
            "method='em', which needs no decomposition but has no standard errors here, or fewer values."
        )


def _blocks(rows: Array, width: int) -> list[Array]:
    """Split rows into blocks of at most 64 MB at this width."""
    size = max(1, _ROOM // width)
    return [rows[first : first + size] for first in range(0, len(rows), size)]

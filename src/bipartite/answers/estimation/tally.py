"""Sums over reports by output, and from them averages of scores with their variances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ALONE: Final = 1e-9
# The squares of weights must not overflow either.
_LARGEST: Final = 1e100


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """For every output, the sum of the weights of its reports and of their squares."""

    first: Array
    second: Array
    people: int
    """The number of reports."""
    counts: NDArray[np.int64]
    """The number of reports of each output, regardless of weights."""
    each: tuple[NDArray[np.int64], Array] | None
    """The output and the weight of every report, if available."""

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> Tally:
        """Every report counts once."""
        held = counts.astype(np.float64)
        return cls(held, held, int(counts.sum()), counts, None)

    @classmethod
    def of_weights(cls, indices: NDArray[np.int64], weights: object, outputs: int) -> Tally:
        """Each report counts by its own public weight."""
        held = check_weights(weights, len(indices))
        sums: list[Array] = [np.bincount(indices, power, outputs).astype(np.float64) for power in (held, held**2)]
        counts = np.bincount(indices, minlength=outputs)
        return cls(sums[0], sums[1], int(np.count_nonzero(held)), counts, (indices, held))

    @property
    def size(self) -> float:
        """The sum of all weights."""
        return float(self.first.sum())

    @property
    def effective(self) -> float:
        """The number of equally weighted reports with the same precision: (Σw)²/Σw² (Kish)."""
        return self.size**2 / float(self.second.sum())

    @property
    def law(self) -> Array:
        """The share of each output."""
        return self.first / self.size

    @property
    def correction(self) -> float:
        """n/(n − 1), with effective reports."""
        return self.effective / spare(self.effective)

    def mean(self, u: Array) -> Array:
        """The average score: one number, or one for each row of u."""
        return np.asarray(u @ self.first / self.size)

    def variance(self, u: Array) -> Array:
        """The variance of the average score, over people drawn from a population and over their reports."""
        mean = self.mean(u)
        total = float(self.second.sum())
        square = u**2 @ self.second - 2 * mean * (u @ self.second) + mean**2 * total
        return np.maximum(square, 0.0) / self.size**2 * self.correction

    def covariance(self, u: Array) -> Array:
        """The covariance of several average scores, the rows of u."""
        apart = u - np.asarray(self.mean(u))[:, None]
        found: Array = (apart * self.second) @ apart.T / self.size**2 * self.correction
        return found

    def own_variance(self, u: Array, u2: Array) -> Array:
        """The variance of the average score over the reports alone, given the people; Pu2 = (Pu)²."""
        return np.maximum((u**2 - u2) @ self.second, 0.0) / self.size**2


def spare(people: float) -> float:
    """People minus one; NaN for a single report, which says nothing about the variance."""
    return people - 1 if people - 1 > _ALONE else math.nan


def check_weights(weights: object, people: int) -> Array:
    """Check public weights, one per report."""
    try:
        held = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        held = np.full((), np.nan)
    wrong = np.count_nonzero(~(np.isfinite(held) & (held >= 0)))
    if held.shape != (people,) or wrong or not held.any():
        found = f"shape {held.shape}" if held.shape != (people,) else f"{wrong} others" if wrong else "only zeros"
        raise InputError(
            f"Expected weights as {people} finite numbers of at least 0, one per report and not all 0, got {found}; "
            "weights must not depend on private values."
        )
    if not 1 / _LARGEST <= held.max() <= _LARGEST:
        raise InputError(f"Expected the largest weight between 1e-100 and 1e100, got {held.max():.3g}; scale them.")
    return held

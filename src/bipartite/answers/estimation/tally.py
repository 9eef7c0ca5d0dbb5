"""Sums over reports: all that an estimate needs, by output or, for flat categories, by the values they support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

# The squares of weights must not overflow either.
_LARGEST: Final = 1e100
_BITS: Final = 40
"""Bits of precision for weights of flat categories: as many as matter for a share, and a few more."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """For every output, or value, the sum of the weights of its reports and of their squares."""

    first: Array
    second: Array
    n: int
    """The number of reports."""
    size: float
    square: float
    """The sums of all weights, and of their squares."""
    counts: NDArray[np.int64]
    """The number of reports of each output, or that support each value, regardless of weights."""
    rows: NDArray[Any] | None = None
    """The output of each report, or the report itself, if available."""
    weights: Array | None = None
    """The weight of each report, if they have weights and these are available."""

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64], n: int, rows: NDArray[Any] | None = None) -> Tally:
        """Every report counts once."""
        held = counts.astype(np.float64)
        return cls(held, held, n, float(n), float(n), counts, rows)

    @classmethod
    def of(cls, mechanism: Mechanism, rows: NDArray[Any], weights: object = None) -> Tally:
        """The sums over these reports, each with its public weight."""
        outputs = 0 if mechanism.flat else len(mechanism.outputs)
        counts = mechanism.count(rows) if mechanism.flat else np.bincount(rows, minlength=outputs)
        if weights is None:
            return cls.of_counts(counts, len(rows), rows)
        held = check_weights(weights, len(rows))
        first, second = (
            _supports(mechanism, rows, each) if mechanism.flat else np.bincount(rows, each, outputs).astype(np.float64)
            for each in (held, held**2)
        )
        n = int(np.count_nonzero(held))
        return cls(first, second, n, float(held.sum()), float((held**2).sum()), counts, rows, held)

    def plus(self, other: Tally) -> Tally:
        """The sums over the reports of both."""
        return Tally(
            self.first + other.first,
            self.second + other.second,
            self.n + other.n,
            self.size + other.size,
            self.square + other.square,
            self.counts + other.counts,
        )

    @property
    def effective(self) -> float:
        """The number of equally weighted reports with the same precision: (Σw)²/Σw² (Kish)."""
        return self.size**2 / self.square

    @property
    def law(self) -> Array:
        """The share of each output."""
        return self.first / self.size


def _supports(mechanism: Mechanism, reports: NDArray[Any], weights: Array) -> Array:
    """The sum of the weights of the reports that support each value, bit by bit if many weights differ."""
    different = np.unique(weights).tolist()
    unit = different[-1] / 2**_BITS
    whole = np.rint(weights / unit).astype(np.int64)
    parts = (
        ((weight, weights == weight) for weight in different)
        if len(different) <= _BITS
        else ((unit * 2**bit, whole >> bit & 1 == 1) for bit in range(_BITS + 1))
    )
    return np.asarray(sum(weight * mechanism.count(reports[rows]) for weight, rows in parts), float)


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

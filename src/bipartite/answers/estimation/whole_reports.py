r"""Maximum-likelihood shares of flat categories, from complete reports.

With every mechanism here, a report y supports a set S(y) of values, and its probability is c(y)·r given a value in S(y)
and c(y) given any other: r = a/b for sets, hashes and Hadamard numbers, and p(1 − q)/(q(1 − p)) for bits. c(y) does not
depend on the shares f, so the log-likelihood is Σ_y ln(1 + (r − 1)·Σ_{v ∈ S(y)} f_v) up to a constant.

Sets are stored as bits, eight values per byte, which takes no more memory than the reports of unary encodings.
Σ_{v ∈ S(y)} f_v then takes one lookup per byte, in a table of 256 entries computed from f; its transpose takes one sum
per byte.

The fit is EM with extrapolated steps (SQUAREM; Varadhan, Roland 2008). It stops when no distribution has a
log-likelihood more than 0.1 higher. This is certified by n·(max g − 1), where n·g is the gradient: the log-likelihood
is concave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.em import Fit
from bipartite.errors import DesignError
from bipartite.mechanisms.categories import OLH, RAPPOR, HadamardResponse
from bipartite.mechanisms.categories.hashing import HashFamily
from bipartite.mechanisms.categories.unary import odds_ratio

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]
    Rows = NDArray[np.uint8]

_MOST_BYTES: Final = 2**25
_MOST_NUMBERS: Final = 2**22
_GAP: Final = 0.1
_MOST_STEPS: Final = 5_000
# An extrapolated step leaves every share at least this fraction of its value after two plain steps: a share that drops
# to almost zero takes many steps to recover.
_KEPT: Final = 0.1
_BITS: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.float64)


def fit_reports(
    mechanism: Mechanism,
    reports: NDArray[Any],
    weights: Array | None = None,
    progress: Callable[[int], None] | None = None,
) -> Fit:
    """Fit the most likely shares; ``weights`` are public, and scaled to sum to the effective number of reports."""
    size = len(mechanism.domain)
    held = np.ones(len(reports)) if weights is None else weights * (weights.sum() / (weights**2).sum())
    kept, which = np.unique(reports, axis=0, return_inverse=True)
    taken = len(kept) * -(-size // 8)
    if taken > _MOST_BYTES:
        raise DesignError(
            f"method='em' needs one bit per value and distinct report in memory, here {taken:,} bytes, at most "
            f"{_MOST_BYTES:,}; use method='projected', which needs only counts."
        )
    counts = np.bincount(which.ravel(), held, len(kept)).astype(np.float64)
    ratio = odds_ratio(*mechanism.support) if isinstance(mechanism, RAPPOR) else mechanism.largest_ratio()
    return _maximize(_Likelihood(_sets(mechanism, kept), counts, size, ratio), progress)


def _sets(mechanism: Mechanism, reports: NDArray[Any]) -> Rows:
    """The values that each report supports, as packed bits."""
    values = np.arange(len(mechanism.domain))
    if isinstance(mechanism, HadamardResponse):
        length = mechanism.block_size
        block, row = values // (length - 1), (values % (length - 1) + 1).astype(np.uint32)

        def supported(some: NDArray[Any]) -> NDArray[np.bool_]:
            ones = (some[:, None] % length).astype(np.uint32) & row
            for shift in (16, 8, 4, 2, 1):
                ones ^= ones >> np.uint32(shift)
            found: NDArray[np.bool_] = (some[:, None] // length == block) & (ones & np.uint32(1) == 0)
            return found

    elif isinstance(mechanism, OLH):
        family = HashFamily(len(values), mechanism.buckets)

        def supported(some: NDArray[Any]) -> NDArray[np.bool_]:
            return family.matches(family.factors(some[:, :-1]), some[:, -1].astype(np.uint16))

    else:
        return reports
    step = max(1, _MOST_NUMBERS // len(values))
    parts = [supported(reports[start : start + step]) for start in range(0, len(reports), step)]
    return np.concatenate([np.packbits(part, axis=1, bitorder="little") for part in parts])


class _Likelihood:
    def __init__(self, sets: Rows, counts: Array, size: int, ratio: Fraction) -> None:
        self.counts, self.people, self.size = counts, float(counts.sum()), size
        self._columns, self._gain = np.ascontiguousarray(sets.T), float(ratio - 1)

    def ratios(self, f: Array) -> Array:
        """The probability of each report divided by c(y): 1 + (r − 1)·Σ_{v ∈ S(y)} f_v."""
        padded = np.zeros(8 * len(self._columns))
        padded[: self.size] = f
        found = np.zeros(self._columns.shape[1])
        for table, column in zip(padded.reshape(-1, 8) @ _BITS.T, self._columns, strict=True):
            found += table[column]
        return 1 + self._gain * found

    def value(self, ratios: Array) -> float:
        return float(self.counts @ np.log(ratios))

    def slopes(self, ratios: Array) -> Array:
        """The gradient of the log-likelihood divided by n: its average over people is 1."""
        each = self.counts / ratios
        sums = np.concatenate([np.bincount(column, each, 256) @ _BITS for column in self._columns])
        found: Array = (float(each.sum()) + self._gain * sums[: self.size]) / self.people
        return found


def _maximize(likelihood: _Likelihood, progress: Callable[[int], None] | None) -> Fit:
    f = np.full(likelihood.size, 1 / likelihood.size)
    ratios = likelihood.ratios(f)
    value = likelihood.value(ratios)
    steps = 0
    while True:
        slopes = likelihood.slopes(ratios)
        gap = likelihood.people * max(float(slopes.max()) - 1, 0.0)
        if gap <= _GAP or steps >= _MOST_STEPS:
            return Fit(f, steps, value, gap, converged=gap <= _GAP)
        first = _normalize(f * slopes)
        second = _normalize(first * likelihood.slopes(likelihood.ratios(first)))
        steps += 2
        if progress is not None:
            progress(steps)
        change = first - f
        curvature = second - first - change
        length = max(1.0, float(np.sqrt(change @ change / max(float(curvature @ curvature), 1e-300))))
        extrapolated = _normalize(np.maximum(f + 2 * length * change + length**2 * curvature, _KEPT * second))
        # The extrapolated step is kept only if it does not lower the likelihood.
        new_ratios = likelihood.ratios(extrapolated)
        new_value = likelihood.value(new_ratios)
        if new_value >= value:
            f, ratios, value = extrapolated, new_ratios, new_value
        else:
            f, ratios = second, likelihood.ratios(second)
            value = likelihood.value(ratios)


def _normalize(f: Array) -> Array:
    found: Array = f / f.sum()
    return found

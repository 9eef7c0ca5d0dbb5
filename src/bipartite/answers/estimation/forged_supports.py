"""How far k forged reports of flat categories can move a weighted sum of supports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.forged_outputs import sum_of_largest
from bipartite.answers.estimation.pairs import pair_law, replace_digit
from bipartite.mechanisms.categories import OLH, HadamardResponse, SubsetSelection
from bipartite.mechanisms.categories.hadamard import walsh_hadamard
from bipartite.mechanisms.categories.hashing import HashFamily

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.flat import Supports
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

# Reports are examined one by one up to this number of reports times values, this many bits at a time.
_MOST_SEEN: Final = 2**28
_AT_ONCE: Final = 2**22
_MOST_HASHES: Final = 2**23


class ForgedSupports:
    """How far forged reports can move Σ z·support; everything that does not depend on their number is computed once.

    If the reports themselves are available, each has its own sum, and the k reports whose replacement moves the answer
    most are replaced. From counts alone, the replaced reports are taken to support each value as rarely, or as often,
    as its count allows. ``rough`` skips looking at every hash function and at the single reports.
    """

    def __init__(self, mechanism: Mechanism, z: Array, supports: Supports, *, rough: bool = False) -> None:
        self._mechanism, self.z, self._supports, self.rough = mechanism, z, supports, rough
        self._least, self._largest, self._sharp = _extremes(mechanism, z, rough=rough)
        reports = supports.reports
        seen = reports is not None and not rough and len(reports) * len(z) <= _MOST_SEEN
        self._sums = _sums_of(mechanism, z, reports) if seen and reports is not None else None

    def moved(self, k: int) -> tuple[float, float, bool]:
        """(how far down, how far up, whether exact): the most that k forged reports can move it, per unit of weight."""
        least, largest, z = self._least, self._largest, self.z
        size, weights = self._supports.size, self._supports.weights
        if self._sums is not None:
            held = np.ones(len(self._sums)) if weights is None else weights
            falls, rises = (self._sums - least) * held, (largest - self._sums) * held
            return sum_of_largest(falls, k) / size, sum_of_largest(rises, k) / size, self._sharp
        if weights is not None:
            most = (largest - least) * sum_of_largest(weights, k) / size
            return most, most, False
        if isinstance(self._mechanism, HadamardResponse):
            most = k * (largest - least) / size
            return most, most, False
        counts, people = self._supports.first, self._supports.people
        fewest, often = np.maximum(0.0, k - (people - counts)), np.minimum(float(k), counts)
        taken_least = float(np.where(z > 0, z * fewest, z * often).sum())
        taken_most = float(np.where(z > 0, z * often, z * fewest).sum())
        up, down = k * largest - max(taken_least, k * least), min(taken_most, k * largest) - k * least
        # For a single value, the counts contain everything.
        alone = np.count_nonzero(z) == 1 and len(z) > 1
        return down / size, up / size, bool(alone and self._sharp)


def moved_single_supports(mechanism: Mechanism, k: int, supports: Supports) -> tuple[Array, Array]:
    """(how far down, how far up) k forged reports can move the support of each value, per unit of weight."""
    signed = isinstance(mechanism, HadamardResponse)
    # A report adds 0 or 1, or for Hadamard Response anything from −1 to 1.
    most = (2 if signed else 1) * (float(k) if supports.weights is None else sum_of_largest(supports.weights, k))
    counts, size = supports.first, supports.size
    return np.minimum(most, counts + size * signed) / size, np.minimum(most, size - counts) / size


def _extremes(mechanism: Mechanism, z: Array, *, rough: bool) -> tuple[float, float, bool]:
    """The smallest and the largest Σ z·support of a single report, and whether some report attains them."""
    if isinstance(mechanism, HadamardResponse):
        scores = _of_blocks(mechanism, z)
        return float(scores.min()), float(scores.max()), True
    if isinstance(mechanism, SubsetSelection):
        ordered = np.sort(z)
        return float(ordered[: mechanism.k].sum()), float(ordered[-mechanism.k :].sum()), True
    least, largest = float(np.minimum(z, 0.0).sum()), float(np.maximum(z, 0.0).sum())
    if not isinstance(mechanism, OLH) or np.count_nonzero(z) == 1:
        return least, largest, True
    every = None if rough else _of_all_hashes(mechanism, z)
    return (least, largest, False) if every is None else (float(every.min()), float(every.max()), True)


def _sums_of(mechanism: Mechanism, z: Array, reports: NDArray[Any]) -> Array:
    """Σ z·support of every report."""
    if isinstance(mechanism, HadamardResponse):
        held: Array = _of_blocks(mechanism, z)[reports]
        return held
    if isinstance(mechanism, OLH):
        p, q = mechanism.support
        parts: Array = pair_law(mechanism).parts(z[None], reports)[0] * float(p - q)
        return parts
    found = np.empty(len(reports))
    step = max(1, _AT_ONCE // len(z))
    for first in range(0, len(reports), step):
        bits = np.unpackbits(reports[first : first + step], axis=1, count=len(z), bitorder="little")
        found[first : first + step] = bits @ z
    return found


def _of_blocks(mechanism: HadamardResponse, z: Array) -> Array:
    """Σ z·support of every number that Hadamard Response can report."""
    table = np.zeros((mechanism.blocks, mechanism.block_size))
    full = np.zeros(mechanism.blocks * (mechanism.block_size - 1))
    full[: len(z)] = z
    table[:, 1:] = full.reshape(mechanism.blocks, -1)
    held: Any = table
    return np.asarray(walsh_hadamard(held), dtype=np.float64).ravel()


def _of_all_hashes(mechanism: OLH, z: Array) -> Array | None:
    """Σ z over each bucket of every hash function; None if there are too many."""
    family, g = HashFamily(len(z), mechanism.buckets), mechanism.buckets
    if g ** (family.digits + 1) * family.base > _MOST_HASHES:
        return None
    # One axis per digit, least significant first, then the bucket; each value starts in bucket 0.
    full = np.zeros(family.base**family.digits)
    full[: len(z)] = z
    shape = (family.base,) * family.digits
    sums = np.zeros((*shape, g))
    sums[..., 0] = full.reshape(shape).transpose(range(family.digits - 1, -1, -1))
    for digit in range(family.digits):
        sums = replace_digit(sums, digit, g, 1)
    return sums.ravel()

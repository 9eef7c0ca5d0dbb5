"""A family of hash functions under which two values collide with probability exactly 1/g.

Write values in base B, the smallest prime factor of g: x = Σ x_i·B^i. With a_0 … a_{K−1} uniform below g,
h(x) = Σ a_i·x_i mod g. For x ≠ y some digit differs, by d with 0 < |d| < B, which is coprime to g; so a_i·d is uniform
modulo g, and with it h(x) − h(y). Any g works, prime or not. Another hash followed by a modulo,
((a·x + b) mod p) mod g, would not: p is not a multiple of g, so the probability of a collision is not 1/g.

The seed holds a_0, a_1, … as digits in base g, as many per 64-bit number as keep it below 2^52.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.kernel import compiled

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

MOST_BUCKETS: Final = 2**15
"""Sums of two numbers below g fit into 16 bits."""
_MAX_SEED: Final = 2**52
# The size of a table of hashes in NumPy.
_TABLE: Final = 2**20
# NumPy takes 4.4 ns per report and value, so 0.6 s for this many; loading the compiler takes as long (measured).
LOAD_COMPILER_FROM: Final = 2**27
_KERNELS: Final = "bipartite.mechanisms.categories.compiled_hashing"
# The relative cost of a digit of a seed or of a value, which takes 5 to 7 ns in NumPy (measured).
_DEARER: Final = 2


class _Demand:
    """The number of hashes computed so far."""

    hashes = 0


def _kernels(hashes: int) -> ModuleType | None:
    """The compiled kernels, once they pay and if they are available."""
    _Demand.hashes += hashes
    return compiled(_KERNELS) if _KERNELS in sys.modules or _Demand.hashes >= LOAD_COMPILER_FROM else None


@dataclass(frozen=True, slots=True)
class HashFamily:
    """The hash functions from values 0 … size − 1 to buckets 0 … g − 1."""

    size: int
    buckets: int

    @property
    def base(self) -> int:
        """B, the smallest prime factor of g."""
        factor = 2
        while self.buckets % factor and factor * factor <= self.buckets:
            factor += 1
        return factor if self.buckets % factor == 0 else self.buckets

    @property
    def digits(self) -> int:
        """K, the number of digits of the values."""
        count, reach = 1, self.base
        while reach < self.size:
            count, reach = count + 1, reach * self.base
        return count

    @property
    def seeds(self) -> list[int]:
        """The number of digits in each number of a seed."""
        most = 1
        while self.buckets ** (most + 1) <= _MAX_SEED:
            most += 1
        whole, rest = divmod(self.digits, most)
        return [most] * whole + ([rest] if rest else [])

    def factors(self, seeds: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """a_0 … a_{K−1} of each seed, one row per person."""
        kernels = _kernels(_DEARER * len(seeds) * self.digits)
        if kernels is None:
            return self.factors_by_numpy(seeds)
        found: NDArray[np.uint16] = kernels.factors_of(seeds, self.seeds, self.buckets)
        return found

    def factors_by_numpy(self, seeds: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """The same without the compiler."""
        g = np.uint64(self.buckets)
        factors = np.empty((len(seeds), self.digits), dtype=np.uint16)
        at = 0
        for column, held in enumerate(self.seeds):
            rest = seeds[:, column]
            for _ in range(held):
                rest, factors[:, at] = rest // g, rest % g
                at += 1
        return factors

    def hash(self, factors: NDArray[np.uint16], values: NDArray[np.int64]) -> NDArray[np.int64]:
        """h(x) of one value for each row of factors."""
        kernels = _kernels(_DEARER * len(values) * self.digits)
        if kernels is None:
            return self.hash_by_numpy(factors, values)
        found: NDArray[np.int64] = kernels.hashes_of(factors, values, self.base, self.buckets)
        return found

    def hash_by_numpy(self, factors: NDArray[np.uint16], values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same without the compiler."""
        total = np.zeros(len(values), dtype=np.int64)
        rest = values
        for digit in range(self.digits):
            rest, low = rest // self.base, rest % self.base
            total += factors[:, digit] * low
        return total % self.buckets

    def supports(self, factors: NDArray[np.uint16], buckets: NDArray[np.uint16]) -> NDArray[np.int64]:
        """For each value, the number of these hash functions that map it to their bucket."""
        kernels = _kernels(len(factors) * self.size)
        if kernels is None:
            return self.supports_by_numpy(factors, buckets)
        found: NDArray[np.int64] = kernels.supports(factors, buckets, self.size, self.base, self.buckets)
        return found

    def supports_by_numpy(self, factors: NDArray[np.uint16], buckets: NDArray[np.uint16]) -> NDArray[np.int64]:
        """The same without the compiler: tables of all hashes, extended digit by digit."""
        counts = np.zeros(self.size, dtype=np.int64)
        step = max(1, _TABLE // self.size)
        for start in range(0, len(factors), step):
            some = slice(start, start + step)
            counts += self.matches(factors[some], buckets[some]).sum(axis=0)
        return counts

    def matches(self, factors: NDArray[np.uint16], buckets: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """One row for each of these hash functions: which values it maps to its bucket."""
        # Hashes minus the bucket: a value is supported where this is 0.
        table = ((self.buckets - buckets.astype(np.int64)) % self.buckets).astype(np.uint16)[:, None]
        for digit in range(self.digits):
            parts = [table]
            width = table.shape[1]
            while len(parts) < self.base and len(parts) * width < self.size:
                parts.append((parts[-1] + factors[:, digit, None]) % np.uint16(self.buckets))
            table = np.concatenate(parts, axis=1)[:, : self.size]
        found: NDArray[np.bool_] = table == 0
        return found

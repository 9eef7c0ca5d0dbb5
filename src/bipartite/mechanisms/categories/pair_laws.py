r"""The covariance of the supports of two values, for each flat-category mechanism.

A report adds S_v to the support of value v, with mean p for the value held and q for any other. A linear answer
Σ w_v·f_v is estimated by the average of T = c + Σ z_v·(S_v − q)/(p − q) with z_v = w_v − c, for any c, because shares
add up to one. c is the mean of w, so that Σz = 0. Its variance depends on the probability that a report supports two
values at once, given the value held. As a matrix these probabilities are a diagonal and a few equal entries, or a
convolution, so that O(N) memory is always enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError
from bipartite.mechanisms.categories import OLH, RAPPOR, HadamardResponse, SubsetSelection
from bipartite.mechanisms.categories.hadamard import walsh_hadamard
from bipartite.mechanisms.categories.hashing import HashFamily
from bipartite.mechanisms.categories.unary import Unary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

# Sums over all hash functions are computed exactly up to this number of steps: hash functions × buckets × digits.
_MOST_HASHES: Final = 2**23
_MOST_NUMBERS: Final = 2**20
# This close to π = 1/2, where the formula of k(π) is 0/0, k is 1/4 up to 1e-12.
_MIDDLE: Final = 1e-6
_NOTHING: Final = 1e-150  # its square is still a positive float


class PairLaw(ABC):
    """The variance of weighted supports, in units of shares: of Σ z_v·S_v/(p − q), given the value held.

    ``z`` has one weight per value, and the weights add up to 0; or several such rows.
    """

    size: int
    steps: int
    """The approximate cost of :meth:`own` for one row."""
    bounded = False
    """Whether :meth:`products` is only an upper bound, for every linear combination of the rows."""

    @abstractmethod
    def own(self, z: Array) -> Array:
        """The variance given each value held."""

    @abstractmethod
    def products(self, z: Array, shares: Array) -> Array:
        """The covariance of every two rows of z, averaged over people with these shares."""

    @abstractmethod
    def ends(self, z: Array) -> tuple[Array, Array]:
        """Bounds on the smallest and the largest Σ z_v·S_v/(p − q) of a report."""

    def spread(self, z: Array) -> Array:
        """A bound on the difference between the Σ z_v·S_v/(p − q) of any two reports."""
        least, most = self.ends(z)
        found: Array = most - least
        return found

    def tail_spread(self, z: Array, own: Array) -> Array:
        r"""A number s such that averages of reports satisfy Hoeffding's bound as if their range were s.

        That is, ln E exp(λ(T − E T)) ≤ λ²s²/8 for every λ and every population, which is all that Hoeffding's bound
        uses; the range of T satisfies it, and usually a much smaller s does. ``own`` is at least the variance given
        each value.

        Proof. With v ≥ Var T and M ≥ \|T − E T\|, E exp(λ(T − E T)) for λ ≥ 0 is at most that of the centred law on
        two points, M and −v/M, with probability π = v/(v + M²) of the first (Bennett 1962), and likewise for λ ≤ 0 by
        symmetry. For two points at distance r, its logarithm is at most λ²r²·k(π)/2, k(π) = (1 − 2π)/(2 ln((1 − π)/π))
        (Kearns, Saul 1998). Hence s = 2r·√k(π), r = M + v/M. Over the population, Var T is at most the largest variance
        given a value plus a quarter of the squared range of z, and E T lies in that range.
        """
        (least, most), (low, high) = self.ends(z), (z.min(axis=-1), z.max(axis=-1))
        farthest = np.maximum(np.maximum(most - low, high - least), _NOTHING)
        variance = own.max(axis=-1) + (high - low) ** 2 / 4
        probability = np.minimum(variance / (variance + farthest**2), 0.5)
        two_points = 2 * (farthest + variance / farthest) * np.sqrt(_kearns_saul(probability))
        found: Array = np.minimum(most - least, two_points)
        return found

    def exact(self, rows: int) -> bool:
        """Whether :meth:`own` is exact for this number of rows; otherwise it is an upper bound."""
        del rows
        return True

    @abstractmethod
    def parts(self, z: Array, reports: NDArray[Any]) -> Array:
        """Σ z_v·S_v/(p − q) of each report, one row for each row of z."""


def pair_law(mechanism: Mechanism) -> PairLaw:
    """The joint law of pairs of supports of this mechanism."""
    if isinstance(mechanism, HadamardResponse):
        return Hadamard(mechanism)
    if isinstance(mechanism, OLH):
        return Hashed(mechanism)
    if isinstance(mechanism, SubsetSelection):
        return Exchangeable.of_sets(mechanism)
    if isinstance(mechanism, (Unary, RAPPOR)):
        return Exchangeable.of_bits(mechanism)
    raise InputError(
        f"Expected a mechanism whose pairs of supports are known, got {type(mechanism).__name__}; use bp.OUE."
    )


class Exchangeable(PairLaw):
    """All values except the one held are exchangeable: independent bits, or a uniformly random set."""

    def __init__(self, size: int, support: tuple[Fraction, Fraction], together: tuple[Fraction, Fraction]) -> None:
        """``together``: the probability that two values are both supported if one of them is held, or if neither is."""
        p, q = support
        scale = (p - q) ** 2
        self.size = self.steps = size
        self._held = float(p * (1 - p) / scale)
        self._other = float(q * (1 - q) / scale)
        self._with_held = float((together[0] - p * q) / scale)
        self._apart = float((together[1] - q * q) / scale)
        self._largest_set: int | None = None
        self._unit = float(1 / (p - q))
        self._tails = [float(each) for each in _kearns_saul(np.array([float(p), float(q)])) / float(scale)]

    @classmethod
    def of_bits(cls, mechanism: Mechanism) -> Exchangeable:
        """Bits are independent; so are those of RAPPOR's two stages, if every report has its own permanent response."""
        p, q = mechanism.support
        return cls(len(mechanism.domain), (p, q), (p * q, q * q))

    @classmethod
    def of_sets(cls, mechanism: SubsetSelection) -> Exchangeable:
        """Sets of k values: k − 1 others are drawn from N − 1 if the set contains the value held, otherwise k."""
        size, k = len(mechanism.domain), mechanism.k
        p, q = mechanism.support
        others = Fraction(0)
        if size > 2:  # noqa: PLR2004 (there are at least two other values)
            others = (p * (k - 1) * (k - 2) + (1 - p) * k * (k - 1)) / ((size - 1) * (size - 2))
        made = cls(size, (p, q), (p * Fraction(k - 1, size - 1), others))
        made._largest_set = k
        return made

    def own(self, z: Array) -> Array:
        total, square = z.sum(axis=-1, keepdims=True), (z**2).sum(axis=-1, keepdims=True)
        rest = total - z
        spread: Array = (
            (self._other - self._apart) * (square - z**2)
            + self._apart * rest**2
            + 2 * self._with_held * z * rest
            + self._held * z**2
        )
        return spread

    def products(self, z: Array, shares: Array) -> Array:
        rest = z.sum(axis=-1, keepdims=True) - z
        weighted, cross = z * shares, (z * shares) @ rest.T
        found: Array = (
            (self._other - self._apart) * (z @ z.T * shares.sum() - weighted @ z.T)
            + self._apart * (rest * shares) @ rest.T
            + self._with_held * (cross + cross.T)
            + self._held * weighted @ z.T
        )
        return found

    def ends(self, z: Array) -> tuple[Array, Array]:
        k = self._largest_set
        if k is None:
            return _subset_sum_ends(z, self._unit)
        ordered = np.sort(z, axis=-1)
        return ordered[..., :k].sum(axis=-1) * self._unit, ordered[..., self.size - k :].sum(axis=-1) * self._unit

    def parts(self, z: Array, reports: NDArray[np.uint8]) -> Array:
        found = np.empty((len(z), len(reports)))
        for some in _batches(len(reports), self.size):
            bits = np.unpackbits(reports[some], axis=1, count=self.size, bitorder="little")
            # With the larger table in memory order, this is three times as fast as the transposed product.
            found[:, some] = (bits @ z.T).T * self._unit
        return found

    def tail_spread(self, z: Array, own: Array) -> Array:
        """Bits are independent, so the bounds of single bits add up, to much less than the range of their sum.

        Given the value x held, ln E exp(λ(T − E[T | x])) ≤ λ²/2·Σ z_v²·k(p_v)/(p − q)², p_v being p for x and q for all
        others (Kearns, Saul), and over the population ln E exp(λ(E[T | x] − E T)) ≤ λ²/8·(range of z)² (Hoeffding's
        lemma).
        """
        found = super().tail_spread(z, own)
        if self._largest_set is not None:
            return found
        held, other = self._tails
        square = z**2
        noise = other * square.sum(axis=-1) + ((held - other) * square).max(axis=-1)
        bits = np.sqrt(4 * noise + (z.max(axis=-1) - z.min(axis=-1)) ** 2)
        least: Array = np.minimum(found, bits)
        return least


class Hadamard(PairLaw):
    """The sets of two values in a block overlap in half of each; the product of two rows of the matrix is a third row.

    So E[S_u·S_v] is the probability of the block if u = v, p if the product of the rows of u and v is the row of the
    value held, and 0 otherwise: a convolution over rows, computed by fast transforms.
    """

    def __init__(self, mechanism: HadamardResponse) -> None:
        p = mechanism.support[0]
        self.size, self._blocks, self._length = len(mechanism.domain), mechanism.blocks, mechanism.block_size
        self._p = float(p)
        self.steps = 4 * self._blocks * self._length
        # The probability of a block other than that of the value held: 2s·b tickets of W, with p = s·(a − b)/W.
        self._elsewhere = float(2 * p / (mechanism.largest_ratio() - 1))

    def _by_block(self, values: Array) -> Array:
        """Arrange values by block and by row of the matrix; no value has row 0."""
        full = np.zeros((*values.shape[:-1], self._blocks * (self._length - 1)))
        full[..., : self.size] = values
        held = np.zeros((*values.shape[:-1], self._blocks, self._length))
        held[..., 1:] = full.reshape(*values.shape[:-1], self._blocks, -1)
        return held

    def _by_value(self, blocks: Array) -> Array:
        found: Array = blocks[..., 1:].reshape(*blocks.shape[:-2], -1)[..., : self.size]
        return found

    def _transform(self, blocks: Array) -> Array:
        rows: Any = blocks.reshape(-1, self._length)
        found: Array = np.asarray(walsh_hadamard(rows), dtype=np.float64).reshape(blocks.shape)
        return found

    def _convolve(self, first: Array, second: Array) -> Array:
        one = self._transform(first)
        return self._transform(one * (one if second is first else self._transform(second))) / self._length

    def own(self, z: Array) -> Array:
        held = self._by_block(z)
        squares = (held**2).sum(axis=-1, keepdims=True)
        near = self._p * (squares + self._convolve(held, held))
        far = self._elsewhere * squares.sum(axis=-2, keepdims=True)
        return self._by_value(near + far) / self._p**2 - z**2

    def products(self, z: Array, shares: Array) -> Array:
        held, people = self._by_block(z), self._by_block(shares)
        weighted = held * people.sum(axis=-1, keepdims=True) + self._convolve(held, people)
        flat = held.reshape(len(z), -1)
        square = self._elsewhere * shares.sum() * flat @ flat.T + self._p * weighted.reshape(len(z), -1) @ flat.T
        found: Array = square / self._p**2 - (z * shares) @ z.T
        return found

    def ends(self, z: Array) -> tuple[Array, Array]:
        scores = self._transform(self._by_block(z))
        return scores.min(axis=(-2, -1)) / self._p, scores.max(axis=(-2, -1)) / self._p

    def parts(self, z: Array, reports: NDArray[np.uint32]) -> Array:
        of_numbers = self._transform(self._by_block(z)).reshape(len(z), -1) / self._p
        found: Array = of_numbers[:, reports]
        return found


class Hashed(PairLaw):
    r"""A report supports the values that its hash function maps to its bucket.

    Let R(y) be the sum of z over the values in bucket y. Summed over all buckets, E[R²] is exactly
    (1 − 1/g)·Σz², because Σz = 0 and two values collide with probability 1/g. At the bucket of the value held it
    depends on which *three* values collide; it is summed over all hash functions if that takes at most 2^23 steps.
    Otherwise the variance is estimated from the reports themselves (:meth:`parts`). From counts alone, or for a
    forecast, R² at that bucket is replaced by the sum of R² over all buckets, which is never less: standard errors are
    then too large, never too small, by a factor of about √(p·g), where p is the probability of the true bucket. This
    factor is 1.4 at ε = 1, 2.0 at ε = 2 and 5.3 at ε = 4.
    """

    bounded = True

    def __init__(self, mechanism: OLH) -> None:
        p, q = mechanism.support
        self.size, self.buckets = len(mechanism.domain), mechanism.buckets
        self._family = HashFamily(self.size, self.buckets)
        g = self.buckets
        # Replacing each digit of a value by each factor of a hash function, for every bucket.
        self._hashes: int = g ** (self._family.digits + 1) * self._family.base
        self.steps = self._hashes if self.exact(1) else self.size
        missed = (1 - p) / (g - 1)
        scale = (p - q) ** 2
        self._anywhere = float(missed * (1 - Fraction(1, g)) / scale)
        self._at_held = float((p - missed) / scale)
        self._bound = float(p * (1 - Fraction(1, g)) / scale)
        self._unit = float(1 / (p - q))

    def exact(self, rows: int) -> bool:
        return rows * self._hashes <= _MOST_HASHES

    def own(self, z: Array) -> Array:
        square = (z**2).sum(axis=-1, keepdims=True)
        rows = z.reshape(-1, self.size)
        if not self.exact(len(rows)):
            most: Array = self._bound * square - z**2
            return most
        at_held = np.array([self._square_at_held(row) for row in rows]).reshape(z.shape)
        found: Array = self._anywhere * square + self._at_held * at_held - z**2
        return found

    def parts(self, z: Array, reports: NDArray[np.uint64]) -> Array:
        found = np.empty((len(z), len(reports)))
        for some in _batches(len(reports), self.size):
            rows = reports[some]
            matches = self._family.matches(self._family.factors(rows[:, :-1]), rows[:, -1].astype(np.uint16))
            found[:, some] = (matches @ z.T).T * self._unit
        return found

    def _square_at_held(self, z: Array) -> Array:
        """E[R²] at the bucket of x, for every x: bucket sums are computed digit by digit, and mapped back likewise."""
        g, digits, base = self.buckets, self._family.digits, self._family.base
        full = np.zeros(base**digits)
        full[: self.size] = z
        # One axis per digit, the least significant first; the last axis is the bucket. Every value starts in bucket 0.
        sums = np.zeros((*(base,) * digits, g))
        sums[..., 0] = full.reshape((base,) * digits).transpose(range(digits - 1, -1, -1))
        for digit in range(digits):
            sums = replace_digit(sums, digit, g, 1)
        squares = sums**2
        for digit in range(digits):
            squares = replace_digit(squares, digit, base, -1)
        at_zero = squares[..., 0].transpose(range(digits - 1, -1, -1)).reshape(-1)
        found: Array = at_zero[: self.size] / g**digits
        return found

    def products(self, z: Array, shares: Array) -> Array:
        found: Array = self._bound * z @ z.T - (z * shares) @ z.T
        return found

    def ends(self, z: Array) -> tuple[Array, Array]:
        return _subset_sum_ends(z, self._unit)


def replace_digit(table: Array, digit: int, count: int, sign: int) -> Array:
    """Replace digit v of a value by factor a of a hash function: buckets (last axis) shift by a·v; or back, by −a·v."""
    moved = np.moveaxis(table, digit, 0)
    buckets = table.shape[-1]
    rows = moved.reshape(len(moved), -1, buckets)
    steps, bucket = np.arange(len(moved))[:, None, None], np.arange(buckets)
    parts = [
        np.take_along_axis(rows, (bucket - sign * factor * steps) % buckets, axis=-1).sum(axis=0)
        for factor in range(count)
    ]
    return np.moveaxis(np.array(parts).reshape(count, *moved.shape[1:]), 0, digit)


def _batches(people: int, size: int) -> list[slice]:
    """Split people into batches, so that one number per person and value fits in memory."""
    step = max(1, _MOST_NUMBERS // size)
    return [slice(start, start + step) for start in range(0, people, step)]


def _subset_sum_ends(z: Array, unit: float) -> tuple[Array, Array]:
    """The smallest and largest sum over any set of values."""
    return unit * np.minimum(z, 0.0).sum(axis=-1), unit * np.maximum(z, 0.0).sum(axis=-1)


def _kearns_saul(probability: Array) -> Array:
    """k(π) = (1 − 2π)/(2 ln((1 − π)/π)), 1/4 at π = 1/2: a coin of probability π has ln E exp(λ(X − π)) ≤ λ²k/2."""
    middle = np.abs(probability - 0.5) < _MIDDLE
    safe = np.where(middle, 0.25, np.maximum(probability, 1e-300))
    found: Array = np.where(middle, 0.25, (1 - 2 * safe) / (2 * (np.log1p(-safe) - np.log(safe))))
    return found

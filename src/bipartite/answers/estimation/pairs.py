r"""The covariance of the supports of two values, for each mechanism of flat categories.

A report adds S_v to the support of value v, with mean p for the value held and q for any other. A linear answer
Σ w_v·f_v is estimated by the average of T = c + Σ z_v·(S_v − q)/(p − q) with z_v = w_v − c, for any c, because shares
add up to one. c is the mean of w, so that Σz = 0. Its variance needs the chance that a report supports two values at
once, given the value held. Those chances are a diagonal and a few equal entries, or a convolution: O(N) memory always.
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

    from bipartite.mechanisms.categories import CategoryMechanism

    Array = NDArray[np.float64]

# Sums over all hash functions are computed one by one up to this many steps: hash functions × buckets × digits.
_MOST_HASHES: Final = 2**23
_MOST_NUMBERS: Final = 2**20
# This close to 1/2, k(π) is 1/4 up to 1e-12, and its formula is 0/0.
_MIDDLE: Final = 1e-6
_NOTHING: Final = 1e-150  # its square is still a positive float


class PairLaw(ABC):
    """The variance of z-weighted supports, in units of shares: of Σ z_v·S_v/(p − q), given the value held.

    ``z`` is one weight a value that add up to 0, or many such rows.
    """

    size: int
    steps: int
    """The approximate cost of :meth:`own` for one row."""
    bounded = False
    """Whether :meth:`products` is an upper bound, for any combination of the rows."""

    @abstractmethod
    def own(self, z: Array) -> Array:
        """For every value held."""

    @abstractmethod
    def products(self, z: Array, shares: Array) -> Array:
        """The covariance of every two rows of z, on average over people with these shares."""

    @abstractmethod
    def ends(self, z: Array) -> tuple[Array, Array]:
        """Bounds on the smallest and largest Σ z_v·S_v/(p − q) of a report."""

    def spread(self, z: Array) -> Array:
        """A bound on the distance between two reports."""
        least, most = self.ends(z)
        found: Array = most - least
        return found

    def tail_spread(self, z: Array, own: Array) -> Array:
        r"""A number s so that averages of reports stray no further than Hoeffding's bound allows for numbers within s.

        That is ln E exp(λ(T − E T)) ≤ λ²s²/8 for every λ and every population, which is all that Hoeffding's bound
        uses; the spread of T does it, and mostly much less. ``own`` is the variance given each value, or more.

        Proof. With v ≥ Var T and M ≥ \|T − E T\|, E exp(λ(T − E T)) is for λ ≥ 0 at most that of the centred law on
        two points, M and −v/M, with the chance π = v/(v + M²) of the first (Bennett 1962), and so for λ ≤ 0 by
        symmetry. The logarithm for two points r apart is at most λ²r²·k(π)/2, k(π) = (1 − 2π)/(2 ln((1 − π)/π))
        (Kearns, Saul 1998). Hence s = 2r·√k(π), r = M + v/M. Over people Var T is at most the largest variance given a
        value plus a quarter of the squared range of z, and E T lies in that range.
        """
        (least, most), (low, high) = self.ends(z), (z.min(axis=-1), z.max(axis=-1))
        farthest = np.maximum(np.maximum(most - low, high - least), _NOTHING)
        variance = own.max(axis=-1) + (high - low) ** 2 / 4
        chance = np.minimum(variance / (variance + farthest**2), 0.5)
        two_points = 2 * (farthest + variance / farthest) * np.sqrt(_kearns_saul(chance))
        found: Array = np.minimum(most - least, two_points)
        return found

    def exact(self, rows: int) -> bool:
        """Whether :meth:`own` is exact for this many rows; otherwise it is a bound."""
        del rows
        return True

    @abstractmethod
    def parts(self, z: Array, reports: NDArray[Any]) -> Array:
        """Σ z_v·S_v/(p − q) of each report, one row for each row of z."""


def pair_law(mechanism: CategoryMechanism) -> PairLaw:
    """The joint law of pairs of supports of this mechanism."""
    if isinstance(mechanism, HadamardResponse):
        return Hadamard(mechanism)
    if isinstance(mechanism, OLH):
        return Hashed(mechanism)
    if isinstance(mechanism, SubsetSelection):
        return Exchangeable.of_sets(mechanism)
    if isinstance(mechanism, (Unary, RAPPOR)):
        return Exchangeable.of_bits(mechanism)
    msg = f"Expected a mechanism whose pairs of supports are known, got {type(mechanism).__name__}; use bp.OUE."
    raise InputError(msg)


class Exchangeable(PairLaw):
    """All values except the one held are exchangeable: independent bits, or a uniformly random set."""

    def __init__(self, size: int, support: tuple[Fraction, Fraction], together: tuple[Fraction, Fraction]) -> None:
        """``together``: the probability that two values are supported, if one of them is held, and if neither is."""
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
    def of_bits(cls, mechanism: CategoryMechanism) -> Exchangeable:
        """Every bit is independent; so are RAPPOR's two stages, with one permanent response per report."""
        p, q = mechanism.support
        return cls(len(mechanism.domain), (p, q), (p * q, q * q))

    @classmethod
    def of_sets(cls, mechanism: SubsetSelection) -> Exchangeable:
        """Sets of k: with the value held k − 1 others are drawn from N − 1, without it k."""
        size, k = len(mechanism.domain), mechanism.k
        p, q = mechanism.support
        others = Fraction(0)
        if size > 2:  # noqa: PLR2004 (no two others)
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
        weighed, cross = z * shares, (z * shares) @ rest.T
        found: Array = (
            (self._other - self._apart) * (z @ z.T * shares.sum() - weighed @ z.T)
            + self._apart * (rest * shares) @ rest.T
            + self._with_held * (cross + cross.T)
            + self._held * weighed @ z.T
        )
        return found

    def ends(self, z: Array) -> tuple[Array, Array]:
        k = self._largest_set
        if k is None:
            return _all_or_none(z, self._unit)
        ordered = np.sort(z, axis=-1)
        return ordered[..., :k].sum(axis=-1) * self._unit, ordered[..., self.size - k :].sum(axis=-1) * self._unit

    def parts(self, z: Array, reports: NDArray[np.uint8]) -> Array:
        found = np.empty((len(z), len(reports)))
        for some in _cut(len(reports), self.size):
            bits = np.unpackbits(reports[some], axis=1, count=self.size, bitorder="little")
            # The larger table in memory order: three times as fast as the other way round.
            found[:, some] = (bits @ z.T).T * self._unit
        return found

    def tail_spread(self, z: Array, own: Array) -> Array:
        """Bits are independent, so that the bounds of single bits add up: much less than all of them at once.

        Given the value x held, ln E exp(λ(T − E[T | x])) ≤ λ²/2·Σ z_v²·k(p_v)/(p − q)², p_v being p for x and q for all
        others (Kearns, Saul), and over people ln E exp(λ(E[T | x] − E T)) ≤ λ²/8·(range of z)² (Hoeffding's lemma).
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
    """The sets of two values of a block share half of each; the product of two rows of the matrix is a third row.

    So E[S_u·S_v] is the chance of the block where u = v, p where the row of u times that of v is the row of the value
    held, and 0 otherwise: a convolution over rows, by fast transforms.
    """

    def __init__(self, mechanism: HadamardResponse) -> None:
        p = mechanism.support[0]
        self.size, self._blocks, self._length = len(mechanism.domain), mechanism.blocks, mechanism.block_size
        self._p = float(p)
        self.steps = 4 * self._blocks * self._length
        # A block that is not one's own: 2s·b tickets of W, and p = s·(a − b)/W.
        self._elsewhere = float(2 * p / (mechanism.largest_ratio() - 1))

    def _by_block(self, values: Array) -> Array:
        """One row per block, one column per row of the matrix; row 0 stands for no value."""
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

    def _convolved(self, first: Array, second: Array) -> Array:
        one = self._transform(first)
        return self._transform(one * (one if second is first else self._transform(second))) / self._length

    def own(self, z: Array) -> Array:
        held = self._by_block(z)
        squares = (held**2).sum(axis=-1, keepdims=True)
        near = self._p * (squares + self._convolved(held, held))
        far = self._elsewhere * squares.sum(axis=-2, keepdims=True)
        return self._by_value(near + far) / self._p**2 - z**2

    def products(self, z: Array, shares: Array) -> Array:
        held, people = self._by_block(z), self._by_block(shares)
        weighed = held * people.sum(axis=-1, keepdims=True) + self._convolved(held, people)
        flat = held.reshape(len(z), -1)
        square = self._elsewhere * shares.sum() * flat @ flat.T + self._p * weighed.reshape(len(z), -1) @ flat.T
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
    r"""A report supports the values that its hash function sends to its bucket.

    With R(y) the sum of z over bucket y, E[R²] at a bucket that is not looked at is (1 − 1/g)·Σz² exactly, because two
    values collide with chance 1/g. At the bucket of the value held it depends on which *three* values collide: that is
    added up over all hash functions where that takes at most 2^23 steps. Beyond, the reports themselves tell the
    variance of their parts (:meth:`parts`). From counts alone, or for a forecast, R² of that bucket is replaced by the
    sum of R² over all buckets, which is never less: errors are then too large and never too small, by a factor of about
    √(p·g), p the chance of the true bucket, which is 1.4 at ε = 1, 2.0 at ε = 2 and 5.3 at ε = 4.
    """

    bounded = True

    def __init__(self, mechanism: OLH) -> None:
        p, q = mechanism.support
        self.size, self.buckets = len(mechanism.domain), mechanism.buckets
        self._family = HashFamily(self.size, self.buckets)
        g = self.buckets
        # Every digit of a value is replaced by every factor, for every bucket.
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
        for some in _cut(len(reports), self.size):
            rows = reports[some]
            matches = self._family.matches(self._family.factors(rows[:, :-1]), rows[:, -1].astype(np.uint16))
            found[:, some] = (matches @ z.T).T * self._unit
        return found

    def _square_at_held(self, z: Array) -> Array:
        """E[R²] at the bucket of x, for every x: bucket sums digit by digit, and back."""
        g, digits, base = self.buckets, self._family.digits, self._family.base
        full = np.zeros(base**digits)
        full[: self.size] = z
        # One axis a digit, the least first; the last axis is the bucket, where each value starts in bucket 0.
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
        return _all_or_none(z, self._unit)


def replace_digit(table: Array, digit: int, count: int, sign: int) -> Array:
    """Digit v of a value becomes factor a of a hash function: buckets (last axis) shift by a·v; or back, by −a·v."""
    moved = np.moveaxis(table, digit, 0)
    buckets = table.shape[-1]
    rows = moved.reshape(len(moved), -1, buckets)
    steps, bucket = np.arange(len(moved))[:, None, None], np.arange(buckets)
    parts = [
        np.take_along_axis(rows, (bucket - sign * factor * steps) % buckets, axis=-1).sum(axis=0)
        for factor in range(count)
    ]
    return np.moveaxis(np.array(parts).reshape(count, *moved.shape[1:]), 0, digit)


def _cut(people: int, size: int) -> list[slice]:
    """People in batches, so that one number per person and value fits in memory."""
    step = max(1, _MOST_NUMBERS // size)
    return [slice(start, start + step) for start in range(0, people, step)]


def _all_or_none(z: Array, unit: float) -> tuple[Array, Array]:
    """The smallest and largest sum over any set of values."""
    return unit * np.minimum(z, 0.0).sum(axis=-1), unit * np.maximum(z, 0.0).sum(axis=-1)


def _kearns_saul(chance: Array) -> Array:
    """k(π) = (1 − 2π)/(2 ln((1 − π)/π)), 1/4 in the middle: how far a coin of this chance strays, λ²k/2."""
    middle = np.abs(chance - 0.5) < _MIDDLE
    safe = np.where(middle, 0.25, np.maximum(chance, 1e-300))
    found: Array = np.where(middle, 0.25, (1 - 2 * safe) / (2 * (np.log1p(-safe) - np.log(safe))))
    return found

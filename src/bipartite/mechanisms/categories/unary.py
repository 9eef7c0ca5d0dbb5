"""Unary encodings: a report is one bit per value, each randomized independently."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import DesignError
from bipartite.lottery.epsilon import exp_between
from bipartite.lottery.tickets import RELATIVE_SHORTFALL, SHORTFALL
from bipartite.lottery.words import take
from bipartite.mechanisms.categories.base import CategoryMechanism, check_reports, check_size, refuse_rows
from bipartite.mechanisms.categories.bits import (
    CERTAIN,
    MOST_BITS,
    coins,
    count_rows,
    kernel_for,
    last_mask,
    row_bytes,
    slab_of,
    words_for,
)
from bipartite.mechanisms.spec.parts import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.lottery import Epsilon, Stream

_DIGITS: Final = 60


class PackedReports(CategoryMechanism):
    """A mechanism whose report is a row of packed bits, one per value.

    Bit j of a report is bit j mod 8 of byte j div 8 (``np.unpackbits(row, bitorder="little")``); the bits of the last
    byte without a value are 0. The support of a value is the number of reports in which its bit is 1.
    """

    __slots__ = ()

    def count(self, reports: object) -> NDArray[np.int64]:
        size = len(self.domain)
        found = check_reports(reports, np.uint8, row_bytes(size))
        check_spare_bits(found, size)
        return count_rows(kernel_for(found.size), found)[:size]

    @property
    def _slab(self) -> int:
        return slab_of(len(self.domain))

    def _empty(self, people: int) -> NDArray[Any]:
        return np.empty((people, row_bytes(len(self.domain))), dtype=np.uint8)


def check_spare_bits(reports: NDArray[np.uint8], size: int) -> None:
    """Refuse reports with a bit set beyond the last value: they are damaged, or of another domain."""
    refuse_rows((reports[:, -1] & ~last_mask(size)) != 0, f"reports of {size} bits and none beyond")


@dataclass(frozen=True, slots=True)
class Chances:
    """The probabilities, times 2^64, that a bit is reported as 1."""

    one: int
    """If it is 1."""
    zero: int
    """If it is 0."""


def draw_unary(chances: Chances, indices: NDArray[np.int64], size: int, stream: Stream) -> NDArray[np.uint8]:
    """Noisy copies of rows in which one bit is 1: a word for this bit of each person, then coins for all others."""
    kernel = kernel_for(len(indices) * row_bytes(size))
    shown = take(stream, len(indices)) < np.uint64(chances.one)
    rows = coins(kernel, len(indices), size, chances.zero, stream)
    kernel.put(rows, indices, shown)
    return rows


class Unary(PackedReports):
    """A unary encoding: the bit of the true value is 1 with one probability, every other bit with another."""

    __slots__ = ("_chances",)
    fields = frozenset({"chances"})

    _chances: Chances

    def _assemble(self, domain: Domain, budget: Epsilon, chances: Chances) -> None:
        self._set(domain=domain, _budget=budget, _chances=chances)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        return Fraction(self._chances.one, CERTAIN), Fraction(self._chances.zero, CERTAIN)

    def largest_ratio(self) -> Fraction:
        """p(1 − q)/(q(1 − p)): the report has the bit of x and not that of x'; all other bits have the same law."""
        return odds_ratio(*self.support)

    @property
    def _words_each(self) -> int:
        return 1 + words_for(len(self.domain))

    def _draw(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint8]:
        return draw_unary(self._chances, indices, len(self.domain), stream)

    def parts(self) -> dict[str, Any]:
        return {"chances": written(self._chances)}


def odds_ratio(p: Fraction, q: Fraction) -> Fraction:
    """p(1 − q)/(q(1 − p)), the likelihood ratio of two values for a report with one bit and without the other."""
    return p * (1 - q) / (q * (1 - p))


def check_unary(domain: Domain) -> None:
    """Refuse anything but a domain that is small enough for one bit per value."""
    check_size(domain, MOST_BITS, "a report holds one bit per value; use bp.OLH or bp.HadamardResponse")


def least_chances(budget: Epsilon, ratio: Callable[[int], Fraction]) -> int:
    """The smallest t in 1 … 2^63 − 1 whose ratio is at most e^ε, where the ratio decreases with t.

    Refused if its ε is short of the budget by more than min(1e-6, ε/1000).
    """
    low, high = 1, CERTAIN // 2 - 1
    while low < high:
        middle = (low + high) // 2
        if budget.allows(*ratio(middle).as_integer_ratio()):
            high = middle
        else:
            low = middle + 1
    found = ratio(low)
    least = budget.value - min(SHORTFALL, budget.value * RELATIVE_SHORTFALL)
    if not budget.allows(*found.as_integer_ratio()) or found < exp_between(least, _DIGITS)[1]:
        which, other = ("large", "smaller") if budget.value > 1 else ("small", "larger")
        raise DesignError(
            f"ε={budget.text} is too {which} to be met within 1e-6 by probabilities t/2^64; use a {other} ε."
        )
    return low

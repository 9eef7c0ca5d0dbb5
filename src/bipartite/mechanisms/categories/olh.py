"""Optimal Local Hashing: report a hash function and a noisy hash of the value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains.base import MAX_SIZE
from bipartite.errors import DesignError
from bipartite.lottery import Epsilon, Tickets
from bipartite.lottery.uniform import draw_below
from bipartite.mechanisms.categories.draw import Flat, FlatDraw, check_reports, refuse_rows, round_exactly
from bipartite.mechanisms.categories.hashing import MOST_BUCKETS, HashFamily
from bipartite.mechanisms.checks import check_choice, check_domain, tickets_for
from bipartite.mechanisms.spec.fields import counts, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.lottery import Stream

_COUNTED: Final = 2**16


@dataclass(frozen=True)
class Hashed(FlatDraw):
    """A hash of the value, reported by randomized response on the buckets, with the seed of the hash function."""

    size: int
    buckets: int
    tickets: Tickets
    slab = 2**13

    @cached_property
    def family(self) -> HashFamily:
        """The hash functions."""
        return HashFamily(self.size, self.buckets)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.tickets.near, self.tickets.total(1, self.buckets)), Fraction(1, self.buckets)

    def largest_ratio(self) -> Fraction:
        """a/b, the ratio of randomized response on the buckets."""
        return self.tickets.ratio

    @cached_property
    def words_each(self) -> int:  # type: ignore[override]
        """One for each number of a report: those of the seed, and the bucket."""
        return len(self.family.seeds) + 1

    def empty(self, people: int) -> NDArray[Any]:
        return np.empty((people, self.words_each), dtype=np.uint64)

    def rows_of(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint64]:
        family, g = self.family, self.buckets
        reports = self.empty(len(indices))
        for column, digits in enumerate(family.seeds):
            reports[:, column] = draw_below(g**digits, len(indices), stream)
        ticket = draw_below(self.tickets.total(1, g), len(indices), stream)
        true = family.hash(family.factors(reports[:, :-1]), indices)
        near, shift = np.uint64(self.tickets.near), np.uint64(self.tickets.far.bit_length() - 1)
        other = ((ticket - near) >> shift).view(np.int64)
        other += other >= true
        reports[:, -1] = np.where(ticket < near, true, other).view(np.uint64)
        return reports

    def count(self, reports: object) -> NDArray[np.int64]:
        found = check_reports(reports, np.uint64, self.words_each)
        limits = np.array([self.buckets**digits for digits in self.family.seeds] + [self.buckets], dtype=np.uint64)
        refuse_rows((found >= limits).any(axis=1), f"seeds and buckets of {self.buckets} buckets")
        counts = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(found), _COUNTED):
            some = found[start : start + _COUNTED]
            factors = self.family.factors(some[:, :-1])
            counts += self.family.supports(factors, np.ascontiguousarray(some[:, -1]).astype(np.uint16))
        return counts


class OLH(Flat):
    r"""Optimal Local Hashing: hash the value to one of g buckets, then report the bucket by randomized response.

    The hash function is drawn for each report, independently of the value, and is part of the report. The bucket of the
    value is reported with probability p = a/(a + (g − 1)b), any other bucket with b/(a + (g − 1)b), where a and b are
    integer tickets with a/b ≤ e\ :sup:`ε`, and g = e\ :sup:`ε` rounded, plus 1.

    Parameters
    ----------
    domain
        Any domain.
    epsilon
        The privacy budget of one report; for large ε (g above 2^15) use :class:`~bipartite.GRR`.
    buckets
        g; None for the rounded optimum, 2 for binary local hashing.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): the seed does not depend on the value, and given the seed
    the bucket is randomized response.

    Notes
    -----
    A report is a row of ``uint64``: the seed (one number, or more if K digits in base g need more than 52 bits), then
    the bucket. The hash function is h(x) = Σ a_i·x_i mod g over the K digits x_i of x in base B, the smallest prime
    factor of g, with a_i = digit i of the seed in base g. Two values collide with probability exactly 1/g, so a report
    supports any value but the true one with probability exactly q = 1/g, and estimates are unbiased, with variance
    [q(1 − q) + f(p(1 − p) − q(1 − q))]/(n(p − q)²) for a share f among n people; counting takes n·N steps. A slab
    consumes its words in this order: the first number of all seeds, the second, …, then a ticket for each bucket.

    Reference
    ---------
    Wang, Blocki, Li, Jha: *Locally Differentially Private Protocols for Frequency Estimation* (USENIX Security 2017).

    Examples
    --------
    >>> import bipartite as bp
    >>> mech = OLH(bp.Integers(1, 100), epsilon=1)
    >>> mech.buckets, mech.privatize([3, 7]).shape, bp.verify(mech).holds
    (4, (2, 2), True)
    """

    __slots__ = ()
    schema = {"buckets": whole(), "tickets": counts(Tickets)}
    chosen = ("buckets",)

    def __init__(self, domain: Domain, epsilon: object, *, buckets: int | None = None) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain, most=MAX_SIZE, instead="use fewer values")
        g = best_buckets(budget) if buckets is None else check_choice("buckets", buckets, 2, MOST_BUCKETS)
        self._hold(domain, budget, {"buckets": g, "tickets": tickets_for(budget, 1, g, "buckets")})

    @classmethod
    def draw_of(cls, size: int, facts: Mapping[str, Any]) -> FlatDraw:
        return Hashed(size, facts["buckets"], facts["tickets"])

    @property
    def buckets(self) -> int:
        """g, the number of buckets."""
        return int(self.facts["buckets"])


def best_buckets(budget: Epsilon) -> int:
    """e^ε rounded to the nearest integer, plus 1; decided exactly."""
    if not budget.allows(1, 1) or budget.allows(MOST_BUCKETS, 1):
        raise DesignError(
            f"ε={budget.text} needs more than 2^15 buckets; use bp.GRR, which is better there, or pass buckets=."
        )
    # k − 1/2 ≤ e^ε  ⟺  (2k − 1) − 2e^ε ≤ 0.
    return 1 + round_exactly(max(1, round(math.exp(float(budget)))), lambda k: budget.sign(2 * k - 1, -2) <= 0)

"""Unary encodings: a report is one bit per value, each randomized independently: OUE, SUE and RAPPOR."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from bipartite.errors import DesignError, InputError, Problems, shown
from bipartite.lottery import Epsilon, log_between, source_of
from bipartite.lottery.epsilon import MAX_DIGITS, exp_between
from bipartite.lottery.tickets import RELATIVE_SHORTFALL, SHORTFALL
from bipartite.lottery.words import take
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
from bipartite.mechanisms.categories.draw import Flat, FlatDraw, by_people, check_reports, refuse_rows
from bipartite.mechanisms.checks import check_domain, check_options
from bipartite.mechanisms.spec.fields import Field, is_chance, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.lottery import Source, Stream
    from bipartite.mechanisms.spec.fields import Fields

_DIGITS: Final = 60
_EXPECTED: Final = "as a number strictly between 0 and 1, such as 0.5 or '0.75'"


class PackedBits(FlatDraw):
    """A draw whose report is a row of packed bits, one per value.

    Bit j of a report is bit j mod 8 of byte j div 8 (``np.unpackbits(row, bitorder="little")``); the bits of the last
    byte without a value are 0. The support of a value is the number of reports in which its bit is 1.
    """

    size: int

    @property
    def slab(self) -> int:  # type: ignore[override]
        return slab_of(self.size)

    def empty(self, people: int) -> NDArray[Any]:
        return np.empty((people, row_bytes(self.size)), dtype=np.uint8)

    def count(self, reports: object) -> NDArray[np.int64]:
        found = check_packed(reports, self.size)
        return count_rows(kernel_for(found.size), found)[: self.size]


def check_packed(reports: object, size: int) -> NDArray[np.uint8]:
    """Rows of this many bits; refused if a bit is set beyond the last value: they are damaged, or of another domain."""
    found = check_reports(reports, np.uint8, row_bytes(size))
    refuse_rows((found[:, -1] & ~last_mask(size)) != 0, f"reports of {size} bits and none beyond")
    return found


@dataclass(frozen=True, slots=True)
class Chances:
    """The probabilities, times 2^64, that a bit is reported as 1."""

    one: int
    """If it is 1."""
    zero: int
    """If it is 0."""

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """The probabilities themselves."""
        return Fraction(self.one, CERTAIN), Fraction(self.zero, CERTAIN)

    def largest_ratio(self) -> Fraction:
        """p(1 − q)/(q(1 − p)): the report has the bit of x and not that of x'; all other bits have the same law."""
        return odds_ratio(*self.shares)


@dataclass(frozen=True)
class Coins(PackedBits):
    """One coin a value: the bit of the true value is 1 with one probability, every other bit with another."""

    size: int
    chances: Chances

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        return self.chances.shares

    def largest_ratio(self) -> Fraction:
        return self.chances.largest_ratio()

    @property
    def words_each(self) -> int:  # type: ignore[override]
        return 1 + words_for(self.size)

    def rows_of(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint8]:
        """Noisy copies of rows in which one bit is 1: a word for this bit of each person, then coins for all others."""
        kernel = kernel_for(len(indices) * row_bytes(self.size))
        shown = take(stream, len(indices)) < np.uint64(self.chances.one)
        rows = coins(kernel, len(indices), self.size, self.chances.zero, stream)
        kernel.put(rows, indices, shown)
        return rows


@dataclass(frozen=True)
class CoinsOfCoins(PackedBits):
    """RAPPOR's two coins a value: a permanent response, and an instantaneous one drawn from it."""

    size: int
    permanent: Chances
    instantaneous: Chances

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        (one, zero), (kept, flipped) = self.instantaneous.shares, self.permanent.shares
        return kept * one + flipped * zero, flipped * one + kept * zero

    def largest_ratio(self) -> Fraction:
        """((1 − f/2)/(f/2))²: the largest ratio of two probabilities of a permanent response, so of all reports."""
        return self.permanent.largest_ratio()

    @property
    def words_each(self) -> int:  # type: ignore[override]
        return 1 + 3 * words_for(self.size)

    def rows_of(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint8]:
        return self.answer(Coins(self.size, self.permanent).rows_of(indices, stream), stream)

    def answer(self, held: NDArray[np.uint8], stream: Stream) -> NDArray[np.uint8]:
        """Two coins for every bit, of probability q and p; the permanent bit selects one."""
        kernel = kernel_for(held.size)
        one = coins(kernel, len(held), self.size, self.instantaneous.one, stream)
        zero = coins(kernel, len(held), self.size, self.instantaneous.zero, stream)
        answers: NDArray[np.uint8] = zero ^ ((zero ^ one) & held)
        return answers


def odds_ratio(p: Fraction, q: Fraction) -> Fraction:
    """p(1 − q)/(q(1 − p)), the likelihood ratio of two values for a report with one bit and without the other."""
    return p * (1 - q) / (q * (1 - p))


def check_unary(domain: Domain) -> None:
    """Refuse anything but a domain that is small enough for one bit per value."""
    check_domain(domain, most=MOST_BITS, instead="a report holds one bit per value; use bp.OLH or bp.HadamardResponse")


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


def symmetric_chances(budget: Epsilon) -> Chances:
    """The smallest q = t/2^64 with ((1 − q)/q)² ≤ e^ε, and p = 1 − q."""
    zero = least_chances(budget, lambda t: Fraction((CERTAIN - t) ** 2, t * t))
    return Chances(one=CERTAIN - zero, zero=zero)


def _read_chances(fields: Fields, name: str) -> Chances:
    given = fields[name]
    if isinstance(given, Mapping) and set(given) == {"one", "zero"} and all(map(is_chance, given.values())):
        return Chances(int(given["one"]), int(given["zero"]))
    fields.note(f"Expected {name} as {{'one': '…', 'zero': '…'}}, whole numbers as strings.")
    return Chances(0, 0)


_CHANCES: Final = Field(_read_chances, written)


class Unary(Flat):
    """A unary encoding: the bit of the true value is 1 with one probability, every other bit with another."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Field]] = {"chances": _CHANCES}

    @classmethod
    def draw_of(cls, size: int, facts: Mapping[str, Any]) -> FlatDraw:
        return Coins(size, facts["chances"])


class OUE(Unary):
    r"""Optimised Unary Encoding: one bit per value; the bit of the true value is a fair coin.

    Bit x is 1 with probability p = 1/2, any other bit with q = 1/(e\ :sup:`ε` + 1); all bits are independent. q is the
    smallest t/2^64 with (1 − q)/q ≤ e\ :sup:`ε`.

    Parameters
    ----------
    domain
        Any domain of at most 2^18 values.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): two values differ in two bits, and
    p(1 − q)/(q(1 − p)) = (1 − q)/q.

    Notes
    -----
    A report is ⌈N/8⌉ bytes. Estimates are unbiased; the variance of a share f among n people is
    [q(1 − q) + f(p(1 − p) − q(1 − q))]/(n(p − q)²), for rare values 4e\ :sup:`ε`/(n(e\ :sup:`ε` − 1)²).

    Reference
    ---------
    Wang, Blocki, Li, Jha: *Locally Differentially Private Protocols for Frequency Estimation* (USENIX Security 2017).

    Examples
    --------
    >>> import bipartite as bp
    >>> mech = OUE(bp.Integers(1, 100), epsilon=1)
    >>> reports = mech.privatize([3] * 600 + [7] * 400, rng=bp.insecure_seed(1))
    >>> reports.shape, bp.verify(mech).holds
    ((1000, 13), True)
    >>> mech.count(reports).argmax()
    np.int64(2)
    """

    __slots__ = ()

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_unary(domain)
        zero = least_chances(budget, lambda t: Fraction(CERTAIN - t, t))
        self._hold(domain, budget, {"chances": Chances(one=CERTAIN // 2, zero=zero)})


class SUE(Unary):
    r"""Symmetric Unary Encoding: one bit per value; every bit is true with the same probability.

    Bit x is 1 with probability p = e\ :sup:`ε/2`/(e\ :sup:`ε/2` + 1), any other bit with q = 1 − p; all bits are
    independent. This is basic one-time RAPPOR. q is the smallest t/2^64 with ((1 − q)/q)² ≤ e\ :sup:`ε`.

    Parameters
    ----------
    domain
        Any domain of at most 2^18 values.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): two values differ in two bits, and
    p(1 − q)/(q(1 − p)) = (p/q)².

    Notes
    -----
    A report is ⌈N/8⌉ bytes. Estimates are unbiased; the variance of a share among n people does not depend on the
    share: pq/(n(p − q)²) = e\ :sup:`ε/2`/(n(e\ :sup:`ε/2` − 1)²). For rare values OUE is better.

    Reference
    ---------
    Erlingsson, Pihur, Korolova: *RAPPOR* (CCS 2014); Wang, Blocki, Li, Jha (USENIX Security 2017).

    Examples
    --------
    >>> import bipartite as bp
    >>> mech = SUE(bp.Integers(1, 100), epsilon=1)
    >>> mech.privatize(3).shape, bp.verify(mech).holds
    ((13,), True)
    """

    __slots__ = ()

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_unary(domain)
        self._hold(domain, budget, {"chances": symmetric_chances(budget)})


class RAPPOR(Flat):
    r"""RAPPOR: a noisy copy of the value's bits is drawn once and kept; each report is a noisier copy of it.

    The value is a row of N bits, one of them 1. *Permanent response*, once per person and value: every bit is kept with
    probability 1 − f, else replaced by a fair coin; so it is 1 with probability 1 − f/2 if the bit is 1, and f/2 if it
    is 0. *Instantaneous response*, for every report: a permanent 1 is reported as 1 with probability q, a permanent 0
    with probability p. All probabilities are exactly t/2^64.

    Parameters
    ----------
    domain
        Any domain of at most 2^18 values.
    epsilon_permanent
        ε\ :sub:`∞`, the budget of all reports about one value together, however many; f follows from it. Pass either
        this or ``f``.
    f
        The probability that a permanent bit is replaced; ε\ :sub:`∞` follows from it, rounded up in the 20th digit.
    p, q
        The instantaneous probabilities of a 1, in the notation of RAPPOR: p < q.

    Guarantee
    ---------
    ``epsilon`` is ε\ :sub:`∞` = 2·ln((1 − f/2)/(f/2)): the permanent response, and hence all reports drawn from it, is
    ε\ :sub:`∞`-LDP, provided that the same permanent response is used as long as the value does not change. This is
    what :func:`bipartite.verify` certifies. A single report is ε\ :sub:`1`-LDP with the smaller
    ε\ :sub:`1` = ln(q*(1 − p*)/(p*(1 − q*))), q* = (1 − f/2)q + (f/2)p, p* = (f/2)q + (1 − f/2)p:
    :attr:`epsilon_of_one_report`. A new value needs a new permanent response, which spends ε\ :sub:`∞` again.

    Notes
    -----
    The caller must store the permanent response on the person's device, and it must not leave the device.
    ``privatize(values)`` uses a permanent response once and discards it. Estimates are unbiased, with variance
    [p*(1 − p*) + f_x(q*(1 − q*) − p*(1 − p*))]/(n(q* − p*)²) for a share f_x among n people. There are no Bloom
    filters: one bit per value, as in *basic* RAPPOR.

    Reference
    ---------
    Erlingsson, Pihur, Korolova: *RAPPOR: Randomized Aggregatable Privacy-Preserving Ordinal Response* (CCS 2014).

    Examples
    --------
    >>> import bipartite as bp
    >>> mech = RAPPOR(bp.Integers(1, 100), epsilon_permanent=4, p=0.25, q=0.75)
    >>> kept = mech.permanent([3, 7, 7])          # once, stored by the client
    >>> monday, tuesday = mech.instantaneous(kept), mech.instantaneous(kept)
    >>> bp.verify(mech).holds, float(round(mech.epsilon_of_one_report, 3))
    (True, 1.604)
    """

    __slots__ = ()
    schema: ClassVar[Mapping[str, Field]] = {"permanent": _CHANCES, "instantaneous": _CHANCES}
    draw: CoinsOfCoins

    def __init__(
        self,
        domain: Domain,
        *,
        epsilon_permanent: object = None,
        f: object = None,
        p: object = Decimal("0.25"),
        q: object = Decimal("0.75"),
    ) -> None:
        check_unary(domain)
        problems = Problems()
        if (epsilon_permanent is None) == (f is None):
            problems.add("Expected either epsilon_permanent= or f=; the other follows from it.")
        low, high = _chance("p", p, problems), _chance("q", q, problems)
        half = CERTAIN // 2 if f is None else -(-_chance("f", f, problems) // 2)
        if not problems and low >= high:
            problems.add("Expected p < q: the probability of a 1 is p for a permanent 0 and q for a permanent 1.")
        problems.raise_if_any(InputError)
        if f is None:
            budget = Epsilon.of(epsilon_permanent)
            permanent = symmetric_chances(budget)
        else:
            permanent = Chances(one=CERTAIN - half, zero=half)
            budget = _budget_above(Fraction(permanent.one, permanent.zero) ** 2)
        self._hold(domain, budget, {"permanent": permanent, "instantaneous": Chances(one=high, zero=low)})

    @classmethod
    def draw_of(cls, size: int, facts: Mapping[str, Any]) -> FlatDraw:
        return CoinsOfCoins(size, facts["permanent"], facts["instantaneous"])

    @classmethod
    def _rebuilt(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> Self:
        (_, kept), (high, low) = facts["permanent"].shares, facts["instantaneous"].shares
        by_epsilon = cls(domain, epsilon_permanent=budget.value, p=low, q=high)
        # The permanent response may have been given by its f, from which ε follows, instead of by ε.
        return by_epsilon if by_epsilon.facts == facts else cls(domain, f=2 * kept, p=low, q=high)

    @property
    def guarantee(self) -> str:
        """The promise of all reports about one value, in words."""
        return f"ε-LDP of all reports from one permanent response together with ε = {self._epsilon_text}"

    @property
    def f(self) -> Fraction:
        """The probability that a permanent bit is replaced by a fair coin, exactly."""
        return 2 * self.draw.permanent.shares[1]

    @property
    def epsilon_of_one_report(self) -> Decimal:
        """ε of a single report, ln of :meth:`largest_ratio_of_one_report`, rounded up in the 30th digit."""
        return log_between(self.largest_ratio_of_one_report())[1]

    def largest_ratio_of_one_report(self) -> Fraction:
        """q*(1 − p*)/(p*(1 − q*)): the largest ratio of two probabilities of a single report."""
        return odds_ratio(*self.support)

    def permanent(
        self,
        values: object,  # a value, or any container of values
        *,
        rng: Source | None = None,
        outside: Outside = "error",
        nulls: Literal["error"] = "error",
        threads: int = 1,
    ) -> NDArray[np.uint8]:
        """The permanent response of each person, to be stored on their device, as rows of packed bits."""
        once = object.__new__(SUE)
        once._hold(self.domain, self._budget, {"chances": self.draw.permanent})
        return once.privatize(values, rng=rng, outside=outside, nulls=nulls, threads=threads)

    def instantaneous(
        self, permanent: NDArray[np.uint8], *, rng: Source | None = None, threads: int = 1
    ) -> NDArray[np.uint8]:
        """One report for each permanent response (rows of packed bits, or a single row)."""
        check_options("error", "error", threads)
        source = source_of(rng)
        size = len(self.domain)
        alone = getattr(permanent, "ndim", 2) == 1
        held = check_packed(permanent[None] if alone else permanent, size)
        reports, slab = self.draw.empty(len(held)), self.draw.slab

        def job(start: int, stop: int, stream: Stream) -> None:
            for first in range(start, stop, slab):
                some = slice(first, min(first + slab, stop))
                reports[some] = self.draw.answer(held[some], stream)

        by_people(len(held), 2 * words_for(size), source, operator.index(threads), job)
        return reports[0] if alone else reports


def _chance(name: str, given: object, problems: Problems) -> int:
    """A probability as the nearest t/2^64; a float means its shortest repr."""
    try:
        exact = given if isinstance(given, Fraction) else Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        exact = Fraction(0)
    chances = round(exact * CERTAIN)
    if isinstance(given, bool) or not 0 < exact < 1 or not 0 < chances < CERTAIN:
        problems.add(f"Expected {name} {_EXPECTED}, got {shown(given)}.")
        return 1
    return chances


def _budget_above(ratio: Fraction) -> Epsilon:
    """The smallest ε of 20 digits that these tickets provably keep."""
    above = log_between(ratio)[1]
    if not above > 0:
        raise DesignError("Expected f below 1, because with f = 1 a permanent response is pure noise; use a smaller f.")
    power = math.floor(above.log10()) - MAX_DIGITS + 1
    step = Decimal((0, (1,), power))
    rounded = Decimal(math.ceil(Fraction(above) / Fraction(step))) * step
    budget = Epsilon.of(rounded)
    while not budget.allows(*ratio.as_integer_ratio()):
        rounded += step
        budget = Epsilon.of(rounded)
    return budget

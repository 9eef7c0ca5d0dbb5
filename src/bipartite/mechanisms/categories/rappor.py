"""RAPPOR: a permanent response, drawn once and kept, and a new response drawn from it for every report."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import DesignError, InputError, Problems, shown
from bipartite.lottery import Epsilon, log_between, source_of
from bipartite.lottery.epsilon import MAX_DIGITS
from bipartite.mechanisms.base import check_options
from bipartite.mechanisms.categories.base import check_reports
from bipartite.mechanisms.categories.bits import CERTAIN, coins, kernel_for, row_bytes, words_for
from bipartite.mechanisms.categories.drawing import by_people
from bipartite.mechanisms.categories.sue import symmetric_chances
from bipartite.mechanisms.categories.unary import (
    Chances,
    PackedReports,
    check_spare_bits,
    check_unary,
    draw_unary,
    odds_ratio,
)
from bipartite.mechanisms.spec.parts import is_chance, written

if TYPE_CHECKING:
    from typing import Literal, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.lottery import Source, Stream
    from bipartite.mechanisms.spec.parts import Fields

_EXPECTED: Final = "as a number strictly between 0 and 1, such as 0.5 or '0.75'"


class RAPPOR(PackedReports):
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

    __slots__ = ("_instantaneous", "_permanent")
    fields = frozenset({"permanent", "instantaneous"})

    _permanent: Chances
    _instantaneous: Chances

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
        self._set(domain=domain, _budget=budget, _permanent=permanent, _instantaneous=Chances(one=high, zero=low))

    @property
    def guarantee(self) -> str:
        """The promise of all reports about one value, in words."""
        return f"ε-LDP of all reports from one permanent response together with ε = {self._budget.text}"

    @property
    def f(self) -> Fraction:
        """The probability that a permanent bit is replaced by a fair coin, exactly."""
        return Fraction(2 * self._permanent.zero, CERTAIN)

    @property
    def epsilon_of_one_report(self) -> Decimal:
        """ε of a single report, ln of :meth:`largest_ratio_of_one_report`, rounded up in the 30th digit."""
        return log_between(self.largest_ratio_of_one_report())[1]

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        one, zero = Fraction(self._instantaneous.one, CERTAIN), Fraction(self._instantaneous.zero, CERTAIN)
        kept, flipped = Fraction(self._permanent.one, CERTAIN), Fraction(self._permanent.zero, CERTAIN)
        return kept * one + flipped * zero, flipped * one + kept * zero

    def largest_ratio(self) -> Fraction:
        """((1 − f/2)/(f/2))²: the largest ratio of two probabilities of a permanent response, so of all reports."""
        return odds_ratio(Fraction(self._permanent.one, CERTAIN), Fraction(self._permanent.zero, CERTAIN))

    def largest_ratio_of_one_report(self) -> Fraction:
        """q*(1 − p*)/(p*(1 − q*)): the largest ratio of two probabilities of a single report."""
        return odds_ratio(*self.support)

    @property
    def _words_each(self) -> int:
        return 1 + 3 * words_for(len(self.domain))

    def _draw(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint8]:
        return self._answer(self._draw_permanent(indices, stream), stream)

    def _draw_permanent(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[np.uint8]:
        return draw_unary(self._permanent, indices, len(self.domain), stream)

    def _answer(self, held: NDArray[np.uint8], stream: Stream) -> NDArray[np.uint8]:
        """Two coins for every bit, of probability q and p; the permanent bit selects one."""
        kernel = kernel_for(held.size)
        one = coins(kernel, len(held), len(self.domain), self._instantaneous.one, stream)
        zero = coins(kernel, len(held), len(self.domain), self._instantaneous.zero, stream)
        answers: NDArray[np.uint8] = zero ^ ((zero ^ one) & held)
        return answers

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
        return self._privatize(self._draw_permanent, values, rng, outside, nulls, threads)

    def instantaneous(
        self, permanent: NDArray[np.uint8], *, rng: Source | None = None, threads: int = 1
    ) -> NDArray[np.uint8]:
        """One report for each permanent response (rows of packed bits, or a single row)."""
        check_options("error", "error", threads)
        source = source_of(rng)
        size = len(self.domain)
        alone = getattr(permanent, "ndim", 2) == 1
        held = check_reports(permanent[None] if alone else permanent, np.uint8, row_bytes(size))
        check_spare_bits(held, size)
        reports = self._empty(len(held))

        def job(start: int, stop: int, stream: Stream) -> None:
            for first in range(start, stop, self._slab):
                some = slice(first, min(first + self._slab, stop))
                reports[some] = self._answer(held[some], stream)

        by_people(len(held), 2 * words_for(size), source, operator.index(threads), job)
        return reports[0] if alone else reports

    @classmethod
    def _rebuilt(cls, fields: Fields) -> Self:
        chances = [
            fields[part][bit] if isinstance(fields[part], Mapping) and bit in fields[part] else None
            for part in ("permanent", "instantaneous")
            for bit in ("one", "zero")
        ]
        if not all(is_chance(chance) for chance in chances):
            expected = "{'one': '…', 'zero': '…'}, whole numbers as strings"
            fields.refuse(f"Expected permanent and instantaneous as {expected}.")
        _, kept, high, low = (Fraction(int(str(chance)), CERTAIN) for chance in chances)
        by_epsilon = cls(fields.domain, epsilon_permanent=fields["epsilon"], p=low, q=high)
        # The permanent response may have been given by its f, from which ε follows, instead of by ε.
        same = by_epsilon.to_spec() == dict(fields.spec)
        return by_epsilon if same else cls(fields.domain, f=2 * kept, p=low, q=high)

    def parts(self) -> dict[str, Any]:
        return {"permanent": written(self._permanent), "instantaneous": written(self._instantaneous)}


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

"""The Hybrid mechanism for one number: Piecewise for some reports, Duchi for the others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.errors import BrokenPromiseError, DesignError
from bipartite.lottery import MAX_TOTAL, Epsilon, Table, Tickets, check_table
from bipartite.lottery.epsilon import exp_between
from bipartite.lottery.table import MOST_TICKET_COUNTS
from bipartite.lottery.tickets import is_close_enough
from bipartite.mechanisms.added_noise import check_interval
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.piecewise import check_outputs
from bipartite.mechanisms.spec.parts import written
from bipartite.mechanisms.unbiased import Sliding, TwoEnds, check_sliding, read_sliding, reports

if TYPE_CHECKING:
    from decimal import Decimal
    from typing import Self

    from bipartite.domains import Domain, Interval
    from bipartite.mechanisms.spec.parts import Fields

_ENDS: Final = 2
_FIRST_DIGITS: Final = 40
_ROOT: Final = 405 * math.sqrt(241)
THRESHOLD: Final = math.log((-5 + 2 * math.cbrt(6353 - _ROOT) + 2 * math.cbrt(6353 + _ROOT)) / 27)
"""ε* = 0.60935…, above which mixing reduces the worst variance: E = e^ε* solves 9E³ + 5E² − 13E − 49 = 0."""


class Hybrid(Mechanism):
    r"""The Hybrid mechanism: with probability 1 − e\ :sup:`−ε/2` a Piecewise report, otherwise Duchi's.

    For ε ≤ ε* = 0.6094… it is Duchi's mechanism alone. At ε* the worst variances are equal: E = e\ :sup:`ε*` is the
    root of 9E³ + 5E² − 13E − 49, that is (s + 3)(s + 1)² = 3(s² + 1)² for s = e\ :sup:`ε*/2`, written in E = s².
    The coin is part of the tickets: the outputs are those of Piecewise and the two of Duchi together.

    Parameters
    ----------
    domain
        :class:`~bipartite.Interval`. With ``rounding="random"`` values between nodes keep their mean.
    epsilon
        The privacy budget of one report.
    outputs
        The approximate number of outputs of Piecewise, as there; N × outputs at most 2\ :sup:`25`.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): both parts keep ε, and the coin is independent of the
    value.

    Notes
    -----
    Bias: none, because both parts have none. Variance, mapped to [−1, 1], with s = e\ :sup:`ε/2`, E = e\ :sup:`ε`:
    for ε > ε* (s + 3)/(3s(s − 1)) + (E + 1)²/(s(E − 1)²) for every x, up to O(1/m); else Duchi's, B² − x².

    Reference
    ---------
    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu: *Collecting and Analyzing Multidimensional Data with Local
    Differential Privacy* (ICDE 2019), section III-C.

    Examples
    --------
    >>> from bipartite import Interval
    >>> share = Interval(-1, 1, points=101)
    >>> len(Hybrid(share, 0.6).outputs), len(Hybrid(share, 0.61).outputs)
    (2, 1044)
    """

    __slots__ = ("_ends", "_sliding", "_tickets")
    fields = frozenset({"parts"})
    _lottery: Table
    _ends: TwoEnds
    _sliding: Sliding | None
    _tickets: Tickets | None

    def __init__(self, domain: Domain, epsilon: object, *, outputs: int | None = None) -> None:
        budget = Epsilon.of(epsilon)
        check_interval(domain, "Hybrid")
        check_outputs(outputs)
        size = len(domain)
        if not _mixes(budget.value):
            check_table(size, _ENDS)
            self._assemble(domain, budget, TwoEnds.issue(budget, size, MAX_TOTAL), None, None)
            return
        sliding = Sliding.design(float(budget), size, outputs)
        if size * (sliding.outputs(size) + _ENDS) > MOST_TICKET_COUNTS:
            raise DesignError(
                f"Expected at most 2^25 ticket counts, got {size} × {sliding.outputs(size) + _ENDS}; "
                "use fewer outputs, a smaller ε, or an Interval of fewer points; bp.Piecewise needs no table."
            )
        tickets = _share(budget, sliding, sliding.outputs(size))
        # The coin: Duchi's tickets to Piecewise's as e^(−ε/2) to 1 − e^(−ε/2).
        others = tickets.total(sliding.m, sliding.outputs(size)) / math.expm1(float(budget) / 2)
        self._assemble(domain, budget, TwoEnds.issue(budget, size, int(others)), sliding, tickets)

    def _assemble(
        self, domain: Domain, budget: Epsilon, ends: TwoEnds, sliding: Sliding | None, tickets: Tickets | None
    ) -> None:
        size, interval = len(domain), cast("Interval", domain)
        values, rows = ends.values(interval), ends.rows(size)
        if sliding is not None and tickets is not None:
            at = np.arange(sliding.outputs(size))[None, :] - sliding.stride * np.arange(size)[:, None]
            window = np.where((at >= 0) & (at < sliding.m), tickets.near, tickets.far)
            nodes = reports(sliding.values(interval, tickets.near, tickets.far)).values
            values = np.concatenate([values, nodes])
            # An end of Duchi that is also a node of Piecewise is one output.
            values, which = np.unique(values, return_inverse=True)
            ends_rows, rows = rows, np.zeros((size, len(values)), dtype=np.int64)
            rows[:, which[:_ENDS]] += ends_rows
            rows[:, which[_ENDS:]] += window
        self._set(domain=domain, outputs=reports(values), _budget=budget, _lottery=Table(rows))
        self._set(_ends=ends, _sliding=sliding, _tickets=tickets)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        parts = fields["parts"]
        if not isinstance(parts, Mapping) or set(parts) not in ({"ends"}, {"ends", "window"}):
            fields.refuse("Expected parts as {'ends': …} or {'ends': …, 'window': …}; ask for another spec.")
        ends = fields.within(parts).counts("ends", TwoEnds)
        sliding = tickets = None
        if "window" in parts:
            window = fields.within(parts["window"])
            if not isinstance(parts["window"], Mapping) or set(parts["window"]) != {"m", "stride", "near", "far"}:
                fields.refuse("Expected window with m, stride, near and far; ask for another spec.")
            sliding = read_sliding(window)
            both = {"tickets": {key: window[key] for key in ("near", "far")}}
            tickets = fields.within(both).counts("tickets", Tickets)
        domain, budget = fields.interval, fields.budget
        size = len(domain)
        problems = ends.problems(budget, size)
        outputs = _ENDS
        if sliding is not None and tickets is not None:
            check_sliding(sliding, size)
            outputs += sliding.outputs(size)
            if not tickets.near > tickets.far >= 1:
                problems.add("Expected near > far ≥ 1; ask for another spec.")
            elif not budget.allows(tickets.near, tickets.far):
                problems.add(f"The tickets of Piecewise exceed e^ε for ε={budget.text}; do not report with this spec.")
            if ends.total(size) + tickets.total(sliding.m, sliding.outputs(size)) > MAX_TOTAL:
                problems.add("Expected at most 2^52 tickets per row; ask for another spec.")
        problems.raise_if_any(BrokenPromiseError)
        check_table(size, outputs)
        return cls._made(domain, budget, ends, sliding, tickets)

    @property
    def piecewise_share(self) -> float:
        """The probability of a Piecewise report, from the tickets: about 1 − e^(−ε/2), or 0 for ε ≤ ε*."""
        return 1 - self._ends.total(len(self.domain)) / self._lottery.total

    def parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = {"ends": written(self._ends)}
        if self._sliding is not None and self._tickets is not None:
            window = {"m": self._sliding.m, "stride": self._sliding.stride}
            parts["window"] = window | written(self._tickets)
        return {"parts": parts}

    def _options(self) -> str:
        return "" if self._sliding is None else f", outputs={self._sliding.outputs(len(self.domain))}"


def _mixes(epsilon: Decimal) -> bool:
    """Whether ε > ε*, exactly: the sign of 9E³ + 5E² − 13E − 49, which increases with E = e^ε > 1 and is never 0."""
    digits = _FIRST_DIGITS
    while True:
        low, high = (((9 * e + 5) * e - 13) * e - 49 > 0 for e in exp_between(epsilon, digits))
        if low == high:
            return low
        digits *= 2


def _share(budget: Epsilon, sliding: Sliding, outputs: int) -> Tickets:
    """The tickets of Piecewise, which leave Duchi its share of 2^52."""
    e, s = math.exp(float(budget)), math.exp(float(budget) / 2)
    room = MAX_TOTAL * (1 - 2**-40) * (1 - 1 / s)
    far = int(room / (sliding.m * e + outputs - sliding.m))
    tickets = Tickets(budget.most_near_tickets(far), far)
    if far < 1 or not is_close_enough(tickets, budget):
        raise DesignError(
            f"2^52 tickets cannot keep ε={budget.text} with {outputs} reports; use a smaller ε, or fewer outputs."
        )
    return tickets

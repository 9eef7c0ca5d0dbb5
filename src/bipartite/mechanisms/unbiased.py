"""Unbiased numbers: Duchi's two ends, Piecewise's sliding window, and Hybrid, which has both.

Both families of rows consist of integer tickets, and their outputs are scaled by the exact inverse of the slope, so
that the mean of a report is the true node, up to the rounding of the outputs to doubles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from bipartite.domains.base import whole_number
from bipartite.domains.outputs import Outputs
from bipartite.errors import BrokenPromiseError, DesignError, DomainError, InputError, Problems
from bipartite.lottery import MAX_TOTAL, Epsilon, Table, Tickets, Window, check_table
from bipartite.lottery.epsilon import exp_between
from bipartite.lottery.table import MOST_TICKET_COUNTS
from bipartite.lottery.tickets import is_close_enough
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.checks import check_interval, check_tickets, tickets_for
from bipartite.mechanisms.spec.fields import AGAIN, Field, whole, written

if TYPE_CHECKING:
    from decimal import Decimal

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Interval
    from bipartite.lottery import Deal
    from bipartite.mechanisms.spec.fields import Fields

MOST_OUTPUTS: Final = 2**22
_LEAST_OUTPUTS: Final = 2
_ENDS: Final = 2
# Large enough that rounding the window to an integer changes the variance by a few percent at most.
_DEFAULT_OUTPUTS: Final = 1024
_DEFAULT_WINDOW: Final = 32
_FIRST_DIGITS: Final = 40
_ROOT: Final = 405 * math.sqrt(241)
THRESHOLD: Final = math.log((-5 + 2 * math.cbrt(6353 - _ROOT) + 2 * math.cbrt(6353 + _ROOT)) / 27)
"""ε* = 0.60935…, above which mixing reduces the worst variance: E = e^ε* solves 9E³ + 5E² − 13E − 49 = 0."""


@dataclass(frozen=True, slots=True)
class TwoEnds:
    """Node i of N has least + step·i tickets for the upper end, and least + step·(N − 1 − i) for the lower."""

    least: int
    step: int

    @classmethod
    def issue(cls, budget: Epsilon, inputs: int, total: int) -> TwoEnds:
        """The finest rows of at most ``total`` tickets."""
        least = int(total * (1 - 2**-40) / (1 + math.exp(float(budget))))
        step = (budget.most_near_tickets(least) - least) // (inputs - 1)
        if least < 1 or step < 1:
            raise DesignError(
                f"2^52 tickets cannot keep ε={budget.text} on {inputs} points; use another ε, or fewer points."
            )
        return cls(least, step)

    def total(self, inputs: int) -> int:
        """W = least + most."""
        return 2 * self.least + self.step * (inputs - 1)

    def ratio(self, inputs: int) -> Fraction:
        """most/least: e^(realised ε)."""
        return Fraction(self.total(inputs) - self.least, self.least)

    def rows(self, inputs: int) -> NDArray[np.int64]:
        """(lower, upper) for every node."""
        upper = self.least + self.step * np.arange(inputs, dtype=np.int64)
        return np.column_stack([upper[::-1], upper])

    def values(self, domain: Interval) -> NDArray[np.float64]:
        """Two numbers: middle ± B·range/2 with B = (most + least)/(most − least)."""
        middle, half = domain.low / 2 + domain.high / 2, domain.high / 2 - domain.low / 2
        spread = half * (self.total(len(domain)) / (self.step * (len(domain) - 1)))
        return np.array([middle - spread, middle + spread])

    def problems(self, budget: Epsilon, inputs: int) -> Problems:
        """The problems of a spec with these tickets."""
        problems = Problems()
        if self.total(inputs) > MAX_TOTAL:
            problems.add(f"Expected at most 2^52 tickets per row; {AGAIN}")
        if not budget.allows(*self.ratio(inputs).as_integer_ratio()):
            problems.add(f"The tickets exceed e^ε for ε={budget.text}; do not report with this spec.")
        return problems


@dataclass(frozen=True, slots=True)
class Sliding:
    """A window of m outputs that begins at output stride·i for node i of N; M = stride·(N − 1) + m outputs."""

    m: int
    stride: int

    @classmethod
    def design(cls, epsilon: float, inputs: int, outputs: int | None) -> Sliding:
        """A window of the share 1/(s + 1) of about this many outputs, s = e^(ε/2)."""
        s = math.exp(epsilon / 2)
        wanted = max(_DEFAULT_OUTPUTS, math.ceil(_DEFAULT_WINDOW * (s + 1))) if outputs is None else outputs
        stride = max(1, round(wanted * s / (s + 1) / (inputs - 1)))
        m = round(stride * (inputs - 1) / s)
        if m < 1:
            raise DesignError(
                f"Expected a grid of reports with at least one in the window, got about {wanted} at ε={epsilon:.6g}; "
                f"use outputs={math.ceil(s + 1)} or more."
            )
        sliding = cls(m, stride)
        if sliding.outputs(inputs) > MOST_OUTPUTS:
            raise DesignError(
                f"Expected at most 2^22 reports, got {sliding.outputs(inputs)}; use a smaller ε, fewer outputs, or an "
                "Interval of fewer points."
            )
        return sliding

    def outputs(self, inputs: int) -> int:
        """M."""
        return self.stride * (inputs - 1) + self.m

    def values(self, domain: Interval, tickets: Tickets) -> NDArray[np.float64]:
        """Equidistant outputs around the middle of the range, spread so that the mean of a report is its node.

        E[report] − middle = δ·(near − far)·m·stride·(i − (N − 1)/2)/W, because the far part is the same for all nodes
        and the mean of the window moves by ``stride`` outputs per node; δ scales this to (i − (N − 1)/2) steps.
        """
        outputs = self.outputs(len(domain))
        apart = domain.step * (tickets.total(self.m, outputs) / ((tickets.near - tickets.far) * self.m * self.stride))
        from_middle = np.arange(outputs, dtype=np.float64) - (outputs - 1) / 2
        return domain.low / 2 + domain.high / 2 + apart * from_middle

    def check(self, inputs: int) -> None:
        """Refuse a window of a spec with too many outputs."""
        if self.outputs(inputs) > MOST_OUTPUTS:
            raise BrokenPromiseError(f"Expected at most 2^22 reports, got {self.outputs(inputs)}; {AGAIN}")


def reports(values: NDArray[np.float64]) -> Outputs:
    """These numbers as outputs; refused if they are not distinct doubles."""
    try:
        return Outputs.of_numbers(values)
    except DomainError:
        raise DesignError(
            "Expected reports that are distinct finite doubles; use fewer outputs, or an Interval nearer to zero."
        ) from None


def _on_interval(kind: type[TwoEnds | Tickets]) -> Field:
    """Ticket counts by name, in a spec whose domain is an interval."""

    def read(fields: Fields, name: str) -> TwoEnds | Tickets:
        held = fields.counts(name, kind)
        _ = fields.interval  # refuses any other
        return held

    return Field(read, written)


class Duchi(Mechanism):
    r"""Duchi's mechanism: reports one of two numbers ±B outside the range, so that the mean is the value.

    With the range mapped to [−1, 1] and E = e\ :sup:`ε`: B = (E + 1)/(E − 1), and
    Pr[+B | x] = 1/2 + x(E − 1)/(2(E + 1)). Reports are in the units of the interval.

    Parameters
    ----------
    domain
        :class:`~bipartite.Interval`. With ``rounding="random"`` values between nodes keep their mean.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): the tickets of +B increase by the same integer from node
    to node, from b at the lower end to a ≤ e\ :sup:`ε`·b at the upper one.

    Notes
    -----
    Bias: none. Tickets are linear in the node, and B = (a + b)/(a − b) is computed from the tickets themselves, so
    E[report | x] = x at every node, up to the rounding of B to a double. Variance: B² − x² (mapped).

    Reference
    ---------
    Duchi, Jordan, Wainwright: *Minimax Optimal Procedures for Locally Private Estimation* (JASA 2018); in this form,
    Wang et al.: *Collecting and Analyzing Multidimensional Data with Local Differential Privacy* (ICDE 2019), Alg. 1.

    Examples
    --------
    >>> from bipartite import Interval
    >>> mech = Duchi(Interval(-1, 1, points=201), epsilon=1)
    >>> mech.outputs.to_numpy().round(3).tolist()
    [-2.164, 2.164]
    >>> round(float(mech.matrix()[150] @ mech.outputs.to_numpy()), 12)
    0.5
    """

    __slots__ = ()
    schema = {"ends": _on_interval(TwoEnds)}

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_interval(domain, "Duchi")
        check_table(len(domain), _ENDS)
        self._hold(domain, budget, {"ends": TwoEnds.issue(budget, len(domain), MAX_TOTAL)})

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        check_table(len(domain), _ENDS)
        facts["ends"].problems(budget, len(domain)).raise_if_any(BrokenPromiseError)

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        ends: TwoEnds = facts["ends"]
        return reports(ends.values(cast("Interval", domain))), Table(ends.rows(len(domain)))


class Piecewise(Mechanism):
    r"""The Piecewise mechanism: reports in a window that slides with the value are likelier; their mean is the value.

    With the range mapped to [−1, 1], s = e\ :sup:`ε/2` and C = (s + 1)/(s − 1): with probability s/(s + 1) uniform on
    [l, l + C − 1], l = (C + 1)x/2 − (C − 1)/2, else uniform on the rest of [−C, C]. This version uses a grid of M
    equidistant outputs: the window has m of them and moves by q outputs from one value to the next, and
    M = q(N − 1) + m with m the integer nearest to M/(s + 1). Every row has exactly m likely outputs with a tickets
    each, and M − m others with b each.

    Parameters
    ----------
    domain
        :class:`~bipartite.Interval`. With ``rounding="random"`` values between nodes keep their mean.
    epsilon
        The privacy budget of one report.
    outputs
        The approximate number of outputs; the nearest number that the grid of values allows is used, at least N.
        None: 1,024, or 32(s + 1) if that is more, so that the window has at least about 32 outputs.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): a ≤ e\ :sup:`ε`·b in integer tickets.

    Notes
    -----
    Bias: none. The M outputs lie δ apart around the middle. Each holds b tickets, whose mean is the middle, and those
    in the window hold a − b more. The window of node i is centred at δ·q·(i − (N − 1)/2), so the mean is
    δ·q·(i − (N − 1)/2)·m(a − b)/W, and δ = step·W/(m(a − b)q) makes it the node itself, up to the rounding of
    outputs to doubles. The ends of the grid are then at ±C up to the rounding of m. Variance, mapped:
    x²/(s − 1) + (s + 3)/(3(s − 1)²), up to O(1/m).

    Reference
    ---------
    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu: *Collecting and Analyzing Multidimensional Data with Local
    Differential Privacy* (ICDE 2019), Algorithm 2.

    Examples
    --------
    >>> from bipartite import Interval
    >>> mech = Piecewise(Interval(-1, 1, points=101), epsilon=1)
    >>> len(mech.outputs), mech.m, mech.stride
    (964, 364, 6)
    >>> round(float(mech.matrix()[75] @ mech.outputs.to_numpy()), 12)
    0.5
    """

    __slots__ = ()
    schema = {"m": whole(1, MOST_OUTPUTS), "stride": whole(1, MOST_OUTPUTS), "tickets": _on_interval(Tickets)}

    def __init__(self, domain: Domain, epsilon: object, *, outputs: int | None = None) -> None:
        budget = Epsilon.of(epsilon)
        check_interval(domain, "Piecewise")
        check_outputs(outputs)
        sliding = Sliding.design(float(budget), len(domain), outputs)
        tickets = tickets_for(budget, sliding.m, sliding.outputs(len(domain)), "outputs")
        self._hold(domain, budget, {"m": sliding.m, "stride": sliding.stride, "tickets": tickets})

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        sliding = Sliding(facts["m"], facts["stride"])
        sliding.check(len(domain))
        check_tickets(budget, facts["tickets"], sliding.m, sliding.outputs(len(domain)))

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        sliding, tickets = Sliding(facts["m"], facts["stride"]), facts["tickets"]
        outputs = reports(sliding.values(cast("Interval", domain), tickets))
        starts = sliding.stride * np.arange(len(domain), dtype=np.int64)
        return outputs, Window(len(domain), len(outputs), sliding.m, 0, tickets, groups=starts)

    @property
    def m(self) -> int:
        """The number of likely outputs for each value."""
        return int(self.facts["m"])

    @property
    def stride(self) -> int:
        """The number of outputs by which the window moves from one value to the next."""
        return int(self.facts["stride"])

    def _options(self) -> str:
        return f", outputs={len(self.outputs)}"


def check_outputs(outputs: object) -> None:
    """Refuse an invalid number of outputs."""
    if outputs is None:
        return
    problems = Problems()
    number = whole_number("outputs", outputs, problems)
    if not problems and not _LEAST_OUTPUTS <= number <= MOST_OUTPUTS:
        problems.add(f"Expected outputs from 2 to 2^22, got {number}; a thousand are enough for most uses.")
    problems.raise_if_any(InputError)


class _Parts(NamedTuple):
    """Duchi's part of Hybrid and, where there is one, Piecewise's: its window and tickets."""

    ends: TwoEnds
    window: tuple[Sliding, Tickets] | None


def _write_parts(parts: _Parts) -> dict[str, Any]:
    if parts.window is None:
        return {"ends": written(parts.ends)}
    sliding, tickets = parts.window
    return {"ends": written(parts.ends), "window": {"m": sliding.m, "stride": sliding.stride, **written(tickets)}}


def _read_parts(fields: Fields, name: str) -> _Parts:
    parts = fields[name]
    if not isinstance(parts, Mapping) or set(parts) not in ({"ends"}, {"ends", "window"}):
        fields.refuse(f"Expected parts as {{'ends': …}} or {{'ends': …, 'window': …}}; {AGAIN}")
    ends, window = fields.within(parts).counts("ends", TwoEnds), None
    if "window" in parts:
        given = parts["window"]
        if not isinstance(given, Mapping) or set(given) != {"m", "stride", "near", "far"}:
            fields.refuse(f"Expected window with m, stride, near and far; {AGAIN}")
        sliding = Sliding(*(fields.within(given).whole(each, 1, MOST_OUTPUTS) for each in ("m", "stride")))
        both = {"tickets": {key: given[key] for key in ("near", "far")}}
        window = sliding, fields.within(both).counts("tickets", Tickets)
    size = len(fields.interval)
    if window is not None:
        window[0].check(size)
    check_table(size, _ENDS + (0 if window is None else window[0].outputs(size)))
    return _Parts(ends, window)


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

    __slots__ = ()
    schema = {"parts": Field(_read_parts, _write_parts)}

    def __init__(self, domain: Domain, epsilon: object, *, outputs: int | None = None) -> None:
        budget = Epsilon.of(epsilon)
        check_interval(domain, "Hybrid")
        check_outputs(outputs)
        size = len(domain)
        if not _mixes(budget.value):
            check_table(size, _ENDS)
            self._hold(domain, budget, {"parts": _Parts(TwoEnds.issue(budget, size, MAX_TOTAL), None)})
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
        ends = TwoEnds.issue(budget, size, int(others))
        self._hold(domain, budget, {"parts": _Parts(ends, (sliding, tickets))})

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        size, (ends, window) = len(domain), facts["parts"]
        problems = ends.problems(budget, size)
        if window is not None:
            sliding, tickets = window
            if not tickets.near > tickets.far >= 1:
                problems.add(f"Expected near > far ≥ 1; {AGAIN}")
            elif not budget.allows(tickets.near, tickets.far):
                problems.add(f"The tickets of Piecewise exceed e^ε for ε={budget.text}; do not report with this spec.")
            if ends.total(size) + tickets.total(sliding.m, sliding.outputs(size)) > MAX_TOTAL:
                problems.add(f"Expected at most 2^52 tickets per row; {AGAIN}")
        problems.raise_if_any(BrokenPromiseError)

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        size, interval = len(domain), cast("Interval", domain)
        ends, window = facts["parts"]
        values, rows = ends.values(interval), ends.rows(size)
        if window is not None:
            sliding, tickets = window
            at = np.arange(sliding.outputs(size))[None, :] - sliding.stride * np.arange(size)[:, None]
            nodes = reports(sliding.values(interval, tickets)).to_numpy()
            # An end of Duchi that is also a node of Piecewise is one output.
            values, which = np.unique(np.concatenate([values, nodes]), return_inverse=True)
            ends_rows, rows = rows, np.zeros((size, len(values)), dtype=np.int64)
            rows[:, which[:_ENDS]] += ends_rows
            rows[:, which[_ENDS:]] += np.where((at >= 0) & (at < sliding.m), tickets.near, tickets.far)
        return reports(values), Table(rows)

    @property
    def piecewise_share(self) -> float:
        """The probability of a Piecewise report, from the tickets: about 1 − e^(−ε/2), or 0 for ε ≤ ε*."""
        return float(1 - self.facts["parts"].ends.total(len(self.domain)) / self.lottery.total)

    def _options(self) -> str:
        window = self.facts["parts"].window
        return "" if window is None else f", outputs={window[0].outputs(len(self.domain))}"


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

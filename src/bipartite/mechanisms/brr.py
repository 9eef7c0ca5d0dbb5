"""Bipartite Randomized Response."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from bipartite.domains import Cyclic, Domain, LineDomain, SetDomain
from bipartite.errors import BrokenPromiseError, DesignError, InputError, Problems, is_one_of, shown
from bipartite.lottery import (
    Epsilon,
    LineLottery,
    PointLottery,
    RingLottery,
    Tickets,
    TooFewTickets,
    issue_tickets,
    needs_list,
    prepare,
)
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms.base import Mechanism, check_tickets, domain_problem
from bipartite.mechanisms.design.m import (
    best_half_window,
    best_m,
    check_prior,
    largest_size,
    least_loss_m,
    nearest_epsilon,
    safe_m,
)
from bipartite.mechanisms.design.m_for_statistics import Wanted, statistical_half_window, statistical_m
from bipartite.mechanisms.design.m_of_sets import best_m_of_set, safe_m_of_set
from bipartite.mechanisms.spec.parts import SET_FIELDS, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.mechanisms.spec.parts import Fields

    Rule = Callable[[int, Epsilon], int]

Edges = Literal["clamped", "padded"]
MChoice = Literal["safe", "best"] | Wanted
_STATISTICS: Final = get_args(Wanted)
_MAX_WINDOW: Final = 2**31


class BRR(Mechanism):
    r"""Bipartite Randomized Response: report one of the m nearest values with probability p each, any other with q.

    p = e\ :sup:`ε`/(m·e\ :sup:`ε` + M − m) and q = 1/(m·e\ :sup:`ε` + M − m) for M outputs. m is the same for every
    value, so the ratio of the probabilities of a report for two values is always 1 or e\ :sup:`±ε`.

    Parameters
    ----------
    domain
        :class:`~bipartite.Integers`, :class:`~bipartite.Interval`, :class:`~bipartite.Cyclic`,
        :class:`~bipartite.Points`, :class:`~bipartite.Items` or a :class:`~bipartite.Product` of these.
    epsilon
        The privacy budget of one report: a positive decimal of at most 20 digits.
    m
        ``"safe"``: Algorithm 2, the smallest of the locally best m of all values: with clamped edges no value does
        worse than under GRR. Padded: the largest odd number not above it.
        ``"best"``: the m with the least expected loss under ``prior``.
        ``"mean"``, ``"cdf"``, ``"histogram"``: with padded edges on a line, or on a circle, the m with the least
        expected squared error when that statistic is estimated from many people; see the notes. It depends on N and ε
        alone. On a circle "mean" is the mean direction, "cdf" the shares of arcs, and m is coprime to N, so that all
        values can be told apart.
        Or an integer: any m is private.
    prior
        For ``m="best"``: public probabilities of the values, None for uniform. Never estimate it from the private data.
    edges
        ``"clamped"``: reports stay in the domain; near an end the window stops there. Best for releasing single values,
        but values that share a window cannot be told apart by any estimator.
        ``"padded"``: reports extend half a window past both ends, so the window is always centred and every value has
        its own row: for statistics. m is odd. On a line only: a circle, points and items have no ends.
    progress
        Called with the number of rows done since the last call while m is searched for on points and items: N rows
        in all. From 16,384 points on, N more rows are spent on the m-th neighbours of all points, so that the first
        large call of ``privatize`` is fast. A mechanism read from a spec finds them in that first call (about two
        seconds for 67,000 places).

    Guarantee
    ---------
    ε-LDP for each report: Pr[y|x] ≤ e\ :sup:`ε`\ ·Pr[y|x'] for all values x, x' and reports y, in exact arithmetic on
    integer tickets (:func:`bipartite.verify`). The realised ε is below ε by at most min(10\ :sup:`−6`, ε/1000).

    Notes
    -----
    On a line, with ȳ and v the mean and the variance of all outputs and z̄(x), u(x) those of the near outputs of x, a
    report has the mean ȳ + (p − q)·m·(z̄(x) − ȳ): biased towards the middle of the outputs. Padded edges make
    z̄(x) = x, so the bias is a known linear function, which an estimator removes. The variance given x is
    (1 − s)·v + s·u(x) + s(1 − s)·(z̄(x) − ȳ)² with s = (p − q)·m.

    On a circle every row is a rotation of the same row: all values have the same expected loss, "safe" and "best" are
    the same m for every prior, and the rank of the matrix is N − gcd(m, N) + 1.

    Statistics: let I be the information matrix of one padded report about the shares of the values, P·diag(1/r)·Pᵀ
    with r the law of reports when values are uniform. For n = 100,000 people the squared error of a statistic w is
    taken to be wᵀ(n·I + J)\ :sup:`−1`\ w, where J expresses that the density is as rough as a standard Brownian motion:
    the asymptotic variance, without details that no estimator resolves. ``m="mean"`` minimises it for the mean,
    ``"cdf"`` its average over all thresholds, ``"histogram"`` its average over all values.

    Reference
    ---------
    Zhang, Zhu, Chen, Hu: *Bipartite Randomized Response Mechanism for Local Differential Privacy* (2026), section 3 and
    Algorithms 1 to 4. Padded edges have the law of the discrete Square Wave (Li et al., SIGMOD 2020). The error of a
    statistic is van Trees' bound (Gill, Levit: *Applications of the van Trees inequality*, Bernoulli 1995).

    Examples
    --------
    >>> from bipartite import Integers
    >>> mech = BRR(Integers(18, 90), epsilon=1.0)
    >>> mech.m
    27
    >>> mech.privatize(40) in mech.outputs
    True
    """

    __slots__ = ("edges",)

    edges: Edges
    _lottery: LineLottery | PointLottery | RingLottery

    def __init__(
        self,
        domain: Domain,
        epsilon: object,
        *,
        m: int | MChoice = "safe",
        prior: Sequence[float] | NDArray[np.float64] | None = None,
        edges: Edges = "clamped",
        progress: Callable[[int], None] | None = None,
    ) -> None:
        budget = Epsilon.of(epsilon)
        _check_arguments(domain, m, prior, edges)
        weights = None if prior is None else check_prior(prior, len(domain))
        rule = _rule(domain, m, weights, edges, progress)
        chosen = rule(len(domain), budget)
        _check_m(chosen, len(domain), edges)
        on_set = _is_set(domain)
        tickets = issue_tickets(budget, *_layout(chosen, len(domain), edges), by_tries=on_set)
        if isinstance(tickets, TooFewTickets):
            # On a set the advice assumes the same m: another one would need another search.
            advised = (lambda size, epsilon: chosen) if on_set else rule  # noqa: ARG005
            fixed = on_set or weights is not None
            raise DesignError(
                _what_would_work(tickets, len(domain), budget, advised, edges, fixed_size=fixed, by_tries=on_set)
            )
        by_list = on_set and needs_list(chosen, len(domain), tickets)
        self._assemble(domain, budget, chosen, edges, tickets, by_list=by_list)
        if isinstance(self._lottery, PointLottery):
            prepare(self._lottery, progress)

    fields = frozenset({"m", "edges", "tickets"})

    @classmethod
    def fields_beside(cls, domain: object) -> frozenset[str]:
        on_set = isinstance(domain, Mapping) and set(domain) in SET_FIELDS
        return cls.fields | {"draw"} if on_set else cls.fields

    @classmethod
    def read(cls, fields: Fields) -> Self:
        edges: Edges = fields.choice("edges", ("clamped", "padded"))
        m, tickets = fields.whole("m", 1), fields.counts("tickets", Tickets)
        by_list = "draw" in fields.spec and fields.choice("draw", ("tries", "list")) == "list"
        if isinstance(fields.found, SetDomain) and edges == "padded":
            fields.note("Expected edges 'clamped' on a circle, points and items, which have no ends to pad.")
        domain, budget = fields.domain, fields.budget
        outputs = _layout(m, len(domain), edges)[1]
        problems = Problems()
        if not 1 <= m < outputs or (edges == "padded" and m % 2 == 0):
            problems.add(f"Expected 1 ≤ m < {outputs}, odd where edges are padded, got m={m}; ask for another spec.")
        elif m >= _MAX_WINDOW:
            problems.add(f"Expected m < 2^31, got m={m}; ask for another spec.")
        problems.raise_if_any(BrokenPromiseError)
        check_tickets(budget, tickets, outputs if _is_set(domain) else m, outputs)
        return cls._made(domain, budget, m, edges, tickets, by_list=by_list)

    def _assemble(
        self, domain: Domain, budget: Epsilon, m: int, edges: Edges, tickets: Tickets, *, by_list: bool
    ) -> None:
        outputs = domain
        lottery: LineLottery | PointLottery | RingLottery
        if isinstance(domain, Cyclic):
            lottery = RingLottery(len(domain), m, tickets)
        elif isinstance(domain, SetDomain):
            lottery = PointLottery(domain.order, m, tickets, by_list=by_list)
        else:
            padded = edges == "padded"
            line = cast("LineDomain", domain)
            outputs = line.padded(m // 2) if padded else line
            lottery = LineLottery(
                inputs=len(line), outputs=len(outputs), m=m, shift=0 if padded else -(m // 2), tickets=tickets
            )
        self._set(domain=domain, edges=edges, outputs=outputs, _budget=budget, _lottery=lottery)

    @property
    def m(self) -> int:
        """The number of outputs near each value."""
        return self._lottery.m

    @property
    def tickets(self) -> Tickets:
        """The numbers of tickets of a near and of a far output."""
        return self._lottery.tickets

    def parts(self) -> dict[str, Any]:
        drawn = {}
        if isinstance(self._lottery, PointLottery):
            drawn["draw"] = "list" if self._lottery.by_list else "tries"
        return {"m": self.m, "edges": self.edges, "tickets": written(self.tickets), **drawn}

    def _options(self) -> str:
        return f", m={self.m}" + (", edges='padded'" if self.edges == "padded" else "")


def _is_set(domain: object) -> bool:
    """Whether near values are found by sorting distances, as on points and items; a line and a circle have windows."""
    return isinstance(domain, SetDomain) and not isinstance(domain, Cyclic)


def _check_arguments(domain: object, m: object, prior: object, edges: object) -> None:
    problems = Problems()
    problem = domain_problem(domain)
    if problem is not None:
        problems.add(problem)
    if isinstance(domain, SetDomain) and is_one_of(edges, ("padded",)):
        problems.add(
            "Expected edges='clamped' on a circle, points and items, which have no ends to pad; leave edges out."
        )
    if not is_one_of(edges, ("clamped", "padded")):
        problems.add(f"Expected edges='clamped' or 'padded', got {shown(edges)}.")
    rule = is_one_of(m, ("safe", "best", *_STATISTICS))
    if not rule and not is_whole(m):
        problems.add(f"Expected m='safe', 'best', 'mean', 'cdf', 'histogram' or a whole number, got {shown(m)}.")
    if rule and m in _STATISTICS:
        if _is_set(domain):
            problems.add(
                f"Expected m='safe', 'best' or a whole number on points and items, got {shown(m)}, which needs a line "
                "or a circle."
            )
        elif is_one_of(edges, ("clamped",)) and not isinstance(domain, Cyclic):
            problems.add(
                f"Expected edges='padded' with m={shown(m)}: clamped reports cannot tell the values near an end apart; "
                "pass edges='padded', or m='safe' to release single values."
            )
    if prior is not None and not (rule and m == "best"):
        problems.add(f"A prior is used only with m='best', got m={shown(m)}; pass m='best' or leave the prior out.")
    problems.raise_if_any(InputError)


def _rule(
    domain: Domain,
    m: int | MChoice,
    prior: NDArray[np.float64] | None,
    edges: Edges,
    progress: Callable[[int], None] | None,
) -> Rule:
    """The rule that gives m for N and ε."""
    if not isinstance(m, str):
        given = operator.index(m)
        return lambda size, epsilon: given  # noqa: ARG005
    if isinstance(domain, Cyclic):
        return _ring_rule(m)
    if isinstance(domain, SetDomain):
        if m == "safe":
            return lambda size, epsilon: safe_m_of_set(domain, epsilon, progress)  # noqa: ARG005
        return lambda size, epsilon: best_m_of_set(domain, epsilon, prior, progress)  # noqa: ARG005
    if edges == "padded":
        return _padded_rule(m, prior)
    return safe_m if m == "safe" else lambda size, epsilon: best_m(size, epsilon, prior)


def _ring_rule(m: MChoice) -> Rule:
    """The rule on a circle, where one m has the least loss for every value, and so for every prior."""
    if m == "safe":
        return least_loss_m
    if m == "best":
        return least_loss_m
    return lambda size, epsilon: statistical_m(size, epsilon, m)


def _padded_rule(m: MChoice, prior: NDArray[np.float64] | None) -> Rule:
    """The rule with padded edges, which gives an odd m."""
    if m == "safe":
        # The half-window of the safe m, so that m is odd.
        return lambda size, epsilon: (safe_m(size, epsilon) - 1) // 2 * 2 + 1
    if m == "best":
        return lambda size, epsilon: 2 * best_half_window(size, epsilon, prior) + 1
    return lambda size, epsilon: 2 * statistical_half_window(size, epsilon, m) + 1


def _check_m(m: int, size: int, edges: Edges) -> None:
    if edges == "padded":
        if m % 2 == 0 or not 1 <= m < _MAX_WINDOW:
            near = min(max(1, m // 2 * 2 + 1), _MAX_WINDOW - 1)
            raise DesignError(f"Expected an odd m below 2^31 with edges='padded', got {shown(m)}; use {near}.")
    elif not 1 <= m < size:
        raise DesignError(f"Expected 1 ≤ m < {size}, the number of values, got {shown(m)}; m='safe' chooses one.")


def _layout(m: int, size: int, edges: Edges) -> tuple[int, int]:
    """(m, number of outputs)."""
    return m, size + m - 1 if edges == "padded" else size


def _what_would_work(
    refusal: TooFewTickets, size: int, epsilon: Epsilon, rule: Rule, edges: Edges, *, fixed_size: bool, by_tries: bool
) -> str:
    """The error message: which ε and which N would work instead."""

    def for_epsilon(other: Epsilon) -> tuple[int, int]:
        return _layout(rule(size, other), size, edges)

    too_small = refusal is TooFewTickets.EPSILON_TOO_SMALL
    which, extreme = ("small", "smallest") if too_small else ("large", "largest")
    other = nearest_epsilon(epsilon, refusal, for_epsilon, by_tries=by_tries)
    hints = [f"the {extreme} ε for N={size} is about {other.text}"] if other else []
    if not fixed_size:
        # A given m needs N > m.
        most = largest_size(size, lambda n: _layout(rule(n, epsilon), n, edges), epsilon)
        if most is not None and (edges == "padded" or rule(most, epsilon) < most):
            hints.append(f"the largest N for ε={epsilon.text} is about {most}")
    advice = "; ".join(hints) or "no smaller domain would help"
    return f"ε={epsilon.text} is too {which} for N={size}: 2^52 tickets cannot keep it exactly; {advice}."

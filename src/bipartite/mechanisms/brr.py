"""Bipartite Randomized Response, and the discrete Square Wave, which is BRR with padded edges and another window."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from bipartite.domains import Domain
from bipartite.errors import BrokenPromiseError, DesignError, InputError, Problems, SpecError, is_one_of, shown
from bipartite.lottery import (
    Epsilon,
    Nearest,
    Ring,
    Tickets,
    TooFewTickets,
    Window,
    issue_tickets,
    needs_list,
    prepare,
)
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.checks import check_line, check_tickets, domain_problem
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
from bipartite.mechanisms.spec.fields import AGAIN, choice, counts, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import LineDomain, SetDomain
    from bipartite.lottery import Deal

    Rule = Callable[[int, Epsilon], int]

Edges = Literal["clamped", "padded"]
MChoice = Literal["safe", "best"] | Wanted
_STATISTICS: Final = get_args(Wanted)
_MAX_WINDOW: Final = 2**31
# Below this ε the closed form of the width of the Square Wave is 0/0 in doubles, and a series is used.
_SMALL: Final = 0.02


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

    __slots__ = ()

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
        tickets = issue_tickets(budget, chosen, _outputs(chosen, len(domain), edges), by_tries=on_set)
        if isinstance(tickets, TooFewTickets):
            # On a set the advice assumes the same m: another one would need another search.
            advised = (lambda size, epsilon: chosen) if on_set else rule  # noqa: ARG005
            fixed = on_set or weights is not None
            raise DesignError(
                _what_would_work(tickets, len(domain), budget, advised, edges, fixed_size=fixed, by_tries=on_set)
            )
        facts: dict[str, Any] = {"m": chosen, "edges": edges, "tickets": tickets}
        if on_set:
            facts["draw"] = "list" if needs_list(chosen, len(domain), tickets) else "tries"
        self._hold(domain, budget, facts)
        if isinstance(self.draw, Nearest):
            prepare(self.draw, progress)

    schema = {
        "m": whole(1),
        "edges": choice("clamped", "padded"),
        "tickets": counts(Tickets),
        "draw": choice("tries", "list"),
    }

    @classmethod
    def fields_on(cls, domain: object) -> set[str]:
        on_set = isinstance(domain, Mapping) and set(domain) in ({"points"}, {"items"}, {"product"})
        return set(cls.schema) if on_set else set(cls.schema) - {"draw"}

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        m, edges = facts["m"], facts["edges"]
        outputs = _outputs(m, len(domain), edges)
        if not domain.has_ends and edges == "padded":
            raise SpecError("Expected edges 'clamped' on a circle, points and items, which have no ends to pad.")
        if not 1 <= m < outputs or (edges == "padded" and m % 2 == 0):
            raise BrokenPromiseError(f"Expected 1 ≤ m < {outputs}, odd where edges are padded, got m={m}; {AGAIN}")
        if m >= _MAX_WINDOW:
            raise BrokenPromiseError(f"Expected m < 2^31, got m={m}; {AGAIN}")
        check_tickets(budget, facts["tickets"], outputs if _is_set(domain) else m, outputs)

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        m, tickets = facts["m"], facts["tickets"]
        if domain.wraps:
            return domain, Ring(len(domain), m, tickets)
        if not domain.has_ends:
            return domain, Nearest(cast("SetDomain", domain).order, m, tickets, by_list=facts["draw"] == "list")
        line = cast("LineDomain", domain)
        padded = facts["edges"] == "padded"
        outputs = line.padded(m // 2) if padded else line
        return outputs, Window(len(line), len(outputs), m, 0 if padded else -(m // 2), tickets)

    @property
    def m(self) -> int:
        """The number of outputs near each value."""
        return int(self.facts["m"])

    @property
    def edges(self) -> Edges:
        """``"clamped"`` or ``"padded"``."""
        edges: Edges = self.facts["edges"]
        return edges

    @property
    def tickets(self) -> Tickets:
        """The numbers of tickets of a near and of a far output."""
        tickets: Tickets = self.facts["tickets"]
        return tickets

    def _options(self) -> str:
        return f", m={self.m}" + (", edges='padded'" if self.edges == "padded" else "")


def _is_set(domain: object) -> bool:
    """Whether near values are found by sorting distances, as on points and items; a line and a circle have windows."""
    return isinstance(domain, Domain) and not domain.has_ends and not domain.wraps


def _check_arguments(domain: object, m: object, prior: object, edges: object) -> None:
    problems = Problems()
    problem = domain_problem(domain)
    if problem is not None:
        problems.add(problem)
    if problem is None and not cast("Domain", domain).has_ends and is_one_of(edges, ("padded",)):
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
        elif is_one_of(edges, ("clamped",)) and not getattr(domain, "wraps", False):
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
    if domain.wraps:
        # One m has the least loss for every value, and so for every prior.
        return (
            least_loss_m
            if m in {"safe", "best"}
            else lambda size, epsilon: statistical_m(size, epsilon, cast("Wanted", m))
        )
    if not domain.has_ends:
        points = cast("SetDomain", domain)
        if m == "safe":
            return lambda size, epsilon: safe_m_of_set(points, epsilon, progress)  # noqa: ARG005
        return lambda size, epsilon: best_m_of_set(points, epsilon, prior, progress)  # noqa: ARG005
    if edges == "padded":
        return _padded_rule(m, prior)
    return safe_m if m == "safe" else lambda size, epsilon: best_m(size, epsilon, prior)


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


def _outputs(m: int, size: int, edges: Edges) -> int:
    """The number of outputs."""
    return size + m - 1 if edges == "padded" else size


def _what_would_work(
    refusal: TooFewTickets, size: int, epsilon: Epsilon, rule: Rule, edges: Edges, *, fixed_size: bool, by_tries: bool
) -> str:
    """The error message: which ε and which N would work instead."""

    def for_epsilon(other: Epsilon) -> tuple[int, int]:
        m = rule(size, other)
        return m, _outputs(m, size, edges)

    too_small = refusal is TooFewTickets.EPSILON_TOO_SMALL
    which, extreme = ("small", "smallest") if too_small else ("large", "largest")
    other = nearest_epsilon(epsilon, refusal, for_epsilon, by_tries=by_tries)
    hints = [f"the {extreme} ε for N={size} is about {other.text}"] if other else []
    if not fixed_size:
        # A given m needs N > m.
        most = largest_size(size, lambda n: (m := rule(n, epsilon), _outputs(m, n, edges)), epsilon)
        if most is not None and (edges == "padded" or rule(most, epsilon) < most):
            hints.append(f"the largest N for ε={epsilon.text} is about {most}")
    advice = "; ".join(hints) or "no smaller domain would help"
    return f"ε={epsilon.text} is too {which} for N={size}: 2^52 tickets cannot keep it exactly; {advice}."


class SquareWave(BRR):
    r"""The discrete Square Wave mechanism: reports within b of the value with probability p each, others with q.

    With N values and b = ⌊N·(ε\ E − E + 1)/(2E(E − 1 − ε))⌋, E = e\ :sup:`ε`, the outputs reach b past both ends;
    p = E/((2b+1)E + N − 1) and q = 1/((2b+1)E + N − 1). It is BRR with padded edges and m = 2b + 1; only the width is
    chosen differently, to maximise a bound on the mutual information of value and report.

    Parameters
    ----------
    domain
        :class:`~bipartite.Integers` or :class:`~bipartite.Interval`.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`).

    Notes
    -----
    A report given x is unbiased only in the middle of the range: its mean is q·Σ_y y + (p − q)(2b + 1)·x over all
    outputs y, and its variance follows from the same sums. Reports beyond the ends must not be clipped before
    estimating.

    Reference
    ---------
    Li, Wang, Lopuhaä-Zwakenberg, Škorić, Li: *Estimating Numerical Distributions under Local Differential Privacy*
    (SIGMOD 2020), section 5.

    Examples
    --------
    >>> from bipartite import Integers
    >>> mech = SquareWave(Integers(0, 255), epsilon=1)
    >>> mech.half_window, mech.m, len(mech.outputs)
    (65, 131, 386)
    """

    __slots__ = ()

    def __init__(self, domain: Domain, epsilon: object) -> None:
        check_line(domain)
        width = square_wave_width(float(Epsilon.of(epsilon)))
        half_window = math.floor(width * len(domain))
        super().__init__(domain, epsilon, m=2 * half_window + 1, edges="padded")

    @property
    def half_window(self) -> int:
        """b: the largest distance of a near report from the value."""
        return self.m // 2

    def _options(self) -> str:
        return ""


def square_wave_width(epsilon: float) -> float:
    """b(ε) = (εE − E + 1)/(2E(E − 1 − ε)) on the unit interval; 1/2 as ε → 0.

    For small ε numerator and denominator vanish like ε²/2, and their series divided by ε² are used:
    εE − E + 1 = Σ ε^(k+2)·(k+1)/(k+2)! and E − 1 − ε = Σ ε^(k+2)/(k+2)!, k = 0, 1, ….
    """
    e = math.exp(epsilon)
    if epsilon < _SMALL:
        above = sum(epsilon**k * (k + 1) / math.factorial(k + 2) for k in range(8))
        below = sum(epsilon**k / math.factorial(k + 2) for k in range(8))
        return above / (2 * e * below)
    return (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))

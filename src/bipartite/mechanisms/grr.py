"""Generalised Randomized Response: the true value with one probability, every other value with another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bipartite.errors import DesignError
from bipartite.lottery import Epsilon, Tickets, Window
from bipartite.mechanisms.base import Mechanism, check_domain, check_tickets, tickets_for
from bipartite.mechanisms.spec.parts import written

if TYPE_CHECKING:
    from typing import Self

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields


class GRR(Mechanism):
    r"""Generalised Randomized Response: report the value with probability p, any other value with q each.

    p = e\ :sup:`ε`/(e\ :sup:`ε` + N − 1) and q = 1/(e\ :sup:`ε` + N − 1): BRR with m = 1. All wrong answers are equally
    likely; it needs no distance and fits every domain.

    Parameters
    ----------
    domain
        Any domain.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`).

    Notes
    -----
    The expected share of people who report y is f'_y = q + (p − q)·f_y; with the observed share in place of f'_y,
    (f'_y − q)/(p − q) is unbiased for the true share f_y, with variance f'_y(1 − f'_y)/(n·(p − q)²) for n people.
    Taken as a number, a report is biased towards the middle of the range.

    Reference
    ---------
    Kairouz, Bonawitz, Ramage: *Discrete Distribution Estimation under Local Privacy* (ICML 2016); for N = 2, Warner:
    *Randomized Response* (1965).

    Examples
    --------
    >>> from bipartite import Integers, verify
    >>> mech = GRR(Integers(1, 5), epsilon=1)
    >>> float(mech.matrix()[0, 0].round(4)), verify(mech).holds
    (0.4046, True)
    """

    __slots__ = ()
    fields = frozenset({"tickets"})
    _lottery: Window

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain)
        self._assemble(domain, budget, tickets_for(budget, 1, len(domain), "values"))

    @classmethod
    def read(cls, fields: Fields) -> Self:
        tickets = fields.counts("tickets", Tickets)
        domain, budget = fields.domain, fields.budget
        check_tickets(budget, tickets, 1, len(domain))
        return cls._made(domain, budget, tickets)

    def _assemble(self, domain: Domain, budget: Epsilon, tickets: Tickets) -> None:
        lottery = Window(inputs=len(domain), outputs=len(domain), m=1, shift=0, tickets=tickets)
        self._set(domain=domain, outputs=domain, _budget=budget, _lottery=lottery)

    def parts(self) -> dict[str, Any]:
        return {"tickets": written(self._lottery.tickets)}


class RR(GRR):
    r"""Randomized Response: report the truth with probability e\ :sup:`ε`/(e\ :sup:`ε` + 1), else the other value.

    Parameters
    ----------
    domain
        A domain of two values, such as ``bp.Integers(0, 1)`` or two items.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report, exactly.

    Notes
    -----
    With p the probability of the truth, the expected share of one answer among the reports is
    f' = p·f + (1 − p)(1 − f); (f' − (1 − p))/(2p − 1) is unbiased for f, with variance f'(1 − f')/(n·(2p − 1)²).

    Reference
    ---------
    Warner: *Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias* (JASA 1965).
    """

    __slots__ = ()

    def __init__(self, domain: Domain, epsilon: object) -> None:
        check_domain(domain)
        if len(domain) != 2:  # noqa: PLR2004
            raise DesignError(f"Expected a domain of two values, got {len(domain)}; use bp.GRR for more.")
        super().__init__(domain, epsilon)

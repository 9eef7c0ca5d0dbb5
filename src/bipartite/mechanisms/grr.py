"""Generalised Randomized Response: the true value with one probability, every other value with another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bipartite.lottery import Epsilon, Tickets, Window
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.checks import check_domain, check_tickets, tickets_for
from bipartite.mechanisms.spec.fields import counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bipartite.domains import Domain
    from bipartite.lottery import Deal


class GRR(Mechanism):
    r"""Generalised Randomized Response: report the value with probability p, any other value with q each.

    p = e\ :sup:`ε`/(e\ :sup:`ε` + N − 1) and q = 1/(e\ :sup:`ε` + N − 1): BRR with m = 1. All wrong answers are equally
    likely; it needs no distance and fits every domain. On two values it is Warner's Randomized Response.

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
    schema = {"tickets": counts(Tickets)}

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain)
        self._hold(domain, budget, {"tickets": tickets_for(budget, 1, len(domain), "values")})

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        check_tickets(budget, facts["tickets"], 1, len(domain))

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        size = len(domain)
        return domain, Window(size, size, 1, 0, facts["tickets"])

"""Symmetric Unary Encoding: every bit is true with the same probability; basic one-time RAPPOR."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from bipartite.lottery import Epsilon
from bipartite.mechanisms.categories.bits import CERTAIN
from bipartite.mechanisms.categories.unary import Chances, Unary, check_unary, least_chances

if TYPE_CHECKING:
    from bipartite.domains import Domain


def symmetric_chances(budget: Epsilon) -> Chances:
    """The smallest q = t/2^64 with ((1 − q)/q)² ≤ e^ε, and p = 1 − q."""
    zero = least_chances(budget, lambda t: Fraction((CERTAIN - t) ** 2, t * t))
    return Chances(one=CERTAIN - zero, zero=zero)


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
        self._assemble(domain, budget, symmetric_chances(budget))

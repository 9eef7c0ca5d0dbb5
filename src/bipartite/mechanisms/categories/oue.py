"""Optimised Unary Encoding: the bit of the true value is a fair coin, the other bits are rarely 1."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from bipartite.lottery import Epsilon
from bipartite.mechanisms.categories.bits import CERTAIN
from bipartite.mechanisms.categories.unary import Chances, Unary, check_unary, least_chances

if TYPE_CHECKING:
    from bipartite.domains import Domain


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
    >>> mech.estimate(reports).frequencies.argmax()
    np.int64(2)
    """

    __slots__ = ()

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_unary(domain)
        zero = least_chances(budget, lambda t: Fraction(CERTAIN - t, t))
        self._assemble(domain, budget, Chances(one=CERTAIN // 2, zero=zero))

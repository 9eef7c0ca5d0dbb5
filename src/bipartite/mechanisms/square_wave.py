"""The discrete Square Wave: a padded window whose width is chosen for estimating a distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from bipartite.lottery import Epsilon
from bipartite.mechanisms.brr import BRR
from bipartite.mechanisms.checks import check_line

if TYPE_CHECKING:
    from bipartite.domains import Domain

# Below this ε the closed form of b is 0/0 in doubles, and a series is used.
_SMALL: Final = 0.02


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

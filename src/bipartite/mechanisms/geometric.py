"""The geometric mechanism: discrete Laplace noise, clamped to the range."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import LineDomain
from bipartite.errors import DesignError
from bipartite.lottery import MAX_TOTAL, Epsilon, Noise
from bipartite.mechanisms.added_noise import noise_lottery
from bipartite.mechanisms.base import Mechanism, check_domain

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields

_MOST_VALUES: Final = 2**22
# Each round gives the tail a few more tickets; a handful of rounds is enough, and many would mean a bug.
_MOST_ROUNDS: Final = 64


class Geometric(Mechanism):
    r"""The two-sided geometric mechanism: report x + Z clamped to the range, Pr[Z = z] = (1 − α)/(1 + α)·α\ :sup:`|z|`.

    α = e\ :sup:`−ε/(N−1)`: under local privacy any two values are neighbours, so the sensitivity is the whole range.
    Clamping to the domain is free post-processing; without it, about half of all reports lie outside at small ε.

    Parameters
    ----------
    domain
        :class:`~bipartite.Integers` or :class:`~bipartite.Interval`, of at most 2\ :sup:`22` values.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`).

    Notes
    -----
    Z has mean 0 and variance 2α/(1 − α)². Clamping biases reports towards the middle of the range, the only value
    without bias.

    Reference
    ---------
    Ghosh, Roughgarden, Sundararajan: *Universally Utility-Maximizing Privacy Mechanisms* (STOC 2009).

    Examples
    --------
    >>> from bipartite import Integers, expected_loss
    >>> round(expected_loss(Geometric(Integers(1, 40), epsilon=1)), 2)
    14.29
    """

    __slots__ = ()
    fields = frozenset({"noise"})
    _lottery: Noise

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain, on_a_line=True)
        if len(domain) > _MOST_VALUES:
            raise DesignError(
                f"Expected at most 2^22 values, got {len(domain)}; use bp.BRR, or an Interval of fewer points."
            )
        self._assemble(domain, budget, Noise(len(domain), 0, _tickets(len(domain), budget)))

    @classmethod
    def read(cls, fields: Fields) -> Self:
        domain = fields.domain
        if not isinstance(domain, LineDomain):
            fields.refuse("Expected a domain of integers or an interval for geometric noise; ask for another spec.")
        noise = fields.row("noise", fields["noise"], len(domain))
        return cls._made(domain, fields.budget, noise_lottery(len(domain), 0, noise)).checked()

    def _assemble(self, domain: Domain, budget: Epsilon, lottery: Noise) -> None:
        self._set(domain=domain, outputs=domain, _budget=budget, _lottery=lottery)

    def parts(self) -> dict[str, Any]:
        return {"noise": [str(count) for count in self._lottery.tickets.tolist()]}


def _tickets(size: int, budget: Epsilon) -> NDArray[np.int64]:
    """The tickets of shifts 0 … N−1, the last including the whole tail, so that no ratio exceeds e^ε.

    The largest ratio is that of an end as a report: all shifts that reach it from itself against those from the other
    end. Rounding may push it past e^ε by a ticket; then the tail gets a few more, until the exact comparison holds.
    """
    scale = float(budget) / (size - 1)
    alpha = math.exp(-scale)
    # −expm1 keeps 1 − α exact for a tiny ε or a huge N.
    inner = np.exp(-scale * np.arange(size - 1)) * (-math.expm1(-scale)) / (1 + alpha)
    # A share of 2^−30 is held back for the extra tickets of the tail.
    whole = MAX_TOTAL * (1 - 2**-30)
    tickets = np.floor(np.append(inner, math.exp(-float(budget)) / (1 + alpha)) * whole).astype(np.int64)
    extra = 1
    for _ in range(_MOST_ROUNDS):
        if (tickets >= 1).all() and tickets.sum() * 2 <= MAX_TOTAL + tickets[0]:
            ratio = Noise(size, 0, tickets.copy()).largest_ratio()
            if budget.allows(*ratio.as_integer_ratio()):
                return tickets
        if extra > MAX_TOTAL:
            break
        tickets[-1] += extra
        extra *= 2
    raise DesignError(f"2^52 tickets cannot keep ε={budget.text} on N={size} values; use another ε, or fewer values.")

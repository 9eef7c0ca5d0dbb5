"""The Piecewise mechanism for one number, on a grid of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains.base import whole_number
from bipartite.errors import InputError, Problems
from bipartite.lottery import Epsilon, Tickets, Window
from bipartite.mechanisms.added_noise import check_interval
from bipartite.mechanisms.base import Mechanism, check_tickets, tickets_for
from bipartite.mechanisms.spec.parts import written
from bipartite.mechanisms.unbiased import MOST_OUTPUTS, Sliding, check_sliding, read_sliding, reports

if TYPE_CHECKING:
    from typing import Self

    from bipartite.domains import Domain, Interval
    from bipartite.mechanisms.spec.parts import Fields

_LEAST_OUTPUTS: Final = 2


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

    __slots__ = ("_tickets", "m", "stride")
    fields = frozenset({"m", "stride", "tickets"})
    m: int
    """The number of likely outputs for each value."""
    stride: int
    """The number of outputs by which the window moves from one value to the next."""
    _tickets: Tickets
    _lottery: Window

    def __init__(self, domain: Domain, epsilon: object, *, outputs: int | None = None) -> None:
        budget = Epsilon.of(epsilon)
        check_interval(domain, "Piecewise")
        check_outputs(outputs)
        sliding = Sliding.design(float(budget), len(domain), outputs)
        tickets = tickets_for(budget, sliding.m, sliding.outputs(len(domain)), "outputs")
        self._assemble(domain, budget, sliding, tickets)

    def _assemble(self, domain: Domain, budget: Epsilon, sliding: Sliding, tickets: Tickets) -> None:
        size = len(domain)
        outputs = reports(sliding.values(cast("Interval", domain), tickets.near, tickets.far))
        starts = sliding.stride * np.arange(size, dtype=np.int64)
        lottery = Window(size, len(outputs), sliding.m, 0, tickets, groups=starts)
        self._set(domain=domain, outputs=outputs, _budget=budget, _lottery=lottery)
        self._set(m=sliding.m, stride=sliding.stride, _tickets=tickets)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        sliding, tickets = read_sliding(fields), fields.counts("tickets", Tickets)
        domain, budget = fields.interval, fields.budget
        check_sliding(sliding, len(domain))
        check_tickets(budget, tickets, sliding.m, sliding.outputs(len(domain)))
        return cls._made(domain, budget, sliding, tickets)

    def parts(self) -> dict[str, Any]:
        return {"m": self.m, "stride": self.stride, "tickets": written(self._tickets)}

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

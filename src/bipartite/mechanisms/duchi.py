"""Duchi's mechanism for one number: one of two reports, whose mean is the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from bipartite.errors import BrokenPromiseError
from bipartite.lottery import MAX_TOTAL, Epsilon, Table, check_table
from bipartite.mechanisms.added_noise import check_interval
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.spec.parts import written
from bipartite.mechanisms.unbiased import TwoEnds, reports

if TYPE_CHECKING:
    from typing import Self

    from bipartite.domains import Domain, Interval
    from bipartite.mechanisms.spec.parts import Fields

_ENDS = 2


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

    __slots__ = ("_ends",)
    fields = frozenset({"ends"})
    _lottery: Table
    _ends: TwoEnds

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_interval(domain, "Duchi")
        check_table(len(domain), _ENDS)
        self._assemble(domain, budget, TwoEnds.issue(budget, len(domain), MAX_TOTAL))

    def _assemble(self, domain: Domain, budget: Epsilon, ends: TwoEnds) -> None:
        outputs = reports(ends.values(cast("Interval", domain)))
        lottery = Table(ends.rows(len(domain)))
        self._set(domain=domain, outputs=outputs, _budget=budget, _lottery=lottery, _ends=ends)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        ends = fields.counts("ends", TwoEnds)
        domain, budget = fields.interval, fields.budget
        check_table(len(domain), _ENDS)
        ends.problems(budget, len(domain)).raise_if_any(BrokenPromiseError)
        return cls._made(domain, budget, ends)

    def parts(self) -> dict[str, Any]:
        return {"ends": written(self._ends)}

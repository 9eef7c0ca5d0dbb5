"""GRR on bins of a line, each reported as its posterior mean: the least expected squared loss of all releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import LineDomain
from bipartite.domains.base import as_double
from bipartite.domains.values import Values
from bipartite.errors import DesignError, InputError, is_one_of
from bipartite.lottery import Epsilon, Tickets
from bipartite.mechanisms.anchored import Anchored, check_read_tickets, grr_on_groups, issue_for_anchors
from bipartite.mechanisms.base import check_domain
from bipartite.mechanisms.design.anchors_line import best_bins
from bipartite.mechanisms.design.anchors_sets import cost_of
from bipartite.mechanisms.design.m import check_prior
from bipartite.mechanisms.spec.parts import written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields

# The design is O(N²), and for many values means gain next to nothing over values.
MOST_VALUES: Final = 4096


class AnchoredMeans(Anchored):
    r"""Sends each value to its bin and runs GRR on the bins, each reported as its posterior mean.

    With bins B_1 … B_K of neighbouring values and E = e\ :sup:`ε`, the bin of the value is reported with probability
    E/(E + K − 1) and every other with 1/(E + K − 1). Bin k is reported as the mean of the value given this report,
    [(E−1)·Σ_{B_k} π_x x + Σ_x π_x x] / [(E−1)·π(B_k) + 1]: a number that need not be a value. ``Anchored(…,
    loss="squared", outputs="means")`` is this mechanism.

    Parameters
    ----------
    domain
        :class:`~bipartite.Integers` or :class:`~bipartite.Interval` of at most 4096 values.
    epsilon
        The privacy budget of one report.
    prior
        Public probabilities of the values, None for uniform. Never estimate it from the private data.
    loss
        ``"squared"``, the only loss for which means are optimal. For the distance, values are as good as any numbers.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): all values of a bin have the same row, and the rows of
    two bins are those of GRR. The means are public and the same for every person.

    Notes
    -----
    The bins are exactly optimal (dynamic programming): no ε-LDP release has a smaller expected squared loss, whatever
    it reports (``gap``). Compared with reporting values, means reduce the loss by 27 % for two equally likely values at
    ε = 1, by 8 % for five, and by next to nothing for more than about ten. Reports are doubles, low + step·r with r
    rounded to 9 decimals; the spec stores them.

    Reference
    ---------
    Ghazi, Kamath, Kumar, Leeman, Manurangsi, Varadarajan, Zhang: *Regression with Label Differential Privacy* (ICLR
    2023, arXiv 2212.06074): randomized response on bins with arbitrary numbers as bin values.

    Examples
    --------
    >>> from bipartite import Anchored, Integers, expected_loss
    >>> mech = AnchoredMeans(Integers(0, 1), epsilon=1)
    >>> mech.anchors, round(expected_loss(mech, loss="squared"), 3)
    ([0.268941421, 0.731058579], 0.197)
    >>> round(expected_loss(Anchored(Integers(0, 1), epsilon=1, loss="squared"), loss="squared"), 3)
    0.269
    """

    __slots__ = ("_tickets", "bins")
    fields = frozenset({"bins", "outputs", "tickets"})
    _tickets: Tickets
    bins: NDArray[np.int64]
    """The index of the first value of each bin."""

    def __init__(
        self,
        domain: Domain,
        epsilon: object,
        *,
        prior: Sequence[float] | NDArray[np.float64] | None = None,
        loss: Literal["squared"] = "squared",
        outputs: Literal["means"] = "means",
        progress: Callable[[float], None] | None = None,
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain, on_a_line=True)
        if not is_one_of(outputs, ("means",)):
            raise InputError("Expected outputs='means', or no outputs; use bp.Anchored for reports that are values.")
        if not is_one_of(loss, ("squared",)):
            raise InputError("Expected loss='squared' with outputs='means': means are optimal for no other loss.")
        line = _check_line(domain)
        size = len(line)
        weights = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
        choice = best_bins(weights, cost_of(budget.exp))
        tickets = issue_for_anchors(budget, len(choice.starts))
        # Rounding must not move a mean past the ends: a spec with such a report is refused.
        reports = np.clip(line.decode(0) + line.step * choice.means, line.low, line.high)
        self._hold(line, budget, choice.starts, reports, tickets)
        self._set(achieved_loss=choice.loss * line.step**2, lower_bound=choice.lower * line.step**2)
        if progress is not None:
            progress(1.0)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        tickets = fields.counts("tickets", Tickets)
        bins, given = np.array(fields.indices("bins"), dtype=np.int64), fields["outputs"]
        domain, budget = fields.domain, fields.budget
        numbers = isinstance(given, list) and all(type(each) in (int, float) for each in given)
        if bins[0] != 0 or not numbers or len(given) != len(bins):
            fields.refuse("Expected bins starting at index 0, and a number for each as outputs; ask for another spec.")
        line = _check_line(domain)
        reports = np.array([as_double(each) for each in given])
        if not ((line.low <= reports) & (reports <= line.high)).all() or (np.diff(reports) <= 0).any():
            fields.refuse(f"Expected outputs as ascending numbers within {line}; ask for another spec.")
        check_read_tickets(budget, tickets, len(bins))
        made = cls.__new__(cls)
        made._hold(line, budget, bins, reports, tickets)
        achieved, lower = cls.known_of(fields)
        made._set(achieved_loss=achieved, lower_bound=lower)
        return made

    def _hold(
        self,
        domain: LineDomain,
        budget: Epsilon,
        bins: NDArray[np.int64],
        reports: NDArray[np.float64],
        tickets: Tickets,
    ) -> None:
        lottery = grr_on_groups(np.searchsorted(bins, np.arange(len(domain)), side="right") - 1, tickets, len(bins))
        bins.flags.writeable = False
        self._set(domain=domain, outputs=Values(reports), _budget=budget, _lottery=lottery)
        self._set(_tickets=tickets, bins=bins)

    def parts(self) -> dict[str, Any]:
        return {"bins": self.bins.tolist(), "outputs": list(self.outputs), "tickets": written(self._tickets)}

    def _options(self) -> str:
        return f", {len(self.bins)} means" if len(self.bins) > 1 else ", one mean"


def _check_line(domain: Domain) -> LineDomain:
    if not isinstance(domain, LineDomain):
        raise DesignError(
            f"Expected domain as integers or an interval, got {type(domain).__name__}; leave out outputs='means'."
        )
    if len(domain) > MOST_VALUES:
        raise DesignError(
            f"Expected at most {MOST_VALUES} values for means, got {len(domain)}; "
            "use outputs='values', which is as good for this many."
        )
    return domain

"""GRR on bins of a line, each reported as its posterior mean: the least expected squared loss of all releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains.base import as_double
from bipartite.domains.outputs import Outputs
from bipartite.errors import DesignError, InputError, is_one_of
from bipartite.lottery import Epsilon, Tickets
from bipartite.mechanisms.anchored import Anchored, check_read_tickets, grr_on_groups, issue_for_anchors
from bipartite.mechanisms.checks import check_line
from bipartite.mechanisms.design.anchors_line import best_bins
from bipartite.mechanisms.design.anchors_sets import cost_of
from bipartite.mechanisms.design.m import check_prior
from bipartite.mechanisms.spec.fields import AGAIN, INDICES, Field, counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from numpy.typing import NDArray

    from bipartite.domains import Domain, LineDomain
    from bipartite.lottery import Deal
    from bipartite.mechanisms.spec.fields import Fields

# The design is O(N²), and for many values means gain next to nothing over values.
MOST_VALUES: Final = 4096


def _read_means(fields: Fields, name: str) -> NDArray[np.float64]:
    """The reported means: a number for each bin, ascending and within the line."""
    given, bins = fields[name], fields["bins"]
    numbers = isinstance(given, list) and all(type(each) in (int, float) for each in given)
    if bins[0] != 0 or not numbers or len(given) != len(bins):
        fields.refuse(f"Expected bins starting at index 0, and a number for each as outputs; {AGAIN}")
    line = _check_line(fields.domain)
    means = np.array([as_double(each) for each in given])
    if not ((line.low <= means) & (means <= line.high)).all() or (np.diff(means) <= 0).any():
        fields.refuse(f"Expected outputs as ascending numbers within {line}; {AGAIN}")
    return means


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
    >>> from bipartite import Anchored, Integers
    >>> from bipartite.quality import expected_loss
    >>> mech = AnchoredMeans(Integers(0, 1), epsilon=1)
    >>> mech.anchors, round(expected_loss(mech, loss="squared"), 3)
    ([0.268941421, 0.731058579], 0.197)
    >>> round(expected_loss(Anchored(Integers(0, 1), epsilon=1, loss="squared"), loss="squared"), 3)
    0.269
    """

    __slots__ = ()
    schema = {"tickets": counts(Tickets), "bins": INDICES, "outputs": Field(_read_means, lambda means: means.tolist())}

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
        check_line(domain)
        if not is_one_of(outputs, ("means",)):
            raise InputError("Expected outputs='means', or no outputs; use bp.Anchored for reports that are values.")
        if not is_one_of(loss, ("squared",)):
            raise InputError("Expected loss='squared' with outputs='means': means are optimal for no other loss.")
        line = _check_line(domain)
        size = len(line)
        weights = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
        choice = best_bins(weights, cost_of(budget.exp))
        # Rounding must not move a mean past the ends: a spec with such a report is refused.
        means = np.clip(line.decode(0) + line.step * choice.means, line.low, line.high)
        tickets = issue_for_anchors(budget, len(choice.starts))
        losses = {"achieved_loss": choice.loss * line.step**2, "lower_bound": choice.lower * line.step**2}
        self._hold(line, budget, {"tickets": tickets, "bins": choice.starts, "outputs": means}, **losses)
        if progress is not None:
            progress(1.0)

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:  # noqa: ARG003 (see _read_means)
        check_read_tickets(budget, facts["tickets"], len(facts["bins"]))

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        bins = facts["bins"]
        bin_of = np.searchsorted(bins, np.arange(len(domain)), side="right") - 1
        return Outputs.of_numbers(facts["outputs"]), grr_on_groups(bin_of, facts["tickets"], len(bins))

    @property
    def bins(self) -> NDArray[np.int64]:
        """The index of the first value of each bin."""
        bins: NDArray[np.int64] = self.facts["bins"]
        return bins

    def _options(self) -> str:
        return f", {len(self.bins)} means" if len(self.bins) > 1 else ", one mean"


def _check_line(domain: Domain) -> LineDomain:
    if not domain.has_ends:
        raise DesignError(
            f"Expected domain as integers or an interval, got {type(domain).__name__}; leave out outputs='means'."
        )
    if len(domain) > MOST_VALUES:
        raise DesignError(
            f"Expected at most {MOST_VALUES} values for means, got {len(domain)}; "
            "use outputs='values', which is as good for this many."
        )
    return cast("LineDomain", domain)

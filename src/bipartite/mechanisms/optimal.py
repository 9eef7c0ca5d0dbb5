"""The optimal ε-LDP release of a value, and the optimal unbiased report of a number, by linear programming."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from bipartite.domains.losses import LossRows
from bipartite.errors import InputError, SpecError, is_one_of, shown
from bipartite.lottery import Epsilon, check_table, issue_rows
from bipartite.mechanisms.checks import check_domain, check_line
from bipartite.mechanisms.design.m import check_prior_or_minimax
from bipartite.mechanisms.design.optimum import optimal_matrix
from bipartite.mechanisms.design.unbiased import slack, tickets_with_means, unbiased_matrix
from bipartite.mechanisms.spec.fields import AGAIN
from bipartite.mechanisms.tabled import Tabled, outputs_field
from bipartite.mechanisms.unbiased import reports

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain, LineDomain
    from bipartite.domains.losses import Loss
    from bipartite.domains.outputs import Outputs

    Prior = Sequence[float] | NDArray[np.float64] | Literal["minimax"] | None

_ROUNDING: Final = 2.0**-40
"""The largest error of a mean by rounding nodes and reports to doubles, as a share of the largest report."""


class Optimal(Tabled):
    r"""The ε-LDP mechanism with the least expected loss of all, by linear programming.

    min Σ_x π_x Σ_y P_xy·L(x, y) subject to Σ_y P_xy = 1 and z_y ≤ P_xy ≤ e\ :sup:`ε`\ ·z_y, with reports among the
    domain's values.

    Parameters
    ----------
    domain
        Any domain of at most 400 values; for more use :class:`~bipartite.Anchored`, which is optimal on lines and has a
        certified gap elsewhere.
    epsilon
        The privacy budget of one report.
    prior
        Public probabilities of the values, None for uniform; ``"minimax"`` for the least worst-case loss.
    loss
        None for the domain's own loss; ``"squared"``, ``"zero-one"``, a function of it, or a matrix.
    unbiased
        True for reports whose mean is the value, with the least expected variance under the prior or, with
        ``"minimax"``, the smallest largest variance: on a line of at most 200 values, with ε from 10\ :sup:`−4` to 12
        and no other loss. Reports are floats on a grid that extends beyond both ends; the average of many is an
        unbiased estimate of the mean.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): the solution is rounded to integer tickets that keep ε,
    at a negligible increase of the loss.

    Notes
    -----
    Optimal for its prior and loss; bias and variance given x follow from row x of ``matrix()``.

    With ``unbiased=True``: min Σ_x π_x Σ_y P_xy·(y − x)² subject also to Σ_y P_xy·y = x. The grid consists of middle ±
    j·2\ :sup:`k` steps of the domain, 90 to 360 outputs, of which at most 2N + 2 are used (3N + 3 for the worst
    case); with grid step d, the variance is at most d²/4 above the optimum over all outputs. Bias: none. In units of
    the grid, the tickets of a row have exactly the mean of its value; what remains is the rounding of nodes and reports
    to doubles (``bias``), which is zero on :class:`~bipartite.Integers` up to 2\ :sup:`40`. The exact mean costs
    10\ :sup:`−6` of ε (10\ :sup:`−6`·ε for ε < 1; up to 10\ :sup:`−4` for ε > 7).

    Reference
    ---------
    Bordenabe, Chatzikokolakis, Palamidessi: *Optimal Geo-Indistinguishable Mechanisms for Location Privacy* (CCS 2014)
    solve a similar program for another guarantee; HiGHS (Huangfu, Hall 2018) solves this one. The unbiased program is
    due to Badanidiyuru, Ghazi, Kamath, Kumar, Leeman, Manurangsi, Varadarajan, Zhang: *Optimal Unbiased Randomizers for
    Regression with Label Differential Privacy* (NeurIPS 2023), who also show that 2N outputs suffice.

    Examples
    --------
    >>> from bipartite import Integers
    >>> from bipartite.quality import loss
    >>> round(loss(Optimal(Integers(1, 40), epsilon=2)).mean, 2)
    6.24
    >>> mech = Optimal(Integers(0, 10), epsilon=1, unbiased=True)
    >>> round(float(mech.matrix()[3] @ mech.outputs.to_numpy()), 12), mech.bias
    (3.0, 0.0)
    """

    __slots__ = ()
    schema = {**Tabled.schema, "outputs": outputs_field("numbers")}

    def __init__(
        self,
        domain: Domain,
        epsilon: object,
        *,
        prior: Prior = None,
        loss: Loss = None,
        unbiased: bool = False,
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_line(domain) if unbiased is True else check_domain(domain)
        _check_unbiased(unbiased, loss)
        size = len(domain)
        weights = check_prior_or_minimax(prior, size)
        if unbiased:
            self._table(domain, budget, *_unbiased(cast("LineDomain", domain), budget, weights))
            return
        check_table(size, size)
        losses = LossRows(domain, domain, loss).rows(0, size)
        probabilities, _ = optimal_matrix(losses, budget.exp, weights)
        self._table(domain, budget, issue_rows(probabilities, budget))

    def checked(self) -> Self:
        """The mechanism itself; refused if its tickets do not keep ε, or reports that are numbers are biased."""
        super().checked()
        if self.unbiased and self.bias > _ROUNDING * float(np.abs(self.outputs.to_numpy()).max()):
            raise SpecError(f"Expected reports whose mean is the value, got one off by {self.bias:.3g}; {AGAIN}")
        return self

    @property
    def unbiased(self) -> bool:
        """Whether reports are numbers whose mean is the value."""
        return self.outputs.own_numbers

    @property
    def bias(self) -> float:
        """The largest distance between a value and the mean of its reports; computed in fractions, rounded up."""
        if not self.domain.has_ends:
            raise InputError(
                f"Expected a domain of numbers, got {self.domain!r}, whose reports have no mean; use bp.loss."
            )
        outputs = [Fraction(each) for each in self.outputs]
        total = self.lottery.total
        off = Fraction(0)
        for value, row in zip(self.domain, self.facts["rows"].tolist(), strict=True):
            mean = sum((count * each for count, each in zip(row, outputs, strict=True)), Fraction(0)) / total
            off = max(off, abs(mean - Fraction(value)))
        return 0.0 if off == 0 else math.nextafter(float(off), math.inf)

    def _options(self) -> str:
        return ", unbiased=True" if self.unbiased else ""


def _check_unbiased(unbiased: object, loss: Loss) -> None:
    if not isinstance(unbiased, bool):
        raise InputError(f"Expected unbiased as True or False, got {shown(unbiased)}.")
    if unbiased and loss is not None and not is_one_of(loss, ("squared",)):
        raise InputError("Expected no loss with unbiased=True, which minimises the variance; leave it out.")


def _unbiased(
    domain: LineDomain, budget: Epsilon, prior: NDArray[np.float64] | str | None
) -> tuple[NDArray[np.int64], Outputs]:
    """(tickets, outputs)."""
    size = len(domain)
    weights = np.full(size, 1 / size) if prior is None else None if isinstance(prior, str) else prior
    found = unbiased_matrix(size, budget.exp * (1 - slack(float(budget))), weights)
    values = np.arange(size, dtype=np.int64) * found.step
    tickets = tickets_with_means(found.matrix, found.outputs, values, budget)
    # Exact where low and the result are doubles, because only integers and powers of two are involved.
    return tickets, reports(domain.low + found.outputs * (domain.high - domain.low) / (found.step * (size - 1)))

"""The best ε-LDP release that reports values of the domain, by linear programming; for small domains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.domains.losses import LossRows
from bipartite.lottery import Epsilon, check_table, issue_rows
from bipartite.mechanisms.base import check_domain
from bipartite.mechanisms.design.line import check_prior_or_minimax
from bipartite.mechanisms.design.optimum import optimal_matrix
from bipartite.mechanisms.tabled import Tabled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.domains.losses import Loss

    Prior = Sequence[float] | NDArray[np.float64] | Literal["minimax"] | None


class Optimal(Tabled):
    r"""The ε-LDP mechanism with the least expected loss among all, by linear programming.

    min Σ_x π_x Σ_y P_xy·L(x, y) subject to Σ_y P_xy = 1 and z_y ≤ P_xy ≤ e\ :sup:`ε`\ ·z_y, with reports among the
    domain's values.

    Parameters
    ----------
    domain
        Any domain of at most 400 values; beyond that use :class:`~bipartite.Anchored`, which is optimal on lines and
        carries a certified gap elsewhere.
    epsilon
        The privacy budget of one report.
    prior
        Public probabilities of the values, None for uniform; ``"minimax"`` for the least worst case.
    loss
        None for the domain's own loss; ``"squared"``, ``"zero-one"``, a function of it, or a matrix.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): the solution is turned into whole-number tickets that
    keep ε, at a cost far below what floats can show.

    Notes
    -----
    Best for its prior and loss; bias and variance given x follow from row x of ``matrix()``.

    Reference
    ---------
    Bordenabe, Chatzikokolakis, Palamidessi: *Optimal Geo-Indistinguishable Mechanisms for Location Privacy* (CCS 2014)
    solve the like programme for another guarantee; HiGHS (Huangfu, Hall 2018) solves this one.

    Examples
    --------
    >>> from bipartite import Integers, expected_loss
    >>> round(expected_loss(Optimal(Integers(1, 40), epsilon=2)), 2)
    6.24
    """

    __slots__ = ()

    def __init__(self, domain: Domain, epsilon: object, *, prior: Prior = None, loss: Loss = None) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain)
        size = len(domain)
        weights = check_prior_or_minimax(prior, size)
        check_table(size, size)
        losses = LossRows(domain, domain, loss).rows(0, size)
        probabilities, _ = optimal_matrix(losses, budget.exp, weights)
        self._assemble(domain, budget, issue_rows(probabilities, budget))

"""A lower bound for every row with weights in [1, e^ε], value by value: no Q^(x) of BRR or GRR is below it."""

import numpy as np
from numpy.typing import NDArray

from bipartite.domains import Domain
from bipartite.domains.losses import Loss, LossRows
from bipartite.lottery import Epsilon
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.m_of_sets import count_raised


def local_bound(domain: Domain, epsilon: object, *, loss: Loss = None) -> NDArray[np.float64]:
    r"""For every x, the smallest expected loss of a report whose probabilities differ by at most a factor e\ :sup:`ε`.

    Q*_x = min over weights s ∈ [1, e\ :sup:`ε`]\ :sup:`N` of Σ s_y·L(x, y)/Σ s_y: what Algorithm 1 reaches for x when
    all other values do not matter. GRR and BRR have such rows, so Q*_x lies below their Q^(x) at every x, and its mean
    below their Q_g; BRR's price for serving all x with one m is the difference.

    Notes
    -----
    This is not a bound for every ε-LDP mechanism. One that reports some values more often than others regardless of the
    truth, such as :class:`~bipartite.Anchored` or a constant answer, may fall below it. For those see
    :attr:`bipartite.Anchored.gap`.

    Examples
    --------
    >>> from bipartite import Integers
    >>> local_bound(Integers(1, 5), epsilon=1).round(3).tolist()
    [1.389, 1.028, 0.893, 1.028, 1.389]
    """
    check_domain(domain)
    excess = Epsilon.of(epsilon).exp - 1
    rows = LossRows(domain, domain, loss)
    return np.array([_row_bound(rows.rows(x, x + 1)[0], excess) for x in range(len(domain))])


def _row_bound(losses: NDArray[np.float64], excess: float) -> float:
    """Q* of one row: with the m of Algorithm 1, the m smallest losses have weight e^ε."""
    m, _ = count_raised(losses, excess)
    near = float(np.partition(losses, m - 1)[:m].sum())
    return (excess * near + float(losses.sum())) / (excess * m + len(losses))

"""A lower bound for every row with weights in [1, e^ε], value by value: no Q^(x) of BRR or GRR is below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.domains.losses import Loss, LossRows
from bipartite.lottery import Epsilon
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.m_of_sets import count_raised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain

    Array = NDArray[np.float64]

# Dinkelbach's iteration decreases at every step and ends after a few; this many would mean a bug.
_MOST_STEPS: Final = 200


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

    Reference
    ---------
    Dinkelbach: *On nonlinear fractional programming* (1967); here Q ← (E·Σ_{λ<Q} λ + Σ_{λ≥Q} λ)/(E·#{λ<Q} + #{λ≥Q}).

    Examples
    --------
    >>> from bipartite import Integers
    >>> local_bound(Integers(1, 5), epsilon=1).round(3).tolist()
    [1.389, 1.028, 0.893, 1.028, 1.389]
    """
    check_domain(domain)
    excess = Epsilon.of(epsilon).exp - 1
    if domain.has_ends and loss is None:
        return _on_a_line(domain, excess)
    rows = LossRows(domain, domain, loss)
    return np.array([_row_bound(rows.rows(x, x + 1)[0], excess) for x in range(len(domain))])


def _row_bound(losses: Array, excess: float) -> float:
    """Q* of one row: with the m of Algorithm 1, the m smallest losses have weight e^ε."""
    m, _ = count_raised(losses, excess)
    near = float(np.partition(losses, m - 1)[:m].sum())
    return (excess * near + float(losses.sum())) / (excess * m + len(losses))


def _on_a_line(domain: Domain, excess: float) -> Array:
    """The same for all x at once: the number of distances below Q, and their sum, follow from the position of x."""
    size = len(domain)
    below = np.arange(size, dtype=np.float64)
    above = below[::-1]
    everything = _triangle(below) + _triangle(above)
    bound = everything / size
    for _ in range(_MOST_STEPS):
        reach = np.ceil(bound) - 1  # the largest whole distance below Q
        left, right = np.minimum(reach, below), np.minimum(reach, above)
        near = np.where(bound > 0, left + right + 1, 0.0)
        lower = (excess * (_triangle(left) + _triangle(right)) + everything) / (excess * near + size)
        if not (lower < bound).any():
            return bound * domain.step
        bound = np.minimum(bound, lower)
    raise AssertionError("Dinkelbach's iteration did not end")


def _triangle(n: Array) -> Array:
    return n * (n + 1) / 2

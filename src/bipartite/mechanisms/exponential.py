"""The exponential mechanism: the probability of a report decreases exponentially with its loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from bipartite.domains.losses import Loss, LossRows
from bipartite.errors import DesignError, InputError, shown
from bipartite.lottery import Epsilon, check_table, issue_rows
from bipartite.mechanisms.checks import check_domain, check_one_of
from bipartite.mechanisms.spec.fields import choice
from bipartite.mechanisms.tabled import Tabled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain

Variant = Literal["tight", "published"]


class Exponential(Tabled):
    r"""The exponential mechanism: Pr[y|x] ∝ exp(−θ·L(x, y)).

    Parameters
    ----------
    domain
        Any domain whose N × N tickets fit in memory (N up to 5,792).
    epsilon
        The privacy budget of one report.
    variant
        ``"tight"``: the largest θ whose realised ratio is e\ :sup:`ε`, found on the actual matrix, for a fair
        comparison. ``"published"``: θ = ε/2Δ, where Δ is the largest difference of two losses of one report: always
        private, but on most domains it spends only about half of ε (the certificate says how much).
    loss
        None for the domain's own loss; ``"squared"``, a function of it, or a matrix. With ``similarity=`` items the
        loss is −similarity, so more similar reports are likelier.
    sensitivity
        For ``"published"``: a Δ larger than that of this domain, such as 1 for similarities.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`).

    Notes
    -----
    A report is biased towards the middle of the domain; bias and variance given x follow from row x of ``matrix()``
    and have no closed form.

    Reference
    ---------
    McSherry, Talwar: *Mechanism Design via Differential Privacy* (FOCS 2007).

    Examples
    --------
    >>> from bipartite import Integers
    >>> from bipartite.quality import loss
    >>> ages = Integers(1, 40)
    >>> [round(loss(Exponential(ages, 1, variant=v)).mean, 2) for v in ("published", "tight")]
    [12.31, 11.34]
    """

    __slots__ = ()
    schema = {"variant": choice("tight", "published"), **Tabled.schema}

    def __init__(
        self,
        domain: Domain,
        epsilon: object,
        *,
        variant: Variant = "tight",
        loss: Loss = None,
        sensitivity: float | None = None,
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain)
        check_one_of("variant", variant, ("tight", "published"))
        size = len(domain)
        check_table(size, size)
        losses = LossRows(domain, domain, loss).rows(0, size)
        scaled, spread = _in_units_of_spread(losses)
        wanted = float(budget)
        share = 1.0 if sensitivity is None else spread / _check_sensitivity(sensitivity, spread, variant)
        theta = wanted / 2 * share if variant == "published" else _tightest(scaled, wanted)
        self._table(domain, budget, issue_rows(_rows(scaled, theta), budget), variant=variant)


def _in_units_of_spread(losses: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Losses in units of Δ, the largest difference of two losses of one report, each row less its least; and Δ.

    Shifting a row changes nothing, because the normaliser cancels it. The least loss becomes 0, so exp never overflows.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        spread = (losses.max(axis=0) - losses.min(axis=0)).max()
        above = losses - losses.min(axis=1, keepdims=True)
        scaled: NDArray[np.float64] = above / spread
    if not (above.max(axis=0) > above.min(axis=0)).any():
        raise DesignError("Expected losses that depend on the value, got the same for all values; pass another loss.")
    if not (np.isfinite(spread) and np.isfinite(scaled).all()):
        raise DesignError("Expected losses whose differences are finite numbers, got larger ones; scale them down.")
    return scaled, float(spread)


def _check_sensitivity(sensitivity: object, spread: float, variant: Variant) -> float:  # as given
    number = float(sensitivity) if isinstance(sensitivity, (int, float, np.number)) else math.nan
    if variant != "published":
        raise InputError("Expected sensitivity only with variant='published'; leave it out.")
    if not spread * (1 - 1e-12) <= number < math.inf:
        raise InputError(
            f"Expected sensitivity of at least {spread:.6g}, the largest difference, got {shown(sensitivity)}."
        )
    return number


def _rows(losses: NDArray[np.float64], theta: float) -> NDArray[np.float64]:
    weights = np.exp(-theta * losses)
    rows: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return rows


def _realised(losses: NDArray[np.float64], theta: float) -> float:
    """Ln of the largest ratio within a column, in floats: log Pr = −θL − log Σ exp(−θL)."""
    normaliser = np.log(np.exp(-theta * losses).sum(axis=1, keepdims=True))
    chances = -theta * losses - normaliser
    return float((chances.max(axis=0) - chances.min(axis=0)).max())


def _tightest(losses: NDArray[np.float64], wanted: float) -> float:
    """A θ whose realised ε is ``wanted``, from below, to the last bit: a crossing of a continuous function."""
    low = high = wanted / 2
    while _realised(losses, high) < wanted:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _realised(losses, middle) <= wanted else (low, middle)
    return low

"""The quality of reports: expected, worst and typical loss of any mechanism, under any loss and prior.

Everything is computed from the tickets, so the figures are those of the mechanism that is sampled. On lines with a
window (BRR, GRR, Square Wave), and on a circle, the expected loss costs O(1) for any N; elsewhere rows are streamed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.quality.circle import Circle
from bipartite.answers.quality.line import Line, closed_form
from bipartite.domains.base import as_real
from bipartite.domains.losses import Loss, LossRows, check_loss, function_of, largest_loss, output_positions
from bipartite.errors import InputError, shown
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.design.m import check_prior

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Prior = Sequence[float] | Array | None

# Rows are read in blocks of about this many tickets.
_BLOCK: Final = 2**20


def local_loss(mechanism: Mechanism, *, loss: Loss = None) -> Array:
    """Q^(x) for every x: the expected loss of the report when x is true, Σ_y Pr[y|x]·L(x, y).

    Parameters
    ----------
    mechanism
        Any mechanism.
    loss
        None is the domain's own loss, in its units; ``"squared"``, ``"zero-one"``, a function of it, or a matrix.
    """
    check_values(mechanism)
    closed, function = closed_form(mechanism), function_of(loss)
    if isinstance(closed, (Line, Circle)) and function is not None:
        return closed.local_loss(function)
    rows = LossRows(mechanism.domain, mechanism.outputs, loss)
    found = np.empty(len(mechanism.domain))
    for start, stop, tickets in blocks(mechanism):
        # Probabilities first: 2^52 tickets times a large loss would exceed the precision of doubles.
        found[start:stop] = np.einsum("xy,xy->x", tickets / mechanism.lottery.total, rows.rows(start, stop))
    return found


def expected_loss(mechanism: Mechanism, prior: Prior = None, *, loss: Loss = None) -> float:
    """Q_g: the expected loss between a value and its report, for values distributed as ``prior`` (None: uniform).

    Q_g = Σ_x π_x Σ_y Pr[y|x]·L(x, y). Exact and in O(1) on lines under the uniform prior, so N = 10^9 costs nothing.

    >>> from bipartite import BRR, Integers
    >>> round(expected_loss(BRR(Integers(1, 40), epsilon=1)), 2)
    9.75
    """
    check_values(mechanism)
    if prior is not None:
        return float(check_prior(prior, len(mechanism.domain)) @ local_loss(mechanism, loss=loss))
    closed = closed_form(mechanism)
    if loss is None and closed is not None:
        return closed.expected_loss()
    return float(local_loss(mechanism, loss=loss).mean())


def worst_loss(mechanism: Mechanism, *, loss: Loss = None) -> float:
    """The largest Q^(x): the expected loss of the worst value. In O(1) on lines with the distance as loss.

    >>> from bipartite import BRR, Integers
    >>> round(worst_loss(BRR(Integers(1, 40), epsilon=1)), 2)
    14.6
    """
    check_values(mechanism)
    closed = closed_form(mechanism)
    if loss is None and closed is not None:
        return closed.worst_loss()
    return float(local_loss(mechanism, loss=loss).max())


def qloss(mechanism: Mechanism, prior: Prior = None, *, loss: Loss = None) -> float:
    """The paper's QLoss: the expected loss divided by the largest one, Q_g/(N−1) on whole numbers. 0 is best.

    With a similarity the losses are negative and QLoss has no meaning; it is refused.

    >>> from bipartite import GRR, Integers
    >>> round(qloss(GRR(Integers(1, 100), epsilon=1)), 3)
    0.331
    """
    check_values(mechanism)
    matrix = check_loss(loss, len(mechanism.domain), len(mechanism.outputs))
    largest = largest_loss(mechanism.domain, loss) if matrix is None else float(matrix.max())
    if largest <= 0:
        raise InputError(
            "Expected a loss with positive values, which QLoss divides by; use expected_loss with a similarity."
        )
    return expected_loss(mechanism, prior, loss=loss) / largest


def share_within(mechanism: Mechanism, distance: float, prior: Prior = None) -> float:
    """The probability that the loss is at most ``distance``, for values distributed as ``prior`` (None: uniform).

    On lines this is the probability that a report is within that distance of the value; in O(1) for a uniform prior.
    """
    check_values(mechanism)
    reach = check_distance(distance)
    closed = closed_form(mechanism)
    if prior is None and closed is not None:
        return closed.share_within(reach)
    size = len(mechanism.domain)
    weights = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
    rows = LossRows(mechanism.domain, mechanism.outputs, None)
    within = 0.0
    # Tolerate rounding errors for reports at exactly this distance.
    bound = reach * (1 + 1e-12)
    for start, stop, tickets in blocks(mechanism):
        losses = rows.rows(start, stop)
        if (losses < 0).any():
            raise InputError(
                "Expected losses of at least 0, got a similarity, which is not a distance; "
                "use bp.quality.loss_quantile."
            )
        within += float(weights[start:stop] @ (tickets * (losses <= bound)).sum(axis=1))
    return within / mechanism.lottery.total


def loss_quantile(mechanism: Mechanism, quantile: object = 0.5, prior: Prior = None) -> float:
    """The loss that a report stays within with probability ``quantile``; the median by default.

    The smallest distance d with Pr[L ≤ d] ≥ quantile, for values distributed as ``prior`` (None: uniform).
    """
    check_values(mechanism)
    number = as_real(quantile)
    if not 0 < number <= 1:
        raise InputError(f"Expected quantile in (0, 1], got {shown(quantile)}; 0.5 is the median.")
    wanted = number * (1 - 1e-12)
    closed = closed_form(mechanism)
    if prior is None and closed is not None:
        return closed.loss_quantile(wanted)
    size = len(mechanism.domain)
    weights = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
    losses, chances = _distribution(mechanism, weights)
    return float(losses[min(int(np.searchsorted(chances, wanted)), len(losses) - 1)])


def check_values(mechanism: object) -> None:
    """Refuse mechanisms that do not report values: a set of bits is no closer to one value than to another."""
    if not isinstance(mechanism, Mechanism) or mechanism.flat:
        raise InputError(
            f"Expected a mechanism whose reports are values, got {type(mechanism).__name__}; pass bp.BRR(…), "
            "or one attribute of a record."
        )


def _distribution(mechanism: Mechanism, weights: Array) -> tuple[Array, Array]:
    """Every loss that occurs, ascending, and the probability to stay within it."""
    if mechanism.domain.has_ends and not mechanism.outputs.own_numbers:
        return _distribution_in_steps(mechanism, mechanism.domain.step, weights)
    rows = LossRows(mechanism.domain, mechanism.outputs, None)
    losses: Array = np.empty(0)
    chances: Array = np.empty(0)
    for start, stop, tickets in blocks(mechanism):
        here = (tickets * weights[start:stop, None]).ravel() / mechanism.lottery.total
        losses, where = np.unique(np.concatenate([losses, rows.rows(start, stop).ravel()]), return_inverse=True)
        chances = np.bincount(where, np.concatenate([chances, here]), len(losses)).astype(np.float64)
    return losses, np.cumsum(chances)


def _distribution_in_steps(mechanism: Mechanism, step: float, weights: Array) -> tuple[Array, Array]:
    """The same on a line, where distances are whole numbers of steps and need not be sorted."""
    positions = output_positions(mechanism.domain, mechanism.outputs)
    farthest = max(abs(int(positions[0]) - len(mechanism.domain) + 1), abs(int(positions[-1])))
    chances = np.zeros(farthest + 1)
    for start, stop, tickets in blocks(mechanism):
        steps = np.abs(positions[None, :] - np.arange(start, stop)[:, None])
        here = tickets * weights[start:stop, None] / mechanism.lottery.total
        chances += np.bincount(steps.ravel(), here.ravel(), farthest + 1)
    losses: Array = np.arange(farthest + 1, dtype=np.float64) * step
    return losses, np.cumsum(chances)


def blocks(mechanism: Mechanism) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """(start, stop, tickets of values start … stop − 1) for all values."""
    size = len(mechanism.domain)
    step = max(1, _BLOCK // len(mechanism.outputs))
    for start in range(0, size, step):
        stop = min(start + step, size)
        yield start, stop, mechanism.lottery.rows(start, stop)


def check_distance(distance: object) -> float:  # whatever the caller gave
    """Check a distance."""
    reach = as_real(distance)
    if not reach >= 0:
        raise InputError(f"Expected distance ≥ 0, got {shown(distance)}; distances are not negative.")
    return reach

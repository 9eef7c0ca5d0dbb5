"""The choice of anchors, of a lottery over sets of them, or of a constant answer, by the method for the domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains.losses import LossRows, applied, function_of
from bipartite.errors import DesignError, InputError
from bipartite.mechanisms.design.anchor_losses import AnchorLosses, blocks
from bipartite.mechanisms.design.anchors_line import AnchorChoice, best_anchors_on_line
from bipartite.mechanisms.design.anchors_sets import best_anchors_of_set
from bipartite.mechanisms.design.m import check_prior, check_prior_or_minimax
from bipartite.mechanisms.design.minimax import LotteryChoice, minimax_lottery_of_set, minimax_lottery_on_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain, SetDomain
    from bipartite.domains.losses import Function, Loss
    from bipartite.lottery import Epsilon

_ROUNDING: Final = 1e-9
# A search on a circle stores the loss of every pair of values.
_MOST_AROUND: Final = 4096
# The best constant: losses computed at a time, and the number of values from which compiled code pays.
_BLOCK: Final = 2**20
_MANY: Final = 4096
_FALLS: Final = (
    "Expected a loss function that never falls as the domain's loss grows; build bp.Items with loss= instead."
)


def choose_anchors(
    domain: Domain,
    budget: Epsilon,
    prior: object,
    loss: Loss,
    progress: Callable[[float], None] | None,
) -> AnchorChoice:
    """The best anchors for a prior and a loss, with their expected loss and a proved lower bound."""
    weights = check_prior_or_minimax(prior, len(domain))
    if isinstance(weights, str):
        raise InputError(
            "Expected prior as probabilities, or None for uniform, got 'minimax'; use bp.Minimax for the worst case."
        )
    function = _check_loss(loss)
    if domain.has_ends:
        known, scale = _on_a_line(domain, loss)
        choice = best_anchors_on_line(len(domain), budget.exp, weights, known)
        return AnchorChoice(choice.anchors, choice.loss * scale, choice.lower * scale)
    of_set = cast("SetDomain", domain)
    own = _on_a_set(of_set, loss, function)
    choice = best_anchors_of_set(of_set, budget.exp, weights, own, progress)
    if own is not None:
        _check_nearest_is_best(of_set, own, choice.anchors)
    return choice


def choose_lottery(domain: Domain, budget: Epsilon, loss: Loss) -> LotteryChoice:
    """The lottery over sets of anchors with the least worst-case loss, and a proved lower bound for any release."""
    function = _check_loss(loss)
    if domain.has_ends:
        known, scale = _on_a_line(domain, loss)
        choice = minimax_lottery_on_line(len(domain), budget.exp, known)
        return LotteryChoice(choice.sets, choice.weights, choice.loss * scale, choice.lower * scale)
    of_set = cast("SetDomain", domain)
    own = _on_a_set(of_set, loss, function)
    choice = minimax_lottery_of_set(of_set, budget.exp, own)
    if own is not None:
        for anchors in choice.sets:
            _check_nearest_is_best(of_set, own, anchors)
    return choice


def _check_loss(loss: Loss) -> Function:
    function = function_of(loss)
    if function is None:
        raise InputError(
            "Expected loss=None, 'squared', or a function that never falls as the domain's loss grows; "
            "for another loss build bp.Items with loss=, for 'zero-one' use bp.GRR."
        )
    return function


def _on_a_line(domain: Domain, loss: Loss) -> tuple[Any, float]:
    """(the loss by distance in steps, its unit): the name of a loss that scales, or a table over distances."""
    if callable(loss):
        return _check_never_falls(loss, np.arange(len(domain), dtype=np.float64) * domain.step), 1.0
    return ("absolute", domain.step) if loss is None else ("squared", domain.step**2)


def _on_a_set(domain: SetDomain, loss: Loss, function: Function) -> Function | None:
    """The function of the domain's own losses; None for those losses themselves."""
    check_circle(domain)
    if loss is None:
        return None
    _check_never_falls(function, np.sort(domain.losses(0)))
    return function


def check_circle(domain: Domain) -> None:
    """Refuse a circle that is too large for the search."""
    if domain.wraps and len(domain) > _MOST_AROUND:
        raise DesignError(
            f"Expected at most {_MOST_AROUND} values around a circle, got {len(domain)}; use coarser steps, or bp.BRR, "
            "which has the least error there if all values are equally likely, and the least worst case."
        )


def _check_never_falls(function: Function, own: NDArray[np.float64]) -> NDArray[np.float64]:
    losses = applied(function, own)
    if (np.diff(losses) < 0).any():
        raise InputError(_FALLS)
    return losses


def _check_nearest_is_best(domain: SetDomain, function: Function, anchors: NDArray[np.int64]) -> None:
    """Refuse a function under which the nearest anchor does not have the least loss.

    The row checked before may not include the distances at which the function decreases.
    """
    own = AnchorLosses(domain, None)
    for part in blocks(len(domain), len(anchors)):
        losses = applied(function, np.sort(own.table(np.arange(len(domain))[part], anchors), axis=1))
        if (np.diff(losses, axis=1) < -_ROUNDING * np.abs(losses[:, 1:])).any():
            raise InputError(_FALLS)


def best_constant(domain: Domain, prior: Sequence[float] | NDArray[np.float64] | None, loss: Loss = None) -> int:
    """The index of the value with the least expected loss when it is always reported; the first in case of ties.

    On a line with the distance as loss this is the median of the prior; elsewhere all losses are computed.
    """
    size = len(domain)
    weights = None if prior is None else check_prior(prior, size)
    if domain.has_ends and loss is None:
        return (size - 1) // 2 if weights is None else _median(weights)
    if not domain.has_ends and loss is None and size > _MANY:
        # Compiled, in less than a minute for 70,000 places.
        seen = AnchorLosses(cast("SetDomain", domain), weights)
        return int(np.argmin(seen.sweep(np.arange(size), np.zeros(len(seen.items))).totals))
    total = np.zeros(size)
    rows = LossRows(domain, domain, loss)
    step = max(1, _BLOCK // size)
    for start in range(0, size, step):
        stop = min(start + step, size)
        here = np.ones(stop - start) if weights is None else weights[start:stop]
        total += here @ rows.rows(start, stop)
    return int(np.argmin(total))


def _median(weights: NDArray[np.float64]) -> int:
    """The first value at which the cumulative mass reaches one half, allowing for rounding."""
    return int(np.searchsorted(np.cumsum(weights), 0.5 - 1e-12))

"""Which anchors: the one question of Anchored, handed to the method that fits the domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains import LineDomain, SetDomain
from bipartite.domains.losses import applied, function_of
from bipartite.errors import InputError
from bipartite.mechanisms.design.anchor_losses import AnchorLosses, blocks
from bipartite.mechanisms.design.anchors_line import best_anchors_on_line
from bipartite.mechanisms.design.anchors_minimax import minimax_anchors_of_set
from bipartite.mechanisms.design.anchors_sets import best_anchors_of_set
from bipartite.mechanisms.design.line import check_prior_or_minimax
from bipartite.mechanisms.design.minimax_line import minimax_anchors_on_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.domains.losses import Function, Loss
    from bipartite.lottery import Epsilon
    from bipartite.mechanisms.design.anchor_choice import AnchorChoice

_ROUNDING: Final = 1e-9
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
    """The best anchors for a prior and a loss, with their expected (or worst) loss and a proved lower bound."""
    checked = check_prior_or_minimax(prior, len(domain))
    minimax = isinstance(checked, str)
    weights = None if isinstance(checked, str) else checked
    e = budget.exp
    function = function_of(loss)
    if function is None:
        msg = (
            "Expected loss=None, 'squared', or a function that never falls as the domain's loss grows; "
            "for another loss build bp.Items with loss=, for 'zero-one' use bp.GRR."
        )
        raise InputError(msg)
    if isinstance(domain, LineDomain):
        return _on_a_line(domain, e, weights, loss, minimax=minimax)
    of_set = cast("SetDomain", domain)
    own = None if loss is None else cast("Callable[[NDArray[np.float64]], NDArray[np.float64]]", function)
    if own is not None:
        _check_never_falls(own, np.sort(of_set.losses(0)))
    if minimax:
        choice = minimax_anchors_of_set(of_set, e, own)
    else:
        choice = best_anchors_of_set(of_set, e, weights, own, progress)
    if own is not None:
        _check_nearest_is_best(of_set, own, choice.anchors)
    return choice


def _on_a_line(
    domain: LineDomain, e: float, weights: NDArray[np.float64] | None, loss: Loss, *, minimax: bool
) -> AnchorChoice:
    """Distances in steps for the two losses that scale; any other as a table over distances."""
    size = len(domain)
    known: Any = "absolute" if loss is None else "squared"
    scale = domain.step if loss is None else domain.step**2
    if callable(loss):
        known, scale = _check_never_falls(loss, np.arange(size, dtype=np.float64) * domain.step), 1.0
    choice = minimax_anchors_on_line(size, e, known) if minimax else best_anchors_on_line(size, e, weights, known)
    return type(choice)(choice.anchors, choice.loss * scale, choice.lower * scale)


def _check_never_falls(function: Function, own: NDArray[np.float64]) -> NDArray[np.float64]:
    losses = applied(function, own)
    if (np.diff(losses) < 0).any():
        raise InputError(_FALLS)
    return losses


def _check_nearest_is_best(domain: SetDomain, function: Function, anchors: NDArray[np.int64]) -> None:
    """Refuse a function under which the nearest anchor, which is reported, is not the one of least loss.

    The row that was looked at first may not reach the distances at which a function falls.
    """
    own = AnchorLosses(domain, None)
    for part in blocks(len(domain), len(anchors)):
        losses = applied(function, np.sort(own.table(np.arange(len(domain))[part], anchors), axis=1))
        if (np.diff(losses, axis=1) < -_ROUNDING * np.abs(losses[:, 1:])).any():
            raise InputError(_FALLS)

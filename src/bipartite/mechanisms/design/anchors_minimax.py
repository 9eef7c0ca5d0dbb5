"""Anchors whose worst item has a small loss, and what no ε-LDP release can promise to every item.

With anchors A item x has the expected loss Q(x) = (min_{a∈A} L(x, a) + c·Σ_{a∈A} L(x, a)) / (1 + c·|A|), c = 1/(E−1).
The least worst case of all ε-LDP releases is the largest of their best mean losses over all priors (they form a convex
set, the loss is linear: von Neumann). So the certified bound for any prior at all is a bound for the worst case, and a
prior that is hard for the anchors of every prior before it, found by multiplicative weights, makes it a good one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.anchor_cells import cells_of
from bipartite.mechanisms.design.anchor_choice import AnchorChoice
from bipartite.mechanisms.design.anchor_losses import AnchorLosses, blocks
from bipartite.mechanisms.design.anchors_bound import certify
from bipartite.mechanisms.design.anchors_search import Assignment, exhaustive, grow, improve
from bipartite.mechanisms.design.anchors_sets import EXHAUSTIVE_TO, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bipartite.domains import SetDomain
    from bipartite.mechanisms.design.anchor_losses import LossFunction, Reals, Wholes

_SITES: Final = 200
_ROUNDS: Final = 80
# The first step of the weights, in units of one over the spread of losses; later ones shrink like 1/√t.
_STEP: Final = 4.0
_FINALISTS: Final = 3
_PASSES: Final = 12
_ENOUGH: Final = 1e-3
_GAIN: Final = 1e-12


def minimax_anchors_of_set(domain: SetDomain, e: float, loss: LossFunction | None = None) -> AnchorChoice:
    """Anchors whose worst item has the least expected loss that could be found, and a bound for every ε-LDP release.

    Parameters
    ----------
    domain
        Points or items, up to a few thousand.
    e
        e^ε, above 1.
    loss
        A non-decreasing function of the domain's own loss, elementwise; None: that loss.
    """
    losses, cost = AnchorLosses(domain, None, loss), cost_of(e)
    cells = cells_of(losses, _SITES)
    sites = cells.sites if losses.vectors is not None else _strided(losses.size)
    found, priors = _hard_priors(losses, cost, sites)
    if losses.size <= EXHAUSTIVE_TO:
        best = _Worst(losses, cost, tuple(exhaustive(losses, cost, worst=True)))
    else:
        best = _search(losses, cost, sites, found)
    lower = max(_bayes(losses.with_prior(prior), cost, sites, best.anchors) for prior in priors)
    return AnchorChoice(np.array(sorted(best.anchors), dtype=np.int64), best.value, min(lower, best.value))


def _search(losses: AnchorLosses, cost: float, sites: Wholes, found: list[tuple[int, ...]]) -> _Worst:
    """Local search from the best of the anchors found on the way."""
    tried = sorted((_Worst(losses, cost, anchors) for anchors in found), key=lambda each: each.value)
    best = min((_improved(each, sites) for each in tried[:_FINALISTS]), key=lambda each: each.value)
    return best if len(sites) == losses.size else _improved(best, _around(losses, best.anchors))


def _strided(size: int) -> Wholes:
    return np.unique(np.linspace(0, size - 1, min(size, _SITES)).astype(np.int64))


def _hard_priors(losses: AnchorLosses, cost: float, sites: Wholes) -> tuple[list[tuple[int, ...]], list[Reals]]:
    """(anchors met on the way, priors that are hard): each prior weighs more what the anchors so far serve badly."""
    logarithms, total, weight = np.zeros(losses.size), np.zeros(losses.size), 0.0
    state = grow(losses, cost, sites)[0]
    met: dict[tuple[int, ...], None] = {}
    hardest, hardest_prior = -np.inf, np.ones(losses.size)
    for round_ in range(1, _ROUNDS + 1):
        prior = np.exp(logarithms - logarithms.max())
        state = Assignment(losses.with_prior(prior), cost, state.anchors)
        improve(state, sites)
        if state.value > hardest:
            hardest, hardest_prior = state.value, prior
        anchors = tuple(state.anchors)
        met[anchors] = None
        means = _Worst(losses, cost, anchors).means
        # Where all items fare alike no prior is harder for these anchors, and the spread is rounding or nothing.
        spread = float(np.ptp(means))
        if spread > _GAIN * float(np.abs(means).max()):
            logarithms += _STEP / np.sqrt(round_) * (means - means.max()) / spread
        # Later priors count more: the first ones are far from hard.
        total += round_ * prior / prior.sum()
        weight += round_
    return list(met), [hardest_prior, total / weight]


def _bayes(losses: AnchorLosses, cost: float, sites: Wholes, anchors: list[int]) -> float:
    """The certified bound for one prior."""
    candidates = [grow(losses, cost, sites)[0], Assignment(losses, cost, anchors)]
    state = min(candidates, key=lambda each: each.value)
    improve(state, sites)
    return certify(state, cells_of(losses, _SITES), _PASSES, _ENOUGH)[0]


class _Worst:
    """Anchors, with the expected loss of every item."""

    def __init__(self, losses: AnchorLosses, cost: float, anchors: tuple[int, ...]) -> None:
        self.losses, self.cost, self.anchors = losses, cost, list(anchors)
        self.table = losses.table(losses.items, self.anchors)
        self.means: Reals = (self.table.min(axis=1) + cost * self.table.sum(axis=1)) / (1 + cost * len(anchors))
        self.value = float(self.means.max())

    def without(self) -> Iterator[tuple[int | None, Reals, Reals]]:
        """(anchor left out or None, nearest loss, sum of losses) for every way to leave out at most one."""
        yield None, self.table.min(axis=1), self.table.sum(axis=1)
        for at in range(len(self.anchors)):
            rest = np.delete(self.table, at, axis=1)
            yield at, rest.min(axis=1, initial=np.inf), rest.sum(axis=1)

    def best_move(self, sites: Wholes) -> tuple[float, list[int]]:
        """The least worst case after inserting, dropping or exchanging one anchor."""
        best, chosen = np.inf, self.anchors
        for out, low, sums in self.without():
            kept = [y for at, y in enumerate(self.anchors) if at != out]
            if out is not None and kept:
                value = float((low + self.cost * sums).max()) / (1 + self.cost * len(kept))
                if value < best:
                    best, chosen = value, kept
            for part in blocks(len(sites), len(low)):
                losses = self.losses.table(self.losses.items, sites[part])
                worst = (np.minimum(low[:, None], losses) + self.cost * (sums[:, None] + losses)).max(axis=0)
                worst[np.isin(sites[part], self.anchors)] = np.inf
                worst /= 1 + self.cost * (len(kept) + 1)
                at = int(worst.argmin())
                if worst[at] < best:
                    best, chosen = float(worst[at]), [*kept, int(sites[part][at])]
        return best, chosen


def _improved(state: _Worst, sites: Wholes) -> _Worst:
    """The state after all moves that help."""
    while True:
        value, anchors = state.best_move(sites)
        if not value < state.value - _GAIN * max(abs(state.value), abs(state.value - state.losses.least)):
            return state
        state = _Worst(state.losses, state.cost, tuple(anchors))


def _around(losses: AnchorLosses, anchors: list[int]) -> Wholes:
    """The items around each anchor."""
    table = losses.table(np.array(anchors), np.arange(losses.size))
    each = max(1, _SITES // len(anchors))
    return np.unique(np.argsort(table, axis=1, kind="stable")[:, :each])

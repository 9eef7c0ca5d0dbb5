"""The least worst case on points and items: a lottery over sets of anchors, and what no ε-LDP release can go below.

Where the best set for every prior is the best release for it, as on trees, the best lottery is the best release that
reports items. Elsewhere a lottery over sets may be a little above that, and the best set is only searched for. The
bound is that of one hard prior, certified as for that prior alone.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import DesignError, MissingExtraError
from bipartite.mechanisms.design.anchor_cells import cells_of
from bipartite.mechanisms.design.anchor_choice import LotteryChoice
from bipartite.mechanisms.design.anchor_losses import AnchorLosses, blocks
from bipartite.mechanisms.design.anchors_bound import certify
from bipartite.mechanisms.design.anchors_search import Assignment, grow, improve, local_search, shaken
from bipartite.mechanisms.design.anchors_sets import EXHAUSTIVE_TO, cost_of
from bipartite.mechanisms.design.game import solve_game
from bipartite.mechanisms.design.lottery_search import LEAST_WEIGHT, play
from bipartite.mechanisms.design.optimum import optimal_matrix

if TYPE_CHECKING:
    from bipartite.domains import SetDomain
    from bipartite.mechanisms.design.anchor_losses import LossFunction, Reals, Wholes

_SITES: Final = 200
_SMALL: Final = 64
# Rounds by the number of pairs of items, at least and most.
_PAIRS_TO_PLAY: Final = 1e9
_ROUNDS: Final = (20, 400)
_ENOUGH: Final = ((_SMALL, 1e-8), (np.inf, 1e-5))
# Losses that passes over all pairs may read when certifying, and at least and most so many passes.
_LOSSES_TO_CERTIFY: Final = 5e8
_PASSES: Final = (4, 60)
_CLOSE: Final = 1e-6
_GAIN: Final = 1e-10


def minimax_lottery_of_set(domain: SetDomain, e: float, loss: LossFunction | None = None) -> LotteryChoice:
    """The lottery over sets of anchors whose worst item pays least, as far as could be found, and a proved bound.

    Parameters
    ----------
    domain
        Points or items, up to a few thousand.
    e
        e^ε, above 1.
    loss
        A non-decreasing function of the domain's own loss, elementwise; None: that loss.

    Returns
    -------
    LotteryChoice
        For 12 items or fewer the lottery is the best there is over sets of anchors.
    """
    losses, cost = AnchorLosses(domain, None, loss), cost_of(e)
    found = _of_all(losses, cost) if losses.size <= EXHAUSTIVE_TO else _searched(losses, cost)
    sets, weights, worst, priors = found
    likeliest = max(zip(weights.tolist(), sets, strict=True))[1]
    lower = max(_bound(losses.with_prior(prior), cost, likeliest) for prior in priors)
    order = sorted(range(len(sets)), key=lambda at: (len(sets[at]), sets[at]))
    arrays = tuple(np.array(sets[at], dtype=np.int64) for at in order)
    return LotteryChoice(arrays, weights[order], worst, min(lower, worst))


def _of_all(losses: AnchorLosses, cost: float) -> tuple[list[tuple[int, ...]], Reals, float, tuple[Reals, ...]]:
    """The best lottery over all sets of items."""
    everyone = range(losses.size)
    sets = [each for count in range(1, losses.size + 1) for each in combinations(everyone, count)]
    means = np.column_stack([_means(losses, cost, each) for each in sets])
    weights, prior = solve_game(means)
    held = np.flatnonzero(weights > LEAST_WEIGHT)
    shares = weights[held] / weights[held].sum()
    return [sets[at] for at in held], shares, float((means[:, held] @ shares).max()), (prior,)


def _searched(losses: AnchorLosses, cost: float) -> tuple[list[tuple[int, ...]], Reals, float, tuple[Reals, ...]]:
    """A lottery over sets that local search finds for one prior after another."""
    sites = _sites(losses)

    def best_set(prior: Reals, starts: list[tuple[int, ...]]) -> tuple[tuple[int, ...], Reals, float]:
        weighed = losses.with_prior(prior)
        known = Assignment(weighed, cost, starts[0]).value if starts else np.inf
        bar = known - _GAIN * max(abs(known), abs(known - losses.least))
        # From known sets first; where that finds nothing better, by longer and longer searches.
        best = min((_improved(Assignment(weighed, cost, each), sites) for each in starts), key=_rank, default=None)
        if best is None or not best.value < bar:
            best = min([*filter(None, [best]), _anew(weighed, cost, sites)], key=_rank)
        if losses.size <= _SMALL and not best.value < bar:
            best = min([best, *_by_programme(weighed, cost, sites)], key=_rank)
        anchors = tuple(best.anchors)
        return anchors, _means(losses, cost, anchors), best.value

    rounds = int(np.clip(_PAIRS_TO_PLAY / losses.size**2, *_ROUNDS))
    enough = next(gap for size, gap in _ENOUGH if losses.size <= size)
    played = play(best_set, losses.size, rounds, enough, losses.least, exact=False)
    return played.sets, played.weights, played.worst, played.priors


def _rank(state: Assignment) -> float:
    return state.rank


def _anew(losses: AnchorLosses, cost: float, sites: Wholes) -> Assignment:
    """Anchors from nothing: by the longest search on small sets, where it costs little and finds more."""
    if losses.size <= _SMALL:
        return local_search(losses, cost, sites)
    return shaken(_improved(grow(losses, cost, sites)[0], sites), sites)


def _by_programme(losses: AnchorLosses, cost: float, sites: Wholes) -> list[Assignment]:
    """What the best release of all for this prior reports, as anchors: the best ones on a tree. None without scipy."""
    everyone = np.arange(losses.size)
    prior = np.zeros(losses.size)
    prior[losses.items] = losses.prior
    try:
        matrix, _ = optimal_matrix(losses.table(everyone, everyone), 1 + 1 / cost, prior)
    except (DesignError, MissingExtraError):
        return []
    reported = np.flatnonzero(matrix.max(axis=0) > 0)
    return [_improved(Assignment(losses, cost, reported.tolist()), sites)]


def _sites(losses: AnchorLosses) -> Wholes:
    """Where anchors are looked for first."""
    if losses.vectors is not None:
        return cells_of(losses, _SITES).sites
    return np.unique(np.linspace(0, losses.size - 1, min(losses.size, _SITES)).astype(np.int64))


def _improved(state: Assignment, sites: Wholes) -> Assignment:
    """The state after all moves that help, to these sites and then to the items around its anchors."""
    improve(state, sites)
    if len(sites) < state.losses.size:
        improve(state, _around(state.losses, state.anchors))
    return state


def _around(losses: AnchorLosses, anchors: list[int]) -> Wholes:
    """The items around each anchor."""
    table = losses.table(np.array(anchors), np.arange(losses.size))
    each = max(1, _SITES // len(anchors))
    return np.unique(np.argsort(table, axis=1, kind="stable")[:, :each])


def _means(losses: AnchorLosses, cost: float, anchors: tuple[int, ...]) -> Reals:
    """The expected loss of every item under GRR on these anchors."""
    found = np.empty(losses.size)
    everyone = np.arange(losses.size)
    for part in blocks(losses.size, len(anchors)):
        table = losses.table(everyone[part], anchors)
        found[part] = (table.min(axis=1) + cost * table.sum(axis=1)) / (1 + cost * len(anchors))
    return found


def _bound(losses: AnchorLosses, cost: float, anchors: tuple[int, ...]) -> float:
    """The certified bound for one prior, from the best anchors for it that can be found."""
    sites = _sites(losses)
    candidates = [grow(losses, cost, sites)[0], Assignment(losses, cost, anchors)]
    state = min((_improved(each, sites) for each in candidates), key=lambda each: each.value)
    passes = int(np.clip(_LOSSES_TO_CERTIFY / losses.size**2, *_PASSES))
    return certify(state, cells_of(losses, _SITES), passes, _CLOSE)[0]

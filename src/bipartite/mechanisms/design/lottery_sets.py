"""The least worst-case loss on points and items: a lottery over sets of anchors, and a bound for every ε-LDP release.

Where a set of anchors is the best release for every prior, as on trees, the best lottery is the best release that
reports items. Elsewhere the best lottery over sets may be a little worse than that, and its sets come from a search
that may miss the best one. The bound is the certified bound for one hard prior.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import DesignError, MissingExtraError
from bipartite.mechanisms.design.anchor_cells import cells_of
from bipartite.mechanisms.design.anchor_losses import AnchorLosses, blocks
from bipartite.mechanisms.design.anchors_bound import certify
from bipartite.mechanisms.design.anchors_search import Assignment, grow, improve, local_search, shake
from bipartite.mechanisms.design.anchors_sets import EXHAUSTIVE_TO, cost_of
from bipartite.mechanisms.design.game import solve_game
from bipartite.mechanisms.design.lottery_search import Lottery, drop_light_sets, play
from bipartite.mechanisms.design.optimum import optimal_matrix

if TYPE_CHECKING:
    from bipartite.domains import SetDomain
    from bipartite.mechanisms.design.anchor_choice import LotteryChoice
    from bipartite.mechanisms.design.anchor_losses import LossFunction, Reals, Wholes
    from bipartite.mechanisms.design.lottery_search import Anchors

_SITES: Final = 200
_SMALL: Final = 64
# Pairs of items visited in all rounds, and the least and the largest number of rounds.
_PAIRS_TO_VISIT: Final = 1e9
_ROUNDS: Final = (20, 400)
_TOLERANCE: Final = ((_SMALL, 1e-8), (np.inf, 1e-5))
# Losses read in all passes of the certificate, and the least and the largest number of passes.
_LOSSES_TO_CERTIFY: Final = 5e8
_PASSES: Final = (4, 60)
_CLOSE: Final = 1e-6
_GAIN: Final = 1e-10


def minimax_lottery_of_set(domain: SetDomain, e: float, loss: LossFunction | None = None) -> LotteryChoice:
    """The lottery over sets of anchors with the least worst-case loss that was found, and a proved lower bound.

    Parameters
    ----------
    domain
        Points or items, up to a few thousand.
    e
        e^ε, above 1.
    loss
        A non-decreasing elementwise function of the domain's own loss; None for that loss itself.

    Returns
    -------
    LotteryChoice
        For 12 items or fewer, the best lottery over all sets of anchors.
    """
    losses, cost = AnchorLosses(domain, None, loss), cost_of(e)
    lottery, priors = _solve_all_sets(losses, cost) if losses.size <= EXHAUSTIVE_TO else _search(losses, cost)
    likeliest = max(zip(lottery.weights.tolist(), lottery.sets, strict=True))[1]
    return lottery.certified(max(_bound(losses.with_prior(prior), cost, likeliest) for prior in priors))


def _solve_all_sets(losses: AnchorLosses, cost: float) -> tuple[Lottery, tuple[Reals, ...]]:
    """(the best lottery over all sets of items, the prior it is best against)."""
    sets = [each for count in range(1, losses.size + 1) for each in combinations(range(losses.size), count)]
    means = np.column_stack([_means(losses, cost, each) for each in sets])
    weights, prior = solve_game(means)
    return drop_light_sets(sets, means, weights), (prior,)


def _search(losses: AnchorLosses, cost: float) -> tuple[Lottery, tuple[Reals, ...]]:
    """(a lottery over sets that local search finds for one prior after another, hard priors)."""
    sites = _first_sites(losses)

    def best_set(prior: Reals, starts: list[Anchors]) -> tuple[Anchors, Reals, float]:
        weighted = losses.with_prior(prior)
        known = Assignment(weighted, cost, starts[0]).value if starts else np.inf
        bar = known - _GAIN * max(abs(known), abs(known - losses.least))
        # Start from known sets; where that finds nothing better, search longer and longer.
        states = [_improve_around(Assignment(weighted, cost, each), sites) for each in starts]
        if not any(each.value < bar for each in states):
            states.append(_search_from_scratch(weighted, cost, sites))
        if losses.size <= _SMALL and not any(each.value < bar for each in states):
            states += _solve_program(weighted, cost, sites)
        best = min(states, key=lambda each: each.rank)
        anchors = tuple(best.anchors)
        return anchors, _means(losses, cost, anchors), best.value

    rounds = int(np.clip(_PAIRS_TO_VISIT / losses.size**2, *_ROUNDS))
    tolerance = next(gap for size, gap in _TOLERANCE if losses.size <= size)
    lottery, priors, _ = play(best_set, losses.size, rounds, tolerance, losses.least, exact=False)
    return lottery, priors


def _search_from_scratch(losses: AnchorLosses, cost: float, sites: Wholes) -> Assignment:
    """Anchors without a starting set: by the longest search on small sets, where it costs little and finds more."""
    if losses.size <= _SMALL:
        return local_search(losses, cost, sites)
    return shake(_improve_around(grow(losses, cost, sites)[0], sites), sites)


def _solve_program(losses: AnchorLosses, cost: float, sites: Wholes) -> list[Assignment]:
    """The reports of the optimal release for this prior as anchors, on a tree the best; empty without scipy."""
    everyone = np.arange(losses.size)
    prior = np.zeros(losses.size)
    prior[losses.items] = losses.prior
    try:
        matrix, _ = optimal_matrix(losses.table(everyone, everyone), 1 + 1 / cost, prior)
    except (DesignError, MissingExtraError):
        return []
    reported = np.flatnonzero(matrix.max(axis=0) > 0)
    return [_improve_around(Assignment(losses, cost, reported.tolist()), sites)]


def _first_sites(losses: AnchorLosses) -> Wholes:
    """The sites that the search starts with."""
    if losses.vectors is not None:
        return cells_of(losses, _SITES).sites
    return np.unique(np.linspace(0, losses.size - 1, min(losses.size, _SITES)).astype(np.int64))


def _improve_around(state: Assignment, sites: Wholes) -> Assignment:
    """Make all moves that help, to these sites and then to the items around the anchors."""
    improve(state, sites)
    if len(sites) < state.losses.size:
        improve(state, _nearest_items(state.losses, state.anchors))
    return state


def _nearest_items(losses: AnchorLosses, anchors: list[int]) -> Wholes:
    """The items nearest to each anchor."""
    table = losses.table(np.array(anchors), np.arange(losses.size))
    each = max(1, _SITES // len(anchors))
    return np.unique(np.argsort(table, axis=1, kind="stable")[:, :each])


def _means(losses: AnchorLosses, cost: float, anchors: Anchors) -> Reals:
    """The expected loss of every item under GRR on these anchors."""
    found = np.empty(losses.size)
    everyone = np.arange(losses.size)
    for part in blocks(losses.size, len(anchors)):
        table = losses.table(everyone[part], anchors)
        found[part] = (table.min(axis=1) + cost * table.sum(axis=1)) / (1 + cost * len(anchors))
    return found


def _bound(losses: AnchorLosses, cost: float, anchors: Anchors) -> float:
    """The certified bound for one prior, from the best anchors found for it."""
    sites = _first_sites(losses)
    candidates = [grow(losses, cost, sites)[0], Assignment(losses, cost, anchors)]
    state = min((_improve_around(each, sites) for each in candidates), key=lambda each: each.value)
    passes = int(np.clip(_LOSSES_TO_CERTIFY / losses.size**2, *_PASSES))
    return certify(state, cells_of(losses, _SITES), passes, _CLOSE)[0]

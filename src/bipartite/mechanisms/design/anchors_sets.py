"""The best anchors of a set of points or items, with a certified bound on their gap to the optimum.

Send each x to its nearest anchor and run GRR on the anchors. On a line this is the best ε-LDP release; elsewhere it is
rarely far from it, and the certified bound says how far at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.anchor_cells import cells_of
from bipartite.mechanisms.design.anchor_choice import AnchorChoice, EnoughError, Watch
from bipartite.mechanisms.design.anchor_losses import AnchorLosses
from bipartite.mechanisms.design.anchors_bound import certify
from bipartite.mechanisms.design.anchors_search import Assignment, improve, local_search, search_all_sets, shake

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.domains import SetDomain
    from bipartite.mechanisms.design.anchor_cells import Cells
    from bipartite.mechanisms.design.anchor_losses import LossFunction, Reals, Wholes

    Progress = Callable[[float], None]
    """Called with the share that is done, from 0 to 1."""

# Up to this many items all 2^N − 1 sets of anchors are tried: at most 4095.
EXHAUSTIVE_TO: Final = 12
# The number of sites that the search starts with on large sets, and the size up to which it ends with all sites.
_SITES: Final = 500
_ALL_SITES_TO: Final = 4000
# With more anchors than this, forced insertions and removals are not tried among all sites: slow and little gain.
_FEW_ANCHORS: Final = 32
# The least number of sites per anchor.
_CHOICE: Final = 3
# Neighbours of the anchors considered in one pass on larger sets: in all, and at least and at most per anchor.
_NEIGHBOURS: Final = 800
_LEAST_NEIGHBOURS: Final = 8
_MOST_NEIGHBOURS: Final = 96
_ROUNDS: Final = 30
# Losses read in all passes of the certificate, and the least and the largest number of passes.
_LOSSES_TO_CERTIFY: Final = 5e7
_PASSES: Final = (4, 30)
# (size, gap): on sets up to this size a certified gap below this share of the loss is small enough; a pass costs N².
_ENOUGH: Final = ((1500, 1e-3), (30_000, 5e-3), (np.inf, 1e-2))
# The rough share of time that the search takes on large sets.
_SEARCHED: Final = 0.2
# The smallest E − 1 that differs from zero, and the largest whose inverse does.
_LEAST_EXCESS: Final = 2.0**-52
_MOST_EXCESS: Final = 1e300


def best_anchors_of_set(
    domain: SetDomain,
    e: float,
    prior: Reals | None = None,
    loss: LossFunction | None = None,
    progress: Progress | None = None,
) -> AnchorChoice:
    """Anchors with the least expected loss that was found, and a lower bound for every ε-LDP release.

    Parameters
    ----------
    domain
        Points or items. For points memory is O(N).
    e
        e^ε, above 1; the bound is certified for exactly this number.
    prior
        The public weight of each item, not necessarily with sum 1; None for uniform.
    loss
        A non-decreasing elementwise function of the domain's own loss, such as ``np.square``; None for that loss
        itself. On points any function but ``np.square`` is computed by NumPy, which is several times slower.
    progress
        Called from time to time with the share that is done.

    Returns
    -------
    AnchorChoice
        For 12 items or fewer, the best anchors of all.
    """
    losses = AnchorLosses(domain, prior, loss)
    cost = cost_of(e)
    cells = cells_of(losses, _SITES)
    # One anchor in the middle, in case there is no time for more.
    state = Assignment(losses, cost, [int(cells.sites[len(cells.sites) // 2])])
    watch = losses.watch = Watch(progress)
    # The floor is a bound, if a weak one.
    lower = losses.floor
    try:
        state, cells = _search_all(losses, cost, cells)
        watch.report(_SEARCHED)
        passes = int(np.clip(_LOSSES_TO_CERTIFY / losses.size**2, *_PASSES))
        enough = next(gap for size, gap in _ENOUGH if losses.size <= size)
        lower, _ = certify(state, cells, passes, enough, lambda part: watch.report(_SEARCHED + (1 - _SEARCHED) * part))
        watch.report(1.0)
    except EnoughError:
        if watch.anchors:
            state = min(state, Assignment(losses, cost, watch.anchors), key=lambda each: each.rank)
    return AnchorChoice(np.array(state.anchors, dtype=np.int64), state.value, min(lower, state.value))


def _search_all(losses: AnchorLosses, cost: float, cells: Cells) -> tuple[Assignment, Cells]:
    """(the best anchors found, the cells whose sites the search started with)."""
    if losses.size <= EXHAUSTIVE_TO:
        return Assignment(losses, cost, search_all_sets(losses, cost)), cells
    state = search(losses, cost, cells.sites)
    # Many anchors need more sites to choose from.
    while _CHOICE * len(state.totals) > len(cells.sites) and len(cells.sites) < losses.size:
        losses.watch.report(_SEARCHED / 2)
        cells = cells_of(losses, _CHOICE * len(cells.sites))
        state = min(state, search(losses, cost, cells.sites), key=lambda each: each.rank)
    return state, cells


def cost_of(e: float) -> float:
    """The cost of an anchor in the units of the search, c = 1/(E−1)."""
    return 1 / min(max(e - 1, _LEAST_EXCESS), _MOST_EXCESS)


def search(losses: AnchorLosses, cost: float, sites: Wholes) -> Assignment:
    """Anchors by local search: among some sites first, then among all, or on large sets among neighbours of anchors."""
    state = local_search(losses, cost, sites)
    if len(sites) == losses.size:
        return state
    if losses.size <= _ALL_SITES_TO:
        everyone = np.arange(losses.size)
        improve(state, everyone)
        return shake(state, everyone) if len(state.totals) <= _FEW_ANCHORS else state
    for done in range(_ROUNDS):
        losses.watch.report(_SEARCHED * (done + 1) / (_ROUNDS + 1))
        before = state.value
        improve(state, _neighbours(state))
        if not state.value < before:
            break
    return state


def _neighbours(state: Assignment) -> Wholes:
    """The points around each anchor: the nearest ones, and fewer and fewer farther out."""
    losses, anchors = state.losses, state.anchors
    each = int(np.clip(_NEIGHBOURS // len(anchors), _LEAST_NEIGHBOURS, _MOST_NEIGHBOURS))
    reach = max(each, losses.size // len(anchors))
    ranks = np.unique(np.concatenate([np.arange(each // 2), np.geomspace(each // 2, reach - 1, each // 2).astype(int)]))
    everyone = np.arange(losses.size)
    found = [np.argsort(losses.table(np.array([y]), everyone)[0], kind="stable")[ranks] for y in anchors]
    return np.unique(np.concatenate(found))

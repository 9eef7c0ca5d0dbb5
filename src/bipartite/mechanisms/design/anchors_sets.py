"""The best anchors of a set of points or items for a prior, with a certified bound on their gap to the optimum.

Send each x to its nearest anchor and run GRR on the anchors. On a line this is the best ε-LDP release; elsewhere it is
rarely far from it, and the certified bound says how far at most. Few items are searched exhaustively, others by local
search.

With c = 1/(E−1) the loss of anchors A is F(A) = (Σ_x π_x min_{a∈A} L(x, a) + c·Σ_{a∈A} λ_a) / (1 + c·|A|), where
λ_a = Σ_x π_x L(x, a). Everything is written with c, so that nothing overflows where E is large.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.anchor_losses import AnchorLosses, EnoughError, Groups, Watch, blocks, cells_of
from bipartite.mechanisms.design.anchors_bound import certify
from bipartite.mechanisms.design.anchors_line import AnchorChoice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bipartite.domains import SetDomain
    from bipartite.mechanisms.design.anchor_losses import Cells, LossFunction, Reals, Sweep, Wholes

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
# A move must gain more than what sums of doubles lose.
_GAIN: Final = 1e-12
# States of up to this many anchors are all improved by exchanges; above, only after each growth by a fifth.
_EVERY_COUNT: Final = 12
_NEXT_COUNT: Final = 1.2
# Growing ends at this multiple of the best number of anchors, plus this many.
_PATIENCE: Final = (1.25, 3)
# This many of the best moves of a pass are retried one after the other before the next pass.
_RETRIED: Final = 24
_SHORT: Final = 2**16
# The number of perturbations on small sets, and the number of losses that all of them may read.
_KICKS: Final = 12
_LOSSES_TO_KICK: Final = 5e5
# This many of the best states are improved further.
_FINALISTS: Final = 3


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


class Assignment:
    """Anchors, and for every item its nearest and second nearest."""

    def __init__(self, losses: AnchorLosses, cost: float, anchors: Iterable[int]) -> None:
        self.losses, self.cost = losses, cost
        count = len(losses.items)
        self.low, self.high = np.full(count, np.inf), np.full(count, np.inf)
        self.near, self.second = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
        self.totals: dict[int, float] = {}
        self._groups: Groups | None = None
        for y in anchors:
            self.add(y)

    def copy(self) -> Assignment:
        """The same anchors, to be changed."""
        other = Assignment(self.losses, self.cost, ())
        other.low, other.high, other.near, other.second = (
            each.copy() for each in (self.low, self.high, self.near, self.second)
        )
        other.totals = dict(self.totals)
        return other

    @property
    def anchors(self) -> list[int]:
        """In increasing order."""
        return sorted(self.totals)

    @property
    def numerator(self) -> float:
        """Σ_x π_x min_a L(x, a) + c·Σ_a λ_a."""
        return float(self.losses.prior @ self.low) + self.cost * sum(self.totals.values())

    @property
    def value(self) -> float:
        """F of the anchors."""
        return float(self.numerator / (1 + self.cost * len(self.totals)))

    @property
    def rank(self) -> float:
        """To choose among anchors: their loss, and for equal losses the fewer."""
        return self.value + _tolerance(self) * len(self.totals)

    def add(self, y: int) -> None:
        """Add an anchor."""
        column = self.losses.column(y)
        first = column < self.low
        between = ~first & (column < self.high)
        self.high = np.where(first, self.low, np.where(between, column, self.high))
        self.second = np.where(first, self.near, np.where(between, y, self.second))
        self.low, self.near = np.where(first, column, self.low), np.where(first, y, self.near)
        self.totals[y] = float(self.losses.prior @ column)
        self._groups = None

    def remove(self, y: int) -> None:
        """Remove an anchor; only its own items are reassigned."""
        del self.totals[y]
        self._groups = None
        anchors = np.array(self.anchors)
        touched = np.flatnonzero((self.near == y) | (self.second == y))
        for part in blocks(len(touched), len(anchors)):
            some = touched[part]
            table = self.losses.table(self.losses.items[some], anchors)
            row = np.arange(len(some))
            best = table.argmin(axis=1)
            self.low[some], self.near[some] = table[row, best], anchors[best]
            table[row, best] = np.inf
            best = table.argmin(axis=1)
            self.high[some] = table[row, best]
            self.second[some] = anchors[best] if len(anchors) > 1 else -1

    def positions(self) -> Wholes:
        """For every item the position of its nearest anchor in ``anchors``."""
        table = np.empty(self.losses.size, dtype=np.int64)
        table[self.anchors] = np.arange(len(self.totals))
        found: Wholes = table[self.near]
        return found

    def groups(self) -> Groups:
        """The items by their nearest anchor."""
        if self._groups is None:
            count, near = len(self.totals), self.positions()
            # 16-bit integers are sorted by radix.
            order = np.argsort(near.astype(np.uint16) if count < _SHORT else near, kind="stable")
            starts = np.concatenate([[0], np.cumsum(np.bincount(near, minlength=count))])
            refunds = self.cost * np.array([self.totals[y] for y in self.anchors])
            self._groups = Groups(order, starts, self.high, refunds)
        return self._groups

    def scores(self, sites: Wholes) -> Reals:
        """The increase of the numerator of F when each of these sites is inserted; infinite for anchors."""
        found = self.losses.sweep(sites, self.low)
        return np.where(self.chosen(sites), np.inf, self.cost * found.totals - found.gains)

    def chosen(self, sites: Wholes) -> NDArray[np.bool_]:
        """Which of these sites are anchors."""
        mask = np.zeros(self.losses.size, dtype=np.bool_)
        mask[self.anchors] = True
        found: NDArray[np.bool_] = mask[sites]
        return found

    def sweep(self, sites: Wholes) -> Moves:
        """The loss after every move to these sites."""
        return Moves(self, sites, self.losses.sweep(sites, self.low, self.groups()))


class Moves:
    """The loss F after inserting each site, after its best exchange, and after removing each anchor."""

    def __init__(self, state: Assignment, sites: Wholes, sweep: Sweep) -> None:
        self.sites, self.anchors = sites, np.array(state.anchors)
        cost, count, numerator = state.cost, len(state.totals), state.numerator
        # The increase of the numerator of F by each insertion, which only grows as anchors are added.
        self.scores = np.where(state.chosen(sites), np.inf, cost * sweep.totals - sweep.gains)
        self.insertions = (numerator + self.scores) / (1 + cost * (count + 1))
        self.swaps = (numerator + self.scores + sweep.swaps) / (1 + cost * count)
        self.leaving = self.anchors[sweep.leaving]
        self.drops = np.full(count, np.inf)
        if count > 1:
            rise = np.bincount(state.positions(), state.losses.prior * (state.high - state.low), minlength=count)
            totals = np.array([state.totals[y] for y in state.anchors])
            self.drops = (numerator + rise - cost * totals) / (1 + cost * (count - 1))


def search_all_sets(losses: AnchorLosses, cost: float) -> list[int]:
    """The set of anchors with the least expected loss, by trying every one."""
    table = losses.table(losses.items, np.arange(losses.size))
    best, chosen = np.inf, [0]
    for count in range(1, losses.size + 1):
        sets = np.array(list(combinations(range(losses.size), count)))
        means = (table[:, sets].min(axis=2) + cost * table[:, sets].sum(axis=2)) / (1 + cost * count)
        values = losses.prior @ means
        at = int(values.argmin())
        # More anchors must gain more than rounding.
        if count == 1 or values[at] < best - _GAIN * abs(best):
            best, chosen = float(values[at]), sets[at].tolist()
    return chosen


def local_search(losses: AnchorLosses, cost: float, sites: Wholes) -> Assignment:
    """Anchors among these sites that no insertion, removal or exchange improves, nor these after a forced one."""
    found = [_improved(each, sites) for each in grow(losses, cost, sites)]
    kicks = min(_KICKS, int(_LOSSES_TO_KICK / (len(sites) * len(losses.items))))
    return kick(shake(min(found, key=lambda each: each.rank), sites), sites, kicks)


def _improved(state: Assignment, sites: Wholes) -> Assignment:
    improve(state, sites)
    return state


def shake(state: Assignment, sites: Wholes) -> Assignment:
    """Force one anchor in or out and improve again, as long as that finds a better state."""
    while True:
        moves = state.sweep(sites)
        others = []
        if len(state.totals) < len(sites):
            other = state.copy()
            other.add(int(sites[moves.insertions.argmin()]))
            improve(other, sites, resize=False)
            others.append(_improved(other, sites))
        if len(state.totals) > 1:
            other = state.copy()
            other.remove(int(moves.anchors[moves.drops.argmin()]))
            improve(other, sites, resize=False)
            others.append(_improved(other, sites))
        best = min(others, key=lambda each: each.rank)
        if not best.value < _bar(state):
            return state
        state = best


def kick(state: Assignment, sites: Wholes, kicks: int) -> Assignment:
    """Replace some anchors by arbitrary sites and improve again: on small sets, where it costs little and helps."""
    for turn in range(kicks):
        other = state.copy()
        # From one anchor to all of them are removed, and from one site to one more than that are added.
        leaving = _scatter(np.array(state.anchors, dtype=np.int64), 2 * turn)
        leaving = leaving[: 1 + turn % len(leaving)]
        coming = _scatter(sites, 2 * turn + 1)[: 1 + turn // 2 % (len(leaving) + 1)]
        for y in coming[~other.chosen(coming)]:
            other.add(int(y))
        for y in leaving[: len(other.totals) - 1]:
            other.remove(int(y))
        improve(other, sites)
        if other.value < _bar(state):
            state = other
    return state


def _scatter(array: Wholes, turn: int) -> Wholes:
    """The array in a fixed pseudo-random order, the same on every machine: anchors are public.

    Positions are mixed by the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
    """
    keys = np.arange(1, len(array) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    keys += np.uint64(turn * 0xD1342543DE82EF95 % 2**64)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Wholes = array[np.argsort(keys ^ (keys >> np.uint64(31)), kind="stable")]
    return mixed


def grow(losses: AnchorLosses, cost: float, sites: Wholes) -> list[Assignment]:
    """Insert the best site repeatedly, with exchanges in between; returns the best few states."""
    totals = losses.sweep(sites, np.zeros(len(losses.items))).totals
    state = Assignment(losses, cost, [int(sites[totals.argmin()])])
    best: list[Assignment] = []
    milestone = 1.0
    while True:
        count = len(state.totals)
        if count <= _EVERY_COUNT or count >= milestone:
            milestone = count * _NEXT_COUNT
            moves = improve(state, sites, resize=False)
            best = sorted([*best, state.copy()], key=lambda each: each.rank)[:_FINALISTS]
            if count > _PATIENCE[0] * len(best[0].totals) + _PATIENCE[1]:
                return best
        if count == len(sites):
            return best
        _insert_best(state, moves)


def _insert_best(state: Assignment, moves: Moves) -> None:
    """Insert the best site. Scores only grow as anchors are added, so old scores are lower bounds."""
    order = np.argsort(moves.scores, kind="stable")
    best, chosen = np.inf, -1
    for start in range(0, len(order), _RETRIED):
        some = order[start : start + _RETRIED]
        if moves.scores[some[0]] >= best:
            break
        fresh = moves.scores[some] = state.scores(moves.sites[some])
        at = int(fresh.argmin())
        if fresh[at] < best:
            best, chosen = float(fresh[at]), int(moves.sites[some[at]])
    state.add(chosen)
    moves.scores[moves.sites == chosen] = np.inf


def improve(state: Assignment, sites: Wholes, *, resize: bool = True) -> Moves:
    """Make moves while they help: exchanges and, if ``resize``, insertions and removals. Returns the last pass."""
    while True:
        state.losses.watch.note(state.rank, state.anchors)
        moves = state.sweep(sites)
        if not _step(state, moves, resize=resize):
            return moves
        ahead = np.minimum(moves.insertions, moves.swaps) if resize else moves.swaps
        few = np.sort(sites[np.argsort(ahead, kind="stable")[:_RETRIED]])
        while len(few) < len(sites) and _step(state, state.sweep(few), resize=resize):
            pass


def _step(state: Assignment, moves: Moves, *, resize: bool) -> bool:
    """Make the best move if it helps; whether it did."""
    before, bar = state.value, _bar(state)
    swap, insertion, drop = int(moves.swaps.argmin()), int(moves.insertions.argmin()), int(moves.drops.argmin())
    best = min(moves.swaps[swap], min(moves.insertions[insertion], moves.drops[drop]) if resize else np.inf)
    if not best < bar:
        return False
    if best == moves.swaps[swap]:
        # Add first, so that there is never a state without anchors.
        state.add(int(moves.sites[swap]))
        state.remove(int(moves.leaving[swap]))
    elif best == moves.insertions[insertion]:
        state.add(int(moves.sites[insertion]))
    else:
        state.remove(int(moves.anchors[drop]))
    # Compiled code and NumPy differ in the last digits: a move that only seemed to help must not cause a cycle.
    return state.value < before


def _bar(state: Assignment) -> float:
    """The loss below which a state counts as better."""
    return state.value - _tolerance(state)


def _tolerance(state: Assignment) -> float:
    value = state.value
    return max(_GAIN, 4 * state.losses.error) * max(abs(value), abs(value - state.losses.least))

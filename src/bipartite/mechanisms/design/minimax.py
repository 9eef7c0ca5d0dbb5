"""The least worst-case loss: a lottery over sets of anchors, and a proved bound for every ε-LDP release.

A single set of anchors serves the inputs half-way between them badly; a lottery evens that out. The least worst-case
loss of all ε-LDP releases equals the largest, over priors, of the loss of the best release for that prior (von Neumann:
releases form a convex set, and the loss is linear in both). Each round solves the game between the sets found so far
and an adversary who chooses a prior (`solve_game`), then looks for the best set for that prior. This set either joins
the others or shows that the lottery cannot be improved. For any prior, the loss of the best release is a lower bound.

**On a line** the best set for a prior is found exactly, and no ε-LDP release that reports points of the line has a
smaller loss under that prior. So the lottery is the best of these releases, up to the tolerance of the search.

**On points and items** the same holds where a set of anchors is the best release for every prior, as on trees.
Elsewhere the best lottery over sets may be a little worse than the best release, and its sets come from a search that
may miss the best one. The bound is the certified bound for one hard prior.

**Around a circle** all values are alike, so a lottery over the turns of the best set for the uniform prior is best.

No guarantee rests on the linear programs, which are solved in floats: the loss of the weights found is computed, and
the bound is proved for whatever prior and levels they propose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from bipartite.errors import DesignError
from bipartite.mechanisms.design.anchor_losses import AnchorLosses, blocks, cells_of
from bipartite.mechanisms.design.anchors_bound import bound_of, certify
from bipartite.mechanisms.design.anchors_line import LineCosts, best_anchors_of, check_line
from bipartite.mechanisms.design.anchors_sets import (
    EXHAUSTIVE_TO,
    Assignment,
    cost_of,
    grow,
    improve,
    kick,
    local_search,
    search,
    shake,
)
from bipartite.mechanisms.design.optimum import LARGEST_E, Release, solve_program, solve_release

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import SetDomain
    from bipartite.mechanisms.design.anchor_losses import LossFunction, Reals, Wholes
    from bipartite.mechanisms.design.anchors_line import Loss

Anchors = tuple[int, ...]

# The next prior lies half-way between the adversary's and the hardest so far; the adversary's own prior oscillates.
_TOWARDS_HARDEST: Final = 0.5
# Sets without weight for this many rounds are dropped; they return when they are best again.
_ROUNDS_UNUSED: Final = 25
_STARTS: Final = 100
# Sets with a smaller weight are dropped, and so are those above it that leave their anchors too few tickets to keep ε:
# the nearest anchor needs this chance (more below ε = 0.001), and each other one the next. No heavier set is dropped.
_LEAST_NEAR: Final = 1e-8
_LEAST_FAR: Final = 1e-14
_ALWAYS_KEPT: Final = 1e-6
# Of the solver: the largest loss relative to that of the best column.
_LARGEST_COEFFICIENT: Final = 1e7

# Lines up to this length are solved to the tolerance; longer ones start from the lottery of a line of this length.
_SHORT: Final = 129
_ROUNDS_ON_A_LINE: Final = 600
_TOLERANCE_ON_A_LINE: Final = 1e-8
# Points visited in all rounds on a longer line: the best set for a prior takes about a second on a million points.
_POINTS_TO_VISIT: Final = 4_000_000
_ROUNDS_ON_A_LONG_LINE: Final = (3, 60)
# A lottery stores a number for every pair of an input and a set, and at most this many numbers.
MOST_ENTRIES: Final = 2**27
# Losses computed at a time.
_LOSSES_AT_A_TIME: Final = 2**22

_SITES: Final = 200
_SMALL: Final = 64
# Pairs of items visited in all rounds, and the least and the largest number of rounds.
_PAIRS_TO_VISIT: Final = 1e9
_ROUNDS: Final = (20, 1000)
_TOLERANCE: Final = ((_SMALL, 1e-8), (np.inf, 1e-5))
# Losses read in all passes of the certificate, and the least and the largest number of passes.
_LOSSES_TO_CERTIFY: Final = 5e8
_PASSES: Final = (4, 60)
_CLOSE: Final = 1e-6
# Perturbations of the best sets where no search finds a better one, for each item, and the pairs that they may visit.
_KICKS: Final = 4
_PAIRS_TO_KICK: Final = 1e6
# Places around a circle to which a set is turned, at most.
_PLACES: Final = 256
# Numbers of anchors of the regular sets that are tried there, and how many of them are improved.
_COUNTS: Final = 64
_FINALISTS: Final = 5
_GAIN: Final = 1e-10


@dataclass(frozen=True, eq=False)
class LotteryChoice:
    """A lottery over sets of anchors and its certificate: no ε-LDP release has a worst-case loss below ``lower``.

    Parameters
    ----------
    sets : tuple of NDArray[np.int64]
        The indices of the anchors of each set, in increasing order.
    weights : NDArray[np.float64]
        The probability of each set, all positive, with sum 1.
    loss : float
        The largest expected loss of any input.
    lower : float
        A proved lower bound on it over all ε-LDP releases with reports in the domain, up to rounding of floats.
    """

    sets: tuple[NDArray[np.int64], ...]
    weights: NDArray[np.float64]
    loss: float
    lower: float

    def __repr__(self) -> str:
        return f"<LotteryChoice: {len(self.sets)} sets of anchors, loss {self.loss:.6g}, lower bound {self.lower:.6g}>"


def solve_game(losses: Reals) -> tuple[Reals, Reals]:
    """(the minimax weights of the columns, the maximin weights of the rows)."""
    rows, columns = losses.shape
    least, largest = float(losses.min()), losses.max(axis=0)
    best = int(largest.argmin())
    if largest[best] == least:  # a column without any loss
        return np.eye(1, columns, best)[0], np.eye(1, rows)[0]
    # Losses are shifted and scaled, which does not change the best weights, so that the value lies between 1 and 2: the
    # solver's tolerance of 1e-10 is then one of the value, however large other losses are (up to its largest
    # coefficient); and no price vanishes, as all might at 0.
    scaled = 1 + (losses - least) / max(largest[best] - least, float(largest.max() - least) / _LARGEST_COEFFICIENT)
    # Unknowns in order: the weights, each times the largest loss of its column, since a small error of the weight of a
    # bad column is a large one; then the value.
    heights = scaled.max(axis=0)
    below = np.column_stack([scaled / heights, -np.ones(rows)])
    cost, total = np.eye(1, columns + 1, columns)[0], np.append(1 / heights, 0.0)
    solved = solve_program(cost, below, np.zeros(rows), total[None, :], np.ones(1), "Use bp.Anchored.")
    return _shares(solved.x[:-1] / heights), _shares(-solved.ineqlin.marginals)


def _shares(amounts: Reals) -> Reals:
    kept = np.maximum(amounts, 0.0)
    return np.asarray(kept / kept.sum())


class Oracle(Protocol):
    """Finds the best set of anchors for a prior, or a good one."""

    def __call__(self, prior: Reals, starts: list[Anchors], /) -> tuple[dict[Anchors, Reals], float]:
        """(sets, the best first, with the loss of every input; the mean loss of the best, or a proved bound of it).

        ``starts`` are known sets, the best for this prior first; the best result is at least as good.
        """


@dataclass(frozen=True, eq=False)
class Lottery:
    """Sets of anchors, their weights, and the largest expected loss of any input."""

    sets: list[Anchors]
    weights: Reals
    worst: float

    def certified(self, lower: float, base: float = 0.0) -> LotteryChoice:
        """The choice with this lower bound, its sets in canonical order; ``base`` is added to both losses."""
        order = sorted(range(len(self.sets)), key=lambda at: in_order(self.sets[at]))
        arrays = tuple(np.array(self.sets[at], dtype=np.int64) for at in order)
        return LotteryChoice(arrays, self.weights[order], base + self.worst, base + min(lower, self.worst))


def in_order(anchors: Anchors) -> tuple[int, Anchors]:
    """The key by which sets are sorted: small sets first."""
    return len(anchors), anchors


def drop_light_sets(sets: list[Anchors], losses: Reals, weights: Reals, excess: float) -> Lottery:
    """The lottery over the sets whose weight matters; ``losses`` has a row for each input and a column for each set."""
    chance = max(_LEAST_NEAR / min(1 + excess, 1e3 * max(excess, _LEAST_NEAR)), _LEAST_FAR)
    while True:
        kept = np.flatnonzero(weights)
        sets, losses, weights = [sets[at] for at in kept], losses[:, kept], weights[kept]
        least = np.minimum(_ALWAYS_KEPT, chance * (excess + np.array([len(each) for each in sets])))
        lightest = int((weights / least).argmin())
        if weights[lightest] > least[lightest]:
            return Lottery(sets, weights, float((losses @ weights).max()))
        # One at a time: the others are weighed again without it.
        sets, losses = sets[:lightest] + sets[lightest + 1 :], np.delete(losses, lightest, axis=1)
        weights, _ = solve_game(losses)


@dataclass(eq=False)
class _Found:
    losses: Reals
    last_used: int


def play(
    best_set: Oracle,
    prior: Reals,
    excess: float,
    rounds: int,
    tolerance: float,
    floor: float = 0.0,
    bound: float | None = None,
) -> tuple[Lottery, tuple[Reals, ...], float]:
    """Play until the worst case and the bound differ by less than ``tolerance`` times the loss above ``floor``.

    Parameters
    ----------
    prior
        To start with.
    bound
        A bound that no release can beat. None: the oracle's figure for a prior is a proved bound. Otherwise only its
        answer to the adversary's own prior, for which it searches longest, ends the game before that bound is reached.

    Returns
    -------
    (Lottery, priors, value)
        The lottery; hard priors, the hardest one first; and the loss of the best set under the hardest, by the oracle.
    """
    exact, hardest, adversary, mean = bound is None, prior, prior, prior
    value, worst = -np.inf, np.inf
    found: dict[Anchors, _Found] = {}
    losses: Reals = np.empty((len(prior), 0))
    weights: Reals = np.ones(0)
    waiting = [prior]  # the adversary's own prior last
    for turn in range(rounds):
        prior, *waiting = waiting
        known = sorted(found, key=lambda each: float(prior @ found[each].losses))
        # The answer to the adversary's own prior may end the game, so it gets more starting points.
        answers, cost = best_set(prior, known[: 1 if waiting else _STARTS])
        if cost > value:
            hardest, value = prior, cost
        close = worst - (value if exact else cost) <= tolerance * (worst - floor)
        if found and (close or next(iter(answers)) in found):
            if not waiting or (close and exact):
                break  # neither side can improve
            continue
        for anchors, paid in answers.items():
            if anchors not in found and float(prior @ paid) < worst:
                found[anchors] = _Found(paid, turn)
            value = value if exact else min(value, float(hardest @ paid))
        losses = np.column_stack([each.losses for each in found.values()])
        weights, adversary = solve_game(losses)
        worst = float((losses @ weights).max())
        if worst - (value if bound is None else bound) <= tolerance * (worst - floor):
            break
        # Later priors count more: the first are far from hard.
        mean = (mean * turn + 2 * adversary) / (turn + 2)
        between = (1 - _TOWARDS_HARDEST) * adversary + _TOWARDS_HARDEST * hardest
        waiting = [between, adversary] if exact else [between, mean, adversary]
        for each, weight in zip(found.values(), weights.tolist(), strict=True):
            each.last_used = turn if weight > 0 else each.last_used
        kept = [turn - each.last_used <= _ROUNDS_UNUSED for each in found.values()]
        losses, weights = losses[:, kept], weights[kept]
        found = {anchors: each for (anchors, each), keep in zip(found.items(), kept, strict=True) if keep}
    return drop_light_sets(list(found), losses, weights, excess), (hardest, adversary, mean), value


def minimax_lottery_on_line(size: int, e: float, loss: Loss) -> LotteryChoice:
    """The lottery over sets of anchors on N equidistant points whose worst input has the least expected loss.

    Parameters
    ----------
    size : int
        N, the number of points, one step apart.
    e : float
        e^ε, at least 1.
    loss : {"absolute", "squared"} or NDArray[np.float64]
        The loss at distance d: d, d², or a non-decreasing table for d = 0 … N−1.

    Returns
    -------
    LotteryChoice
        Sets and their weights; the largest expected loss of any input, in steps; and a lower bound over all ε-LDP
        releases that report points of the line. For distances and up to 129 points the two agreed to 1e-6 wherever
        that was measured; on longer lines, and where the loss is constant over a range of distances, the search stops
        earlier.

    Examples
    --------
    On three points with e^ε = 2 the best set has a worst-case loss of 3/4, the best lottery 5/7:

    >>> choice = minimax_lottery_on_line(3, 2.0, "absolute")
    >>> [each.tolist() for each in choice.sets], (7 * choice.weights).round(6).tolist(), round(7 * choice.loss, 6)
    ([[0, 2], [0, 1, 2]], [3.0, 4.0], 5.0)
    """
    excess, from_zero, base = check_line(size, e, loss)
    line = _Line(size, excess, from_zero)
    lottery, lower = _solve_short(line) if size <= _SHORT else _solve_long(line)
    by_set: dict[Anchors, float] = {}
    for anchors, weight in zip(lottery.sets, lottery.weights.tolist(), strict=True):
        for each in (anchors, line.mirror(anchors)):
            by_set[each] = by_set.get(each, 0.0) + weight / 2
    sets = sorted(by_set, key=in_order)
    weights = np.array([by_set[each] for each in sets])
    return Lottery(sets, weights / weights.sum(), lottery.worst).certified(lower, base)


class _Line:
    """A line on which every set stands for itself and its mirror image, so that half of the inputs suffice."""

    def __init__(self, size: int, excess: float, loss: Loss) -> None:
        self.size, self.excess, self.loss = size, excess, loss
        self.half = (size + 1) // 2

    def mirror(self, anchors: Anchors) -> Anchors:
        return tuple(self.size - 1 - each for each in reversed(anchors))

    def losses(self, anchors: Anchors, inputs: NDArray[np.int64]) -> Reals:
        """The expected losses of these inputs, averaged over the set and its mirror image."""
        pieces = np.array_split(inputs, 1 + inputs.size * len(anchors) // _LOSSES_AT_A_TIME)
        both = (np.array(anchors), np.array(self.mirror(anchors)))
        means = [np.concatenate([self._losses_of_one(piece, each) for piece in pieces]) for each in both]
        return np.asarray((means[0] + means[1]) / 2)

    def _losses_of_one(self, inputs: NDArray[np.int64], anchors: NDArray[np.int64]) -> Reals:
        """[(E−1)·min_a L(x, a) + Σ_a L(x, a)]/(E+K−1) for each input x."""
        apart = np.abs(inputs[:, None] - anchors)
        if isinstance(self.loss, str):
            losses = apart if self.loss == "absolute" else apart.astype(np.float64) ** 2
        else:
            losses = self.loss[apart]
        low, total, count = losses.min(axis=1), losses.sum(axis=1), len(anchors)
        if self.excess < 1:  # it may be 0
            return np.asarray((self.excess * low + total) / (self.excess + count))
        # Divided by E − 1, so that no e^ε overflows.
        return np.asarray((low + total / self.excess) / (1 + count / self.excess))

    def best_set(self, inputs: NDArray[np.int64], prior: Reals, start: Anchors | None = None) -> tuple[Anchors, float]:
        """(the best anchors for a prior on some inputs of the first half and their mirror images, a lower bound)."""
        weights = np.bincount(inputs, prior, self.size)
        costs = LineCosts((weights + weights[::-1]) / 2, self.loss)
        choice = best_anchors_of(costs, self.excess, None if start is None else np.array(start))
        anchors = tuple(choice.anchors.tolist())
        return min(anchors, self.mirror(anchors)), choice.lower

    def worst_inputs(self, sets: list[Anchors]) -> NDArray[np.int64]:
        """Inputs of the first half that include a worst one, whatever the weights of these sets.

        For the absolute and the squared loss, the expected loss is convex in the input between the midpoints of
        neighbouring anchors.
        """
        if not isinstance(self.loss, str):
            return np.arange(self.half)
        at = [np.array([0])]
        for anchors in sets:
            places = np.array(anchors)
            midpoints = (places[:-1] + places[1:]) // 2
            at += [midpoints, midpoints + 1]
        inputs = np.concatenate(at)
        return np.unique(np.minimum(inputs, self.size - 1 - inputs))


def _solve_short(line: _Line) -> tuple[Lottery, float]:
    inputs = np.arange(line.half)

    def best_set(prior: Reals, starts: list[Anchors]) -> tuple[dict[Anchors, Reals], float]:
        anchors, lower = line.best_set(inputs, prior, starts[0] if starts else None)
        return {anchors: line.losses(anchors, inputs)}, lower

    lottery, _, lower = play(
        best_set, np.full(line.half, 1 / line.half), line.excess, _ROUNDS_ON_A_LINE, _TOLERANCE_ON_A_LINE
    )
    return lottery, lower


def _solve_long(line: _Line) -> tuple[Lottery, float]:
    """Start from the lottery of a shorter line, and play where the worst input of the long one may be."""
    places = np.rint(np.linspace(0, line.size - 1, _SHORT)).astype(np.int64)
    loss: Loss = line.loss if isinstance(line.loss, str) else line.loss[places]
    coarse, _ = _solve_short(_Line(_SHORT, line.excess, loss))
    sets: list[Anchors] = [tuple(places[list(each)].tolist()) for each in coarse.sets]
    lower = -math.inf
    rounds = int(np.clip(_POINTS_TO_VISIT // line.size, *_ROUNDS_ON_A_LONG_LINE))
    for turn in range(rounds + 1):
        inputs = line.worst_inputs(sets)
        losses = np.column_stack([line.losses(each, inputs) for each in sets])
        weights, prior = solve_game(losses)
        worst = float((losses @ weights).max())
        if turn == rounds:
            break
        anchors, cost = line.best_set(inputs, prior)
        lower = max(lower, cost)
        if worst - lower <= _TOLERANCE_ON_A_LINE * worst or anchors in sets:
            break
        sets.append(anchors)
    most = max(1, MOST_ENTRIES // line.size // 2)  # each set and its mirror image
    if len(sets) > most:
        kept = np.sort(np.argsort(-weights, kind="stable")[:most])
        sets, losses = [sets[at] for at in kept], losses[:, kept]
        weights, _ = solve_game(losses)
    return drop_light_sets(sets, losses, weights, line.excess), lower


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
    # The certified bound of a small set, from the prior and the levels that solve the program.
    prior, bound = np.full(losses.size, 1 / losses.size), -np.inf
    if solved := _solve_program(losses, cost, None):
        prior, bound = solved.prior, bound_of(losses.with_prior(solved.prior), cost, solved.levels[solved.prior > 0])[0]
    if losses.size <= EXHAUSTIVE_TO:
        lottery, priors = _solve_all_sets(losses, cost)
    else:
        lottery, priors = _turn(losses, cost) if domain.wraps else _search(losses, cost, prior, bound)
    if solved:
        return lottery.certified(bound)
    likeliest = max(zip(lottery.weights.tolist(), lottery.sets, strict=True))[1]
    return lottery.certified(max(_bound(losses.with_prior(prior), cost, likeliest) for prior in priors))


def _solve_all_sets(losses: AnchorLosses, cost: float) -> tuple[Lottery, tuple[Reals, ...]]:
    """(the best lottery over all sets of items, the prior it is best against)."""
    sets = [each for count in range(1, losses.size + 1) for each in combinations(range(losses.size), count)]
    means = np.column_stack([_means(losses, cost, each) for each in sets])
    weights, prior = solve_game(means)
    return drop_light_sets(sets, means, weights, 1 / cost), (prior,)


def _turn(losses: AnchorLosses, cost: float) -> tuple[Lottery, tuple[Reals, ...]]:
    """Around a circle, where all values are alike: the best set for the uniform prior, turned to many places.

    In all places alike, every input has the mean loss of that set, and no lottery over sets has a smaller worst case.
    """
    size, sites = losses.size, _first_sites(losses)
    found = search(losses, cost, sites)
    counts = np.unique(np.linspace(1, min(size, 2 * len(found.anchors) + 2), _COUNTS).astype(np.int64))
    regular = [Assignment(losses, cost, (np.arange(each) * size // each).tolist()) for each in counts]
    regular = sorted(regular, key=lambda each: each.rank)[:_FINALISTS]
    anchors = min([found, *(_improve_around(each, sites) for each in regular)], key=lambda each: each.rank).anchors
    # All places, or some that are spread evenly at every scale: multiples of the golden section.
    places = np.arange(size) if size <= _PLACES else np.arange(_PLACES) * ((math.sqrt(5) - 1) / 2) % 1 * size
    sets = list(dict.fromkeys(tuple(sorted((int(at) + each) % size for each in anchors)) for at in places))
    means = np.column_stack([_means(losses, cost, each) for each in sets])
    return drop_light_sets(sets, means, solve_game(means)[0], 1 / cost), (np.full(size, 1 / size),)


def _search(losses: AnchorLosses, cost: float, prior: Reals, bound: float) -> tuple[Lottery, tuple[Reals, ...]]:
    """(a lottery over sets that local search finds for one prior after another, hard priors)."""
    sites = _first_sites(losses)
    kicks = int(min(_KICKS * losses.size, _PAIRS_TO_KICK / losses.size**2))

    def best_sets(prior: Reals, starts: list[Anchors]) -> tuple[dict[Anchors, Reals], float]:
        weighted = losses.with_prior(prior)
        known = Assignment(weighted, cost, starts[0]).value if starts else np.inf
        bar = known - _GAIN * max(abs(known), abs(known - losses.least))
        # Start from known sets; where that finds nothing better, search longer and longer.
        states = [_improve_around(Assignment(weighted, cost, each), sites) for each in starts]
        if not any(each.value < bar for each in states):
            states.append(_search_from_scratch(weighted, cost, sites))
        if not any(each.value < bar for each in states) and (solved := _solve_program(weighted, cost, prior)):
            reported = np.flatnonzero(solved.matrix.max(axis=0) > 0)  # on a tree the best anchors
            states.append(_improve_around(Assignment(weighted, cost, reported.tolist()), sites))
        if len(starts) > 1 and not any(each.value < bar for each in states):
            states += [kick(each, sites, kicks) for each in sorted(states, key=lambda each: each.rank)[:2]]
        states.sort(key=lambda each: each.rank)
        sets = dict.fromkeys(tuple(each.anchors) for each in states)
        return {anchors: _means(losses, cost, anchors) for anchors in sets}, states[0].value

    rounds = int(np.clip(_PAIRS_TO_VISIT / losses.size**2, *_ROUNDS))
    tolerance = next(gap for size, gap in _TOLERANCE if losses.size <= size)
    lottery, priors, _ = play(best_sets, prior, 1 / cost, rounds, tolerance, losses.least, bound)
    return lottery, priors


def _search_from_scratch(losses: AnchorLosses, cost: float, sites: Wholes) -> Assignment:
    """Anchors without a starting set: by the longest search on small sets, where it costs little and finds more."""
    if losses.size <= _SMALL:
        return local_search(losses, cost, sites)
    return shake(_improve_around(grow(losses, cost, sites)[0], sites), sites)


def _solve_program(losses: AnchorLosses, cost: float, prior: Reals | None) -> Release | None:
    """The optimal release of a small set for this prior, or for the worst one; None if there is none to be had."""
    e, everyone = 1 + 1 / cost, np.arange(losses.size)
    if losses.size > _SMALL or e > LARGEST_E:
        return None
    try:
        return solve_release(losses.table(everyone, everyone), e, prior)
    except DesignError:
        return None


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

"""The least worst case on a line: a lottery over sets of anchors, each of them best for the same worst prior.

One set serves the inputs half-way between its anchors badly; a lottery evens that out. On a line the best set for a
prior is found exactly, and no ε-LDP release that reports points of the line costs less. So the lottery is the best of
these, up to the tolerance of the search, and the bound says how close it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.anchor_choice import LotteryChoice
from bipartite.mechanisms.design.anchors_line import best_anchors_of, checked
from bipartite.mechanisms.design.game import solve_game
from bipartite.mechanisms.design.line_costs import LineCosts
from bipartite.mechanisms.design.lottery_search import LEAST_WEIGHT, play
from bipartite.mechanisms.design.minimax_line import WorstCase

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms.design.line_costs import Loss

    Reals = NDArray[np.float64]
    Sets = list[tuple[int, ...]]

# Both sides are brought together on a line of at most this many points; longer ones begin with what was found there.
_SHORT: Final = 129
_ROUNDS: Final = 600
_ENOUGH: Final = 1e-8
# Rounds on a longer line, by its length: the best set for a prior takes about a second on a million points.
_POINTS_TO_PLAY: Final = 4_000_000
_ROUNDS_ON_A_LONG_LINE: Final = (3, 40)
_ENOUGH_ON_A_LONG_LINE: Final = 1e-4
# A lottery holds a number for every input and set, and no more of them than this.
MOST_ENTRIES: Final = 2**27


def minimax_lottery_on_line(size: int, e: float, loss: Loss) -> LotteryChoice:
    """The lottery over sets of anchors on N equidistant points whose worst input has the least expected loss.

    Parameters
    ----------
    size : int
        N, the number of points, one step apart.
    e : float
        e^ε, at least 1.
    loss : {"absolute", "squared"} or NDArray[np.float64]
        The loss at distance d: d, d², or a table for d = 0 … N−1 that never falls.

    Returns
    -------
    LotteryChoice
        Sets and their weights; the largest expected loss of any input, in steps; and a lower bound over all ε-LDP
        releases that report points of the line. For distances and up to 129 points the two agreed to 1e-6 wherever
        that was measured; on longer lines, and where losses are level, as closely as was searched.

    Examples
    --------
    On three points with e^ε = 2 the best set leaves the worst input 3/4, the best lottery 5/7:

    >>> choice = minimax_lottery_on_line(3, 2.0, "absolute")
    >>> [each.tolist() for each in choice.sets], (7 * choice.weights).round(6).tolist(), round(7 * choice.loss, 6)
    ([[0, 2], [0, 1, 2]], [3.0, 4.0], 5.0)
    """
    excess, own = checked(size, e, loss)
    # Adding a constant to every loss adds it to the loss of every release.
    base = 0.0 if isinstance(own, str) else float(own[0])
    line = _Line(size, excess, own if isinstance(own, str) else own - base)
    sets, weights, worst, lower = _short(line, _ENOUGH) if size <= _SHORT else _long(line)
    by_set: dict[tuple[int, ...], float] = {}
    for anchors, weight in zip(sets, weights.tolist(), strict=True):
        for each in (anchors, line.mirrored(anchors)):
            by_set[each] = by_set.get(each, 0.0) + weight / 2
    found = sorted(by_set, key=lambda each: (len(each), each))
    shares = np.array([by_set[each] for each in found])
    arrays = tuple(np.array(each, dtype=np.int64) for each in found)
    return LotteryChoice(arrays, shares / shares.sum(), base + worst, base + min(lower, worst))


class _Line:
    """A line on which every set stands for itself and its mirror image, so that half of the inputs tell all."""

    def __init__(self, size: int, excess: float, loss: Loss) -> None:
        self.size, self.excess, self.loss = size, excess, loss
        self.half = (size + 1) // 2
        self._cases = WorstCase(size, excess, loss)

    def mirrored(self, anchors: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.size - 1 - each for each in reversed(anchors))

    def losses(self, anchors: tuple[int, ...], inputs: NDArray[np.int64]) -> Reals:
        """What inputs pay, on average over the set and its mirror image."""
        both = (np.array(each) for each in (anchors, self.mirrored(anchors)))
        pieces = np.array_split(inputs, 1 + inputs.size * len(anchors) // 2**22)
        means = [np.concatenate([self._cases.of_inputs(piece, each) for piece in pieces]) for each in both]
        return np.asarray((means[0] + means[1]) / 2)

    def best_set(
        self, inputs: NDArray[np.int64], prior: Reals, start: tuple[int, ...] | None = None
    ) -> tuple[tuple[int, ...], float]:
        """(the best anchors for a prior on some inputs of the first half and their mirror images, a lower bound)."""
        weights = np.bincount(inputs, prior, self.size)
        costs = LineCosts((weights + weights[::-1]) / 2, self.loss)
        choice = best_anchors_of(costs, self.excess, None if start is None else np.array(start))
        anchors = tuple(choice.anchors.tolist())
        return min(anchors, self.mirrored(anchors)), choice.lower

    def telling(self, sets: Sets) -> NDArray[np.int64]:
        """Inputs of the first half among which the worst one is, whatever the weights of these sets.

        For the absolute and the squared loss, what an input pays is convex between the middles of neighbouring anchors.
        """
        if not isinstance(self.loss, str):
            return np.arange(self.half)
        at = [np.array([0])]
        for anchors in sets:
            places = np.array(anchors)
            middles = (places[:-1] + places[1:]) // 2
            at += [middles, middles + 1]
        inputs = np.concatenate(at)
        return np.unique(np.minimum(inputs, self.size - 1 - inputs))


def _short(line: _Line, enough: float) -> tuple[Sets, Reals, float, float]:
    inputs = np.arange(line.half)

    def best_set(prior: Reals, starts: Sets) -> tuple[tuple[int, ...], Reals, float]:
        anchors, lower = line.best_set(inputs, prior, starts[0] if starts else None)
        return anchors, line.losses(anchors, inputs), lower

    played = play(best_set, line.half, _ROUNDS, enough, 0.0, exact=True)
    return played.sets, played.weights, played.worst, played.value


def _long(line: _Line) -> tuple[Sets, Reals, float, float]:
    """Begin with the lottery of a shorter line, and go on where the worst input of a long one may be."""
    places = np.rint(np.linspace(0, line.size - 1, _SHORT)).astype(np.int64)
    loss: Loss = line.loss if isinstance(line.loss, str) else line.loss[places]
    coarse = _short(_Line(_SHORT, line.excess, loss), _ENOUGH_ON_A_LONG_LINE)[0]
    sets: Sets = [tuple(places[list(each)].tolist()) for each in coarse]
    lower = -math.inf
    rounds = int(np.clip(_POINTS_TO_PLAY // line.size, *_ROUNDS_ON_A_LONG_LINE))
    for turn in range(rounds + 1):
        inputs = line.telling(sets)
        losses = np.column_stack([line.losses(each, inputs) for each in sets])
        weights, prior = solve_game(losses)
        worst = float((losses @ weights).max())
        if turn == rounds:
            break
        anchors, cost = line.best_set(inputs, prior)
        lower = max(lower, cost)
        if worst - lower <= _ENOUGH_ON_A_LONG_LINE * worst or anchors in sets:
            break
        sets.append(anchors)
    kept = np.flatnonzero(weights > LEAST_WEIGHT)
    most = max(1, MOST_ENTRIES // line.size // 2)  # each set and its mirror image
    if len(kept) > most:
        kept = np.sort(np.argsort(-weights, kind="stable")[:most])
        weights[kept] = solve_game(losses[:, kept])[0]
        kept = kept[weights[kept] > LEAST_WEIGHT]
    shares = weights[kept] / weights[kept].sum()
    return [sets[at] for at in kept], shares, float((losses[:, kept] @ shares).max()), lower

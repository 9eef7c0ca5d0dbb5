"""Anchors on a line for the worst case: no prior, and the largest loss of any input counts.

Here the best release of any form is in general *not* one set of anchors but a lottery over several, each of them best
for the same worst prior: one set serves the inputs half-way between its anchors badly, and only a lottery evens that
out. So the set found here comes with an honest bound, and a gap that may be real.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.anchor_choice import AnchorChoice
from bipartite.mechanisms.design.anchors_line import best_anchors_of, checked, from_zero
from bipartite.mechanisms.design.line_costs import LineCosts
from bipartite.mechanisms.design.smooth_worst import even_anchors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bipartite.mechanisms.design.line_costs import Loss

    _Places = NDArray[np.float64] | NDArray[np.int64]

# Priors are improved on a line of at most this many points, this many times: the bound is then within about 1 % of the
# optimum for ε up to 4 on lines of 31 and 60 points, where linear programming can tell.
_COARSE: Final = 129
_ROUNDS: Final = 200
_RATE: Final = 3.0
# On short lines the best so many sets are improved by small changes; on longer ones a step is too small to matter.
_SHORT: Final = 512
_VERY_SHORT: Final = 32
_IMPROVED: Final = 12
# The number of anchors grows by one, later by an eighth, until so many tries in a row brought nothing.
_TRIES: Final = 5


def minimax_anchors_on_line(size: int, e: float, loss: Loss) -> AnchorChoice:
    """Anchors on N equidistant points whose GRR has a small largest loss, with a certified bound.

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
    AnchorChoice
        The anchors; their largest expected loss over inputs, max_x [(E−1)·min_a L(x,a) + Σ_a L(x,a)]/(E+K−1); and a
        lower bound of the largest loss of *any* ε-LDP release.

    Notes
    -----
    Certain: ``loss`` is what these anchors cost in the worst case, and ``lower`` is below what any ε-LDP release costs
    in its worst case, because under any prior the best release costs at most that (a mean is at most a maximum), and on
    a line the best release for a prior is found exactly.

    Not certain: that no other anchors are better, and that a release reaches ``lower``. For the absolute and the
    squared loss and a given K, the largest loss is a convex function of the anchors, so the search (over K, then over
    the places, then by single steps) finds about the best *set*. But the best *release* is often a lottery over sets.
    On 60 points the set found is 0.6 / 6 / 15 / 24 / 28 % above the optimum of ``|x − y|`` at ε = 0.25 / 1 / 2 / 3 / 4,
    and 0 / 0 / 0.6 / 8 / 17 % above that of the squared loss, while ``lower`` is within 1 % of it each time. Where the
    gap between ``loss`` and ``lower`` matters, use ``minimax_lottery_on_line``, which finds the lottery.
    """
    excess, table = checked(size, e, loss)
    return from_zero(table, lambda loss: _choose(size, excess, loss))


def _choose(size: int, excess: float, loss: Loss) -> AnchorChoice:
    worst = WorstCase(size, excess, loss)
    lower, candidates = _bound(size, excess, loss)
    candidates.extend(_candidates(worst))
    candidates.sort(key=worst.of)
    if size <= _SHORT:
        candidates = sorted((_stepwise(each, worst) for each in candidates[:_IMPROVED]), key=worst.of)
    best = candidates[0]
    return AnchorChoice(best, worst.of(best), min(lower, worst.of(best)))


class WorstCase:
    """The largest loss of anchors over all inputs."""

    def __init__(self, size: int, excess: float, loss: Loss) -> None:
        self.size, self.excess, self.loss = size, excess, loss

    def at(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """The loss at these distances, between steps too."""
        if isinstance(self.loss, str):
            return distances if self.loss == "absolute" else distances**2
        return np.interp(distances, np.arange(self.size), self.loss)

    def of_inputs(self, inputs: _Places, anchors: _Places) -> NDArray[np.float64]:
        """Q^(x) for inputs along the last axis of ``inputs`` and anchors along the last axis of ``anchors``."""
        losses = self.at(np.abs(inputs[..., :, None] - anchors[..., None, :]))
        count = anchors.shape[-1]
        if self.excess < 1:  # it may be 0
            mixed = self.excess * losses.min(axis=-1) + losses.sum(axis=-1)
            return np.asarray(mixed / (self.excess + count))
        # Divided by E − 1, so that no e^ε overflows.
        mixed = losses.min(axis=-1) + losses.sum(axis=-1) / self.excess
        return np.asarray(mixed / (1 + count / self.excess))

    def of(self, anchors: NDArray[np.int64]) -> float:
        """max_x Q^(x), exactly: at every input, or for convex losses where a piece of Q^(x) ends."""
        if isinstance(self.loss, str):
            middles = (anchors[:-1] + anchors[1:]) // 2
            inputs = np.concatenate([[0, self.size - 1], anchors, middles, middles + 1])
        else:
            inputs = np.arange(self.size)
        pieces = np.array_split(inputs, 1 + inputs.size * anchors.size // 2**22)
        return max(float(self.of_inputs(piece, anchors).max()) for piece in pieces)


def _bound(size: int, excess: float, loss: Loss) -> tuple[float, list[NDArray[np.int64]]]:
    """(a lower bound of the largest loss of any release, the anchors met on the way).

    Multiplicative weights: inputs that the best anchors for a prior serve badly get more weight in the next prior.
    """
    count = min(size, _COARSE)
    places = np.rint(np.linspace(0, size - 1, count)).astype(np.int64)
    coarse: Loss = loss if isinstance(loss, str) else loss[places]
    worst = WorstCase(count, excess, coarse)
    inputs = np.arange(count, dtype=np.float64)
    logs, best, best_prior = np.zeros(count), -1.0, np.full(count, 1 / count)
    found: dict[bytes, NDArray[np.int64]] = {}
    anchors: NDArray[np.int64] | None = None
    for turn in range(1, _ROUNDS + 1):
        prior = np.exp(logs - logs.max())
        prior /= prior.sum()
        choice = best_anchors_of(LineCosts(prior, coarse), excess, anchors)
        anchors = choice.anchors
        if choice.lower > best:
            best, best_prior = choice.lower, prior
        found[anchors.tobytes()] = anchors
        by_input = worst.of_inputs(inputs, anchors)
        by_input = (by_input + by_input[::-1]) / 2  # the worst prior is symmetric, as the line is
        logs += _RATE / math.sqrt(turn) * by_input / (by_input.max() or 1.0)
    return _certified(size, excess, loss, places, best_prior), [places[each] for each in found.values()]


def _certified(size: int, excess: float, loss: Loss, places: NDArray[np.int64], prior: NDArray[np.float64]) -> float:
    """The better bound of two priors on the whole line: atoms at the points of the coarse line, or mass in between."""
    atoms = np.zeros(size)
    atoms[places] = prior
    if size == len(places):
        return best_anchors_of(LineCosts(atoms, loss), excess).lower
    spread = np.interp(np.arange(size), places, prior)
    spread[[0, -1]] += 0.5 * spread.sum() / prior.sum() * prior[[0, -1]]
    return max(best_anchors_of(LineCosts(weights / weights.sum(), loss), excess).lower for weights in (atoms, spread))


def _candidates(worst: WorstCase) -> Iterator[NDArray[np.int64]]:
    """Sets of more and more anchors, placed as well as can be for their number, until more do not help."""
    count, best, misses = 1, math.inf, 0
    while count <= worst.size and misses < _TRIES:
        anchors = np.unique(np.rint(even_anchors(worst, count)).astype(np.int64))
        yield anchors
        now = worst.of(anchors)
        misses = 0 if now < best else misses + 1
        best = min(best, now)
        count += max(1, count // 8)
    if worst.size <= _COARSE:
        yield np.arange(worst.size)


def _stepwise(anchors: NDArray[np.int64], worst: WorstCase) -> NDArray[np.int64]:
    """Make the best small change while there is one that helps."""
    best = worst.of(anchors)
    while changes := list(_changes(anchors, worst.size)):
        value, which = min((worst.of(changed), k) for k, changed in enumerate(changes))
        if not value < best:
            break
        anchors, best = changes[which], value
    return anchors


def _changes(anchors: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    """One anchor, or two that mirror each other, a step aside; on very short lines one added, dropped or anywhere."""
    count = len(anchors)
    mirror = np.arange(count)[::-1]
    for i in range(count):
        for step in (-1, 1):
            for partners in ({i}, {i, int(mirror[i])}):
                moved = anchors.copy()
                for j in partners:
                    moved[j] += step if j == i else -step
                if moved[0] >= 0 and moved[-1] < size and (np.diff(moved) > 0).all():
                    yield moved
    if size <= _VERY_SHORT:
        free = np.setdiff1d(np.arange(size), anchors)
        without = [np.delete(anchors, i) for i in range(count)]
        yield from without if count > 1 else ()
        yield from (np.sort(np.append(kept, place)) for kept in (anchors, *without) for place in free)

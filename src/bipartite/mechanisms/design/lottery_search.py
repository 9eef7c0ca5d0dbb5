"""The lottery over sets of anchors with the least worst-case loss, by playing an adversary's prior against it.

The least worst-case loss of all ε-LDP releases equals the largest, over priors, of the loss of the best release for
that prior (von Neumann: releases form a convex set, and the loss is linear in both). Each round solves the game between
the sets found so far and an adversary who chooses a prior (`solve_game`), then looks for the best set for that prior.
This set either joins the others or shows that the lottery cannot be improved. For any prior, the loss of the best
release is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from bipartite.mechanisms.design.anchor_choice import LotteryChoice
from bipartite.mechanisms.design.game import solve_game

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

Anchors = tuple[int, ...]

# The next prior lies half-way between the adversary's and the hardest so far; the adversary's own prior oscillates.
_TOWARDS_HARDEST: Final = 0.5
# Sets without weight for this many rounds are dropped; they return when they are best again.
_ROUNDS_UNUSED: Final = 25
_STARTS: Final = 24
# Sets with a smaller weight are dropped: they hardly matter, and would hold too few tickets to keep ε.
_LEAST_WEIGHT: Final = 1e-6


class Oracle(Protocol):
    """Finds the best set of anchors for a prior, or a good one."""

    def __call__(self, prior: Reals, starts: list[Anchors], /) -> tuple[Anchors, Reals, float]:
        """(the anchors, the loss of every input under them, their mean loss or a proved lower bound of the least).

        ``starts`` are known sets, the best for this prior first; the result is at least as good.
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


def drop_light_sets(sets: list[Anchors], losses: Reals, weights: Reals) -> Lottery:
    """The lottery over the sets whose weight matters; ``losses`` has a row for each input and a column for each set."""
    kept = np.flatnonzero(weights > _LEAST_WEIGHT)
    shares = weights[kept] / weights[kept].sum()
    return Lottery([sets[at] for at in kept], shares, float((losses[:, kept] @ shares).max()))


@dataclass(eq=False)
class _Found:
    losses: Reals
    last_used: int


def play(
    best_set: Oracle, inputs: int, rounds: int, tolerance: float, floor: float, *, exact: bool
) -> tuple[Lottery, tuple[Reals, ...], float]:
    """Play until the worst case and the bound differ by less than ``tolerance`` times the loss above ``floor``.

    Parameters
    ----------
    exact
        Whether the oracle's figure for a prior is a proved bound. If not, only its answer to the adversary's own prior,
        for which it searches longest, ends the game.

    Returns
    -------
    (Lottery, priors, value)
        The lottery; hard priors, the hardest one first; and the loss of the best set under the hardest, by the oracle.
    """
    prior = np.full(inputs, 1 / inputs)
    adversary = hardest = mean = prior
    value, worst = -np.inf, np.inf
    found: dict[Anchors, _Found] = {}
    losses: Reals = np.empty((inputs, 0))
    weights: Reals = np.ones(0)
    is_adversary = True  # whether the prior is the adversary's own, not the mixture with the hardest
    for turn in range(rounds):
        known = sorted(found, key=lambda each: float(prior @ found[each].losses))
        # The answer to the adversary's own prior may end the game, so it gets more starting points.
        anchors, paid, cost = best_set(prior, known[: _STARTS if is_adversary else 1])
        if cost > value:
            hardest, value = prior, cost
        close = worst - (value if exact else cost) <= tolerance * (worst - floor)
        if found and (close or anchors in found):
            if is_adversary or (close and exact):
                break  # neither side can improve
            prior, is_adversary = adversary, True
            continue
        found[anchors] = _Found(paid, turn)
        value = value if exact else min(value, float(hardest @ paid))
        losses = np.column_stack([each.losses for each in found.values()])
        weights, adversary = solve_game(losses)
        worst = float((losses @ weights).max())
        # Later priors count more: the first are far from hard.
        mean = (mean * turn + 2 * adversary) / (turn + 2)
        prior, is_adversary = (1 - _TOWARDS_HARDEST) * adversary + _TOWARDS_HARDEST * hardest, False
        for each, weight in zip(found.values(), weights.tolist(), strict=True):
            each.last_used = turn if weight > 0 else each.last_used
        kept = [turn - each.last_used <= _ROUNDS_UNUSED for each in found.values()]
        losses, weights = losses[:, kept], weights[kept]
        found = {anchors: each for (anchors, each), keep in zip(found.items(), kept, strict=True) if keep}
    return drop_light_sets(list(found), losses, weights), (hardest, adversary, mean), value

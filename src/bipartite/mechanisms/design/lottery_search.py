"""The lottery over sets of anchors whose worst input pays least: an adversary's prior against the best set for it.

The least worst case of all ε-LDP releases is the largest, over priors, of what the best release for that prior costs
(von Neumann: releases form a convex set, and the loss is linear in both). So two sides are brought together: a lottery
over the sets found so far, whose dual is a prior (`solve_game`), and the best set for that prior, which either joins
the sets, or proves that there is nothing better. Under any prior at all, what the best release costs is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from bipartite.mechanisms.design.game import solve_game

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

# The prior of the next round lies half-way to the best one so far: the adversary's own jumps from corner to corner.
_BACK: Final = 0.5
# Sets that had no weight for so many rounds are forgotten; they come back when they are best again.
_FORGOTTEN: Final = 25
_STARTS: Final = 24
LEAST_WEIGHT: Final = 1e-6
"""Sets of less weight are left out: they hardly matter, and would have too few tickets to keep ε."""


class Oracle(Protocol):
    """The best set of anchors for a prior, or a good one."""

    def __call__(self, prior: Reals, starts: list[tuple[int, ...]], /) -> tuple[tuple[int, ...], Reals, float]:
        """(the anchors, the loss of every input under them, their mean loss or what is proved of it).

        ``starts`` are known sets, the best for this prior first; what is given back is at least as good.
        """


@dataclass(eq=False)
class _Found:
    anchors: tuple[int, ...]
    losses: Reals
    used: int


@dataclass(frozen=True, eq=False)
class Played:
    """Where the two sides met."""

    sets: list[tuple[int, ...]]
    weights: Reals
    worst: float
    """What the worst input pays under the lottery over these sets."""
    priors: tuple[Reals, ...]
    """Hard priors: the hardest on the way as the oracle says, and the adversary's last."""
    value: float
    """What the best set costs under the hardest, as the oracle says."""


def play(best_set: Oracle, inputs: int, rounds: int, enough: float, floor: float, *, exact: bool) -> Played:
    """Rounds of lottery and prior, until they are closer than this part of the loss above ``floor``.

    ``exact`` says that what the oracle says of a prior is proved; else only its answer to the adversary's own prior,
    for which it searches longest, is believed to be the last.
    """
    prior = np.full(inputs, 1 / inputs)
    against = hardest = mean = prior
    value, worst = -np.inf, np.inf
    found: dict[tuple[int, ...], _Found] = {}
    weights: Reals = np.ones(0)
    own = True  # whether the prior is the adversary's own, not half-way to another
    for turn in range(rounds):
        known = sorted(found.values(), key=lambda each: float(prior @ each.losses))
        # Where the adversary's own prior is asked about, the answer may be the last: more places to start from.
        anchors, losses, cost = best_set(prior, [each.anchors for each in known[: _STARTS if own else 1]])
        if cost > value:
            hardest, value = prior, cost
        close = worst - (value if exact else cost) <= enough * (worst - floor)
        if found and (close or anchors in found):
            if own or (close and exact):
                break  # there is no better answer: neither side can do better
            prior, own = against, True
            continue
        found[anchors] = _Found(anchors, losses, turn)
        value = value if exact else min(value, float(hardest @ losses))
        weights, against = solve_game(np.column_stack([each.losses for each in found.values()]))
        worst = _worst(found, weights)
        for each, weight in zip(found.values(), weights.tolist(), strict=True):
            each.used = turn if weight > 0 else each.used
        # Later ones count more: the first are far from hard.
        mean = (mean * turn + 2 * against) / (turn + 2)
        prior, own = (1 - _BACK) * against + _BACK * hardest, False
        kept = [turn - each.used <= _FORGOTTEN for each in found.values()]
        weights = weights[kept]
        found = {each.anchors: each for each, keep in zip(found.values(), kept, strict=True) if keep}
    return _lottery(found, weights, (hardest, against, mean), value)


def _worst(found: dict[tuple[int, ...], _Found], weights: Reals) -> float:
    return float((np.column_stack([each.losses for each in found.values()]) @ weights).max())


def _lottery(found: dict[tuple[int, ...], _Found], weights: Reals, priors: tuple[Reals, ...], value: float) -> Played:
    """The sets that have weight."""
    held = weights > LEAST_WEIGHT
    sets = {each.anchors: each for each, holds in zip(found.values(), held, strict=True) if holds}
    shares = weights[held] / weights[held].sum()
    return Played(list(sets), shares, _worst(sets, shares), priors, value)

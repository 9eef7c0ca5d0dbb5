"""The best bins on a line for the squared loss: GRR on bins, each reported as its posterior mean.

For bins B_1 … B_K, weights π, E = e^ε and c = 1/(E − 1), the best report of a bin is the posterior mean
a_k = [(E−1)·Σ_{B_k} π_x x + Σ_x π_x x] / [(E−1)·π(B_k) + 1]. Measured from the prior mean, so that Σ_x π_x x = 0, this
is a_k = s_k/(π(B_k) + c) with s_k = Σ_{B_k} π_x x, and the expected loss becomes

    F = V − R,   V = Σ_x π_x x²,   R = Σ_k [s_k²/(π(B_k) + c)] / (1 + c·K):

V is the loss of always reporting the mean, R the reduction by the bins. For a trial value ρ of R the best bins maximise
Σ_k [s_k²/(π(B_k) + c) − c·ρ] − ρ, a longest path; ρ ← R(bins) increases to the largest R in a few steps (Dinkelbach).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.line_costs import chain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

# Reports are rounded to this many decimals of a step, so that they are the same on every machine.
DECIMALS: Final = 9
_GAIN: Final = 1e-14


@dataclass(frozen=True, eq=False)
class BinChoice:
    """Bins, their reports, and their certificate: no ε-LDP release has a loss below ``lower``, whatever it reports."""

    starts: NDArray[np.int64]
    """The first point of each bin, ascending from 0."""
    means: Reals
    """The report of each bin, in steps from point 0, rounded to 9 decimals."""
    loss: float
    lower: float


def best_bins(weights: Reals, cost: float) -> BinChoice:
    """The bins on equidistant points whose posterior means have the least expected squared loss, in steps².

    Parameters
    ----------
    weights
        The prior, which sums to 1.
    cost
        c = 1/(e^ε − 1).
    """
    points = np.arange(len(weights), dtype=np.float64)
    # Sums that are rounded the same way on every machine, so that all choose the same of two equally good sets.
    centre = math.fsum(weights * points)
    away = points - centre
    spread = math.fsum(weights * away**2)
    mass, moment = (np.concatenate([[0.0], np.cumsum(each)]) for each in (weights, weights * away))
    starts, saved = np.zeros(1, dtype=np.int64), 0.0
    while True:
        found = _longest(mass, moment, cost, saved)
        now = _saved(mass, moment, cost, found)
        if not now > saved + _GAIN * spread:
            break
        starts, saved = found, now
    means = np.round(centre + _means(mass, moment, cost, starts), DECIMALS)
    # Bins with the same rounded report are merged.
    distinct = np.append(True, np.diff(means) > 0)
    starts, means = starts[distinct], means[distinct]
    loss = _loss(weights, points, cost, starts, means)
    # Sums of N terms, and R against V, are off by about N roundings of V each; ρ by less than the required gain.
    allowed = (8 * len(weights) * 2.0**-52 + _GAIN * (1 + cost * len(weights))) * spread
    return BinChoice(starts, means, loss, max(0.0, min(loss, spread - saved - allowed)))


def _gain(mass: Reals, moment: Reals, cost: float) -> Reals:
    """The reduction of the loss by bins of this mass and first moment."""
    return np.asarray(moment**2 / (mass + cost))


def _longest(mass: Reals, moment: Reals, cost: float, saved: float) -> NDArray[np.int64]:
    """The bins with the largest Σ_k [gain − c·ρ]; each begins where the previous one ends."""
    size = len(mass) - 1
    best, before = np.zeros(size + 1), np.full(size + 1, -1, dtype=np.int64)
    for stop in range(1, size + 1):
        gains = best[:stop] + _gain(mass[stop] - mass[:stop], moment[stop] - moment[:stop], cost)
        at = int(np.argmax(gains))
        best[stop], before[stop] = gains[at] - cost * saved, at
    return chain(before, int(before[size]))


def _saved(mass: Reals, moment: Reals, cost: float, starts: NDArray[np.int64]) -> float:
    """R of these bins."""
    return math.fsum(_gain(*_sums(mass, moment, starts), cost)) / (1 + cost * len(starts))


def _means(mass: Reals, moment: Reals, cost: float, starts: NDArray[np.int64]) -> Reals:
    held, first = _sums(mass, moment, starts)
    return np.asarray(first / (held + cost))


def _sums(mass: Reals, moment: Reals, starts: NDArray[np.int64]) -> tuple[Reals, Reals]:
    ends = np.append(starts, len(mass) - 1)
    return np.diff(mass[ends]), np.diff(moment[ends])


def _loss(weights: Reals, points: Reals, cost: float, starts: NDArray[np.int64], means: Reals) -> float:
    """The expected squared loss of these bins with these reports."""
    own = np.searchsorted(starts, points, side="right") - 1
    others = np.array([weights @ (points - each) ** 2 for each in means]).sum()
    return float((weights @ (points - means[own]) ** 2 + cost * others) / (1 + cost * len(means)))

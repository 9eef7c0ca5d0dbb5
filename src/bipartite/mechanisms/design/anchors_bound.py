"""A lower bound on the loss of every ε-LDP release, without solving a linear program.

**The program.** Let P_xy be the probability of reporting y when x is true, and z_y = min_x P_xy. ε-LDP means
P_xy ≤ E·z_y, so P_xy = z_y + (E−1)·g_xy with 0 ≤ g_xy ≤ z_y, and every ε-LDP release is a feasible point of

    minimise  Σ_y λ_y z_y + (E−1) Σ_xy π_x L_xy g_xy    subject to   Σ_y z_y + (E−1) Σ_y g_xy = 1 for every x.

**Its dual.** Row x has the dual price π_x w_x, and g_xy ≤ z_y the price (E−1)·t_xy ≥ 0. The column g_xy requires
t_xy ≥ π_x (w_x − L_xy), the column z_y requires Σ_x π_x w_x + (E−1) Σ_x t_xy ≤ λ_y. So with c = 1/(E−1),

    gain_y(w) = Σ_x π_x (w_x − L_xy)⁺,    T_y(w) = λ_y − gain_y(w)/c,    W(w) = Σ_x π_x w_x,

any w with W ≤ T_y for all y proves that no release has a loss below W. Any other w can be repaired in two ways.
Lowering all w by W − min T lowers W by that and no T: no loss is below min(W, min_y T_y). Or lower w only where a gain
is too large, which lowers W by no more than the excess: no loss is below θ if W − Σ_y (gain_y − c(λ_y − θ))⁺ ≥ θ.
(Then θ ≤ λ_y for all y, since gain_y ≥ W − λ_y, so that a gain can be lowered to c(λ_y − θ).) The largest such θ is

    bound(w) = min over k ≥ 0 of (W + c·(sum of the k smallest T_y)) / (1 + c·k).

It is never below the first bound, since at θ = min(W, min T) no gain is too large. This holds for every w.

**Finding w.** W − Σ_y (gain_y − c(λ_y − θ))⁺ is concave in w. With θ the loss of the anchors found, it is maximised by
subgradient steps of Polyak's length, since its optimum is nearly θ; where it is not, θ is lowered. At an integral
optimum w_x lies between the losses to the nearest and second nearest anchor, and each anchor is just paid for,
gain_a = c(λ_a − θ), which gives the starting point. Few gains ever become too large, so steps consider only some
columns, and passes over all columns choose which.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.anchor_losses import EnoughError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.mechanisms.design.anchor_losses import AnchorLosses, Cells, Reals, Wholes
    from bipartite.mechanisms.design.anchors_sets import Assignment

# Steps between two passes over all columns, and the number of columns they consider.
_STEPS: Final = 60
_COLUMNS: Final = 400
# After this many steps without progress the step length is multiplied by this.
_VAIN: Final = 10
_SHORTEN: Final = 0.7
# All those columns are considered every this many steps, and in between only those with less than this share of slack.
_LOOK_AGAIN: Final = 6
_FAR: Final = 0.3
# A pass that closes less than this share of the gap is in vain; the search ends with this share of passes in vain.
_WORTH: Final = 0.1
_VAIN_PASSES: Final = 0.4
_HALVINGS: Final = 60
# Rounding of a term in addition to that of the sum, in units of 2^−52.
_ROUNDINGS: Final = 16


@dataclass(frozen=True, slots=True)
class Priced:
    """All columns at given levels w."""

    levels: Reals
    lower: float
    """The certified bound."""
    excess: Reals
    """gain_y − c(λ_y − θ): by how much the gain of each column is too large at the current θ."""


def bound_of(losses: AnchorLosses, cost: float, levels: Reals) -> tuple[float, Reals, Reals]:
    """(bound(w), λ, gains) for any levels w, certified: all rounding and errors of losses are on the safe side."""
    # A loss below w_x is at most max(|least|, |w_x|) in size, which bounds its error; so with slightly larger w the
    # computed gain is no less than the true one.
    raised = levels + losses.error * np.maximum(abs(losses.least), np.abs(levels)) * 2
    found = losses.sweep(np.arange(losses.size), raised)
    rounding = (len(levels) + _ROUNDINGS) * 2.0**-52
    size = found.totals + 2 * abs(losses.least)
    totals = found.totals - (rounding + losses.error) * size
    with np.errstate(over="ignore"):
        thresholds = np.sort(totals - found.gains * (1 + rounding) / cost)
    mean = float(losses.prior @ levels) - rounding * float(losses.prior @ np.abs(levels))
    return _largest(mean, thresholds, cost), found.totals, found.gains


def _largest(mean: float, thresholds: Reals, cost: float) -> float:
    """The minimum over k of (W + c·(sum of the k smallest thresholds))/(1 + c·k), rounded down."""
    counts = np.arange(1, len(thresholds) + 1)
    with np.errstate(over="ignore"):
        sums = np.cumsum(thresholds)
        values = (mean + cost * sums) / (1 + cost * counts)
        at = int(values.argmin())
        size = (abs(mean) + cost * float(np.abs(thresholds[: at + 1]).sum())) / (1 + cost * (at + 1))
    lost = (at + _ROUNDINGS) * 2.0**-52 * max(size, abs(mean))
    return min(mean, float(values[at])) - lost


def paid_levels(state: Assignment, theta: float) -> Reals:
    """Levels that pay for each anchor: one common level for its items, clipped to their two smallest losses."""
    group = state.positions()
    prior, count = state.losses.prior, len(state.totals)
    needed = np.maximum(state.cost * (np.array([state.totals[y] for y in state.anchors]) - theta), 0.0)
    mass = np.maximum(np.bincount(group, prior, minlength=count), np.finfo(float).tiny)
    below = np.full(count, float(state.low.min()))
    above = state.low.max() + needed / mass
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        levels = np.clip(middle[group], state.low, state.high)
        enough = np.bincount(group, prior * (levels - state.low), minlength=count) >= needed
        above, below = np.where(enough, middle, above), np.where(enough, below, middle)
    clipped: Reals = np.clip(below[group], state.low, state.high)
    return clipped


def certify(
    state: Assignment, cells: Cells, passes: int, enough: float, progress: Callable[[float], None] | None = None
) -> tuple[float, Reals]:
    """A certified lower bound for every ε-LDP release, and the levels that prove it.

    Parameters
    ----------
    cells
        Of the columns in one cell, only the one with the largest excess is considered.
    passes
        The largest number of passes over all pairs.
    enough
        The share of the loss at which the gap is small enough.
    progress
        Called with the share that is done. If it raises EnoughError after the first pass, the best bound so far is
        returned.
    """
    value = state.value
    close = enough * (value - state.losses.floor)
    columns = np.unique(np.concatenate([state.anchors, cells.sites]))
    best = priced = _price(state, value, _ascend(state, value, columns, paid_levels(state, value), close))
    # If the anchors are not the best release, the bound cannot reach their loss: aim lower.
    aim, vain = value, 0
    with contextlib.suppress(EnoughError):
        for done in range(1, passes):
            if progress is not None:
                progress(done / passes)
            gap = aim - best.lower
            if value - best.lower <= close or vain > max(1, passes * _VAIN_PASSES):
                break
            columns = _choose_columns(state, priced, cells, columns)
            priced = _price(state, aim, _ascend(state, aim, columns, best.levels, close))
            best = max(best, priced, key=lambda each: each.lower)
            if aim - best.lower > (1 - _WORTH) * gap:
                aim, vain = (aim + best.lower) / 2, vain + 1
            elif aim < value and aim - best.lower <= close:
                aim = (value + aim) / 2
    return min(best.lower, value), best.levels


def _price(state: Assignment, theta: float, levels: Reals) -> Priced:
    lower, totals, gains = bound_of(state.losses, state.cost, levels)
    return Priced(levels, lower, gains - state.cost * (totals - theta))


def _choose_columns(state: Assignment, priced: Priced, cells: Cells, before: Wholes) -> Wholes:
    """The columns to consider: the anchors, the worst column of each of the worst cells, and the worst so far."""
    order = np.lexsort((-priced.excess, cells.of))
    first = order[np.flatnonzero(np.diff(cells.of[order], prepend=-1))]
    worst = first[np.argsort(-priced.excess[first], kind="stable")[:_COLUMNS]]
    kept = before[np.argsort(-priced.excess[before], kind="stable")[:_COLUMNS]]
    return np.unique(np.concatenate([state.anchors, worst, kept]))


def _ascend(state: Assignment, theta: float, columns: Wholes, levels: Reals, enough: float) -> Reals:
    """The best levels found by Polyak steps on some columns."""
    losses = state.losses
    best, best_levels, length, vain = -np.inf, levels, 1.0, 0
    excess, bars = np.zeros(len(columns)), np.zeros(len(columns))
    for step in range(_STEPS):
        # Columns with much slack are considered only occasionally.
        live = np.arange(len(columns)) if step % _LOOK_AGAIN == 0 else np.flatnonzero(excess > -_FAR * bars)
        found = losses.sweep(columns[live], levels)
        bars[live] = state.cost * np.maximum(found.totals - theta, 0.0)
        excess[live] = found.gains - state.cost * (found.totals - theta)
        over = live[excess[live] > 0]
        value = float(losses.prior @ levels) - float(excess[over].sum())
        vain += 1
        if value > best:
            best, best_levels, vain = value, levels, 0
        elif vain >= _VAIN:
            length, vain = length * _SHORTEN, 0
        if theta - value <= enough / 2:
            break
        direction = 1.0 - losses.weight_below(columns[over], np.ones(len(over)), levels)
        square = float(losses.prior @ direction**2)
        if square == 0:
            break
        levels = levels + length * (theta - value) / square * direction
    return best_levels

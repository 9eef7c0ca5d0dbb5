"""The expected inference error: how far the best guess from a report stays from the truth, on average.

On lines with the distance as loss the best guess is a median of the posterior: with a window (BRR, GRR, Square Wave)
it follows from running sums over the prior, elsewhere it is found in two passes over the rows. Any other case tries
every answer for every report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

import numpy as np

from bipartite.answers.quality.losses import blocks, check_values
from bipartite.design import check_prior
from bipartite.domains.losses import Loss, LossRows
from bipartite.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.quality.losses import Prior
    from bipartite.lottery import Window
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]
    Wholes = NDArray[np.int64]

# A table of 512 MB, and the losses between all pairs of values: some minutes on one core.
_MOST_PAIRS: Final = 2**26
_MOST_VALUES: Final = 2**16
# Reports of a window are looked at this many at a time.
_REPORTS_A_BLOCK: Final = 2**18


def inference_error(mechanism: Mechanism, prior: Prior = None, *, loss: Loss = None) -> float:
    r"""How far the best guess of the value from its report is off, for values distributed as ``prior`` (None: uniform).

    Σ_y min_x̂ Σ_x π_x·Pr[y|x]·L(x, x̂): somebody who knows the prior and the mechanism sees the report y and answers the
    value x̂ of the domain with the least expected loss. On a line this is a median of the posterior.

    Parameters
    ----------
    mechanism
        Any mechanism whose reports can be listed; they need not be values.
    prior
        The probability of each value: what is known before the report.
    loss
        None is the domain's own loss, in its units; ``"squared"``, ``"zero-one"``, a function of it, or a matrix with a
        row for each value and a column for each answer, both values of the domain.

    Guarantee
    ---------
    None: this is a measurement for one prior and one loss, not a promise. What ε-LDP does promise, for losses of at
    least 0 and every prior: at least e\ :sup:`−ε` times the loss of the best guess without a report.

    Notes
    -----
    It is also the least expected loss that a well-meaning recipient gets out of the report by any post-processing, so
    never more than ``bp.loss(mechanism, prior).mean``: under one loss and one prior reports cannot be useful and tell
    little. A release that is optimal for the prior, as :class:`~bipartite.Anchored` on a line, has both equal.

    On a line with the distance as loss, for any N: O(N log N) with a window, and constant memory for the uniform prior;
    two passes over the rows otherwise. Elsewhere every answer is tried for every report, for at most 65,536 values and
    2\ :sup:`26` pairs of a report and an answer.

    Reference
    ---------
    Shokri, Theodorakopoulos, Le Boudec and Hubaux: *Quantifying Location Privacy* (IEEE S&P 2011).

    Examples
    --------
    >>> from bipartite import BRR, Constant, Integers
    >>> from bipartite import loss
    >>> ages = Integers(18, 90)
    >>> mech = BRR(ages, epsilon=1)
    >>> round(loss(mech).mean, 2), round(inference_error(mech), 2), round(loss(Constant(ages)).mean, 2)
    (17.82, 16.07, 18.25)
    """
    check_values(mechanism)
    domain = mechanism.domain
    weights = None if prior is None else check_prior(prior, len(domain))
    if loss is None and domain.has_ends:
        line = mechanism.lottery.line
        steps = _by_medians(mechanism, weights) if line is None else _of_windows(line, weights)
        return steps * domain.step
    return _by_trying(mechanism, weights, loss)


class _Running(Protocol):
    """Sums over the values with an index below i, of which each has its prior probability."""

    def mass(self, i: Wholes) -> Array:
        """Σ π_x."""

    def moment(self, i: Wholes) -> Array:
        """Σ x·π_x."""

    def reaching(self, mass: Array) -> Wholes:
        """The smallest index up to which, inclusive, the probability is at least ``mass``."""


class _Uniform:
    def __init__(self, size: int) -> None:
        self._size = size

    def mass(self, i: Wholes) -> Array:
        return i / self._size

    def moment(self, i: Wholes) -> Array:
        # In doubles first: N² may exceed 64 bits.
        below = i.astype(np.float64)
        return below * (below - 1) / (2 * self._size)

    def reaching(self, mass: Array) -> Wholes:
        return np.ceil(mass * self._size).astype(np.int64) - 1


class _Weighted:
    def __init__(self, prior: Array) -> None:
        self._mass = np.concatenate([[0.0], np.cumsum(prior)])
        self._moment = np.concatenate([[0.0], np.cumsum(prior * np.arange(len(prior)))])

    def mass(self, i: Wholes) -> Array:
        return cast("Array", self._mass[i])

    def moment(self, i: Wholes) -> Array:
        return cast("Array", self._moment[i])

    def reaching(self, mass: Array) -> Wholes:
        return np.searchsorted(self._mass[1:], mass)


def _of_windows(lottery: Window, prior: Array | None) -> float:
    """The error in steps where the reports of every value are a window: the inputs near a report are a range, too.

    The posterior of a report is the prior times b, and times a in that range. Its distribution function is piecewise a
    multiple of the prior's, so its median follows from the inverse of that one.
    """
    running: _Running = _Uniform(lottery.inputs) if prior is None else _Weighted(prior)
    a, b = lottery.tickets.near / lottery.total, lottery.tickets.far / lottery.total
    last = lottery.inputs - 1
    everything = np.array([0]), np.array([lottery.inputs])
    error = 0.0
    for start in range(0, lottery.outputs, _REPORTS_A_BLOCK):
        y = np.arange(start, min(start + _REPORTS_A_BLOCK, lottery.outputs))
        # start(x) is x + shift, but not below 0 nor above M − m.
        first = np.where(y >= lottery.m, y - lottery.m + 1 - lottery.shift, 0)
        end = np.where(y < lottery.outputs - lottery.m, np.minimum(y - lottery.shift, last), last) + 1
        below, near = running.mass(first), running.mass(end) - running.mass(first)
        extra = (a - b) * near
        half = (b + extra) / 2
        # Before, in and after the range; a guess beside a median by rounding costs as much but for rounding.
        before = running.reaching(half / b)
        within = running.reaching((half + (a - b) * below) / a)
        after = running.reaching((half - extra) / b)
        inside = b * (below + near) + extra >= half
        guess = np.clip(np.where(b * below >= half, before, np.where(inside, within, after)), 0, last)
        error += float((b * _apart(running, *everything, guess) + (a - b) * _apart(running, first, end, guess)).sum())
    return error


def _apart(running: _Running, start: Wholes, stop: Wholes, guess: Wholes) -> Array:
    """Σ π_x·|x − guess| over start ≤ x < stop."""
    cut = np.clip(guess, start, stop)
    mass, moment = running.mass(cut), running.moment(cut)
    low, high = mass - running.mass(start), running.mass(stop) - mass
    apart: Array = guess * (low - high) + (running.moment(stop) - moment) - (moment - running.moment(start))
    return apart


def _by_medians(mechanism: Mechanism, prior: Array | None) -> float:
    """The error in steps of any mechanism on a line: totals first, then the value at which half of each is reached."""
    size, reports = len(mechanism.domain), len(mechanism.outputs)
    weights = np.full(size, 1 / size) if prior is None else prior
    total, moment = np.zeros(reports), np.zeros(reports)
    for start, stop, tickets in blocks(mechanism):
        joint = tickets * (weights[start:stop, None] / mechanism.lottery.total)
        total += joint.sum(axis=0)
        moment += np.arange(start, stop) @ joint
    reached, reached_moment = np.zeros(reports), np.zeros(reports)
    # Up to the median of each report, inclusive.
    guess, below, below_moment = np.zeros(reports), np.zeros(reports), np.zeros(reports)
    for start, stop, tickets in blocks(mechanism):
        joint = tickets * (weights[start:stop, None] / mechanism.lottery.total)
        x = np.arange(start, stop, dtype=np.float64)
        sums = reached + np.cumsum(joint, axis=0)
        moments = reached_moment + np.cumsum(joint * x[:, None], axis=0)
        here = np.flatnonzero((reached < total / 2) & (sums[-1] >= total / 2))
        at = np.argmax(sums[:, here] >= total[here] / 2, axis=0)
        guess[here], below[here], below_moment[here] = x[at], sums[at, here], moments[at, here]
        reached, reached_moment = sums[-1], moments[-1]
    return float((guess * (2 * below - total) + moment - 2 * below_moment).sum())


def _by_trying(mechanism: Mechanism, prior: Array | None, loss: Loss) -> float:
    """The error by the cost of every answer for every report."""
    size, reports = len(mechanism.domain), len(mechanism.outputs)
    rows = LossRows(mechanism.domain, mechanism.domain, loss)
    if size > _MOST_VALUES or size * reports > _MOST_PAIRS:
        raise InputError(
            f"Expected at most {_MOST_VALUES:,} values and 2^26 pairs of a report and an answer, got {size:,} values "
            f"and {reports:,} reports; use fewer values, or a line with loss=None, which needs no table."
        )
    weights = np.full(size, 1 / size) if prior is None else prior
    costs = np.zeros((reports, size))
    for start, stop, tickets in blocks(mechanism):
        joint = tickets * (weights[start:stop, None] / mechanism.lottery.total)
        costs += joint.T @ rows.rows(start, stop)
    return float(costs.min(axis=1).sum())

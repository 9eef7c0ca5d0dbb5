r"""How far k forged reports can move an average of scores, if a report is one of M outputs.

An answer with fixed scores is the average of one score u(y) per report. Replacing k of the n reports raises it most if
the k smallest scores become the largest one: by Σ (max u − u(yᵢ))/n over these k, and no other k forged reports raise
it further. With public weights wᵢ, which a forged report keeps, the k largest wᵢ·(max u − u(yᵢ)) count. Both are exact:
an attacker who knew all reports could reach them.

Fitted scores (:mod:`~bipartite.answers.estimation.scores`) change with the forged reports, through the averages t_j of
s in each class and the factors F_j. Replacing k of R_j reports moves an average by at most k·(max s − min s)/R_j, and
F_j falls with R_j, which changes by at most k. The answer is … + Σ_j [h_j·t_j + F_j·Σᵢ wᵢ(sᵢ − t_j)/Σw]. For the true
reports, this is largest at the ends of the ranges of t_j and F_j; and each forged report then adds at most the largest
minus the smallest F_j·(s − t_j) over all outputs. Together this is a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.scores import FittedScores
    from bipartite.answers.estimation.tally import Tally

    Array = NDArray[np.float64]


class Moved(NamedTuple):
    """The smallest and the largest value that each answer can take."""

    low: Array
    high: Array
    exact: bool


def moved_by_scores(u: Array, tally: Tally, k: int, possible: NDArray[np.bool_]) -> Moved:
    """The average of scores u, after k reports are replaced; u has one score per output, or a row of them per answer.

    ``possible`` marks the outputs that the mechanism can report. If only sums of weights are known, this is a bound.
    """
    value = u @ tally.first / tally.size
    largest = u.max(axis=-1, where=possible, initial=-np.inf)
    least = u.min(axis=-1, where=possible, initial=np.inf)
    up = _gain(largest[..., None] - u, tally, k) / tally.size
    down = _gain(u - least[..., None], tally, k) / tally.size
    unweighted = tally.first is tally.second
    return Moved(value - down, value + up, exact=unweighted or tally.each is not None)


def moved_by_fitted_scores(scores: FittedScores, w: Array, tally: Tally, k: int) -> Moved:
    """Bounds on the share after k reports are replaced, for one w over the distinct rows or for several."""
    rows = np.atleast_2d(w)
    up, down = (_fitted_at_most(scores, sign * rows, tally, k) for sign in (1, -1))
    shape = w.shape[:-1]
    return Moved(-down.reshape(shape), up.reshape(shape), exact=k == 0)


def _fitted_at_most(scores: FittedScores, w: Array, tally: Tally, k: int) -> Array:
    probabilities, reports = scores.probabilities, scores.reports
    stretches = (
        [scores.stretch(np.maximum(reports - k, scores.fewest)), scores.stretch(reports + k)]
        if k
        else [scores.stretch(reports)]
    )
    weight = scores.by_class(tally.first / tally.size)
    found = np.empty(len(w))
    for at, row in enumerate(w):
        # Along a class, and over classes, without the padding past the end of a class.
        s = scores.running_sums(row[None])[0]
        highest, lowest = (
            end(np.where(scores.there, s, -edge), axis=0) for end, edge in ((np.max, np.inf), (np.min, -np.inf))
        )
        average = scores.averages(s)
        step = k * (highest - lowest) / reports
        averages = np.maximum(average - step, lowest), np.minimum(average + step, highest)
        sums, held = (weight * s).sum(axis=0), weight.sum(axis=0)
        ends = [probabilities * t + factor * (sums - t * held) for t in averages for factor in stretches]
        most = (stretches[0] * (highest - averages[0])).max() - (stretches[0] * (lowest - averages[1])).min()
        found[at] = scores.base(row, s) + np.max(ends, axis=0).sum() + most * _forged_weight(tally, k)
    return found


def _forged_weight(tally: Tally, k: int) -> float:
    """An upper bound on the share of the total weight that k reports hold."""
    if tally.first is tally.second:
        return k / tally.size
    if tally.each is not None:
        return sum_of_largest(tally.each[1], k) / tally.size
    return min(1.0, float(np.sqrt(k * tally.second.sum())) / tally.size)


def _gain(gaps: Array, tally: Tally, k: int) -> Array:
    """The largest sum of gap times weight over k reports."""
    first, second = tally.first, tally.second
    if first is second:
        order = np.argsort(-gaps, axis=-1, kind="stable")
        held = np.minimum(first[order].cumsum(axis=-1), k)
        taken = np.diff(held, axis=-1, prepend=0.0)
        found: Array = (np.take_along_axis(gaps, order, axis=-1) * taken).sum(axis=-1)
        return found
    if tally.each is not None:
        indices, weights = tally.each
        rows = np.atleast_2d(gaps)
        found = np.array([sum_of_largest(row[indices] * weights, k) for row in rows])
        return found if gaps.ndim > 1 else found[0]
    # Σ wᵢ·gapᵢ over k reports is at most √(k·Σ wᵢ²·gapᵢ²) over all reports (Cauchy–Schwarz), and at most the whole sum.
    held = np.where(first > 0, gaps, 0.0)
    least: Array = np.minimum(np.sqrt(k * (held**2 @ second)), held @ first)
    return least


def sum_of_largest(parts: Array, k: int) -> float:
    """The sum of the k largest numbers."""
    if k == 0:
        return 0.0
    if k >= len(parts):
        return float(parts.sum())
    return float(np.partition(parts, len(parts) - k)[len(parts) - k :].sum())

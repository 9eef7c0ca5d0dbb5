"""The population for which an answer is least precise: how many people are enough, whoever they are."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.advise.forecasting import squares_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.advise.forecasting import Foreseen

    Array = NDArray[np.float64]

_MOST_PAIRS: Final = 2**22  # pairs of a value and a report, for every share at once
_MOST_VALUES: Final = 2**21


def worst_mean(foreseen: Foreseen) -> float | None:
    """The standard error of the mean from one person in the worst population; None where unknown."""
    if foreseen.mechanism.flat or len(foreseen.domain) > _MOST_VALUES or foreseen.mean_squares is None:
        return None
    w, squares = foreseen.mean_squares
    # Around a circle people without a common direction: nothing is subtracted.
    worst = float(squares.mean(axis=0).max()) if foreseen.domain.wraps else worst_variance(w[0], squares[0])
    return math.sqrt(worst)


def worst_share(foreseen: Foreseen) -> float | None:
    """The same for the worst share and population."""
    mechanism, size = foreseen.mechanism, len(foreseen.domain)
    if mechanism.flat:
        held, unheld = (mechanism.variances(each, 1) for each in (np.eye(1, size)[0], np.zeros(size)))
        if not np.allclose(held[1:], unheld[1:], rtol=1e-9, atol=0):
            return None  # the shares of other values matter too, as in Hadamard Response with several blocks
        # The mean square of a score is its variance plus the squared weight of the person: 1 or 0.
        return math.sqrt(float(_worst_over_shares(unheld[:1], held[:1] + 1)[0]))
    if size * len(mechanism.outputs) > _MOST_PAIRS:
        return None
    moments = squares_of(mechanism, foreseen.known, np.eye(size))  # [which share, who reports]
    if moments is None:
        return None
    others = np.where(np.eye(size, dtype=bool), -np.inf, moments).max(axis=1)
    return math.sqrt(float(_worst_over_shares(others, moments.diagonal()).max()))


def worst_variance(values: Array, moments: Array) -> float:
    """The largest Σπ·g − (Σπ·w)² over all π, for ascending w.

    For a given mean μ the largest Σπ·g is the upper concave envelope of the points (w, g) at μ; on a piece of it with
    slope s the whole is largest at μ = s/2.
    """
    hull: list[tuple[float, float]] = []
    for w, g in zip(values.tolist(), moments.tolist(), strict=True):
        # A point on or below the line between its neighbours is not on the envelope.
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (w - hull[-2][0]) <= (g - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((w, g))
    worst = -math.inf
    for (low, g_low), (high, g_high) in itertools.pairwise(hull):
        slope = (g_high - g_low) / (high - low)
        mean = min(max(slope / 2, low), high)
        worst = max(worst, g_low + slope * (mean - low) - mean**2)
    return worst


def _worst_over_shares(others: Array, own: Array) -> Array:
    """The largest (1 − f)·others + f·own − f² over shares f."""
    share = np.clip((own - others) / 2, 0, 1)
    worst: Array = others + share * (own - others) - share**2
    return worst

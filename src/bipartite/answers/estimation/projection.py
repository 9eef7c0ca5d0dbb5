r"""Confidence intervals of projected shares, which always contain the projected share.

The projection lowers every unbiased share x by the same amount τ, the *shift*, but not below zero: max(x − τ, 0). With
many values and much noise, τ is two standard errors or more, so the usual interval x ± z·σ need not contain the share
that is shown. The two sides need not miss with equal probability, however: any α_low + α_high = α is valid, since
P(x − b·σ > f) = α_low for b = z(α_low). So α_low is α/2 if τ is at most z(α/2)·σ, and otherwise the probability that x
exceeds the true share by τ, so that the interval extends down as far as the shift; α_high is the rest of α. The
projected share then always lies in its interval, at the same level: the interval is 4.2 instead of 3.9 standard errors
wide at τ = 2.5·σ.

Shares are not negative, so the upper end u is where P(x' ≤ x | f = u) = α_high·P(x' ≤ x | f = 0):
u/σ = x/σ − Φ⁻¹(α_high·Φ(x/σ)). It is above zero for every sample, and the true share exceeds it with
probability at most α_high, because the factor Φ is at most 1. (In high-energy physics this limit is called CL_s: Read
2002.)

For a known shift, the coverage is thus at least 1 − α for every share. The shift is estimated from all shares; the
resulting coverage is measured in ``tests/answers/estimation/test_projection.py`` and in
``bench/results/intervals.md``. In no case does an interval miss with probability above 3α/2, since each side keeps
its own level: α/2 on the side of the shift, and less than α on the other.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.intervals import FEW, half_widths, likely_width, normal_width, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_LEAST_TAIL: Final = 1e-300
# Φ⁻¹(α·Φ(x)) is tabulated between these limits, where Φ is neither too small for a float nor 1; above, it is −z(α).
_FROM, _TO, _STEPS = -8.0, 8.0, 1601


def projected_bounds(
    raw: Array, shares: Array, errors: Array, spreads: Array, people: float, sure: float
) -> tuple[Array, Array]:
    """(low, high) of each projected share, from the unbiased shares, their standard errors and the ranges of scores."""
    at = int(np.argmax(shares))
    shift = float(raw[at] - shares[at])
    missed = 1 - sure
    if people < FEW:
        half = half_widths(errors, spreads, people, sure)
        low, high = within(raw - half, raw + half, shares, (0.0, 1.0), at_least=True)
        return np.minimum(low, shares), np.maximum(high, shares)
    scale = likely_width(errors, spreads, people, sure) / normal_width(sure)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = float(np.nan_to_num(np.abs(shift) / scale.min()))
    towards = min(missed / 2, max(NormalDist().cdf(-off), _LEAST_TAIL))
    below, above = (towards, missed - towards) if shift >= 0 else (missed - towards, towards)
    low = raw - np.maximum(_normal_quantile(below) * scale, shift)
    # No population has such a share: 1 to 1 would read as certainty.
    low = np.where(raw - normal_width(sure) * scale > 1, 0.0, np.maximum(low, 0.0))
    high = np.maximum(_upper_end(raw, scale, above), shares)  # equal up to rounding, where the shift is negative
    return low, np.minimum(high, 1.0)


def _normal_quantile(tail: float) -> float:
    return -NormalDist().inv_cdf(tail)


def _upper_end(raw: Array, scale: Array, tail: float) -> Array:
    """The upper end u of the module docstring."""
    normal = NormalDist()
    grid = np.linspace(_FROM, _TO, _STEPS)
    quantiles = np.array([_normal_quantile(max(tail * normal.cdf(x), _LEAST_TAIL)) for x in grid.tolist()])
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.nan_to_num(raw / scale)
    # Below the grid, use the end at its first point, which is larger than that of any smaller share.
    found: Array = scale * (np.maximum(place, _FROM) + np.interp(place, grid, quantiles))
    return found

"""The Laplace mechanism under local privacy, on a grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bipartite.lottery import Epsilon
from bipartite.mechanisms.added_noise import AddedNoise, check_flag, check_interval, padding_for

if TYPE_CHECKING:
    from bipartite.domains import Domain


class Laplace(AddedNoise):
    r"""The Laplace mechanism: report x + Z with Z of density e\ :sup:`−|z|/b`/2b, b = (high − low)/ε.

    Under local privacy any two values are neighbours, so the sensitivity is the whole range. Noise is drawn on the grid
    of the interval: Z = z·step with Pr[z] = (1 − α)/(1 + α)·α\ :sup:`|z|`, α = e\ :sup:`−ε/(N−1)`, the discrete Laplace
    law. It has the density's own ratio e\ :sup:`−step/b` between neighbouring nodes everywhere, so ε is spent exactly;
    the Laplace density integrated over cells is as private, but its middle cell holds a little less than it might.

    Parameters
    ----------
    domain
        :class:`~bipartite.Interval`. With ``rounding="random"`` values between nodes keep their mean.
    epsilon
        The privacy budget of one report.
    clamped
        False: reports may lie outside the range, as far as needed to leave at most 2\ :sup:`−30` of the noise beyond
        each end of the outputs; that tail is put on the last output. True: reports are clamped to the range, which is
        free post-processing; the law is then that of :class:`~bipartite.Geometric`.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): tickets of two inputs of one output are at most N − 1
    steps of α apart, and are held to e\ :sup:`ε` in whole numbers after rounding.

    Notes
    -----
    Bias: none, but for the tail, below 10\ :sup:`−9` of b; clamped, reports lean to the middle. Variance:
    step²·2α/(1 − α)² = 2b² − step²/6 + O(step⁴/b²), so it nears the literature's 2b² with the square of the step.

    Reference
    ---------
    Dwork, McSherry, Nissim, Smith: *Calibrating Noise to Sensitivity in Private Data Analysis* (TCC 2006). Inusah,
    Kozubowski: *A Discrete Analogue of the Laplace Distribution* (J. Statistical Planning and Inference, 2006).

    Examples
    --------
    >>> from bipartite import Interval, expected_loss
    >>> share = Interval(0, 1, points=41)
    >>> [round(expected_loss(Laplace(share, 1, clamped=c)), 2) for c in (False, True)]
    [1.0, 0.37]
    """

    __slots__ = ()

    def __init__(self, domain: Domain, epsilon: object, *, clamped: bool = False) -> None:
        budget = Epsilon.of(epsilon)
        check_interval(domain, "Laplace")
        check_flag("clamped", clamped)
        size = len(domain)
        shifts = size - 1 + padding_for(size, float(budget), clamped=clamped)
        rate = float(budget) / (size - 1)
        # −expm1 keeps 1 − α exact for a tiny ε or many points.
        chances = np.exp(-rate * np.arange(shifts)) * (-math.expm1(-rate) / (1 + math.exp(-rate)))
        self._issue(domain, budget, chances)

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
    law. The ratio between neighbouring nodes is e\ :sup:`−step/b` everywhere, as for the density, so ε is spent
    exactly; the Laplace density integrated over cells is as private, but its middle cell has less mass than ε allows.

    Parameters
    ----------
    domain
        :class:`~bipartite.Interval`. With ``rounding="random"`` values between nodes keep their mean.
    epsilon
        The privacy budget of one report.
    clamped
        False: reports extend past the range until at most 2\ :sup:`−30` of the noise lies beyond each end of the
        outputs; that tail is added to the last output. True: reports are clamped to the range, which is free
        post-processing; the law is then that of :class:`~bipartite.Geometric`.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): the tickets of one output for two inputs differ by at
    most the factor α\ :sup:`−(N−1)` = e\ :sup:`ε`, which is checked in integer arithmetic after rounding.

    Notes
    -----
    Bias: none except for the tail, below 10\ :sup:`−9` of b; clamped reports are biased towards the middle. Variance:
    step²·2α/(1 − α)² = 2b² − step²/6 + O(step⁴/b²), which converges to 2b² quadratically in the step.

    Reference
    ---------
    Dwork, McSherry, Nissim, Smith: *Calibrating Noise to Sensitivity in Private Data Analysis* (TCC 2006). Inusah,
    Kozubowski: *A Discrete Analogue of the Laplace Distribution* (J. Statistical Planning and Inference, 2006).

    Examples
    --------
    >>> from bipartite import Interval
    >>> from bipartite.quality import expected_loss
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

"""The staircase mechanism under local privacy, on a grid."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.errors import DesignError, InputError, shown
from bipartite.lottery import Epsilon
from bipartite.mechanisms.added_noise import AddedNoise, check_flag, check_interval, padding_for

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields


class Staircase(AddedNoise):
    r"""The staircase mechanism: noise with the least mean magnitude that ε-differential privacy allows.

    The density of the noise decreases in steps: with Δ = high − low, b = e\ :sup:`−ε` and
    a = (1 − b)/(2Δ(γ + b(1 − γ))) it is a for \|z\| < γΔ, a·b for γΔ ≤ \|z\| < Δ, and falls by the factor b with every
    further Δ. γ = 1/(1 + e\ :sup:`ε/2`) gives the least E\|Z\|. Every node gets the density integrated over the cell
    around it: the published noise, rounded to the grid.

    Parameters
    ----------
    domain
        :class:`~bipartite.Interval` with γΔ at least half a step.
    epsilon
        The privacy budget of one report.
    gamma
        The width of the upper step, from half a grid step to 1 in units of Δ; None for 1/(1 + e\ :sup:`ε/2`).
    clamped
        False: reports extend past the range until at most 2\ :sup:`−30` of the noise lies beyond each end of the
        outputs; that tail is added to the last output. True: reports are clamped to the range.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`). The masses of the cells z and z + Δ differ by the factor
    e\ :sup:`ε`, because Δ is an integer number of cells; so does the cell of zero, provided that the upper step covers
    it. After rounding, the tickets are checked against e\ :sup:`ε` in integer arithmetic.

    Notes
    -----
    Bias: none except for the tail; clamped reports are biased towards the middle.
    E\|Z\|/Δ = b/(1 − b) + (γ² + b(1 − γ²))/(2(γ + b(1 − γ))), at the best γ e\ :sup:`ε/2`/(e\ :sup:`ε` − 1); the grid
    changes it by O(step²).

    Reference
    ---------
    Geng, Viswanath: *The Optimal Mechanism in Differential Privacy* (ISIT 2014); Geng, Kairouz, Oh, Viswanath:
    *The Staircase Mechanism in Differential Privacy* (IEEE J. Selected Topics in Signal Processing, 2015).

    Examples
    --------
    >>> from bipartite import Interval, Laplace
    >>> from bipartite.quality import expected_loss
    >>> share = Interval(0, 1, points=101)
    >>> [round(expected_loss(kind(share, 4)), 3) for kind in (Laplace, Staircase)]
    [0.25, 0.138]
    """

    __slots__ = ("gamma",)
    fields = AddedNoise.fields | {"gamma"}
    gamma: float
    """The width of the upper step, in units of the range."""

    def __init__(self, domain: Domain, epsilon: object, *, gamma: float | None = None, clamped: bool = False) -> None:
        budget = Epsilon.of(epsilon)
        check_interval(domain, "Staircase")
        check_flag("clamped", clamped)
        size = len(domain)
        width = 1 / (1 + math.exp(float(budget) / 2)) if gamma is None else _check_gamma(gamma)
        if width * (size - 1) < 1 / 2:
            raise DesignError(
                f"Expected γ of at least half a grid step, got γ={width:.3g} on {size} points; "
                f"use at least {math.ceil(1 / (2 * width)) + 1} points."
                if width
                else "Expected γ of at least half a grid step, got gamma=0; use gamma=None for the best."
            )
        padding = padding_for(size, float(budget), clamped=clamped)
        self._set(gamma=width)
        self._issue(domain, budget, _cells(size - 1, size - 1 + padding, width, float(budget)))

    @classmethod
    def read(cls, fields: Fields) -> Self:
        gamma = fields["gamma"]
        if type(gamma) not in {int, float} or not 0 <= gamma <= 1:
            fields.note(f"Expected gamma as a number from 0 to 1, got {shown(gamma)}; ask for another spec.")
        mechanism = super().read(fields)
        mechanism._set(gamma=float(gamma))
        return mechanism

    def parts(self) -> dict[str, Any]:
        return super().parts() | {"gamma": self.gamma}

    def _options(self) -> str:
        return f", gamma={self.gamma!r}{super()._options()}"


def _check_gamma(gamma: object) -> float:
    number = float(gamma) if type(gamma) is not bool and isinstance(gamma, numbers.Real) else math.nan
    if not 0 <= number <= 1:
        raise InputError(
            f"Expected gamma from 0 to 1, got {shown(gamma)}; gamma=None takes the one with the least noise."
        )
    return number


def _cells(apart: int, shifts: int, gamma: float, epsilon: float) -> NDArray[np.float64]:
    """The mass of the cells around shifts 0, 1, …, each one step wide, where Δ is ``apart`` steps."""
    b = math.exp(-epsilon)

    def beyond(at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mass beyond a point, in units of Δ, on one side."""
        stair = np.floor(at)
        within = at - stair
        passed = (np.minimum(within, gamma) + b * np.maximum(within - gamma, 0)) / (gamma + b * (1 - gamma))
        mass: NDArray[np.float64] = b**stair * (1 - (1 - b) * passed) / 2
        return mass

    borders = beyond((np.arange(apart + 1) + 0.5) / apart)
    # Cells 1 … Δ are integrated; those further out repeat them, smaller by the factor b with every Δ.
    first = borders[:-1] - borders[1:]
    further = np.arange(shifts - 1)
    cells: NDArray[np.float64] = first[further % apart] * b ** (further // apart)
    return np.concatenate([[1 - 2 * borders[0]], cells])

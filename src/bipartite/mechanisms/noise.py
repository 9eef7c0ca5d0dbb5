"""Added noise: one row of tickets over shifts, shared by all values and clamped at the ends of the reports."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import Interval
from bipartite.errors import BrokenPromiseError, DesignError, InputError, shown
from bipartite.lottery import MAX_TOTAL, Epsilon, Noise
from bipartite.lottery.noise import issue_noise
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.checks import check_flag, check_interval, check_line
from bipartite.mechanisms.spec.fields import AGAIN, Field, whole, written_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.lottery import Deal
    from bipartite.mechanisms.spec.fields import Fields

MOST_SHIFTS: Final = 2**22
TAIL_BITS: Final = 30
"""At most 2^−30 of the noise lies beyond each end of the outputs, and is added to the last output."""
# Each round gives the tail a few more tickets; a handful of rounds is enough, and many would mean a bug.
_MOST_ROUNDS: Final = 64


def _read_noise(fields: Fields, name: str) -> NDArray[np.int64]:
    """The tickets of shifts 0, 1, …; a geometric mechanism has no padding, and fits every line."""
    if "padding" not in fields.spec:
        if not fields.domain.has_ends:
            fields.refuse(f"Expected a domain of integers or an interval for geometric noise; {AGAIN}")
        return fields.row(name, fields[name], len(fields.domain))
    shifts = len(fields.interval) + fields["padding"]
    if shifts > MOST_SHIFTS + 1:
        fields.refuse(f"Expected noise of at most 2^22 steps; {AGAIN}")
    return fields.row(name, fields[name], shifts)


def _read_gamma(fields: Fields, name: str) -> float:
    gamma = fields[name]
    if type(gamma) not in {int, float} or not 0 <= gamma <= 1:
        fields.note(f"Expected gamma as a number from 0 to 1, got {shown(gamma)}; {AGAIN}")
        return 0.0
    return float(gamma)


class AddedNoise(Mechanism):
    """Reports x + Z with Z on the grid of the values; reports far outside the range are clamped."""

    __slots__ = ()
    schema = {"padding": whole(0, MOST_SHIFTS), "noise": Field(_read_noise, written_row)}
    checked_by_rows = True

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        padding = facts.get("padding", 0)
        outputs = domain
        if padding and isinstance(domain, Interval):
            try:
                outputs = domain.padded(padding)
            except DesignError:
                raise DesignError(
                    "Expected reports past the ends that are distinct doubles; use fewer points, or clamped=True."
                ) from None
        try:
            return outputs, Noise(len(domain), padding, facts["noise"])
        except AssertionError:
            raise BrokenPromiseError(
                f"Expected decreasing ticket counts of the shifts, at most 2^52 in all; {AGAIN}"
            ) from None

    @property
    def clamped(self) -> bool:
        """Whether reports are clamped to the range."""
        return not self.facts.get("padding", 0)

    def _issue(self, domain: Domain, budget: Epsilon, chances: NDArray[np.float64], **facts: object) -> None:
        size = len(domain)
        padding = len(chances) - (size - 1)
        self._hold(domain, budget, {"padding": padding, "noise": issue_noise(chances, size, budget), **facts})

    def _options(self) -> str:
        return ", clamped=True" if self.clamped else ""


class Geometric(AddedNoise):
    r"""The two-sided geometric mechanism: report x + Z clamped to the range, Pr[Z = z] = (1 − α)/(1 + α)·α\ :sup:`|z|`.

    α = e\ :sup:`−ε/(N−1)`: under local privacy any two values are neighbours, so the sensitivity is the whole range.
    Clamping to the domain is free post-processing; without it, about half of all reports lie outside at small ε.

    Parameters
    ----------
    domain
        :class:`~bipartite.Integers` or :class:`~bipartite.Interval`, of at most 2\ :sup:`22` values.
    epsilon
        The privacy budget of one report.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`).

    Notes
    -----
    Z has mean 0 and variance 2α/(1 − α)². Clamping biases reports towards the middle of the range.

    Reference
    ---------
    Ghosh, Roughgarden, Sundararajan: *Universally Utility-Maximizing Privacy Mechanisms* (STOC 2009).

    Examples
    --------
    >>> from bipartite import Integers
    >>> from bipartite.quality import loss
    >>> round(loss(Geometric(Integers(1, 40), epsilon=1)).mean, 2)
    14.29
    """

    __slots__ = ()
    schema = {"noise": AddedNoise.schema["noise"]}

    def __init__(self, domain: Domain, epsilon: object) -> None:
        budget = Epsilon.of(epsilon)
        check_line(domain)
        if len(domain) > MOST_SHIFTS:
            raise DesignError(
                f"Expected at most 2^22 values, got {len(domain)}; use bp.BRR, or an Interval of fewer points."
            )
        self._hold(domain, budget, {"noise": _geometric_tickets(len(domain), budget)})

    def _options(self) -> str:
        return ""


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
    >>> from bipartite.quality import loss
    >>> share = Interval(0, 1, points=41)
    >>> [round(loss(Laplace(share, 1, clamped=c)).mean, 2) for c in (False, True)]
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
    >>> from bipartite.quality import loss
    >>> share = Interval(0, 1, points=101)
    >>> [round(loss(kind(share, 4)).mean, 3) for kind in (Laplace, Staircase)]
    [0.25, 0.138]
    """

    __slots__ = ()
    schema = {**AddedNoise.schema, "gamma": Field(_read_gamma)}

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
        self._issue(domain, budget, _cells(size - 1, size - 1 + padding, width, float(budget)), gamma=width)

    @property
    def gamma(self) -> float:
        """The width of the upper step, in units of the range."""
        return float(self.facts["gamma"])

    def _options(self) -> str:
        return f", gamma={self.gamma!r}{super()._options()}"


def padding_for(size: int, epsilon: float, *, clamped: bool) -> int:
    """How many steps outputs extend past both ends: e^(−ε·padding/(N−1)) ≤ 2^−30, in multiples of the range."""
    ranges = 0 if clamped else math.ceil(TAIL_BITS * math.log(2) / epsilon)
    if (ranges + 1) * (size - 1) > MOST_SHIFTS:
        fewer = MOST_SHIFTS // (ranges + 1) + 1
        points = f"at most {fewer} points, " if fewer > 1 else ""
        raise DesignError(
            f"Expected noise of at most 2^22 steps, got {ranges + 1} ranges of {size - 1} steps at ε={epsilon:.6g}; "
            f"use {points}a larger ε, or clamped=True."
        )
    return ranges * (size - 1)


def _geometric_tickets(size: int, budget: Epsilon) -> NDArray[np.int64]:
    """The tickets of shifts 0 … N−1, the last including the whole tail, so that no ratio exceeds e^ε.

    The largest ratio is that of an end as a report: all shifts that reach it from itself against those from the other
    end. Rounding may push it past e^ε by a ticket; then the tail gets a few more, until the exact comparison holds.
    """
    scale = float(budget) / (size - 1)
    alpha = math.exp(-scale)
    # −expm1 keeps 1 − α exact for a tiny ε or a huge N.
    inner = np.exp(-scale * np.arange(size - 1)) * (-math.expm1(-scale)) / (1 + alpha)
    # A share of 2^−30 is held back for the extra tickets of the tail.
    whole = MAX_TOTAL * (1 - 2**-30)
    tickets = np.floor(np.append(inner, math.exp(-float(budget)) / (1 + alpha)) * whole).astype(np.int64)
    extra = 1
    for _ in range(_MOST_ROUNDS):
        if (tickets >= 1).all() and tickets.sum() * 2 <= MAX_TOTAL + tickets[0]:
            ratio = Noise(size, 0, tickets.copy()).largest_ratio()
            if budget.allows(*ratio.as_integer_ratio()):
                return tickets
        if extra > MAX_TOTAL:
            break
        tickets[-1] += extra
        extra *= 2
    raise DesignError(f"2^52 tickets cannot keep ε={budget.text} on N={size} values; use another ε, or fewer values.")


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

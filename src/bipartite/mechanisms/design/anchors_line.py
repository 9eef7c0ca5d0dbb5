"""The best ε-LDP release on a line: GRR on anchors found by dynamic programming.

The best release of any form solves a linear program that is, for a trial value θ of the loss, the relaxation of
facility location: opening anchor a costs λ_a − θ and sending x to a costs (E−1)·π_x·L(x, a). On a line, with a loss
that increases with distance, the relaxation has integral optima, which are sets of anchors. Dinkelbach's iteration
θ ← F(A), with A the best set for θ, decreases to the least loss in a few steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from bipartite.errors import DesignError, InputError, installing, is_one_of, shown
from bipartite.mechanisms.design.anchor_choice import AnchorChoice
from bipartite.mechanisms.design.line_costs import LineCosts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms.design.line_costs import Loss

# Compiled code pays from this size on: below it, O(N²) in NumPy takes under half a second in all.
COMPILE_FROM: Final = 2048
# O(N²): seconds for a table of losses, and about a minute without the compiler.
LARGEST_TABLE: Final = 4096
LARGEST_WITHOUT_COMPILER: Final = 2**15
# Lines longer than this start from the solution on a line this many times shorter.
_LONG: Final = 2048
_COARSER: Final = 16
_ROUNDING: Final = 2.0**-52


def best_anchors_on_line(size: int, e: float, prior: NDArray[np.float64] | None, loss: Loss) -> AnchorChoice:
    """The anchors on N equidistant points whose GRR has the least expected loss.

    Parameters
    ----------
    size : int
        N, the number of points, one step apart.
    e : float
        e^ε, at least 1.
    prior : NDArray[np.float64], optional
        Probabilities of the points, possibly zero; None for uniform.
    loss : {"absolute", "squared"} or NDArray[np.float64]
        The loss at distance d: d, d², or a non-decreasing table for d = 0 … N−1.

    Returns
    -------
    AnchorChoice
        The anchors, their expected loss in steps, and a lower bound over *all* ε-LDP releases. The two agree up to the
        rounding of floats, because on a line the best release has this form.

    Raises
    ------
    InputError
        For an invalid size, budget or loss.
    DesignError
        For a table of more than 4096 losses, or a line of more than 2^15 points without numba.

    Notes
    -----
    The search starts from a set A (the best on a coarser line, or one point) and sets θ = F(A). For this θ it finds the
    set A' that minimises G(A') = Σ_{a∈A'} (λ_a − θ) + (E−1)·(W(A') − θ), and continues with A' while F(A') < F(A). The
    loss decreases strictly, so the search ends; then G(A') ≥ 0 up to rounding, which means F ≥ θ for every set. The
    bound is θ + min(G, 0)/E, less an allowance for the rounding of the sums.

    A step takes O(N log N) time for the absolute and the squared loss, O(N²) for a table.

    >>> choice = best_anchors_on_line(100, 2.718281828459045, None, "absolute")
    >>> choice.anchors.tolist(), round(choice.loss, 3), round(choice.lower, 3)
    ([34, 65], 21.346, 21.346)
    """
    excess, from_zero, base = check_line(size, e, loss)
    weights = np.full(size, 1 / size) if prior is None else np.ascontiguousarray(prior, dtype=np.float64)
    choice = best_anchors_of(LineCosts(weights, from_zero), excess)
    return AnchorChoice(choice.anchors, base + choice.loss, base + choice.lower)


class Solver(Protocol):
    """Finds the best anchors for given opening costs."""

    def solve(self, opening: NDArray[np.float64]) -> tuple[float, NDArray[np.int64]]:
        """The least Σ_{a∈A} opening_a + W(A), and its A."""


def best_anchors_of(costs: LineCosts, excess: float, start: NDArray[np.int64] | None = None) -> AnchorChoice:
    """Dinkelbach's iteration on checked arguments; excess is e^ε − 1, ``start`` an initial set."""
    anchors = np.array([np.argmin(costs.single)], dtype=np.int64)
    theta = float(costs.single[anchors[0]])
    if excess == 0:
        # ε rounds to 0: reports carry no information, and the best constant is the best release.
        return AnchorChoice(anchors, theta, theta)
    solver, roundings = solver_for(costs, excess)
    if start is None:
        start = _coarse_anchors(costs, excess)
    if start is not None and (loss := costs.expected(start, excess)) < theta:
        anchors, theta = start, loss
    while True:
        cost, found = solver.solve((costs.single - theta) / excess)
        loss = costs.expected(found, excess)
        if not loss < theta:
            break
        anchors, theta = found, loss
    # F(A) ≥ θ + G/(E+K−1) ≥ θ + min(G, 0)/E, and G = (E−1)·(cost − θ).
    lower = theta + min(cost - theta, 0) * (excess / (1 + excess)) - roundings * _ROUNDING * theta
    return AnchorChoice(anchors, theta, max(0.0, lower))


def _coarse_anchors(costs: LineCosts, excess: float) -> NDArray[np.int64] | None:
    """The best anchors of a coarser line, placed in the middle of their cells; None if the line is short."""
    size = len(costs.weights)
    if size <= _LONG or costs.kind == "table":
        return None
    cells = np.add.reduceat(costs.weights, np.arange(0, size, _COARSER))
    coarse = best_anchors_of(LineCosts(cells, costs.kind), excess)
    return np.unique(np.minimum(coarse.anchors * _COARSER + _COARSER // 2, size - 1))


def solver_for(costs: LineCosts, excess: float) -> tuple[Solver, float]:
    """The fastest solver, and the largest error of its costs relative to the loss, in units of rounding.

    Sums of N non-negative terms are off by N roundings. The compiled solver takes differences of sums about the mean,
    whose rounding is small compared with λ_a, that is with E times the loss.
    """
    size = len(costs.weights)
    if size < COMPILE_FROM or costs.kind == "table":
        return costs, 4.0 * size
    try:
        from bipartite.mechanisms.design.compiled_anchors_line import CompiledLine  # noqa: PLC0415 (loaded only when it pays)
    except Exception as problem:
        if size <= LARGEST_WITHOUT_COMPILER:
            return costs, 4.0 * size
        raise DesignError(
            f"Expected at most {LARGEST_WITHOUT_COMPILER} points without numba, got {size}; "
            f"run {installing('fast')}, or use a coarser line."
        ) from problem
    squared = costs.kind == "squared"
    return CompiledLine(costs.weights, costs.head, costs.tail, squared=squared), 4.0 * math.sqrt(size) + 64 * excess


def check_line(size: object, e: object, loss: object) -> tuple[float, Loss, float]:
    """(e^ε − 1, the loss less its value at distance 0, that value).

    Adding a constant to every loss adds the same constant to the loss of every release.
    """
    if not isinstance(size, (int, np.integer)) or size < 1:
        raise InputError(
            f"Expected size as a whole number of at least 1, got {shown(size)}; give the number of points."
        )
    if not isinstance(e, (int, float)) or not 1 <= e < math.inf:
        raise InputError(f"Expected e as e^ε, a finite number of at least 1, got {shown(e)}; pass math.exp(epsilon).")
    if is_one_of(loss, ("absolute", "squared")):
        return float(e) - 1, loss, 0.0  # type: ignore[return-value]
    if not isinstance(loss, np.ndarray) or loss.shape != (size,) or loss.dtype.kind not in "iuf":
        got = f"an array of {loss.dtype} of shape {loss.shape}" if isinstance(loss, np.ndarray) else shown(loss)
        raise InputError(
            f"Expected loss as 'absolute', 'squared' or an array of {size} numbers, got {got}; one per distance."
        )
    table = loss.astype(np.float64)
    if not np.isfinite(table).all() or (np.diff(table) < 0).any():
        raise InputError(
            "Expected losses by distance that are finite and non-decreasing; "
            "use optimal_matrix for a loss that does not increase with distance."
        )
    if size > LARGEST_TABLE:
        raise DesignError(
            f"Expected a table of at most {LARGEST_TABLE} losses, got {size}; "
            "use 'absolute' or 'squared', which have no limit, or a coarser line."
        )
    return float(e) - 1, table - table[0], float(table[0])

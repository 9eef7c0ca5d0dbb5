"""The optimal ε-LDP release of a few hundred items, by linear programming.

A release P is ε-LDP if the entries of every column differ by at most the factor E = e^ε. Writing z_y for the largest
entry that column y may have, P_xy = [z_y + (E−1)·g_xy]/E with 0 ≤ g_xy ≤ z_y, and each row sums to one: N² + N
unknowns, N² + N rows. This is the benchmark for every other mechanism, solved for up to 400 items.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from bipartite.errors import DesignError, InputError, shown
from bipartite.lazily import LazyModule
from bipartite.mechanisms.design.m import check_prior_or_minimax

if TYPE_CHECKING:
    from numpy.typing import NDArray

# SciPy takes a tenth of a second to load: only when it is used.
optimize: Any = LazyModule("scipy.optimize")
sparse: Any = LazyModule("scipy.sparse")

LARGEST: Final = 400
# The solver drops coefficients below 1e-9, and 1/E is a coefficient.
LARGEST_E: Final = 1e8
# Columns below this share of the largest are rounding of the solver, whose tolerance is smaller.
_NOTHING: Final = 1e-9
# Seconds of dual simplex / interior point, one core of a busy machine, over a line, points in the plane and arbitrary
# losses, ε = 1 and 3. For a prior, N = 40: 0.05 / 0.1–0.4, N = 100: 0.1–0.4 / 1–2, N = 200: 1–4 / 14–34. For the worst
# case, N = 40: 0.04–0.2 / 0.2–0.5, N = 100: 0.6–3 / 3–11, N = 200: 11–39 / 28 to over 60;
# arbitrary losses took both over 60.
_METHOD: Final = "highs-ds"
# The time limit in seconds; the error then says what to use instead.
_OPTIONS: Final = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 900.0}


def optimal_matrix(
    losses: NDArray[np.float64], e: float, prior: NDArray[np.float64] | Literal["minimax"] | None
) -> tuple[NDArray[np.float64], float]:
    """The ε-LDP release with the least expected or the least worst-case loss of all.

    Parameters
    ----------
    losses : NDArray[np.float64]
        N × N: the loss of reporting y for x. Any finite numbers; negative ones state a gain.
    e : float
        e^ε, from 1 to 10^8.
    prior : NDArray[np.float64] or "minimax", optional
        Probabilities of the items, None for uniform, to minimise the expected loss; "minimax" to minimise the largest
        loss of any item.

    Returns
    -------
    matrix : NDArray[np.float64]
        P, N × N: rows sum to one, and in every column the largest entry is at most e·(1 + 1e-9) times the smallest.
        Columns of outputs that are never reported are zero.
    value : float
        The expected (or the largest) loss of this matrix, within the solver's tolerance of the optimum.

    Raises
    ------
    InputError
        For losses, e or a prior that cannot be used.
    DesignError
        For more than 400 items, e above 10^8, or when the solver gives up.

    Examples
    --------
    Two items and loss 1 for a wrong report give Randomized Response:

    >>> matrix, value = optimal_matrix(np.array([[0.0, 1.0], [1.0, 0.0]]), 3.0, None)
    >>> matrix.round(6).tolist(), round(value, 6)
    ([[0.75, 0.25], [0.25, 0.75]], 0.25)
    """
    losses = _check(losses, e)
    weights = _weights(prior, len(losses))
    matrix = solve_release(losses, float(e), weights).matrix
    by_item = (matrix * losses).sum(axis=1)
    return matrix, float(by_item.max() if weights is None else weights @ by_item)


class Release(NamedTuple):
    """An optimal release, and what proves that it is one."""

    matrix: NDArray[np.float64]
    prior: NDArray[np.float64]
    """The prior for which it was asked, or the worst one."""
    levels: NDArray[np.float64]
    """Levels for ``bound_of`` under this prior, from the dual prices of the rows; any number where the prior is 0."""


def solve_release(losses: NDArray[np.float64], e: float, weights: NDArray[np.float64] | None) -> Release:
    """The optimal release for these weights, or without weights for the worst case; arguments are not checked."""
    size = len(losses)
    # Adding a constant to a row of losses adds it to the loss of that row, so every row may start from 0.
    base = losses.min(axis=1)
    above = losses - base[:, None]
    scale = float(above.max())
    if scale == 0:
        prior = np.eye(1, size, int(base.argmax()))[0] if weights is None else weights
        return Release(np.tile(np.eye(1, size), (size, 1)), prior, base)
    solved = _solve(above / scale, (base - float(base.min())) / scale, e, weights)
    z, g = solved.x[:size], solved.x[size : size + size * size].reshape(size, size)
    prior = np.maximum(-solved.ineqlin.marginals[size * size :], 0.0) if weights is None else weights
    # Where one report costs nothing whatever is true, all prices are zero.
    prior = prior if prior.any() else np.full(size, 1 / size)
    levels = base + scale * solved.eqlin.marginals / np.where(prior > 0, prior, 1.0)
    return Release(_clean(z, g, e), prior, levels)


def _weights(prior: object, size: int) -> NDArray[np.float64] | None:
    """The prior as an array; None for the worst case."""
    checked = check_prior_or_minimax(prior, size)
    if isinstance(checked, str):
        return None
    return np.full(size, 1 / size) if checked is None else checked


def _check(losses: object, e: object) -> NDArray[np.float64]:
    array = np.asarray(losses)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size or array.dtype.kind not in "iuf":  # noqa: PLR2004
        raise InputError(
            f"Expected losses as an N × N array of numbers, got {array.dtype} of shape {array.shape}; "
            "give the loss of reporting each item for each item."
        )
    if len(array) > LARGEST:
        raise DesignError(
            f"Expected at most {LARGEST} items for the optimum, got {len(array)}; "
            "use Anchored, which scales further and has a certified gap to the optimum."
        )
    if not np.isfinite(array).all():
        raise InputError(
            "Expected finite losses, got NaN or infinity; give a large number for a report that must not happen."
        )
    if not isinstance(e, (int, float)) or not 1 <= e < math.inf:
        raise InputError(f"Expected e as e^ε, a finite number of at least 1, got {shown(e)}; pass math.exp(epsilon).")
    if e > LARGEST_E:
        raise DesignError(
            f"Expected e^ε of at most {LARGEST_E:.0e} for the optimum, got {e:.6g}; "
            "use Anchored or GRR: at this ε hardly any report is wrong."
        )
    return array.astype(np.float64)


def _solve(
    losses: NDArray[np.float64], base: NDArray[np.float64], e: float, weights: NDArray[np.float64] | None
) -> Any:  # noqa: ANN401 (scipy's OptimizeResult)
    """The program for losses between 0 and 1; without weights the largest of loss + base is minimised.

    Unknowns in order: z_y, then g_xy row by row, then the largest loss t.
    """
    size = len(losses)
    minimax = weights is None
    entry = np.arange(size * size)
    x, y, g = entry // size, entry % size, entry + size
    columns = size + size * size + minimax

    def rows(values: list[Any], row: list[Any], column: list[Any], count: int) -> object:
        place = (np.concatenate(row), np.concatenate(column))
        return sparse.csr_array((np.concatenate(values), place), shape=(count, columns))

    low, high = np.full(size * size, 1 / e), np.full(size * size, 1 - 1 / e)
    ones = np.ones(size * size)
    at_most = rows([ones, -ones], [entry, entry], [g, y], size * size)
    limits = np.zeros(size * size)
    sums = rows([low, high], [x, x], [y, g], size)
    if weights is None:
        cost = np.zeros(columns)
        cost[-1] = 1
        flat = losses.ravel()
        last = np.full(size, columns - 1)
        by_item = rows([flat * low, flat * high, -np.ones(size)], [x, x, np.arange(size)], [y, g, last], size)
        at_most = sparse.vstack([at_most, by_item], format="csr")
        limits = np.concatenate([limits, -base])
    else:
        expected = weights[:, None] * losses
        cost = np.concatenate([expected.sum(axis=0) / e, expected.ravel() * (1 - 1 / e)])
    return solve_program(cost, at_most, limits, sums, np.ones(size), "Use Anchored, or fewer items.")


def solve_program(
    cost: NDArray[np.float64],
    below: object,
    limits: NDArray[np.float64],
    equal: object,
    totals: NDArray[np.float64],
    instead: str,
) -> Any:  # noqa: ANN401 (scipy's OptimizeResult)
    """The x ≥ 0 of least cost·x with below·x ≤ limits and equal·x = totals, with dual prices.

    ``instead`` says what to do where the solver gives up.
    """
    result = optimize.linprog(cost, below, limits, equal, totals, bounds=(0, None), method=_METHOD, options=_OPTIONS)
    if result.status != 0:
        raise DesignError(f"Expected an optimum, but the solver gave up: {result.message} {instead}")
    return result


def _clean(z: NDArray[np.float64], g: NDArray[np.float64], e: float) -> NDArray[np.float64]:
    """P from the solver's solution, corrected for its rounding so that row sums and ratios hold.

    Dividing rows by their sums would violate the ratios; instead each row is moved towards one of its limits, g = 0 or
    g = z, until its sum is 1.
    """
    z = np.where(z < _NOTHING * z.max(), 0.0, z)
    # Rows can sum to one only if 1 ≤ Σz ≤ E.
    total = z.sum()
    z = z * (max(1.0, min(e, total)) / total)
    g = np.clip(g, 0.0, z)
    wanted = 1 - z.sum() / e
    have = (1 - 1 / e) * g.sum(axis=1, keepdims=True)
    room = (1 - 1 / e) * (z - g).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where((have < wanted) & (room > 0), np.minimum((wanted - have) / room, 1), 0.0)
        down = np.where((have > wanted) & (have > 0), np.maximum(wanted / have, 0), 1.0)
    g = np.minimum(g * down + (z - g) * up, z)
    matrix = z / e + (1 - 1 / e) * g
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True), dtype=np.float64)

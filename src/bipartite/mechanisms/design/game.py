"""Zero-sum matrix games: the lottery over columns whose largest row is least, by the simplex method.

One player draws a column, the other a row, and the first pays the entry. With losses G ≥ 0 the weights of the columns
are p/Σp for the p ≥ 0 with the largest Σp under G·p ≤ 1: a linear program with the feasible vertex p = 0. Its dual
variables are the weights of the rows, and both players attain the same value (von Neumann).

All numbers are floats and no guarantee rests on them: the callers compute the loss of the weights, and prove a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

# Limits differ by this much from one row to the next, so that no two rows tie, which could cause cycling.
_APART: Final = 1e-10
# Added to losses between 0 and 1, which does not change the best weights: a column of zeros would be unbounded.
_ABOVE_ZERO: Final = 1e-3
# Gains and entries below this are rounding.
_NOTHING: Final = 1e-12
_MOST_PIVOTS: Final = 50


def solve_game(losses: Reals) -> tuple[Reals, Reals]:
    """(the minimax weights of the columns, the maximin weights of the rows)."""
    rows, columns = losses.shape
    least, most = float(losses.min()), float(losses.max())
    if most == least:
        return _single(columns), _single(rows)
    scaled = (losses - least) / (most - least)
    if rows <= columns:
        return _solve(scaled + _ABOVE_ZERO)
    of_rows, of_columns = _solve(1 + _ABOVE_ZERO - scaled.T)
    return of_columns, of_rows


def _solve(losses: Reals) -> tuple[Reals, Reals]:
    """The same for losses from above 0 to about 1; faster with fewer rows than columns."""
    rows, columns = losses.shape
    # In order: the columns, the slack of each row, the limits; in the last row the reduced costs.
    tableau = np.zeros((rows + 1, columns + rows + 1))
    tableau[:rows, :columns] = losses
    tableau[:rows, columns:-1] = np.eye(rows)
    tableau[:rows, -1] = 1 + _APART * np.arange(rows)
    tableau[rows, :columns] = -1
    basis = np.arange(columns, columns + rows)
    for _ in range(_MOST_PIVOTS * (rows + columns)):
        enters = int(np.argmin(tableau[rows, :-1]))
        if tableau[rows, enters] >= -_NOTHING:
            break
        entries = tableau[:rows, enters]
        with np.errstate(divide="ignore", invalid="ignore"):
            leaves = int(np.argmin(np.where(entries > _NOTHING, tableau[:rows, -1] / entries, np.inf)))
        tableau[leaves] /= tableau[leaves, enters]
        others = tableau[:, enters].copy()
        others[leaves] = 0
        tableau -= np.outer(others, tableau[leaves])
        basis[leaves] = enters
    found = np.zeros(columns + rows)
    found[basis] = tableau[:rows, -1]
    return _shares(found[:columns]), _shares(tableau[rows, columns:-1])


def _shares(amounts: Reals) -> Reals:
    kept = np.maximum(amounts, 0.0)
    return np.asarray(kept / kept.sum())


def _single(count: int) -> Reals:
    first = np.zeros(count)
    first[0] = 1
    return first

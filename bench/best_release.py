"""How close the least worst case and free reports come to linear programmes of all ε-LDP releases.

    python bench/best_release.py [CASES]

For each of CASES (50) random lines, trees and point sets: the lottery over sets of anchors against the programme over
all releases, and against its own certificate. For each of CASES random lines: bins with free reports against the
programme over all releases whose reports are numbers of a fine grid. The programmes are written out here and solved by
HiGHS; they share no code with the package.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import bipartite as bp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.domains import Domain

    Reals = NDArray[np.float64]

# What the solver cannot tell from nothing.
NOTHING = 1e-6
# Steps of the grid of free reports between two values.
FINENESS = 20


def programme(losses: Reals, e: float, prior: Reals | None) -> float:
    """The least over P with z_y ≤ P_xy ≤ e·z_y and rows that sum to 1: the mean loss under a prior, or the largest."""
    rows, columns = losses.shape
    cells = rows * columns
    each_z = sparse.kron(np.ones((rows, 1)), sparse.identity(columns))
    identity, level = sparse.identity(cells), sparse.csr_matrix((cells, 1))
    above = [sparse.hstack([identity, -e * each_z, level]), sparse.hstack([-identity, each_z, level])]
    if prior is None:
        paid = sparse.block_diag([sparse.csr_matrix(row[None, :]) for row in losses])
        above.append(sparse.hstack([paid, sparse.csr_matrix((rows, columns)), -np.ones((rows, 1))]))
        cost = np.append(np.zeros(cells + columns), 1.0)
    else:
        cost = np.concatenate([(prior[:, None] * losses).ravel(), np.zeros(columns + 1)])
    sums = sparse.hstack(
        [sparse.kron(sparse.identity(rows), np.ones((1, columns))), sparse.csr_matrix((rows, columns + 1))]
    )
    conditions = sparse.vstack(above).tocsr()
    solved = linprog(
        cost,
        conditions,
        np.zeros(conditions.shape[0]),
        sums.tocsr(),
        np.ones(rows),
        bounds=[(0, None)] * (cells + columns) + [(None, None)],
    )
    if solved.status:
        raise RuntimeError(solved.message)
    return float(solved.fun)


def a_line(rng: np.random.Generator) -> tuple[Domain, Reals]:
    """Up to 40 whole numbers."""
    size = int(rng.integers(2, 41))
    places = np.arange(size, dtype=np.float64)
    return bp.Integers(1, size), np.abs(places[:, None] - places)


def a_tree(rng: np.random.Generator) -> tuple[Domain, Reals]:
    """Up to 30 places in a tree with edges of random lengths."""
    size = int(rng.integers(3, 31))
    apart = np.zeros((size, size))
    for new in range(1, size):
        apart[new, :new] = apart[:new, new] = apart[rng.integers(new), :new] + rng.uniform(0.1, 1)
    return bp.Items(None, loss=apart), apart


def some_points(rng: np.random.Generator) -> tuple[Domain, Reals]:
    """Up to 30 points in the plane."""
    points = bp.Points(rng.random((int(rng.integers(3, 31)), 2)))
    return points, points.loss_matrix()


def worst_cases(name: str, make: Callable[[np.random.Generator], tuple[Domain, Reals]], cases: int) -> None:
    """One line about the least worst case on domains of one kind."""
    above, gaps, single, seconds = [], [], [], 0.0
    for case in range(cases):
        rng = np.random.default_rng(case)
        domain, losses = make(rng)
        epsilon = str(round(float(rng.uniform(0.25, 4)), 3))
        began = time.perf_counter()
        mechanism = bp.Minimax(domain, epsilon)
        seconds = max(seconds, time.perf_counter() - began)
        if not bp.verify(mechanism).holds:
            raise AssertionError(mechanism)
        optimum = programme(losses, float(np.exp(float(epsilon))), None)
        above.append(bp.loss(mechanism).worst / optimum - 1)
        gaps.append(mechanism.gap)
        single.append(bp.loss(bp.Anchored(domain, epsilon)).worst / optimum - 1)
    print(
        f"{name:<8} {cases} cases: above the programme by at most {max(above):.1e} (more than {NOTHING:.0e} in "
        f"{sum(each > NOTHING for each in above)}), certified gap at most {max(gaps):.1e}; "
        f"anchors for the uniform prior {np.median(single):.0%} above in the middle case, {max(single):.0%} at most; "
        f"at most {seconds:.1f} s each",
        flush=True,
    )


def free_reports(cases: int) -> None:
    """One line about reports that are not values."""
    below, saved = [], []
    for case in range(cases):
        rng = np.random.default_rng(1000 + case)
        size = int(rng.integers(2, 9))
        prior = rng.dirichlet(np.ones(size))
        epsilon = str(round(float(rng.uniform(0.25, 4)), 3))
        domain = bp.Integers(0, size - 1)
        mechanism = bp.AnchoredMeans(domain, epsilon, prior=prior)
        cost = bp.loss(mechanism, prior, loss="squared").mean
        grid = np.linspace(0, size - 1, FINENESS * (size - 1) + 1)
        losses = (np.arange(size)[:, None] - grid) ** 2
        optimum = programme(losses, float(np.exp(float(epsilon))), prior)
        below.append(optimum - cost)
        values = bp.Anchored(domain, epsilon, prior=prior, loss="squared")
        saved.append(1 - cost / bp.loss(values, prior, loss="squared").mean)
    print(
        f"{'means':<8} {cases} lines of 2 to 8 values: below the programme on a grid of 1/{FINENESS} step by "
        f"{min(below):.1e} to {max(below):.1e} (the grid may cost (1/{2 * FINENESS})² = {(0.5 / FINENESS) ** 2:.1e}); "
        f"{np.median(saved):.0%} less than values in the middle case, {max(saved):.0%} at most",
        flush=True,
    )


def main() -> None:
    """Print a line for each kind."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    free_reports(cases)
    for name, make in (("lines", a_line), ("trees", a_tree), ("points", some_points)):
        worst_cases(name, make, cases)


if __name__ == "__main__":
    main()

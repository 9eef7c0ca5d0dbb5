"""The sorted distances of a line and the derivatives of Algorithm 1 along them: what Figures 2 and 3 show."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.lottery import Epsilon


def sorted_distances(points: int, k: int) -> list[int]:
    """0 = λ_1 ≤ … ≤ λ_N: the distances from k to all of 1 … N."""
    return sorted(abs(k - y) for y in range(1, points + 1))


def numerator(distances: Sequence[int], i: int) -> tuple[int, int]:
    """(c0, c1) of Σ_j (λ_i − λ_j)s_j = c0 + c1·e^ε, with the first i − 1 weights raised; i counts from 1.

    Its sign is that of ∂Q/∂s_i: negative means that raising s_i lowers the expected error.
    """
    own = distances[i - 1]
    raised = sum(own - each for each in distances[: i - 1])
    rest = sum(own - each for each in distances[i - 1 :])
    return rest, raised


def local_m(distances: Sequence[int], epsilon: Epsilon) -> int:
    """The m of Algorithm 1 for one row, from the signs of the derivatives as the paper writes them: O(N²)."""
    m = 1
    for i in range(2, len(distances) + 1):
        if epsilon.sign(*numerator(distances, i)) >= 0:
            break
        m = i
    return m

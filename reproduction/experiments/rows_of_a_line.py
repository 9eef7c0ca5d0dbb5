"""Lines 1 … N: sorted distances, the derivatives of Algorithm 1 along them, and how cases of many N are counted."""

import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

from bipartite.lottery import Epsilon
from reproduction.form import Row

EPSILONS: Final = ("0.1", "0.25", "0.5", "0.75", "0.9", "1", "1.5", "2", "3", "4", "5")


def sorted_distances(points: int, k: int) -> list[int]:
    """0 = λ_1 ≤ … ≤ λ_N: the distances from k to all of 1 … N."""
    return sorted(abs(k - y) for y in range(1, points + 1))


def half(points: int) -> range:
    """Half of the values; the others mirror them."""
    return range(1, (points + 1) // 2 + 1)


@functools.lru_cache(maxsize=1)
def rows_of_half(points: int) -> list[list[int]]:
    """The sorted distances of half of the values."""
    return [sorted_distances(points, k) for k in half(points)]


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


def near(epsilon: str) -> Fraction:
    """A fraction a hair from e^ε, the same on both sides of every comparison."""
    return Fraction(math.exp(float(epsilon)))


def ends(least: int, most: int, size: int) -> tuple[int, ...]:
    """The last N of each block of so many lines, from the least N to the most: a block is one point of a grid."""
    return tuple(min(first + size - 1, most) for first in range(least, most + 1, size))


def counted(
    check: Callable[..., Row], cases: Iterable[tuple[Any, ...]], largest: Collection[str] = ()
) -> dict[str, Any]:
    """How many cases there are, and over all of them the sum of each number that a check gives; of some the largest."""
    found = [check(*case) for case in cases]
    over = {name: max if name in largest else sum for name in found[0]}
    return {"cases": len(found), **{name: of(each[name] for each in found) for name, of in over.items()}}


def over_lines(
    check: Callable[..., Row],
    least: int,
    size: int,
    cases: Collection[Any] = EPSILONS,
    largest: Collection[str] = (),
    column: str = "last",
) -> Callable[..., list[dict[str, Any]]]:
    """What measures the block of lines that ends with ``last``: a check of every N and case in it, counted."""

    def rows(last: int) -> list[dict[str, Any]]:
        block = range(last - (last - least) % size, last + 1)
        return [{column: last, **counted(check, itertools.product(block, cases), largest)}]

    return rows

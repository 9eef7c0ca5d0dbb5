"""Algorithms 1 and 2 of the paper for any losses, with every sign decided exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bipartite.errors import InputError
from bipartite.lottery import Epsilon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class RowDesign(NamedTuple):
    """The result of Algorithms 1 and 2."""

    weights: tuple[float, ...]
    """w_1 ≥ w_2 ≥ … in order of loss, for inspection; reports are drawn from integer tickets instead."""
    m: int
    """The number of weights raised to e^ε."""

    def __repr__(self) -> str:
        return f"<RowDesign: {self.m} of {len(self.weights)} weights raised>"


def algorithm_1(losses: Iterable[float], epsilon: object) -> RowDesign:
    """Algorithm 1: the locally best weights for one input.

    Raises the weights from 1 to e^ε in order of loss while that lowers the expected loss Q = L/S, that is while
    λ_i·S < L with S = Σ s_j and L = Σ λ_j·s_j. The sums are updated, so this takes O(N) steps after sorting, and every
    sign is exact: losses are rational numbers, and e^ε is enclosed in an interval.

    The paper's prose ("stop at y_i, fix m = i") is off by one from its Algorithm 1: the item at which the derivative
    becomes non-negative is *not* raised. This follows the algorithm. A row of equal losses gives m = 1.

    >>> algorithm_1([0, 1, 1, 2, 2, 3], "2").m
    1
    >>> algorithm_1([0, 1, 1, 2, 2, 3], "1").m
    3
    """
    budget = Epsilon.of(epsilon)
    ordered = exact_losses(losses)
    m = count_exactly(ordered, budget)
    return RowDesign(_weights(len(ordered), m, budget), m)


def algorithm_2(loss_rows: Sequence[Iterable[float]], epsilon: object) -> RowDesign:
    """Algorithm 2: m = min over inputs of Algorithm 1's m; the same m for every input and every prior.

    ``loss_rows[x]`` holds the losses of all outputs for input x, in any order.

    Any m that does not depend on the input is private; with the smallest no input does worse than under GRR.
    """
    budget = Epsilon.of(epsilon)
    rows = [exact_losses(row) for row in loss_rows]
    if len({len(row) for row in rows}) != 1:
        raise InputError("Expected rows of one length; pass the losses of all outputs for every input.")
    m = min(count_exactly(row, budget) for row in rows)
    return RowDesign(_weights(len(rows[0]), m, budget), m)


def count_exactly(ordered: Sequence[int], epsilon: Epsilon) -> int:
    """The number of items that Algorithm 1 raises in a sorted row of integer losses."""
    items = len(ordered)
    total = sum(ordered)
    before = 0  # Σ λ_j of the items raised so far
    count = 0
    while True:
        before += ordered[count]
        count += 1
        # λ·S − L = c0 + c1·e^ε with the first items raised; never negative for the largest loss, so this ends.
        c1 = ordered[count] * count - before
        c0 = ordered[count] * (items - count) - (total - before)
        if epsilon.sign(c0, c1) >= 0:
            return count


def exact_losses(losses: Iterable[float]) -> list[int]:
    """The sorted losses as integer multiples of a common unit, which changes no sign."""
    given = [loss.item() if isinstance(loss, np.generic) else loss for loss in losses]  # NumPy's integers are no ints
    if len(given) < 2:  # noqa: PLR2004
        raise InputError(f"Expected the losses of two items or more, got {len(given)}; add the losses of all items.")
    if all(type(loss) is int for loss in given):
        return sorted(map(int, given))
    try:
        fractions = [Fraction(loss) for loss in given]
    except (TypeError, ValueError, OverflowError):
        raise InputError("Expected losses as finite numbers; replace NaN and infinities by a large loss.") from None
    unit = math.lcm(*(fraction.denominator for fraction in fractions))
    return sorted(fraction.numerator * (unit // fraction.denominator) for fraction in fractions)


def _weights(items: int, m: int, epsilon: Epsilon) -> tuple[float, ...]:
    raised_weight = math.exp(float(epsilon))
    total = m * raised_weight + items - m
    return (raised_weight / total,) * m + (1 / total,) * (items - m)

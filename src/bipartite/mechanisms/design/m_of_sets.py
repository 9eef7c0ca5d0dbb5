"""The number m of near outputs for any losses: Algorithms 1 and 2 of the paper, with every sign decided exactly.

**Points and items**, without sorting: an item is raised exactly if its loss is below the mean loss Q so far, so
m^(x) = #{λ < Q*} with Q* the fixed point of Q ← (E·Σ_{λ<Q} λ + Σ_{λ≥Q} λ)/(E·#{λ<Q} + #{λ≥Q}). This is Dinkelbach's
iteration: it decreases from the plain mean and converges in a few passes over a row. Floats decide if no loss lies
within a proved error bound of Q; otherwise the row is decided exactly.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.errors import InputError
from bipartite.lottery import Epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.domains import SetDomain

    Progress = Callable[[int], None]
    """Called with the number of rows done since the last call."""

# Rounding of E, of each loss and of the final division, in units of 2^−52; the sums add one per item.
_ROUNDINGS: Final = 16
# Threads take rows in pieces of about this many losses, and progress is reported after each piece.
_LOSSES_A_PIECE: Final = 2**22
# Compiled code pays from this many losses on.
_COMPILE_FROM: Final = 2**23


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


def safe_m_of_set(domain: SetDomain, epsilon: Epsilon, progress: Progress | None = None) -> int:
    """Algorithm 2 on points or items: the smallest m^(x) of all x, in O(N) memory beyond the domain."""
    excess = epsilon.exp - 1
    size = len(domain)
    counts, certain = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.bool_)
    count = _row_counter(domain)
    step = max(1, _LOSSES_A_PIECE // size)
    pieces = range(0, size, step)

    def count_piece(start: int) -> int:
        stop = min(start + step, size)
        count(start, stop, excess, _ROUNDINGS, counts, certain)
        return stop - start

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done in pool.map(count_piece, pieces):
            if progress is not None:
                progress(done)
    for x in np.flatnonzero(~certain):
        counts[x] = count_exactly(exact_losses(domain.losses(int(x)).tolist()), epsilon)
    return int(counts.min())


def _row_counter(domain: SetDomain) -> Callable[..., None]:
    """The fastest way to count: compiled where it pays and is available, else NumPy row by row."""

    def with_numpy(
        start: int, stop: int, excess: float, roundings: int, counts: NDArray[np.int64], certain: NDArray[np.bool_]
    ) -> None:
        for x in range(start, stop):
            counts[x], certain[x] = count_raised(domain.losses(x), excess, roundings)

    if len(domain) ** 2 < _COMPILE_FROM:
        return with_numpy
    try:
        from bipartite.mechanisms.design.compiled_m import CompiledRows  # noqa: PLC0415 (numba is loaded only when it pays
    except Exception:  # noqa: BLE001 (NumPy gives the same m without the compiler)
        return with_numpy
    return CompiledRows(domain).count


def count_raised(losses: NDArray[np.float64], excess: float, roundings: int = _ROUNDINGS) -> tuple[int, bool]:
    """(m^(x), whether floats decide it) for one row of losses; excess is e^ε − 1."""
    with np.errstate(over="ignore"):
        above = losses - losses.min()  # shifting all losses does not change the result
        size = len(above)
        total = float(above.sum())
        bound = (size + roundings) * 2.0**-52 * max(float(np.abs(losses).max()), float(above.max()))
        mean = total / size
        count = size + 1
        while True:
            near = above < mean
            now = int(np.count_nonzero(near))
            if now >= count or not np.isfinite(mean):
                break
            count = now
            mean = (excess * float(above[near].sum()) + total) / (excess * now + size)
        doubtful = np.count_nonzero(np.abs(above - mean) <= bound)
        return max(1, count), bool(doubtful == 0 and np.isfinite(mean) and np.isfinite(bound))


def best_m_of_set(
    domain: SetDomain, epsilon: Epsilon, prior: NDArray[np.float64] | None, progress: Progress | None = None
) -> int:
    """The m with the least expected loss under a public prior: Algorithm 1 on the average of all sorted rows."""
    size = len(domain)
    average = np.zeros(size)
    for x in range(size):
        if prior is None or prior[x] > 0:
            average += np.sort(domain.losses(x)) * (1 / size if prior is None else prior[x])
        if progress is not None:
            progress(1)
    excess = epsilon.exp - 1
    items = np.arange(1, size)
    near = np.cumsum(average)[:-1]
    helps = average[1:] * (excess * items + size) < excess * near + average.sum()
    # Once another neighbour does not help, no further one does.
    return 1 + (int(np.argmin(helps)) if not helps.all() else size - 2)

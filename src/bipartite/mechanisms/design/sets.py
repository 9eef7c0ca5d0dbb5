"""The number m of near outputs on points and items: Algorithm 2 without sorting.

An item is raised exactly if its loss is below the mean loss Q so far, so m^(x) = #{λ < Q*} with Q* the fixed point of
Q ← (E·Σ_{λ<Q} λ + Σ_{λ≥Q} λ)/(E·#{λ<Q} + #{λ≥Q}). This is Dinkelbach's iteration: it decreases from the plain mean and
converges in a few passes over a row. Floats decide if no loss lies within a proved error bound of Q; otherwise the row
is decided exactly.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.mechanisms.design.rows import count_exactly, exact_losses

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.domains import SetDomain
    from bipartite.lottery import Epsilon

    Progress = Callable[[int], None]
    """Called with the number of rows done since the last call."""

# Rounding of E, of each loss and of the final division, in units of 2^−52; the sums add one per item.
_ROUNDINGS: Final = 16
# Threads take rows in pieces of about this many losses, and progress is reported after each piece.
_LOSSES_A_PIECE: Final = 2**22
# Compiled code pays from this many losses on.
_COMPILE_FROM: Final = 2**23


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
    if len(domain) ** 2 >= _COMPILE_FROM:
        try:
            from bipartite.mechanisms.design.compiled_sets import CompiledRows  # noqa: PLC0415 (numba is loaded only when it pays)
        except Exception:  # noqa: BLE001 (NumPy gives the same m without the compiler)
            return _count_with_numpy(domain)
        return CompiledRows(domain).count
    return _count_with_numpy(domain)


def _count_with_numpy(domain: SetDomain) -> Callable[..., None]:
    def count(
        start: int, stop: int, excess: float, roundings: int, counts: NDArray[np.int64], certain: NDArray[np.bool_]
    ) -> None:
        for x in range(start, stop):
            counts[x], certain[x] = count_raised(domain.losses(x), excess, roundings)

    return count


def count_raised(losses: NDArray[np.float64], excess: float, roundings: int = _ROUNDINGS) -> tuple[int, bool]:
    """(m^(x), whether floats decide it) for one row of losses; excess is e^ε − 1."""
    with np.errstate(over="ignore"):
        return _count_raised(losses, excess, roundings)


def _count_raised(losses: NDArray[np.float64], excess: float, roundings: int) -> tuple[int, bool]:
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

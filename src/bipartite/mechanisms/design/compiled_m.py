"""Algorithm 2 on points and items, compiled by numba; `m_of_sets.py` explains the algorithm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import njit, types

from bipartite.domains.points import EARTH_RADIUS_KM, UNIT
from bipartite.lottery.jit import OPTIONS, read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import SetDomain

_EUCLIDEAN, _MANHATTAN, _HAVERSINE, _MATRIX = 0, 1, 2, 3
_VECTORS: Final = read_only(types.int64, 2)
_LOSSES: Final = read_only(types.float64, 2)


@njit(
    types.void(_VECTORS, _LOSSES, *[types.int64] * 3, *[types.float64] * 3, types.int64[::1], types.boolean[::1]),
    **OPTIONS,
)
def _count_rows(
    vectors: Any,
    losses: Any,
    kind: Any,
    start: Any,
    stop: Any,
    unit: Any,
    excess: Any,
    roundings: Any,
    counts: Any,
    certain: Any,
) -> None:
    size = counts.shape[0]
    row = np.empty(size, dtype=np.float64)
    for x in range(start, stop):
        largest = 0.0
        least = np.inf
        for y in range(size):
            if kind == _MATRIX:
                loss = losses[x, y]
            else:
                distance = np.int64(0)
                for axis in range(vectors.shape[1]):
                    difference = vectors[y, axis] - vectors[x, axis]
                    distance += abs(difference) if kind == _MANHATTAN else difference * difference
                if kind == _MANHATTAN:
                    loss = distance * unit
                elif kind == _EUCLIDEAN:
                    loss = math.sqrt(distance) * unit
                else:
                    loss = 2 * EARTH_RADIUS_KM * math.asin(min(math.sqrt(distance) * unit, 1.0))
            row[y] = loss
            largest = max(largest, abs(loss))
            least = min(least, loss)
        total = 0.0
        for y in range(size):
            row[y] -= least
            total += row[y]
        bound = (size + roundings) * 2.0**-52 * max(largest, largest - least)
        mean = total / size
        count = size + 1
        while True:
            now = 0
            near = 0.0
            for y in range(size):
                below = row[y] < mean
                now += below
                near += row[y] if below else 0.0
            if now >= count or not math.isfinite(mean):
                break
            count = now
            mean = (excess * near + total) / (excess * now + size)
        doubtful = 0
        for y in range(size):
            doubtful += abs(row[y] - mean) <= bound
        counts[x] = max(1, count)
        certain[x] = doubtful == 0 and math.isfinite(mean) and math.isfinite(bound)


class CompiledRows:
    """Counts the raised items in rows of a domain."""

    __slots__ = ("_arguments", "_unit")

    def __init__(self, domain: SetDomain) -> None:
        none = np.zeros((0, 0))
        if (vectors := domain.vectors) is not None:
            kind = {"euclidean": _EUCLIDEAN, "manhattan": _MANHATTAN, "haversine": _HAVERSINE}[str(domain.metric)]
            self._arguments: tuple[Any, ...] = (vectors, none, kind)
            self._unit = 1 / (2 * UNIT) if domain.metric == "haversine" else 2.0**-domain.bits
        else:
            self._arguments = (np.zeros((0, 0), dtype=np.int64), domain.loss_matrix(), _MATRIX)
            self._unit = 1.0

    def count(
        self,
        start: int,
        stop: int,
        excess: float,
        roundings: int,
        counts: NDArray[np.int64],
        certain: NDArray[np.bool_],
    ) -> None:
        """Fill counts and certain for the rows from start to stop."""
        _count_rows(*self._arguments, start, stop, self._unit, excess, float(roundings), counts, certain)

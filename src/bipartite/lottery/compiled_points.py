"""Sets of points as machine code (numba): the m-th neighbours of all points, and the bulk draw.

Importing this module compiles the kernels, or loads them from numba's cache.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import config, njit, types

from bipartite.lottery.compiled import _wide_product, reciprocal_of
from bipartite.lottery.order import RankOrder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.order import Order
    from bipartite.lottery.points import PointLottery

if config.DISABLE_JIT:
    msg = "numba's compiler is switched off"
    raise ImportError(msg)

_u64 = np.uint64
_i64 = np.int64
# How distances are held: squared differences of vectors, absolute ones, or a table of ranks.
SQUARED, MANHATTAN, RANKS = 0, 1, 2
_VECTORS: Final = types.Array(types.int64, 2, "C", readonly=True)
# Rows are handed to threads in pieces of about this many distances.
_DISTANCES_A_CALL: Final = 2**22
_TABLE: Final = types.Array(types.int32, 2, "C", readonly=True)


@njit(inline="always")
def _distance(vectors: Any, ranks: Any, kind: Any, x: Any, y: Any) -> Any:
    if kind == RANKS:
        return _i64(ranks[x, y])
    total = _i64(0)
    for axis in range(vectors.shape[1]):
        difference = vectors[y, axis] - vectors[x, axis]
        total += difference * difference if kind == SQUARED else abs(difference)
    return total


@njit(
    types.void(_VECTORS, _TABLE, *[types.int64] * 4, types.int64[::1], types.int64[::1]),
    cache=True,
    nogil=True,
    boundscheck=False,
)
def _farthest(vectors: Any, ranks: Any, kind: Any, m: Any, start: Any, stop: Any, distance: Any, index: Any) -> None:
    """For every x in [start, stop) the distance and index of its m-th output; −1 for x itself."""
    size = distance.shape[0]
    row = np.empty(size, dtype=np.int64)
    for x in range(start, stop):
        for y in range(size):
            row[y] = _distance(vectors, ranks, kind, x, y)
        own = row[x]
        bound = np.partition(row, m - 1)[m - 1]
        needed = m
        for y in range(size):
            needed -= row[y] < bound
        last = _i64(-1)
        if own == bound:
            needed -= 1
        for y in range(size):
            if needed == 0:
                break
            if row[y] == bound and y != x:
                needed -= 1
                last = _i64(y)
        distance[x] = bound
        index[x] = last


_CODES: Final = types.Array(types.int64, 1, "C", readonly=True)


@njit(
    types.UniTuple(types.int64, 2)(
        _CODES,
        types.int64[::1],
        types.Array(types.uint64, 1, "C", readonly=True),
        _VECTORS,
        _TABLE,
        types.int64,
        _CODES,
        _CODES,
        *[types.uint64] * 6,
    ),
    cache=True,
    nogil=True,
    boundscheck=False,
)
def _draw_by_tries(
    codes: Any,
    reports: Any,
    words: Any,
    vectors: Any,
    ranks: Any,
    kind: Any,
    farthest: Any,
    last: Any,
    drawn_from: Any,
    redraw_below: Any,
    near: Any,
    far: Any,
    reciprocal: Any,
    reciprocal_shift: Any,
) -> Any:
    # Whether a try is kept is added, not branched on: it cannot be predicted, and its time should not tell.
    # Unsigned indices spare the test for negative ones.
    values = _u64(codes.shape[0])
    i = _u64(0)
    in_space = kind == SQUARED and vectors.shape[1] == 3  # noqa: PLR2004 (places: by far the most used)
    for j in range(words.shape[0]):
        if i >= values:
            return _i64(i), j
        x = _u64(codes[i])
        ticket, low = _wide_product(words[j], drawn_from)
        y = _wide_product(ticket, reciprocal)[0] >> reciprocal_shift
        rest = ticket - y * near
        if in_space:
            d0 = vectors[y, _u64(0)] - vectors[x, _u64(0)]
            d1 = vectors[y, _u64(1)] - vectors[x, _u64(1)]
            d2 = vectors[y, _u64(2)] - vectors[x, _u64(2)]
            distance = d0 * d0 + d1 * d1 + d2 * d2
        else:
            distance = _distance(vectors, ranks, kind, x, y)
        bound = farthest[x]
        is_near = (distance < bound) | ((distance == bound) & ((y == x) | (_i64(y) <= last[x])))
        reports[i] = _i64(y)
        i += _u64((low >= redraw_below) & (is_near | (rest < far)))
    return _i64(i), words.shape[0]


class NearestTable:
    """The m-th neighbours of all points, found once for all values: nothing here depends on a private value."""

    __slots__ = ("arguments", "farthest", "last")

    def __init__(self, order: Order, m: int) -> None:
        none = np.zeros((0, 0), dtype=np.int32)
        if isinstance(order, RankOrder):
            self.arguments: tuple[Any, ...] = (np.zeros((0, 0), dtype=np.int64), order.ranks, RANKS)
        else:
            self.arguments = (order.vectors, none, SQUARED if order.kind == "squared" else MANHATTAN)
        self.farthest: NDArray[np.int64] = np.empty(len(order), dtype=np.int64)
        self.last: NDArray[np.int64] = np.empty(len(order), dtype=np.int64)
        step = max(1, _DISTANCES_A_CALL // len(order))
        starts = range(0, len(order), step)

        def find(start: int) -> None:
            _farthest(*self.arguments, m, start, min(start + step, len(order)), self.farthest, self.last)

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for _ in pool.map(find, starts):
                pass


@functools.lru_cache(maxsize=4)
def nearest_table(lottery: PointLottery) -> NearestTable:
    """The table of a lottery, made once: it holds what is public, the same for every value."""
    return NearestTable(lottery.order, lottery.m)


class CompiledTries:
    """Draws blocks of reports on a set of points with the compiled kernel."""

    __slots__ = ("_numbers", "_table")

    def __init__(self, lottery: PointLottery) -> None:
        self._table = nearest_table(lottery)
        self._numbers = (
            _u64(lottery.drawn_from),
            _u64(lottery.redraw_below),
            _u64(lottery.tickets.near),
            _u64(lottery.tickets.far),
            *map(_u64, reciprocal_of(lottery.tickets.near)),
        )

    def draw(
        self,
        codes: NDArray[np.int64],
        reports: NDArray[np.int64],
        words: NDArray[np.uint64],
        code_offset: int,  # noqa: ARG002 (points are their own codes)
        report_offset: int,  # noqa: ARG002
    ) -> tuple[int, int, bool]:
        """Draw for as many codes as the words serve; return (values done, words used, all codes inside the domain)."""
        table = self._table
        if not len(codes):
            return 0, 0, True
        if codes.min() < 0 or codes.max() >= len(table.farthest):
            return 0, 0, False
        done, used = _draw_by_tries(codes, reports, words, *table.arguments, table.farthest, table.last, *self._numbers)
        return done, used, True

"""The compiled (numba) bulk draw on sets of points.

Importing this module compiles the kernels, or loads them from numba's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit, types

from bipartite.lottery.compiled import reciprocal_of
from bipartite.lottery.compiled_nearest import RANKS, SQUARED, VECTORS, WHOLE, distance_between
from bipartite.lottery.deal import all_inside
from bipartite.lottery.jit import OPTIONS, read_only, wide_product
from bipartite.lottery.uniform import tickets_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.lottery.deal import Drawn, Kernel, Whole, Words
    from bipartite.lottery.points import Nearest

    _Some = Callable[[Whole, Whole, Words], tuple[int, int]]

_u64 = np.uint64
_i64 = np.int64


@njit(
    types.UniTuple(types.int64, 2)(
        WHOLE, types.int64[::1], read_only(types.uint64), VECTORS, RANKS, types.int64, WHOLE, WHOLE, *[types.uint64] * 6
    ),
    **OPTIONS,
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
    # Whether a try is accepted is added rather than branched on: it is unpredictable, and the time must not reveal it.
    # Unsigned indices avoid the check for negative ones.
    values = _u64(codes.shape[0])
    i = _u64(0)
    in_space = kind == SQUARED and vectors.shape[1] == 3  # noqa: PLR2004 (places: by far the most used)
    for j in range(words.shape[0]):
        if i >= values:
            return _i64(i), j
        x = _u64(codes[i])
        ticket, low = wide_product(words[j], drawn_from)
        y = wide_product(ticket, reciprocal)[0] >> reciprocal_shift
        rest = ticket - y * near
        if in_space:
            d0 = vectors[y, _u64(0)] - vectors[x, _u64(0)]
            d1 = vectors[y, _u64(1)] - vectors[x, _u64(1)]
            d2 = vectors[y, _u64(2)] - vectors[x, _u64(2)]
            distance = d0 * d0 + d1 * d1 + d2 * d2
        else:
            distance = distance_between(vectors, ranks, kind, x, y)
        bound = farthest[x]
        is_near = (distance < bound) | ((distance == bound) & ((y == x) | (_i64(y) <= last[x])))
        reports[i] = _i64(y)
        i += _u64((low >= redraw_below) & (is_near | (rest < far)))
    return _i64(i), words.shape[0]


@njit(
    types.void(WHOLE, types.int64[::1], WHOLE, WHOLE, VECTORS, RANKS, types.int64, WHOLE, WHOLE, *[types.int64] * 4),
    **OPTIONS,
)
def _draw_from_lists(
    codes: Any,
    reports: Any,
    visits: Any,
    tickets: Any,
    vectors: Any,
    ranks: Any,
    kind: Any,
    farthest: Any,
    last: Any,
    m: Any,
    near_total: Any,
    near: Any,
    far: Any,
) -> None:
    """Find the outputs that hold these tickets; values are visited in order, so that each list is built once."""
    size = farthest.shape[0]
    listed = np.empty(m + 1, dtype=np.int64)  # one spare: an output is written first and counted only if it is near
    listed_for = _i64(-1)
    in_space = kind == SQUARED and vectors.shape[1] == 3  # noqa: PLR2004 (places: by far the most used)
    for visit in range(visits.shape[0]):
        i = visits[visit]
        x = codes[i]
        if x != listed_for:
            listed_for = x
            found = 0
            bound, tied_until = farthest[x], last[x]
            if in_space:
                x0, x1, x2 = vectors[x, 0], vectors[x, 1], vectors[x, 2]
                for y in range(size):
                    d0, d1, d2 = vectors[y, 0] - x0, vectors[y, 1] - x1, vectors[y, 2] - x2
                    distance = d0 * d0 + d1 * d1 + d2 * d2
                    listed[found] = y
                    found += (distance < bound) | ((distance == bound) & ((y == x) | (y <= tied_until)))
            else:
                for y in range(size):
                    distance = distance_between(vectors, ranks, kind, x, y)
                    listed[found] = y
                    found += (distance < bound) | ((distance == bound) & ((y == x) | (y <= tied_until)))
        ticket = tickets[i]
        near_output = listed[min(ticket // near, m - 1)]
        # Far output k is preceded by the near outputs that have at most k far outputs before them.
        number = max(ticket - near_total, 0) // far
        low, high = 0, m
        while low < high:
            middle = (low + high) // 2
            if listed[middle] - middle <= number:
                low = middle + 1
            else:
                high = middle
        reports[i] = near_output if ticket < near_total else number + low


def point_kernel(points: Nearest) -> Kernel:
    """The compiled kernel of a set of points, whose codes are their indices."""
    some = _listed(points) if points.by_list else _tried(points)

    def draw(codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        del code_offset, report_offset
        if not len(codes) or not all_inside(codes, points.inputs):
            return 0, 0, not len(codes)
        return *some(codes, reports, words), True

    return draw


def _listed(points: Nearest) -> _Some:
    """Draw by the rule of windows, with the near outputs of each value listed."""
    table = points.neighbours()

    def draw(codes: Whole, reports: Whole, words: Words) -> tuple[int, int]:
        # Whether a word is redrawn does not depend on the value, so every value's word is known at once.
        tickets, used = tickets_below(points.drawn_from, words, len(codes))
        done = len(tickets)
        visits = np.argsort(codes[:done], kind="stable")
        _draw_from_lists(
            codes[:done],
            reports[:done],
            visits,
            tickets.view(np.int64),
            *table.arguments,
            table.farthest,
            table.last,
            points.m,
            points.near_total,
            points.tickets.near,
            points.tickets.far,
        )
        return done, used

    return draw


def _tried(points: Nearest) -> _Some:
    """Draw by rejection."""
    table, tickets = points.neighbours(), points.tickets
    numbers = (points.drawn_from, points.redraw_below, tickets.near, tickets.far, *reciprocal_of(tickets.near))
    known = (*table.arguments, table.farthest, table.last, *map(_u64, numbers))

    def draw(codes: Whole, reports: Whole, words: Words) -> tuple[int, int]:
        done, used = _draw_by_tries(codes, reports, words, *known)
        return done, used

    return draw

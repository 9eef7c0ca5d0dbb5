"""Sums over all items for many possible anchors, as machine code (numba); `anchor_losses.py` says what they mean.

Losses are computed on the fly, in pieces that stay in the cache: no table of all pairs is made.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numba import config, njit, types

from bipartite.domains.points import EARTH_RADIUS_KM

if config.DISABLE_JIT:
    msg = "numba's compiler is switched off"
    raise ImportError(msg)

EUCLIDEAN, MANHATTAN, HAVERSINE, MATRIX = 0, 1, 2, 3
# Columns that are worked on together: a cache line of a matrix of losses.
_TOGETHER: Final = 8
# Items worked on together: 8 columns of 512 losses stay in the first cache.
_TILE: Final = 512
# asin(√z)/√z on [0, 1/2] as a polynomial in z, by Chebyshev interpolation: off by less than 1e-11 of itself. Larger z
# go through asin(√z) = π/2 − asin(√(1−z)). One square root, no branch: vector instructions do it.
ARC_ERROR: Final = 1e-10
# The domain's own losses take asin of a rounded root, which near the antipodes is off by √(2·2^−53): losses of the two
# differ by less than this part.
LOSS_ERROR: Final = 2e-8
_C0, _C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = (
    0.999999999994685,
    0.16666666972322858,
    0.07499971094054032,
    0.044653488653867826,
    0.030181533475688627,
    0.024579737152414304,
    0.002128237218721364,
    0.08190381809097139,
    -0.18557060941638176,
    0.3718252429044575,
    -0.3800978569568271,
    0.20080490883347873,
)
_REASSOCIATE: Final = {"reassoc", "contract", "nsz"}
_REALS: Final = types.Array(types.float64, 1, "C", readonly=True)
_WHOLES: Final = types.Array(types.int64, 1, "C", readonly=True)
_TABLE: Final = types.Array(types.float64, 2, "C", readonly=True)
_SOURCE: Final = (types.int64, types.float64, types.boolean, _TABLE, _TABLE, _TABLE, _WHOLES, types.boolean)


@njit(inline="always")
def _arc(z: Any) -> Any:
    """asin(√z) for z in [0, 1], without a branch."""
    near = z <= 0.5  # noqa: PLR2004 (the middle of the range)
    u = z if near else 1.0 - z
    u = max(0.0, u)  # rounding may lift a chord above the diameter
    p = _C10 + u * _C11
    p = _C9 + u * p
    p = _C8 + u * p
    p = _C7 + u * p
    p = _C6 + u * p
    p = _C5 + u * p
    p = _C4 + u * p
    p = _C3 + u * p
    p = _C2 + u * p
    p = _C1 + u * p
    p = _C0 + u * p
    a = math.sqrt(u) * p
    return a if near else math.pi / 2 - a


@njit(types.void(types.float64[::1], types.float64[::1]), cache=True, nogil=True, error_model="numpy")
def arcs(z: Any, out: Any) -> None:
    """The kernel's own asin(√z), for tests."""
    for i in range(z.shape[0]):
        out[i] = _arc(z[i])


@njit(
    types.void(*_SOURCE, types.int64, types.int64, types.int64, types.float64[::1]),
    cache=True,
    nogil=True,
    boundscheck=False,
    error_model="numpy",
    fastmath=_REASSOCIATE,
)
def _fill(
    kind: Any,
    unit: Any,
    squared: Any,
    axes: Any,
    sites: Any,
    matrix: Any,
    rows: Any,
    symmetric: Any,
    y: Any,
    start: Any,
    stop: Any,
    out: Any,
) -> None:
    """The losses of reporting y for the items start … stop−1."""
    # Slices, so that every index runs from zero: only then does LLVM use vector instructions.
    length = stop - start
    if kind == MATRIX:
        for i in range(length):
            out[i] = matrix[y, rows[start + i]] if symmetric else matrix[rows[start + i], y]
    elif kind == MANHATTAN:
        for i in range(length):
            out[i] = 0.0
        for axis in range(axes.shape[0]):
            at = sites[axis, y]
            along = axes[axis, start:stop]
            for i in range(length):
                out[i] += abs(along[i] - at)
        for i in range(length):
            out[i] *= unit
    else:
        if axes.shape[0] == 3:  # noqa: PLR2004 (places: by far the most used)
            a, b, c = sites[0, y], sites[1, y], sites[2, y]
            first, second, third = axes[0, start:stop], axes[1, start:stop], axes[2, start:stop]
            for i in range(length):
                p, q, r = first[i] - a, second[i] - b, third[i] - c
                out[i] = p * p + q * q + r * r
        else:
            for i in range(length):
                out[i] = 0.0
            for axis in range(axes.shape[0]):
                at = sites[axis, y]
                along = axes[axis, start:stop]
                for i in range(length):
                    difference = along[i] - at
                    out[i] += difference * difference
        if kind == EUCLIDEAN:
            for i in range(length):
                out[i] = math.sqrt(out[i]) * unit
        else:
            square = unit * unit
            for i in range(length):
                out[i] = (2 * EARTH_RADIUS_KM) * _arc(out[i] * square)
    if squared:
        for i in range(length):
            out[i] *= out[i]


@njit(
    types.void(
        *_SOURCE,
        _WHOLES,
        *[_REALS] * 3,
        _WHOLES,
        _REALS,
        types.float64[::1],
        types.float64[::1],
        types.float64[::1],
        types.int64[::1],
    ),
    cache=True,
    nogil=True,
    boundscheck=False,
    error_model="numpy",
    fastmath=_REASSOCIATE,
)
def sweep(
    kind: Any,
    unit: Any,
    squared: Any,
    axes: Any,
    sites: Any,
    matrix: Any,
    rows: Any,
    symmetric: Any,
    columns: Any,
    prior: Any,
    low: Any,
    high: Any,
    starts: Any,
    refunds: Any,
    totals: Any,
    gains: Any,
    swaps: Any,
    leaving: Any,
) -> None:
    """Fill a `Sweep` for some columns."""
    size = prior.shape[0]
    groups = starts.shape[0] - 1
    buffer = np.empty((_TOGETHER, _TILE), dtype=np.float64)
    raised = np.empty((_TOGETHER, groups), dtype=np.float64)
    for first in range(0, columns.shape[0], _TOGETHER):
        together = min(_TOGETHER, columns.shape[0] - first)
        for j in range(together):
            totals[first + j] = 0.0
            gains[first + j] = 0.0
            for group in range(groups):
                raised[j, group] = -refunds[group]
        group = 0
        for start in range(0, size, _TILE):
            stop = min(start + _TILE, size)
            if kind == MATRIX and not symmetric:
                # Eight columns at once: each row of a large matrix is fetched once.
                for i in range(start, stop):
                    for j in range(together):
                        loss = matrix[rows[i], columns[first + j]]
                        buffer[j, i - start] = loss * loss if squared else loss
            else:
                for j in range(together):
                    _fill(
                        kind,
                        unit,
                        squared,
                        axes,
                        sites,
                        matrix,
                        rows,
                        symmetric,
                        columns[first + j],
                        start,
                        stop,
                        buffer[j],
                    )
            for j in range(together):
                total = 0.0
                gain = 0.0
                row, share, bar = buffer[j, : stop - start], prior[start:stop], low[start:stop]
                for i in range(stop - start):
                    total += share[i] * row[i]
                    over = bar[i] - row[i]
                    gain += share[i] * max(0.0, over)
                totals[first + j] += total
                gains[first + j] += gain
            # The items of one anchor stand together, so that these sums have no scattered writes.
            if groups > 0:
                while starts[group + 1] <= start:
                    group += 1
                begin, at = start, group
                while begin < stop:
                    end = min(stop, starts[at + 1])
                    share, bar, lid = prior[begin:end], low[begin:end], high[begin:end]
                    for j in range(together):
                        row = buffer[j, begin - start : end - start]
                        rise = 0.0
                        for i in range(end - begin):
                            up = max(bar[i], row[i])
                            up = min(lid[i], up)
                            rise += share[i] * (up - bar[i])
                        raised[j, at] += rise
                    begin = end
                    at += 1
        for j in range(together):
            best = np.inf
            for at in range(groups):
                if raised[j, at] < best:
                    best = raised[j, at]
                    leaving[first + j] = at
            swaps[first + j] = best


@njit(
    types.void(*_SOURCE, _WHOLES, _REALS, _REALS, types.int64, types.int64, types.float64[::1]),
    cache=True,
    nogil=True,
    boundscheck=False,
    error_model="numpy",
    fastmath=_REASSOCIATE,
)
def served(
    kind: Any,
    unit: Any,
    squared: Any,
    axes: Any,
    sites: Any,
    matrix: Any,
    rows: Any,
    symmetric: Any,
    columns: Any,
    weights: Any,
    levels: Any,
    begin: Any,
    end: Any,
    out: Any,
) -> None:
    """Fill the weight of the columns below each item's level, for the items begin … end−1."""
    buffer = np.empty(_TILE, dtype=np.float64)
    for start in range(begin, end, _TILE):
        stop = min(start + _TILE, end)
        for i in range(start, stop):
            out[i] = 0.0
        for j in range(columns.shape[0]):
            _fill(kind, unit, squared, axes, sites, matrix, rows, symmetric, columns[j], start, stop, buffer)
            weight, bar, into = weights[j], levels[start:stop], out[start:stop]
            for i in range(stop - start):
                into[i] += weight if buffer[i] < bar[i] else 0.0

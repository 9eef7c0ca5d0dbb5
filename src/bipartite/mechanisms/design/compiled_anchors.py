"""Sums over all items for many candidate anchors, compiled by numba; `anchor_losses.py` defines them.

Losses are computed on the fly, in blocks that stay in the cache: no table of all pairs is made.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numba import njit, types

from bipartite.domains.points import EARTH_RADIUS_KM
from bipartite.lottery.jit import OPTIONS, read_only

EUCLIDEAN, MANHATTAN, HAVERSINE, MATRIX = 0, 1, 2, 3
# Columns per block: a cache line of a matrix of losses.
_TOGETHER: Final = 8
# Items per block: 8 columns of 512 losses stay in the L1 cache.
_TILE: Final = 512
# asin(√z)/√z on [0, 1/2] as a polynomial in z, by Chebyshev interpolation: relative error below 1e-11. Larger z use
# asin(√z) = π/2 − asin(√(1−z)). One square root and no branch, so that it vectorises.
ARC_ERROR: Final = 1e-10
# The domain's own losses take asin of a rounded root, which near the antipodes is off by √(2·2^−53): the relative
# difference of the two is below this.
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
_REALS: Final = read_only(types.float64)
_WHOLES: Final = read_only(types.int64)
_TABLE: Final = read_only(types.float64, 2)
_WRITE: Final = types.float64[::1]
# The source of losses: (kind, unit, squared, axes, sites, matrix, rows, symmetric), see `AnchorLosses._source`.
_LOSSES: Final = types.Tuple(
    (types.int64, types.float64, types.boolean, _TABLE, _TABLE, _TABLE, _WHOLES, types.boolean)
)
# The items: (prior, low, high, starts, refunds), in the order of `Groups`.
_ITEMS: Final = types.Tuple((_REALS, _REALS, _REALS, _WHOLES, _REALS))
# A `Sweep`: (totals, gains, swaps, leaving).
_SWEEP: Final = types.Tuple((_WRITE, _WRITE, _WRITE, types.int64[::1]))
_OPTIONS: Final = OPTIONS | {"fastmath": {"reassoc", "contract", "nsz"}}


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


@njit(types.void(_WRITE, _WRITE), cache=True, nogil=True, error_model="numpy")
def arcs(z: Any, out: Any) -> None:
    """The kernel's own asin(√z), for tests."""
    for i in range(z.shape[0]):
        out[i] = _arc(z[i])


@njit(types.void(_LOSSES, types.int64, types.int64, types.int64, _WRITE), **_OPTIONS)
def _fill(losses: Any, y: Any, start: Any, stop: Any, out: Any) -> None:
    """The losses of reporting y for the items start … stop−1."""
    kind, unit, squared, axes, sites, matrix, rows, symmetric = losses
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


@njit(types.void(_LOSSES, _WHOLES, types.int64, types.int64, types.float64[:, ::1]), **_OPTIONS)
def _fill_columns(losses: Any, columns: Any, start: Any, stop: Any, buffer: Any) -> None:
    """The same for several columns, one row of the buffer each."""
    kind, _, squared, _, _, matrix, rows, symmetric = losses
    if kind == MATRIX and not symmetric:
        # All columns at once: each row of a large matrix is fetched once.
        for i in range(start, stop):
            for j in range(columns.shape[0]):
                loss = matrix[rows[i], columns[j]]
                buffer[j, i - start] = loss * loss if squared else loss
    else:
        for j in range(columns.shape[0]):
            _fill(losses, columns[j], start, stop, buffer[j])


@njit(types.UniTuple(types.float64, 2)(_REALS, _REALS, _REALS), **_OPTIONS)
def _total_and_gain(row: Any, share: Any, bar: Any) -> Any:
    """Σ π_x L(x, y) and Σ π_x (low_x − L(x, y))⁺."""
    total = 0.0
    gain = 0.0
    for i in range(row.shape[0]):
        total += share[i] * row[i]
        over = bar[i] - row[i]
        gain += share[i] * max(0.0, over)
    return total, gain


@njit(types.float64(_REALS, _REALS, _REALS, _REALS), **_OPTIONS)
def _rise(row: Any, share: Any, bar: Any, lid: Any) -> Any:
    """Σ π_x (min(max(L(x, y), low_x), high_x) − low_x)."""
    rise = 0.0
    for i in range(row.shape[0]):
        up = max(bar[i], row[i])
        up = min(lid[i], up)
        rise += share[i] * (up - bar[i])
    return rise


@njit(types.void(_LOSSES, _ITEMS, _WHOLES, _SWEEP), **_OPTIONS)
def sweep(losses: Any, items: Any, columns: Any, into: Any) -> None:
    """Fill a `Sweep` for some columns."""
    prior, low, high, starts, refunds = items
    totals, gains, swaps, leaving = into
    size = prior.shape[0]
    groups = starts.shape[0] - 1
    buffer = np.empty((_TOGETHER, _TILE), dtype=np.float64)
    raised = np.empty((_TOGETHER, groups), dtype=np.float64)
    for first in range(0, columns.shape[0], _TOGETHER):
        some = columns[first : first + _TOGETHER]
        together = some.shape[0]
        for j in range(together):
            totals[first + j] = 0.0
            gains[first + j] = 0.0
            for group in range(groups):
                raised[j, group] = -refunds[group]
        group = 0
        for start in range(0, size, _TILE):
            stop = min(start + _TILE, size)
            _fill_columns(losses, some, start, stop, buffer)
            for j in range(together):
                total, gain = _total_and_gain(buffer[j, : stop - start], prior[start:stop], low[start:stop])
                totals[first + j] += total
                gains[first + j] += gain
            # The items of one anchor are contiguous, so these sums have no scattered writes.
            if groups > 0:
                while starts[group + 1] <= start:
                    group += 1
                begin, at = start, group
                while begin < stop:
                    end = min(stop, starts[at + 1])
                    share, bar, lid = prior[begin:end], low[begin:end], high[begin:end]
                    for j in range(together):
                        raised[j, at] += _rise(buffer[j, begin - start : end - start], share, bar, lid)
                    begin = end
                    at += 1
        for j in range(together):
            best = np.inf
            for at in range(groups):
                if raised[j, at] < best:
                    best = raised[j, at]
                    leaving[first + j] = at
            swaps[first + j] = best


@njit(types.void(_LOSSES, _WHOLES, _REALS, _REALS, types.int64, types.int64, _WRITE), **_OPTIONS)
def weight_below(losses: Any, columns: Any, weights: Any, levels: Any, begin: Any, end: Any, out: Any) -> None:
    """Fill in the weight of the columns below each item's level, for the items begin … end−1."""
    buffer = np.empty(_TILE, dtype=np.float64)
    for start in range(begin, end, _TILE):
        stop = min(start + _TILE, end)
        for i in range(start, stop):
            out[i] = 0.0
        for j in range(columns.shape[0]):
            _fill(losses, columns[j], start, stop, buffer)
            weight, bar, into = weights[j], levels[start:stop], out[start:stop]
            for i in range(stop - start):
                into[i] += weight if buffer[i] < bar[i] else 0.0

"""Sets of points as machine code (numba): the bulk draw.

Importing this module compiles the kernels, or loads them from numba's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import config, njit, types

from bipartite.lottery.compiled import _wide_product, reciprocal_of
from bipartite.lottery.compiled_nearest import SQUARED, TABLE, VECTORS, distance_between

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery.points import PointLottery

if config.DISABLE_JIT:
    msg = "numba's compiler is switched off"
    raise ImportError(msg)

_u64 = np.uint64
_i64 = np.int64
_CODES: Final = types.Array(types.int64, 1, "C", readonly=True)


@njit(
    types.UniTuple(types.int64, 2)(
        _CODES,
        types.int64[::1],
        types.Array(types.uint64, 1, "C", readonly=True),
        VECTORS,
        TABLE,
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
            distance = distance_between(vectors, ranks, kind, x, y)
        bound = farthest[x]
        is_near = (distance < bound) | ((distance == bound) & ((y == x) | (_i64(y) <= last[x])))
        reports[i] = _i64(y)
        i += _u64((low >= redraw_below) & (is_near | (rest < far)))
    return _i64(i), words.shape[0]


class CompiledTries:
    """Draws blocks of reports on a set of points with the compiled kernel."""

    __slots__ = ("_numbers", "_table")

    def __init__(self, lottery: PointLottery) -> None:
        self._table = lottery.neighbours()
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

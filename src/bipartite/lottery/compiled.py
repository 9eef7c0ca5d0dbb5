"""The compiled (numba) bulk draw on a line: the same reports from the same random words as the NumPy and scalar draws.

Importing this module compiles the kernel, or loads it from numba's cache; `kernel.py` says when.

Speed: words are processed in runs of 128. A run is drawn by straight-line integer arithmetic that the compiler turns
into vector instructions: no branch, no 128-bit product, no division (u div a is a multiplication by a precomputed
reciprocal). Each ticket is checked for a cheap necessary condition for a redraw; the few runs in which some word meets
it are drawn again one word at a time, with the exact condition.

Timing: which runs are drawn twice depends on the random words alone, and the near and the far outcome are both
computed and one is selected by a mask, so the time reveals neither near from far nor one private value from another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import njit, types

from bipartite.lottery.deal import all_inside
from bipartite.lottery.jit import OPTIONS, read_only, wide_product

if TYPE_CHECKING:
    from bipartite.lottery.deal import Drawn, Kernel, Whole, Words
    from bipartite.lottery.window import Window

_u64 = np.uint64
_i64 = np.int64
_RUN: Final = 128
_HALF: Final = _u64(32)
_LOW: Final = _u64(2**32 - 1)
# W ≤ 2^52, so a redraw needs the low half of w·W below 2^52: its top 12 bits are zero.
_TOP: Final = _u64(0xFFF00000)


@njit(
    types.Tuple((types.int64, types.int64, types.boolean))(
        read_only(types.int64), types.int64[::1], read_only(types.uint64), *[types.int64] * 6, *[types.uint64] * 6
    ),
    **OPTIONS,
)
def _draw(
    codes: Any,
    reports: Any,
    words: Any,
    code_offset: Any,
    report_offset: Any,
    inputs: Any,
    m: Any,
    shift: Any,
    last_start: Any,
    total: Any,
    redraw_below: Any,
    near_total: Any,
    reciprocal: Any,
    reciprocal_shift: Any,
    far_shift: Any,
) -> Any:
    values, available = codes.shape[0], words.shape[0]
    total0, total1 = total & _LOW, total >> _HALF
    reciprocal0, reciprocal1 = reciprocal & _LOW, reciprocal >> _HALF
    last_index = inputs - 1
    # Signs are combined by OR: negative at the end if any was.
    outside = _i64(0)
    i = 0
    j = 0
    while i < values and j < available:
        run = min(_RUN, values - i, available - j)
        code_run, report_run, word_run = codes[i : i + run], reports[i : i + run], words[j : j + run]
        suspicious = _i64(0)
        for t in range(run):
            word = word_run[t]
            # ticket = ⌊word·total / 2^64⌋ by 32-bit halves.
            word0, word1 = word & _LOW, word >> _HALF
            middle = word1 * total0 + ((word0 * total0) >> _HALF)
            carry = (middle & _LOW) + word0 * total1
            ticket = word1 * total1 + (middle >> _HALF) + (carry >> _HALF)
            suspicious |= _i64(carry & _TOP) - 1
            # ticket div near, by the reciprocal. ticket < 2^52 and reciprocal < 2^64, so ticket1 < 2^20 and
            # reciprocal1 ≤ 2^31 (see reciprocal_of), and the three middle terms cannot overflow together.
            ticket0, ticket1 = ticket & _LOW, ticket >> _HALF
            middle = ticket1 * reciprocal0 + ticket0 * reciprocal1 + ((ticket0 * reciprocal0) >> _HALF)
            quotient = (ticket1 * reciprocal1 + (middle >> _HALF)) >> reciprocal_shift

            index = code_run[t] - code_offset
            outside |= index | (last_index - index)
            start = min(max(index + shift, 0), last_start)
            near = start + _i64(quotient)
            far = _i64((ticket - near_total) >> far_shift)
            far += m & -_i64(far >= start)
            is_near = -_i64(ticket < near_total)
            report_run[t] = (far ^ ((far ^ near) & is_near)) + report_offset
        if suspicious >= 0:
            i += run
            j += run
        else:
            for _ in range(run):
                ticket, low = wide_product(words[j], total)
                j += 1
                if low >= redraw_below:
                    index = codes[i] - code_offset
                    outside |= index | (last_index - index)
                    start = min(max(index + shift, 0), last_start)
                    near = start + _i64(wide_product(ticket, reciprocal)[0] >> reciprocal_shift)
                    far = _i64((ticket - near_total) >> far_shift)
                    far += m & -_i64(far >= start)
                    is_near = -_i64(ticket < near_total)
                    reports[i] = (far ^ ((far ^ near) & is_near)) + report_offset
                    i += 1
    return i, j, outside >= 0


def reciprocal_of(near: int) -> tuple[int, int]:
    """(c, s) with ⌊u/near⌋ = ⌊u·c / 2^64⌋ >> s for every u < 2^52 and 2 ≤ near < 2^52.

    s = bits(near) − 2 and c = ⌊2^(64+s)/near⌋ + 1 ≤ 2^63 + 1. With c = 2^(64+s)/near + e, 0 < e ≤ 1, the result exceeds
    u/near by u·e/2^(64+s) < 2^(52−64−s), which is below 1/near because near < 2^(s+2); so the floor is the same.
    """
    shift = near.bit_length() - 2
    return 2 ** (64 + shift) // near + 1, shift


def line_kernel(window: Window) -> Kernel:
    """The compiled kernel of windows."""
    reciprocal, reciprocal_shift = reciprocal_of(window.tickets.near)
    parameters = (
        window.inputs if window.groups is None else window.windows,
        window.m,
        window.shift,
        window.outputs - window.m,
        _u64(window.total),
        _u64(window.redraw_below),
        _u64(window.near_total),
        _u64(reciprocal),
        _u64(reciprocal_shift),
        _u64(window.tickets.far.bit_length() - 1),
    )

    def draw(codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        done, used, inside = _draw(codes, reports, words, code_offset, report_offset, *parameters)
        return done, used, inside

    if (groups := window.groups) is None:
        return draw

    def draw_for_groups(codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        index = codes - _i64(code_offset)
        if not all_inside(index, window.inputs):
            return 0, 0, False
        return draw(groups[index], reports, words, 0, report_offset)

    return draw_for_groups

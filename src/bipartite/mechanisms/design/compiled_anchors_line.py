"""The best anchors on a line for one trial loss θ in O(N log N), compiled by numba; for `anchors_line.py`.

f(b) = o(b) + min over a < b of f(a) + w(a, b), with o(b) the cost of opening anchor b and w(a, b) the cost of sending
the inputs between two neighbouring anchors to the nearer one. For any prior and any loss that grows with distance,
w(a, c) + w(b, d) ≤ w(a, d) + w(b, c) for a ≤ b ≤ c ≤ d: input by input this says that min(s, t) has increasing
differences. So once a later anchor is a better left neighbour than an earlier one, it remains so, and a queue of
(candidate, first b for which it is best) with bisection finds every f(b) [1]_.

References
----------
.. [1] Z. Galil and K. Park, "Dynamic programming with convexity, concavity and sparsity", 1992.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba import njit, types

from bipartite.lottery.jit import OPTIONS, read_only
from bipartite.mechanisms.design.anchors_line import chain

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Narrow windows are summed term by term: a difference of prefix sums cancels most where w is smallest. This matters
# only if nearly every point is an anchor: at e^ε = 10^14 on 3·10^5 points the set found is better by 2·10^−5.
_NARROW: Final = 8
_SUMS: Final = read_only(types.float64, 2)
_ROW: Final = read_only(types.float64)


def _side_cost(sums: Any, weights: Any, squared: Any, anchor: Any, first: Any, last: Any, centre: Any) -> Any:
    """Σ of π_x·loss(x, anchor) over first ≤ x ≤ last, all of them on one side of the anchor."""
    if last - first < _NARROW:
        total = 0.0
        for x in range(first, last + 1):
            distance = float(abs(x - anchor))
            total += weights[x] * (distance * distance if squared else distance)
        return total
    at = float(anchor - centre)
    mass = sums[last + 1, 0] - sums[first, 0]
    moment = sums[last + 1, 1] - sums[first, 1]
    if squared:
        return max(0.0, (sums[last + 1, 2] - sums[first, 2]) - 2 * at * moment + at * at * mass)
    return abs(moment - at * mass)


_side = njit(
    types.float64(_SUMS, _ROW, types.boolean, *[types.int64] * 4),
    inline="always",
    **OPTIONS,
)(_side_cost)


def _cost_from(
    sums: Any,
    weights: Any,
    head: Any,
    tail: Any,
    squared: Any,
    centre: Any,
    best: Any,
    a: Any,
    b: Any,
) -> Any:
    """f(a) + w(a, b); a = −1 stands for "no anchor on the left", b = N for "none on the right"."""
    size = weights.shape[0]
    if a < 0:
        return head[b] if b < size else np.inf
    if b == size:
        return best[a] + tail[a]
    middle = (a + b) >> 1
    return (
        best[a]
        + _side(sums, weights, squared, a, a + 1, middle, centre)
        + _side(sums, weights, squared, b, middle + 1, b - 1, centre)
    )


_cost = njit(
    types.float64(_SUMS, _ROW, _ROW, _ROW, types.boolean, types.int64, types.float64[::1], types.int64, types.int64),
    inline="always",
    **OPTIONS,
)(_cost_from)


def _solve_with_queue(  # noqa: PLR0915 (one loop, kept flat for the compiler)
    sums: Any, weights: Any, head: Any, tail: Any, opening: Any, squared: Any, centre: Any, best: Any, before: Any
) -> Any:
    """Fill best (f) and before (the anchor to the left, −1 for none); return (least cost, last anchor)."""
    size = weights.shape[0]
    candidate = np.empty(size + 1, dtype=np.int64)
    start = np.empty(size + 1, dtype=np.int64)
    candidate[0] = -1
    start[0] = 0
    front = 0
    back = 0
    border = size
    for b in range(size):
        while front < back and start[front + 1] <= b:
            front += 1
        a = candidate[front]
        before[b] = a
        best[b] = opening[b] + _cost(sums, weights, head, tail, squared, centre, best, a, b)
        # Ties go to the earlier anchor, here and below: an anchor enters only if it is strictly better.
        if best[b] + tail[b] >= _cost(sums, weights, head, tail, squared, centre, best, candidate[back], size):
            continue
        high = size  # b is better than the last remaining candidate at high, and not yet at low
        while back > front:
            at = start[back]
            rival = _cost(sums, weights, head, tail, squared, centre, best, candidate[back], at)
            if _cost(sums, weights, head, tail, squared, centre, best, b, at) >= rival:
                break
            high = at
            back -= 1
        a = candidate[back]
        low = max(start[back], b)
        # Borders move little from one anchor to the next, so the search doubles its steps from the previous one.
        at = min(max(border, low + 1), high - 1)
        step = 1
        up = False
        while low < at < high:
            rival = _cost(sums, weights, head, tail, squared, centre, best, a, at)
            better = _cost(sums, weights, head, tail, squared, centre, best, b, at) < rival
            if better:
                high = at
            else:
                low = at
            if step > 1 and better == up:
                break
            up = not better
            at += step if up else -step
            step *= 2
        while high - low > 1:
            at = (low + high) >> 1
            rival = _cost(sums, weights, head, tail, squared, centre, best, a, at)
            if _cost(sums, weights, head, tail, squared, centre, best, b, at) < rival:
                high = at
            else:
                low = at
        back += 1
        candidate[back] = b
        start[back] = high
        border = high
    last = candidate[back]
    return best[last] + tail[last], last


_solve = njit(
    types.Tuple((types.float64, types.int64))(
        _SUMS, *[_ROW] * 4, types.boolean, types.int64, types.float64[::1], types.int64[::1]
    ),
    **OPTIONS,
)(_solve_with_queue)


class CompiledLine:
    """Solves one trial loss after another on one line."""

    def __init__(
        self, weights: NDArray[np.float64], head: NDArray[np.float64], tail: NDArray[np.float64], *, squared: bool
    ) -> None:
        size = len(weights)
        places = np.arange(size, dtype=np.longdouble)
        # Sums are taken about the mean, where they are zero, and in the widest float type, so that differences between
        # two points cancel as little as possible.
        self._centre = round(float(places @ weights))
        offsets = places - self._centre
        self._sums = np.zeros((size + 1, 3))
        for power in range(3):
            total = np.cumsum(weights * offsets**power)
            self._sums[1:, power] = total - total[self._centre]
            self._sums[0, power] = -total[self._centre]
        self._weights, self._head, self._tail, self._squared = weights, head, tail, squared
        self._best, self._before = np.empty(size), np.empty(size, dtype=np.int64)

    def solve(self, opening: NDArray[np.float64]) -> tuple[float, NDArray[np.int64]]:
        """(the least cost of any set of anchors, the set)."""
        cost, last = _solve(
            self._sums,
            self._weights,
            self._head,
            self._tail,
            opening,
            self._squared,
            self._centre,
            self._best,
            self._before,
        )
        return cost, chain(self._before, last)

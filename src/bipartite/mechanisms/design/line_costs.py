"""The expected loss of anchors on a line under a prior, and the best anchors for one trial loss in O(N²).

With K anchors A, E = e^ε and λ_a = Σ_x π_x L(x, a), GRR on the anchors has the expected loss
F(A) = [(E−1)·W(A) + Σ_{a∈A} λ_a]/(E+K−1), where W(A) = Σ_x π_x min_{a∈A} L(x, a). All terms of every sum are
non-negative, so nothing cancels: results are accurate to about N roundings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Loss = Literal["absolute", "squared"] | NDArray[np.float64]


class LineCosts:
    """A line with a prior.

    Attributes
    ----------
    weights, losses : NDArray[np.float64]
        The prior, and the loss at distances 0 … N−1, zero at 0.
    head, tail : NDArray[np.float64]
        For each anchor, the cost of sending every input on its left to it, and every input on its right.
    single : NDArray[np.float64]
        λ: the expected loss of each anchor as the constant answer.
    kind : str
        "absolute", "squared" or "table".
    """

    def __init__(self, weights: NDArray[np.float64], loss: Loss) -> None:
        self.weights = weights
        self.kind: Literal["absolute", "squared", "table"] = loss if isinstance(loss, str) else "table"
        steps = np.arange(len(weights), dtype=np.float64)
        formulas = {"absolute": steps, "squared": steps**2}
        self.losses = formulas[loss] if isinstance(loss, str) else loss
        self.head = self._one_sided(weights)
        self.tail = self._one_sided(weights[::-1])[::-1].copy()
        self.single = self.head + self.tail

    def _one_sided(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.kind == "table":
            return np.convolve(weights, self.losses)[: len(weights)]
        # Moving the anchor one step away from inputs at distance d adds 1 (absolute) or 2d + 1 (squared).
        mass = np.cumsum(weights, dtype=np.longdouble)
        first = np.cumsum(_delayed(mass))
        if self.kind == "absolute":
            return first.astype(np.float64)
        return np.cumsum(_delayed(2 * first + mass)).astype(np.float64)

    def nearest(self, anchors: NDArray[np.int64]) -> float:
        """W(A): the expected loss of the nearest anchor."""
        places = np.arange(len(self.weights))
        borders = (anchors[:-1] + anchors[1:]) // 2 + 1
        own = anchors[np.searchsorted(borders, places, side="right")]
        return float(self.weights @ self.losses[np.abs(places - own)])

    def expected(self, anchors: NDArray[np.int64], excess: float) -> float:
        """F(A); excess is e^ε − 1."""
        # Divided by E − 1 throughout, so that no e^ε overflows.
        opened = float(self.single[anchors].sum())
        return (self.nearest(anchors) + opened / excess) / (1 + len(anchors) / excess)

    def solve(self, opening: NDArray[np.float64]) -> tuple[float, NDArray[np.int64]]:
        """The least Σ_{a∈A} opening_a + W(A) of any anchor set, and the set, in O(N²) time and O(N) memory.

        From left to right, f(b) = opening_b + min over a < b of f(a) + w(a, b): inputs between a and b go to a up to
        the midpoint and to b after it. Ties go to the lowest index.
        """
        weights, losses = self.weights, self.losses
        size = len(weights)
        best, before = np.empty(size), np.full(size, -1, dtype=np.int64)
        to_left = np.zeros(size)  # for each a, the cost of the inputs from a to the midpoint, updated as b moves
        # b − midpoint − 1 for b − a = size … 1: the distance from b to the farthest input that goes to b
        reach = (np.arange(size, 0, -1) - 1) // 2
        for b in range(size):
            # The midpoint moves by one if a and b are both even or both odd.
            odd = b % 2
            to_left[odd:b:2] += weights[(odd + b) // 2 : b] * losses[(b - odd) // 2 : 0 : -1]
            best[b] = self.head[b]
            if b:
                to_right = np.cumsum(weights[b : b // 2 : -1] * losses[: b - b // 2])
                costs = best[:b] + to_left[:b] + to_right[reach[size - b :]]
                a = int(np.argmin(costs))
                if costs[a] < best[b]:
                    best[b], before[b] = costs[a], a
            best[b] += opening[b]
        ends = best + self.tail
        last = int(np.argmin(ends))
        return float(ends[last]), chain(before, last)


def chain(before: NDArray[np.int64], last: int) -> NDArray[np.int64]:
    """The anchors from the first to the last, given the left neighbour of each (−1 for none)."""
    anchors = []
    while last >= 0:
        anchors.append(last)
        last = int(before[last])
    return np.array(anchors[::-1], dtype=np.int64)


def _delayed(sums: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
    """The sums of what lies strictly to the left: shifted by one place."""
    later = np.zeros_like(sums)
    later[1:] = sums[:-1]
    return later

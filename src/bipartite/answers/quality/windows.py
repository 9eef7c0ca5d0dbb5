"""The losses of windows on a line or a circle, from sums over distances: no matrix, so that N may be in the millions.

Every output is near, with a tickets, or far, with b. The losses of the near outputs of x, and of all outputs, are those
of two runs of distances, one below x and one above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bipartite.domains.losses import Function, applied

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]
    Whole = NDArray[np.int64]


class Windows(NamedTuple):
    """For each value how many outputs lie below and above it, among the near ones and among all."""

    runs: tuple[tuple[float, Whole], ...]
    """(probability of each output, the last distance of a run 1 … last) for every run; distance 0 counts apart."""
    here: float
    """The probability of distance 0."""
    step: float

    def by_value(self, function: Function) -> Array:
        """The expected loss at each value, for a loss that is a function of the distance; in O(N)."""
        farthest = max(int(last.max()) for _, last in self.runs)
        losses = applied(function, np.arange(farthest + 1, dtype=np.float64) * self.step)
        up_to = np.cumsum(losses) - losses[0]
        found: Array = sum((chance * up_to[last] for chance, last in self.runs), np.zeros(1)) + self.here * losses[0]
        return found

    def chances(self, weights: Array) -> Array:
        """The probability of each distance 0, 1, 2 …, in steps."""
        farthest = max(int(last.max()) for _, last in self.runs)
        found = np.zeros(farthest + 1)
        for chance, last in self.runs:
            # A run up to ``last`` has every smaller distance once.
            ends = np.bincount(last, weights, farthest + 1)
            found += chance * ends[::-1].cumsum()[::-1]
        found[0] = self.here
        return found


def windows_of(mechanism: Mechanism) -> Windows | None:
    """The windows of a mechanism; None if it has none, or reports something else than values."""
    domain, outputs, lottery = mechanism.domain, mechanism.outputs, mechanism.lottery
    ring, line, size = lottery.ring, lottery.line, len(domain)
    x = np.arange(size)
    if domain.wraps:
        window = ring if ring is not None else line
        if window is None or outputs is not domain or (ring is None and window.m > 1):
            return None
        below, above = (np.full(size, each) for each in (window.m // 2, window.m - 1 - window.m // 2))
        # Around a circle nothing is farther than half of it.
        reach = np.full(size, (size - 1) // 2), np.full(size, size // 2)
    elif line is not None and domain.has_ends and outputs.indices is None and line.groups is None:
        window = line
        at = x + (len(outputs) - size) // 2
        below = at - np.clip(x + line.shift, 0, line.outputs - line.m)
        above = line.m - 1 - below
        reach = at, line.outputs - 1 - at
    else:
        return None
    a, b = window.tickets.near / window.total, window.tickets.far / window.total
    if (below < 0).any() or (above < 0).any():
        return None  # the value itself is not near
    return Windows(((a - b, below), (a - b, above), (b, reach[0]), (b, reach[1])), a, domain.step)

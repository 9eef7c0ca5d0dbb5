"""What a report on a line is worth, in closed form: no matrix, whatever N is.

For mechanisms with a window on a line (BRR, GRR, Square Wave): every output is near or far, and sums of distances over
a window are differences of triangular numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from bipartite.design.line import near_sum, total_near_sum, triangular
from bipartite.domains import LineDomain
from bipartite.domains.losses import Function, applied
from bipartite.domains.subset import Subset
from bipartite.lottery import LineLottery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism


def is_window(mechanism: Mechanism) -> TypeGuard[Mechanism]:
    """Whether a mechanism is one that this file can tell about."""
    on_a_line = isinstance(mechanism.domain, LineDomain) and not isinstance(mechanism.outputs, Subset)
    return on_a_line and isinstance(mechanism.lottery, LineLottery)


def local_loss(mechanism: Mechanism, function: Function) -> NDArray[np.float64]:
    """Q^(x) for every x, for a loss that is a function of the distance; in O(N).

    Q^(x) = ((a−b)·D_near + b·D_all)/W, with D the sums of losses of the near and of all outputs, both from running sums
    over distances; a and b are the tickets of near and far outputs, W their total.
    """
    domain, lottery = _on_a_line(mechanism)
    x = np.arange(lottery.inputs)
    # Where x stands among the outputs, and in its window.
    at = x + _padding(mechanism)
    position = at - np.clip(x + lottery.shift, 0, lottery.outputs - lottery.m)
    by_distance = applied(function, np.arange(lottery.outputs, dtype=np.float64) * domain.step)
    # Sum over distances 1 … n; the distance 0 counts once, and a loss of 0 need not be 0.
    up_to = np.cumsum(by_distance) - by_distance[0]
    near = up_to[position] + up_to[lottery.m - 1 - position] + by_distance[0]
    everything = up_to[at] + up_to[lottery.outputs - 1 - at] + by_distance[0]
    a, b = lottery.tickets.near, lottery.tickets.far
    loss: NDArray[np.float64] = ((a - b) * near + b * everything) / lottery.total
    return loss


def expected_loss(mechanism: Mechanism) -> float:
    """Q_g under the uniform prior, exactly and in O(1)."""
    domain, lottery = _on_a_line(mechanism)
    n, m, a, b = lottery.inputs, lottery.m, lottery.tickets.near, lottery.tickets.far
    h = _padding(mechanism)
    if h:
        near = n * int(near_sum(h, m))
        # Σ_x T(x+h) + T(n−1−x+h) = 2·(Tet(n−1+h) − Tet(h−1)), Tet the tetrahedral numbers.
        everything = 2 * (_tetrahedral(n - 1 + h) - _tetrahedral(h - 1))
    else:
        near = total_near_sum(n, m)
        everything = n * (n * n - 1) // 3
    return float(Fraction((a - b) * near + b * everything, n * lottery.total)) * domain.step


def worst_loss(mechanism: Mechanism) -> float:
    """The largest Q^(x), exactly and in O(1).

    At the ends the sum over all outputs is largest, and so is the sum over the window, which stands wholly on one side.
    An even window leans low, so the two ends may differ.
    """
    domain, lottery = _on_a_line(mechanism)
    return float(max(_loss_at(mechanism, x) for x in (0, lottery.inputs - 1))) * domain.step


def _loss_at(mechanism: Mechanism, x: int) -> Fraction:
    _, lottery = _on_a_line(mechanism)
    at = x + _padding(mechanism)
    position = at - lottery.start(x)
    near = int(triangular(position)) + int(triangular(lottery.m - 1 - position))
    everything = int(triangular(at)) + int(triangular(lottery.outputs - 1 - at))
    a, b = lottery.tickets.near, lottery.tickets.far
    return Fraction((a - b) * near + b * everything, lottery.total)


def share_within(mechanism: Mechanism, distance: float) -> float:
    """The chance that a report lies within ``distance`` of a value chosen uniformly; in O(1)."""
    domain, lottery = _on_a_line(mechanism)
    # A rounding error must not lose the last step.
    steps = int(min(distance / domain.step * (1 + 1e-12), float(lottery.outputs)))
    return float(_share_within_steps(mechanism, steps))


def loss_quantile(mechanism: Mechanism, wanted: float) -> float:
    """The least distance within which a report lies with this chance; in O(log N)."""
    domain, lottery = _on_a_line(mechanism)
    low, high = 0, lottery.outputs - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _share_within_steps(mechanism, middle) >= wanted else (middle + 1, high)
    return low * domain.step


def _share_within_steps(mechanism: Mechanism, reach: int) -> Fraction:
    _, lottery = _on_a_line(mechanism)
    n, m = lottery.inputs, lottery.m
    pad = _padding(mechanism)
    # A value at index i of the outputs has min(reach, i) outputs within reach below it, and as many above by symmetry.
    everything = 2 * (_sum_of_least(reach, pad + n - 1) - _sum_of_least(reach, pad - 1)) + n
    middle = min(reach, m // 2) + min(reach, m - 1 - m // 2) + 1
    # Clamped: m values stand at every position of their window once, the others in its middle.
    at_the_ends = 2 * _sum_of_least(reach, m - 1) + m
    near = n * middle if pad else at_the_ends + (n - m) * middle
    tickets = near * lottery.tickets.near + (everything - near) * lottery.tickets.far
    return Fraction(tickets, n * lottery.total)


def _sum_of_least(reach: int, last: int) -> int:
    """Σ min(reach, i) for i = 0 … last."""
    low = min(reach, last)
    return int(triangular(low)) + reach * (last - low) if last > 0 else 0


def _padding(mechanism: Mechanism) -> int:
    """The output index of the first value of the domain: half a window where edges are padded, else none."""
    return (len(mechanism.outputs) - len(mechanism.domain)) // 2


def _tetrahedral(n: int) -> int:
    """1 + 3 + 6 + … : the sum of the first n triangular numbers."""
    return int(triangular(n)) * (n + 2) // 3 if n > 0 else 0


def _on_a_line(mechanism: Mechanism) -> tuple[LineDomain, LineLottery]:
    return cast("LineDomain", mechanism.domain), cast("LineLottery", mechanism.lottery)

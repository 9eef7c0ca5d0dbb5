"""What a report on a line is worth, in closed form: no matrix, whatever N is."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from bipartite.design import check_prior
from bipartite.design.line import near_sum, total_near_sum, triangular
from bipartite.domains import SetDomain
from bipartite.errors import InputError
from bipartite.quality import sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain, LineDomain
    from bipartite.lottery import LineLottery
    from bipartite.mechanisms import BRR


def local_loss(mechanism: BRR) -> NDArray[np.float64]:
    """Q^(x) for every x: the expected distance between the value x and its report, in the domain's units.

    On a line Q^(x) = ((a−b)·D_near + b·D_all)/W, with D the sums of distances to the near and to all outputs, both from
    triangular numbers; a and b are the tickets of near and far outputs, W their total.
    """
    if isinstance(mechanism.domain, SetDomain):
        return sets.local_loss(mechanism)
    domain, lottery = _on_a_line(mechanism)
    x = np.arange(lottery.inputs, dtype=np.float64)
    # Where x stands among the outputs, and in its window.
    at = x + _padding(mechanism)
    position = at - np.clip(x + lottery.shift, 0, lottery.outputs - lottery.m)
    near = _triangle(position) + _triangle(lottery.m - 1 - position)
    everything = _triangle(at) + _triangle(lottery.outputs - 1 - at)
    a, b = lottery.tickets.near, lottery.tickets.far
    loss: NDArray[np.float64] = ((a - b) * near + b * everything) / lottery.total * domain.step
    return loss


def expected_loss(mechanism: BRR, prior: Sequence[float] | NDArray[np.float64] | None = None) -> float:
    """Q_g: the expected distance between a value and its report, for values distributed as ``prior`` (None: uniform).

    Exact and in O(1) under the uniform prior, so N = 10^9 costs nothing.

    >>> from bipartite import BRR, Integers
    >>> round(expected_loss(BRR(Integers(1, 40), epsilon=1)), 2)
    9.75
    """
    if prior is not None:
        return float(check_prior(prior, len(mechanism.domain)) @ local_loss(mechanism))
    if isinstance(mechanism.domain, SetDomain):
        return float(sets.local_loss(mechanism).mean())
    domain, lottery = _on_a_line(mechanism)
    n, m, a, b = lottery.inputs, lottery.m, lottery.tickets.near, lottery.tickets.far
    if mechanism.edges == "padded":
        h = m // 2
        near = n * int(near_sum(h, m))
        # Σ_x T(x+h) + T(n−1−x+h) = 2·(Tet(n−1+h) − Tet(h−1)), Tet the tetrahedral numbers.
        everything = 2 * (_tetrahedral(n - 1 + h) - _tetrahedral(h - 1))
    else:
        near = total_near_sum(n, m)
        everything = n * (n * n - 1) // 3
    return float(Fraction((a - b) * near + b * everything, n * lottery.total)) * domain.step


def share_within(mechanism: BRR, distance: float) -> float:
    """The chance that a report lies within ``distance`` of the value, for a value chosen uniformly; in O(1)."""
    _check_distance(distance)
    if isinstance(mechanism.domain, SetDomain):
        return sets.share_within(mechanism, distance)
    domain, lottery = _on_a_line(mechanism)
    n, m = lottery.inputs, lottery.m
    reach = _steps_within(domain, distance, lottery.outputs)
    pad = _padding(mechanism)
    # A value at index i of the outputs has min(reach, i) outputs within reach below it, and as many above by symmetry.
    everything = 2 * (_sum_of_least(reach, pad + n - 1) - _sum_of_least(reach, pad - 1)) + n
    middle = min(reach, m // 2) + min(reach, m - 1 - m // 2) + 1
    # Clamped: m values stand at every position of their window once, the others in its middle.
    at_the_ends = 2 * _sum_of_least(reach, m - 1) + m
    near = n * middle if mechanism.edges == "padded" else at_the_ends + (n - m) * middle
    tickets = near * lottery.tickets.near + (everything - near) * lottery.tickets.far
    return float(Fraction(tickets, n * lottery.total))


def _sum_of_least(reach: int, last: int) -> int:
    """Σ min(reach, i) for i = 0 … last."""
    low = min(reach, last)
    return int(triangular(low)) + reach * (last - low) if last > 0 else 0


def _padding(mechanism: BRR) -> int:
    """The output index of the first value of the domain."""
    return mechanism.m // 2 if mechanism.edges == "padded" else 0


def _triangle(n: NDArray[np.float64]) -> NDArray[np.float64]:
    return n * (n + 1) / 2


def _tetrahedral(n: int) -> int:
    """1 + 3 + 6 + … : the sum of the first n triangular numbers."""
    return int(triangular(n)) * (n + 2) // 3 if n > 0 else 0


def constant_loss(domain: Domain) -> float:
    """The expected loss of the best constant answer, for a value chosen uniformly: what saying nothing costs.

    On a line that is the middle, at ⌊N²/4⌋/N steps. Every comparison should show it: at small ε no mechanism beats it
    by much, and many do worse.
    """
    if isinstance(domain, SetDomain):
        answer = sets.constant_answer(domain)
        return float(np.mean([domain.losses(x)[answer] for x in range(len(domain))]))
    return float(Fraction(domain.size**2 // 4, domain.size)) * cast("LineDomain", domain).step


def constant_share_within(domain: Domain, distance: float) -> float:
    """The chance that the middle of the domain lies within ``distance`` of a value chosen uniformly."""
    _check_distance(distance)
    if isinstance(domain, SetDomain):
        answer = sets.constant_answer(domain)
        return float(np.mean([domain.losses(x)[answer] <= distance for x in range(len(domain))]))
    middle = domain.size // 2
    reach = _steps_within(cast("LineDomain", domain), distance, domain.size)
    return (min(middle, reach) + min(domain.size - 1 - middle, reach) + 1) / domain.size


def _check_distance(distance: object) -> None:
    number = float(distance) if isinstance(distance, numbers.Real) else math.nan
    if not number >= 0:
        msg = f"Expected distance ≥ 0, got {distance!r}; distances are not negative."
        raise InputError(msg)


def _steps_within(domain: LineDomain, distance: float, most: int) -> int:
    """How many steps lie within a distance; a rounding error must not lose the last one."""
    return int(min(distance / domain.step * (1 + 1e-12), float(most)))


def _on_a_line(mechanism: BRR) -> tuple[LineDomain, LineLottery]:
    return cast("LineDomain", mechanism.domain), cast("LineLottery", mechanism.lottery)

"""What a report on points or items is worth, row by row: no N × N table."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import SetDomain
    from bipartite.mechanisms import BRR


def local_loss(mechanism: BRR) -> NDArray[np.float64]:
    """Q^(x) for every x."""
    domain, lottery = cast("SetDomain", mechanism.domain), mechanism.lottery
    a, b = lottery.tickets.near, lottery.tickets.far
    found = np.empty(len(domain))
    for x in range(len(domain)):
        losses = domain.losses(x)
        found[x] = ((a - b) * losses[lottery.near(x)].sum() + b * losses.sum()) / lottery.total
    return found


def share_within(mechanism: BRR, distance: float) -> float:
    """The chance that a report costs at most ``distance``, for a value chosen uniformly."""
    domain, lottery = cast("SetDomain", mechanism.domain), mechanism.lottery
    near = everything = 0
    for x in range(len(domain)):
        within = domain.losses(x) <= distance
        everything += int(np.count_nonzero(within))
        near += int(np.count_nonzero(within[lottery.near(x)]))
    tickets = near * lottery.tickets.near + (everything - near) * lottery.tickets.far
    return float(Fraction(tickets, len(domain) * lottery.total))


def constant_answer(domain: SetDomain) -> int:
    """The value with the least expected loss when it is always reported, whatever is true."""
    total = np.zeros(len(domain))
    for x in range(len(domain)):
        total += domain.losses(x)
    return int(np.argmin(total))

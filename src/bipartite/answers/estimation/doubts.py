"""Whether reports can have come from a mechanism at all, whatever the people are like.

Of n independent reports each one is a given output with a chance between the least and the largest of that output's
column. So however the people are, the share of an output is above a larger share s with a chance of at most
exp(−n·KL(s, largest)), and below a smaller one with at most exp(−n·KL(s, least)) (Chernoff), with
KL(s, p) = s·ln(s/p) + (1 − s)·ln((1 − s)/(1 − p)).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.lottery import GroupedLottery, LineLottery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.evidence import Evidence
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_FALSE: Final = 1e-9
"""The chance that true reports are doubted, at most, all outputs together."""
_MOST_DENSE: Final = 2**18
_KEPT: Final = 4


def doubt_of(mechanism: Mechanism, evidence: Evidence) -> str:
    """Why these reports are not what the mechanism gives, in words; empty where they may be, or where it is unknown."""
    limits = _limits(mechanism)
    if limits is None or evidence.first is not evidence.second:  # weights are no counts
        return ""
    least, largest = limits
    shares = evidence.law
    for limit, beyond, than in ((largest, shares > largest, "at most"), (least, shares < least, "at least")):
        surprise = np.where(beyond, evidence.people * _divergence(shares, limit), 0.0)
        worst = int(surprise.argmax())
        if surprise[worst] > math.log(2 * len(shares) / _FALSE):
            return (
                f"these reports cannot have come from this mechanism: {shares[worst]:.2%} of them are one value, which "
                f"it reports {than} {limit[worst]:.2%} of the time, up to chance, whatever the population; are they "
                "private values, or reports of another spec?"
            )
    return ""


def _limits(mechanism: Mechanism) -> tuple[Array, Array] | None:
    """The least and the largest chance of each output; None where there are too many to look at."""
    lottery: Any = mechanism.lottery
    if isinstance(lottery, GroupedLottery):
        lottery = lottery.inner
    size = len(mechanism.outputs)
    if isinstance(lottery, LineLottery):
        tickets = lottery.tickets
        return np.full(size, tickets.far / lottery.total), np.full(size, tickets.near / lottery.total)
    if len(mechanism.domain) * size > _MOST_DENSE:
        return None
    return _of_columns(mechanism)


@functools.lru_cache(maxsize=_KEPT)
def _of_columns(mechanism: Mechanism) -> tuple[Array, Array]:
    matrix = mechanism.matrix()
    return matrix.min(axis=0), matrix.max(axis=0)


def _divergence(shares: Array, limits: Array) -> Array:
    """KL(s, p) of each share; infinite where the limit rules a share out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(s > 0, s * np.log(s / p), 0.0) for s, p in ((shares, limits), (1 - shares, 1 - limits))]
    return parts[0] + parts[1]

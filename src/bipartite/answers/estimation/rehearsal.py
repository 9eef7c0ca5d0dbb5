"""How wide the intervals of a fitted distribution will be, from a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.estimating import How, from_tally
from bipartite.answers.estimation.operator import operator_of
from bipartite.answers.estimation.tally import Tally
from bipartite.domains import Interval
from bipartite.mechanisms import BRR

if TYPE_CHECKING:
    from bipartite.domains import LineDomain

# The precision of a smooth curve hardly depends on the number of points, and a fit of this many takes a second.
_FINE: Final = 101
_SEEDS: Final = (1, 2, 3)  # nothing here is private, and repeated questions get the same answer


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Half the widths of intervals, averaged over a few simulated uniform populations."""

    median: float
    tenth: float
    """Of the share of a tenth of the range, averaged."""


def rehearse(mechanism: BRR, domain: LineDomain, people: int, confidence: float) -> Rehearsal:
    """The result of :func:`bipartite.estimate` for this many simulated people who report through a padded window.

    A line of more than 101 values is stood for by one of 101, with a window of the same part of it.
    """
    ends = domain.to_numpy()[[0, -1]].astype(np.float64)
    if len(domain) > _FINE:
        half = max(1, round((mechanism.m // 2) * _FINE / len(domain)))
        line = Interval(ends[0], ends[1], points=_FINE)
        mechanism = BRR(line, mechanism.epsilon_decimal, m=2 * half + 1, edges="padded")
    size = len(mechanism.domain)
    law = operator_of(mechanism).forward(np.full(size, 1 / size))
    medians, tenths = [], []
    for seed in _SEEDS:
        counts = np.random.default_rng(seed).multinomial(people, law / law.sum()).astype(np.int64)
        found = from_tally(mechanism, Tally.of_counts(counts), How())
        low, high = found.interval(confidence, of="median")
        medians.append((high - low) / 2)
        tenths += [(each.interval.high - each.interval.low) / 2 for each in found.ranges(confidence=confidence)]
    return Rehearsal(float(np.mean(medians)), float(np.mean(tenths)))

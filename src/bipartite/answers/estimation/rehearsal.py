"""The expected widths of the intervals of a fitted distribution, by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bipartite.answers.estimation.estimating import estimate
from bipartite.answers.estimation.ranges import RANGES
from bipartite.answers.estimation.rows import ranges
from bipartite.domains import Domain, Interval
from bipartite.mechanisms import BRR

# The precision of a smooth curve hardly depends on the number of points, and a fit with this number takes a second.
_FINE: Final = 101
_SEEDS: Final = (1, 2, 3)  # fixed, so that results are repeatable; nothing here is private


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Half-widths of intervals, averaged over a few simulated samples from a uniform population."""

    median: float
    tenth: float
    """For the share of a tenth of the range, averaged over all tenths."""


def rehearse(mechanism: BRR, domain: Domain, people: int, confidence: float) -> Rehearsal:
    """Simulate :func:`bipartite.estimate` for this number of people who report through a padded window.

    A line of more than 101 values is approximated by one of 101, with a window of the same relative width.
    """
    ends = domain.to_numpy()[[0, -1]].astype(np.float64)
    if len(domain) > _FINE:
        half = max(1, round((mechanism.m // 2) * _FINE / len(domain)))
        line = Interval(ends[0], ends[1], points=_FINE)
        mechanism = BRR(line, mechanism.epsilon_decimal, m=2 * half + 1, edges="padded")
    size = len(mechanism.domain)
    law = mechanism.lottery.channel().forward(np.full(size, 1 / size))
    medians, tenths = [], []
    for seed in _SEEDS:
        counts = np.random.default_rng(seed).multinomial(people, law / law.sum()).astype(np.int64)
        found = estimate(mechanism, counts=counts)
        low, high = found.ask("median").ci(confidence)
        medians.append((high - low) / 2)
        tenths += [(each.high - each.low) / 2 for each in ranges(found, RANGES, confidence)]
    return Rehearsal(float(np.mean(medians)), float(np.mean(tenths)))

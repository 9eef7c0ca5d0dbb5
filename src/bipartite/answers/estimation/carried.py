"""As many ranges of a line as reports can carry, with round edges; decided before anybody looks at an answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.identify import identifiability
from bipartite.answers.estimation.question import line_of
from bipartite.answers.estimation.ranges import RANGES, spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.domains import LineDomain
    from bipartite.mechanisms import Mechanism

PRECISION: Final = 0.1
"""The largest expected standard error of a range's share, as a part of an average share."""
_ROUND: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_LEAST: Final = 2


def carried_edges(mechanism: Mechanism, people: float) -> list[float]:
    """Edges of ranges of equal round width: as many as so many reports can tell apart, at most ten.

    The standard error that counts is that of unbiased shares of k ranges, for people who are spread evenly:
    √((I⁻¹)ᵢᵢ − 1/k²)/√n with I = P·diag(1/r)·Pᵀ, P the law of reports of each range, and r that of all people.
    """
    domain = line_of(mechanism.domain)
    edges = _round_edges(domain, _most(mechanism, people, range(min(RANGES, len(domain)), _LEAST - 1, -1)))
    found = None if mechanism.flat else identifiability(mechanism)
    if found is None:
        return edges
    # Values that no report tells apart stay together.
    starts = [first for first, _ in spans(domain, edges, None)]
    kept = [first for first in starts[1:] if found.group_of[first - 1] != found.group_of[first]]
    return [float(domain.decode(first)) for first in (kept or [0])]


def carried_arcs(mechanism: Mechanism, people: float) -> int:
    """The same for a circle: a number of equal arcs, or of about equal ones if its size has no divisor up to ten."""
    size = len(mechanism.domain)
    counts = range(min(RANGES, size), _LEAST - 1, -1)
    return _most(mechanism, people, [k for k in counts if size % k == 0] or counts)


def _most(mechanism: Mechanism, people: float, counts: Sequence[int]) -> int:
    """The first of descending numbers of ranges that so many reports can carry; the last if they carry none."""
    limit = PRECISION * math.sqrt(people)
    return next((k for k in counts if k * _standard_error(mechanism, k) <= limit), counts[-1])


def _standard_error(mechanism: Mechanism, k: int) -> float:
    """Of the share of one of k ranges, from one report."""
    size = len(mechanism.domain)
    if mechanism.flat:
        shares = np.full(size, 1 / size)
        return math.sqrt(float((mechanism.variances(shares, 1) + shares * (1 - shares)).sum()) / k)
    cut = spans(mechanism.domain, k, None)
    populations = np.zeros((k, size))
    for row, (first, count) in zip(populations, cut, strict=True):
        row[first : first + count] = 1 / count
    shares = np.array([count / size for _, count in cut])
    law = mechanism.lottery.channel().forward(populations)
    law = law[:, law.any(axis=0)]
    information = law / (shares @ law) @ law.T
    if np.linalg.matrix_rank(information) < k:
        return math.inf
    return math.sqrt(max(float((np.diag(np.linalg.inv(information)) - shares**2).mean()), 0.0))


def _round_edges(domain: LineDomain, most: int) -> list[float]:
    """Multiples of a round number that cut a line into at most so many ranges, none of them a narrow rest."""
    whole = domain.whole
    low, high = float(domain.decode(0)), float(domain.decode(len(domain) - 1)) + whole
    wanted = (high - low) / most
    ten = 10.0 ** math.floor(math.log10(max(wanted, 1.0) if whole else wanted))
    widths = (ten * part for part in _ROUND if not whole or (ten * part).is_integer())
    width = next(each for each in widths if each >= wanted * (1 - 1e-9))
    first, last = math.ceil(low / width + 0.5), math.floor(high / width - 0.5)
    # Through decimals, so that three times 0.1 is 0.3.
    return [float(f"{number * width:.12g}") for number in range(first, last + 1)] or [low]

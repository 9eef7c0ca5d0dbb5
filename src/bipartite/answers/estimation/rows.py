"""What is shown of an estimate: shares of values or of public ranges as rows, and what forged reports could do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.histogram import NO_BINS
from bipartite.answers.estimation.intervals import FEW, check_confidence, within
from bipartite.answers.estimation.ranges import RANGES, range_shares, spans
from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.answers.estimation.ranges import Bins, RangeShare
    from bipartite.answers.estimation.source import Source

    Array = NDArray[np.float64]
    RangeRow = tuple[Any, Any, float, float | None, float | None]

VALUE_COLUMNS: Final = ("value", "share", "standard_error", "low", "high")
RANGE_COLUMNS: Final = ("first", "last", "share", "low", "high")
MOST_NAMES: Final = 40
"""Largest shares of names that are drawn, and have intervals where each takes long."""
_FORGED: Final = 100
"""One report in so many is forged."""


@dataclass(frozen=True, slots=True)
class Forging:
    """What forging some reports could do to an answer."""

    of: str
    reports: int
    value: float
    low: float
    high: float
    exact: bool
    note: str


def insides(estimate: Estimate) -> tuple[Source, Histogram]:
    """The reports behind an estimate, and its histogram; for what is shown, not for users."""
    return estimate._source, estimate._histogram


def averages(estimate: Estimate, w: Array) -> tuple[Array, Array] | None:
    """The unbiased answers Σ w·share for each row of w, and their standard errors; None if the reports cannot tell."""
    sample = insides(estimate)[0].sample(w)
    return None if sample is None else (sample.mean, sample.se)


def has_intervals(estimate: Estimate) -> bool:
    """Whether there are intervals of shares, of single values or of ranges."""
    return insides(estimate)[1].bins_note in {"", NO_BINS}


def share_intervals(estimate: Estimate, confidence: float) -> tuple[Array, Array]:
    """(low, high) of the share of each value, each with this confidence on its own; NaN if a curve was fitted."""
    source, histogram = insides(estimate)
    bounds = histogram.share_bounds(check_confidence(confidence))
    return within(*bounds, estimate.shares, (0.0, 1.0), at_least=source.effective < FEW)


def single_intervals(estimate: Estimate, which: Iterable[int], confidence: float) -> tuple[Array, Array]:
    """The intervals of selected shares of a fit, computed one by one; NaN for the others."""
    low, high = (np.full(len(estimate.shares), math.nan) for _ in range(2))
    for at in which if has_intervals(estimate) else ():
        low[at], high[at] = estimate.ask(("bin", estimate.domain.decode(at))).ci(confidence)
    return low, high


def largest(shares: Array, count: int) -> list[int]:
    """The positions of the largest shares, largest first."""
    found: list[int] = np.argsort(-shares, kind="stable")[:count].tolist()
    return found


def ranges(estimate: Estimate, bins: Bins, confidence: float) -> list[RangeShare]:
    """The shares of public ranges of a line or arcs of a circle, with intervals."""
    cut, sure = spans(estimate.domain, bins, insides(estimate)[0].found), check_confidence(confidence)
    kept = estimate._kept_ranges
    if (*cut, sure) not in kept:
        kept[*cut, sure] = range_shares(estimate, cut, sure)
    return kept[*cut, sure]


def value_intervals(estimate: Estimate, which: list[int], confidence: float) -> tuple[Array, Array]:
    """The intervals of selected shares; those of a fit are computed one by one, and the others are NaN."""
    if insides(estimate)[1].bins_note and not estimate.domain.has_ends:
        return single_intervals(estimate, which, confidence)
    return share_intervals(estimate, confidence)


def value_rows(estimate: Estimate, confidence: float) -> list[tuple[Any, ...]]:
    """(value, share, standard error, low, high) of every value; None for missing numbers."""
    domain = estimate.domain
    ends = value_intervals(estimate, largest(estimate.shares, MOST_NAMES), confidence)
    numbers = (insides(estimate)[1].share_errors, *ends)
    others = ([finite(each) for each in column.tolist()] for column in numbers)
    return list(zip(domain.to_numpy().tolist(), estimate.shares.tolist(), *others, strict=True))


def range_rows(estimate: Estimate, confidence: float, bins: Bins | None = None) -> list[RangeRow]:
    """(first, last, share, low, high) of public ranges of a line or a circle; None if there are no intervals.

    Without ``bins`` ten ranges, or no rows if values are names.
    """
    domain = estimate.domain
    if bins is None and not domain.has_ranges:
        return []
    known = has_intervals(estimate)
    found = []
    for each in ranges(estimate, RANGES if bins is None else bins, confidence):
        first, last = (domain[domain.numbers.encode(end)] for end in (each.first, each.last))
        found.append((first, last, each.share, *((each.low, each.high) if known else (None, None))))
    return found


def finite(number: float) -> float | None:
    """A number, or None if it is not finite."""
    return number if math.isfinite(number) else None


def forging(estimate: Estimate) -> Forging | None:
    """What forging one report in a hundred could do to the mean or, without one, to the largest share.

    None if nothing is known, so that the answer might become anything possible.
    """
    domain = estimate.domain
    line, reports = domain.has_ends, max(1, estimate.nobs // _FORGED)
    of = "mean" if line else ("bin", domain.decode(int(estimate.shares.argmax())))
    possible = (float(domain.decode(0)), float(domain.decode(len(domain) - 1))) if line else (0.0, 1.0)
    answer = estimate.ask(of)
    try:
        low, high, note = answer.forged(reports)
    except InputError:  # no bound is known
        return None
    if low <= possible[0] and high >= possible[1]:
        return None
    what = "the mean" if line else "the largest share"
    return Forging(what, reports, answer.value, low, high, not note, note)

"""Shares of values or of public ranges as rows, for tables, CSV and JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.estimation.pictures import bounds, has_intervals
from bipartite.answers.estimation.ranges import RANGES

if TYPE_CHECKING:
    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.ranges import Bins

VALUE_COLUMNS: Final = ("value", "share", "standard_error", "low", "high")
RANGE_COLUMNS: Final = ("first", "last", "share", "low", "high")


def value_rows(estimate: Estimate, confidence: float) -> list[tuple[Any, ...]]:
    """(value, share, standard error, low, high) of every value; None for missing numbers."""
    values, shares = estimate.domain.to_numpy().tolist(), estimate.frequencies.tolist()
    low, high = estimate.share_intervals(confidence)
    if estimate.bins_note and not estimate.domain.has_ends:
        low, high = bounds(estimate, confidence)
    others = ([finite(each) for each in column.tolist()] for column in (estimate.standard_errors, low, high))
    return list(zip(values, shares, *others, strict=True))


def range_rows(
    estimate: Estimate, confidence: float, bins: Bins | None = None
) -> list[tuple[Any, Any, float, float | None, float | None]]:
    """(first, last, share, low, high) of public ranges of a line or a circle; None if there are no intervals.

    Without ``bins`` ten ranges, or no rows if values are names.
    """
    domain = estimate.domain
    if bins is None and not domain.has_ranges:
        return []
    known = has_intervals(estimate)
    found = []
    for each in estimate.ranges(RANGES if bins is None else bins, confidence):
        first, last = (domain[domain.numbers.encode(end)] for end in (each.first, each.last))
        found.append((first, last, each.share, *(each.interval if known else (None, None))))
    return found


def finite(number: float) -> float | None:
    """A number, or None if it is not finite."""
    return number if math.isfinite(number) else None

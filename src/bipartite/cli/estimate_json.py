"""What ``bipartite estimate --json`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from bipartite.answers.estimation.rows import (
    RANGE_COLUMNS,
    VALUE_COLUMNS,
    Forging,
    finite,
    forging,
    insides,
    range_rows,
    value_rows,
)
from bipartite.cli.output import printed
from bipartite.mechanisms.spec import spec_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bipartite.answers.estimation import Estimate
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.cli.estimate_output import Found


class PrintedNumber(TypedDict):
    """A number with its interval; null where it is infinite, cannot be known, or is not defined.

    The arc of a direction runs from low up to high, which is smaller than low if it passes the last value.
    """

    value: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    note: str


class PrintedFit(TypedDict):
    """Whether the reports can have come from the mechanism; the p-value is a bound, null if it was not tested."""

    p_value: float | None
    verdict: str


class PrintedShare(TypedDict):
    """The share of one value; null for an error or interval that does not exist."""

    value: float | str | list[Any]
    share: float
    standard_error: float | None
    low: float | None
    high: float | None


class PrintedRange(TypedDict):
    """The share of a public range, from a first value to a last one; null if the method has no intervals."""

    first: float | str
    last: float | str
    share: float
    low: float | None
    high: float | None


class PrintedGroup(TypedDict):
    """The answers of one group, or of all reports."""

    group: str | None
    people: int
    effective_people: float
    method: str
    reason: str
    identifiable: bool | None
    not_identifiable: str | None
    cannot_be_told_apart: list[list[Any]]
    """Values that no number of reports tells apart."""
    mean: PrintedNumber | None
    median: PrintedNumber | None
    circular_mean: PrintedNumber | None
    resultant_length: PrintedNumber | None
    circular_spread: PrintedNumber | None
    fits: PrintedFit
    poisoning: Forging | None
    bins_note: str
    """Why single shares have no intervals; empty if they have."""
    shares: list[PrintedShare]
    ranges: list[PrintedRange]


class PrintedColumn(TypedDict):
    """The answers of one column."""

    name: str | None
    spec_sha256: str
    unreported: int
    """The number of rows without a report, which are skipped."""
    estimates: list[PrintedGroup]


class PrintedEstimate(TypedDict):
    """What ``bipartite estimate --json`` prints."""

    guarantee: str | None
    """What the release promises; null if the reports belong to none."""
    epsilon: str | None
    """The ε of a row of the release; null if nothing is promised."""
    insecure: bool | None
    """Whether the reports were drawn from random words that someone may know; null if nothing says so."""
    confidence: float
    repeated: int
    """The number of lines that repeat a key, and do not count."""
    rejected: int
    """The number of lines that were set aside, and do not count."""
    publishes: list[str]
    """What the release reveals that no ε covers."""
    by: str | None
    columns: list[PrintedColumn]


def described(found: Found) -> PrintedEstimate:
    """All estimates of one run."""
    release = found.release
    columns = []
    for name, groups in found.columns.items():
        bins, one = found.bins_of(name), next(iter(groups.values()))
        answers = [_group(label, each, found.confidence, bins) for label, each in groups.items()]
        sha256, skipped = spec_sha256(one.mechanism), found.unreported[name]
        columns.append(PrintedColumn(name=name, spec_sha256=sha256, unreported=skipped, estimates=answers))
    return printed(
        PrintedEstimate,
        found,
        epsilon=None if release is None or found.doubted else release.epsilon_text,
        publishes=() if release is None else release.publishes,
        columns=columns,
    )


def _group(label: str | None, estimate: Estimate, confidence: float, bins: Bins | None) -> PrintedGroup:
    """The answers of one group."""
    source, histogram = insides(estimate)
    known, line, circle = source.found, estimate.domain.has_ends, estimate.domain.wraps
    asked = {"mean": line, "median": line}
    asked |= dict.fromkeys(("circular_mean", "resultant_length", "circular_spread"), circle)
    return printed(
        PrintedGroup,
        estimate,
        group=label,
        people=estimate.nobs,
        effective_people=source.effective,
        reason=histogram.reason,
        identifiable=None if known is None else known.identifiable,
        not_identifiable=None if known is None or known.identifiable else str(known),
        cannot_be_told_apart=[] if known is None else known.groups,
        **{of: _number(estimate, of, confidence) if answered else None for of, answered in asked.items()},
        fits=printed(PrintedFit, estimate.check),
        poisoning=forging(estimate),
        bins_note=histogram.bins_note,
        shares=_rows(VALUE_COLUMNS, value_rows(estimate, confidence)),
        ranges=_rows(RANGE_COLUMNS, range_rows(estimate, confidence, bins)),
    )


def _rows(names: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _number(estimate: Estimate, of: str, confidence: float) -> PrintedNumber:
    answer = estimate.ask(of)
    held = answer.ci(confidence)
    low, high = map(finite, held)
    return PrintedNumber(
        value=finite(answer.value), standard_error=finite(answer.se), low=low, high=high, note=held.note
    )

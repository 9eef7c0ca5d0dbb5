"""Write estimates: tables for people, CSV and JSON for programs, a page with plots."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bipartite.answers.estimation import Estimates
from bipartite.answers.estimation.carried import carried_arcs, carried_edges
from bipartite.answers.estimation.pictures import UNNAMED
from bipartite.answers.estimation.rows import (
    RANGE_COLUMNS,
    VALUE_COLUMNS,
    finite,
    forging,
    insides,
    range_rows,
    value_rows,
)
from bipartite.answers.estimation.wording import shows_ranges
from bipartite.cli.estimate_map import heat_file
from bipartite.cli.estimate_page import page
from bipartite.cli.output import Progress, announce, print_json
from bipartite.files import write_atomically
from bipartite.mechanisms.spec import spec_sha256
from bipartite.plots.figure import as_file
from bipartite.tables.blocks import STANDARD_INPUT
from bipartite.tables.collecting import STDIN
from bipartite.tables.metadata import NOT_PRIVATE
from bipartite.texts import as_csv, escaped

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from pathlib import Path

    from matplotlib.axes import Axes

    from bipartite.answers.estimation import Counts, Estimate
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.cli.estimate import PrintedColumn, PrintedEstimate, PrintedGroup, PrintedNumber
    from bipartite.tables.metadata import Described


_TWO = 2


@dataclass(frozen=True, slots=True)
class Found:
    """All estimates of one run."""

    columns: dict[str | None, dict[str | None, Estimate]]
    """For each private column the estimate of each group; None is the group of all rows."""
    unreported: dict[str | None, int]
    """For each private column the number of rows without a report, which are skipped."""
    by: str | None
    confidence: float
    insecure: bool | None
    """Whether the reports were drawn from random words that someone may know; None if nothing says so."""
    release: Described | None
    """The release that the reports belong to; None for other reports, which are one column."""
    bins: Bins | None = None
    """The requested public ranges, for values that have ranges; None for ten."""
    repeated: int = 0
    """The number of lines that repeat a key, and do not count."""
    rejected: int = 0
    """The number of lines that were set aside, and do not count."""
    mapped: str | None = None
    """The column of places that a map shows."""

    @property
    def doubted(self) -> list[str]:
        """The columns whose reports cannot have come from their mechanism."""
        return [
            repr(name) for name, groups in self.columns.items() if any(each.check.doubt for each in groups.values())
        ]

    def guarantee_of(self, release: Described) -> str:
        """What the release promises; no ε if its reports cannot have come from its mechanism."""
        if not self.doubted:
            return release.guarantee
        which = ", ".join(self.doubted)
        return f"no ε is claimed: the reports of {which} cannot have come from the mechanism of the release"

    def answers(self, name: str | None) -> Estimate | Estimates:
        """The estimate of a column, or those of its groups."""
        groups = self.columns[name]
        return groups[None] if self.by is None else Estimates(groups)

    def plot(self, name: str | None, bins: Bins | None) -> Axes:
        """Plot a column with its error bars."""
        label = UNNAMED if name is None else name
        return self.answers(name).plot(bins=bins, confidence=self.confidence, label=label)

    def bins_of(self, name: str | None) -> Bins | None:
        """The ranges for a column; None if its values have none."""
        return self.bins if next(iter(self.columns[name].values())).domain.has_ranges else None

    def carried(self, name: str | None) -> Bins | None:
        """The ranges that people are shown: if none are asked for, as many round ones as the reports can carry."""
        groups = self.columns[name]
        one = next(iter(groups.values()))
        if self.bins is not None or not shows_ranges(groups):
            return self.bins_of(name)
        carried = carried_arcs if one.domain.wraps else carried_edges
        return carried(one.mechanism, min(insides(each)[0].effective for each in groups.values()))


def compute(found: Found, progress: Progress, *, as_json: bool) -> None:
    """Compute what is shown, all that takes long, with its progress; it is kept, and shown later."""
    steps, began = 2 * sum(map(len, found.columns.values())), time.monotonic()
    for groups in found.columns.values():
        for each in groups.values():
            _ = each.shares, each.check
            if not progress.done and steps > _TWO:
                announce("estimating", steps * (time.monotonic() - began))
            progress.reach(progress.done + 1, steps)
    for name, groups in found.columns.items():
        bins = found.bins_of(name) if as_json else found.carried(name)
        for each in groups.values():
            _ = range_rows(each, found.confidence, bins)
            progress.advance(1)


def write(found: Found, options: argparse.Namespace, counts: Counts) -> None:
    """Write and print the estimates; everything is computed before anything is written."""
    first = STANDARD_INPUT if STDIN in options.files[:1] else options.files[0].name if options.files else ""
    files: list[tuple[Path, str | bytes]] = []
    if options.save_counts is not None:
        files.append((options.save_counts, counts.to_json() + "\n"))
    if options.html is not None and found.release is not None:
        files.append((options.html, page(found, found.release, first)))
    if options.csv is not None:
        files.append((options.csv, _as_csv(found)))
    if options.plot is not None:
        name = next(iter(found.columns))
        files.append((options.plot, as_file(lambda: found.plot(name, found.bins_of(name)), options.plot)))
    if options.map is not None:
        places = found.columns[found.mapped][None]
        files.append((options.map, heat_file(places, options.map, found.confidence, insecure=bool(found.insecure))))
    described = _described(found) if options.json else None
    for path, content in files:
        write_atomically(path, content)
    if described is not None:
        _warn(found)
        print_json({**described})
    else:
        _show(found)


def _as_json(label: str | None, estimate: Estimate, confidence: float, bins: Bins | None) -> PrintedGroup:
    """The answers of one group."""
    source, histogram = insides(estimate)
    known, line, circle = source.found, estimate.domain.has_ends, estimate.domain.wraps
    forged: Any = forging(estimate)
    return {
        "group": label,
        "people": estimate.nobs,
        "effective_people": source.effective,
        "method": estimate.method,
        "reason": histogram.reason,
        "identifiable": None if known is None else known.identifiable,
        "not_identifiable": None if known is None or known.identifiable else str(known),
        "cannot_be_told_apart": [] if known is None else [list(group) for group in known.groups],
        "mean": _number(estimate, "mean", confidence) if line else None,
        "median": _number(estimate, "median", confidence) if line else None,
        "circular_mean": _number(estimate, "circular_mean", confidence) if circle else None,
        "resultant_length": _number(estimate, "resultant_length", confidence) if circle else None,
        "circular_spread": _number(estimate, "circular_spread", confidence) if circle else None,
        "fits": {"p_value": estimate.check.p_value, "verdict": estimate.check.verdict},
        "poisoning": None if forged is None else forged._asdict(),
        "bins_note": histogram.bins_note,
        "shares": _rows(VALUE_COLUMNS, value_rows(estimate, confidence)),
        "ranges": _rows(RANGE_COLUMNS, range_rows(estimate, confidence, bins)),
    }


def _rows(names: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _number(estimate: Estimate, of: str, confidence: float) -> PrintedNumber:
    answer = estimate.ask(of)
    held = answer.ci(confidence)
    return {
        "value": finite(answer.value),
        "standard_error": finite(answer.se),
        "low": finite(held.low),
        "high": finite(held.high),
        "note": held.note,
    }


def _described(found: Found) -> PrintedEstimate:
    """What is printed as JSON."""
    columns: list[PrintedColumn] = [
        {
            "name": name,
            "spec_sha256": spec_sha256(next(iter(groups.values())).mechanism),
            "unreported": found.unreported[name],
            "estimates": [
                _as_json(label, each, found.confidence, found.bins_of(name)) for label, each in groups.items()
            ],
        }
        for name, groups in found.columns.items()
    ]
    release = found.release
    return {
        "guarantee": None if release is None else found.guarantee_of(release),
        "epsilon": None if release is None or found.doubted else release.epsilon_text,
        "insecure": found.insecure,
        "confidence": found.confidence,
        "repeated": found.repeated,
        "rejected": found.rejected,
        "publishes": [] if release is None else list(release.publishes),
        "by": found.by,
        "columns": columns,
    }


def _as_csv(found: Found) -> str:
    """The shares of every group of every column, of values or of the requested ranges; missing numbers are empty."""
    released, grouped = found.release is not None, found.by is not None
    ranges = found.bins is not None
    return as_csv(
        ["column"] * released + ["group"] * grouped + list(RANGE_COLUMNS if ranges else VALUE_COLUMNS),
        (
            [name] * released + [label] * grouped + list(row)
            for name, groups in found.columns.items()
            for label, estimate in groups.items()
            for row in (
                range_rows(estimate, found.confidence, found.bins_of(name))
                if ranges
                else value_rows(estimate, found.confidence)
            )
        ),
    )


def _warn(found: Found) -> None:
    """Say on stderr which reports cannot have come from their mechanism; the text for people contains that."""
    for name, groups in found.columns.items():
        where = "" if found.release is None else f"column {name!r}"
        for label, estimate in groups.items():
            if doubt := estimate.check.doubt:
                place = ", ".join(each for each in (where, label and escaped(label)) if each)
                print(f"bipartite: {place + ': ' if place else ''}{doubt}", file=sys.stderr)


def _show(found: Found) -> None:
    """Print the answers of every column and group."""
    if found.release is not None:
        print(f"{found.guarantee_of(found.release)}.")
    elif found.insecure:
        print(f"{NOT_PRIVATE}.\n")
    for name in found.columns:
        if found.release is not None:
            print(f"\n{escaped(name)}")
        print(found.answers(name).summary(found.confidence, found.carried(name)))

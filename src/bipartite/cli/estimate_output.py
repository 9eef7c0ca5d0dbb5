"""How estimates are written: tables for people, CSV and JSON for programs, a page with pictures."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation import Estimates
from bipartite.answers.estimation.asking import CIRCULAR
from bipartite.answers.estimation.pictures import bounds, has_intervals, names_of
from bipartite.answers.estimation.poisoning import for_text
from bipartite.cli.columns import SPOKEN, STDIN
from bipartite.cli.estimate_page import page
from bipartite.cli.output import print_json, print_table
from bipartite.domains import Cyclic, Integers, LineDomain
from bipartite.files import write_whole
from bipartite.mechanisms.spec import spec_sha256
from bipartite.plots import as_file
from bipartite.tables.metadata import NOT_PRIVATE
from bipartite.texts import as_csv

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from bipartite.answers.estimation import Counts, Estimate
    from bipartite.tables.metadata import Described

_FEW_VALUES: Final = 20
_LARGEST: Final = 10
_COLUMNS: Final = ("value", "share", "standard_error", "low", "high")
_RANGE_COLUMNS: Final = ("first", "last", "share", "low", "high")


@dataclass(frozen=True, slots=True)
class Found:
    """All estimates of a command."""

    columns: dict[str | None, dict[str | None, Estimate]]
    """For each private column the estimate of each group, or of all rows under None."""
    unreported: dict[str | None, int]
    """For each private column how many rows have no report, and so are left out."""
    by: str | None
    confidence: float
    insecure: bool | None
    """Whether the reports were drawn from words that someone may know; None where nobody says."""
    release: Described | None
    """The release that they are of; None for reports on their own, which are one column."""

    @property
    def doubted(self) -> list[str]:
        """The columns whose reports cannot have come from their mechanism."""
        return [repr(name) for name, groups in self.columns.items() if any(each.doubt for each in groups.values())]

    def guarantee_of(self, release: Described) -> str:
        """What the release promises; nothing where its reports cannot be what it says."""
        if not self.doubted:
            return release.guarantee
        which = ", ".join(self.doubted)
        return f"no ε is claimed: the reports of {which} cannot have come from the mechanism of the release"

    def picture(self, name: str | None) -> str:
        """A column with its error bars."""
        groups = self.columns[name]
        drawn = groups[None] if self.by is None else Estimates(groups)
        return drawn.plot(confidence=self.confidence)


def write(found: Found, options: argparse.Namespace, counts: Counts) -> None:
    """Write and print what was found; everything is computed before anything is written."""
    first = SPOKEN if STDIN in options.files[:1] else options.files[0].name if options.files else ""
    files: list[tuple[Path, str | bytes]] = []
    if options.save_counts is not None:
        files.append((options.save_counts, counts.to_json() + "\n"))
    if options.html is not None and found.release is not None:
        files.append((options.html, page(found, found.release, first)))
    if options.csv is not None:
        files.append((options.csv, _as_csv(found, _COLUMNS, _rows)))
    if options.ranges is not None:
        files.append((options.ranges, _as_csv(found, _RANGE_COLUMNS, _range_rows)))
    if options.plot is not None:
        files.append((options.plot, as_file(found.picture(next(iter(found.columns))), options.plot)))
    described = _described(found) if options.json else None
    for path, content in files:
        write_whole(path, content)
    if described is not None:
        _warn(found)
        print_json(described)
    else:
        _show(found)


def _as_json(estimate: Estimate, confidence: float) -> dict[str, Any]:
    """The answers of one group as JSON values."""
    known = estimate.identifiability
    line = isinstance(estimate.domain, LineDomain)
    return {
        "people": estimate.people,
        "effective_people": estimate.effective_people,
        "of_sample": estimate.of_sample,
        "method": estimate.method,
        "reason": estimate.reason,
        "identifiable": None if known is None else known.identifiable,
        "not_identifiable": None if known is None or known.identifiable else str(known),
        "mean": _number(estimate, "mean", confidence) if line else None,
        "median": _number(estimate, "median", confidence) if line else None,
        **_around(estimate, confidence),
        "fits": asdict(estimate.fits),
        "poisoning": _poisoning(estimate),
        "bins_note": estimate.bins_note,
        "shares": [dict(zip(_COLUMNS, row, strict=True)) for row in _rows(estimate, confidence)],
        "ranges": [dict(zip(_RANGE_COLUMNS, row, strict=True)) for row in _range_rows(estimate, confidence)],
    }


def _around(estimate: Estimate, confidence: float) -> dict[str, Any]:
    """The direction and the spread of values that go around; an arc runs from low up to high, past the last value."""
    if not isinstance(estimate.domain, Cyclic):
        return {}
    numbers = estimate.circular_mean, estimate.resultant_length, estimate.circular_spread
    found: dict[str, Any] = {}
    for of, value in zip(CIRCULAR, numbers, strict=True):
        interval = estimate.interval(confidence, of=of)
        low, high = (_finite(end) for end in interval)
        found[of] = {"value": _finite(value), "low": low, "high": high, "note": interval.note}
    return found


def _poisoning(estimate: Estimate) -> dict[str, Any]:
    of, found = for_text(estimate)
    return {"of": of, **asdict(found)}


def _number(estimate: Estimate, of: str, confidence: float) -> dict[str, Any]:
    interval = estimate.interval(confidence, of=of)
    return {
        "value": estimate.mean if of == "mean" else estimate.median,
        "standard_error": _finite(estimate.standard_error("mean")) if of == "mean" else None,
        "low": interval.low,
        "high": interval.high,
        "note": interval.note,
    }


def _rows(estimate: Estimate, confidence: float) -> list[tuple[Any, ...]]:
    """(value, share, standard error, low, high) of every value; None for a number that does not exist."""
    values, shares = estimate.domain.to_numpy().tolist(), estimate.frequencies.tolist()
    low, high = estimate.share_intervals(confidence)
    if estimate.bins_note and not isinstance(estimate.domain, LineDomain):
        low, high = bounds(estimate, confidence)
    others = ([_finite(each) for each in column.tolist()] for column in (estimate.standard_errors, low, high))
    return list(zip(values, shares, *others, strict=True))


def _range_rows(estimate: Estimate, confidence: float) -> list[tuple[Any, Any, float, float | None, float | None]]:
    """(first, last, share, low, high) of ten public ranges of a line or a circle; None where there are no intervals."""
    domain = estimate.domain
    if not isinstance(domain, (LineDomain, Cyclic)):
        return []
    known = has_intervals(estimate)
    found = []
    for each in estimate.ranges(confidence=confidence):
        ends: tuple[Any, Any] = each.first, each.last
        if isinstance(domain, Cyclic):
            ends = domain[int(each.first) - domain.start], domain[int(each.last) - domain.start]
        elif isinstance(domain, Integers):
            ends = int(each.first), int(each.last)
        found.append((*ends, each.share, *(each.interval if known else (None, None))))
    return found


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _described(found: Found) -> dict[str, Any]:
    """What was found as JSON values, for reports on their own or for a release."""
    columns = [
        {
            "spec_sha256": spec_sha256(next(iter(groups.values())).mechanism),
            "unreported": found.unreported[name],
            "estimates": [{"group": label, **_as_json(each, found.confidence)} for label, each in groups.items()],
        }
        for name, groups in found.columns.items()
    ]
    both = {"insecure": found.insecure, "confidence": found.confidence}
    if found.release is None:
        return {"spec_sha256": columns[0]["spec_sha256"], **both, "estimates": columns[0]["estimates"]}
    return {
        "guarantee": found.guarantee_of(found.release),
        "epsilon": None if found.doubted else found.release.epsilon_text,
        **both,
        "publishes": list(found.release.publishes),
        "by": found.by,
        "columns": [{"name": name, **each} for name, each in zip(found.columns, columns, strict=True)],
    }


def _as_csv(
    found: Found, columns: tuple[str, ...], rows: Callable[[Estimate, float], Iterable[tuple[Any, ...]]]
) -> str:
    """Rows of every group of every column; a number that does not exist is empty."""
    released, grouped = found.release is not None, found.by is not None
    return as_csv(
        ["column"] * released + ["group"] * grouped + list(columns),
        (
            [name] * released + [label] * grouped + list(row)
            for name, groups in found.columns.items()
            for label, estimate in groups.items()
            for row in rows(estimate, found.confidence)
        ),
    )


def _warn(found: Found) -> None:
    """Say on stderr which reports cannot have come from their mechanism; the text for people says so itself."""
    for name, groups in found.columns.items():
        where = "" if found.release is None else f"column {name!r}"
        for label, estimate in groups.items():
            if estimate.doubt:
                place = ", ".join(each for each in (where, label) if each)
                print(f"bipartite: {place + ': ' if place else ''}{estimate.doubt}", file=sys.stderr)


def _show(found: Found) -> None:
    """Print the answers of every column and group."""
    if found.release is not None:
        print(f"{found.guarantee_of(found.release)}.")
    elif found.insecure:
        print(f"{NOT_PRIVATE}.\n")
    for name, groups in found.columns.items():
        if found.release is not None:
            print(f"\n{name}")
        for number, (label, estimate) in enumerate(groups.items()):
            if number:
                print()
            summary = estimate.summary(found.confidence)
            print(summary if label is None else f"{label}: {summary}")
            _show_shares(estimate, found.confidence)


def _show_shares(estimate: Estimate, confidence: float) -> None:
    """A table of ten ranges of a line, of few values, or of the largest shares of named ones."""
    domain = estimate.domain
    size, heading = len(domain), f"{100 * confidence:g} % interval"
    if isinstance(domain, (LineDomain, Cyclic)) and (size > _FEW_VALUES or estimate.bins_note):
        ranges = _range_rows(estimate, confidence)
        rows = [
            (f"  {_end(first)}" + f" to {_end(last)}" * (last != first), f"{share:z.2%}", _interval(low, high))
            for first, last, share, low, high in ranges
        ]
        print_table(("  range", "share", heading), rows)
        if any(share < 0 or share > 1 for _, _, share, _, _ in ranges):
            print("  unbiased shares may lie below 0 % or above 100 % by chance")
        if not has_intervals(estimate):
            print(f"  {estimate.bins_note}")
        return
    shares = _rows(estimate, confidence)
    names = names_of(domain)
    order: list[int] = list(range(size))
    if size > _FEW_VALUES:
        order = np.argsort(-estimate.frequencies, kind="stable")[:_LARGEST].tolist()
        print(f"  the {_LARGEST} largest of {size:,} shares")
    print_table(
        ("  value", "share", heading),
        [(f"  {names[at]}", f"{shares[at][1]:z.2%}", _interval(*shares[at][3:])) for at in order],
    )
    if not all(0 <= shares[at][1] <= 1 for at in order):
        print("  unbiased shares may lie below 0 % or above 100 % by chance; those of --method projected do not")
    if any(low is not None and (high < 0 or low > 1) for low, high in (shares[at][3:] for at in order)):
        print(
            "  an interval that lies wholly outside 0 % to 100 % is left as it is: the estimate is unbiased, and the "
            "sample was unlucky"
        )


def _end(value: float | str) -> str:
    """An end of a range: a number, or a label of a circle."""
    return value if isinstance(value, str) else f"{value:.6g}"


def _interval(low: float | None, high: float | None) -> str:
    return "none" if low is None or high is None else f"{low:z.2%} to {high:z.2%}"

"""Write estimates: tables for people, CSV and JSON for programs, a page with plots."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bipartite.answers.estimation import Estimates
from bipartite.answers.estimation.carried import carried_arcs, carried_edges
from bipartite.answers.estimation.methods import FEW_VALUES
from bipartite.answers.estimation.pictures import UNNAMED
from bipartite.answers.estimation.rows import RANGE_COLUMNS, VALUE_COLUMNS, insides, range_rows, value_rows
from bipartite.answers.estimation.wording import shows_ranges
from bipartite.cli.estimate_json import described
from bipartite.cli.estimate_pages import map_page, release_page
from bipartite.cli.output import Progress, announce, note, print_json, write_all
from bipartite.locations import heat_map
from bipartite.plots.figure import as_file
from bipartite.tables.blocks import STANDARD_INPUT
from bipartite.tables.collecting import STDIN
from bipartite.tables.metadata import NOT_PRIVATE
from bipartite.texts import as_csv, escaped

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from matplotlib.axes import Axes

    from bipartite.answers.estimation import Counts, Estimate
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.mechanisms import Mechanism
    from bipartite.tables.metadata import Described


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
    bins: Bins | None
    """The requested public ranges, for values that have ranges; None for ten."""
    repeated: int
    """The number of lines that repeat a key, and do not count."""
    rejected: int
    """The number of lines that were set aside, and do not count."""

    @property
    def groups(self) -> list[tuple[str | None, str | None, Estimate]]:
        """Every estimate, with its column and group."""
        return [(name, label, each) for name, groups in self.columns.items() for label, each in groups.items()]

    @property
    def doubted(self) -> list[str]:
        """The columns whose reports cannot have come from their mechanism."""
        return list(dict.fromkeys(repr(name) for name, _, each in self.groups if each.check.doubt))

    @property
    def guarantee(self) -> str | None:
        """What the release promises, if there is one: no ε if its reports cannot have come from its mechanism."""
        if self.release is None:
            return None
        if not self.doubted:
            return self.release.guarantee
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


def compute(found: Found, *, as_json: bool) -> None:
    """Compute what is shown, all that takes long, with its progress; it is kept, and shown later."""
    announce("estimating", sum(_seconds(each.mechanism) for _, _, each in found.groups))
    with Progress("steps", 2 * len(found.groups)) as progress:
        for _, _, each in found.groups:
            _ = each.shares, each.check
            progress.advance(1)
        bins = {name: found.bins_of(name) if as_json else found.carried(name) for name in found.columns}
        for name, _, each in found.groups:
            _ = range_rows(each, found.confidence, bins[name])
            progress.advance(1)


def _seconds(mechanism: Mechanism) -> float:
    """How long one estimate takes, roughly: longest where a curve is fitted."""
    size = len(mechanism.domain)
    fitted = size > FEW_VALUES and not mechanism.flat
    return 0.4 + 2.5e-3 * min(size, 1000) if fitted else 0.02 + 1e-4 * size


def write(found: Found, options: argparse.Namespace, counts: Counts) -> None:
    """Write and print the estimates; everything is computed before anything is written."""
    first = STANDARD_INPUT if STDIN in options.files[:1] else options.files[0].name if options.files else ""
    one = next(iter(found.columns))
    answers = described(found) if options.json else None
    write_all(
        [
            (options.save_counts, lambda: counts.to_json() + "\n"),
            (options.html, lambda: release_page(found, first)),
            (options.csv, lambda: _as_csv(found)),
            (options.plot, lambda: as_file(lambda: found.plot(one, found.bins_of(one)), options.plot)),
            (options.map, lambda: _map_file(found, options.map)),
        ]
    )
    _warn(found)
    if answers is None:
        _show(found)
    else:
        print_json(answers)


def _map_file(found: Found, path: Path) -> str | bytes:
    """The map of the column of places, as the name of its file says; its guarantee says so if it is not private."""
    (places,) = (each for _, _, each in found.groups if each.domain.coordinates is not None)
    heat = heat_map(places)
    if found.insecure:
        heat = replace(heat, guarantee=NOT_PRIVATE)
    if path.suffix.lower() == ".geojson":
        return json.dumps(heat.to_geojson(found.confidence), ensure_ascii=False, allow_nan=False) + "\n"
    return map_page(heat, found.confidence) if path.suffix.lower() == ".html" else as_file(heat.plot, path)


def _as_csv(found: Found) -> str:
    """The shares of every group of every column, of values or of the requested ranges; missing numbers are empty."""
    released, grouped = found.release is not None, found.by is not None
    ranges = found.bins is not None
    return as_csv(
        ["column"] * released + ["group"] * grouped + list(RANGE_COLUMNS if ranges else VALUE_COLUMNS),
        (
            [name] * released + [label] * grouped + list(row)
            for name, label, estimate in found.groups
            for row in (
                range_rows(estimate, found.confidence, found.bins_of(name))
                if ranges
                else value_rows(estimate, found.confidence)
            )
        ),
    )


def _warn(found: Found) -> None:
    """Say on stderr, before the answers, which reports cannot have come from their mechanism."""
    for name, label, estimate in found.groups:
        if doubt := estimate.check.doubt:
            where = "" if found.release is None else f"column {name!r}"
            place = ", ".join(each for each in (where, label and escaped(label)) if each)
            note(f"warning: {place + ': ' if place else ''}{doubt}")


def _show(found: Found) -> None:
    """Print the answers of every column and group."""
    if found.release is not None:
        print(f"{found.guarantee}.")
    elif found.insecure:
        print(f"{NOT_PRIVATE}.\n")
    for name in found.columns:
        if found.release is not None:
            print(f"\n{escaped(name)}")
        print(found.answers(name).summary(found.confidence, found.carried(name)))

"""``bipartite estimate``: read reports, print answers with error bars."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.answers.estimation import Counts
from bipartite.answers.estimation.estimating import from_tally
from bipartite.answers.estimation.intervals import check_confidence
from bipartite.answers.estimation.methods import FEW_VALUES, METHODS
from bipartite.answers.estimation.ranges import spans
from bipartite.cli.arguments import add_mechanism, describes_mechanism, mechanism_of
from bipartite.cli.columns import NUMBER, STDIN
from bipartite.cli.counting import GroupCounts
from bipartite.cli.estimate_output import Found, compute, write
from bipartite.cli.estimate_reading import add_refusing, read
from bipartite.cli.output import OK, Progress, announce
from bipartite.errors import DataFileError, InputError
from bipartite.mechanisms import Mechanism
from bipartite.plots.figure import check_ending, need_matplotlib
from bipartite.tables.answering import carried_by_all, check_asked, files_at, insecure_by, no_specs
from bipartite.tables.domain_files import read_text
from bipartite.tables.metadata import Described

if TYPE_CHECKING:
    import argparse

    from bipartite.answers.estimation import Estimate
    from bipartite.answers.estimation.ranges import Bins
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

RELEASE: Final = re.compile(r'"bipartite_release"\s*:')
"""A key that no spec has; inside a label its quotes would be escaped."""
_NO_SPEC: Final = (
    "Expected --spec, or a domain and --epsilon: standard input is read as CSV and does not say which mechanism made "
    "the reports. Parquet or Arrow files that contain their specs must be named."
)
_EXAMPLES = """examples:
  bipartite estimate reports.csv --spec age.json
  bipartite estimate reports.csv --spec age.json --column age --by region --plot regions.svg
  bipartite estimate monday.csv tuesday.csv --spec age.json --save-counts week.json
  bipartite estimate --counts week.json --counts other-server.json --csv shares.csv
  bipartite report --spec age.json < ages.txt | bipartite estimate - --spec age.json
  bipartite estimate released.parquet --by country --html answers.html
  bipartite estimate released.parquet --column age --by country --bins 30,45,65 --plot shares.svg --unit years

A table that bipartite privatize wrote contains its mechanisms: every private column is estimated, or only the one named
with --column; --spec may name the file of its specs instead. Other reports need a spec, and are CSV (one report per
line, or columns with names in the first line), JSON lines, Parquet or Arrow. Anything that is not a report is an error
that names its line, unless --reject sets it aside; nothing is skipped. In JSON lines as browsers send them every key
counts once, and another spec or question is refused. Files may be larger than memory, and several are counted together.
Groups and weights are public columns.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="reports: files, folders, quoted patterns; - for standard input"
    )
    add_mechanism(parser, required=False)
    reading = parser.add_argument_group("what is read")
    reading.add_argument("--column", metavar="NAME", help='the reports (default: the only column, or "report")')
    reading.add_argument("--by", metavar="COLUMN", help="a public column of groups; each is estimated on its own")
    reading.add_argument("--weights", metavar="COLUMN", help="a public column of weights")
    reading.add_argument(
        "--counts", metavar="FILE.json", type=Path, action="append", help="saved counts; may be repeated"
    )
    add_refusing(reading)
    asking = parser.add_argument_group("what is asked")
    asking.add_argument(
        "--method", choices=METHODS, default="auto", help="how the histogram is estimated (default: auto)"
    )
    asking.add_argument(
        "--confidence", metavar="C", type=float, default=0.95, help="the confidence of every interval (default: 0.95)"
    )
    asking.add_argument(
        "--bins", metavar="EDGES", type=bins_of, help="public edges of ranges, such as 30,45,65; or a number of ranges"
    )
    writing = parser.add_argument_group("what is written")
    writing.add_argument(
        "--save-counts", metavar="FILE.json", type=Path, help="save all counts, to be merged with others"
    )
    writing.add_argument("--csv", metavar="FILE.csv", type=Path, help="write value, share, standard error, low, high")
    writing.add_argument(
        "--ranges",
        metavar="FILE.csv",
        type=Path,
        help="write first, last, share, low, high of ten ranges, or of --bins",
    )
    writing.add_argument(
        "--plot", metavar="FILE.svg", type=Path, help="plot the shares with error bars, .svg, .png or .pdf"
    )
    writing.add_argument("--title", metavar="TEXT", help="the title of the plot")
    writing.add_argument("--unit", metavar="TEXT", help="the unit of the values in the plot, such as years")
    writing.add_argument("--html", metavar="FILE.html", type=Path, help="for a released table: write a page with plots")
    writing.add_argument(
        "--json", action="store_true", help="print one JSON object (schemas/estimate.json, or estimate-table.json)"
    )
    parser.set_defaults(run=run)


def bins_of(text: str) -> int | list[int | float | str]:
    """The number of ranges, or edges: numbers, or labels of a circle."""
    parts = [part.strip() for part in text.split(",")]
    edges = [int(part) if part.isdecimal() else float(part) if NUMBER.fullmatch(part) else part for part in parts]
    return edges[0] if len(edges) == 1 and isinstance(edges[0], int) else edges


def run(options: argparse.Namespace) -> int:
    """Estimate from reports, from saved counts or both, or from a released table."""
    confidence = check_confidence(options.confidence)
    for option in ("plot", "html"):
        if getattr(options, option) is not None:
            need_matplotlib(f"--{option}")
    _find_files(options)
    release = _release_of(options)
    _check(options, release)
    saved = [Counts.from_json(read_text(path)) for path in options.counts or ()]
    mechanisms = {options.column: _mechanism(options, saved)} if release is None else _of_release(options, release)
    _check_bins(options.bins, [each.domain for each in mechanisms.values()])
    reports = read(options, mechanisms, release)
    sums = reports.columns
    mark = _mark(options, release)
    for name, mechanism in mechanisms.items():
        for group in sums[name].groups.values():
            group.counts.insecure = mark
        _merge(sums[name].groups, saved, mechanism)
    columns = {name: _estimated(sums[name].groups, mechanism, options) for name, mechanism in mechanisms.items()}
    counts = next(iter(next(iter(sums.values())).groups.values())).counts
    found = Found(
        columns,
        {name: each.unreported for name, each in sums.items()},
        options.by,
        confidence,
        counts.insecure,
        None if release is None or saved else replace(release, insecure=bool(mark)),
        options.bins,
        reports.repeated,
        reports.rejected,
    )
    if sum(len(each) for each in columns.values()) == 1:
        announce("estimating", sum(map(_seconds, mechanisms.values())))
    with Progress("steps", None) as progress:
        compute(found, progress, as_json=options.json)
    write(found, options, counts)
    return OK


def _release_of(options: argparse.Namespace) -> Described | None:
    """The release that the reports belong to, if --spec names its description or the files contain it."""
    if options.spec is not None:
        held = read_text(options.spec)
        return Described.from_json(held) if RELEASE.search(held) else None
    if not options.files or STDIN in options.files or options.counts or describes_mechanism(options):
        return None
    return carried_by_all(options.files)


def _mark(options: argparse.Namespace, release: Described | None) -> bool | None:
    """Whether the reports were drawn from known random words; None if nothing says so."""
    files = [path for path in options.files if path != STDIN]
    mark = insecure_by(files)
    if release is not None:
        return bool(mark) or release.insecure
    return mark if mark or len(files) == len(options.files) else None


def _find_files(options: argparse.Namespace) -> None:
    """Find the named files, and refuse reports that would count twice."""
    if not options.files and not options.counts:
        raise InputError(
            "Expected files of reports, or --counts; for example bipartite estimate reports.csv --spec age.json."
        )
    options.files = [path for name in options.files for path in ([STDIN] if name == str(STDIN) else files_at([name]))]
    named = [path.resolve() for path in (*options.files, *(options.counts or ()))]
    if len(set(named)) < len(named):
        raise InputError("A file is named twice, and its reports would count twice; name each file once.")


def _check(options: argparse.Namespace, release: Described | None) -> None:
    """Refuse options that contradict each other."""
    written = (options.save_counts, options.html, options.csv, options.ranges, options.plot, options.reject)
    named = [path.resolve() for path in (*written, *options.files, *(options.counts or ())) if path is not None]
    if len(set(named)) < len(named):
        raise InputError("A file to be written is named twice, or is also read; name another one.")
    if options.counts and (options.by is not None or options.weights is not None):
        raise InputError("--by and --weights need the reports themselves; leave out --counts.")
    if options.save_counts is not None and (options.by is not None or options.weights is not None):
        raise InputError("--save-counts counts all reports alike; leave out --by and --weights.")
    if options.html is not None and (release is None or options.counts):
        raise InputError("--html is for tables that bipartite privatize wrote, which contain their specs; use --plot.")
    if options.plot is not None:
        check_ending(options.plot)
    elif options.title is not None or options.unit is not None:
        raise InputError("--title and --unit are for a plot; add --plot FILE.svg.")
    for option in ("column", "reject", "study", "question"):
        if not options.files and getattr(options, option) is not None:
            raise InputError(f"--{option} is for files of reports; leave it out.")


def _check_bins(bins: Bins | None, domains: list[Domain]) -> None:
    """Refuse edges that fit no column, before anything is read."""
    ranged = [domain for domain in domains if domain.has_ranges]
    for domain in (ranged or domains[:1]) if bins is not None else ():
        spans(domain, bins or 0, None)


def _mechanism(options: argparse.Namespace, saved: list[Counts]) -> Mechanism:
    """The mechanism that the reports were made with; saved counts contain theirs."""
    if describes_mechanism(options):
        return mechanism_of(options)
    if saved:
        return saved[0].mechanism
    raise InputError(_NO_SPEC if STDIN in options.files else no_specs(options.files[0]))


def _of_release(options: argparse.Namespace, release: Described) -> dict[str | None, Mechanism]:
    """The mechanisms of the columns to read: all private ones, or the one asked for."""
    names = list(release.mechanisms) if options.column is None else [options.column]
    one = STDIN in options.files or options.counts or options.weights is not None or options.save_counts is not None
    if one and len(names) > 1:
        raise InputError(f"Expected --column to name one private column of the release: {', '.join(map(repr, names))}.")
    if options.plot is not None and len(names) > 1:
        raise InputError("--plot draws one column; name it with --column, or use --html for all.")
    if isinstance(options.bins, list) and len(names) > 1:
        raise InputError(
            "--bins gives edges for one column; name it with --column, or give a number of ranges for all."
        )
    check_asked(release, names, options.by, options.weights)
    return {name: release.mechanisms[name] for name in names}


def _seconds(mechanism: Mechanism) -> float:
    """How long one estimate takes, roughly: longest where a curve is fitted."""
    size = len(mechanism.domain)
    fitted = size > FEW_VALUES and not mechanism.flat
    return 0.4 + 2.5e-3 * min(size, 1000) if fitted else 0.02 + 1e-4 * size


def _merge(groups: dict[str | None, GroupCounts], saved: list[Counts], mechanism: Mechanism) -> None:
    """Add saved counts to those of the reports."""
    for counts in saved:
        groups.setdefault(None, GroupCounts(mechanism)).counts.merge(counts)
    if all(group.empty for group in groups.values()):
        raise DataFileError("There are no reports, so nothing can be estimated; pass at least one.")


def _estimated(
    groups: dict[str | None, GroupCounts], mechanism: Mechanism, options: argparse.Namespace
) -> dict[str | None, Estimate]:
    """The estimate of every group; nothing is computed yet."""
    found: dict[str | None, Estimate] = {}
    for label, group in groups.items():
        if group.empty:
            raise DataFileError(
                f"All weights of the group {label!r} are 0, so nothing can be estimated for it; leave it out."
            )
        found[label] = from_tally(mechanism, group.tally, options.method)
    return found

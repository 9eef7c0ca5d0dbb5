"""``bipartite estimate``: read reports, print answers with error bars."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.answers.estimation import Counts
from bipartite.answers.estimation.intervals import check_confidence
from bipartite.answers.estimation.ranges import spans
from bipartite.cli.estimate_output import Found, compute, write
from bipartite.cli.estimate_pages import left_out
from bipartite.cli.output import FINDING, NUMBER, OK, Progress, announce, note
from bipartite.cli.program import refuse_given
from bipartite.cli.rejected import set_aside
from bipartite.errors import InputError, how_many
from bipartite.mechanisms.spec import load_spec
from bipartite.plots.figure import check_ending, need_matplotlib
from bipartite.tables.answering import (
    carried_by_all,
    check_asked,
    estimates_of,
    files_at,
    files_of,
    insecure_by,
    no_specs,
)
from bipartite.tables.collecting import STDIN, Asked
from bipartite.tables.counting import Counted, Sums, count_reports
from bipartite.tables.domain_files import read_text
from bipartite.tables.envelopes import Envelopes
from bipartite.tables.formats import Format
from bipartite.tables.metadata import Described
from bipartite.texts import escaped

if TYPE_CHECKING:
    import argparse

    from bipartite.answers.estimation.ranges import Bins
    from bipartite.cli.rejected import Rejected
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism


RELEASE: Final = re.compile(r'"bipartite_release"\s*:')
"""A key that no spec has; inside a label its quotes would be escaped."""
_SECONDS: Final = {"csv": 3e-8, "tsv": 3e-8, "jsonl": 2e-7, "parquet": 1.2e-7, "arrow": 1e-8}
"""Seconds per byte and column, roughly."""
_MAPS: Final = (".html", ".svg", ".png", ".geojson")
_NO_SPEC: Final = (
    "Expected --spec: standard input is read as CSV and does not say which mechanism made the reports. Parquet or "
    "Arrow files that contain their specs must be named."
)
EXAMPLES: Final = """examples:
  bipartite estimate reports.parquet --by country --html answers.html
  bipartite estimate monday.csv tuesday.csv --spec age.json --bins 30,45,65 --plot ages.svg
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add = parser.add_argument
    add("files", metavar="FILE", nargs="*", help="reports: files, folders, quoted patterns; - for standard input")
    spec = "the mechanism or the release, unless the files contain it"
    add("--spec", metavar="FILE.json", type=Path, help=spec)
    add("--column", metavar="NAME", help='the reports (default: all of a release; or "report")')
    add("--by", metavar="COLUMN", help="a public column of groups; each is estimated on its own")
    add("--weights", metavar="COLUMN", help="a public column of weights")
    add("--counts", metavar="FILE.json", type=Path, action="append", help="saved counts; may be repeated")
    add("--nulls", choices=["error", "drop"], default="error", help="refuse missing reports, or skip them")
    add("--reject", metavar="FILE", type=Path, help="set lines that are no reports aside, and go on")
    for field in ("study", "question"):
        add(f"--{field}", metavar="NAME", help=f"the {field} to count, if envelopes are of several")
    sure = "the confidence of every interval (default: 0.95)"
    add("--confidence", metavar="C", type=float, default=0.95, help=sure)
    edges = "public edges of ranges, such as 30,45,65; or a number of ranges"
    add("--bins", metavar="EDGES", type=_bins_of, help=edges)
    add("--save-counts", metavar="FILE.json", type=Path, help="save all counts, to be merged with others")
    add("--csv", metavar="FILE.csv", type=Path, help="write the shares of values, or of --bins")
    add("--plot", metavar="FILE.svg", type=Path, help="plot the shares: .svg, .png or .pdf")
    add("--html", metavar="FILE.html", type=Path, help="write a page about a release")
    add("--map", metavar="FILE", type=Path, help="map a column of places: .html, .svg, .png or .geojson")
    add("--json", action="store_true", help="print one JSON object (schemas/estimate.json)")


def _bins_of(text: str) -> Bins:
    """The number of ranges, or edges: numbers, or labels of a circle."""
    parts = [part.strip() for part in text.split(",")]
    edges = [int(part) if part.isdecimal() else float(part) if NUMBER.fullmatch(part) else part for part in parts]
    return edges[0] if len(edges) == 1 and isinstance(edges[0], int) else edges


def run(options: argparse.Namespace) -> int:
    """Estimate from reports, from saved counts or both, or from a released table."""
    confidence = check_confidence(options.confidence)
    _check_pictures(options)
    _find_files(options)
    release = _release_of(options)
    _check(options, release)
    saved = [Counts.from_json(read_text(path)) for path in options.counts or ()]
    mechanisms = {options.column: _mechanism(options, saved)} if release is None else _of_release(options, release)
    _check_columns(options, [each.domain for each in mechanisms.values()])
    with set_aside(options.reject) as rejected:
        counted, repeated = _count(options, mechanisms, release, rejected)
    _mention_skipped(options, counted, repeated, rejected, sampled=release is not None and release.sample is not None)
    mark = _mark(options, release)
    for name, mechanism in mechanisms.items():
        groups = counted[name].groups
        for sums in groups.values():
            sums.counts.insecure = mark
        for counts in saved:
            groups.setdefault(None, Sums(mechanism)).counts.merge(counts)
    columns = {name: estimates_of(name if options.files else None, each) for name, each in counted.items()}
    counts = next(iter(next(iter(counted.values())).groups.values())).counts
    found = Found(
        columns=columns,
        unreported={name: each.unreported for name, each in counted.items()},
        by=options.by,
        confidence=confidence,
        insecure=counts.insecure,
        release=None if release is None or saved else replace(release, insecure=bool(mark)),
        bins=options.bins,
        repeated=repeated,
        rejected=rejected.count,
    )
    compute(found, as_json=options.json)
    write(found, options, counts)
    return FINDING if found.doubted else OK


def _count(
    options: argparse.Namespace, mechanisms: dict[str | None, Mechanism], release: Described | None, rejected: Rejected
) -> tuple[dict[str | None, Counted], int]:
    """(the sums of each column, the number of lines that repeat a key)."""
    if not options.files:
        return {name: Counted(each) for name, each in mechanisms.items()}, 0
    files, written = (options.files, Format("csv")) if STDIN in options.files else files_of(options.files)
    named = {"study": options.study, "question": options.question}
    envelopes = None
    if written.kind == "jsonl":
        one = next(iter(mechanisms.items()))
        attributes = None if release is None else release.mechanisms
        envelopes = Envelopes.of_record(attributes, **named) if attributes else Envelopes.of_column(*one, **named)
    elif any(named.values()):
        raise InputError("--study and --question are for envelopes in JSON lines; leave them out.")
    size = sum(path.stat().st_size for path in files if path != STDIN)
    announce("reading these files", _SECONDS[written.kind] * len(mechanisms) * size)
    with Progress("reports", None, rate=True) as progress:
        asked = Asked(
            mechanisms,
            options.by,
            options.weights,
            options.nulls,
            envelopes,
            None if release is None else release.sample,
            rejected.refuse,
            progress.advance,
        )
        counted = count_reports(files, written, asked)
    return counted, 0 if envelopes is None else envelopes.repeated


def _mention_skipped(
    options: argparse.Namespace,
    counted: dict[str | None, Counted],
    repeated: int,
    rejected: Rejected,
    *,
    sampled: bool,
) -> None:
    """Say on stderr what was read, and does not count."""
    said = []
    for name, each in counted.items():
        column = "" if name is None else f"column {name!r}: "
        said.append((each.unreported, f"{column}{each.unreported:,} {left_out(sampled=sampled)}"))
    retries = f"{how_many(repeated, 'line')} with a key that came before, as retries have; every key counts once."
    aside = f"{how_many(rejected.count, 'line')} set aside in {options.reject}, and counted as not received; the first:"
    for count, what in (*said, (repeated, retries), (rejected.count, f"{aside} {rejected.first}")):
        if count:
            note(escaped(options.parsed_by.in_flags(what)))


def _release_of(options: argparse.Namespace) -> Described | None:
    """The release that the reports belong to, if --spec names its description or the files contain it."""
    if options.spec is not None:
        held = read_text(options.spec)
        return Described.from_json(held) if RELEASE.search(held) else None
    if not options.files or STDIN in options.files or options.counts:
        return None
    return carried_by_all(options.files)


def _mark(options: argparse.Namespace, release: Described | None) -> bool | None:
    """Whether the reports were drawn from known random words; None if nothing says so."""
    files = [path for path in options.files if path != STDIN]
    mark = insecure_by(files)
    if release is not None:
        return bool(mark) or release.insecure
    return mark if mark or len(files) == len(options.files) else None


def _check_pictures(options: argparse.Namespace) -> None:
    """Refuse pictures of unknown kinds, or without the library that draws them, before anything is read."""
    ending = "" if options.map is None else options.map.suffix.lower()
    if options.map is not None and ending not in _MAPS:
        raise InputError(f"Expected --map as a file that ends with {', '.join(_MAPS)}, got {options.map.name!r}.")
    for option in ("plot", "html", "map"):
        if getattr(options, option) is not None and (option, ending) != ("map", ".geojson"):
            need_matplotlib(f"--{option}")
    if options.plot is not None:
        check_ending(options.plot)


def _find_files(options: argparse.Namespace) -> None:
    """Find the named files, and refuse reports that would count twice or files that would be replaced."""
    if not options.files and not options.counts:
        raise InputError(
            "Expected files of reports, or --counts; for example bipartite estimate reports.csv --spec age.json."
        )
    options.files = [path for name in options.files for path in ([STDIN] if name == str(STDIN) else files_at([name]))]
    read = [*options.files, *(options.counts or ())]
    if _twice(read):
        raise InputError("A file is named twice, and its reports would count twice; name each file once.")
    written = (options.save_counts, options.html, options.csv, options.plot, options.map, options.reject)
    if _twice([path for path in (*written, *read, options.spec) if path]):
        raise InputError("A file to be written is named twice, or is also read; name another one.")


def _twice(paths: list[Path]) -> bool:
    return len({path.resolve() for path in paths}) < len(paths)


def _check(options: argparse.Namespace, release: Described | None) -> None:
    """Refuse options that contradict each other."""
    if options.counts and (options.by is not None or options.weights is not None):
        raise InputError("--by and --weights need the reports themselves; leave out --counts.")
    if options.save_counts is not None:
        refuse_given(options, ("by", "weights"), "--save-counts counts all reports alike")
    if options.html is not None and (release is None or options.counts):
        raise InputError("--html is for tables that bipartite privatize wrote, which contain their specs; use --plot.")
    if not options.files:
        of_files = ("column", "reject", "study", "question")
        refuse_given(options, of_files, "--column, --reject, --study and --question are for files of reports")


def _check_columns(options: argparse.Namespace, domains: list[Domain]) -> None:
    """Refuse edges that fit no column, and maps of anything but one column of places, before anything is read."""
    ranged = [domain for domain in domains if domain.has_ranges]
    for domain in (ranged or domains[:1]) if options.bins is not None else ():
        spans(domain, options.bins or 0, None)
    places = [domain for domain in domains if domain.coordinates is not None]
    if options.map is not None and not places:
        raise InputError("--map draws places, and no column that is read has any; use --plot, or name another column.")
    if options.map is not None and (len(places) != 1 or options.by is not None):
        raise InputError("--map draws one column of places, without groups; name it with --column, and leave out --by.")


def _mechanism(options: argparse.Namespace, saved: list[Counts]) -> Mechanism:
    """The mechanism that the reports were made with; saved counts contain theirs."""
    if options.spec is not None:
        return load_spec(read_text(options.spec))
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

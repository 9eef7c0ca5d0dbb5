"""``bipartite estimate``: reports in, answers with error bars out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation import Counts, Estimates
from bipartite.answers.estimation.estimating import from_evidence
from bipartite.answers.estimation.intervals import check_confidence
from bipartite.answers.estimation.methods import METHODS
from bipartite.cli import estimate_table
from bipartite.cli.arguments import add_mechanism, any_mechanism_of, describes_mechanism
from bipartite.cli.columns import SPOKEN, STDIN, Asked, chunks
from bipartite.cli.counting import Tally, Texts, check_label, weights_of
from bipartite.cli.estimate_output import as_csv, as_json, show, warn
from bipartite.cli.output import OK, Progress, print_json
from bipartite.errors import DataFileError, InputError
from bipartite.files import write_whole
from bipartite.mechanisms.categories import CategoryMechanism
from bipartite.mechanisms.spec import spec_sha256
from bipartite.tables.answering import Answers, check_asked, files_at, files_of, insecure_by, no_specs
from bipartite.tables.counting import count_files
from bipartite.tables.domain_files import read_text
from bipartite.tables.formats import Format
from bipartite.tables.metadata import NOT_PRIVATE

if TYPE_CHECKING:
    import argparse

    from bipartite.answers.estimation import Estimate
    from bipartite.cli.columns import Chunk
    from bipartite.mechanisms import Mechanism
    from bipartite.tables.metadata import Described

_MOST_GROUPS: Final = 10_000
_MOST_CELLS: Final = 2**27  # of all groups together
_NO_SPEC: Final = (
    "Expected --spec, or a domain and --epsilon: what the reports on standard input, which is read as CSV, were made "
    "with; files of Parquet or Arrow that carry their specs are read by name."
)
_EXAMPLES = """examples:
  bipartite estimate reports.csv --spec age.json
  bipartite estimate reports.csv --spec age.json --column age --by region --plot regions.svg
  bipartite estimate monday.csv tuesday.csv --spec age.json --save-counts week.json
  bipartite estimate --counts week.json --counts other-server.json --csv shares.csv
  bipartite report --spec age.json < ages.txt | bipartite estimate - --spec age.json
  bipartite estimate released.parquet --by country --html answers.html

A table that bipartite privatize wrote says itself what its reports were made with: every private column is estimated,
or the one named with --column; --spec may name the file of its specs instead. Reports on their own need a spec, and are
CSV: one report a line, or columns with names in the first line. Anything that is no report is an error that names its
line; nothing is skipped. Files of other formats are read with --column. Files may be larger than memory; several are
counted together. Groups and weights are public columns.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what this command takes."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="reports: files, folders, quoted patterns; - for standard input"
    )
    add_mechanism(parser, required=False)
    reading = parser.add_argument_group("what is read")
    reading.add_argument("--column", metavar="NAME", help='the reports (default: the only column, or "report")')
    reading.add_argument("--by", metavar="COLUMN", help="a public column of groups: an estimate for each")
    reading.add_argument("--weights", metavar="COLUMN", help="a public column of weights")
    reading.add_argument(
        "--counts", metavar="FILE.json", type=Path, action="append", help="counts that were saved; may be repeated"
    )
    reading.add_argument(
        "--nulls", choices=["error", "drop"], default="error", help="refuse missing reports, or leave them out"
    )
    asking = parser.add_argument_group("what is asked")
    asking.add_argument("--method", choices=METHODS, default="auto", help="how the histogram is made (default: auto)")
    asking.add_argument("--of-sample", action="store_true", help="errors for the people who answered, not a population")
    asking.add_argument("--confidence", metavar="C", type=float, default=0.95, help="of every interval (default: 0.95)")
    writing = parser.add_argument_group("what is written")
    writing.add_argument("--save-counts", metavar="FILE.json", type=Path, help="all counts, to be merged with others")
    writing.add_argument("--csv", metavar="FILE.csv", type=Path, help="value, share, standard error, low, high")
    writing.add_argument("--plot", metavar="FILE.svg", type=Path, help="a picture with error bars")
    writing.add_argument("--html", metavar="FILE.html", type=Path, help="of a released table: a page with pictures")
    writing.add_argument(
        "--json", action="store_true", help="print one JSON object (schemas/estimate.json, or estimate-table.json)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Estimate from reports, counts or both; or from a table that says itself what its reports were made with."""
    confidence = check_confidence(options.confidence)
    _find_files(options)
    release = estimate_table.release_of(options)
    one = STDIN in options.files or options.counts or options.weights is not None or options.save_counts is not None
    if release is not None and not one:
        return estimate_table.run(options, release, confidence)
    _check(options, release)
    saved = [Counts.from_json(read_text(path)) for path in options.counts or ()]
    mechanism = _mechanism(options, saved) if release is None else _of_release(options, release)
    groups, dropped = _read(options, mechanism)
    mark = _mark(options, release)
    for tally in groups.values():
        tally.counts.insecure = mark
    _merge(groups, saved, mechanism)
    found = _estimated(groups, mechanism, options)
    if release is not None and not saved:
        about = replace(release, insecure=bool(mark))
        answers = Answers(about, options.by, {options.column: found}, {options.column: dropped})
        counts = None if options.save_counts is None else groups[None].counts
        return estimate_table.write(answers, options, confidence, counts)
    insecure = next(iter(groups.values())).counts.insecure
    whole = Estimates(found) if options.by is not None else next(iter(found.values()))
    # Everything is computed before anything is written.
    picture = whole.plot(confidence=confidence) if options.plot is not None else None
    table = as_csv(found, confidence, grouped=options.by is not None) if options.csv is not None else None
    described = _described(found, mechanism, confidence, insecure=insecure) if options.json else None
    if options.save_counts is not None:
        write_whole(options.save_counts, groups[None].counts.to_json() + "\n")
    if table is not None:
        write_whole(options.csv, table)
    if picture is not None:
        write_whole(options.plot, picture + "\n")
    if described is not None:
        warn(found)
        print_json(described)
    else:
        if insecure:
            print(f"{NOT_PRIVATE}.\n")
        show(found, confidence)
    return OK


def _mark(options: argparse.Namespace, release: Described | None) -> bool | None:
    """Whether the reports that are read were drawn from known words; None where nobody says."""
    files = [path for path in options.files if path != STDIN]
    mark = insecure_by(files)
    if release is not None:
        return bool(mark) or release.insecure
    return mark if mark or len(files) == len(options.files) else None


def _find_files(options: argparse.Namespace) -> None:
    """Find the files that are named, and refuse reports that would count twice."""
    if not options.files and not options.counts:
        msg = "Expected files of reports, or --counts; for example bipartite estimate reports.csv --spec age.json."
        raise InputError(msg)
    options.files = [path for name in options.files for path in ([STDIN] if name == str(STDIN) else files_at([name]))]
    named = [path.resolve() for path in (*options.files, *(options.counts or ()))]
    if len(set(named)) < len(named):
        msg = "A file is named twice, so that its reports would count twice; name each once."
        raise InputError(msg)


def _check(options: argparse.Namespace, release: Described | None) -> None:
    """Refuse what cannot go together."""
    if options.counts and (options.by is not None or options.weights is not None):
        msg = "--by and --weights need the reports themselves; leave out --counts."
        raise InputError(msg)
    if options.save_counts is not None and (options.by is not None or options.weights is not None):
        msg = "--save-counts counts all reports alike; leave out --by and --weights."
        raise InputError(msg)
    if options.html is not None and (release is None or options.counts):
        msg = "--html belongs to a table that bipartite privatize wrote, and that carries its specs; use --plot."
        raise InputError(msg)
    if not options.files and options.column is not None:
        msg = "--column belongs to files of reports; leave it out."
        raise InputError(msg)


def _mechanism(options: argparse.Namespace, saved: list[Counts]) -> Mechanism:
    """The mechanism that the reports were made with; saved counts know theirs."""
    if describes_mechanism(options):
        mechanism = any_mechanism_of(options)
    elif saved:
        mechanism = saved[0].mechanism
    else:
        raise InputError(_NO_SPEC if STDIN in options.files else no_specs(options.files[0]))
    if isinstance(mechanism, CategoryMechanism):
        msg = (
            "The reports of flat categories are rows of numbers, which one column does not hold; use Python for them: "
            "bp.estimate(bp.from_spec(…), reports)."
        )
        raise InputError(msg)
    return mechanism


def _of_release(options: argparse.Namespace, release: Described) -> Mechanism:
    """The mechanism of the one column that is read."""
    names = list(release.mechanisms)
    if options.column is None and len(names) == 1:
        options.column = names[0]
    if options.column is None:
        there = ", ".join(map(repr, names))
        msg = f"Expected --column to name one private column of the release: {there}."
        raise InputError(msg)
    check_asked(release, [options.column], options.by, options.weights)
    return release.mechanisms[options.column]


def _read(options: argparse.Namespace, mechanism: Mechanism) -> tuple[dict[str | None, Tally], int]:
    """(sums over all reports, by group, or under None where there are none; how many rows have no report)."""
    if options.files and STDIN not in options.files:
        files, written = files_of(options.files)
        if written != Format("csv"):
            return _read_table(options, files, written, mechanism)
    texts = Texts(mechanism)
    asked = Asked(options.column, tuple(name for name in (options.by, options.weights) if name is not None))
    groups: dict[str | None, Tally] = {}
    dropped = 0
    with Progress("reports", None, patience=2.0) as progress:
        for path in options.files:
            name = SPOKEN if path == STDIN else str(path)
            for chunk in chunks(path, asked, texts.is_report):
                kept = _filled(name, chunk, options.nulls)
                dropped += len(chunk.lines) - len(kept.lines)
                _count(name, kept, texts, groups, options, mechanism)
                progress.advance(len(chunk.lines))
    if dropped:
        print(f"bipartite: {dropped:,} rows without a report were left out.", file=sys.stderr)
    return groups, dropped


def _read_table(
    options: argparse.Namespace, files: list[Path], written: Format, mechanism: Mechanism
) -> tuple[dict[str | None, Tally], int]:
    """The same from files of other formats than plain CSV."""
    if options.column is None or options.weights is not None:
        what = "--column, the column of reports" if options.column is None else "no --weights, which need plain CSV"
        msg = f"Expected {what}, for {files[0]}, which is of another format."
        raise InputError(msg)
    counted = count_files(files, written, {options.column: mechanism}, options.by)[options.column]
    if counted.unreported and options.nulls == "error":
        msg = f"{files[0]}: {counted.unreported:,} rows have no report; use --nulls drop to leave them out."
        raise DataFileError(msg)
    if counted.unreported:
        print(f"bipartite: {counted.unreported:,} rows without a report were left out.", file=sys.stderr)
    groups: dict[str | None, Tally] = {}
    for label, counts in counted.groups.items():
        groups[label] = Tally(mechanism, weighted=False)
        groups[label].counts.values, groups[label].counts.people = counts, int(counts.sum())
    return groups, counted.unreported


def _merge(groups: dict[str | None, Tally], saved: list[Counts], mechanism: Mechanism) -> None:
    """Add counts that were saved to those of reports."""
    for counts in saved:
        groups.setdefault(None, Tally(mechanism, weighted=False)).counts.merge(counts)
    if not any(tally.evidence.size for tally in groups.values()):
        msg = "There are no reports, so nothing can be said; give at least one."
        raise DataFileError(msg)


def _filled(name: str, chunk: Chunk, nulls: str) -> Chunk:
    """The rows that hold a report."""
    reports = chunk.columns[0]
    full = [at for at, cell in enumerate(reports) if cell and not cell.isspace()]
    if len(full) == len(reports):
        return chunk
    if nulls == "error":
        first = next(at for at, cell in enumerate(reports) if not cell or cell.isspace())
        msg = f"{name}: line {chunk.lines[first]} has no report; repair or remove it, or use --nulls drop."
        raise DataFileError(msg)
    columns = [[column[at] for at in full] for column in chunk.columns]
    return type(chunk)([chunk.lines[at] for at in full], columns)


def _count(
    name: str,
    chunk: Chunk,
    texts: Texts,
    groups: dict[str | None, Tally],
    options: argparse.Namespace,
    mechanism: Mechanism,
) -> None:
    indices = texts.indices(name, chunk.lines, chunk.columns[0])
    others = [[cell.strip() for cell in column] for column in chunk.columns[1:]]
    weights = weights_of(name, chunk.lines, others[-1]) if options.weights is not None else None
    rows: dict[str | None, Any] = {None: slice(None)}
    if options.by is not None:
        labels, first, where = np.unique(np.array(others[0], dtype=object), return_index=True, return_inverse=True)
        order = np.argsort(where, kind="stable")
        cut = np.split(order, np.cumsum(np.bincount(where))[:-1]) if len(labels) else []
        rows = {
            check_label(name, chunk.lines[int(first[at])], labels[at]): cut[at] for at in np.argsort(first).tolist()
        }
    for label, which in rows.items():
        if label not in groups:
            if len(groups) >= min(_MOST_GROUPS, _MOST_CELLS // len(mechanism.outputs) + 1):
                msg = (
                    f"{name}: more than {len(groups):,} groups, too many to hold; is {options.by!r} a column of groups?"
                )
                raise DataFileError(msg)
            groups[label] = Tally(mechanism, weighted=weights is not None)
        groups[label].add(indices[which], None if weights is None else weights[which])


def _estimated(
    groups: dict[str | None, Tally], mechanism: Mechanism, options: argparse.Namespace
) -> dict[str | None, Estimate]:
    """The estimate of every group; smoothing over 100,000 values takes a minute, which is then seen to pass."""
    found: dict[str | None, Estimate] = {}
    with Progress("steps", None, patience=2.0) as progress:
        for label, tally in groups.items():
            if not tally.evidence.size:
                msg = f"All weights of the group {label!r} are 0, so nothing can be said about it; leave it out."
                raise DataFileError(msg)
            found[label] = from_evidence(
                mechanism,
                tally.evidence,
                options.method,
                of_sample=options.of_sample,
                progress=lambda _: progress.advance(1),
            )
    return found


def _described(
    found: dict[str | None, Estimate], mechanism: Mechanism, confidence: float, *, insecure: bool | None
) -> dict[str, Any]:
    return {
        "spec_sha256": spec_sha256(mechanism),
        "insecure": insecure,
        "confidence": confidence,
        "estimates": [{"group": label, **as_json(estimate, confidence)} for label, estimate in found.items()],
    }

"""Read and add up reports: CSV cells with their lines, or the columns of a table."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.cli.columns import REPORT, SPOKEN, STDIN, Lines, WantedColumns, chunks
from bipartite.cli.counting import GroupCounts, Texts, WideTexts, check_label, weights_of
from bipartite.cli.envelopes import Envelopes
from bipartite.cli.output import Progress, announce
from bipartite.cli.rejected import set_aside
from bipartite.errors import DataFileError, InputError, how_many
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.spec.canonical import record_sha256, spec_sha256
from bipartite.tables.answering import files_of
from bipartite.tables.counting import count_files, in_order, most_groups, weighed_files
from bipartite.tables.formats import Format
from bipartite.tables.sources import culprits
from bipartite.texts import escaped

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    from bipartite.cli.columns import Chunk
    from bipartite.cli.rejected import Rejected
    from bipartite.mechanisms import Mechanism
    from bipartite.tables.metadata import Described

# Seconds per byte, roughly: of text whose lines are looked at one by one, and of tables.
_READ: Final = 1.5e-6
_READ_JSON: Final = 1e-7
_READ_TABLE: Final = {"parquet": 1.2e-7, "arrow": 1e-8}
_READ_TEXT_TABLE: Final = 3e-8


def add_refusing(parser: argparse._ActionsContainer) -> None:
    """Add the options about what is read but may not count."""
    parser.add_argument(
        "--nulls", choices=["error", "drop"], default="error", help="refuse missing reports, or skip them"
    )
    parser.add_argument(
        "--reject", metavar="FILE", type=Path, help="set lines that are no reports aside in a new file, and go on"
    )
    parser.add_argument("--study", metavar="NAME", help="the study to count, if envelopes are of several")
    parser.add_argument("--question", metavar="NAME", help="the question to count, if envelopes are of several")


@dataclass(slots=True)
class Sums:
    """Sums over the reports of one column."""

    groups: dict[str | None, GroupCounts] = field(default_factory=dict)
    """By group; None is the group of all rows."""
    unreported: int = 0
    """The number of rows without a report."""


@dataclass(slots=True)
class Read:
    """All that was read."""

    columns: dict[str | None, Sums]
    repeated: int = 0
    """The number of lines that repeat a key, and do not count."""
    rejected: int = 0
    """The number of lines that were set aside, and do not count."""


def read(options: argparse.Namespace, mechanisms: dict[str | None, Mechanism], release: Described | None) -> Read:
    """The sums of each of these columns; reports without a release are one column, which may be unnamed."""
    if not options.files:
        return Read({name: Sums() for name in mechanisms})
    with set_aside(options.reject) as rejected:
        found = _read(options, mechanisms, release, rejected)
        found.rejected = rejected.count
    for name, sums in found.columns.items():
        _mention(f"{sums.unreported:,} rows without a report were skipped.", sums.unreported, name)
    _mention(
        f"{how_many(found.repeated, 'line')} with a key that came before, as retries have; every key counts once.",
        found.repeated,
    )
    set_apart = (
        f"{how_many(found.rejected, 'line')} set aside in {options.reject}, and counted as not received; the first:"
    )
    _mention(f"{set_apart} {rejected.first}", found.rejected)
    return found


def _announce(files: list[Path], seconds_per_byte: float) -> None:
    announce("reading these files", seconds_per_byte * sum(path.stat().st_size for path in files if path != STDIN))


def _mention(what: str, count: int, column: str | None = None) -> None:
    if count:
        print(f"bipartite: {'' if column is None else f'column {column!r}: '}{escaped(what)}", file=sys.stderr)


def _read(
    options: argparse.Namespace,
    mechanisms: dict[str | None, Mechanism],
    release: Described | None,
    rejected: Rejected,
) -> Read:
    files, written = (options.files, Format("csv")) if STDIN in options.files else files_of(options.files)
    if written.kind != "jsonl" and (options.study is not None or options.question is not None):
        raise InputError("--study and --question are for envelopes in JSON lines; leave them out.")
    if STDIN in files:
        return _read_text(options, files, written, mechanisms, release, rejected)
    if not written.is_text:
        return _read_table(options, files, written, mechanisms, rejected)
    # A row among envelopes would make a table of them all, in which the envelopes are rows without a report.
    enveloped = written.kind == "jsonl" and (options.nulls == "drop" or options.study or options.question)
    if release is not None and options.weights is None and options.reject is None and not enveloped:
        try:
            return _read_table(options, files, written, mechanisms, rejected)
        except DataFileError as error:
            problem = error
        # Slower, but it names lines, and opens the envelopes of records.
        found = _read_text(options, files, written, mechanisms, release, rejected)
        if written.kind != "jsonl":
            raise problem
        return found
    return _read_text(options, files, written, mechanisms, release, rejected)


def _read_table(
    options: argparse.Namespace,
    files: list[Path],
    written: Format,
    mechanisms: dict[str | None, Mechanism],
    rejected: Rejected,
) -> Read:
    """The sums of the columns of a table."""
    if None in mechanisms:
        unnamed = _read_table(options, files, written, {REPORT: mechanisms[None]}, rejected)
        return Read({None: unnamed.columns[REPORT]})
    named = {name: mechanism for name, mechanism in mechanisms.items() if name is not None}
    if options.weights is not None:
        ((name, mechanism),) = named.items()
        return Read({name: _weighed(options, files, written, name, mechanism, rejected)})
    _announce(files, _READ_TABLE.get(written.kind, _READ_TEXT_TABLE) * len(named))
    found: dict[str | None, Sums] = {}
    for name, counted in count_files(files, written, named, options.by, rejected.refuse).items():
        _check_unreported(options, name, counted.unreported)
        found[name] = Sums({label: GroupCounts(named[name]) for label in counted.groups}, counted.unreported)
        for label, counts in counted.groups.items():
            found[name].groups[label].counts = counts
    return Read(found)


def _check_unreported(options: argparse.Namespace, name: str, unreported: int) -> None:
    if unreported and options.nulls == "error":
        raise DataFileError(f"column {name!r}: {unreported:,} rows have no report; use --nulls drop to skip them.")


def _weighed(
    options: argparse.Namespace,
    files: list[Path],
    written: Format,
    name: str,
    mechanism: Mechanism,
    rejected: Rejected,
) -> Sums:
    """The weighted sums of a column of a table."""
    sums = Sums()
    for batch in weighed_files(files, written, name, mechanism, options.by, options.weights, rejected.refuse):
        sums.unreported += batch.unreported
        for at, label in enumerate(batch.labels):
            which = np.flatnonzero(batch.groups == at)
            if len(which):
                _group(sums, label, mechanism, options).add(batch.reports[which], batch.weights[which])
    _check_unreported(options, name, sums.unreported)
    if not sums.groups:
        raise DataFileError(f"column {name!r} has no reports, so nothing can be estimated for it.")
    if options.by is not None:
        sums.groups = in_order(sums.groups)
    return sums


def _group(sums: Sums, label: str | None, mechanism: Mechanism, options: argparse.Namespace) -> GroupCounts:
    """The sums of a group, which may be a new one."""
    if label not in sums.groups:
        if len(sums.groups) >= most_groups(mechanism):
            raise DataFileError(
                f"more than {len(sums.groups):,} groups do not fit; is {options.by!r} a column of groups?"
            )
        sums.groups[label] = GroupCounts(mechanism, weighted=options.weights is not None)
    return sums.groups[label]


def _read_text(
    options: argparse.Namespace,
    files: list[Path],
    written: Format,
    mechanisms: dict[str | None, Mechanism],
    release: Described | None,
    rejected: Rejected,
) -> Read:
    """The sums of columns of text, from files or standard input; errors name the line."""
    texts = [WideTexts(each) if each.flat else Texts(each) for each in mechanisms.values()]
    names = [*mechanisms, *(name for name in (options.by, options.weights) if name is not None)]
    envelopes = _envelopes(options, mechanisms, release)
    asked = WantedColumns(names[0], tuple(str(name) for name in names[1:]))
    how = Lines(written, asked, texts[0].is_report, envelopes, rejected)
    found = Read({name: Sums() for name in mechanisms})
    _announce(files, _READ_JSON if written.kind == "jsonl" else _READ)
    with Progress("reports", None, rate=True) as progress:
        for path in files:
            name = SPOKEN if path == STDIN else str(path)
            for chunk in chunks(path, how):
                parts = _counted_rows(name, chunk, texts, options, envelopes, rejected)
                for sums, mechanism, part in zip(found.columns.values(), mechanisms.values(), parts, strict=True):
                    sums.unreported += part.missing
                    for label, which in part.rows.items():
                        weights = None if part.weights is None else part.weights[which]
                        _group(sums, label, mechanism, options).add(part.reports[which], weights)
                progress.advance(len(chunk.lines))
    for sums in found.columns.values():
        sums.groups = sums.groups if options.by is None else in_order(sums.groups)
    found.repeated = envelopes.repeated
    return found


def _envelopes(
    options: argparse.Namespace, mechanisms: dict[str | None, Mechanism], release: Described | None
) -> Envelopes:
    """What envelopes must hold: a report of the one mechanism, or of the record of all columns of a release."""
    named = {"study": options.study, "question": options.question}
    if release is not None:
        attributes = release.mechanisms
        drawn = (None, *range(1, len(attributes)))
        return Envelopes({record_sha256(attributes, each): each for each in drawn}, named, frozenset(attributes))
    enclosed = options.column in {None, REPORT}
    return Envelopes({spec_sha256(each): None for each in mechanisms.values() if enclosed}, named)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The reports of one column in some rows."""

    reports: NDArray[Any]
    weights: NDArray[np.float64] | None
    rows: dict[str | None, Any]
    """Which reports belong to each group; None is the group of all."""
    missing: int


def _counted_rows(
    name: str,
    chunk: Chunk,
    texts: list[Texts | WideTexts],
    options: argparse.Namespace,
    envelopes: Envelopes,
    rejected: Rejected,
) -> list[_Parsed]:
    """The reports of each column in the rows that count: neither impossible, nor a retry."""

    def parse(first: int, last: int) -> list[_Parsed]:
        some = chunk if last - first == len(chunk.lines) else chunk.at(range(first, last))
        return [_parsed(name, some, at, text, options, envelopes) for at, text in enumerate(texts)]

    size, wrong = len(chunk.lines), dict[int, str]()
    parts = None
    try:
        parts = parse(0, size)
    except DataFileError as error:
        if rejected.file is None:
            rejected.refuse(str(error), "")
        for row in culprits(parse, size, DataFileError):
            try:
                parse(row, row + 1)
            except DataFileError as why:
                wrong[row] = str(why)
                rejected.refuse(str(why), chunk.raw[row])
    chunk = chunk.at([row for row in range(size) if row not in wrong]) if wrong else chunk
    fresh = envelopes.fresh(name, chunk, len(texts), rejected) if chunk.keys else range(len(chunk.lines))
    if parts is not None and len(fresh) == size:
        return parts
    chunk = chunk.at(fresh)
    return parse(0, len(fresh))


def _parsed(
    name: str, chunk: Chunk, at: int, text: Texts | WideTexts, options: argparse.Namespace, envelopes: Envelopes
) -> _Parsed:
    """The reports of one column; an error names the line."""
    size = len(chunk.lines)
    full = [row for row, cell in enumerate(chunk.columns[at]) if cell and not cell.isspace()]
    if len(full) < size:
        if options.nulls == "error" and not envelopes.sampled:
            line = next(line for row, line in enumerate(chunk.lines) if row == len(full) or full[row] != row)
            raise DataFileError(f"{name}: line {line} has no report; repair or remove it, or use --nulls drop.")
        chunk = chunk.at(full)
    reports = text.reports(name, chunk.lines, chunk.columns[at])
    other = [cell.strip() for cell in chunk.columns[-1]]
    weights = None if options.weights is None else weights_of(name, chunk.lines, other)
    rows: dict[str | None, Any] = {None: slice(None)}
    if options.by is not None:
        groups = [cell.strip() for cell in chunk.columns[-1 if options.weights is None else -2]]
        labels, first, where = np.unique(np.array(groups, dtype=object), return_index=True, return_inverse=True)
        order = np.argsort(where, kind="stable")
        cut = np.split(order, np.cumsum(np.bincount(where))[:-1]) if len(labels) else []
        rows = {
            check_label(name, chunk.lines[int(first[at])], labels[at]): cut[at] for at in np.argsort(first).tolist()
        }
    return _Parsed(reports, weights, rows, size - len(full))

"""Read and add up reports: CSV cells with their lines, or the columns of a table."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.cli.columns import SPOKEN, STDIN, WantedColumns, chunks
from bipartite.cli.counting import GroupCounts, Texts, WideTexts, check_label, weights_of
from bipartite.cli.output import Progress, announce
from bipartite.errors import DataFileError
from bipartite.mechanisms.categories import CategoryMechanism
from bipartite.tables.answering import files_of
from bipartite.tables.counting import count_files, in_order, most_groups, weighed_files
from bipartite.tables.formats import Format

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from bipartite.cli.columns import Chunk
    from bipartite.mechanisms.record import Reporting


_READ: Final = 1.5e-6  # seconds per byte of CSV, roughly


@dataclass(slots=True)
class Sums:
    """Sums over the reports of one column."""

    groups: dict[str | None, GroupCounts] = field(default_factory=dict)
    """By group; None is the group of all rows."""
    unreported: int = 0
    """The number of rows without a report."""


def read(
    options: argparse.Namespace, mechanisms: dict[str | None, Reporting], *, released: bool
) -> dict[str | None, Sums]:
    """The sums of each of these columns; reports without a release are one column, which may be unnamed."""
    if not options.files:
        return {name: Sums() for name in mechanisms}
    if STDIN not in options.files:
        files, written = files_of(options.files)
        # Weights, and reports without a release, are read from plain CSV as text, so that errors can name the line.
        if written != Format("csv") or (released and options.weights is None):
            return _read_table(options, files, written, mechanisms)
    ((column, mechanism),) = mechanisms.items()
    return {column: _read_text(options, column, mechanism)}


def _read_table(
    options: argparse.Namespace, files: list[Path], written: Format, mechanisms: dict[str | None, Reporting]
) -> dict[str | None, Sums]:
    """The sums of the columns of a table."""
    if None in mechanisms:
        unnamed = _read_table(options, files, written, {"report": mechanisms[None]})
        return {None: unnamed["report"]}
    named = {name: mechanism for name, mechanism in mechanisms.items() if name is not None}
    if options.weights is not None:
        ((name, mechanism),) = named.items()
        return {name: _weighed(options, files, written, name, mechanism)}
    found: dict[str | None, Sums] = {}
    for name, counted in count_files(files, written, named, options.by).items():
        _check_unreported(options, name, counted.unreported)
        found[name] = Sums({label: GroupCounts(named[name]) for label in counted.groups}, counted.unreported)
        for label, counts in counted.groups.items():
            found[name].groups[label].counts = counts
    return found


def _check_unreported(options: argparse.Namespace, name: str, unreported: int) -> None:
    if unreported and options.nulls == "error":
        msg = f"column {name!r}: {unreported:,} rows have no report; use --nulls drop to skip them."
        raise DataFileError(msg)
    _mention(unreported, f"column {name!r}: ")


def _weighed(options: argparse.Namespace, files: list[Path], written: Format, name: str, mechanism: Reporting) -> Sums:
    """The weighted sums of a column of a table."""
    sums = Sums()
    for batch in weighed_files(files, written, name, mechanism, options.by, options.weights):
        sums.unreported += batch.unreported
        for at, label in enumerate(batch.labels):
            which = np.flatnonzero(batch.groups == at)
            if not len(which):
                continue
            if label not in sums.groups:
                if len(sums.groups) >= most_groups(mechanism):
                    msg = f"more than {len(sums.groups):,} groups do not fit; is {options.by!r} a column of groups?"
                    raise DataFileError(msg)
                sums.groups[label] = GroupCounts(mechanism, weighted=True)
            sums.groups[label].add(batch.reports[which], batch.weights[which])
    _check_unreported(options, name, sums.unreported)
    if not sums.groups:
        msg = f"column {name!r} has no reports, so nothing can be estimated for it."
        raise DataFileError(msg)
    if options.by is not None:
        sums.groups = in_order(sums.groups)
    return sums


def _mention(unreported: int, where: str = "") -> None:
    if unreported:
        print(f"bipartite: {where}{unreported:,} rows without a report were skipped.", file=sys.stderr)


def _read_text(options: argparse.Namespace, column: str | None, mechanism: Reporting) -> Sums:
    """The sums of a CSV column, from files or standard input."""
    texts = WideTexts(mechanism) if isinstance(mechanism, CategoryMechanism) else Texts(mechanism)
    asked = WantedColumns(column, tuple(name for name in (options.by, options.weights) if name is not None))
    sums = Sums()
    announce("reading these files", _READ * sum(path.stat().st_size for path in options.files if path != STDIN))
    with Progress("reports", None, rate=True) as progress:
        for path in options.files:
            name = SPOKEN if path == STDIN else str(path)
            for chunk in chunks(path, asked, texts.is_report):
                kept = _filled(name, chunk, options.nulls)
                sums.unreported += len(chunk.lines) - len(kept.lines)
                _count(name, kept, texts, sums.groups, options, mechanism)
                progress.advance(len(chunk.lines))
    _mention(sums.unreported)
    if options.by is not None:
        sums.groups = in_order(sums.groups)
    return sums


def _filled(name: str, chunk: Chunk, nulls: str) -> Chunk:
    """The rows with a report."""
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
    texts: Texts | WideTexts,
    groups: dict[str | None, GroupCounts],
    options: argparse.Namespace,
    mechanism: Reporting,
) -> None:
    reports = texts.reports(name, chunk.lines, chunk.columns[0])
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
            if len(groups) >= most_groups(mechanism):
                msg = f"{name}: more than {len(groups):,} groups do not fit; is {options.by!r} a column of groups?"
                raise DataFileError(msg)
            groups[label] = GroupCounts(mechanism, weighted=weights is not None)
        groups[label].add(reports[which], None if weights is None else weights[which])

"""How often each report came in released files: one scan for all columns and groups, a batch of rows at a time."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from bipartite.answers.estimation import Counts
from bipartite.answers.estimation.reports import indices_of
from bipartite.domains import Product
from bipartite.errors import DataError, DataFileError, InputError
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.categories import CategoryMechanism
from bipartite.tables.columns import PUBLIC, text_labels
from bipartite.tables.complaints import unreadable
from bipartite.tables.engine import connect
from bipartite.tables.extras import duckdb, pa
from bipartite.tables.plan import Plan
from bipartite.tables.sources import Reading, open_files
from bipartite.tables.wide import from_cells
from bipartite.tables.workspace import private_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from bipartite.mechanisms.record import Reporting
    from bipartite.tables.formats import Format

MOST_GROUPS: Final = 10_000
_MOST_CELLS: Final = 2**27  # of the counts of all groups and columns together
_FEW_CELLS: Final = 2**20
_LARGEST: Final = 1e100  # weight
Sums = TypeVar("Sums")


@dataclass(slots=True)
class Counted:
    """The reports of one column."""

    groups: dict[str | None, Counts] = field(default_factory=dict)
    """The counts of each group; all rows are under None."""
    unreported: int = 0
    """How many rows have no report."""

    def add(self, mechanism: Reporting, label: str | None, values: NDArray[np.int64], people: int) -> None:
        """Count more reports of a group."""
        held = self.groups.setdefault(label, Counts(mechanism))
        held.values += values
        held.people += people


class _AsTheyAre(Plan):
    """Reads columns as they are."""

    def __init__(self, names: Iterable[str]) -> None:
        self._set(_columns=tuple((name, PUBLIC) for name in names))

    def check_inputs(self, given: pa.Schema) -> None:
        """Refuse a table that lacks a column, or has it twice."""
        for each in self.inputs():
            times = given.names.count(each)
            if times != 1:
                msg = (
                    f"it has {'several columns' if times else 'no column'} {each!r}; see that the name is right, and "
                    "that the specs are those of this file."
                )
                raise InputError(msg)


def count_files(
    files: list[Path], written: Format, mechanisms: dict[str, Reporting], by: str | None
) -> dict[str, Counted]:
    """The counts of each of these columns, with groups in the order of their names."""
    counted = {name: Counted() for name in mechanisms}
    most = most_groups(*mechanisms.values())
    for batch in _batches(files, written, [*mechanisms, *([] if by is None else [by])]):
        groups = None if by is None else _labels(by, batch.column(by))
        for name, mechanism in mechanisms.items():
            with _named(name):
                if isinstance(mechanism, CategoryMechanism):
                    _add_wide(mechanism, counted[name], batch.column(name), groups)
                else:
                    _add(mechanism, counted[name], batch.column(name), groups)
            if len(counted[name].groups) > most:
                msg = f"Expected at most {most:,} groups, got more; is {by!r} a column of groups?"
                raise InputError(msg)
    for name, each in counted.items():
        if not each.groups:
            msg = f"column {name!r} has no reports, so nothing can be said about it."
            raise DataFileError(msg)
        if by is not None:
            each.groups = in_order(each.groups)
    return counted


@dataclass(frozen=True, slots=True)
class Weighed:
    """A batch of reports with weights."""

    reports: NDArray[Any]
    """Which outputs they are or, of flat categories, the reports themselves; those that are missing are left out."""
    weights: NDArray[np.float64]
    labels: list[str | None]
    """The groups of the batch; None for rows without one, and for all rows where nobody asks for groups."""
    groups: NDArray[np.int64]
    """Which of them each report is in."""
    unreported: int


def weighed_files(
    files: list[Path], written: Format, name: str, mechanism: Reporting, by: str | None, weights: str
) -> Iterator[Weighed]:
    """The reports of one column with the weights of their rows, a batch at a time."""
    others = dict.fromkeys([weights] if by is None else [by, weights])
    for batch in _batches(files, written, [name, *others]):
        column = batch.column(name)
        labels: list[str | None] = [None]
        groups = np.zeros(len(column), dtype=np.int64)
        if by is not None:
            labels, groups = _labels(by, batch.column(by))
        there = _numpy(column.is_valid().cast(pa.int8())) > 0
        with _named(name):
            if isinstance(mechanism, CategoryMechanism):
                reports: NDArray[Any] = from_cells(mechanism, column.drop_null())
            else:
                reports = _outputs(mechanism, column)[there]
        given = weights_in(weights, batch.column(weights))[there]
        yield Weighed(reports, given, labels, groups[there], int(len(there) - np.count_nonzero(there)))


def weights_in(name: str, column: pa.Array) -> NDArray[np.float64]:
    """Weights as numbers of at least 0; their squares are added up, too."""
    try:
        found = np.array(column.cast(pa.float64()).fill_null(-1.0).to_pylist(), dtype=np.float64)
    except pa.ArrowException:
        found = np.full(1, -1.0)
    if not may_weigh(found).all():
        msg = f"column {name!r} has a cell that is not a weight of at least 0 and at most 1e100; repair or remove it."
        raise DataFileError(msg)
    return found


def may_weigh(weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which numbers are weights, whose squares can be added up."""
    found: NDArray[np.bool_] = ((weights >= 1 / _LARGEST) & (weights <= _LARGEST)) | (weights == 0)
    return found


@contextmanager
def _named(name: str) -> Iterator[None]:
    """What is said of reports that cannot be: the column, and never the report."""
    try:
        yield
    except (pa.ArrowException, DataError):
        msg = (
            f"column {name!r} holds something that its mechanism never reports; the file was edited, or its "
            "specs are those of another one: ask for both again."
        )
        problem = DataFileError(msg)
    else:
        return
    raise problem


def most_groups(*mechanisms: Reporting) -> int:
    """How many groups can be held at once, of reports of these mechanisms each."""
    sizes = [len(each.outputs if isinstance(each, Mechanism) else each.domain) for each in mechanisms]
    return max(1, min(MOST_GROUPS, _MOST_CELLS // sum(sizes)))


def in_order(groups: dict[str | None, Sums]) -> dict[str | None, Sums]:
    """Groups by name, and then the rows without one, under a name that none has."""
    named = sorted(label for label in groups if label is not None)
    found: dict[str | None, Sums] = {label: groups[label] for label in named}
    if None in groups:
        nameless = "(none)"
        while nameless in found:
            nameless = f"({nameless})"
        found[nameless] = groups[None]
    return found


def _batches(files: list[Path], written: Format, names: list[str]) -> Iterator[pa.RecordBatch]:
    for file in files:
        if written.is_text and written.compression is None:
            _check_end(file)
    try:
        with private_folder() as spill, connect(spill) as connection:
            for batch, _, _ in open_files(connection, files, Reading(written, _AsTheyAre(names))).parts():
                yield batch
    except InputError as error:
        # What is wrong is the file, not how it was asked for.
        problem: BaseException = DataFileError(f"{files[0]}: {error}")
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        what = str(files[0]) if len(files) == 1 else "one of the files"
        problem = unreadable(error, what, hint="it may be cut off or edited: ask for it again.")
        if str(error).startswith("Out of Memory Error"):
            problem = InputError("DuckDB ran out of memory; estimate one column at a time.")
    else:
        return
    raise problem


def _check_end(file: Path) -> None:
    """Refuse a text file that may be cut off, within a number even: a release ends with the end of a line."""
    with file.open("rb") as held:
        size = held.seek(0, os.SEEK_END)
        if size:
            held.seek(-1, os.SEEK_END)
            if held.read(1) in b"\r\n":
                return
    why = ": the last line has no end: the file may be cut off; if it is whole, end it."
    msg = f"{file}{why if size else ' is empty; nothing was reported there.'}"
    raise DataFileError(msg)


def _labels(by: str, column: pa.Array) -> tuple[list[str | None], NDArray[np.int64]]:
    """(the groups of a batch as text, which of them each row is in)."""
    try:
        held, rows = _encoded(column.cast(pa.string()))
    except pa.ArrowException:
        msg = f"Expected groups as text, numbers or dates, but column {by!r} holds {column.type}; name another column."
        raise InputError(msg) from None
    return held.to_pylist(), rows


def _encoded(column: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """(the different values of a column, null among them, which of them each row holds)."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    found = column.dictionary_encode(null_encoding="encode")
    return found.dictionary, _numpy(found.indices).astype(np.int64)


def _numpy(array: pa.Array) -> NDArray[Any]:
    """The numbers of an Arrow array without nulls; its own ``to_numpy`` would load pandas first, half a second."""
    return np.from_dlpack(array)


def _add_wide(
    mechanism: CategoryMechanism,
    counted: Counted,
    reports: pa.Array,
    groups: tuple[list[str | None], NDArray[np.int64]] | None,
) -> None:
    """Count a batch of reports of flat categories, of which few are alike."""
    there = _numpy(reports.is_valid().cast(pa.int8())) > 0
    rows = from_cells(mechanism, reports.drop_null())
    counted.unreported += len(reports) - len(rows)
    labels, grouped = ([None], np.zeros(len(rows), dtype=np.int64)) if groups is None else (groups[0], groups[1][there])
    order = np.argsort(grouped, kind="stable")
    ends = np.searchsorted(grouped[order], np.arange(len(labels) + 1))
    for label, first, last in zip(labels, ends, ends[1:], strict=False):
        if first < last:
            counted.add(mechanism, label, mechanism.count(rows[order[first:last]]), int(last - first))


def _add(
    mechanism: Mechanism,
    counted: Counted,
    reports: pa.Array,
    groups: tuple[list[str | None], NDArray[np.int64]] | None,
) -> None:
    """Count a batch, in which each different report is looked up once."""
    held, rows = _encoded(reports)
    output = _outputs_of(mechanism, held)
    there = len(output)
    labels, grouped = ([None], np.zeros(len(rows), dtype=np.int64)) if groups is None else groups
    # A group and a report as one number, of which few are different.
    cells, times = _times(grouped * there + rows, len(labels) * there)
    reported = output[cells % max(1, there)]
    counted.unreported += int(times[reported < 0].sum())
    cells, times, reported = (each[reported >= 0] for each in (cells, times, reported))
    ends = np.searchsorted(cells, np.arange(len(labels) + 1) * there)
    for label, first, last in zip(labels, ends, ends[1:], strict=False):
        if first < last:
            sums = np.zeros(len(mechanism.outputs), dtype=np.int64)
            np.add.at(sums, reported[first:last], times[first:last])
            counted.add(mechanism, label, sums, int(sums.sum()))


def _outputs(mechanism: Mechanism, reports: pa.Array) -> NDArray[np.int64]:
    """Which output each report is, −1 for none, where each different one is looked up once."""
    held, rows = _encoded(reports)
    return _outputs_of(mechanism, held)[rows]


def _outputs_of(mechanism: Mechanism, held: pa.Array) -> NDArray[np.int64]:
    """Which output each report is, −1 for none."""
    there = _numpy(held.is_valid().cast(pa.int8())) > 0
    output = np.full(len(there), -1)
    output[there] = _indices(mechanism, held.drop_null())
    return output


def _times(cells: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(which whole numbers below ``size`` came, ascending, and how often each)."""
    if size > _FEW_CELLS:
        return np.unique(cells, return_counts=True)
    times = np.bincount(cells, minlength=size)
    found = np.flatnonzero(times)
    return found, times[found]


def _indices(mechanism: Mechanism, reports: pa.Array) -> NDArray[np.int64]:
    """Which output each report is; cells of text files are numbers in text."""
    if text_labels(mechanism) or isinstance(mechanism.domain, Product):
        return indices_of(mechanism, reports.cast(pa.string()).to_pylist())
    if not pa.types.is_integer(reports.type):
        reports = reports.cast(pa.float64())
    if mechanism.domain.labels is not None:
        return indices_of(mechanism, reports.cast(pa.int64()).to_pylist())
    return indices_of(mechanism, _numpy(reports))

"""Counting the reports of released files: one scan for all columns and groups, a batch of rows at a time."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from bipartite.answers.estimation import Counts
from bipartite.errors import DataError, DataFileError, InputError
from bipartite.mechanisms import Mechanism
from bipartite.tables.columns import PUBLIC
from bipartite.tables.extras import pa, unreadable
from bipartite.tables.plan import Plan
from bipartite.tables.reports import reports_of
from bipartite.tables.sources import Wanted, culprits, open_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism
    from bipartite.tables.formats import Format

    Refuse = Callable[[str, str], None]

MOST_GROUPS: Final = 10_000
_MOST_CELLS: Final = 2**27  # counts of all groups and columns together
_FEW_CELLS: Final = 2**20
_LARGEST: Final = 1e100  # the largest weight
Sums = TypeVar("Sums")


@dataclass(slots=True)
class Counted:
    """The counts of one column."""

    groups: dict[str | None, Counts] = field(default_factory=dict)
    """The counts of each group; all rows are under None."""
    unreported: int = 0
    """The number of rows without a report."""

    def add(self, mechanism: Mechanism, label: str | None, values: NDArray[np.int64], people: int) -> None:
        """Add the counts of more reports to a group."""
        held = self.groups.setdefault(label, Counts(mechanism))
        held.values += values
        held.n += people


class _ReadOnlyPlan(Plan):
    """A plan that only reads columns, unchanged."""

    def __init__(self, names: Iterable[str]) -> None:
        self._set(_columns=tuple((name, PUBLIC) for name in names))

    def check_inputs(self, given: pa.Schema) -> None:
        """Refuse a table that lacks a column, or has it twice."""
        for each in self.inputs():
            times = given.names.count(each)
            if times != 1:
                raise InputError(
                    f"it has {'several columns' if times else 'no column'} {each!r}; check the name, and that the "
                    "specs are those of this file."
                )


def raise_refusal(why: str, _: str) -> None:
    """Refuse a row with an error."""
    raise DataFileError(why)


def count_files(
    files: list[Path],
    written: Format,
    mechanisms: dict[str, Mechanism],
    by: str | None,
    refuse: Refuse = raise_refusal,
) -> dict[str, Counted]:
    """Count the reports of each column, with groups ordered by name.

    ``refuse`` gets what is wrong with a row and its cells as JSON; if it returns, no column counts the row.
    """
    others = [] if by is None else [by]
    try:
        return _counted((each for _, _, each in _batches(files, written, [*mechanisms, *others])), mechanisms, by)
    except (pa.ArrowException, DataError):
        pass  # one of the rows is wrong: look at each
    return _counted(_possible_rows(files, written, mechanisms, others, refuse), mechanisms, by)


def _counted(batches: Iterable[pa.RecordBatch], mechanisms: dict[str, Mechanism], by: str | None) -> dict[str, Counted]:
    counted = {name: Counted() for name in mechanisms}
    most = most_groups(*mechanisms.values())
    for batch in batches:
        groups = None if by is None else _labels(by, batch.column(by))
        for name, mechanism in mechanisms.items():
            if mechanism.flat:
                _add_wide(mechanism, counted[name], batch.column(name), groups)
            else:
                _add(mechanism, counted[name], batch.column(name), groups)
            if len(counted[name].groups) > most:
                raise InputError(f"Expected at most {most:,} groups, got more; is {by!r} a column of groups?")
    for name, each in counted.items():
        if not each.groups:
            raise DataFileError(f"column {name!r} has no reports, so nothing can be estimated.")
        if by is not None:
            each.groups = in_order(each.groups)
    return counted


@dataclass(frozen=True, slots=True)
class Weighed:
    """A batch of reports with weights."""

    reports: NDArray[Any]
    """The index of each output or, for flat categories, the reports themselves; missing reports are left out."""
    weights: NDArray[np.float64]
    labels: list[str | None]
    """The groups of the batch; None for rows without a group, and for all rows if there are no groups."""
    groups: NDArray[np.int64]
    """The index of each report's group."""
    unreported: int


def weighed_files(
    files: list[Path],
    written: Format,
    name: str,
    mechanism: Mechanism,
    by: str | None,
    weights: str,
    refuse: Refuse = raise_refusal,
) -> Iterator[Weighed]:
    """The reports of one column with the weights of their rows, a batch at a time; ``refuse`` as above."""
    others = list(dict.fromkeys([weights] if by is None else [by, weights]))
    for batch in _possible_rows(files, written, {name: mechanism}, others, refuse):
        column = batch.column(name)
        labels: list[str | None] = [None]
        groups = np.zeros(len(column), dtype=np.int64)
        if by is not None:
            labels, groups = _labels(by, batch.column(by))
        there = _numpy(column.is_valid().cast(pa.int8())) > 0
        if mechanism.flat:
            reports: NDArray[Any] = reports_of(mechanism).read(column.drop_null())
        else:
            reports = _outputs(mechanism, column)[there]
        given = weights_in(weights, batch.column(weights))[there]
        yield Weighed(reports, given, labels, groups[there], int(len(there) - np.count_nonzero(there)))


def weights_in(name: str, column: pa.Array) -> NDArray[np.float64]:
    """Read weights: numbers of at least 0 whose squares can be summed."""
    try:
        found = np.array(column.cast(pa.float64()).fill_null(-1.0).to_pylist(), dtype=np.float64)
    except pa.ArrowException:
        found = np.full(1, -1.0)
    if not may_weigh(found).all():
        raise DataFileError(
            f"column {name!r} has a cell that is not a weight of at least 0 and at most 1e100; repair or remove it."
        )
    return found


def may_weigh(weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which numbers are valid weights, whose squares can be summed."""
    found: NDArray[np.bool_] = ((weights >= 1 / _LARGEST) & (weights <= _LARGEST)) | (weights == 0)
    return found


def _possible_rows(
    files: list[Path], written: Format, mechanisms: dict[str, Mechanism], others: list[str], refuse: Refuse
) -> Iterator[pa.RecordBatch]:
    """The rows whose reports can have come from their mechanisms; others are refused, by file and row alone."""
    for file, first, batch in _batches(files, written, [*mechanisms, *others]):
        wrong: dict[int, str] = {}
        for name, mechanism in mechanisms.items():
            wrong = dict.fromkeys(_impossible(mechanism, batch.column(name)), name) | wrong
        for row in sorted(wrong):
            why = (
                f"{file}: row {first + row + 1:,}: column {wrong[row]!r} holds a report that cannot have come from its "
                "mechanism; the file was edited, or its specs belong to another file: request both again."
            )
            refuse(why, json.dumps(batch.slice(row, 1).to_pylist()[0], default=str))
        if len(wrong) < len(batch):  # a column of lists cannot be read even without rows
            yield batch.take(pa.array([row for row in range(len(batch)) if row not in wrong])) if wrong else batch


def _impossible(mechanism: Mechanism, reports: pa.Array) -> list[int]:
    """The rows whose report is neither missing nor one of the mechanism's."""
    try:
        held, rows = _encoded(reports)
    except pa.ArrowException:  # lists, which no report is
        return list(range(len(reports)))

    def read(first: int, last: int) -> None:
        reports_of(mechanism).read(held.slice(first, last - first).drop_null())

    wrong = culprits(read, len(held), (pa.ArrowException, DataError))
    return np.flatnonzero(np.isin(rows, wrong)).tolist() if wrong else []


def most_groups(*mechanisms: Mechanism) -> int:
    """The number of groups whose counts for these mechanisms fit in memory."""
    sizes = [len(each.domain if each.flat else each.outputs) for each in mechanisms]
    return max(1, min(MOST_GROUPS, _MOST_CELLS // sum(sizes)))


def in_order(groups: dict[str | None, Sums]) -> dict[str | None, Sums]:
    """Order groups by name, followed by the rows without a group, under an unused name."""
    named = sorted(label for label in groups if label is not None)
    found: dict[str | None, Sums] = {label: groups[label] for label in named}
    if None in groups:
        nameless = "(none)"
        while nameless in found:
            nameless = f"({nameless})"
        found[nameless] = groups[None]
    return found


def _batches(files: list[Path], written: Format, names: list[str]) -> Iterator[tuple[Path, int, pa.RecordBatch]]:
    """(file, number of rows of it before these, some rows)."""
    file = files[0]
    for file in files:
        if written.is_text and written.compression is None:
            _check_end(file)
    try:
        for file in files:
            row = 0
            rows = open_rows([file], written, Wanted(_ReadOnlyPlan(names)))
            for part in rows.parts:
                yield file, row, part.batch
                row += len(part.batch)
            rows.check_unchanged()
    except InputError as error:
        # The file is at fault, not the call.
        problem: BaseException = DataFileError(f"{file}: {error}")
    except (pa.ArrowException, OSError) as error:
        problem = unreadable(error, str(file), hint="it may be truncated or edited: request it again.")
    else:
        return
    raise problem


def _check_end(file: Path) -> None:
    """Refuse a text file that may be truncated, perhaps within a number: a release ends with a line ending."""
    with file.open("rb") as held:
        size = held.seek(0, os.SEEK_END)
        if size:
            held.seek(-1, os.SEEK_END)
            if held.read(1) in b"\r\n":
                return
    why = ": the last line has no line ending, so the file may be truncated; if it is complete, add one."
    raise DataFileError(f"{file}{why if size else ' is empty; it holds no reports.'}")


def _labels(by: str, column: pa.Array) -> tuple[list[str | None], NDArray[np.int64]]:
    """(the groups of a batch as text, the index of each row's group)."""
    try:
        held, rows = _encoded(column.cast(pa.string()))
    except pa.ArrowException:
        raise InputError(
            f"Expected groups as text, numbers or dates, but column {by!r} holds {column.type}; name another column."
        ) from None
    return held.to_pylist(), rows


def _encoded(column: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """(the distinct values of a column, including null, and the index of each row's value)."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    found = column.dictionary_encode(null_encoding="encode")
    return found.dictionary, _numpy(found.indices).astype(np.int64)


def _numpy(array: pa.Array) -> NDArray[Any]:
    """The numbers of an Arrow array without nulls; its own ``to_numpy`` would first load pandas, half a second."""
    return np.from_dlpack(array)


def _add_wide(
    mechanism: Mechanism,
    counted: Counted,
    reports: pa.Array,
    groups: tuple[list[str | None], NDArray[np.int64]] | None,
) -> None:
    """Count a batch of reports of flat categories, few of which are equal."""
    there = _numpy(reports.is_valid().cast(pa.int8())) > 0
    rows = reports_of(mechanism).read(reports.drop_null())
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
    """Count a batch, looking up each distinct report once."""
    held, rows = _encoded(reports)
    output = _outputs_of(mechanism, held)
    there = len(output)
    labels, grouped = ([None], np.zeros(len(rows), dtype=np.int64)) if groups is None else groups
    # Group and report as one number, with few distinct values.
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
    """The index of each report's output, −1 if missing, looking up each distinct report once."""
    held, rows = _encoded(reports)
    return _outputs_of(mechanism, held)[rows]


def _outputs_of(mechanism: Mechanism, held: pa.Array) -> NDArray[np.int64]:
    """The index of each report's output, −1 if missing."""
    there = _numpy(held.is_valid().cast(pa.int8())) > 0
    output = np.full(len(there), -1)
    output[there] = reports_of(mechanism).read(held.drop_null())
    return output


def _times(cells: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the distinct integers below ``size``, ascending, and the count of each)."""
    if size > _FEW_CELLS:
        return np.unique(cells, return_counts=True)
    times = np.bincount(cells, minlength=size)
    found = np.flatnonzero(times)
    return found, times[found]

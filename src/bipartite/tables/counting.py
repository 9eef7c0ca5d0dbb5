"""Counting reports: one pass over files of every format, by column and group, a batch of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation import Counts
from bipartite.answers.estimation.estimating import tally_of
from bipartite.answers.estimation.tally import Tally
from bipartite.errors import InputError
from bipartite.tables.collecting import batches
from bipartite.tables.extras import pa
from bipartite.tables.reports import IMPOSSIBLE, MISSING, THERE, encoded, numbers_of, reports_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism
    from bipartite.tables.collecting import Asked, Batch
    from bipartite.tables.formats import Format

    Mask = NDArray[np.bool_]

MOST_GROUPS: Final = 10_000
_MOST_CELLS: Final = 2**27  # counts of all groups and columns together
_LARGEST: Final = 1e100  # the largest weight, whose square can be summed
_FEW_CELLS: Final = 2**20  # counts of a batch


class Sums:
    """Sums over the reports of one group: counts, or sums of weights."""

    def __init__(self, mechanism: Mechanism, *, weighted: bool = False) -> None:
        self.counts = Counts(mechanism)
        zeros = np.zeros(len(self.counts.values))
        self._weighed = Tally(zeros, zeros, 0, 0.0, 0.0, self.counts.values) if weighted else None

    def add(self, values: NDArray[np.int64], n: int) -> None:
        """Add the counts of some reports."""
        self.counts.values += values
        self.counts.n += n

    def weigh(self, some: Tally) -> None:
        """Add the weights of some reports."""
        if self._weighed is not None:
            self._weighed = self._weighed.plus(some)

    @property
    def empty(self) -> bool:
        """Whether no report with a positive weight was added."""
        return not (self.counts.n if self._weighed is None else self._weighed.size)

    @property
    def tally(self) -> Tally:
        """All that an estimate needs."""
        return tally_of(self.counts) if self._weighed is None else replace(self._weighed, counts=self.counts.values)


@dataclass(slots=True)
class Counted:
    """The sums over the reports of one column."""

    mechanism: Mechanism
    groups: dict[str | None, Sums] = field(default_factory=dict)
    """Those of each group; all rows are under None."""
    unreported: int = 0
    """The number of rows without a report."""

    def add(
        self,
        labels: Sequence[str | None],
        groups: NDArray[np.int64],
        reports: NDArray[Any],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Add reports: the indices of their outputs or, for flat categories, the reports themselves."""
        mechanism = self.mechanism
        size = 0 if mechanism.flat else len(mechanism.outputs)
        if weights is None and 0 < len(labels) * size <= _FEW_CELLS:
            times = np.bincount(groups * size + reports, minlength=len(labels) * size).reshape(-1, size)
            for label, each in zip(labels, times, strict=True):
                if each.any():
                    self._group(label).add(each, int(each.sum()))
            return
        order = np.argsort(groups, kind="stable")
        ends = np.searchsorted(groups[order], np.arange(len(labels) + 1))
        for label, first, last in zip(labels, ends, ends[1:], strict=False):
            if first == last:
                continue
            mine, sums = order[first:last], self._group(label, weighted=weights is not None)
            sums.add(Tally.of(mechanism, reports[mine]).counts, len(mine))
            if weights is not None and weights[mine].any():
                sums.weigh(Tally.of(mechanism, reports[mine], weights[mine]))

    def _group(self, label: str | None, *, weighted: bool = False) -> Sums:
        if label not in self.groups:
            self.groups[label] = Sums(self.mechanism, weighted=weighted)
        return self.groups[label]


def count_reports(files: Sequence[Path], written: Format, asked: Asked) -> dict[str | None, Counted]:
    """Count the reports of each column, with groups ordered by name."""
    if len(set(asked.names)) < len(asked.names):
        raise InputError(
            "Expected column=, by= and weights= to be different columns; a group or a weight must not be private."
        )
    counted = {name: Counted(each) for name, each in asked.mechanisms.items()}
    for file in files:
        for batch in batches(file, written, asked):
            _count(batch, asked, counted)
            asked.progress(len(batch))
    for each in counted.values():
        each.groups = each.groups if asked.by is None else _in_order(each.groups)
    return counted


def _count(batch: Batch, asked: Asked, counted: dict[str | None, Counted]) -> None:
    """Add the reports of the rows that count: neither impossible, nor a retry."""
    columns = {
        name: reports_of(mechanism).look_up(column)
        for (name, mechanism), column in zip(asked.mechanisms.items(), batch.columns, strict=False)
    }
    weights = None if asked.weights is None else _weights(batch.columns[-1])
    wrong = _wrong(columns, weights, asked)
    if wrong and batch.again is not None:
        _count(batch.again(), asked, counted)
        return
    kept = _kept(batch, wrong, asked)
    labels: list[str | None] = [None]
    groups = np.zeros(len(batch), dtype=np.int64)
    if asked.by is not None:
        labels, groups = _groups(asked.by, batch.columns[len(columns)])
    sizes = [len(each.domain if each.flat else each.outputs) for each in asked.mechanisms.values()]
    most_groups = max(1, min(MOST_GROUPS, _MOST_CELLS // sum(sizes)))
    for name, (reports, state) in columns.items():
        if len({*labels} | counted[name].groups.keys()) > most_groups:
            most = f"Expected at most {most_groups:,} groups, got more"
            raise InputError(f"{most}; is {asked.by!r} a column of groups?")
        there = kept & (state == THERE)
        counted[name].unreported += int(np.count_nonzero(kept & (state == MISSING)))
        rows: Any = slice(None) if there.all() else np.flatnonzero(there)
        counted[name].add(labels, groups[rows], reports[rows], None if weights is None else weights[rows])


def _wrong(
    columns: dict[str | None, tuple[NDArray[Any], NDArray[np.int8]]],
    weights: NDArray[np.float64] | None,
    asked: Asked,
) -> dict[int, str]:
    """What is wrong with a row, by its number; usually nothing."""
    found: dict[int, str] = {}
    if weights is not None:
        can = ((weights >= 1 / _LARGEST) & (weights <= _LARGEST)) | (weights == 0)
        found = dict.fromkeys(np.flatnonzero(~can).tolist(), " has no weight from 0 to 1e100; repair or remove it.")
    may_miss = asked.nulls == "drop" or (asked.envelopes is not None and asked.envelopes.sampled)
    if asked.sample is not None:
        may_miss = True
        reported = np.sum([state != MISSING for _, state in columns.values()], axis=0)
        why = f" reports more columns than the {asked.sample} that the plan draws; request the file again."
        found |= dict.fromkeys(np.flatnonzero(reported > asked.sample).tolist(), why)
    for name, (_, state) in columns.items():
        if not state.any():
            continue
        where = "" if name is None else f", column {name!r},"
        if not may_miss:
            why = f"{where} has no report; repair or remove it, or use nulls=drop."
            found |= dict.fromkeys(np.flatnonzero(state == MISSING).tolist(), why)
        why = (
            f"{where} cannot have come from {asked.mechanisms[name]!r}; pass reports as they came, unclipped and "
            "unrounded, and the spec that they were made with."
        )
        found |= dict.fromkeys(np.flatnonzero(state == IMPOSSIBLE).tolist(), why)
    return found


def _kept(batch: Batch, wrong: dict[int, str], asked: Asked) -> Mask:
    """The rows that count."""
    for row in sorted(wrong):
        asked.refuse(f"{batch.place(row)}{wrong[row]}", batch.text(row))
    kept = np.ones(len(batch), dtype=np.bool_)
    kept[list(wrong)] = False
    for row, key in enumerate(batch.keys):
        if key is None or not kept[row] or asked.envelopes is None:
            continue
        before = asked.envelopes.before(key, batch.place(row))
        if before:
            why = f"{batch.place(row)} has the key of {before}, but another report, so one of them is forged."
            asked.refuse(why, batch.text(row))
        kept[row] = before == ""
    return kept


def _in_order(groups: dict[str | None, Sums]) -> dict[str | None, Sums]:
    """Order groups by name, followed by the rows without a group, under an unused name."""
    named = sorted(label for label in groups if label is not None)
    found: dict[str | None, Sums] = {label: groups[label] for label in named}
    if None in groups:
        nameless = "(none)"
        while nameless in found:
            nameless = f"({nameless})"
        found[nameless] = groups[None]
    return found


# --- From cells to labels and weights


def _weights(column: pa.Array) -> NDArray[np.float64]:
    """Weights as numbers; what is none is not a number."""
    held, rows = encoded(column)
    try:
        return numbers_of(held)[rows]
    except pa.ArrowException:
        return np.full(len(rows), np.nan)


def _groups(by: str, column: pa.Array) -> tuple[list[str | None], NDArray[np.int64]]:
    """(the groups of a batch as text, the index of each row's group)."""
    try:
        held, rows = encoded(column)
        return held.cast(pa.string()).to_pylist(), rows
    except pa.ArrowException:
        raise InputError(
            f"Expected groups as text, numbers or dates, but column {by!r} holds {column.type}; name another column."
        ) from None

"""One release of a table, batch by batch: each private column is read, drawn and returned as Arrow."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.lottery import is_secure
from bipartite.tables.again import check_metadata
from bipartite.tables.columns import PUBLIC
from bipartite.tables.dictionaries import copied
from bipartite.tables.extras import pa
from bipartite.tables.opening import Opened, all_problems, open_rows, refusal
from bipartite.tables.words import column_sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.lottery import Source
    from bipartite.tables.columns import Column
    from bipartite.tables.plan import Plan
    from bipartite.tables.returning import Return, Style


NOTHING: Final[Mapping[str, NDArray[np.bool_]]] = MappingProxyType({})


class Release:
    """Draws the reports of one table, whose batches come in order.

    ``rng`` is None for the secure source; see :mod:`bipartite.tables.words` for the others. ``style`` is how reports
    are represented in Arrow (:data:`~bipartite.tables.returning.Style`). ``lines`` says that rows are lines of text,
    in the words of errors.
    """

    __slots__ = ("_lines", "_sources", "_ways", "insecure", "plan", "rejected", "rows", "style")

    def __init__(self, plan: Plan, rng: object = None, *, style: Style = "values", lines: bool = False) -> None:
        self.plan = plan
        self.style = style
        self._lines = lines
        self._sources: Mapping[str, Source] = column_sources(rng, plan.mechanisms())
        self.insecure = not all(map(is_secure, self._sources.values()))
        self.rows = 0
        """The number of input rows so far."""
        self.rejected = 0
        """The number of rows left out."""
        self._ways: dict[pa.Schema, tuple[pa.Schema, dict[str, Return]]] = {}

    def privatize(self, batch: pa.RecordBatch, unreadable: Mapping[str, NDArray[np.bool_]] = NOTHING) -> pa.RecordBatch:
        """Draw the reports of the next rows, an Arrow record batch; an invalid row stops the release.

        ``unreadable`` marks, for inputs that were read as text, the rows that are not values of the required type.
        """
        self._prepare(batch.schema)  # before any value is read: Arrow's message about a wrong type would show one
        opened = {}
        for name, column in self.plan.private().items():
            rows = self._open(name, column, batch, unreadable)
            if rows.problems:
                raise refusal(name, column, all_problems(column, rows), self.rows, lines=self._lines)
            opened[name] = rows
        return self._draw(batch, opened)

    def privatize_or_reject(
        self,
        batch: pa.RecordBatch,
        unreadable: Mapping[str, NDArray[np.bool_]],
    ) -> tuple[pa.RecordBatch, dict[int, str]]:
        """(the reports of valid rows, the reason for each rejected row by its number from 0)."""
        self._prepare(batch.schema)
        good = np.ones(batch.num_rows, dtype=np.bool_)
        reasons: dict[int, str] = {}
        for name, column in self.plan.private().items():
            rows = self._open(name, column, batch, unreadable)
            for reason, bad in all_problems(column, rows).items():
                good &= ~bad
                for row in np.flatnonzero(bad).tolist():
                    reasons[row] = "; ".join(filter(None, (reasons.get(row), f"{name}: {reason}")))
        kept, marks = batch, unreadable
        if reasons:
            kept = batch.filter(pa.array(good))
            marks = {each: mark[good] for each, mark in unreadable.items()}
            self.leave_out(len(reasons))
        opened = {name: self._open(name, column, kept, marks) for name, column in self.plan.private().items()}
        return self._draw(kept, opened), reasons

    def leave_out(self, count: int) -> None:
        """Count rows that are not reported."""
        self.rows += count
        self.rejected += count

    def _open(
        self,
        name: str,
        column: Column,
        batch: pa.RecordBatch,
        unreadable: Mapping[str, NDArray[np.bool_]],
    ) -> Opened:
        inputs = self.plan.inputs_of(name)
        return open_rows(column, [batch.column(each) for each in inputs], [unreadable.get(each) for each in inputs])

    def _draw(self, batch: pa.RecordBatch, opened: Mapping[str, Opened]) -> pa.RecordBatch:
        schema, ways = self._prepare(batch.schema)
        arrays = []
        for name, what in self.plan.columns.items():
            if what == PUBLIC:
                arrays.append(copied(batch.column(name)))
                continue
            rows = opened[name]
            reports = self._draw_column(name, ways[name], rows)
            if reports is None:
                raise refusal(name, what, all_problems(what, rows), self.rows, lines=self._lines)
            arrays.append(ways[name].array(reports, rows.missing))
        self.rows += batch.num_rows
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _draw_column(self, name: str, way: Return, opened: Opened) -> NDArray[Any] | None:
        """Draw the reports of a column's values that are not missing; None if the lottery refuses one."""
        return way.draw(opened.there, self._sources[name])

    def _prepare(self, given: pa.Schema) -> tuple[pa.Schema, dict[str, Return]]:
        """(the schema of the reports, how each private column is returned) for batches of this schema."""
        if given not in self._ways:
            check_metadata(self.plan, given.metadata, "this table", "drop it with .replace_schema_metadata()")
            ways = self.plan.ways_back(given, self.style)
            self._ways[given] = self.plan.schema(given, ways, insecure=self.insecure), ways
        return self._ways[given]

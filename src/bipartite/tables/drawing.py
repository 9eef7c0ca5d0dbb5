"""One release of a table, batch by batch: each private column is opened, drawn and put back as Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains import SetDomain
from bipartite.domains.subset import codec_between
from bipartite.lottery import ValuesRefusedError, draw_many
from bipartite.lottery.words import CHUNK
from bipartite.tables.columns import PUBLIC, Column
from bipartite.tables.opening import Opened, all_troubles, label_array, open_rows, refusal
from bipartite.tables.words import column_sources, is_insecure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.lottery import Source
    from bipartite.tables.plan import Plan


class Release:
    """Draws the reports of one table, whose batches come in order.

    ``rng`` is None for the secure source; see :mod:`bipartite.tables.words` for the others. ``compact`` gives labels as
    Arrow dictionaries, which files want, instead of strings.
    """

    __slots__ = ("_schemas", "_sources", "compact", "insecure", "plan", "rejected", "rows")

    def __init__(self, plan: Plan, rng: object = None, *, compact: bool = False) -> None:
        self.plan = plan
        self.compact = compact
        self._sources: Mapping[str, Source] = column_sources(rng, plan.mechanisms())
        self.insecure = is_insecure(self._sources)
        self.rows = 0
        """How many rows of the input were seen."""
        self.rejected = 0
        """How many of them were left out."""
        self._schemas: dict[Any, Any] = {}

    def privatize(self, batch: Any) -> Any:  # noqa: ANN401 (pyarrow record batches)
        """The reports of the next rows; the first bad one stops the release, and nothing of the batch is given."""
        opened = {}
        for name, column in self.plan.private().items():
            rows = open_rows(column, [batch.column(each) for each in self.plan.inputs_of(name)])
            if rows.troubles:
                raise refusal(name, column, all_troubles(column, rows), self.rows)
            opened[name] = rows
        return self._drawn(batch, opened)

    def privatize_or_reject(self, batch: Any, unreadable: Mapping[str, NDArray[np.bool_]]) -> tuple[Any, Any]:  # noqa: ANN401
        """(the reports of the rows that may be reported, which rows may not), both for the next rows.

        ``unreadable`` names, for inputs that were read as text, the rows that are no value of the type needed.
        """
        good = np.ones(batch.num_rows, dtype=np.bool_)
        for name, column in self.plan.private().items():
            inputs = self.plan.inputs_of(name)
            marks = [unreadable[each] for each in inputs if each in unreadable]
            unread = np.logical_or.reduce(marks) if marks else None
            rows = open_rows(column, [batch.column(each) for each in inputs], unread)
            for bad in all_troubles(column, rows).values():
                good &= ~bad
        bad_rows = int((~good).sum())
        kept = batch
        if bad_rows:
            import pyarrow as pa  # noqa: PLC0415

            kept = batch.filter(pa.array(good))
        self.rows += bad_rows
        self.rejected += bad_rows
        opened = {
            name: open_rows(column, [kept.column(each) for each in self.plan.inputs_of(name)])
            for name, column in self.plan.private().items()
        }
        return self._drawn(kept, opened), ~good

    def _drawn(self, batch: Any, opened: Mapping[str, Opened]) -> Any:  # noqa: ANN401
        import pyarrow as pa  # noqa: PLC0415

        schema = self._schema(batch.schema)
        arrays = []
        for at, (name, what) in enumerate(self.plan.columns.items()):
            if what == PUBLIC:
                arrays.append(batch.column(name))
                continue
            rows = opened[name]
            reports = self._draw_column(name, what, rows)
            if reports is None:
                raise refusal(name, what, all_troubles(what, rows), self.rows)
            arrays.append(to_arrow(what, reports, rows.missing, schema.field(at).type))
        self.rows += batch.num_rows
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _draw_column(self, name: str, column: Column, opened: Opened) -> NDArray[Any] | None:
        """The reports of the values of a column that are there; None where the lottery refuses one."""
        return _draw(column, opened, self._sources[name])

    def _schema(self, given: Any) -> Any:  # noqa: ANN401
        if given not in self._schemas:
            self._schemas[given] = self.plan.schema(given, compact=self.compact)
        return self._schemas[given]


def _draw(column: Column, opened: Opened, source: Source) -> NDArray[Any] | None:
    """The reports of the values that are there; None where the lottery refuses one."""
    mechanism = column.mechanism
    values = opened.there
    outside = "error" if isinstance(mechanism.domain, SetDomain) else column.outside
    codec = codec_between(mechanism.domain, mechanism.outputs, values.dtype, outside)
    # Never more than one chunk at a time, so that a column's words follow each other however its rows are cut.
    cuts = range(0, max(len(values), 1), CHUNK)
    try:
        parts = [draw_many(mechanism.lottery, codec, values[cut : cut + CHUNK], source) for cut in cuts]
    except ValuesRefusedError:
        return None
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def report_type(column: Column, kind: Any, *, compact: bool) -> Any:  # noqa: ANN401 (Arrow types)
    """The Arrow type of a column's reports, from that of its (first) input."""
    import pyarrow as pa  # noqa: PLC0415

    mechanism = column.mechanism
    domain = mechanism.domain
    if isinstance(domain, SetDomain):
        if domain.labels is None:
            return pa.int32() if column.is_position else pa.from_numpy_dtype(_report_dtype(column, kind))
        if isinstance(domain.labels[0], int):
            return pa.int64()
        dictionary = compact or pa.types.is_dictionary(kind)
        return pa.dictionary(pa.int32(), pa.string()) if dictionary else pa.string()
    return pa.from_numpy_dtype(_report_dtype(column, kind))


def _report_dtype(column: Column, kind: Any) -> np.dtype[Any]:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    empty = open_rows(column, [pa.array([], type=kind)])
    mechanism = column.mechanism
    outside = "error" if isinstance(mechanism.domain, SetDomain) else column.outside
    return codec_between(mechanism.domain, mechanism.outputs, empty.values.dtype, outside).report_dtype


def to_arrow(column: Column, reports: NDArray[Any], missing: NDArray[np.bool_] | None, kind: Any) -> Any:  # noqa: ANN401
    """Reports as an Arrow array of a type, with nulls where a row is missing."""
    import pyarrow as pa  # noqa: PLC0415

    filled = reports
    if missing is not None:
        # Zeros under the nulls: nothing of a value may lie there.
        filled = np.zeros(len(missing), dtype=reports.dtype)
        filled[~missing] = reports
    domain = column.mechanism.domain
    if not isinstance(domain, SetDomain) or domain.labels is None:
        return pa.array(filled, mask=missing).cast(kind)
    indices = pa.array(filled.astype(np.int32, copy=False), mask=missing)
    labels = label_array(domain)
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(indices, labels)
    return labels.take(indices)

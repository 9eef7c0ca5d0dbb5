"""Rows that could not be reported, unchanged: a file that is as private as the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError
from bipartite.tables.extras import need, pa

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.tables.sources import Rows

ROW: Final = "bipartite_row"
REASON: Final = "bipartite_reason"
LINE: Final = "bipartite_line"
"""A line of text that could not be split into cells."""


class Rejects:
    """Writes rejected rows as CSV, each with its number and the reason; an empty file if there are none."""

    def __init__(self, path: Path, source: Rows) -> None:
        self._file = path.open("wb")
        self._source = source
        names = [REASON, *source.raw, *([] if source.left_out is None else [LINE])]
        self._schema = pa.schema([(ROW, pa.int64()), *((name, pa.string()) for name in names)])
        self._writer: Any = None

    def add(self, raw: pa.RecordBatch, reasons: dict[int, str], first_row: int) -> None:
        """Add rows of a batch, by their number in it from 0."""
        if not reasons:
            return
        rows = sorted(reasons)
        found = raw.take(pa.array(rows))
        try:
            columns = [column.cast(pa.string()) for column in found.columns]
        except pa.ArrowNotImplementedError:
            raise InputError(
                "Expected columns that CSV can hold with reject=, got nested ones; leave reject= out."
            ) from None
        self._write([[first_row + row + 1 for row in rows], [reasons[row] for row in rows], *columns], len(rows))

    def add_lines(self) -> int:
        """Add the lines that could not be split into cells, known once all were read; return their number."""
        found = [] if self._source.left_out is None else self._source.left_out()
        if found:
            empty = [None] * len(found)
            reasons = [f"line {line} has another number of cells than the first line" for line, _ in found]
            self._write([empty, reasons, *[empty] * len(self._source.raw), [text for _, text in found]], len(found))
        return len(found)

    def _write(self, columns: list[Any], count: int) -> None:
        """Add rows; missing columns stay empty."""
        if self._writer is None:
            self._writer = need("pyarrow.csv").CSVWriter(self._file, self._schema)
        columns = columns + [[None] * count] * (len(self._schema) - len(columns))
        arrays = [pa.array(column, type=kind) for column, kind in zip(columns, self._schema.types, strict=True)]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
        self._file.close()

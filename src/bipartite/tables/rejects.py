"""Rows that could not be reported, unchanged: a file that is as private as the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError
from bipartite.tables.extras import pa, pa_csv

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.tables.sources import Part

ROW: Final = "bipartite_row"
REASON: Final = "bipartite_reason"
LINE: Final = "bipartite_line"
"""A line of text that could not be split into cells."""


class Rejects:
    """Writes rejected rows as CSV, each with its number and the reason; an empty file if there are none."""

    def __init__(self, path: Path, names: list[str]) -> None:
        self._file = path.open("wb")
        self._raw = len(names)
        self._schema = pa.schema([(ROW, pa.int64()), *((name, pa.string()) for name in (REASON, *names, LINE))])
        self._writer: Any = None

    def add(self, part: Part, reasons: dict[int, str], first_row: int) -> int:
        """Add rows of a part, by their number in it from 0, and its ragged lines; return how many of the latter."""
        if reasons and part.raw is not None:
            rows = sorted(reasons)
            found = part.raw.take(pa.array(rows))
            try:
                columns = [column.cast(pa.string()) for column in found.columns]
            except pa.ArrowNotImplementedError:
                raise InputError(
                    "Expected columns that CSV can hold with reject=, got nested ones; leave reject= out."
                ) from None
            numbers = [first_row + row + 1 for row in rows]
            self._write([numbers, [reasons[row] for row in rows], *columns, [None] * len(rows)])
        if part.ragged:
            empty = [None] * len(part.ragged)
            why = [f"line {line} has another number of cells than the first line" for line, _ in part.ragged]
            self._write([empty, why, *[empty] * self._raw, [text for _, text in part.ragged]])
        return len(part.ragged)

    def _write(self, columns: list[Any]) -> None:
        if self._writer is None:
            self._writer = pa_csv.CSVWriter(self._file, self._schema)
        arrays = [pa.array(column, type=kind) for column, kind in zip(columns, self._schema.types, strict=True)]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
        self._file.close()

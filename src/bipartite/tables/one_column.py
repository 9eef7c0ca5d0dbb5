"""CSV with a single column, in which a blank line is an empty cell.

DuckDB skips such lines, or takes them for lines without cells where they lie between two of its buffers.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final

from bipartite.tables.extras import duckdb, pa
from bipartite.tables.formats import ENCODINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bipartite.tables.formats import Format

_AT_ONCE: Final = 2**16


class OneColumn:
    """The cells of CSV files with one column."""

    def __init__(self, files: Sequence[Path], written: Format, *, leaving_out: bool) -> None:
        self.left_out: list[tuple[int, str]] = []
        """(number, text) of the lines with more than one cell, if those are left out."""
        self._leaving_out = leaving_out
        self._problem = ""
        self._written = written
        schema = pa.schema([("c0", pa.string())])
        batches = (pa.record_batch([cells], schema=schema) for file in files for cells in self._parts(file))
        self.reader = pa.RecordBatchReader.from_batches(schema, batches)

    def check(self) -> None:
        """After reading: raise what ended it early, as DuckDB words it (:mod:`bipartite.tables.complaints`)."""
        if self._problem:
            raise duckdb.InvalidInputException(self._problem)

    def _parts(self, file: Path) -> Iterator[list[str | None]]:
        """The cells of a file, some at a time, up to the first line that cannot be read."""
        squeezed, encoding = self._written.compression, self._written.encoding
        raw: Any = file.open("rb") if squeezed is None else pa.input_stream(str(file), compression=squeezed)
        with raw, io.TextIOWrapper(raw, ENCODINGS.get(encoding, encoding), newline="") as lines:
            rows = csv.reader(lines, delimiter=self._written.delimiter, strict=True)
            cells: list[str | None] = []
            try:
                next(rows, None)
                for row in rows:
                    if len(row) <= 1:
                        cells.append(row[0] if row else None)
                    elif self._leaving_out:
                        self.left_out.append((rows.line_num, self._written.delimiter.join(row)))
                    else:
                        self._stop_at(rows.line_num, "Expected Number of Columns: 1")
                        return
                    if len(cells) == _AT_ONCE:
                        yield cells
                        cells = []
            except UnicodeError:
                self._problem = "Invalid unicode"
            except csv.Error:
                self._stop_at(rows.line_num, "The CSV Parser state machine reached an invalid state.")
            yield cells

    def _stop_at(self, line: int, why: str) -> None:
        self._problem = f"Invalid Input Error: CSV Error on Line: {line}\n{why}"

"""Rows that could not be reported, as they came: a file that is as private as the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError
from bipartite.tables.extras import need

if TYPE_CHECKING:
    from pathlib import Path

ROW: Final = "bipartite_row"
REASON: Final = "bipartite_reason"


class Rejects:
    """Writes rejected rows as CSV, each with its number and the reason; an empty file where there are none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._writer: Any = None

    def add(self, raw: Any, reasons: dict[int, str], first_row: int) -> None:  # noqa: ANN401 (a record batch)
        """Add rows of a batch, by their number in it from 0."""
        if not reasons:
            return
        pa = need("pyarrow")
        csv = need("pyarrow.csv")
        rows = sorted(reasons)
        found = raw.take(pa.array(rows))
        try:
            columns = [column.cast(pa.string()) for column in found.columns]
        except pa.ArrowNotImplementedError:
            msg = "Expected columns that CSV can hold with --reject, got nested ones; leave --reject out."
            raise InputError(msg) from None
        table = pa.RecordBatch.from_arrays(
            [pa.array([first_row + row + 1 for row in rows]), pa.array([reasons[row] for row in rows]), *columns],
            names=[ROW, REASON, *raw.schema.names],
        )
        if self._writer is None:
            self._writer = csv.CSVWriter(self._file, table.schema)
        self._writer.write_batch(table)

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
        self._file.close()

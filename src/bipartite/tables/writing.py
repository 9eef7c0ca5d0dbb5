"""Writing batches of reports to a file, a folder of parts or standard output, with DuckDB, or Arrow for Arrow files."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bipartite.tables.engine import name as quoted
from bipartite.tables.engine import text
from bipartite.tables.extras import pa
from bipartite.tables.formats import STDIO
from bipartite.tables.sources import labels_in_sql
from bipartite.tables.streams import NamedOutput

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from bipartite.tables.asking import Settings
    from bipartite.tables.extras import duckdb
    from bipartite.tables.formats import Format
    from bipartite.tables.plan import Plan
    from bipartite.tables.sources import Rows


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes Arrow batches to one file."""

    connection: duckdb.DuckDBPyConnection
    part: Path
    written: Format
    chosen: Settings
    about: str
    plan: Plan
    rows: Rows
    outputs: list[NamedOutput] = field(default_factory=list)
    """The stream that DuckDB writes to, once open."""

    def refused(self) -> bool:
        """Whether the output refuses more data."""
        return any(each.refused for each in self.outputs)

    def write(self, reader: pa.RecordBatchReader, row_group: int) -> None:
        """Write all batches with DuckDB and its defaults, except Arrow files, which DuckDB cannot write."""
        options = self._options(row_group)
        if self.written.kind == "arrow":
            self._write_arrow(reader)
            return
        self.connection.register("reports", reader)
        columns = ", ".join(self._selected(field) for field in reader.schema)
        reports = f"COPY (SELECT {columns} FROM reports)"
        if self.chosen.partition_by:
            by = ", ".join(map(quoted, self.chosen.partition_by))
            how = f"PARTITION_BY ({by}), WRITE_PARTITION_COLUMNS true, FILENAME_PATTERN 'part-{{i}}'"
            self.connection.execute(f"{reports} TO {text(str(self.part))} ({options}, {how})")
            return
        with ExitStack() as stack:
            stream = sys.stdout.buffer if str(self.part) == STDIO else stack.enter_context(self._file())
            output = stack.enter_context(NamedOutput(stream))
            self.outputs.append(output)
            self.connection.execute(f"{reports} TO {text(str(output.path))} ({options}, USE_TMP_FILE false)")

    def _selected(self, field: pa.Field) -> str:
        """A column of the reports; labels as an enumeration, whose dictionary Parquet keeps."""
        column = quoted(field.name)
        if field.name in self.rows.json:
            return f"CAST({column} AS JSON) AS {column}"
        mechanism = self.plan.mechanisms().get(field.name)
        labels = () if mechanism is None or mechanism.flat else labels_in_sql(mechanism.domain.labels)
        if not labels or self.written.kind != "parquet":
            return column
        return f"CAST({column} AS ENUM ({', '.join(map(text, labels))})) AS {column}"

    def _file(self) -> BinaryIO:
        """The file for text output, compressed here: into a pipe DuckDB always writes uncompressed text."""
        if self.written.compression is None:
            return self.part.open("ab", buffering=0)
        compressed: BinaryIO = pa.output_stream(str(self.part), compression=self.written.compression)
        return compressed

    def _options(self, row_group: int) -> str:
        if self.written.kind == "parquet":
            options = f"FORMAT parquet, ROW_GROUP_SIZE {row_group}, KV_METADATA {{bipartite: {text(self.about)}}}"
        elif self.written.kind == "jsonl":
            options = "FORMAT json"
        else:
            options = f"FORMAT csv, HEADER true, DELIMITER {text(self.written.delimiter)}"
        compression = self.chosen.compression if self.written.kind == "parquet" else "uncompressed"
        return options if compression is None else f"{options}, COMPRESSION {text(compression)}"

    def _write_arrow(self, reader: pa.RecordBatchReader) -> None:
        stdout = str(self.part) == STDIO
        sink = sys.stdout.buffer if stdout else pa.output_stream(str(self.part), compression=self.written.compression)
        make = pa.ipc.new_stream if stdout or self.written.compression is not None else pa.ipc.new_file
        with make(sink, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        if not stdout:
            sink.close()

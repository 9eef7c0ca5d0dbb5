"""Reading rows from files of every format, or standard input, as Arrow batches of the columns that a plan reads.

Text is read as text. Whether it is a number is decided once, by a cast that returns null instead of an error, because
DuckDB's errors show the line; a column of marks distinguishes such nulls from missing values.
"""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError, InputError
from bipartite.mechanisms.categories.cells import cell_bytes
from bipartite.tables.again import check_metadata, check_side_files
from bipartite.tables.dictionaries import plain
from bipartite.tables.engine import name as quoted
from bipartite.tables.engine import paths, text
from bipartite.tables.extras import duckdb, pa
from bipartite.tables.formats import unchanged
from bipartite.tables.headers import parse_header
from bipartite.tables.one_column import OneColumn
from bipartite.tables.pieces import MOST, VECTOR
from bipartite.tables.quotes import Quotes, may_be_split, may_hold_blank_lines
from bipartite.tables.scans import (
    cells_of,
    check_alike,
    csv_columns,
    csv_scan,
    json_columns,
    json_scan,
    json_values,
    lines_left_out,
    load_extensions,
    parquet_columns,
    parquet_metadata,
    parquet_scan,
)
from bipartite.tables.streams import BLOCK, NamedInput, unbuffered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import IO, BinaryIO

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.tables.formats import File, Format
    from bipartite.tables.plan import Plan

BATCH: Final = MOST
"""Rows that are read at once; fewer if rows are wide, so that a batch stays at about 32 MB."""
_BATCH_BYTES: Final = 2**25
_CELL_BYTES: Final = 8
_SAMPLE: Final = 1000
_HEADER_BLOCK: Final = 2**16
# Labels that DuckDB looks up while it reads.
_MOST_LISTED: Final = 4096


def _do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Reading:
    """How an input is read, and for which plan."""

    written: Format
    plan: Plan
    raw: bool = False
    """Whether all columns are also wanted unchanged."""
    keep_json: bool = False
    """Whether public values of JSON lines stay JSON, for JSON output; otherwise they become text."""
    once: bool = False
    """Whether the input can be read only once: standard input."""
    parallel: bool = False
    """Whether CSV may be read in parallel."""


@dataclass(slots=True)
class Rows:
    """Batches of rows: the columns that the plan reads, marks of unreadable cells, then all columns unchanged."""

    reader: pa.RecordBatchReader
    inputs: list[str]
    marked: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    rows: int | None = None
    """The number of rows, if known in advance."""
    json: list[str] = field(default_factory=list)
    """Public columns whose text is JSON."""
    left_out: Callable[[], list[tuple[int, str]]] | None = None
    """After reading: (number, text) of the lines that could not be split into cells, if those are skipped."""
    at_once: int = BATCH
    """The largest number of rows that are read at once."""
    copy: IO[bytes] | None = None
    """An unnamed copy of standard input, if it had to be saved; deleted when it is closed."""
    check_end: Callable[[], None] = _do_nothing
    """After reading: raises if rows are missing at the end."""
    check_files: Callable[[], None] = _do_nothing
    """With the first rows and after the last: raises if a file changed while it was being read."""
    stop: Callable[[], None] = _do_nothing
    """Stops waiting for rows that are no longer wanted."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of the columns that the plan reads."""
        return pa.schema([self.reader.schema.field(at) for at in range(len(self.inputs))])

    def parts(self) -> Iterator[tuple[pa.RecordBatch, dict[str, NDArray[np.bool_]], pa.RecordBatch | None]]:
        """(the columns that the plan reads, the unreadable rows of each, all columns unchanged)."""
        kept, marks = len(self.inputs), len(self.marked)
        schema = self.schema
        for at, batch in enumerate(self.reader):
            if at == 0:
                self.check_files()
            columns = batch.columns
            unreadable = {}
            for place, each in enumerate(self.marked, start=kept):
                mark = columns[place].to_numpy(zero_copy_only=False)
                if mark.any():
                    unreadable[each] = mark
            raw = columns[kept + marks :]
            yield (
                pa.RecordBatch.from_arrays(columns[:kept], schema=schema),
                unreadable,
                pa.RecordBatch.from_arrays(raw, names=self.raw) if self.raw else None,
            )
        self.check_files()
        self.check_end()


def open_files(connection: duckdb.DuckDBPyConnection, files: Sequence[File], reading: Reading) -> Rows:
    """Open files of one format, read one after the other."""
    check = unchanged(files)
    source = _open_files(connection, files, reading)
    source.check_files = check
    return source


def _open_files(connection: duckdb.DuckDBPyConnection, files: Sequence[File], reading: Reading) -> Rows:
    written, plan, raw = reading.written, reading.plan, reading.raw
    load_extensions(connection, files, written)
    if written.kind == "parquet":
        return _parquet(connection, files, plan, raw=raw)
    if written.kind == "arrow":
        # Only one file is open at a time.
        schema = arrow_schema(files, written)
        for file in files:
            check_metadata(plan, open_arrow(file, written).schema.metadata, str(file))
        return _arrow(schema, (open_arrow(file, written) for file in files), plan, raw=raw)
    check_side_files(plan, [file for file in files if isinstance(file, Path)])
    if written.kind == "jsonl":
        return _json(connection, paths(files), reading, json_columns(connection, files, written, plan.inputs()))
    names = csv_columns(connection, files, written)
    reading = replace(reading, parallel=may_be_split(files, written))
    return _csv(connection, files, reading, names)


def open_stream(connection: duckdb.DuckDBPyConnection, stream: BinaryIO, reading: Reading, spill: Path) -> Rows:
    """Open standard input; Parquet, which is read from its end, is first copied to ``spill``."""
    written, plan, raw = reading.written, reading.plan, reading.raw
    if written.kind == "arrow":
        try:
            opened = pa.ipc.open_stream(stream)
        except (pa.ArrowInvalid, OSError):
            raise DataFileError(
                "standard input is not an Arrow stream; it may be truncated, or input_format= is wrong."
            ) from None
        check_metadata(plan, opened.schema.metadata, "standard input")
        return _arrow(opened.schema, [opened], plan, raw=raw)
    if written.kind == "parquet":
        # An unnamed file: however this process ends, nothing of it remains.
        copy = tempfile.TemporaryFile(dir=spill)  # noqa: SIM115 (open as long as it is read)
        shutil.copyfileobj(unbuffered(stream), copy, BLOCK)
        copy.flush()
        try:
            source = _parquet(connection, [Path(f"/dev/fd/{copy.fileno()}")], plan, raw=raw)
        except BaseException:
            copy.close()
            raise
        source.copy = copy
        return source
    load_extensions(connection, [], written)
    raw_stream = unbuffered(stream)
    start = b""
    while b"\n" not in start and (block := raw_stream.read(_HEADER_BLOCK)):
        start += block
    quotes = Quotes(written)
    is_json = written.kind == "jsonl"
    named = NamedInput(start, raw_stream, None if is_json else quotes.take)
    reading = replace(reading, once=True)
    names = plan.inputs() if is_json else parse_header(start, written, "standard input")
    # DuckDB waits for the first rows and ignores signals: this thread stays free to receive them.
    with ThreadPoolExecutor(1) as worker:
        if is_json:
            opening = worker.submit(_json, connection, paths([named.path]), reading, names)
        else:
            opening = worker.submit(_csv, connection, [named.path], reading, names)
        try:
            source = opening.result()
        except BaseException:
            named.stop()
            raise
    source.stop = named.stop
    if not is_json:
        check_cells = source.check_end

        def check_end() -> None:
            quotes.check_closed("standard input")
            check_cells()

        source.check_end = check_end
    return source


def _parquet(connection: duckdb.DuckDBPyConnection, files: Sequence[File], plan: Plan, *, raw: bool) -> Rows:
    names = parquet_columns(connection, files)
    for file, metadata in parquet_metadata(connection, files).items():
        check_metadata(plan, metadata, "standard input" if file.startswith("/dev/fd/") else file)
    plan.check_names(names)
    where = parquet_scan(files, len(names))
    rows = connection.execute(f"SELECT sum(num_rows) FROM parquet_file_metadata({paths(files)})").fetchall()[0][0]
    types = [row[1] for row in connection.execute(f"DESCRIBE SELECT * FROM {where}").fetchall()]
    places = list(zip(names, cells_of(len(names)), strict=True))
    cells = dict(places)
    texts = {name for name, kind in zip(names, types, strict=True) if kind == "VARCHAR"}
    values = {each: _as_label(cells[each], labels) for each, labels in _listed(plan).items() if each in texts}
    source = _selected(connection, where, plan, cells, values, places if raw else [])
    source.rows = int(rows or 0)
    return source


def _csv(connection: duckdb.DuckDBPyConnection, files: Sequence[File], reading: Reading, names: list[str]) -> Rows:
    wanted = reading.plan.inputs()
    # In a file with ", " between cells, the space is not part of a name or label.
    names = [each if each in wanted else each.strip() for each in names]
    if not set(wanted) & set(names):
        # The first line may be a person's row, so no similar name is suggested from it.
        raise InputError(
            f"The table has no column {wanted[0]!r}, nor any other that is needed; is its first line a header, "
            f"with the delimiter {reading.written.delimiter!r} (delimiter=)?"
        )
    reading.plan.check_names(names)
    cells = dict(zip(names, cells_of(len(names)), strict=True))
    local = [file for file in files if isinstance(file, Path)]
    if len(names) == 1 and local and (reading.once or may_hold_blank_lines(files, reading.written)):
        return _one_column(connection, local, reading, names)
    scan = csv_scan(
        paths(files),
        reading.written,
        len(names),
        leaving_out=reading.raw,
        parallel=reading.parallel,
        keep_blank=len(names) == 1 and not local,
    )
    source = _cast(connection, scan, cells, reading, names, trimmed=True)
    if reading.raw:
        source.left_out = lambda: lines_left_out(connection)
    return source


def _one_column(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], reading: Reading, names: list[str]
) -> Rows:
    cells = OneColumn(files, reading.written, leaving_out=reading.raw)
    connection.register("one_column", cells.reader)
    read = "(SELECT NULLIF(c0, '') AS c0 FROM one_column)"
    source = _cast(connection, read, {names[0]: "c0"}, replace(reading, once=True), names, trimmed=True)
    source.check_end = cells.check
    if reading.raw:
        source.left_out = lambda: cells.left_out
    return source


def _json(connection: duckdb.DuckDBPyConnection, where: str, reading: Reading, names: list[str]) -> Rows:
    plan = reading.plan
    plan.check_names(names)
    kept = plan.public() if reading.keep_json else []
    texts = [each for each in (names if reading.raw else plan.inputs()) if each not in kept]
    cells = {each: f"texts[{at}]" for at, each in enumerate(texts, start=1)}
    cells |= {each: f"CAST(kept[{at}] AS VARCHAR)" for at, each in enumerate(kept, start=1)}
    values = f"json_extract_string(json, {json_values(texts)}) AS texts"
    if kept:
        values += f", json_extract(json, {json_values(kept)}) AS kept"
    read = f"(SELECT {values} FROM {json_scan(where, reading.written)})"
    source = _cast(connection, read, cells, reading, names)
    source.json = kept
    return source


def _cast(
    connection: duckdb.DuckDBPyConnection,
    read: str,
    cells: dict[str, str],
    reading: Reading,
    names: list[str],
    *,
    trimmed: bool = False,
) -> Rows:
    """Cast cells of text to what the plan needs; numbers to doubles, which represent every integer of every domain.

    ``trimmed`` allows spaces around a label, unless they are part of another one.
    """
    plan = reading.plan
    wanted = dict.fromkeys(plan.inputs(), "text")
    for each, column in plan.private().items():
        for source, labels in zip(plan.inputs_of(each), column.labels_of_inputs, strict=True):
            if labels is None or isinstance(labels[0], int):
                kind = "number" if labels is None else "label"
                if wanted[source] not in {"text", kind}:
                    raise InputError(
                        f"Column {source!r} is read both as numbers and as labels; release it in one way only."
                    )
                wanted[source] = kind
    listed = _listed(plan)
    values = {}
    for each, kind in wanted.items():
        value = f"TRY_CAST({cells[each]} AS DOUBLE)"
        if kind == "number":
            values[each] = value
        elif kind == "label":
            # SQL would round a fraction to the nearest integer.
            values[each] = f"CASE WHEN floor({value}) = {value} THEN TRY_CAST({value} AS BIGINT) END"
        elif each in listed:
            values[each] = _as_label(cells[each], listed[each], trimmed=trimmed)
    raw = [(each, cells[each]) for each in names] if reading.raw else []
    # Skipped lines would be recorded twice.
    return _selected(connection, read, plan, cells, values, raw, sample=not (reading.once or reading.raw))


def _selected(
    connection: duckdb.DuckDBPyConnection,
    read: str,
    plan: Plan,
    cells: dict[str, str],
    values: dict[str, str],
    raw: list[tuple[str, str]],
    *,
    sample: bool = True,
) -> Rows:
    """The columns that a plan reads: ``values`` cast from their cells, marked where the cast fails; or the cells.

    The size of a batch depends on the number of columns and on the public columns of the first rows (unless they cannot
    be read twice).
    """
    columns = [f"{values.get(each, cells[each])} AS {quoted(each)}" for each in plan.inputs()]
    marks = [f"({cells[each]} IS NOT NULL AND {value} IS NULL)" for each, value in values.items()]
    whole = [cell for _, cell in raw]
    width = _CELL_BYTES * (len(columns) + len(whole)) + _wide_bytes(plan)
    public = ", ".join(cells[each] for each in plan.public())
    if public and sample:
        first = connection.sql(f"SELECT {public} FROM {read} LIMIT {_SAMPLE}").to_arrow_table()
        width += first.nbytes // max(first.num_rows, 1)
    at_once = min(BATCH, max(VECTOR, _BATCH_BYTES // width // VECTOR * VECTOR))
    reader = connection.sql(f"SELECT {', '.join(columns + marks + whole)} FROM {read}").to_arrow_reader(at_once)
    return Rows(reader, plan.inputs(), list(values), [name for name, _ in raw], at_once=at_once)


def _wide_bytes(plan: Plan) -> int:
    """The size of a row's reports of flat categories, in bytes."""
    return sum(cell_bytes(each) for each in plan.mechanisms().values() if each.flat)


def _listed(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The labels of each input that is read for a single column of text labels, unless there are too many."""
    readers: dict[str, list[tuple[str, ...]]] = {each: [()] for each in plan.public()}
    for each, column in plan.private().items():
        for source, labels in zip(plan.inputs_of(each), column.labels_of_inputs, strict=True):
            readers.setdefault(source, []).append(labels_in_sql(labels))
    return {each: found[0] for each, found in readers.items() if len(found) == 1 and 0 < len(found[0]) <= _MOST_LISTED}


def labels_in_sql(labels: tuple[Any, ...] | None) -> tuple[str, ...]:
    """The labels of a set if they are text that SQL can express; otherwise none."""
    return () if labels is None or any(not isinstance(each, str) or "\0" in each for each in labels) else labels


def _as_label(cell: str, labels: tuple[str, ...], *, trimmed: bool = False) -> str:
    """Text as one of these labels, or null; looked up once for each entry of a Parquet dictionary."""
    listed = f"ENUM ({', '.join(map(text, labels))})"
    whole = f"TRY_CAST({cell} AS {listed})"
    return f"coalesce({whole}, TRY_CAST(trim({cell}) AS {listed}))" if trimmed else whole


def arrow_schema(files: Sequence[File], written: Format) -> pa.Schema:
    """The common schema of Arrow files."""
    schemas = [(str(file), open_arrow(file, written).schema) for file in files]
    check_alike(schemas)
    return schemas[0][1]


def open_arrow(file: File, written: Format) -> pa.RecordBatchReader:
    """The batches of an Arrow file or stream (standard output is written as a stream)."""
    try:
        if written.compression is not None:
            return pa.ipc.open_stream(pa.input_stream(str(file), compression=written.compression))
        mapped = pa.memory_map(str(file))
        try:
            return _batches(pa.ipc.open_file(mapped))
        except pa.ArrowInvalid:
            mapped.seek(0)
            return pa.ipc.open_stream(mapped)
    except (pa.ArrowInvalid, OSError):
        raise DataFileError(f"{file} is not an Arrow file or stream; it may be truncated.") from None


def _batches(file: pa.RecordBatchFileReader) -> pa.RecordBatchReader:
    numbers = range(file.num_record_batches)
    return pa.RecordBatchReader.from_batches(file.schema, (file.get_batch(at) for at in numbers))


def _arrow(schema: pa.Schema, readers: Iterable[pa.RecordBatchReader], plan: Plan, *, raw: bool) -> Rows:
    plan.check_inputs(schema)
    places = [schema.get_field_index(each) for each in plan.inputs()]
    places += range(len(schema)) if raw else ()
    public = set(plan.public())
    at_once = min(BATCH, max(VECTOR, _BATCH_BYTES // (_CELL_BYTES + _wide_bytes(plan))))
    fields = [schema.field(at) for at in places]
    # Public columns are released as they are read, and a dictionary would be shared by all batches of a file.
    fields = [field.with_type(plain(field.type)) if field.name in public else field for field in fields]
    selected = pa.schema(fields)

    def cut() -> Iterator[pa.RecordBatch]:
        for reader in readers:
            for batch in reader:
                columns = [batch.column(at) for at in places]
                columns = [
                    column if column.type == field.type else column.cast(field.type)
                    for column, field in zip(columns, fields, strict=True)
                ]
                whole = pa.RecordBatch.from_arrays(columns, schema=selected)
                for start in range(0, whole.num_rows, at_once):
                    yield whole.slice(start, at_once)

    return Rows(pa.RecordBatchReader.from_batches(selected, cut()), plan.inputs(), raw=schema.names if raw else [])

"""Writing batches of reports to a file or to standard output, with Arrow."""

from __future__ import annotations

import io
import json
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from bipartite.errors import InputError
from bipartite.tables.extras import pa, pa_csv, pc, pq
from bipartite.tables.formats import LINES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from bipartite.tables.formats import Format


def write_batches(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, part: Path | None, written: Format, as_json: list[str]
) -> None:
    """Write all batches to a file or, if there is none, to standard output, batch by batch.

    Columns ``as_json`` hold JSON.
    """
    writers: dict[str, Callable[[Iterable[pa.RecordBatch], pa.Schema, BinaryIO], None]] = {
        "csv": partial(_csv, mark=written.delimiter),
        "tsv": partial(_csv, mark=written.delimiter),
        LINES: partial(_csv, mark=",", header=False),
        "jsonl": partial(_jsonl, as_json=as_json),
        "parquet": _parquet,
        "arrow": partial(_arrow, is_file=part is not None and written.compression is None),
    }
    write = writers[written.kind]
    with _stdout() if part is None else _sink(part, written.compression) as sink:
        write(batches, schema, sink)


def _sink(part: Path, compression: str | None) -> pa.NativeFile:
    """The file to write to, compressed; Arrow writes without the interpreter's lock."""
    return pa.output_stream(str(part), compression=compression)


@contextmanager
def _stdout() -> Iterator[BinaryIO]:
    stream: Any = sys.stdout.buffer
    stream.flush()
    if isinstance(stream, io.RawIOBase):  # as with `python -u`: one write may write only a part
        with io.FileIO(stream.fileno(), "wb", closefd=False) as raw, io.BufferedWriter(raw) as held:
            yield held
        return
    yield stream
    stream.flush()


def _arrow(batches: Iterable[pa.RecordBatch], schema: pa.Schema, sink: BinaryIO, *, is_file: bool) -> None:
    with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema, sink: BinaryIO) -> None:
    # Without Arrow's own schema beside the file's: labels are text for every reader.
    with pq.ParquetWriter(sink, schema, store_schema=False) as writer:
        writer.add_key_value_metadata(schema.metadata)
        for batch in batches:
            writer.write_batch(batch)


def _csv(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, sink: BinaryIO, mark: str, *, header: bool = True
) -> None:
    check_flat(schema, "CSV")
    if header:
        sink.write((mark.join(_quoted(name, mark) for name in schema.names) + "\n").encode())
    # Arrow's "needed" puts every text in quotation marks; "none" refuses a value that needs them.
    options = pa_csv.WriteOptions(include_header=False, delimiter=mark, quoting_style="none")
    for batch in batches:
        block = pa.BufferOutputStream()
        try:
            pa_csv.write_csv(batch, block, options)
        except pa.ArrowInvalid:  # a value that needs quotation marks
            block = pa.BufferOutputStream()
            block.write(_csv_text(batch, mark))
        sink.write(block.getvalue())
        sink.flush()


def _quoted(text: str, mark: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(each in text for each in f'"\r\n{mark}') else text


def _csv_text(batch: pa.RecordBatch, mark: str) -> bytes:
    """Rows as CSV in which only the values that need them have quotation marks."""
    columns = []
    for column in batch.columns:
        texts = pc.fill_null(_texts(column), "")
        needs = pc.match_substring_regex(texts, f'["\r\n{mark}]')
        doubled = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
        columns.append(pc.if_else(needs, doubled, texts))
    return _lines(pc.binary_join_element_wise(*columns, mark))


def _lines(rows: pa.Array) -> bytes:
    return ("\n".join(rows.to_pylist()) + "\n").encode() if len(rows) else b""


def _texts(column: pa.Array) -> pa.Array:
    held = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return held.cast(pa.string())


def _jsonl(batches: Iterable[pa.RecordBatch], schema: pa.Schema, sink: BinaryIO, as_json: list[str]) -> None:
    heads = [f"{',' if at else '{'}{json.dumps(name, ensure_ascii=False)}:" for at, name in enumerate(schema.names)]
    for batch in batches:
        cells: list[Any] = []
        for name, head, column in zip(schema.names, heads, batch.columns, strict=True):
            cells += [head, pc.fill_null(column if name in as_json else _json_texts(column), "null")]
        if batch.num_rows:
            sink.write(_lines(pc.binary_join_element_wise(*cells, "}", "")))
        sink.flush()


def _json_texts(column: pa.Array) -> pa.Array:
    """The JSON of each value; missing where the value is, or is no number."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(pa.string())
    if pa.types.is_temporal(kind):
        column = column.cast(pa.string())  # Python's own times hold neither nanoseconds nor far years
    try:
        held = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        values, at = held.dictionary, held.indices
    except pa.ArrowNotImplementedError:  # lists and other nested values
        values, at = column, pa.array(range(len(column)))
    try:
        texts = [None if each is None else _json_text(each) for each in values.to_pylist()]
    except (ValueError, TypeError, OverflowError):  # bytes, or nanoseconds in a list
        texts = None
    if texts is None:
        raise InputError(f"JSON cannot hold {kind}; write Parquet or Arrow, cast it first, or leave it out.")
    return pa.array([None if text == "null" else text for text in texts], pa.string()).take(at)


def _json_text(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_as_text)
    except ValueError:  # NaN and infinities are not JSON
        read = partial(json.loads, parse_constant=lambda _: None)
        return json.dumps(read(json.dumps(value, default=_as_text)), ensure_ascii=False)


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        raise TypeError
    return str(value)


def check_flat(schema: pa.Schema, what: str) -> None:
    """Refuse columns of lists and other values that a cell of text cannot hold."""
    for field in schema:
        kinds = (pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
        if any(kind(field.type) for kind in kinds) or isinstance(field.type, pa.BaseExtensionType):
            raise InputError(
                f"column {field.name!r}: {what} cannot hold {field.type}; write Parquet, Arrow or JSON lines, or leave "
                "it out."
            )

"""Reading rows from files of every format, or standard input, as Arrow batches of the columns that a plan reads.

Columns are taken by exact name or by position, never by a name that only differs in case; folder names
(``age=20/people.parquet``) give no values; all files have the same columns. Where Arrow refuses a block of text, the
block is read again as text and each bad cell or line is marked, because Arrow's errors show the line.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains.product import tuple_of
from bipartite.errors import DataFileError, InputError
from bipartite.tables.blocks import (
    STANDARD_INPUT,
    JsonLines,
    StandardInput,
    are_text,
    blocks_of,
    check_text,
    count_lines,
    misplaced_mark,
    name_of,
    parsed,
    rows_of,
    split_header,
)
from bipartite.tables.columns import plain
from bipartite.tables.extras import culprits, pa, pc, pq
from bipartite.tables.formats import LINES, unchanged
from bipartite.tables.metadata import check_metadata, check_side_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bipartite.tables.formats import Format
    from bipartite.tables.plan import Plan

    Marks = dict[str, NDArray[np.bool_]]

AT_ONCE: Final = 122_880
"""Rows of Parquet and Arrow that are read at once: a row group as DuckDB writes it, so that none is cut in two."""
_BLANKS: Final = " \t"  # what Arrow trims around numbers in CSV
_BEYOND: Final = 2.0**53
_FIELD_LIMIT: Final = threading.Lock()
_LINE: Final = "line"
_WIDE_BYTES: Final = 2**25  # of the wide reports of rows that are drawn at once


@dataclass(slots=True)
class Part:
    """Some rows: the columns that the plan reads, unreadable cells, and all columns unchanged if wanted."""

    batch: pa.RecordBatch
    unreadable: Marks = field(default_factory=dict)
    """For inputs that were read as text, the rows that are not of the type that the plan needs."""
    raw: pa.RecordBatch | None = None
    ragged: list[tuple[int, str]] = field(default_factory=list)
    """(number, text) of the lines with another number of cells, which are left out."""


@dataclass(slots=True)
class Rows:
    """The rows of an input, part by part."""

    schema: pa.Schema
    """The schema of the columns that the plan reads."""
    parts: Iterator[Part]
    raw: list[str]
    """The names of all columns, if they are wanted unchanged."""
    count: int | None = None
    """The number of rows, if known in advance."""
    check_unchanged: Callable[[], None] = lambda: None
    """Raises if a file has changed since it was opened: call it with the first rows and after the last."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read from an input: the columns of a plan, and all of them unchanged if they are to be rejected."""

    plan: Plan
    raw: bool = False
    as_json: Sequence[str] = ()
    """Public columns of JSON lines whose values stay JSON."""


def open_rows(files: Sequence[Path], written: Format, wanted: Wanted) -> Rows:
    """Open files of one format, read one after the other; standard input if there are none."""
    check = unchanged(files)
    if written.is_text:
        check_side_files(wanted.plan, files)
    rows = _OPENERS[written.kind](files, written, wanted)
    rows.check_unchanged = check
    wide = sum(column.reports.bytes_each for column in wanted.plan.private().values())
    if wide:
        rows.parts = _cut(rows.parts, max(1, _WIDE_BYTES // wide))
    return rows


def _cut(parts: Iterator[Part], most: int) -> Iterator[Part]:
    """The same rows, at most so many at a time."""
    for part in parts:
        for first in range(0, max(part.batch.num_rows, 1), most):
            marks = {name: mark[first : first + most] for name, mark in part.unreadable.items()}
            raw = None if part.raw is None else part.raw.slice(first, most)
            yield Part(part.batch.slice(first, most), marks, raw, [] if first else part.ragged)


def columns_of(files: Sequence[Path], written: Format) -> tuple[list[str], list[pa.DataType] | None]:
    """(the names of the columns, the types that the files declare; None for text, which declares none)."""
    if not written.is_text:
        opened = ((str(file), _parquet_file(file)) for file in files)
        schema = _parquet_schema([*opened]) if written.kind == "parquet" else _arrow_schema(files, written)
        return schema.names, schema.types
    if written.kind == "jsonl":
        found: dict[str, None] = {}
        for file in files:
            found |= dict.fromkeys(JsonLines(str(file)).keys(next(blocks_of(file, written), b"")))
        return list(found), None
    texts = _csv_texts(files, written)
    for each in texts:
        each.check_first_block()  # names may stand above other columns
    return texts[0].names, None


def check_alike(schemas: Iterable[tuple[str, Any]]) -> None:
    """Refuse files whose columns differ from those of the first, before any row is read."""
    (first, wanted), *others = schemas
    for file, columns in others:
        if columns != wanted:
            raise DataFileError(
                f"{file} has other columns than {first}, in name, type or order; make them equal, or release them one "
                "by one."
            )


# --- Text


class _CsvText:
    """One CSV input, a file or standard input: its names, and its rows block by block."""

    def __init__(self, file: Path | None, written: Format) -> None:
        self._delimiter, self.source = written.delimiter, name_of(file)
        self._blocks = blocks_of(file, written, self._delimiter)
        first = next(self._blocks, b"")
        self.names, header = split_header(first, written, self.source)
        self._first = first[header:]
        self._line = 1 + max(1, count_lines(first[:header]))

    def check_first_block(self) -> None:
        """Refuse first rows that cannot be split into as many cells as there are names."""
        self._first = self._first or next(self._blocks, b"")
        if self._first:
            self._check_marks(self._first)
            self._texts(self._first, [0], leaving_out=False)

    def parts(self, names: list[str], kinds: dict[str, _Kind], *, raw: bool) -> Iterator[Part]:
        """The rows of each block: the columns of these kinds, of all the ``names`` in the input."""
        first, self._first = self._first, b""
        for block in filter(None, itertools.chain([first], self._blocks)):
            self._check_marks(block)
            yield self._part(block, names, kinds, raw=raw)
            self._line += count_lines(block)

    def _check_marks(self, block: bytes) -> None:
        at = misplaced_mark(block, self._delimiter)
        if at >= 0:
            line = self._line + count_lines(block[:at])
            raise DataFileError(
                f"line {line:,} of {self.source} has a quotation mark that does not enclose a whole cell; remove what "
                "is around it, double it within a cell, or close the one before it."
            )

    def _part(self, block: bytes, names: list[str], kinds: dict[str, _Kind], *, raw: bool) -> Part:
        places = [names.index(each) for each in kinds]
        if not raw:
            types = {at: kinds[names[at]].in_text for at in places}
            with suppress(pa.ArrowInvalid):  # a cell or a line is wrong: look at each
                return _part_of(parsed(block, self._delimiter, len(names), types), kinds)
        columns, ragged = self._texts(block, range(len(names)) if raw else places, leaving_out=raw)
        every = pa.RecordBatch.from_arrays(columns, names=names) if raw else None
        part = _part_of([columns[at] for at in places] if raw else columns, kinds)
        part.raw, part.ragged = every, ragged
        return part

    def _texts(
        self, block: bytes, places: Sequence[int], *, leaving_out: bool
    ) -> tuple[list[pa.Array], list[tuple[int, str]]]:
        """(columns as text, the lines with another number of cells, which are an error unless ``leaving_out``)."""
        check_text(block, self._line, self.source)  # Arrow could not show a ragged line
        skipped: list[object] = []
        columns = None
        with suppress(pa.ArrowInvalid):
            types = dict.fromkeys(places, pa.string())
            columns = parsed(block, self._delimiter, len(self.names), types, skipped=skipped)
        ragged = self._ragged(block) if skipped else []
        if columns is None or len(ragged) != len(skipped):
            raise DataFileError(
                f"a line after line {self._line - 1:,} of {self.source} cannot be read as CSV; check that all lines "
                "have the same ending, and that quotation marks enclose whole cells."
            )
        if ragged and not leaving_out:
            raise DataFileError(
                f"line {ragged[0][0]:,} of {self.source} has another number of cells than the first line; repair it, "
                "name the delimiter with delimiter=, or leave such lines out with reject=."
            )
        return columns, ragged

    def _ragged(self, block: bytes) -> list[tuple[int, str]]:
        """(number, text) of the lines of a block with another number of cells."""
        with _FIELD_LIMIT:
            limit = csv.field_size_limit(sys.maxsize)  # of the whole process
            try:
                rows = rows_of(block, self._line, self._delimiter, lambda *_: None)
                return [
                    (first, text.rstrip("\r\n"))
                    for first, _, cells, text in rows
                    if cells and len(cells) != len(self.names)
                ]
            finally:
                csv.field_size_limit(limit)


def _csv_texts(files: Sequence[Path], written: Format) -> list[_CsvText]:
    """The files, or standard input, with the same columns."""
    texts = [_CsvText(file, written) for file in files or (None,)]
    check_alike([(each.source, each.names) for each in texts])
    return texts


def _csv(files: Sequence[Path], written: Format, wanted: Wanted) -> Rows:
    texts = _csv_texts(files, written)
    needed = wanted.plan.inputs()
    # In a file with ", " between cells, the space is not part of a name or label.
    names = [each if each in needed else each.strip() for each in texts[0].names]
    if not set(needed) & set(names):
        # The first line may be a person's row, so no similar name is suggested from it.
        raise InputError(
            f"The table has no column {needed[0]!r}, nor any other that is needed; is its first line a header, "
            f"with the delimiter {written.delimiter!r} (delimiter=)?"
        )
    wanted.plan.check_names(names)
    kinds = _kinds(wanted.plan, trimmed=True)
    parts = (part for each in texts for part in each.parts(names, kinds, raw=wanted.raw))
    return Rows(_schema(kinds), parts, names if wanted.raw else [])


def _json(files: Sequence[Path], written: Format, wanted: Wanted) -> Rows:
    plan = wanted.plan
    kinds = _kinds(plan, trimmed=False)
    opened = [(JsonLines(name_of(file)), blocks_of(file, written)) for file in files or (None,)]
    firsts = [(lines, next(blocks, b""), blocks) for lines, blocks in opened]
    names: dict[str, None] = {}
    for lines, first, _ in firsts:
        keys = lines.keys(first)
        folded = {key.casefold() for key in keys}
        if len(firsts) > 1 and any(each not in keys and each.casefold() in folded for each in plan.inputs()):
            raise DataFileError(f"{lines.source} spells the name of a column in another case; rename it there.")
        names |= dict.fromkeys(keys)
    plan.check_names(plan.inputs() if not files else names)
    every = list(dict.fromkeys([*(names if wanted.raw else ()), *kinds]))

    def parts() -> Iterator[Part]:
        for lines, first, blocks in firsts:
            for block in filter(None, itertools.chain([first], blocks)):
                columns = dict(zip(every, lines.cells(block, every, wanted.as_json), strict=True))
                part = _part_of([columns[each] for each in kinds], kinds)
                if wanted.raw:
                    part.raw = pa.RecordBatch.from_pydict(columns)
                yield part

    return Rows(_schema(kinds), parts(), every if wanted.raw else [])


def _lines(files: Sequence[Path], written: Format, wanted: Wanted) -> Rows:
    """One value a line, for a plan of one column."""
    kinds = _kinds(wanted.plan, trimmed=True)

    def parts() -> Iterator[Part]:
        for file in files or (None,):
            for lines in _texts_of_lines(file, written):
                part = _part_of_lines(lines, kinds)
                part.raw = pa.RecordBatch.from_pydict({_LINE: lines}) if wanted.raw else None
                yield part

    return Rows(_schema(kinds), parts(), [_LINE] if wanted.raw else [])


def _texts_of_lines(file: Path | None, written: Format) -> Iterator[list[str]]:
    """The lines of each block of a file, or of standard input."""
    done = 0
    for block in blocks_of(file, written):
        check_text(block, done + 1, name_of(file))
        lines = [line.decode() for line in block.splitlines()]
        yield lines
        done += len(lines)


def _part_of_lines(lines: list[str], kinds: dict[str, _Kind]) -> Part:
    """Lines as the one input of a column, or those of tuples: JSON arrays with one value for each."""
    cells = [None if not line.strip() else line for line in lines]
    if len(kinds) == 1:
        return _part_of([pa.array(cells, pa.string())], kinds)
    read = [[None] * len(kinds) if cell is None else _parts_of(cell, len(kinds)) for cell in cells]
    columns = zip(*([None] * len(kinds) if row is None else row for row in read), strict=True)
    part = _part_of([pa.array(column, pa.string()) for column in columns], kinds)
    if None in read:
        bad = np.array([row is None for row in read])
        part.unreadable = {name: part.unreadable.get(name, False) | bad for name in kinds}
    return part


def _parts_of(line: str, size: int) -> list[str | None] | None:
    """The values of a JSON array as cells; None if it is none of this size."""
    cells = [each if each is None or isinstance(each, str) else json.dumps(each) for each in tuple_of(line)]
    return cells if len(cells) == size and are_text(filter(None, cells)) else None


@dataclass(frozen=True, slots=True)
class _Kind:
    """How the cells of an input are read: as text, as numbers, as whole numbers, or as labels."""

    name: str = "text"
    labels: frozenset[str] = frozenset()
    """Labels around which blanks do not count, unless another label has them."""

    @property
    def in_text(self) -> pa.DataType:
        """The type in which Arrow reads the cells of CSV."""
        if self.name == "text":
            return pa.dictionary(pa.int32(), pa.string()) if self.labels else pa.string()
        return pa.float64()

    @property
    def type(self) -> pa.DataType:
        """The type of the column."""
        return pa.int64() if self.name == "labels" else self.in_text

    def read(self, cells: pa.Array) -> tuple[pa.Array, NDArray[np.bool_] | None]:
        """(the column, the cells that are not of its kind)."""
        if self.name == "text":
            return (self._trimmed(cells), None) if self.labels else (cells, None)
        unread = None
        if pa.types.is_string(cells.type):
            cells, unread = numbers_in(cells)
        if self.name == "labels":
            cells, fractions = _whole_numbers(cells)
            unread = fractions if unread is None else unread | fractions
        return cells, unread

    def _trimmed(self, cells: pa.Array) -> pa.Array:
        held = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        texts = held.dictionary.to_pylist()
        near = [text if text in self.labels else text.strip() for text in texts]
        if all(now == text or now not in self.labels for now, text in zip(near, texts, strict=True)):
            return held
        near = [now if now in self.labels else text for now, text in zip(near, texts, strict=True)]
        return pa.DictionaryArray.from_arrays(held.indices, pa.array(near, pa.string()))


def _kinds(plan: Plan, *, trimmed: bool) -> dict[str, _Kind]:
    """How each input of a plan is read from text."""
    kinds = {each: _Kind() for each in plan.inputs()}
    readers = dict.fromkeys(plan.public(), 1)
    for each, reader in plan.readers():
        readers[each] = readers.get(each, 0) + 1
        if reader.kind == "text":
            if kinds[each].name == "text":
                alone = trimmed and readers[each] == 1
                kinds[each] = _Kind("text", frozenset(reader.domain.labels or () if alone else ()))
        elif kinds[each].name in {"text", reader.kind}:
            kinds[each] = _Kind(reader.kind)
        else:
            raise InputError(f"Column {each!r} is read both as numbers and as labels; release it in one way only.")
    return kinds


def _schema(kinds: dict[str, _Kind]) -> pa.Schema:
    return pa.schema([(name, kind.type) for name, kind in kinds.items()])


def _part_of(columns: Sequence[pa.Array], kinds: dict[str, _Kind]) -> Part:
    """The columns of a block of text, each read as its kind."""
    arrays, marks = [], {}
    for (name, kind), column in zip(kinds.items(), columns, strict=True):
        array, unread = kind.read(column)
        arrays.append(array)
        if unread is not None and unread.any():
            marks[name] = unread
    return Part(pa.RecordBatch.from_arrays(arrays, schema=_schema(kinds)), marks)


def numbers_in(cells: pa.Array) -> tuple[pa.Array, NDArray[np.bool_] | None]:
    """(the numbers in cells of text, as Arrow reads them in CSV; which cells are none, if any)."""
    trimmed = pc.utf8_trim(cells, characters=_BLANKS)
    try:
        return trimmed.cast(pa.float64()), None
    except pa.ArrowInvalid:
        held = trimmed.dictionary_encode()

    def read(first: int, last: int) -> None:
        held.dictionary.slice(first, last - first).cast(pa.float64())

    wrong = np.zeros(len(held.dictionary), dtype=np.bool_)
    wrong[culprits(read, len(wrong), pa.ArrowInvalid)] = True
    numbers = pc.if_else(pa.array(wrong), None, held.dictionary).cast(pa.float64())
    there = held.indices.is_valid().to_numpy(zero_copy_only=False)
    unread = wrong[held.indices.fill_null(0).to_numpy()] & there
    return numbers.take(held.indices), unread


def _whole_numbers(numbers: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """(doubles as integers, which of them are not whole)."""
    values = numbers.fill_null(0.0).to_numpy()
    with np.errstate(invalid="ignore"):
        whole = (np.floor(values) == values) & (np.abs(values) < _BEYOND)
    gone = numbers.is_null().to_numpy(zero_copy_only=False)
    return pa.array(np.where(whole, values, 0).astype(np.int64), mask=gone | ~whole), ~whole & ~gone


# --- Parquet and Arrow


def _parquet(files: Sequence[Path], written: Format, wanted: Wanted) -> Rows:  # noqa: ARG001 (as for other formats)
    if files:
        opened = [(str(file), _parquet_file(file)) for file in files]
    else:
        # Parquet is read from its end. An unnamed file: however this process ends, nothing of it remains.
        with tempfile.TemporaryFile() as held:
            shutil.copyfileobj(StandardInput(), held, AT_ONCE)
            held.flush()
            copy = pa.OSFile(f"/dev/fd/{held.fileno()}")
        opened = [(STANDARD_INPUT, _parquet_file(copy))]
    schema = _parquet_schema(opened)
    for name, file in opened:
        check_metadata(wanted.plan, file.metadata.metadata, name)
    wanted.plan.check_names(schema.names)
    labels = [name for name, kind in _kinds(wanted.plan, trimmed=True).items() if kind.labels]
    columns = None if wanted.raw else wanted.plan.inputs()
    count = sum(file.metadata.num_rows for _, file in opened)
    places: list[Any] = [*files] if files else [copy]
    del opened  # only one file is open at a time

    def batches() -> Iterator[pa.RecordBatch]:
        for place in places:
            with _parquet_file(place, labels) as file:
                yield from _batches_of(file, columns)

    return _selected(schema, batches(), wanted, count)


def _parquet_file(file: Any, labels: Sequence[str] = ()) -> pq.ParquetFile:  # noqa: ANN401 (a path or an open file)
    return pq.ParquetFile(file, read_dictionary=list(labels))


def _batches_of(file: pq.ParquetFile, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """The rows of a file: row groups like DuckDB's one by one, which takes half the time, others in equal batches."""
    sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    if all(AT_ONCE // 2 < size <= AT_ONCE for size in sizes[:-1]) and sum(sizes[-1:]) <= AT_ONCE:
        for at in range(len(sizes)):
            yield from file.read_row_group(at, columns=columns).to_batches()
    else:
        yield from file.iter_batches(AT_ONCE, columns=columns)


def _parquet_schema(files: Sequence[tuple[str, pq.ParquetFile]]) -> pa.Schema:
    """The schema of the first file; in the others, columns are the same, except that values may be missing."""

    def columns(file: pq.ParquetFile) -> tuple[list[Any], list[Any]]:
        leaves = [file.schema.column(at) for at in range(len(file.schema.names))]
        # A column a.b and a field b of a struct a are leaves of one path.
        nested = [
            (each.name, pa.types.is_nested(each.type) and str(each.type).replace(" not null", ""))
            for each in file.schema_arrow
        ]
        return nested, [
            (each.path, each.physical_type, str(each.logical_type), each.length, each.max_repetition_level)
            for each in leaves
        ]

    check_alike((name, columns(file)) for name, file in files)
    return files[0][1].schema_arrow


def _arrow_schema(files: Sequence[Path], written: Format) -> pa.Schema:
    """The common schema of Arrow files."""
    schemas = [(str(file), open_arrow(file, written).schema) for file in files]
    check_alike(schemas)
    return schemas[0][1]


def open_arrow(file: Path, written: Format) -> pa.RecordBatchReader:
    """The batches of an Arrow file or stream (standard output is written as a stream)."""
    try:
        if written.compression is not None:
            return pa.ipc.open_stream(pa.input_stream(str(file), compression=written.compression))
        held = pa.OSFile(str(file))  # a map of a file that is truncated meanwhile would end the process
        try:
            opened = pa.ipc.open_file(held)
        except pa.ArrowInvalid:
            held.seek(0)
            return pa.ipc.open_stream(held)
        batches = (opened.get_batch(at) for at in range(opened.num_record_batches))
        return pa.RecordBatchReader.from_batches(opened.schema, batches)
    except (pa.ArrowInvalid, OSError):
        raise DataFileError(f"{file} is not an Arrow file or stream; it may be truncated.") from None


def _arrow(files: Sequence[Path], written: Format, wanted: Wanted) -> Rows:
    if files:
        schema = _arrow_schema(files, written)
        for file in files:
            check_metadata(wanted.plan, open_arrow(file, written).schema.metadata, str(file))
        # Only one file is open at a time.
        return _selected(schema, (batch for file in files for batch in open_arrow(file, written)), wanted)
    try:
        stream = pa.ipc.open_stream(io.BufferedReader(StandardInput()))
    except (pa.ArrowInvalid, OSError):
        raise DataFileError(
            "standard input is not an Arrow stream; it may be truncated, or input_format= is wrong."
        ) from None
    check_metadata(wanted.plan, stream.schema.metadata, STANDARD_INPUT)
    return _selected(stream.schema, stream, wanted)


def _selected(schema: pa.Schema, batches: Iterable[pa.RecordBatch], wanted: Wanted, count: int | None = None) -> Rows:
    """The columns that a plan reads, by exact name; public ones without dictionaries, which batches would share."""
    wanted.plan.check_inputs(schema)
    public = set(wanted.plan.public())
    fields = [schema.field(each) for each in wanted.plan.inputs()]
    fields = [each.with_type(plain(each.type)) if each.name in public else each for each in fields]

    def parts() -> Iterator[Part]:
        for batch in batches:
            for start in range(0, batch.num_rows, AT_ONCE):
                rows = batch.slice(start, AT_ONCE)
                # A path with dots may select more columns of Parquet than the one of this name.
                columns = [rows.column(each.name) for each in fields]
                arrays = [
                    column.cast(each.type) if each.name in public and column.type != each.type else column
                    for column, each in zip(columns, fields, strict=True)
                ]
                kept = pa.RecordBatch.from_arrays(arrays, names=[each.name for each in fields])
                yield Part(kept, raw=rows if wanted.raw else None)

    return Rows(pa.schema(fields), parts(), schema.names if wanted.raw else [], count)


_OPENERS: Final = {"csv": _csv, "tsv": _csv, LINES: _lines, "jsonl": _json, "parquet": _parquet, "arrow": _arrow}

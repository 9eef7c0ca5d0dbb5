"""Rows of text files in chunks: which columns are read, and on which line something is wrong."""

from __future__ import annotations

import csv
import io
import itertools
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.cli.envelopes import rows_of_json
from bipartite.errors import DataFileError, InputError, shown
from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bipartite.cli.envelopes import Envelopes
    from bipartite.cli.rejected import Rejected
    from bipartite.tables.formats import Format

CHUNK: Final = 2**16
REPORT: Final = "report"
STDIN: Final = Path("-")
SPOKEN: Final = "standard input"
_NO_TEXT: Final = ("PAR1", "ARROW1", "\udcff" * 4)  # the first bytes of Parquet and Arrow files, and of Arrow streams
_NAMED: Final = 8  # columns named in an error
NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows: the line on which each ends, and the cells of the requested columns."""

    lines: list[int]
    columns: list[list[str]]
    keys: list[str | None] = field(default_factory=list)
    """The key of each row's envelope, in JSON lines; None if it has none."""
    raw: list[str] = field(default_factory=list)
    """The text of each row, if it may have to be set aside."""

    def at(self, rows: Sequence[int]) -> Chunk:
        """Some of the rows."""
        return Chunk(
            [self.lines[row] for row in rows],
            [[column[row] for row in rows] for column in self.columns],
            [self.keys[row] for row in rows] if self.keys else [],
            [self.raw[row] for row in rows] if self.raw else [],
        )


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """The columns to read; by default reports are in the only column, or in the one named "report"."""

    column: str | None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """How the lines of a file become rows."""

    written: Format
    asked: WantedColumns
    is_report: Callable[[str], bool | None]
    """Whether a cell is a report (True), cannot be one and so may be a column name (None), or is neither (False)."""
    envelopes: Envelopes
    rejected: Rejected


def chunks(path: Path, how: Lines) -> Iterator[Chunk]:
    """The rows of a file: the reports first, then the other requested columns.

    A file whose last line has no line end may be truncated, even within a number, and is refused.
    """
    if path == STDIN:
        if sys.stdin is None:
            raise DataFileError("standard input is closed; pass the reports there, or name a file.")
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape", newline="")  # as in files, below
        yield from _chunks(SPOKEN, _without_mark(sys.stdin), how)
        return
    packed = how.written.compression
    with path.open("rb") if packed is None else pa.input_stream(str(path), compression=packed) as held:
        # Invalid UTF-8 is reported only in the cells that are read, with their line.
        file = io.TextIOWrapper(held, encoding="utf-8-sig", errors="surrogateescape", newline="")
        try:
            yield from _chunks(str(path), iter(file), how)
        except OSError as error:
            if error.errno is not None:
                raise
            raise DataFileError(f"{path} cannot be unpacked: it may be truncated or damaged; fetch it again.") from None


def _without_mark(lines: Iterable[str]) -> Iterator[str]:
    """The lines of standard input without the byte order mark, which would become part of the first cell."""
    rest = iter(lines)
    first = next(rest, "")
    if first.startswith(_NO_TEXT):
        raise DataFileError(
            f"{SPOKEN} is read as CSV, and this is not UTF-8 text; save Parquet or Arrow to a file, and name the file."
        )
    if first:
        yield first.removeprefix("\ufeff")
    yield from rest


def _chunks(name: str, lines: Iterator[str], how: Lines) -> Iterator[Chunk]:
    last, count = "", 0

    def watched() -> Iterator[str]:
        nonlocal last, count
        for line in lines:
            last, count = line, count + 1
            yield line

    names = [how.asked.column or REPORT, *how.asked.others]
    if how.written.kind == "jsonl":
        rows = rows_of_json(name, watched(), names, how.envelopes, how.rejected)
    else:
        rows = _rows_of_csv(name, watched(), how)
    while (chunk := _chunk(itertools.islice(rows, CHUNK), len(names), how)).lines:
        yield chunk
    if not last:
        raise DataFileError(f"{name} is empty; it holds no reports.")
    if not last.endswith(("\n", "\r")):
        raise DataFileError(
            f"{name}: the last line, {count}, has no line end: the file may be truncated; if not, add one."
        )


def _chunk(rows: Iterable[tuple[int, list[str], str | None, str]], width: int, how: Lines) -> Chunk:
    """Some rows."""
    chunk = Chunk([], [[] for _ in range(width)])
    for number, cells, key, text in rows:
        chunk.lines.append(number)
        for column, cell in zip(chunk.columns, cells, strict=True):
            column.append(cell)
        if how.written.kind == "jsonl":
            chunk.keys.append(key)
        if how.rejected.file is not None:
            chunk.raw.append(text)
    return chunk


def _rows_of_csv(name: str, lines: Iterator[str], how: Lines) -> Iterator[tuple[int, list[str], None, str]]:
    """(number, requested cells, no key, text) of every row."""
    latest: list[str] = []  # the lines of one row

    def watched() -> Iterator[str]:
        for line in lines:
            latest.append(line)
            yield line

    reader = csv.reader(watched(), strict=True, delimiter=how.written.delimiter)
    width, at = 0, [0]
    while True:
        latest.clear()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            why = f"cannot be read as CSV ({error}); repair or remove it."
            first = reader.line_num - len(latest) + 1
            how.rejected.refuse(f"{name}: line {first} {why}", "".join(latest))
            continue
        if not width:
            width = max(1, len(row))  # an empty line is an empty cell
            at, header = _positions(name, row, how)
            if header:
                continue
        cells = row or ([""] if width == 1 else [])
        if len(cells) != width:
            why = f"has {len(row)} cells instead of {width}; repair or remove it."
            how.rejected.refuse(f"{name}: line {reader.line_num} {why}", "".join(latest))
            continue
        yield reader.line_num, [cells[each] for each in at], None, "".join(latest)


def _positions(name: str, first: list[str], how: Lines) -> tuple[list[int], bool]:
    """Where the columns are, and whether the first row names them."""
    asked = how.asked
    names = [cell.strip() for cell in first]
    if len(names) <= 1 and asked.column is None and not asked.others:
        cell = first[0] if names else ""
        answer = how.is_report(cell) if cell.strip() else True  # a missing report is not a name
        forged = answer is False and cell.strip() != REPORT
        if forged and how.rejected.file is None:
            raise DataFileError(
                f"{name}: line 1 is neither a report nor a column name; repair it, or name the column with --column."
            )
        return [0], answer is not True and not forged
    wanted = [asked.column or (names[0] if len(names) == 1 else REPORT), *asked.others]
    if len(set(wanted)) < len(wanted):
        raise InputError(
            "Expected --column, --by and --weights to be different columns; a group or a weight must not be private."
        )
    found = []
    for each in wanted:
        if names.count(each) != 1:
            there = ", ".join(shown(column) for column in names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
            problem = "has no column" if each not in names else "has several columns"
            raise DataFileError(
                f"{name} {problem} {shown(each)}; its first line holds {there}. Name one with --column."
            )
        found.append(names.index(each))
    return found, True

"""Rows of CSV files in chunks: which columns are read, and on which line something is wrong."""

from __future__ import annotations

import csv
import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.errors import DataFileError, InputError, shown

if TYPE_CHECKING:
    import _csv
    from collections.abc import Callable, Iterable, Iterator

CHUNK: Final = 2**16
REPORT: Final = "report"
STDIN: Final = Path("-")
SPOKEN: Final = "standard input"
_NO_TEXT: Final = ("PAR1", "ARROW1")  # the first bytes of Parquet and Arrow files
_NAMED: Final = 8  # columns named in an error
NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows: the line on which each ends, and the cells of the requested columns."""

    lines: list[int]
    columns: list[list[str]]


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """The columns to read; by default reports are in the only column, or in the one named "report"."""

    column: str | None
    others: tuple[str, ...] = ()


def chunks(path: Path, asked: WantedColumns, is_report: Callable[[str], bool | None]) -> Iterator[Chunk]:
    """The rows of a file: the reports first, then the other requested columns.

    ``is_report`` says whether a cell is a report (True), cannot be one and so may be a column name (None), or is
    neither (False). A file whose last line has no line end may be truncated, even within a number, and is refused.
    """
    if path == STDIN:
        if sys.stdin is None:
            msg = "standard input is closed; pass the reports there, or name a file."
            raise DataFileError(msg)
        yield from _chunks(SPOKEN, _without_mark(sys.stdin), asked, is_report)
        return
    # Invalid UTF-8 is reported only in the cells that are read, with their line.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        yield from _chunks(str(path), iter(file), asked, is_report)


def _without_mark(lines: Iterable[str]) -> Iterator[str]:
    """The lines of standard input without the byte order mark, which would become part of the first cell."""
    rest = iter(lines)
    try:
        first = next(rest, "")
    except UnicodeDecodeError:
        first = _NO_TEXT[0]
    if first.startswith(_NO_TEXT):
        msg = (
            f"{SPOKEN} is read as CSV, and this is not UTF-8 text; save Parquet or Arrow to a file, and name the file."
        )
        raise DataFileError(msg)
    if first:
        yield first.removeprefix("\ufeff")
    yield from rest


def _chunks(
    name: str, lines: Iterator[str], asked: WantedColumns, is_report: Callable[[str], bool | None]
) -> Iterator[Chunk]:
    last = [""]

    def watched() -> Iterator[str]:
        for line in lines:
            last[0] = line
            yield line

    reader = csv.reader(watched(), strict=True)
    rows = _numbered(name, reader)
    first = next(rows, None)
    if first is None:
        msg = f"{name} is empty; it holds no reports."
        raise DataFileError(msg)
    width = max(1, len(first[1]))  # an empty line is an empty cell
    at, header = _positions(name, first[1], asked, is_report)
    rest = rows if header else itertools.chain([first], rows)
    while (chunk := _chunk(name, itertools.islice(rest, CHUNK), width, at)).lines:
        yield chunk
    if not last[0].endswith(("\n", "\r")):
        msg = f"{name}: the last line, {reader.line_num}, has no line end: the file may be truncated; if not, add one."
        raise DataFileError(msg)


def _chunk(name: str, rows: Iterable[tuple[int, list[str]]], width: int, at: list[int]) -> Chunk:
    """Some rows with only the requested cells."""
    chunk = Chunk([], [[] for _ in at])
    for line, row in rows:
        cells = row or ([""] if width == 1 else [])
        if len(cells) != width:
            msg = f"{name}: line {line} has {len(row)} cells instead of {width}; repair or remove it."
            raise DataFileError(msg)
        chunk.lines.append(line)
        for column, each in zip(chunk.columns, at, strict=True):
            column.append(cells[each])
    return chunk


def _numbered(name: str, reader: _csv.Reader) -> Iterator[tuple[int, list[str]]]:
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        msg = f"{name}: line {reader.line_num} cannot be read as CSV ({error}); repair or remove it."
        raise DataFileError(msg) from None


def _positions(
    name: str, first: list[str], asked: WantedColumns, is_report: Callable[[str], bool | None]
) -> tuple[list[int], bool]:
    """Where the columns are, and whether the first row names them."""
    names = [cell.strip() for cell in first]
    if len(names) <= 1 and asked.column is None and not asked.others:
        cell = first[0] if names else ""
        answer = is_report(cell) if cell.strip() else True  # a missing report is not a name
        if answer is False and cell.strip() != REPORT:
            msg = f"{name}: line 1 is neither a report nor a column name; repair it, or name the column with --column."
            raise DataFileError(msg)
        return [0], answer is not True
    wanted = [asked.column or (names[0] if len(names) == 1 else REPORT), *asked.others]
    if len(set(wanted)) < len(wanted):
        msg = "Expected --column, --by and --weights to be different columns; a group or a weight must not be private."
        raise InputError(msg)
    found = []
    for each in wanted:
        if names.count(each) != 1:
            there = ", ".join(shown(column) for column in names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
            problem = "has no column" if each not in names else "has several columns"
            msg = f"{name} {problem} {shown(each)}; its first line holds {there}. Name one with --column."
            raise DataFileError(msg)
        found.append(names.index(each))
    return found, True

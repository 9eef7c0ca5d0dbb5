"""Reports as they were collected: batches of cells from files of every format, with the place of every row.

CSV is read by Arrow, block by block; a block in which something is wrong is read again row by row, which names lines
and can set them aside as they came. Lines may be hostile: they are never shown.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError, InputError, shown
from bipartite.tables.blocks import (
    STANDARD_INPUT,
    are_text,
    count_lines,
    is_quoted_well,
    lines_of,
    name_of,
    parsed,
    rows_of,
    text_of,
    whole_lines,
)
from bipartite.tables.columns import PUBLIC
from bipartite.tables.envelopes import REPORT, OtherQuestionError, keyed
from bipartite.tables.extras import pa, unreadable
from bipartite.tables.formats import STDIO, unchanged
from bipartite.tables.plan import Plan
from bipartite.tables.reports import THERE, reports_of, tidied
from bipartite.tables.sources import Wanted, columns_of, open_rows
from bipartite.texts import RepeatedKeyError, read_json

if TYPE_CHECKING:
    import csv
    from collections.abc import Callable, Iterator, Sequence

    from bipartite.answers.estimation.reports import Missing
    from bipartite.mechanisms import Mechanism
    from bipartite.tables.envelopes import Envelopes
    from bipartite.tables.formats import Format

    Refuse = Callable[[str, str], None]
    """Gets what is wrong with a row, and its text; if it returns, the row does not count."""

STDIN: Final = Path(STDIO)
_NOT_A_NAME: Final = re.compile(r"[-+.0-9\[].*|nan|inf|infinity|na|n/a|null|none|true|false|", re.IGNORECASE)
_NO_TEXT: Final = (b"PAR1", b"ARROW1", b"\xff" * 4)  # the first bytes of Parquet and Arrow files, and of Arrow streams
_LINE_END: Final = re.compile(rb"\r\n?|\n")
_LONGEST: Final = 2**23  # bytes of a row within quotation marks; far more than any report
_NAMED: Final = 8  # columns named in an error


def raise_refusal(why: str, _: str) -> None:
    """Refuse a row with an error."""
    raise DataFileError(why)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is counted, and what happens to a row that cannot be."""

    mechanisms: dict[str | None, Mechanism]
    """By column; None for the only column, or the one that is called "report"."""
    by: str | None = None
    weights: str | None = None
    nulls: Missing = "drop"
    envelopes: Envelopes | None = None
    """What the envelopes of JSON lines must hold."""
    sample: int | None = None
    """The number of columns that each row reports, where the plan draws them; the others are null."""
    refuse: Refuse = raise_refusal
    progress: Callable[[int], None] = lambda _: None
    """Gets the number of rows of each batch."""

    @property
    def others(self) -> list[str]:
        """The public columns to read."""
        return [name for name in (self.by, self.weights) if name is not None]

    @property
    def names(self) -> list[str]:
        """The names of all columns to read."""
        return [*(name or REPORT for name in self.mechanisms), *self.others]


@dataclass(slots=True)
class Batch:
    """Some rows: their cells by column, and where they come from."""

    columns: list[pa.Array]
    place: Callable[[int], str] = str
    text: Callable[[int], str] = str
    """What came as a row, to be set aside."""
    again: Callable[[], Batch] | None = None
    """Reads the rows one by one, which is slow, and knows their places; None if they are known."""
    keys: list[tuple[bytes, bytes] | None] = field(default_factory=list)
    """The key of each row's envelope with a digest of its report; None if it has none."""

    def __len__(self) -> int:
        return len(self.columns[0])


def batches(file: Path, written: Format, asked: Asked) -> Iterator[Batch]:
    """The rows of a file, or of standard input."""
    check = unchanged([file])
    text = None if file == STDIN else file
    if not written.is_text:
        yield from _table(file, written, asked)
    elif written.kind == "jsonl":
        yield from _json(name_of(text), _blocks(text, written), asked)
    else:
        csv_rows = _Csv(name_of(text), written.delimiter, asked)
        yield from csv_rows.batches(_blocks(text, written, written.delimiter))
    check()


def _check_columns(source: str, there: Sequence[str], names: Sequence[str]) -> None:
    for each in names:
        if there.count(each) != 1:
            listed = ", ".join(map(shown, there[:_NAMED])) + (", …" if len(there) > _NAMED else "")
            problem = "several columns" if each in there else "no column"
            raise DataFileError(
                f"{source} has {problem} {shown(each)}; it has {listed}. Check the name, and that the specs are those "
                "of this file."
            )


# --- Parquet and Arrow


class _Columns(Plan):
    """A plan that only reads columns, unchanged."""

    def __init__(self, names: Sequence[str]) -> None:
        self._set(_columns=tuple((name, PUBLIC) for name in names), sample=None)


def _table(file: Path, written: Format, asked: Asked) -> Iterator[Batch]:
    first = 0
    try:
        _check_columns(str(file), columns_of([file], written)[0], asked.names)
        for part in open_rows([file], written, Wanted(_Columns(asked.names))).parts:
            rows = part.batch
            yield Batch(
                [rows.column(name) for name in asked.names], partial(_row, file, first), partial(_as_json, rows)
            )
            first += len(rows)
    except InputError as error:
        # The file is at fault, not the call.
        problem: BaseException = DataFileError(f"{file}: {error}")
    except (pa.ArrowException, OSError) as error:
        problem = unreadable(error, str(file), hint="it may be truncated or edited: request it again.")
    else:
        return
    raise problem


def _row(file: Path, first: int, row: int) -> str:
    return f"{file}: row {first + row + 1:,}"


def _as_json(rows: pa.RecordBatch, row: int) -> str:
    return json.dumps(rows.slice(row, 1).to_pylist()[0], default=str)


# --- Text


def _blocks(file: Path | None, written: Format, delimiter: str | None = None) -> Iterator[bytes]:
    """Blocks of whole lines; those of CSV end outside quotation marks, unless one never closes.

    A file whose last line has no line end may be truncated, even within a number, and is refused.
    """
    block = b""
    for block in whole_lines(_text(file, written), delimiter, name_of(file), _LONGEST):
        if not block.endswith((b"\n", b"\r")):
            raise DataFileError(
                f"{name_of(file)}: the last line has no line end: the file may be truncated; if it is complete, add "
                "one."
            )
        yield block
    if not block:
        raise DataFileError(f"{name_of(file)} is empty; it holds no reports.")


def _text(file: Path | None, written: Format) -> Iterator[bytes]:
    if file is None and sys.stdin is None:
        raise DataFileError("standard input is closed; pass the reports there, or name a file.")
    chunks = text_of(file, written)
    first = next(chunks, b"")
    if file is None and first.startswith(_NO_TEXT):
        raise DataFileError(
            f"{STANDARD_INPUT} is read as CSV, and this is not UTF-8 text; save Parquet or Arrow to a file, and name "
            "the file."
        )
    return itertools.chain([first], chunks)


class _Lines:
    """The rows of some lines of text, one by one."""

    def __init__(self, source: str, asked: Asked) -> None:
        self._source, self._asked = source, asked
        self._numbers: list[int] = []
        self._texts: list[str] = []
        self._keys: list[tuple[bytes, bytes] | None] = []
        self._columns: list[list[str | None]] = [[] for _ in asked.names]

    def add(self, line: int, cells: list[str], text: str, key: str | None = None) -> None:
        """Add a row."""
        if not are_text(cells):
            self._asked.refuse(f"{self._source}: line {line} is not UTF-8 text; repair or remove it.", text)
            return
        self._numbers.append(line)
        self._texts.append(text)
        count = len(self._asked.mechanisms)
        self._keys.append(None if key is None else keyed(key, cells[:count]))
        for at, (column, cell) in enumerate(zip(self._columns, cells, strict=True)):
            column.append(cell if at < count else cell.strip() or None)

    def batch(self) -> Batch:
        """The rows that were added."""
        columns = [pa.array(column, pa.string()) for column in self._columns]
        return Batch(columns, self._place, self._texts.__getitem__, keys=self._keys)

    def _place(self, row: int) -> str:
        return f"{self._source}: line {self._numbers[row]}"


def _json(source: str, blocks: Iterator[bytes], asked: Asked) -> Iterator[Batch]:
    """JSON lines; a name that a line after the first lacks is an empty cell."""
    line, begun = 0, False
    for block in blocks:
        lines = _Lines(source, asked)
        for text in lines_of(block):
            line += 1
            if text.isspace():
                continue
            place, key = f"{source}: line {line}", None
            try:
                held = _object(text)
                if asked.envelopes is not None:
                    held, key = asked.envelopes.open(held, place)
                missing = [] if begun else [each for each in asked.names if each not in held]
                if missing:
                    raise DataFileError(  # noqa: TRY301 (as any other line that is no report)
                        f"has no column {shown(missing[0])}; check the name, and that the specs are those of this file."
                    )
            except OtherQuestionError:
                raise
            except DataFileError as error:
                asked.refuse(f"{place} {error}", text)
                continue
            begun = True
            lines.add(line, [cell_of(held.get(each)) for each in asked.names], text, key)
        yield lines.batch()


def _object(line: str) -> dict[str, Any]:
    try:
        held = read_json(line)
    except (ValueError, RecursionError) as error:
        why = "has an object that repeats a key" if isinstance(error, RepeatedKeyError) else "is not a JSON object"
    else:
        if isinstance(held, dict):
            return held
        why = "is not a JSON object"
    raise DataFileError(f"{why}; repair or remove it.")


def cell_of(value: object) -> str:
    """A JSON value as the cell of a table."""
    if isinstance(value, str):
        return value
    return "" if value is None else str(value) if type(value) is int else json.dumps(value)


def _is_header(mechanism: Mechanism, cell: str) -> bool | None:
    """Whether a cell is the name of a column; None if it is neither that nor a report."""
    try:
        if reports_of(mechanism).look_up(pa.array([cell]))[1][0] == THERE:
            return False
        name = cell.strip()
    except UnicodeEncodeError:  # not valid UTF-8
        return None
    # Where reports are labels, a name may be a label with a slip.
    labels = () if mechanism.flat else mechanism.report_labels or ()
    may_be = name == REPORT if any(isinstance(each, str) for each in labels) else not _NOT_A_NAME.fullmatch(name)
    return True if may_be else None


class _Csv:
    """The rows of a CSV file."""

    def __init__(self, source: str, delimiter: str, asked: Asked) -> None:
        self._source, self._delimiter, self._asked = source, delimiter, asked
        self._places: list[int] = []
        self._width = 0

    def batches(self, blocks: Iterator[bytes]) -> Iterator[Batch]:
        """The rows of each block."""
        line = 1
        for block in blocks:
            skipped = 0 if self._width else self._begin(block, line)
            ends = (each.end() for each in itertools.islice(_LINE_END.finditer(block), skipped))
            rest = block[max(ends, default=0) :]
            if rest:
                yield self._batch(rest, line + skipped)
            line += count_lines(block)

    def _begin(self, block: bytes, line: int) -> int:
        """Find the columns; return how many lines come before the reports."""
        for last, cells, text in self._rows(block, line):
            self._width = max(1, len(cells))  # an empty line is an empty cell
            return last - line + self._is_header(cells, f"line {last}", text)
        return count_lines(block)

    def _is_header(self, first: list[str], place: str, text: str) -> bool:
        """Find the columns; whether the first row is not one of reports."""
        reports, others = list(self._asked.mechanisms), self._asked.others
        names = [cell.strip() for cell in first]
        self._places = [0]
        if len(names) <= 1 and reports == [None] and not others:
            cell = first[0] if names else ""
            answer = (
                _is_header(self._asked.mechanisms[None], cell) if cell.strip() else False
            )  # a missing report is not a name
            if answer is None:
                why = "is neither a report nor a column name; repair it, or name the column with column=."
                self._asked.refuse(f"{self._source}: {place} {why}", text)
            return answer is not False
        wanted = [names[0] if each is None and len(names) == 1 else each or REPORT for each in reports]
        _check_columns(self._source, names, [*wanted, *others])
        self._places = [names.index(each) for each in (*wanted, *others)]
        return True

    def _rows(self, block: bytes, line: int) -> Iterator[tuple[int, list[str], str]]:
        """(the line on which it ends, its cells, its text) of every row; lines that cannot be split are refused."""

        def refuse(at: int, error: csv.Error, text: str) -> None:
            self._asked.refuse(f"{self._source}: line {at} cannot be read as CSV ({error}); repair or remove it.", text)

        for _, last, cells, text in rows_of(block, line, self._delimiter, refuse):
            yield last, cells, text

    def _batch(self, block: bytes, line: int) -> Batch:
        again = partial(self._by_row, block, line)
        if not is_quoted_well(block, self._delimiter):
            return again()
        try:
            return Batch(self._parsed(block), again=again)
        except pa.ArrowInvalid:  # a line is wrong
            return again()

    def _by_row(self, block: bytes, line: int) -> Batch:
        lines = _Lines(self._source, self._asked)
        for number, row, text in self._rows(block, line):
            cells = row or [""] * (self._width == 1)
            if len(cells) == self._width:
                lines.add(number, [cells[at] for at in self._places], text)
            else:
                why = f"line {number} has {len(row)} cells instead of {self._width}; repair or remove it."
                self._asked.refuse(f"{self._source}: {why}", text)
        return lines.batch()

    def _parsed(self, block: bytes) -> list[pa.Array]:
        encoded, reports = pa.dictionary(pa.int32(), pa.string()), self._asked.mechanisms.values()
        kinds = [pa.string() if each.flat else encoded for each in reports]  # few of a flat one's cells are equal
        types = dict(zip(self._places, [*kinds, *[encoded] * len(self._asked.others)], strict=True))
        found = parsed(block, self._delimiter, self._width, types, blank_lines=True)
        others = found[len(reports) :]
        trimmed = [pa.DictionaryArray.from_arrays(each.indices, tidied(each.dictionary)) for each in others]
        return [*found[: len(reports)], *trimmed]

"""Text input as blocks of whole lines, for files, compressed files, other encodings and standard input, and their rows.

A block ends where a line ends outside quotation marks, so each can be parsed alone, and a slow pipe gives its lines as
they come. Arrow does not notice a quotation mark that never closes, which swallows all rows after it: that is refused
here. Tables to release and collected reports are read by the same functions: they differ in what they do about a row
that is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import json
import re
import select
import sys
from json.decoder import scanstring  # type: ignore[attr-defined]  # C or Python, as json has it
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from bipartite.errors import DataFileError, InputError
from bipartite.tables.extras import pa, pa_csv
from bipartite.tables.formats import UTF8
from bipartite.tables.streams import POLL_SECONDS, check_wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from bipartite.tables.formats import Format

STANDARD_INPUT: Final = "standard input"
BLOCK: Final = 2**22
"""Bytes that are read at once."""
LONGEST: Final = 2**26
"""The most bytes of one line."""
_QUOTE: Final = ord('"')


def name_of(file: Path | None) -> str:
    """How errors name a file, or standard input if there is none."""
    return STANDARD_INPUT if file is None else str(file)


def text_of(file: Path | None, written: Format) -> Iterator[bytes]:
    """The text of a file, or of standard input, in UTF-8 and as it comes."""
    chunks = StandardInput().chunks() if file is None else chunks_of(file, written.compression)
    return as_utf8(chunks, written, name_of(file))


def blocks_of(file: Path | None, written: Format, delimiter: str | None = None) -> Iterator[bytes]:
    """The :func:`whole_lines` of a file, or of standard input."""
    return whole_lines(text_of(file, written), delimiter, name_of(file))


def chunks_of(file: Path, compression: str | None) -> Iterator[bytes]:
    """The decompressed bytes of a file."""
    with file.open("rb", buffering=0) as raw:
        stream: Any = raw
        if compression is not None:
            stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)
        try:
            while chunk := bytes(stream.read(BLOCK)):
                yield chunk
        except OSError:
            if compression is None:
                raise
            raise DataFileError(
                f"{file} cannot be decompressed; it may be truncated, or not of the kind its name suggests."
            ) from None


class StandardInput(io.RawIOBase):
    """Standard input, unbuffered: Python's buffer would wait for more than there is, and a thread in it abort an exit.

    Whoever waits here in a thread of :func:`~bipartite.tables.streams.ahead` is let go when its consumer has stopped.
    """

    def __init__(self) -> None:
        self._raw: Any = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, held: Any) -> int:  # noqa: ANN401 (any buffer)
        """Wait for bytes and read those that are there."""
        while not self._is_ready(POLL_SECONDS):
            check_wanted()
        return int(self._raw.readinto(held) or 0)

    def _is_ready(self, seconds: float) -> bool:
        try:
            return bool(select.select([self._raw], [], [], seconds)[0])
        except (OSError, ValueError, TypeError):  # not a file of this system
            return seconds > 0

    def chunks(self) -> Iterator[bytes]:
        """What is there, at most a block at a time."""
        while chunk := self.read(BLOCK):
            parts = [chunk]
            size = len(chunk)
            # Pipes give 64 KiB at a time: take what is there, but do not wait.
            while size < BLOCK and self._is_ready(0) and (chunk := self.read(BLOCK - size)):
                parts.append(chunk)
                size += len(chunk)
            yield b"".join(parts)


def as_utf8(chunks: Iterator[bytes], written: Format, source: str) -> Iterator[bytes]:
    """The same text in UTF-8, without a byte order mark."""
    if written.encoding == UTF8:
        first = next(chunks, b"")
        # Only what may begin a mark waits for more: a slow pipe is answered line by line.
        while len(first) < len(codecs.BOM_UTF8) and codecs.BOM_UTF8.startswith(first) and (more := next(chunks, b"")):
            first += more
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from chunks
        return
    decoder = _decoder(written.encoding)
    line = 1
    marks, wrong = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), None
    for at, chunk in enumerate(itertools.chain(chunks, [b""])):  # only the end is empty
        if chunk and not at and written.encoding == "utf-16" and not chunk.startswith(marks):
            raise DataFileError(f"{source} does not start with the byte order mark of UTF-16; save it with one.")
        try:
            encoded = decoder.decode(chunk, final=not chunk).encode()
        except UnicodeError as error:  # or halves of surrogate pairs, which no UTF-8 has
            wrong = line + count_lines(chunk[: getattr(error, "start", 0)])
        if wrong is not None:  # outside the handler, whose error holds the bytes
            raise not_text(wrong, source, written.encoding)
        line += count_lines(encoded)
        yield encoded


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    try:
        "".encode(encoding)  # only encodings of text
        return codecs.getincrementaldecoder(encoding)()
    except (LookupError, UnicodeError):
        raise InputError(
            f"Expected encoding= as the name of an encoding, such as utf-8, utf-16 or latin-1, got {encoding!r}; "
            "convert the file first."
        ) from None


def not_text(line: int, source: str, encoding: str = UTF8) -> DataFileError:
    """The error for bytes that are not text of an encoding."""
    where = "the first line" if line == 1 else f"line {line:,}"
    return DataFileError(
        f"{where} of {source} is not {encoding.upper()} text; save it as UTF-8, or, for CSV, name its encoding with "
        "encoding=."
    )


def check_text(block: bytes, first_line: int, source: str) -> None:
    """Refuse a block that is not UTF-8."""
    wrong = None
    try:
        block.decode()
    except UnicodeDecodeError as error:
        wrong = first_line + count_lines(block[: error.start])
    if wrong is not None:  # outside the handler, whose error holds the bytes
        raise not_text(wrong, source)


def whole_lines(
    chunks: Iterator[bytes], delimiter: str | None, source: str, most_quoted: int | None = None
) -> Iterator[bytes]:
    """Blocks of UTF-8 text that end where a line ends, the last perhaps without a line ending.

    Line endings within quotation marks end no line of CSV; ``delimiter`` is None for other text. A quotation mark that
    never closes is refused; with ``most_quoted``, one that is open for so many bytes does not count.
    """
    before_a_cell = None if delimiter is None else frozenset(b"\r\n" + delimiter.encode())
    held, end = b"", b""
    for chunk in chunks:
        held += chunk
        if not end:
            end = _line_end(held)
        cut = last_line_end(held, end, before_a_cell) if end else 0
        if not cut and end and most_quoted is not None and len(held) >= most_quoted:
            cut = last_line_end(held, end, None)
        if cut:
            yield held[:cut]
            held = held[cut:]
        if len(held) > LONGEST:
            raise DataFileError(
                f"{source} has a line of more than {LONGEST:,} bytes; shorten it, or close a quotation mark."
            )
    if most_quoted is None and before_a_cell is not None and opening(held, len(held), before_a_cell) >= 0:
        raise DataFileError(f"{source} has an unclosed quotation mark; close it.")
    if most_quoted is not None and held.endswith((b"\n", b"\r")):
        cut = last_line_end(held, held[-1:], before_a_cell)
        if cut:  # what is in front of an open quotation mark is read alone
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _line_end(text: bytes) -> bytes:
    """The byte that ends lines: a line feed, unless the first line ends with a carriage return alone."""
    at = text.find(b"\r")
    if at < 0 or 0 <= text.find(b"\n") < at:
        return b"\n" if b"\n" in text else b""
    if at + 1 == len(text):
        return b""  # a line feed may follow
    return b"\n" if text[at + 1 : at + 2] == b"\n" else b"\r"


def last_line_end(text: bytes, end: bytes, before_a_cell: frozenset[int] | None) -> int:
    """The number of bytes up to the last line ending outside quotation marks; 0 if there is none."""
    # A line feed may follow the last carriage return, and would be a line of its own.
    at = text.rfind(end, 0, len(text) - (end == b"\r"))
    if before_a_cell is not None and b'"' in text:
        while at >= 0 and (mark := opening(text, at, before_a_cell)) >= 0:
            at = text.rfind(end, 0, mark)
    return at + 2 if end == b"\r" and at >= 0 and text[at + 1 : at + 2] == b"\n" else at + 1


def count_lines(block: bytes) -> int:
    """The number of line endings of any kind."""
    return block.count(b"\n") + (block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0)


def opening(text: bytes, end: int, before_a_cell: frozenset[int]) -> int:
    """The place of the quotation mark that is open at ``end``; −1 if none is.

    A run of quotation marks opens or closes a cell if its length is odd; pairs are marks within a cell. An odd run at
    the start of a cell opens it, or closes a cell whose last letter looks like a delimiter: either way it toggles. Any
    other odd run closes a cell, or lies within one that was never opened: either way what follows is outside. So only
    what follows the last of those matters, and text is scanned from its end.
    """
    changes, nearest = 0, -1
    while (last := text.rfind(b'"', 0, end)) >= 0:
        end = last
        while end and text[end - 1] == _QUOTE:
            end -= 1
        if (last - end) % 2:
            continue
        if end and text[end - 1] not in before_a_cell:
            break
        changes += 1
        nearest = last if nearest < 0 else nearest
    return nearest if changes % 2 else -1


def is_quoted_well(block: bytes, delimiter: str) -> bool:
    """Whether quotation marks enclose whole cells, and are doubled within; Arrow also reads others, as it likes."""
    if b'"' not in block:
        return True
    text = np.frombuffer(block, dtype=np.uint8)
    marks = np.flatnonzero(text == ord('"'))
    beside = np.zeros(256, dtype=np.bool_)
    beside[list(f'\r\n"{delimiter}'.encode())] = True
    # If all is well so far, every other mark opens a cell, or is the second of a pair. A block ends with a line end.
    before, after = text[marks[::2] - 1], text[(marks[1::2] + 1) % len(text)]
    return len(marks) % 2 == 0 and bool(beside[before].all() and beside[after].all())


def misplaced_mark(block: bytes, delimiter: str) -> int:
    """Where a quotation mark stands after blanks, or before more than the end of a cell; −1 if none does.

    Arrow takes it for a letter, and where an earlier mark was never closed, the rows up to it would be lost. Marks
    within a bare cell are letters.
    """
    if is_quoted_well(block, delimiter):
        return -1
    around = re.escape(f"\r\n{delimiter}")
    blanks = " \t".replace(delimiter, "")
    cells = rf'(?:\A|(?<=[{around}]))(?:([{blanks}]+")|"[^"]*+(?:""[^"]*+)*+"([^{around}])?)'
    return next((found.end() for found in re.finditer(cells.encode(), block) if found.lastindex), -1)


def split_header(block: bytes, written: Format, source: str) -> tuple[list[str], int]:
    """(the names in the first line of CSV, the number of its bytes), from the first block."""
    text = block.decode(errors="surrogateescape")
    lines = io.StringIO(text, newline="")
    try:
        names = next(csv.reader(lines, delimiter=written.delimiter, strict=True), [])
    except csv.Error:
        raise DataFileError(
            f"{source}: the first line cannot be split into cells at {written.delimiter!r}; name the delimiter with "
            "delimiter=, or repair its quotation marks."
        ) from None
    if not names:
        raise DataFileError(f"{source} is empty or has no header line; add one.")
    if any("\udc80" <= letter <= "\udcff" for name in names for letter in name):  # bytes that were no text
        raise not_text(1, source)
    # Without a header this line is a person's row, so none of it is shown.
    doubled = [at for at, name in enumerate(names, start=1) if names.count(name) > 1]
    if doubled or "" in names:
        what = "a column without a name"
        if "" not in names:
            what = f"one column more than once (numbers {', '.join(map(str, doubled))} of {len(names)})"
        raise DataFileError(f"{source}: the first line names {what}; rename them, or add a header line.")
    return names, len(text[: lines.tell()].encode())


def parsed(
    block: bytes,
    delimiter: str,
    width: int,
    types: Mapping[int, pa.DataType],
    *,
    skipped: list[object] | None = None,
    blank_lines: bool = False,
) -> list[pa.Array]:
    """The columns at some places of a block of CSV, as Arrow reads them in these types.

    Raises ArrowInvalid where a cell is not of its type, or a line has another number of cells than ``width``, unless
    ``skipped`` is there to get such lines. Lines without cells are left out unless ``blank_lines``; in one column, each
    is an empty cell.
    """
    columns = [f"c{at}" for at in range(width)]

    def skip(row: object) -> str:
        if skipped is not None:
            skipped.append(row)
        return "skip"

    # Arrow drops a byte order mark at the start of every block, where it is a letter of a cell.
    mark = codecs.BOM_UTF8 if block.startswith(codecs.BOM_UTF8) else b""
    table = pa_csv.read_csv(
        pa.BufferReader(mark + block),
        read_options=pa_csv.ReadOptions(column_names=columns, block_size=len(mark + block) + 1),
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=b'"' in block,
            ignore_empty_lines=width > 1 and not blank_lines,
            invalid_row_handler=None if skipped is None else skip,
        ),
        convert_options=pa_csv.ConvertOptions(
            include_columns=[columns[at] for at in types],
            column_types={columns[at]: kind for at, kind in types.items()},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    return [each.chunk(0) if each.num_chunks == 1 else each.combine_chunks() for each in table.columns]


def rows_of(
    block: bytes, first_line: int, delimiter: str, refuse: Callable[[int, csv.Error, str], None]
) -> Iterator[tuple[int, int, list[str], str]]:
    """(its first line, its last one, its cells, its text) of every row; ``refuse`` gets those without cells."""
    latest: list[str] = []

    def watched() -> Iterator[str]:
        for each in lines_of(block):
            latest.append(each)
            yield each

    reader = csv.reader(watched(), strict=True, delimiter=delimiter)
    while True:
        latest.clear()
        first = first_line + reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            refuse(first, error, "".join(latest))
            continue
        yield first, first_line + reader.line_num - 1, cells, "".join(latest)


def lines_of(block: bytes) -> Iterator[str]:
    """The lines of a block; what is not UTF-8 is refused later, in the cells that are read."""
    return io.StringIO(block.decode(errors="surrogateescape"), newline="")


def are_text(cells: Iterable[str]) -> bool:
    """Whether cells are letters throughout: neither bytes that are not UTF-8, nor half of a surrogate pair."""
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return False
    return True


# --- JSON lines: the values of each object, as text or as the JSON that they were written in.


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are not JSON


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


_KEY = re.compile(r'[{,][ \t]*"')
_COLON = re.compile(r"[ \t]*:[ \t]*")
_END = re.compile(r"[ \t]*(?=[,}])")


class _WrongLineError(ValueError):
    """What is wrong with a line."""


class JsonLines:
    """The objects of an input of JSON lines, block by block."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._line = 0

    def keys(self, block: bytes) -> list[str]:
        """The keys of the objects in the first block, in the order in which they first appear."""
        found = list(dict.fromkeys(key for row in self._rows(block) for key in row))
        self._line = 0
        return found

    def cells(self, block: bytes, names: Sequence[str], kept: Sequence[str]) -> list[pa.Array]:
        """A column of text for each name; missing keys are null, and columns of ``kept`` hold JSON."""
        columns: dict[str, list[str | None]] = {name: [] for name in names}
        for row in self._rows(block):
            for name, column in columns.items():
                value, written = row.get(name, (None, None))
                column.append(written if name in kept or (not isinstance(value, str) and value is not None) else value)
        return [pa.array(column, pa.string()) for column in columns.values()]

    def _rows(self, block: bytes) -> Iterator[dict[str, tuple[Any, str]]]:
        """Each object as (value, the JSON that it was written in) by key."""
        why = None
        for line in block.splitlines():
            self._line += 1
            if not line.strip():
                continue
            try:
                yield _object(line.decode())
            except _WrongLineError as error:
                why = str(error)
            except UnicodeError:
                why = "is not UTF-8 text"
            except (ValueError, RecursionError, IndexError):
                why = "is not valid JSON"
            if why is not None:
                raise DataFileError(f"line {self._line:,} of {self.source} {why}; repair it.")


def _object(line: str) -> dict[str, tuple[Any, str]]:
    """The values of a JSON object by key, each with the text that it was written in."""
    line = line.strip(" \t\r")
    if not line.startswith("{"):
        _DECODER.decode(line)
        raise _WrongLineError("is not a JSON object")
    found: dict[str, tuple[Any, str]] = {}
    at = 0 if line[1:].lstrip(" \t") != "}" else len(line) - 1
    while line[at] != "}" or at + 1 < len(line):
        key, at = scanstring(line, _past(_KEY, line, at), True)  # noqa: FBT003 (as json calls it)
        start = _past(_COLON, line, at)
        value, at = _DECODER.raw_decode(line, start)
        f"{key}{value if isinstance(value, str) else ''}".encode()  # half of a surrogate pair is no letter
        if key in found:
            raise _WrongLineError("repeats a key")
        found[key] = (value, line[start:at])
        at = _past(_END, line, at)
    return found


def _past(pattern: re.Pattern[str], line: str, at: int) -> int:
    """The place after what must come next."""
    found = pattern.match(line, at)
    if found is None:
        raise ValueError
    return found.end()

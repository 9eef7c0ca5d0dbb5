"""Text input as blocks of whole lines: one way for files, compressed files, other encodings and standard input.

A block ends where a line ends outside quotation marks, so each can be parsed alone, and a slow pipe gives its lines as
they come. Arrow does not notice a quotation mark that never closes, which swallows all rows after it: that is refused
here.
"""

from __future__ import annotations

import codecs
import csv
import io
import select
import sys
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError, InputError
from bipartite.tables.ahead import POLL_SECONDS, check_wanted
from bipartite.tables.extras import pa
from bipartite.tables.formats import UTF8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bipartite.tables.formats import Format

BLOCK: Final = 2**22
"""Bytes that are read at once."""
LONGEST: Final = 2**26
"""The most bytes of one line."""
_QUOTE: Final = ord('"')


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

    Whoever waits here in a thread of :func:`~bipartite.tables.ahead.ahead` is let go when its consumer has stopped.
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
    for at, chunk in enumerate(chunks):
        if not at and written.encoding == "utf-16" and not chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataFileError(f"{source} does not start with the byte order mark of UTF-16; save it with one.")
        text = _decoded(decoder, chunk, line, written, source)
        line += text.count("\n")
        yield text.encode()
    yield _decoded(decoder, b"", line, written, source, final=True).encode()


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    try:
        "".encode(encoding)  # only encodings of text
        return codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise InputError(
            f"Expected encoding= as the name of an encoding, such as utf-8, utf-16 or latin-1, got {encoding!r}; "
            "convert the file first."
        ) from None


def _decoded(
    decoder: codecs.IncrementalDecoder, chunk: bytes, line: int, written: Format, source: str, *, final: bool = False
) -> str:
    try:
        return decoder.decode(chunk, final)
    except UnicodeDecodeError as error:
        line += chunk[: error.start].count(b"\n")
    raise not_text(line, source, written.encoding)


def not_text(line: int, source: str, encoding: str = UTF8) -> DataFileError:
    """The error for bytes that are not text of an encoding."""
    where = "the first line" if line == 1 else f"line {line:,}"
    return DataFileError(
        f"{where} of {source} is not {encoding.upper()} text; save it as UTF-8, or, for CSV, name its encoding with "
        "encoding=."
    )


def whole_lines(chunks: Iterator[bytes], delimiter: str | None, source: str) -> Iterator[bytes]:
    """Blocks of UTF-8 text that end where a line ends, the last perhaps without a line ending.

    Line endings within quotation marks end no line of CSV; ``delimiter`` is None for other text.
    """
    before_a_cell = None if delimiter is None else frozenset(b"\r\n" + delimiter.encode())
    held, end = b"", b""
    for chunk in chunks:
        held += chunk
        if not end:
            end = _line_end(held)
        cut = last_line_end(held, end, before_a_cell) if end else 0
        if cut:
            yield held[:cut]
            held = held[cut:]
        if len(held) > LONGEST:
            raise DataFileError(
                f"{source} has a line of more than {LONGEST:,} bytes; shorten it, or close a quotation mark."
            )
    if before_a_cell is not None and opening(held, len(held), before_a_cell) >= 0:
        raise DataFileError(f"{source} has an unclosed quotation mark; close it.")
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
    at = text.rfind(end)
    if before_a_cell is not None and b'"' in text:
        while at >= 0 and (mark := opening(text, at, before_a_cell)) >= 0:
            at = text.rfind(end, 0, mark)
    return at + 1


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


def split_header(block: bytes, written: Format, source: str) -> tuple[list[str], int]:
    """(the names in the first line of CSV, the number of its bytes), from the first block."""
    text = block.decode(errors="replace")
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
    if any("\ufffd" in name for name in names):
        raise not_text(1, source)
    # Without a header this line is a person's row, so none of it is shown.
    doubled = [at for at, name in enumerate(names, start=1) if names.count(name) > 1]
    if doubled or "" in names:
        what = "a column without a name"
        if "" not in names:
            what = f"one column more than once (numbers {', '.join(map(str, doubled))} of {len(names)})"
        raise DataFileError(f"{source}: the first line names {what}; rename them, or add a header line.")
    return names, len(text[: lines.tell()].encode())

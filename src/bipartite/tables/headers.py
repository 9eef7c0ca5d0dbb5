"""Headers of CSV files: the names of their columns."""

from __future__ import annotations

import codecs
import csv
import io
import re
from typing import TYPE_CHECKING, Final

from bipartite.errors import DataFileError, InputError
from bipartite.tables.formats import ENCODINGS
from bipartite.tables.streams import blocks_of

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.tables.formats import Format

_MOST: Final = 2**20
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def header_of(path: Path, written: Format) -> list[str]:
    """The names of the columns of a CSV file."""
    start = next(blocks_of(path, written.compression, _MOST), b"")
    return parse_header(start, written, str(path))


def parse_header(start: bytes, written: Format, source: str) -> list[str]:
    """The names of the columns from the first bytes of a CSV file."""
    if written.encoding == "utf-16" and not start.startswith(codecs.BOM_UTF16_LE):
        raise DataFileError(
            f"{source} does not start with the byte order mark of little-endian UTF-16; save it with one, or as UTF-8."
        )
    encoding = ENCODINGS.get(written.encoding, written.encoding)
    try:
        # A letter cut in two lies after the first line.
        text = start.decode(encoding, errors="ignore" if len(start) == _MOST else "strict")
    except LookupError:
        raise InputError(
            f"Expected encoding= as one of {', '.join(ENCODINGS)}, got {written.encoding!r}; convert the file first."
        ) from None
    except UnicodeDecodeError as error:
        text = start[: error.start].decode(encoding) if b"\n" in start[: error.start] else ""
        if not text:
            raise DataFileError(
                f"{source}: the first line is not {written.encoding.upper()} text; name its encoding with encoding=."
            ) from None
    return split_header(text, written, source)


def split_header(text: str, written: Format, source: str) -> list[str]:
    """The names of the columns from the first line of a CSV file, or more of it."""
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
    if len(set(_LINE_END.findall(text[: lines.tell()]))) > 1:
        # DuckDB takes the first line end, quoted or not, for that of all lines, and would find no rows.
        raise DataFileError(
            f"{source}: a name in the first line holds another kind of line end than ends that line; rename it."
        )
    # Without a header this line is a person's row, so none of it is shown.
    doubled = [at for at, name in enumerate(names, start=1) if names.count(name) > 1]
    if doubled or "" in names:
        what = "a column without a name"
        if "" not in names:
            what = f"one column more than once (numbers {', '.join(map(str, doubled))} of {len(names)})"
        raise DataFileError(f"{source}: the first line names {what}; rename them, or add a header line.")
    return names

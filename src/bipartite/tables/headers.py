"""The first line of CSV files: the names of their columns."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError
from bipartite.tables.extras import need

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.tables.formats import Format

_MOST: Final = 2**20


def header_of(path: Path, written: Format) -> list[str]:
    """The names of the columns of a CSV file."""
    pa = need("pyarrow")
    with path.open("rb") as file:
        stream: Any = file
        if written.compression is not None:
            stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), written.compression)
        try:
            start = stream.read(_MOST)
        except OSError:
            msg = f"{path} cannot be decompressed; it may be cut off, or of another kind than its name says."
            raise DataFileError(msg) from None
    return parse_header(bytes(start), written, str(path))


def parse_header(start: bytes, written: Format, source: str) -> list[str]:
    """The names of the columns from the first bytes of a CSV file."""
    try:
        # A cut within a letter lies behind the first line.
        text = start.decode("utf-8-sig", errors="ignore" if len(start) == _MOST else "strict")
    except UnicodeDecodeError as error:
        if b"\n" not in start[: error.start]:
            msg = f"{source}: the first line is not UTF-8 text; save the file as UTF-8."
            raise DataFileError(msg) from None
        text = start[: error.start].decode("utf-8-sig")
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=written.delimiter, strict=True), [])
    except csv.Error:
        names = []
    if not names:
        msg = f"{source} is empty or has no first line that names its columns; add one."
        raise DataFileError(msg)
    # Where a file has no line of names, this is a person's row: nothing of it is shown.
    doubled = [at for at, name in enumerate(names, start=1) if names.count(name) > 1]
    if doubled or "" in names:
        what = "a column without a name"
        if "" not in names:
            what = f"one column more than once (numbers {', '.join(map(str, doubled))} of {len(names)})"
        msg = f"{source}: the first line names {what}; rename them, or add a line of names."
        raise DataFileError(msg)
    return names

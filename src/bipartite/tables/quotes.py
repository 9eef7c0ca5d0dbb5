"""Quotation marks in CSV: whether there are any, and whether one is unclosed at the end.

DuckDB can read a CSV file in parallel, from several positions. If it starts between two quotation marks it may take
lines inside a cell for rows, and a column that the plan does not name may be released as a public one. So only files
without quotation marks are read in parallel. In all others, read from start to end, DuckDB does not notice an unclosed
quotation mark, which swallows the rows after it; that is detected here.
"""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bipartite.errors import DataFileError
from bipartite.tables.formats import UTF8
from bipartite.tables.streams import blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.tables.formats import File, Format

_BLOCK: Final = 2**22
_MARK: Final = ord('"')
_SPACE: Final = ord(" ")


class Quotes:
    """Follows CSV text block by block.

    A run of quotation marks opens or closes a cell if its length is odd; pairs are marks within a cell. An odd run at
    the start of a cell opens it, or closes a cell whose last letter looks like a delimiter: either way it toggles. Any
    other odd run closes a cell, or lies within one that was never opened: either way what follows is outside. So only
    what follows the last of those matters, and a block is scanned from its end.
    """

    def __init__(self, written: Format) -> None:
        self._before_a_cell = frozenset(b"\r\n" + written.delimiter.encode())
        # UTF-8 and Latin-1 encode marks, spaces and line endings as ASCII does.
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace") if written.encoding == "utf-16" else None
        # The last byte that is neither a mark nor a space, and what follows it: a run of marks may continue in the next
        # block.
        self._held = b"\n"
        self._inside = False
        self.any = False
        """Whether there was a quotation mark."""

    def take(self, block: bytes) -> None:
        """Read the next block."""
        text = self._held + (block if self._decoder is None else self._decoder.decode(block).encode(UTF8, "replace"))
        self.any = self.any or b'"' in text
        end = len(text.rstrip(b'" '))
        self._held = text[end - 1 :]
        self._inside = self._after(text, end)

    @property
    def is_open(self) -> bool:
        """Whether the text so far ends inside quotation marks."""
        return self._after(self._held, len(self._held))

    def _after(self, text: bytes, end: int) -> bool:
        changes = 0
        while (last := text.rfind(b'"', 0, end)) >= 0:
            end = last
            while text[end - 1] == _MARK:
                end -= 1
            if (last - end) % 2:
                continue
            before = end - 1
            while text[before] == _SPACE and _SPACE not in self._before_a_cell:
                before -= 1
            if text[before] not in self._before_a_cell:
                return changes % 2 == 1
            changes += 1
        return self._inside ^ (changes % 2 == 1)

    def check_closed(self, source: object) -> None:
        """Refuse text that ends inside quotation marks."""
        if self.is_open:
            raise DataFileError(f"{source} has an unclosed quotation mark; close it.")


def may_be_split(files: Sequence[File], written: Format) -> bool:
    """Whether CSV files may be read in parallel: they are local, and hold no quotation mark.

    A file with an unclosed quotation mark is refused.
    """
    splittable = True
    for file in files:
        if not isinstance(file, Path):
            splittable = False
            continue
        quotes = Quotes(written)
        for block in blocks_of(file, written.compression, _BLOCK):
            quotes.take(block)
        quotes.check_closed(file)
        splittable = splittable and not quotes.any
    return splittable


def may_hold_blank_lines(files: Sequence[File], written: Format) -> bool:
    """Whether a line of a local text file may be blank."""
    if written.encoding == "utf-16":
        return True
    for file in (each for each in files if isinstance(each, Path)):
        last = b""
        for block in blocks_of(file, written.compression, _BLOCK):
            if any(pair in last + block for pair in (b"\n\n", b"\n\r", b"\r\r")):
                return True
            last = block[-1:]
    return False

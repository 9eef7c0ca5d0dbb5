"""Quotation marks in CSV: whether there are any, and whether one is still open at the end.

DuckDB can read a CSV file from several places at once. Where it begins between two quotation marks it may take lines
inside a cell for rows, and a column that nobody named comes out as one that is public. So that is done only with files
that hold no quotation mark. All others are read from the beginning to the end; what DuckDB then does not notice is a
mark that is never closed, which swallows the rows behind it. That is found here.
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
    """Follows a CSV text block by block.

    A run of marks is an opening or closing one where its length is odd; in pairs they stand for marks within a cell.
    An odd run at the beginning of a cell opens it, or closes one whose last letter looks like such a place: either way
    it changes sides. Any other odd run closes a cell, or stands within one that was never opened: outside either way.
    So only what follows the last of those matters, and a block is read from its end.
    """

    def __init__(self, written: Format) -> None:
        self._before_a_cell = frozenset(b"\r\n" + written.delimiter.encode())
        # UTF-8 and Latin-1 write marks, spaces and ends of lines as ASCII does.
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace") if written.encoding == "utf-16" else None
        # The last byte that is neither a mark nor a space, and what follows it: a run of marks may go on in the next
        # block.
        self._held = b"\n"
        self._inside = False
        self.any = False
        """Whether there was a quotation mark."""

    def take(self, block: bytes) -> None:
        """Read on."""
        text = self._held + (block if self._decoder is None else self._decoder.decode(block).encode(UTF8, "replace"))
        self.any = self.any or b'"' in text
        end = len(text.rstrip(b'" '))
        self._held = text[end - 1 :]
        self._inside = self._after(text, end)

    @property
    def is_open(self) -> bool:
        """Whether the text so far ends between quotation marks."""
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
        """Refuse a text that ends between quotation marks."""
        if self.is_open:
            msg = f"{source} has a quotation mark that is never closed; close it."
            raise DataFileError(msg)


def may_be_split(files: Sequence[File], written: Format) -> bool:
    """Whether CSV files may be read from several places at once: they are here, and hold no quotation mark.

    A file in which a quotation mark does not end is refused.
    """
    bare = True
    for file in files:
        if not isinstance(file, Path):
            bare = False
            continue
        quotes = Quotes(written)
        for block in blocks_of(file, written.compression, _BLOCK):
            quotes.take(block)
        quotes.check_closed(file)
        bare = bare and not quotes.any
    return bare

"""Tables as text: aligned columns for people, CSV for programs, and both for notebooks."""

from __future__ import annotations

import csv
import html
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width: the first to the left, the others to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def as_csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Rows under the names of their columns; None is an empty cell, and floats are written so that they read back."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return written.getvalue()


def in_notebooks(words: str, picture: str = "") -> str:
    """What a notebook shows: a picture, and below it the words as they are printed."""
    return f'{picture}<pre style="white-space: pre-wrap">{html.escape(words)}</pre>'

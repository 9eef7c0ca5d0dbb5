"""Tables as text: aligned columns for people, CSV for programs, HTML for notebooks."""

from __future__ import annotations

import csv
import html
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Pad the columns to equal width: the first left-aligned, the others right-aligned."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def as_csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a header and rows as CSV; None becomes an empty cell, and floats survive a round trip."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return written.getvalue()


def in_notebooks(text: str, picture: str = "") -> str:
    """HTML for a notebook: a picture, and below it the text as it is printed."""
    return f'{picture}<pre style="white-space: pre-wrap">{html.escape(text)}</pre>'

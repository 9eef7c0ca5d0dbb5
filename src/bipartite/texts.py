"""Text: names as they may be printed, aligned columns, HTML for notebooks, CSV, and JSON that says all once."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

_CONSOLE: Final = 120  # characters of a line
_LARGE, _SMALL = 1e15, 1e-4  # beyond these, numbers are written with an exponent
_LEAST_PERCENT: Final = 0.01
_PRE: Final = '<pre style="white-space: pre-wrap">'
# Control characters, line separators, marks that reorder a line, and what no file of UTF-8 or XML may hold.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def escaped(text: object) -> str:
    r"""A name or a label as it is printed: a newline in it must not begin another line, nor a code reach a terminal.

    >>> print(escaped("age\n\x1b[2J"))
    age\n\u001b[2J
    """
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], str(text))


def align_columns(lines: Sequence[Sequence[str]]) -> list[str]:
    """Pad the columns to equal width: the first left-aligned, the others right-aligned; cells are escaped."""
    lines = [[escaped(cell) for cell in line] for line in lines]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def in_digits(value: float, low: float, high: float) -> tuple[str, str, str]:
    """A number and its interval with the digits that the interval allows: two of its width, the same decimals for all.

    Whole numbers, such as quantiles of ages, are written in full. An arc around a circle may have its low end above the
    high one.

    >>> in_digits(0.19342, 0.15104, 0.26888)
    ('0.19', '0.15', '0.27')
    >>> in_digits(187_512_345.6, 179_000_000.1, 195_000_000.2)
    ('188,000,000', '179,000,000', '195,000,000')
    """
    numbers = [float(each) for each in (value, low, high)]
    known = [each for each in numbers if math.isfinite(each)]
    if known and all(each.is_integer() for each in known):
        decimals = 0
    else:
        width = high - low if high >= low else 2 * min(abs(value - low), abs(high - value))
        width = width if math.isfinite(width) else max(known, default=0.0) - min(known, default=0.0)
        if width <= 0:
            return tuple(f"{each:,.6g}" for each in numbers)  # type: ignore[return-value]  # three
        decimals = 1 - math.floor(math.log10(width))
    size = max(map(abs, known), default=0.0)
    if size >= _LARGE or 0 < size < _SMALL:
        return tuple(f"{round(each, decimals) + 0.0:.15g}" for each in numbers)  # type: ignore[return-value]
    return tuple(f"{round(each, decimals):z,.{max(decimals, 0)}f}" for each in numbers)  # type: ignore[return-value]


def percent(share: float) -> str:
    """Format a share to two significant digits: 2.3 %, 0.84 %, 54 %; a positive share is never "0 %"."""
    hundred = 100 * share
    if 0 < hundred < _LEAST_PERCENT:
        return f"< {_LEAST_PERCENT} %"
    hundred = 0 if -_LEAST_PERCENT < hundred < 0 else hundred
    size = abs(hundred)
    digits = 0 if size >= 10 or size == 0 else 1 if size >= 1 else 2  # noqa: PLR2004
    return f"{hundred:z.{digits}f} %".replace("-", "−")


def percent_mark(share: float) -> str:
    """Format a round share for a tick label, without an exponent.

    >>> percent_mark(0.125), percent_mark(6e-7)
    ('12.5 %', '0.00006 %')
    """
    return f"{Decimal(f'{100 * share:.3g}'):f} %".replace("-", "−")


class Table(str):  # noqa: SLOT000 (it has one attribute)
    """Rows, the first of them names of columns, as aligned text; a notebook displays them as an HTML table."""

    rows: Sequence[Sequence[str]]

    def __new__(cls, rows: Sequence[Sequence[str]]) -> Self:
        """Align the rows."""
        made = super().__new__(cls, "\n".join(align_columns(rows)))
        made.rows = [[escaped(cell) for cell in row] for row in rows]
        return made


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML."""
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def as_csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a header and rows as CSV; None becomes an empty cell, and floats survive a round trip."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return written.getvalue()


class RepeatedKeyError(ValueError):
    """A JSON object has a key twice, so that readers may differ about its value."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RepeatedKeyError
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)  # NaN and Infinity are not JSON


read_json: Final = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse).decode
"""The values in a JSON text; a ValueError, or a RecursionError, if it is none or an object repeats a key."""


class Printed:
    """Base class whose repr is the first line of its text, shortened; notebooks display the whole text."""

    __slots__ = ()

    def __repr__(self) -> str:
        first, *others = str(self).split("\n")
        name, room = type(self).__name__, _CONSOLE - len(type(self).__name__)
        short = first if len(first) <= room else f"{first[: room - 1].rstrip()}…"
        return f"<{name}: {short}{' …' if others and short == first else ''}>"

    def _repr_html_(self) -> str:
        return notebook_html(self._parts())

    def _parts(self) -> list[str]:
        """The text, in which tables stand apart."""
        return [str(self)]


def notebook_html(parts: Iterable[str], picture: str = "") -> str:
    """HTML for a notebook: a picture, and below it the text as it is printed, with its tables."""
    shown = [picture]
    for part in parts:
        if isinstance(part, Table):
            header, *rows = [[html.escape(cell.strip()) for cell in row] for row in part.rows]
            shown.append(html_table(header, rows))
        elif shown[-1].startswith(_PRE):  # one text, whose lines follow each other
            shown[-1] = shown[-1].removesuffix("</pre>") + f"\n{html.escape(part)}</pre>"
        else:
            shown.append(f"{_PRE}{html.escape(part)}</pre>")
    return "".join(shown)

"""Check-ins as lines of text, columns between tabs and no header: SNAP's layout, and that of TSMC2014.

Files of millions of lines are read some thousands at a time, because a line takes a kilobyte while it is text.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.errors import DataFileError
from reproduction.datasets.results import CheckIns, Provenance, fixed, outside_the_world
from reproduction.datasets.texts import Kind, Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    Columns = dict[str, NDArray[Any]]

Outside = Literal["raise", "keep", "drop"]

_LINES: Final = 20_000
_ROLES: Final = {"user": "users", "time": "times", "location id": "places", "venue id": "places"}
_MONTHS: Final = {
    month: f"{number:02}"
    for number, month in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], start=1
    )
}


@dataclass(frozen=True)
class Layout:
    """The columns of a line, how a time is written in it, and what to do about a place that is none on earth."""

    kinds: Mapping[str, Kind]
    time: str
    """An example."""
    iso: Callable[[str], str | None]
    """A time as NumPy reads it; None for what is no time."""
    remedy: str


def _of_snap(text: str) -> str | None:
    """The time without its letter for UTC."""
    return text[:-1] if len(text) == len(SNAP.time) and text[0].isdigit() and text[-1] == "Z" else None


def _of_tsmc(text: str) -> str | None:
    try:
        _, month, day, clock, offset, year = text.split()
        return f"{year}-{_MONTHS[month]}-{day}T{clock}" if offset == "+0000" else None
    except (ValueError, KeyError):
        return None


SNAP: Final = Layout(
    {"user": "id", "time": "text", "latitude": "number", "longitude": "number", "location id": "id"},
    "2010-10-12T00:21:28Z",
    _of_snap,
    "use outside='drop' to leave such rows out, or 'keep'.",
)
TSMC: Final = Layout(
    {
        "user": "whole",
        "venue id": "text",
        "category id": "text",
        "category": "text",
        "latitude": "number",
        "longitude": "number",
        "timezone offset": "whole",
        "time": "text",
    },
    "Tue Apr 03 18:00:09 +0000 2012",
    _of_tsmc,
    "fetch the file again.",
)


def blocks(
    stream: IO[bytes],
    name: str,
    layout: Layout,
    provenance: Provenance,
    outside: Outside = "raise",
    lines: int = _LINES,
) -> Iterator[CheckIns]:
    """The file from its beginning to its end, so many lines at a time.

    Raises
    ------
    DataFileError
        A line has another number of columns, a column is not of its kind, or, under ``outside="raise"``, a coordinate
        is none; the message names the line.
    """
    for columns, left_out in _parts(stream, name, layout, outside, lines):
        yield _check_ins(columns, left_out, provenance)


def read_lines(
    stream: IO[bytes], name: str, layout: Layout, provenance: Provenance, outside: Outside = "raise"
) -> CheckIns:
    """All of the file at once."""
    parts: defaultdict[str, list[NDArray[Any]]] = defaultdict(list)
    left_out = 0
    for columns, dropped in _parts(stream, name, layout, outside, _LINES):
        for column, values in columns.items():
            parts[column].append(values)
        left_out += dropped
    if not parts:
        msg = f"{name}: expected check-ins, got an empty file; fetch it again."
        raise DataFileError(msg)
    # One column after the other, so that at most one of them is held twice.
    return _check_ins({each: np.concatenate(parts.pop(each)) for each in tuple(parts)}, left_out, provenance)


def _check_ins(columns: Columns, left_out: int, provenance: Provenance) -> CheckIns:
    held = {name: fixed(column) for name, column in columns.items()}
    known = {name: held.pop(name) for name in ("coordinates", "users", "places", "times")}
    return CheckIns(**known, counts=None, more=MappingProxyType(held), left_out=left_out, provenance=provenance)


def _parts(stream: IO[bytes], name: str, layout: Layout, outside: Outside, lines: int) -> Iterator[tuple[Columns, int]]:
    """Columns of some lines each, and how many of their rows were left out."""
    first = 1
    while texts := list(islice(stream, lines)):
        cells = [line.decode("latin-1").rstrip("\r\n").split("\t") for line in texts]
        rows = Rows(name, cells, range(first, first + len(cells)))
        _check_width(rows, layout)
        columns = rows.columns(layout.kinds, missing=("nan",))
        coordinates = np.column_stack((columns.pop("latitude"), columns.pop("longitude")))
        columns["time"] = _times(rows, columns["time"].tolist(), layout)
        wrong = outside_the_world(coordinates)
        if outside == "raise":
            rows.refuse_outside(coordinates, layout.remedy)
        kept = ~wrong if outside == "drop" else np.full(len(wrong), fill_value=True)
        named = {"coordinates": coordinates} | {_ROLES.get(each, each): column for each, column in columns.items()}
        yield {each: column[kept] for each, column in named.items()}, int(np.count_nonzero(~kept))
        first += len(cells)


def _check_width(rows: Rows, layout: Layout) -> None:
    width = len(layout.kinds)
    for at, row in enumerate(rows.rows):
        if len(row) != width:
            expected = f"{width} columns between tabs ({', '.join(layout.kinds)})"
            rows.refuse(at, expected, str(len(row)), "is this the right file?")


def _times(rows: Rows, texts: list[str], layout: Layout) -> NDArray[np.datetime64]:
    written = [layout.iso(text) for text in texts]
    try:
        times = np.array(written, dtype="datetime64[s]")
        at = int(np.argmax(np.isnat(times))) if np.isnat(times).any() else None
    except ValueError:
        at = next(at for at, text in enumerate(written) if not _is_time(text))
    if at is not None:
        rows.refuse(at, f"a time such as {layout.time} as time", repr(texts[at][:40]), "fetch the file again.")
    return times


def _is_time(text: str | None) -> bool:
    try:
        return text is not None and not np.isnat(np.datetime64(text, "s"))
    except ValueError:
        return False

"""Check-ins as lines of text, columns between tabs and no header: SNAP's layout, and that of TSMC2014.

Files of millions of lines are read a block at a time, by NumPy's own reader of text. It does not say well what is wrong
with a line, so a block that it refuses, or that holds something odd, is read again cell by cell.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.errors import DataFileError
from reproduction.datasets.results import CheckIns, Provenance, fixed, outside_the_world
from reproduction.datasets.texts import DTYPES, Kind, Lines, Rows, first_wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    Columns = dict[str, NDArray[Any]]
    Texts = NDArray[np.bytes_]

Outside = Literal["raise", "keep", "drop"]

_BLOCK: Final = 1 << 20  # bytes; no line is longer
_ROLES: Final = {"user": "users", "time": "times", "location id": "places", "venue id": "places"}
_MONTHS: Final = {
    month: b"%02d" % number
    for number, month in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)
}


@dataclass(frozen=True)
class Layout:
    """The columns of a line, how a time is written in it, and what to do about a place that is none on earth."""

    kinds: Mapping[str, Kind]
    time: str
    """An example."""
    iso: Callable[[Texts], Texts]
    """Times as NumPy reads them; empty for what is not one."""
    remedy: str

    @property
    def row(self) -> list[tuple[str, str]]:
        """A row as NumPy reads it: times as bytes, one more than there should be, and other texts as objects."""
        types = {**DTYPES, "text": "O"}
        return [
            (name, f"S{len(self.time) + 1}" if name == "time" else types[kind]) for name, kind in self.kinds.items()
        ]


def _of_snap(texts: Texts) -> Texts:
    """Times without their letter for UTC, which must be the twentieth and the last."""
    cut = texts.astype("S21").view([("time", "S19"), ("zone", "S2")])
    first = texts.astype("S1")
    return np.where((cut["zone"] == b"Z") & (first >= b"0") & (first <= b"9"), cut["time"], b"")


def _of_tsmc(texts: Texts) -> Texts:
    return np.array([_without_words(text) for text in texts.tolist()], dtype=np.bytes_)


def _without_words(text: bytes) -> bytes:
    try:
        _, month, day, clock, offset, year = text.split()
        return b"%b-%b-%bT%b" % (year, _MONTHS[month], day, clock) if offset == b"+0000" else b""
    except (ValueError, KeyError):
        return b""


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
    size: int = _BLOCK,
) -> Iterator[CheckIns]:
    """The file from its beginning to its end, ``size`` bytes at a time.

    Raises
    ------
    DataFileError
        A line is longer than a block or has another number of columns, a column is not of its kind, or, under
        ``outside="raise"``, a coordinate is none; the message names the line.
    """
    for columns, left_out in _parts(stream, name, layout, outside, size):
        yield _check_ins(columns, left_out, provenance)


def read_lines(
    stream: IO[bytes], name: str, layout: Layout, provenance: Provenance, outside: Outside = "raise"
) -> CheckIns:
    """All of the file at once."""
    parts: defaultdict[str, list[NDArray[Any]]] = defaultdict(list)
    left_out = 0
    for columns, dropped in _parts(stream, name, layout, outside, _BLOCK):
        for column, values in columns.items():
            parts[column].append(values)
        left_out += dropped
    if not parts:
        raise DataFileError(f"{name}: expected check-ins, got an empty file; fetch it again.")
    # One column after the other, so that at most one of them is held twice.
    return _check_ins({each: np.concatenate(parts.pop(each)) for each in tuple(parts)}, left_out, provenance)


def _check_ins(columns: Columns, left_out: int, provenance: Provenance) -> CheckIns:
    held = {name: fixed(column) for name, column in columns.items()}
    known = {name: held.pop(name) for name in ("coordinates", "users", "places", "times")}
    return CheckIns(**known, counts=None, more=MappingProxyType(held), left_out=left_out, provenance=provenance)


def _parts(stream: IO[bytes], name: str, layout: Layout, outside: Outside, size: int) -> Iterator[tuple[Columns, int]]:
    """Columns of some lines each, and how many of their rows were left out."""
    for lines, texts in _texts(stream, name, size):
        columns = _at_once(texts, layout) or _cell_by_cell(texts, lines, layout)
        coordinates = np.column_stack((columns.pop("latitude"), columns.pop("longitude")))
        columns["time"] = _times(columns["time"], lines, layout)
        if outside == "raise":
            lines.refuse_outside(coordinates, layout.remedy)
        kept = ~outside_the_world(coordinates) if outside == "drop" else np.full(len(texts), fill_value=True)
        named = {"coordinates": coordinates} | {_ROLES.get(each, each): column for each, column in columns.items()}
        yield {each: column[kept] for each, column in named.items()}, int(np.count_nonzero(~kept))


def _texts(stream: IO[bytes], name: str, size: int) -> Iterator[tuple[Lines, list[str]]]:
    """The lines of each block without their ends, and their numbers."""
    first, rest = 1, b""
    while chunk := stream.read(size):
        whole, end, begun = chunk.rpartition(b"\n")
        if end:
            texts = _split(rest + whole)
            yield Lines(name, range(first, first + len(texts))), texts
            first += len(texts)
            rest = b""
        rest += begun
        if len(rest) > size:
            Lines(name, [first]).refuse(0, f"at most {size:,} bytes", "more", "is this the right file?")
    if rest:
        yield Lines(name, [first]), _split(rest)


def _split(block: bytes) -> list[str]:
    # At line ends alone: str.splitlines knows others, which may stand in a cell.
    return block.decode("latin-1").replace("\r\n", "\n").removesuffix("\r").split("\n")


def _at_once(texts: list[str], layout: Layout) -> Columns | None:
    """The columns as NumPy reads them; None where something is odd about a line."""
    if "" in texts:  # NumPy would pass over it
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # NumPy 1 reads 1.5 as a whole number, and warns
            table = np.loadtxt(texts, layout.row, delimiter="\t", comments=None, ndmin=1)
    except (ValueError, DeprecationWarning):
        return None
    columns = {name: table[name] for name in layout.kinds}
    numbers = {name: kind for name, kind in layout.kinds.items() if kind != "text"}
    if any(first_wrong(columns[name], kind, may_be_nan=True) is not None for name, kind in numbers.items()):
        return None
    return {name: column.astype(np.str_) if column.dtype == object else column for name, column in columns.items()}


def _cell_by_cell(texts: list[str], lines: Lines, layout: Layout) -> Columns:
    cells = [text.split("\t") for text in texts]
    width = len(layout.kinds)
    for at, row in enumerate(cells):
        if len(row) != width:
            expected = f"{width} columns between tabs ({', '.join(layout.kinds)})"
            lines.refuse(at, expected, str(len(row)), "is this the right file?")
    columns = Rows(lines.name, lines.numbers, cells).columns(layout.kinds, missing=("nan",))
    return columns | {"time": np.char.encode(columns["time"], "latin-1")}


def _times(texts: Texts, lines: Lines, layout: Layout) -> NDArray[np.datetime64]:
    written = layout.iso(texts)
    try:
        times = written.astype("datetime64[s]")
        at = int(np.argmax(np.isnat(times))) if np.isnat(times).any() else None
    except ValueError:
        at = next(at for at in range(len(written)) if not _is_time(written[at : at + 1]))
    if at is not None:
        got = repr(texts[at].decode("latin-1")[:40])
        lines.refuse(at, f"a time such as {layout.time} as time", got, "fetch the file again.")
    return times


def _is_time(text: Texts) -> bool:
    try:
        return not np.isnat(text.astype("datetime64[s]")).any()
    except ValueError:
        return False

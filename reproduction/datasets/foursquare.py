"""Foursquare: ten months of check-ins in New York and Tokyo, 2012 and 2013; and what others cut out of them."""

from __future__ import annotations

from itertools import islice
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.errors import DataFileError, InputError
from reproduction.datasets.finding import find
from reproduction.datasets.opening import opened
from reproduction.datasets.place_tables import read_place_table
from reproduction.datasets.results import CheckIns, Provenance, fixed, outside_the_world, provenance_of
from reproduction.datasets.sources import SOURCES
from reproduction.datasets.texts import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from reproduction.datasets.texts import Kind

    City = Literal["nyc", "tokyo", "us"]
    Subset = Literal["filtered", "ufsc", "stacp", "lbsn3"]

_KINDS: Final[dict[str, Kind]] = {
    "user": "whole",
    "venue id": "text",
    "category id": "text",
    "category": "text",
    "latitude": "number",
    "longitude": "number",
    "timezone offset": "whole",
    "time": "text",
}
_MONTHS: Final = {
    month: f"{number:02}"
    for number, month in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], start=1
    )
}
# So many lines are held as text at a time: a line takes a kilobyte while it is.
_LINES: Final = 50_000


def foursquare(city: City = "nyc", *, subset: Subset | None = None) -> CheckIns:
    """Foursquare's check-ins: user, time in UTC, latitude, longitude, venue.

    Without ``subset``, the full file of a city (TSMC2014): ``nyc`` 227,428 check-ins, ``tokyo`` 573,703. ``places`` are
    the venue's ids of 24 letters and digits; ``more`` has ``category id``, ``category`` and ``timezone offset`` in
    minutes. The subsets are copies that others made, in the folder that ``BIPARTITE_DATA`` names:

    ========  ============  =======  ===============================================================================
    city      subset           rows  what it is
    ========  ============  =======  ===============================================================================
    ``nyc``   ``filtered``  113,344  users and venues with at least 10 visits
    ``nyc``   ``ufsc``       66,962  193 users; no date; ``more["price"]`` and ``more["rating"]`` are −999 if missing
    ``us``    ``stacp``     277,405  a row a user and venue with ``counts``, 512,532 check-ins; no times
    ``us``    ``lbsn3``     185,984  4,969 users, 8,000 venues
    ========  ============  =======  ===============================================================================

    What the files do, and what is made of it: the full files are in latin-1 (``Café``), not UTF-8, and write times like
    ``Tue Apr 03 18:00:09 +0000 2012``. Many venue ids have more than one coordinate. **Nothing is changed or left
    out**; ``oddities`` counts. No checksum of the publisher's archive is known: see ``provenance``.

    Returns
    -------
    CheckIns
        Research use; cite Yang, Zhang, Zheng and Yu, IEEE Transactions on Systems, Man, and Cybernetics: Systems, 2015.

    Raises
    ------
    InputError
        There is no such city or subset.
    MissingDataError
        The file is not here and could not be fetched.
    DataFileError
        The file is damaged or another one; the message names the line.
    """
    name = f"foursquare-{city}" if subset is None else f"foursquare-{city}-{subset}"
    if name not in SOURCES:
        calls = [source.call for source in SOURCES.values() if source.name.startswith("foursquare")]
        msg = f"Expected one of {', '.join(calls)}, got city={city!r}, subset={subset!r}."
        raise InputError(msg)
    source = SOURCES[name]
    found = find(source, "data")
    provenance = provenance_of(source, found)
    with opened(found) as stream:
        if source.columns:
            return read_place_table(stream.read(), found.path.name, source.columns, provenance)
        return read_tsmc(stream, found.file.members[-1] if found.file.members else found.path.name, provenance)


def read_tsmc(stream: IO[bytes], name: str, provenance: Provenance) -> CheckIns:
    """All check-ins of a text in TSMC2014's layout: eight columns between tabs, no header, latin-1."""
    parts = list(_parts(stream, name))
    if not parts:
        msg = f"{name}: expected check-ins, got an empty file; fetch it again."
        raise DataFileError(msg)
    columns = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
    return CheckIns(
        coordinates=fixed(np.column_stack((columns["latitude"], columns["longitude"]))),
        users=fixed(columns["user"]),
        places=fixed(columns["venue id"]),
        times=fixed(columns["time"]),
        counts=None,
        more=MappingProxyType({key: fixed(columns[key]) for key in ("category id", "category", "timezone offset")}),
        left_out=0,
        provenance=provenance,
    )


def _parts(stream: IO[bytes], name: str) -> Iterator[dict[str, NDArray[Any]]]:
    first = 1
    while lines := list(islice(stream, _LINES)):
        cells = [line.decode("latin-1").rstrip("\r\n").split("\t") for line in lines]
        for line, row in enumerate(cells, start=first):
            if len(row) != len(_KINDS):
                msg = (
                    f"{name}, line {line}: expected {len(_KINDS)} columns between tabs ({', '.join(_KINDS)}), got "
                    f"{len(row)}; is this the right file?"
                )
                raise DataFileError(msg)
        columns = Rows(name, cells, list(range(first, first + len(cells)))).columns(_KINDS)
        wrong = outside_the_world(np.column_stack((columns["latitude"], columns["longitude"])))
        if wrong.any():
            at = int(np.argmax(wrong))
            msg = (
                f"{name}, line {first + at}: expected a latitude from −90 to 90 and a longitude from −180 to 180, got "
                f"{cells[at][4]} and {cells[at][5]}; fetch the file again."
            )
            raise DataFileError(msg)
        columns["time"] = _times(columns["time"].tolist(), name, first)
        yield columns
        first += len(cells)


def _times(texts: list[str], name: str, first: int) -> NDArray[np.datetime64]:
    """Times such as ``Tue Apr 03 18:00:09 +0000 2012``."""
    times = []
    for line, text in enumerate(texts, start=first):
        words = text.split()
        try:
            _, month, day, clock, offset, year = words
            time = np.datetime64(f"{year}-{_MONTHS[month]}-{day}T{clock}", "s") if offset == "+0000" else None
        except (ValueError, KeyError):
            time = None
        if time is None:
            msg = (
                f"{name}, line {line}: expected a time such as Tue Apr 03 18:00:09 +0000 2012, got {text[:40]!r}; "
                "fetch the file again."
            )
            raise DataFileError(msg)
        times.append(time)
    return np.array(times, dtype="datetime64[s]")

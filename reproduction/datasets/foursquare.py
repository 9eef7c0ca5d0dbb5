"""Foursquare: ten months of check-ins in New York and Tokyo, 2012 and 2013; and what others cut out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bipartite.errors import InputError
from reproduction.datasets.finding import find
from reproduction.datasets.lines import TSMC, read_lines
from reproduction.datasets.opening import opened
from reproduction.datasets.place_tables import read_place_table
from reproduction.datasets.results import CheckIns, provenance_of
from reproduction.datasets.sources import SOURCES

if TYPE_CHECKING:
    City = Literal["nyc", "tokyo", "us"]
    Subset = Literal["filtered", "ufsc", "stacp", "lbsn3"]


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
        raise InputError(f"Expected one of {', '.join(calls)}, got city={city!r}, subset={subset!r}.")
    source = SOURCES[name]
    found = find(source, "data")
    provenance = provenance_of(source, found)
    with opened(found) as stream:
        if source.columns:
            return read_place_table(stream.read(), found.path.name, source.columns, provenance)
        name = found.file.members[-1] if found.file.members else found.path.name
        return read_lines(stream, name, TSMC, provenance)

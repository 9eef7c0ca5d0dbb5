"""Gowalla: 6.4 million check-ins of a social network, February 2009 to October 2010; and what others cut out of it."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.errors import DataFileError, InputError, is_one_of, shown
from reproduction.datasets.finding import Found, find
from reproduction.datasets.lines import SNAP, Outside, blocks, read_lines
from reproduction.datasets.opening import opened
from reproduction.datasets.place_tables import read_place_table
from reproduction.datasets.results import CheckIns, Histogram, Provenance, fixed, provenance_of
from reproduction.datasets.sources import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    Subset = Literal["authors-1000", "nyc", "paris", "stacp", "lbsn1", "lbsn3", "ufsc", "locations-union"]

_SNAP: Final = ("nyc", "paris")
_TABLES: Final = tuple(
    name.removeprefix("gowalla-") for name, source in SOURCES.items() if name.startswith("gowalla-") and source.columns
)
SUBSETS: Final = (*_TABLES, *_SNAP)
_OUTSIDE: Final = ("raise", "keep", "drop")


def gowalla(subset: Subset | None = None, *, outside: Outside = "raise") -> CheckIns:
    """Gowalla's check-ins: user, time in UTC, latitude, longitude, place.

    Without ``subset``, the full file of SNAP: 6,442,890 check-ins as published, read block by block. The subsets are
    copies that others made, in the folder that ``BIPARTITE_DATA`` names; they overlap, so that their counts must not be
    added:

    ===================  =======  =================================================================================
    subset                  rows  what it is
    ===================  =======  =================================================================================
    ``authors-1000``       1,000  the places of the BRR paper's own experiment; coordinates alone
    ``nyc``              138,957  New York, SNAP's ids
    ``paris``             17,496  Paris, SNAP's ids
    ``stacp``            378,968  the world; a row a user and place with ``counts``, 620,683 check-ins; no times
    ``lbsn1``            255,140  the same kind, the tune and test parts (``more["split"]``) of a larger set
    ``lbsn3``            157,251  the world, 1,000 users
    ``ufsc``              98,158  300 users; weekday and minute of the day in ``more``, no date
    ``locations-union``   66,797  every distinct coordinate of the above, unweighted: no sample of check-ins
    ===================  =======  =================================================================================

    What the files do, and what is made of it: some coordinates carry float tails (−73.78280639649999 for
    −73.7828063965), some place ids have more than one coordinate, some rows repeat others. **Nothing is changed or left
    out**; ``oddities`` counts them. The authors of ``stacp`` and both ``lbsn`` removed users and places with few
    visits, so that these are denser than Gowalla was.

    Parameters
    ----------
    subset
        One of the names above; None for the full file.
    outside
        For files in SNAP's layout: what to do with a coordinate that is none. Public code for the full file leaves such
        rows out, so expect some: ``raise`` names the line of the first, ``drop`` leaves them out and counts them in
        ``left_out``, ``keep`` keeps them.

    Returns
    -------
    CheckIns
        Research use; cite Cho, Myers and Leskovec, KDD 2011.

    Raises
    ------
    InputError
        ``subset`` or ``outside`` is none of these.
    MissingDataError
        The file is not here and could not be fetched.
    DataFileError
        The file is damaged or another one; the message names the line.
    """
    _check(subset, outside)
    source = SOURCES["gowalla" if subset is None else f"gowalla-{subset}"]
    found = find(source, "data")
    provenance = provenance_of(source, found)
    with opened(found) as stream:
        if source.columns:
            has_header = subset != "authors-1000"
            return read_place_table(stream.read(), found.path.name, source.columns, provenance, has_header=has_header)
        return read_lines(stream, found.path.name, SNAP, provenance, outside)


def gowalla_blocks(subset: Literal["nyc", "paris"] | None = None, *, outside: Outside = "raise") -> Iterator[CheckIns]:
    """Gowalla's check-ins a few megabytes at a time, for what must not hold all of them; see :func:`gowalla`.

    A subset here is one in SNAP's layout. Raises the errors of :func:`gowalla`, those of the file once the block
    with the line in question is asked for.
    """
    if subset is not None and not is_one_of(subset, _SNAP):
        raise InputError(
            f"Expected subset None, 'nyc' or 'paris', got {shown(subset)}; the others are small: use gowalla."
        )
    _check(subset, outside)
    source = SOURCES["gowalla" if subset is None else f"gowalla-{subset}"]
    found = find(source, "data")
    return _stream(found, outside, provenance_of(source, found))


def gowalla_histogram() -> Histogram:
    """All of Gowalla, 6,442,863 check-ins, counted in 256 × 256 cells, of which 3,500 are not empty.

    From DPBench. Neither the box nor the order of the axes is documented there: it serves as a histogram with a real
    shape, not as a map. A copy, in the folder that ``BIPARTITE_DATA`` names; cannot be fetched.

    Raises
    ------
    MissingDataError
        The file is not here.
    DataFileError
        The file is damaged or another one.
    """
    source = SOURCES["gowalla-histogram"]
    found = find(source, "data")
    with opened(found) as stream:
        return read_histogram(stream, found.path.name, provenance_of(source, found))


def read_histogram(stream: IO[bytes], name: str, provenance: Provenance) -> Histogram:
    """The array ``hist`` of an npz file."""
    try:
        with np.load(stream, allow_pickle=False) as arrays:
            counts = arrays["hist"]
    except (KeyError, ValueError) as error:
        raise DataFileError(
            f"{name}: expected an npz file with an array named hist, got another one ({error}); fetch it again."
        ) from None
    return Histogram(fixed(counts.astype(np.int64)), provenance)


def _stream(found: Found, outside: Outside, provenance: Provenance) -> Iterator[CheckIns]:
    with opened(found) as stream:
        yield from blocks(stream, found.path.name, SNAP, provenance, outside)


def _check(subset: object, outside: object) -> None:
    if subset is not None and not is_one_of(subset, SUBSETS):
        raise InputError(f"Expected subset None or one of {', '.join(SUBSETS)}, got {shown(subset)}.")
    if not is_one_of(outside, _OUTSIDE):
        raise InputError(f"Expected outside 'raise', 'keep' or 'drop', got {shown(outside)}.")

"""Check-ins: who was where, when. Gowalla (the world, 2009 and 2010), Foursquare (New York and Tokyo, 2012 and 2013).

Frames have the columns ``user``, ``time`` (UTC, to the second), ``latitude``, ``longitude`` (degrees), ``place`` (an
id) and ``count`` (how many check-ins a row stands for) as far as a file has them, and what else it holds, in the order
of the file. **Nothing is changed or left out**: some coordinates carry float tails (−73.78280639649999 for
−73.7828063965), some place ids have more than one coordinate, some rows repeat others.

Every function raises MissingDataError where the file is not here and could not be fetched, and DataFileError where it
is damaged or another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.errors import InputError, is_one_of, shown
from reproduction.datasets.finding import find
from reproduction.datasets.reading import read
from reproduction.datasets.sources import SOURCES

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

CHECK_INS: Final = tuple(name for name in SOURCES if name.startswith(("gowalla", "foursquare")))
"""The data sets of check-ins, by their names."""
# The names that each author gave to the same thing.
_ROLES: Final = {
    "user_idx": "user",
    "poi": "place",
    "poi_idx": "place",
    "lat": "latitude",
    "lon": "longitude",
    "unix_time": "time",
    "unix_s": "time",
}


def gowalla(subset: str | None = None, *, outside: Literal["raise", "keep"] = "raise") -> pd.DataFrame:
    """Gowalla's check-ins.

    Without ``subset``, the full file of SNAP: 6,442,890 check-ins as published. The subsets are copies that others
    made, in the folder that ``BIPARTITE_DATA`` names; they overlap, so that their counts must not be added:

    ===================  =======  =================================================================================
    subset                  rows  what it is
    ===================  =======  =================================================================================
    ``authors-1000``       1,000  the places of the BRR paper's own experiment; coordinates alone
    ``nyc``              138,957  New York, SNAP's ids
    ``paris``             17,496  Paris, SNAP's ids
    ``stacp``            378,968  the world; a row a user and place with ``count``, 620,683 check-ins; no times
    ``lbsn1``            255,140  the same kind, the tune and test parts (``split``) of a larger set
    ``lbsn3``            157,251  the world, 1,000 users
    ``ufsc``              98,158  300 users; weekday and minute of the day, no date
    ``locations-union``   66,797  every distinct coordinate of the above, unweighted: no sample of check-ins
    ===================  =======  =================================================================================

    The authors of ``stacp`` and both ``lbsn`` removed users and places with few visits, so that these are denser than
    Gowalla was. Research use; cite Cho, Myers and Leskovec, KDD 2011.

    The full file is read whole, in half a minute with about 5 GB of memory, as measured on made-up lines of its layout.
    Public code for it leaves out rows whose coordinate is none, so expect some: ``outside="raise"`` names
    the line of the first, ``"keep"`` keeps them.
    """
    return check_ins("gowalla" if subset is None else f"gowalla-{subset}", outside=outside)


def foursquare(city: str = "nyc", *, subset: str | None = None) -> pd.DataFrame:
    """Foursquare's check-ins.

    Without ``subset``, the full file of a city (TSMC2014): ``nyc`` 227,428 check-ins, ``tokyo`` 573,703. A ``place`` is
    the venue's id of 24 letters and digits; there are ``category id``, ``category`` and ``timezone offset`` in minutes,
    too. The subsets are copies that others made, in the folder that ``BIPARTITE_DATA`` names:

    ========  ============  =======  ===============================================================================
    city      subset           rows  what it is
    ========  ============  =======  ===============================================================================
    ``nyc``   ``filtered``  113,344  users and venues with at least 10 visits
    ``nyc``   ``ufsc``       66,962  193 users; no date; ``price`` and ``rating`` are −999 if missing
    ``us``    ``stacp``     277,405  a row a user and venue with ``count``, 512,532 check-ins; no times
    ``us``    ``lbsn3``     185,984  4,969 users, 8,000 venues
    ========  ============  =======  ===============================================================================

    The full files are in latin-1 (``Café``), not UTF-8, and write times like ``Tue Apr 03 18:00:09 +0000 2012``. No
    checksum of the publisher's archive is known. Research use; cite Yang, Zhang, Zheng and Yu, IEEE Transactions on
    Systems, Man, and Cybernetics: Systems, 2015.
    """
    return check_ins(f"foursquare-{city}" if subset is None else f"foursquare-{city}-{subset}")


def check_ins(name: str, *, outside: Literal["raise", "keep"] = "raise") -> pd.DataFrame:
    """The check-ins of a data set of that name."""
    if name not in CHECK_INS:
        raise InputError(f"Expected one of {', '.join(CHECK_INS)}, got {shown(name)}.")
    if not is_one_of(outside, ("raise", "keep")):
        raise InputError(f"Expected outside 'raise' or 'keep', got {shown(outside)}.")
    source = SOURCES[name]
    cells = read(find(source), source)
    frame = cells.typed().rename(columns=_ROLES)
    if outside == "raise":
        cells.refuse_outside(frame["latitude"], frame["longitude"])
    return frame


def coordinates(frame: pd.DataFrame) -> NDArray[np.float64]:
    """The latitude and longitude of each row, in degrees."""
    return np.column_stack((frame["latitude"], frame["longitude"]))

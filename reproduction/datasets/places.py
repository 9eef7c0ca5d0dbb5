"""Check-ins and places that other authors published: Gowalla (2009 and 2010) and Foursquare (2012 and 2013).

Each is part of the data set and denser than it was: its authors left out users and places with few visits. Frames have
the columns ``user``, ``time`` (UTC, to the second), ``latitude``, ``longitude`` (degrees), ``place`` (an id) and
``count`` (how many check-ins a row stands for) as far as a file has them, and what else it holds, in the order of the
file. **Nothing is changed or left out**.
"""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bipartite.errors import InputError, is_one_of, shown
from reproduction.datasets.finding import find
from reproduction.datasets.reading import read
from reproduction.datasets.sources import SOURCES

CHECK_INS: Final = tuple(name for name in SOURCES if name.startswith(("gowalla", "foursquare")))
"""The data sets of places, by their names."""
# The names that each author gave to the same thing.
_ROLES: Final = {
    "user_idx": "user",
    "poi": "place",
    "poi_idx": "place",
    "lat": "latitude",
    "lon": "longitude",
    "unix_s": "time",
}


def check_ins(name: str) -> pd.DataFrame:
    """The check-ins, or the places, of one of these; they overlap, so that their counts must not be added.

    ===========================  =======  =========================================================================
    name                            rows  what it is
    ===========================  =======  =========================================================================
    ``gowalla-authors-1000``       1,000  the places of the BRR paper's own experiment; coordinates alone
    ``gowalla-stacp``            378,968  the world; a row a user and place with ``count``, 620,683 check-ins
    ``gowalla-locations-union``   66,797  distinct coordinates of many parts of Gowalla: no sample of check-ins
    ``foursquare-nyc-filtered``  113,344  New York, users and venues with at least 10 visits
    ``foursquare-us-stacp``      277,405  a row a user and venue with ``count``, 512,532 check-ins
    ===========================  =======  =========================================================================

    Research use; cite Cho, Myers and Leskovec, KDD 2011 (Gowalla), and Yang, Zhang, Zheng and Yu, IEEE Transactions on
    Systems, Man, and Cybernetics: Systems, 2015 (Foursquare).

    Raises
    ------
    MissingDataError
        The file is not here: the message says where to put it.
    DataFileError
        It is damaged or another one, or a coordinate is not on the globe.
    """
    if not is_one_of(name, CHECK_INS):
        raise InputError(f"Expected one of {', '.join(CHECK_INS)}, got {shown(name)}.")
    source = SOURCES[name]
    cells = read(find(source), source)
    frame = cells.typed().rename(columns=_ROLES)
    cells.refuse_outside(frame["latitude"], frame["longitude"])
    return frame


def coordinates(frame: pd.DataFrame) -> NDArray[np.float64]:
    """The latitude and longitude of each row, in degrees."""
    return np.column_stack((frame["latitude"], frame["longitude"]))

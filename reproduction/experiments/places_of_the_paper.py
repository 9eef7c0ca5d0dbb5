"""The two sets of places of section 5.3, as far as they can be had, and other draws of their kind.

Gowalla: the authors' own 1000 places. FourSquare: the paper draws 3000 places at random and does not say which, nor
from which region; here they are drawn, with a seed, from public check-ins in New York.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from bipartite.domains import Points
from bipartite.locations import from_checkins, places
from reproduction.datasets import foursquare, gowalla
from reproduction.places import Regions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GOWALLA: Final = "Gowalla"
FOURSQUARE: Final = "FourSquare"
CREDITS: Final = {
    GOWALLA: "the authors' 1000, said to be of Gowalla",
    FOURSQUARE: "Foursquare, New York (Yang et al. 2015), a copy by others",
}
WORLD: Final = "the world"
NEW_YORK: Final = "New York"
UNITED_STATES: Final = "the United States"
_SEED: Final = 1


@functools.lru_cache(maxsize=2)
def places_of(name: str, count: int) -> tuple[Points, Regions]:
    """So many places of a data set, and their regions by the paper's rule."""
    if name == GOWALLA:
        every = gowalla("authors-1000").coordinates
        found = places(every) if count == len(every) else from_checkins(every, source="public", places=count)
    else:
        found = drawn(NEW_YORK, count, _SEED)
    return found, Regions.by_prefix(found)


def drawn(area: str, count: int, seed: int) -> Points:
    """So many of the distinct places of public check-ins: Gowalla's in the world, FourSquare's in the other areas."""
    return from_checkins(_distinct(area), source="public", places=count, seed=seed, merge_within=None)


@functools.lru_cache(maxsize=3)
def _distinct(area: str) -> NDArray[np.float64]:
    """The places that a draw is from: merging those within a metre takes longest, and is the same for every seed."""
    visits = {
        WORLD: lambda: gowalla("stacp"),
        NEW_YORK: lambda: foursquare("nyc", subset="filtered"),
        UNITED_STATES: lambda: foursquare("us", subset="stacp"),
    }[area]()
    return from_checkins(visits.coordinates, source="public").coordinates


def parts_of(regions: Regions) -> list[Points]:
    """The places of each region, in the order of the regions."""
    return [
        Points(regions.places.coordinates[regions.members(each)], metric="haversine") for each in range(len(regions))
    ]

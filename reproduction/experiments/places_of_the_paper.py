"""The two sets of places of section 5.3, as far as they can be had.

Gowalla: the authors' own 1000 places. FourSquare: the paper draws 3000 places at random and does not say which, nor
from which region; here they are drawn, with a seed, from public check-ins in New York.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from bipartite.locations import Regions, from_checkins, places
from reproduction.datasets import foursquare, gowalla

if TYPE_CHECKING:
    from bipartite.domains import Points

GOWALLA: Final = "Gowalla"
FOURSQUARE: Final = "FourSquare"
CREDITS: Final = {
    GOWALLA: "the authors' 1000, said to be of Gowalla",
    FOURSQUARE: "Foursquare, New York (Yang et al. 2015), a copy by others",
}
_SEED: Final = 1


@functools.lru_cache(maxsize=2)
def places_of(name: str, count: int) -> tuple[Points, Regions]:
    """So many places of a data set, and their regions by the paper's rule."""
    if name == GOWALLA:
        every = gowalla("authors-1000").coordinates
        found = places(every) if count == len(every) else from_checkins(every, source="public", places=count)
    else:
        visits = foursquare("nyc", subset="filtered").coordinates
        found = from_checkins(visits, source="public", places=count, seed=_SEED)
    return found, Regions.by_prefix(found)

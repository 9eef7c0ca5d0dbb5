"""Places: candidates, the nearest place of a position, maps and heat maps.

Candidates and priors are public: never derive them from the positions of the people who report.
May import: lottery, domains, plots, mechanisms, answers.
Begin reading: candidates.py, maps.py.
"""

from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.locations.atlas import Cities, cities, coasts
from bipartite.locations.candidates import encode, from_checkins, places
from bipartite.locations.counting import PlaceShare, range_count, top_places
from bipartite.locations.grids import grid
from bipartite.locations.heat import HeatMap, heat_map
from bipartite.locations.maps import plot

__all__ = [
    "Cities",
    "HeatMap",
    "PlaceShare",
    "cities",
    "coasts",
    "encode",
    "from_checkins",
    "grid",
    "heat_map",
    "places",
    "plot",
    "range_count",
    "top_places",
]

if not TYPE_CHECKING:  # loads nothing: a former name says where it is now
    __getattr__, __dir__ = lazily(__name__, {})

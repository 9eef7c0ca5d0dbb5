"""Places: candidates, the nearest place of a position, maps and heat maps.

Candidates and priors are public: never derive them from the positions of the people who report.
May import: lottery, domains, plots, mechanisms, answers.
Begin reading: candidates.py, drawing.py.
"""

from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.locations.atlas import Cities, cities, coasts
from bipartite.locations.candidates import from_checkins, places
from bipartite.locations.counting import PlaceShare, RangeCount, range_count, top_places
from bipartite.locations.drawing import draw
from bipartite.locations.encoding import encode
from bipartite.locations.grids import grid
from bipartite.locations.heat import HeatMap, heat_map
from bipartite.locations.pages import page

__all__ = [
    "Cities",
    "HeatMap",
    "PlaceShare",
    "RangeCount",
    "cities",
    "coasts",
    "draw",
    "encode",
    "from_checkins",
    "grid",
    "heat_map",
    "page",
    "places",
    "range_count",
    "top_places",
]

if not TYPE_CHECKING:  # loads nothing: a former name says where it is now
    __getattr__, __dir__ = lazily(__name__, {})

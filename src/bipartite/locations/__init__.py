"""Places: candidates, regions, releases of a position, and maps.

Candidates, priors and regions are public: never derive them from the positions of the people who report.
May import: lottery, domains, plots, mechanisms, answers.
Begin reading: candidates.py, drawing.py.
"""

from typing import TYPE_CHECKING

from bipartite.answers.advise.place_releases import CALIBRATED, PUBLISHED, WHOLE, WITHIN, PlaceRelease
from bipartite.answers.advise.places import EPSILONS, Choice, Improvement, choose, compare, improvements
from bipartite.domains.regions import Regions
from bipartite.lazily import lazily
from bipartite.locations.atlas import Cities, cities
from bipartite.locations.candidates import from_checkins, places
from bipartite.locations.counting import PlaceShare, RangeCount, range_count, top_places
from bipartite.locations.drawing import draw
from bipartite.locations.encoding import encode
from bipartite.locations.grids import grid
from bipartite.locations.heat import HeatMap, heat_map
from bipartite.locations.pages import page
from bipartite.mechanisms import RegionWeighted, TwoLevel, WithinRegion

__all__ = [
    "CALIBRATED",
    "EPSILONS",
    "PUBLISHED",
    "WHOLE",
    "WITHIN",
    "Choice",
    "Cities",
    "HeatMap",
    "Improvement",
    "PlaceRelease",
    "PlaceShare",
    "RangeCount",
    "RegionWeighted",
    "Regions",
    "TwoLevel",
    "WithinRegion",
    "choose",
    "cities",
    "compare",
    "draw",
    "encode",
    "from_checkins",
    "grid",
    "heat_map",
    "improvements",
    "page",
    "places",
    "range_count",
    "top_places",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, {})

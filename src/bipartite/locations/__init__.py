"""Places: candidates, regions, and releases of a position.

Candidates, priors and regions are public: never make them from the positions of the people who report.
"""

from bipartite.domains.regions import Regions
from bipartite.locations.candidates import encode, from_checkins, grid, places
from bipartite.locations.choosing import Choice, choose
from bipartite.locations.comparing import EPSILONS, PAPER_IMPROVEMENT, Improvement, compare, improvements
from bipartite.locations.drawing import draw
from bipartite.locations.page import page
from bipartite.locations.releases import Release
from bipartite.mechanisms import RegionWeighted, TwoLevel, WithinRegion

__all__ = [
    "EPSILONS",
    "PAPER_IMPROVEMENT",
    "Choice",
    "Improvement",
    "RegionWeighted",
    "Regions",
    "Release",
    "TwoLevel",
    "WithinRegion",
    "choose",
    "compare",
    "draw",
    "encode",
    "from_checkins",
    "grid",
    "improvements",
    "page",
    "places",
]

"""Places: candidates, regions, and releases of a position.

Candidates, priors and regions are public: never make them from the positions of the people who report.
"""

from bipartite.domains.regions import Regions
from bipartite.locations.candidates import Candidate
from bipartite.locations.choose import Choice, choose
from bipartite.locations.compare import EPSILONS, PAPER_IMPROVEMENT, Improvement, compare, improvements
from bipartite.locations.places import encode, from_checkins, grid, places
from bipartite.mechanisms import RegionWeighted, TwoLevel, WithinRegion

__all__ = [
    "EPSILONS",
    "PAPER_IMPROVEMENT",
    "Candidate",
    "Choice",
    "Improvement",
    "RegionWeighted",
    "Regions",
    "TwoLevel",
    "WithinRegion",
    "choose",
    "compare",
    "encode",
    "from_checkins",
    "grid",
    "improvements",
    "places",
]

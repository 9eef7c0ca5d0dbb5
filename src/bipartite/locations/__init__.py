"""Places: candidates, regions, and releases of a position."""

from bipartite.domains.regions import Regions
from bipartite.mechanisms import RegionWeighted, TwoLevel, WithinRegion

__all__ = ["RegionWeighted", "Regions", "TwoLevel", "WithinRegion"]

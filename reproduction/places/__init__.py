"""The paper's own protocols for places, and its rivals there: L-SRR, planar Laplace, and releases in regions.

``lsrr``, ``two_level`` and ``region_weighted`` make mechanisms of the library: ε-LDP. ``PublishedLSRR``,
``PlanarLaplace`` and ``WithinRegion`` promise less, say so, and are none: `proved` says what they keep. `from_spec`
reads the specs of all of them.
"""

from reproduction.places.in_regions import region_weighted, two_level
from reproduction.places.lsrr import PublishedLSRR, lsrr
from reproduction.places.maps import draw
from reproduction.places.planar import PlanarLaplace
from reproduction.places.regions import Regions
from reproduction.places.releases import (
    CALIBRATED,
    EPSILONS,
    PUBLISHED,
    WHOLE,
    WITHIN,
    Choice,
    Improvement,
    PlaceRelease,
    choose,
    compare,
    improvements,
)
from reproduction.places.weaker import Weaker, accountable, from_spec, proved
from reproduction.places.within_region import WithinRegion

__all__ = [
    "CALIBRATED", "EPSILONS", "PUBLISHED", "WHOLE", "WITHIN", "Choice", "Improvement", "PlaceRelease", "PlanarLaplace",
    "PublishedLSRR", "Regions", "Weaker", "WithinRegion", "accountable", "choose", "compare", "draw", "from_spec",
    "improvements", "lsrr", "proved", "region_weighted", "two_level",
]  # fmt: skip

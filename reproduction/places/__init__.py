"""The paper's own protocols for places, and its rivals there: L-SRR, planar Laplace, and releases in regions.

``lsrr``, ``two_level`` and ``region_weighted`` make mechanisms of the library: ε-LDP. ``PublishedLSRR``,
``PlanarLaplace`` and ``WithinRegion`` promise less, say so in ``guarantee``, and are none. `from_spec` reads the specs
of all of them.
"""

from reproduction.places.in_regions import region_weighted, two_level
from reproduction.places.lsrr import PublishedLSRR, lsrr
from reproduction.places.maps import draw
from reproduction.places.planar import PlanarLaplace
from reproduction.places.regions import Regions
from reproduction.places.releases import (
    BEST_M,
    CALIBRATED,
    EPSILONS,
    ONE_PLACE,
    PUBLISHED,
    RELEASES,
    WHOLE,
    WITHIN,
)
from reproduction.places.weaker import Weaker, from_spec
from reproduction.places.within_region import WithinRegion

__all__ = [
    "BEST_M", "CALIBRATED", "EPSILONS", "ONE_PLACE", "PUBLISHED", "RELEASES", "WHOLE", "WITHIN", "PlanarLaplace",
    "PublishedLSRR", "Regions", "Weaker", "WithinRegion", "draw", "from_spec", "lsrr", "region_weighted", "two_level",
]  # fmt: skip

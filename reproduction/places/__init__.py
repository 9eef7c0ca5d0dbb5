"""The paper's own protocols for places, and its rivals there: L-SRR, planar Laplace, and releases in regions.

``lsrr``, ``two_level`` and ``region_weighted`` make mechanisms of the library: ε-LDP. ``PublishedLSRR``,
``PlanarLaplace`` and ``WithinRegion`` promise less, say so, and are none: `proved` says what they keep. `from_spec`
reads the specs of all of them.
"""

from reproduction.places.choosing import EPSILONS, Choice, Improvement, choose, compare, improvements
from reproduction.places.in_regions import region_weighted, two_level
from reproduction.places.lsrr import PublishedLSRR, lsrr
from reproduction.places.maps import draw
from reproduction.places.planar import PlanarLaplace
from reproduction.places.reading import from_spec
from reproduction.places.regions import Regions, parts
from reproduction.places.releases import CALIBRATED, PUBLISHED, WHOLE, WITHIN, PlaceRelease
from reproduction.places.weaker import Weaker, accountable, proved
from reproduction.places.within_region import WithinRegion

__all__ = [
    "CALIBRATED",
    "EPSILONS",
    "PUBLISHED",
    "WHOLE",
    "WITHIN",
    "Choice",
    "Improvement",
    "PlaceRelease",
    "PlanarLaplace",
    "PublishedLSRR",
    "Regions",
    "Weaker",
    "WithinRegion",
    "accountable",
    "choose",
    "compare",
    "draw",
    "from_spec",
    "improvements",
    "lsrr",
    "parts",
    "proved",
    "region_weighted",
    "two_level",
]

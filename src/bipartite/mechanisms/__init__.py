"""One file a mechanism, one protocol."""

from bipartite.mechanisms.anchored import Anchored
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.brr import BRR
from bipartite.mechanisms.constant import Constant
from bipartite.mechanisms.duchi import Duchi
from bipartite.mechanisms.exponential import Exponential
from bipartite.mechanisms.geometric import Geometric
from bipartite.mechanisms.grr import GRR, RR
from bipartite.mechanisms.hybrid import Hybrid
from bipartite.mechanisms.laplace import Laplace
from bipartite.mechanisms.lsrr import LSRR
from bipartite.mechanisms.optimal import Optimal
from bipartite.mechanisms.piecewise import Piecewise
from bipartite.mechanisms.planar_laplace import PlanarLaplace
from bipartite.mechanisms.record import Record
from bipartite.mechanisms.region_weighted import RegionWeighted
from bipartite.mechanisms.square_wave import SquareWave
from bipartite.mechanisms.staircase import Staircase
from bipartite.mechanisms.two_level import TwoLevel
from bipartite.mechanisms.within_region import WithinRegion

__all__ = [
    "BRR",
    "GRR",
    "LSRR",
    "RR",
    "Anchored",
    "Constant",
    "Duchi",
    "Exponential",
    "Geometric",
    "Hybrid",
    "Laplace",
    "Mechanism",
    "Optimal",
    "Piecewise",
    "PlanarLaplace",
    "Record",
    "RegionWeighted",
    "SquareWave",
    "Staircase",
    "TwoLevel",
    "WithinRegion",
]

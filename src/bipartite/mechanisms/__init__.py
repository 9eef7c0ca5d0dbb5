"""One file a mechanism, one protocol: a domain and ε become a lottery whose tickets keep ε.

May import: lottery, domains, plots.
Begin reading: base.py, brr.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.lazily import lazily

if TYPE_CHECKING:
    from bipartite.mechanisms.anchored import Anchored as Anchored
    from bipartite.mechanisms.base import Mechanism as Mechanism
    from bipartite.mechanisms.brr import BRR as BRR
    from bipartite.mechanisms.constant import Constant as Constant
    from bipartite.mechanisms.duchi import Duchi as Duchi
    from bipartite.mechanisms.exponential import Exponential as Exponential
    from bipartite.mechanisms.geometric import Geometric as Geometric
    from bipartite.mechanisms.grr import GRR as GRR
    from bipartite.mechanisms.grr import RR as RR
    from bipartite.mechanisms.hybrid import Hybrid as Hybrid
    from bipartite.mechanisms.laplace import Laplace as Laplace
    from bipartite.mechanisms.lsrr import LSRR as LSRR
    from bipartite.mechanisms.optimal import Optimal as Optimal
    from bipartite.mechanisms.piecewise import Piecewise as Piecewise
    from bipartite.mechanisms.planar_laplace import PlanarLaplace as PlanarLaplace
    from bipartite.mechanisms.record import Record as Record
    from bipartite.mechanisms.region_weighted import RegionWeighted as RegionWeighted
    from bipartite.mechanisms.square_wave import SquareWave as SquareWave
    from bipartite.mechanisms.staircase import Staircase as Staircase
    from bipartite.mechanisms.two_level import TwoLevel as TwoLevel
    from bipartite.mechanisms.within_region import WithinRegion as WithinRegion

# Each name and the module that holds it.
_HOMES = {
    "Anchored": "bipartite.mechanisms.anchored",
    "BRR": "bipartite.mechanisms.brr",
    "Constant": "bipartite.mechanisms.constant",
    "Duchi": "bipartite.mechanisms.duchi",
    "Exponential": "bipartite.mechanisms.exponential",
    "GRR": "bipartite.mechanisms.grr",
    "Geometric": "bipartite.mechanisms.geometric",
    "Hybrid": "bipartite.mechanisms.hybrid",
    "LSRR": "bipartite.mechanisms.lsrr",
    "Laplace": "bipartite.mechanisms.laplace",
    "Mechanism": "bipartite.mechanisms.base",
    "Optimal": "bipartite.mechanisms.optimal",
    "Piecewise": "bipartite.mechanisms.piecewise",
    "PlanarLaplace": "bipartite.mechanisms.planar_laplace",
    "RR": "bipartite.mechanisms.grr",
    "Record": "bipartite.mechanisms.record",
    "RegionWeighted": "bipartite.mechanisms.region_weighted",
    "SquareWave": "bipartite.mechanisms.square_wave",
    "Staircase": "bipartite.mechanisms.staircase",
    "TwoLevel": "bipartite.mechanisms.two_level",
    "WithinRegion": "bipartite.mechanisms.within_region",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = [*_HOMES]  # noqa: PLE0604 (names, kept in one place)

"""The names by which commands and plans ask for a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.mechanisms.anchored import Anchored
from bipartite.mechanisms.brr import BRR
from bipartite.mechanisms.constant import Constant
from bipartite.mechanisms.duchi import Duchi
from bipartite.mechanisms.exponential import Exponential
from bipartite.mechanisms.geometric import Geometric
from bipartite.mechanisms.grr import GRR
from bipartite.mechanisms.hybrid import Hybrid
from bipartite.mechanisms.laplace import Laplace
from bipartite.mechanisms.lsrr import LSRR
from bipartite.mechanisms.optimal import Optimal
from bipartite.mechanisms.piecewise import Piecewise
from bipartite.mechanisms.planar_laplace import PlanarLaplace
from bipartite.mechanisms.square_wave import SquareWave
from bipartite.mechanisms.staircase import Staircase

if TYPE_CHECKING:
    from bipartite.mechanisms.base import Mechanism

BY_NAME: Final[dict[str, type[Mechanism]]] = {
    "anchored": Anchored,
    "brr": BRR,
    "constant": Constant,
    "duchi": Duchi,
    "exponential": Exponential,
    "geometric": Geometric,
    "grr": GRR,
    "hybrid": Hybrid,
    "laplace": Laplace,
    "lsrr": LSRR,
    "optimal": Optimal,
    "piecewise": Piecewise,
    "planar-laplace": PlanarLaplace,
    "square-wave": SquareWave,
    "staircase": Staircase,
}
WITH_PRIOR: Final = frozenset({"anchored", "constant", "optimal"})
"""Those whose design takes a prior; BRR does with ``m="best"``."""

"""One file a mechanism, one protocol."""

from bipartite.mechanisms.anchored import Anchored
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.brr import BRR
from bipartite.mechanisms.constant import Constant
from bipartite.mechanisms.exponential import Exponential
from bipartite.mechanisms.geometric import Geometric
from bipartite.mechanisms.grr import GRR, RR
from bipartite.mechanisms.lsrr import LSRR
from bipartite.mechanisms.optimal import Optimal
from bipartite.mechanisms.record import Record
from bipartite.mechanisms.square_wave import SquareWave

__all__ = [
    "BRR",
    "GRR",
    "LSRR",
    "RR",
    "Anchored",
    "Constant",
    "Exponential",
    "Geometric",
    "Mechanism",
    "Optimal",
    "Record",
    "SquareWave",
]

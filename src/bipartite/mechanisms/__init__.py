"""One file a mechanism, one protocol."""

from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.brr import BRR

__all__ = ["BRR", "Mechanism"]

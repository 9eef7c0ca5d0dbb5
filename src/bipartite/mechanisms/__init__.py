"""One file a mechanism, one protocol."""

from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.brr import BRR
from bipartite.mechanisms.record import Record

__all__ = ["BRR", "Mechanism", "Record"]

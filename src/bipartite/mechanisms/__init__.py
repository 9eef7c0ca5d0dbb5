"""One protocol, one reader of specs, one catalogue: a domain and ε become facts, and facts a deal that keeps ε.

May import: lottery, domains.
Begin reading: base.py, brr.py, catalogue.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.mechanisms.catalogue import entries

if TYPE_CHECKING:
    from bipartite.mechanisms.anchored import Anchored as Anchored
    from bipartite.mechanisms.anchored import AnchoredMeans as AnchoredMeans
    from bipartite.mechanisms.anchored import Minimax as Minimax
    from bipartite.mechanisms.base import Mechanism as Mechanism
    from bipartite.mechanisms.brr import BRR as BRR
    from bipartite.mechanisms.brr import SquareWave as SquareWave
    from bipartite.mechanisms.constant import Constant as Constant
    from bipartite.mechanisms.custom import Custom as Custom
    from bipartite.mechanisms.exponential import Exponential as Exponential
    from bipartite.mechanisms.grr import GRR as GRR
    from bipartite.mechanisms.noise import Geometric as Geometric
    from bipartite.mechanisms.noise import Laplace as Laplace
    from bipartite.mechanisms.noise import Staircase as Staircase
    from bipartite.mechanisms.optimal import Optimal as Optimal
    from bipartite.mechanisms.record import Record as Record
    from bipartite.mechanisms.unbiased import Duchi as Duchi
    from bipartite.mechanisms.unbiased import Hybrid as Hybrid
    from bipartite.mechanisms.unbiased import Piecewise as Piecewise

_OTHERS = {"Mechanism": f"{__name__}.base", "Record": f"{__name__}.record"}
_HOMES = _OTHERS | {each.kind: each.module for each in entries() if each.family not in {"flat", "regions"}}
__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = [*_HOMES]  # noqa: PLE0604 (names, kept in one place)

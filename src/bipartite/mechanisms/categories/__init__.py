"""Flat categories: frequency oracles for domains in which every wrong answer is equally wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.mechanisms.catalogue import entries

if TYPE_CHECKING:
    from bipartite.mechanisms.categories.base import CategoryMechanism as CategoryMechanism
    from bipartite.mechanisms.categories.estimates import CategoryEstimate as CategoryEstimate
    from bipartite.mechanisms.categories.hadamard import HadamardResponse as HadamardResponse
    from bipartite.mechanisms.categories.olh import OLH as OLH
    from bipartite.mechanisms.categories.oue import OUE as OUE
    from bipartite.mechanisms.categories.rappor import RAPPOR as RAPPOR
    from bipartite.mechanisms.categories.subset_selection import SubsetSelection as SubsetSelection
    from bipartite.mechanisms.categories.sue import SUE as SUE

_OTHERS = {"CategoryEstimate": f"{__name__}.estimates", "CategoryMechanism": f"{__name__}.base"}
_HOMES = _OTHERS | {each.kind: each.module for each in entries() if each.family == "flat"}
__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = [*_HOMES]  # noqa: PLE0604 (names, kept in one place)

"""Flat categories: frequency oracles for domains in which every wrong answer is equally wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.lazily import lazily
from bipartite.mechanisms.catalogue import entries

if TYPE_CHECKING:
    from bipartite.mechanisms.categories.hadamard import HadamardResponse as HadamardResponse
    from bipartite.mechanisms.categories.olh import OLH as OLH
    from bipartite.mechanisms.categories.subset_selection import SubsetSelection as SubsetSelection
    from bipartite.mechanisms.categories.unary import OUE as OUE
    from bipartite.mechanisms.categories.unary import RAPPOR as RAPPOR
    from bipartite.mechanisms.categories.unary import SUE as SUE

_HOMES = {each.kind: each.module for each in entries() if each.family == "flat"}
__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = [*_HOMES]  # noqa: PLE0604 (names, kept in one place)

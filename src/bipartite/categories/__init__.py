"""Flat categories: frequency oracles for domains in which every wrong answer is equally wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.lazily import lazily

if TYPE_CHECKING:
    from bipartite.categories.base import CategoryMechanism as CategoryMechanism
    from bipartite.categories.estimates import CategoryEstimate as CategoryEstimate
    from bipartite.categories.hadamard import HadamardResponse as HadamardResponse
    from bipartite.categories.olh import OLH as OLH
    from bipartite.categories.oue import OUE as OUE
    from bipartite.categories.rappor import RAPPOR as RAPPOR
    from bipartite.categories.subset_selection import SubsetSelection as SubsetSelection
    from bipartite.categories.sue import SUE as SUE

# Each name and the module that holds it.
_HOMES = {
    "CategoryEstimate": "bipartite.categories.estimates",
    "CategoryMechanism": "bipartite.categories.base",
    "HadamardResponse": "bipartite.categories.hadamard",
    "OLH": "bipartite.categories.olh",
    "OUE": "bipartite.categories.oue",
    "RAPPOR": "bipartite.categories.rappor",
    "SUE": "bipartite.categories.sue",
    "SubsetSelection": "bipartite.categories.subset_selection",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
__all__ = [*_HOMES]  # noqa: PLE0604 (names, kept in one place)

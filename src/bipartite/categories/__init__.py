"""Flat categories: frequency oracles for domains in which every wrong answer is equally wrong."""

from bipartite.categories.base import CategoryMechanism
from bipartite.categories.estimates import CategoryEstimate
from bipartite.categories.oue import OUE
from bipartite.categories.subset_selection import SubsetSelection
from bipartite.categories.sue import SUE

__all__ = [
    "OUE",
    "SUE",
    "CategoryEstimate",
    "CategoryMechanism",
    "SubsetSelection",
]

"""Flat categories: frequency oracles for domains in which every wrong answer is equally wrong."""

from bipartite.categories.base import CategoryMechanism
from bipartite.categories.estimates import CategoryEstimate
from bipartite.categories.hadamard import HadamardResponse
from bipartite.categories.olh import OLH
from bipartite.categories.oue import OUE
from bipartite.categories.rappor import RAPPOR
from bipartite.categories.subset_selection import SubsetSelection
from bipartite.categories.sue import SUE

__all__ = [
    "OLH",
    "OUE",
    "RAPPOR",
    "SUE",
    "CategoryEstimate",
    "CategoryMechanism",
    "HadamardResponse",
    "SubsetSelection",
]

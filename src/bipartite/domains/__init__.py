"""What may be reported: values on a line, points, items; how each becomes an index, and which are near.

May import: lottery.
Begin reading: base.py, integers.py.
"""

from bipartite.domains.base import Domain, LineDomain, Outside
from bipartite.domains.cyclic import Cyclic
from bipartite.domains.integers import Integers
from bipartite.domains.interval import Interval
from bipartite.domains.points import Points
from bipartite.domains.product import Product
from bipartite.domains.sets import Items, SetDomain

__all__ = [
    "Cyclic",
    "Domain",
    "Integers",
    "Interval",
    "Items",
    "LineDomain",
    "Outside",
    "Points",
    "Product",
    "SetDomain",
]

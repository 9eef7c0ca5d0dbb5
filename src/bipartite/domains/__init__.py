"""What may be reported: values on a line, their order and distances."""

from bipartite.domains.base import LineDomain, Outside
from bipartite.domains.integers import Integers
from bipartite.domains.interval import Interval

__all__ = ["Integers", "Interval", "LineDomain", "Outside"]

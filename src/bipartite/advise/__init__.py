"""Which mechanism, which ε, how many people."""

from bipartite.advise.comparing import compare
from bipartite.advise.comparison import Comparison
from bipartite.advise.people import SampleSize, sample_size
from bipartite.advise.row import Row

__all__ = ["Comparison", "Row", "SampleSize", "compare", "sample_size"]

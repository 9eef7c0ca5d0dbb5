"""Which mechanism, which ε, how many people."""

from bipartite.advise.comparing import compare
from bipartite.advise.comparison import Comparison
from bipartite.advise.people import SampleSize, sample_size
from bipartite.advise.row import Row
from bipartite.advise.several import ReportingPlan, SplitOrSample, split_or_sample

__all__ = [
    "Comparison",
    "ReportingPlan",
    "Row",
    "SampleSize",
    "SplitOrSample",
    "compare",
    "sample_size",
    "split_or_sample",
]

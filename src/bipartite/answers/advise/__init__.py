"""Which mechanism, which ε, how many people."""

from bipartite.answers.advise.advice import Advice
from bipartite.answers.advise.comparing import compare
from bipartite.answers.advise.comparison import Comparison
from bipartite.answers.advise.people import SampleSize, sample_size
from bipartite.answers.advise.recommending import Recommendation, recommend
from bipartite.answers.advise.reporting_plans import ReportingPlan, SplitOrSample
from bipartite.answers.advise.row import Row
from bipartite.answers.advise.several import split_or_sample

__all__ = [
    "Advice",
    "Comparison",
    "Recommendation",
    "ReportingPlan",
    "Row",
    "SampleSize",
    "SplitOrSample",
    "compare",
    "recommend",
    "sample_size",
    "split_or_sample",
]

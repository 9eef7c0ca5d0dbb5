"""Which mechanism, which ε, how many people."""

from bipartite.answers.advise.comparing import Comparison, compare
from bipartite.answers.advise.forecasting import forecast
from bipartite.answers.advise.measuring import Row
from bipartite.answers.advise.people import SampleSize, sample_size
from bipartite.answers.advise.recommending import Recommendation, recommend
from bipartite.answers.advise.splitting import ReportingPlan, SplitOrSample, split_or_sample

__all__ = [
    "Comparison",
    "Recommendation",
    "ReportingPlan",
    "Row",
    "SampleSize",
    "SplitOrSample",
    "compare",
    "forecast",
    "recommend",
    "sample_size",
    "split_or_sample",
]

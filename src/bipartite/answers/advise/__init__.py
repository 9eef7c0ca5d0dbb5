"""Which mechanism, which ε, how many people."""

from bipartite.answers.advise.comparing import compare
from bipartite.answers.advise.comparison import Comparison
from bipartite.answers.advise.forecasting import forecast
from bipartite.answers.advise.people import SampleSize, sample_size
from bipartite.answers.advise.recommendation import Recommendation
from bipartite.answers.advise.recommending import recommend
from bipartite.answers.advise.reporting_plans import ReportingPlan, SplitOrSample
from bipartite.answers.advise.rows import Row
from bipartite.answers.advise.splitting import split_or_sample

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

"""From reports to answers, with intervals."""

from bipartite.estimation.answers import Estimate
from bipartite.estimation.basis import Answer
from bipartite.estimation.counts import Counts
from bipartite.estimation.difference import Difference, difference
from bipartite.estimation.estimating import estimate
from bipartite.estimation.forecast import Forecast, forecast
from bipartite.estimation.groups import Estimates
from bipartite.estimation.identify import Identifiability, identifiability
from bipartite.estimation.intervals import Interval

__all__ = [
    "Answer",
    "Counts",
    "Difference",
    "Estimate",
    "Estimates",
    "Forecast",
    "Identifiability",
    "Interval",
    "difference",
    "estimate",
    "forecast",
    "identifiability",
]

"""From reports to answers, with intervals."""

from bipartite.estimation.answers import Estimate
from bipartite.estimation.basis import Answer
from bipartite.estimation.counts import Counts
from bipartite.estimation.difference import Difference, difference
from bipartite.estimation.estimating import estimate
from bipartite.estimation.estimating_joint import estimate_joint
from bipartite.estimation.forecast import Forecast, forecast
from bipartite.estimation.group_means import GroupMean
from bipartite.estimation.groups import Estimates
from bipartite.estimation.identify import Identifiability, identifiability
from bipartite.estimation.intervals import Interval
from bipartite.estimation.joint import JointEstimate

__all__ = [
    "Answer",
    "Counts",
    "Difference",
    "Estimate",
    "Estimates",
    "Forecast",
    "GroupMean",
    "Identifiability",
    "Interval",
    "JointEstimate",
    "difference",
    "estimate",
    "estimate_joint",
    "forecast",
    "identifiability",
]

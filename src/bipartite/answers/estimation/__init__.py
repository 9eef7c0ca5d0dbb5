"""From reports to answers, with intervals."""

from bipartite.answers.estimation.counts import Counts
from bipartite.answers.estimation.difference import Difference, difference
from bipartite.answers.estimation.estimate import Estimate
from bipartite.answers.estimation.estimating import estimate
from bipartite.answers.estimation.estimating_joint import estimate_joint
from bipartite.answers.estimation.goodness import GoodnessOfFit
from bipartite.answers.estimation.group_means import GroupMean
from bipartite.answers.estimation.groups import Estimates
from bipartite.answers.estimation.identify import Identifiability, identifiability
from bipartite.answers.estimation.intervals import ConfidenceInterval
from bipartite.answers.estimation.joint import JointEstimate
from bipartite.answers.estimation.linear import Answer
from bipartite.answers.estimation.poisoning import Poisoning
from bipartite.answers.estimation.ranges import RangeShare

__all__ = [
    "Answer",
    "ConfidenceInterval",
    "Counts",
    "Difference",
    "Estimate",
    "Estimates",
    "GoodnessOfFit",
    "GroupMean",
    "Identifiability",
    "JointEstimate",
    "Poisoning",
    "RangeShare",
    "difference",
    "estimate",
    "estimate_joint",
    "identifiability",
]

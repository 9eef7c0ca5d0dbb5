"""From reports to answers, with intervals."""

from bipartite.answers.estimation.answer import Answer, Forged
from bipartite.answers.estimation.counts import Counts
from bipartite.answers.estimation.difference import Difference, difference
from bipartite.answers.estimation.estimate import Estimate
from bipartite.answers.estimation.estimating import estimate, scores
from bipartite.answers.estimation.goodness import GoodnessOfFit
from bipartite.answers.estimation.groups import Estimates
from bipartite.answers.estimation.identify import Identifiability, identifiability
from bipartite.answers.estimation.intervals import ConfidenceInterval
from bipartite.answers.estimation.joint import JointEstimate

__all__ = [
    "Answer",
    "ConfidenceInterval",
    "Counts",
    "Difference",
    "Estimate",
    "Estimates",
    "Forged",
    "GoodnessOfFit",
    "Identifiability",
    "JointEstimate",
    "difference",
    "estimate",
    "identifiability",
    "scores",
]

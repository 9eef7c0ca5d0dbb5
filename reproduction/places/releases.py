"""The releases that the experiments on places compare, by their names in the tables."""

from collections.abc import Callable, Mapping
from typing import Final

from bipartite import BRR, GRR, Anchored, Constant, Exponential
from bipartite.domains import Points
from bipartite.mechanisms import Mechanism
from reproduction.places.lsrr import PublishedLSRR, lsrr

EPSILONS: Final = ("0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2")
"""The budgets of the paper's figure."""
WHOLE: Final = "whole domain"
WITHIN: Final = "within regions"
"""There every report publishes the region of its person, and ε holds within the region only."""
PUBLISHED: Final = "L-SRR as published"
CALIBRATED: Final = "L-SRR calibrated"
BEST_M: Final = "BRR, best m"
ONE_PLACE: Final = "one place"
RELEASES: Final[Mapping[str, Callable[[Points, str], Mechanism]]] = {
    "GRR": GRR,
    "BRR": BRR,
    BEST_M: lambda places, epsilon: BRR(places, epsilon, m="best"),
    "Exponential, tight": Exponential,
    CALIBRATED: lsrr,
    "Anchored": Anchored,
    ONE_PLACE: lambda places, _: Constant(places),
    PUBLISHED: lambda places, epsilon: PublishedLSRR(places, epsilon).rows,
}

"""The basic questions about pairs of values, from which all joint answers are computed, for any kind of report.

There is one class for each way of reporting a person's two values: :class:`~bipartite.answers.estimation.pair_outputs
.ByOutputs` where each has a report of its own that is one of M outputs, :class:`~bipartite.answers.estimation
.pair_people.ByPeople` where one of these is of flat categories, and :class:`~bipartite.answers.estimation.pair_domain
.OfProduct` where one report is about both (:class:`~bipartite.Product`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.intervals import ConfidenceInterval
    from bipartite.answers.estimation.linear import Answer, Several
    from bipartite.domains import Domain

    Array = NDArray[np.float64]
    Weights = tuple[Array, Array] | Array
    """The weight of every pair of values: a table, or two lists, whose outer product it is."""


class PairAnswers(ABC):
    """Reports about two values of each person."""

    domains: tuple[Domain, Domain]
    people: int
    """The number of people who reported both."""
    effective: float
    """The number of equally weighted people with the same precision."""

    @abstractmethod
    def answer(self, w: Weights) -> Answer | None:
        """The unbiased Σ w·share over all pairs; None if the reports cannot tell."""

    def together(self, member: Weights) -> Answer | None:
        """The share of a set of pairs: weight 1 for these, 0 for others."""
        return self.answer(member)

    def cell(self, first: int, second: int) -> Answer | None:
        """The share of one pair."""
        return self.together((unit(len(self.domains[0]), first), unit(len(self.domains[1]), second)))

    @abstractmethod
    def cells(self) -> Several | None:
        """The share of every pair, row by row; None if the reports cannot tell all of them."""

    @abstractmethod
    def covariance(self, rows: Sequence[Weights]) -> tuple[Array, Array] | None:
        """Several answers and their covariance, for people drawn from a population."""

    def left_open(self, w: Weights, sure: float) -> ConfidenceInterval | None:
        """The range that the reports leave open if they cannot tell Σ w·share; None if that is not known."""
        del w, sure
        return None

    @abstractmethod
    def marginal(self, at: int) -> Estimate:
        """The estimate of one of both on its own."""

    @abstractmethod
    def fits(self, shares: Array) -> GoodnessOfFit:
        """Whether the reports can have come from the mechanisms; ``shares`` are those of the people, roughly."""


def unit(size: int, at: int) -> Array:
    """1 for one value and 0 for all others."""
    found = np.zeros(size)
    found[at] = 1.0
    return found


def table_of(w: Weights) -> Array:
    """The weights of all pairs as a table."""
    return np.outer(*w) if isinstance(w, tuple) else w


def spread_of_products(first: tuple[Array, Array], second: tuple[Array, Array]) -> Array:
    """The largest minus the smallest product of two numbers between these ends, for every row of both."""
    found = [np.multiply.outer(one, other) for one in first for other in second]
    widest: Array = np.max(found, axis=0) - np.min(found, axis=0)
    return widest

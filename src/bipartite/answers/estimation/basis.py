"""What answers rest on: how a value and its variance come from the reports. One for each kind of report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.methods import Histogram
    from bipartite.answers.estimation.poisoning import Moved
    from bipartite.answers.estimation.quantiles import Ramps
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.categories import CategoryMechanism

    Array = NDArray[np.float64]


class Answer(NamedTuple):
    """One unbiased answer."""

    value: float
    standard_error: float
    """Infinite where the reports cannot tell."""
    spread: float
    """The largest minus the least score of a report: how far one report can move the sum."""


class Basis(ABC):
    """The reports of one mechanism, as far as answers need them."""

    mechanism: Mechanism | CategoryMechanism
    people: int
    """How many reports came."""
    size: float
    """The sum of their weights."""
    effective: float
    """How many equally weighted reports would be as certain."""
    found: Identifiability | None
    """What the reports can tell apart; None where that was too large to decide, or everything can be told."""
    of_sample: bool
    """Whether errors are for the people who answered."""

    @abstractmethod
    def fits(self, shares: Array) -> GoodnessOfFit:
        """Whether the reports can have come from the mechanism; the shares are about how the people are."""

    @abstractmethod
    def moved(self, w: Array, k: int) -> Moved | None:
        """What k forged reports can make of Σ w·share; None where the reports cannot tell."""

    @abstractmethod
    def moved_share(self, index: int, k: int) -> Moved | None:
        """What they can make of the unbiased share of one value."""

    @abstractmethod
    def moved_shares(self, k: int) -> Moved | None:
        """At least and at most what they can make of the unbiased share of each value; None where that is unknown."""

    @abstractmethod
    def moved_ramps(self, k: int) -> tuple[Ramps, Ramps] | None:
        """Ramps at least as low, and at least as high, as k forged reports can make them."""

    @abstractmethod
    def answer(self, w: Array) -> Answer | None:
        """Σ w·share, unbiased; None where the reports cannot tell."""

    @abstractmethod
    def share(self, index: int) -> Answer | None:
        """The share of one value, unbiased; None where the reports cannot tell."""

    @abstractmethod
    def covariance(self, w: Array) -> tuple[Array, Array] | None:
        """The answers of several rows and their covariance, over people drawn from a population."""

    @abstractmethod
    def ends(self, w: Array) -> tuple[Answer, Answer] | None:
        """The least and the largest answer that the reports leave open, each unbiased; None where even that is open."""

    @abstractmethod
    def standard_errors(self, histogram: Histogram) -> Array:
        """The standard error of every share of a histogram."""

    @abstractmethod
    def centres(self, histogram: Histogram) -> Array:
        """What intervals of its shares are around."""

    @abstractmethod
    def spreads(self) -> Array | None:
        """How far one report can move each share, infinite where there are too many to look at; None without scores."""

    @abstractmethod
    def running(self, histogram: Histogram) -> Array:
        """The share of people up to every value of a line."""

    @abstractmethod
    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        """(values, share, standard error) for every group of values that can be told from all others."""

    @abstractmethod
    def groups(self) -> NDArray[np.int64] | None:
        """The group of every value where the shares of all groups can be estimated; None where they cannot."""

    @abstractmethod
    def ramps(self) -> Ramps:
        """Shares up to values of a line, for intervals; only where :meth:`groups` is not None."""

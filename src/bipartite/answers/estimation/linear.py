"""Linear answers: averages over reports that are unbiased for every population, and their standard errors.

**Two kinds of scores.** A number (the mean, the variance, one weight per value) is an average of scores that depend on
no report: those of least variance for a uniform population, for means within 3 % of the best. Forged reports move it by
an amount that is known exactly. A share of people (of one value, of a range, or cumulative) is an average of scores
fitted to the reports, each to all others (:mod:`~bipartite.answers.estimation.scores`): the best scores of a share
depend strongly on the population. What forged reports can do to it is bounded. This holds from 50 reports on and for
windows of at least two outputs. Otherwise shares have fixed scores too: there are no others (GRR, Geometric, Laplace),
or no closed form is known (Piecewise, Hybrid and Staircase, whose shares of ranges have 1.0 to 1.2 times the smallest
possible error in the median, and up to 2.6 times at ε = 5 if all people are at two values).

There is one class for each kind of report: :class:`ByOutput` if every report is one of M outputs, and
:class:`~bipartite.answers.estimation.flat.BySupport` if it supports some values (flat categories).
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.answers.estimation.forged_outputs import moved_by_fitted_scores, moved_by_scores
from bipartite.answers.estimation.goodness import fit_of_outputs
from bipartite.answers.estimation.identify import identifiability
from bipartite.answers.estimation.intervals import FEW
from bipartite.answers.estimation.scores import MOST_DENSE, FittedScores
from bipartite.errors import DesignError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.forged_outputs import Moved
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.scores import Scores
    from bipartite.answers.estimation.tally import Tally
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_KEPT: Final = 4
# Larger mechanisms are not cached between estimates: that would keep their memory.
_MOST_KEPT: Final = 512


class Answer(NamedTuple):
    """One unbiased answer."""

    value: float
    standard_error: float
    """Infinite if the reports cannot tell."""
    spread: float
    """The largest minus the smallest score of a report: how far one report can move the sum. For flat categories it may
    be a smaller number for which Hoeffding's bound still holds (``pairs.py``, ``tail_spread``)."""


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """Many unbiased answers: as :class:`Answer`, with arrays."""

    values: Array
    errors: Array
    spreads: Array

    @property
    def first(self) -> Answer:
        """The first of them."""
        return Answer(float(self.values[0]), float(self.errors[0]), float(self.spreads[0]))


class LinearAnswers(ABC):
    """The reports of one mechanism, and linear answers from them."""

    mechanism: Mechanism
    people: int
    """The number of reports."""
    size: float
    """The sum of their weights."""
    effective: float
    """The number of equally weighted reports with the same precision."""
    found: Identifiability | None
    """Which values the reports can tell apart; None if there are too many to decide, or all can be."""
    of_sample: bool
    """Whether errors refer to the people who answered."""

    @property
    def domain(self) -> Domain:
        """The values that answers are about: those of the mechanism, or one part of its pairs."""
        return self.mechanism.domain

    @property
    @abstractmethod
    def tells_all(self) -> bool:
        """Whether the reports are known to tell all values apart."""

    @property
    @abstractmethod
    def distribution(self) -> Array:
        """Unbiased shares that add up to one, if all values can be told apart; shares of ranges are sums of them."""

    @abstractmethod
    def fits(self, shares: Array) -> GoodnessOfFit:
        """Whether the reports can have come from the mechanism; ``shares`` are those of the people, roughly."""

    @abstractmethod
    def moved(self, w: Array, k: int) -> Moved | None:
        """The range to which k forged reports can move Σ w·share; None if the reports cannot tell."""

    @abstractmethod
    def moved_together(self, member: Array, k: int, *, rough: bool = False) -> Moved | None:
        """The same for the share of a set of values: weight 1 for these, 0 for others.

        ``rough`` allows a wider bound if examining every report would take long.
        """

    @abstractmethod
    def moved_share(self, index: int, k: int) -> Moved | None:
        """The same for the unbiased share of one value."""

    @abstractmethod
    def moved_shares(self, k: int) -> Moved | None:
        """Bounds of the same for the unbiased share of each value; None if unknown."""

    @abstractmethod
    def answer(self, w: Array) -> Answer | None:
        """The unbiased Σ w·share; None if the reports cannot tell."""

    @abstractmethod
    def together(self, member: Array) -> Several | None:
        """The share of a set of values (weight 1, others 0), for each row of ``member``."""

    @abstractmethod
    def share(self, index: int) -> Answer | None:
        """The unbiased share of one value; None if the reports cannot tell."""

    @abstractmethod
    def shares(self) -> Several:
        """The share of every value, if the reports can tell all of them."""

    @abstractmethod
    def covariance(self, w: Array) -> tuple[Array, Array] | None:
        """The answers of several rows and their covariance, for people drawn from a population."""

    @abstractmethod
    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        """(values, share, standard error) for every group of values that cannot be told from each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What answers need to know about a mechanism before any report; computed once for all estimates."""

    law: Array
    """The distribution of reports when every value is equally likely."""
    found: Identifiability | None
    """None if the mechanism is too large to decide which values can be told apart; then scores are None too."""
    scores: Scores | None
    """Scores of least variance under that law, which depends on no data, so they are unbiased."""


def prepared(mechanism: Mechanism) -> Prepared:
    """What answers from reports of this mechanism need, cached."""
    return (_kept if len(mechanism.outputs) <= _MOST_KEPT else prepare)(mechanism)


def prepare(mechanism: Mechanism) -> Prepared:
    """The same, not cached."""
    law = mechanism.lottery.channel().uniform_law()
    # Shared between estimates, so read-only.
    law.flags.writeable = False
    try:
        found = identifiability(mechanism)
    except DesignError:
        return Prepared(law, None, None)
    return Prepared(law, found, found.scores(law))


_kept = functools.lru_cache(maxsize=_KEPT)(prepare)


class ByOutput(LinearAnswers):
    """Counts of outputs; each output has a score for every answer."""

    mechanism: Mechanism

    def __init__(self, mechanism: Mechanism, tally: Tally, known: Prepared, *, of_sample: bool) -> None:
        self.mechanism, self.found, self.of_sample = mechanism, known.found, of_sample
        self.people, self.size, self.effective = tally.people, tally.size, tally.effective
        self._tally, self._scores, self._possible = tally, known.scores, known.law > 0

    @property
    def tells_all(self) -> bool:
        return self.found is not None and self.found.identifiable

    @property
    def distribution(self) -> Array:
        # The scores of constant weights 1 are 1, so these add up to one.
        return self.shares().values

    def fits(self, shares: Array) -> GoodnessOfFit:
        return fit_of_outputs(self.mechanism, self._tally.counts, shares)

    def moved(self, w: Array, k: int) -> Moved | None:
        u = self._score(self._scores, w)
        return None if u is None else moved_by_scores(u, self._tally, k, self._possible)

    def moved_together(self, member: Array, k: int, *, rough: bool = False) -> Moved | None:
        del rough  # outputs are counted, so this is fast
        fitted = self._fitted
        if not isinstance(fitted, FittedScores) or self.found is None:
            return self.moved(member, k)
        answer = self.found.by_group(member)
        return None if answer is None else moved_by_fitted_scores(fitted, answer, self._tally, k)

    def moved_share(self, index: int, k: int) -> Moved | None:
        return self.moved_together(self._alone(index), k)

    def moved_shares(self, k: int) -> Moved | None:
        size = len(self.mechanism.domain)
        return None if size > MOST_DENSE else self.moved_together(np.eye(size), k)

    @functools.cached_property
    def _fitted(self) -> Scores | None:
        """The scores of shares."""
        if self._scores is None or self.effective < FEW:
            return self._scores
        return self._scores.fitted(self._tally.counts)

    def _score(self, scores: Scores | None, w: Array) -> Array | None:
        if scores is None or self.found is None:
            return None
        answer = self.found.by_group(w)
        return None if answer is None else scores.of(answer)

    def answer(self, w: Array) -> Answer | None:
        u = self._score(self._scores, w)
        if u is None:
            return None
        squares = self._score(self._scores, w**2) if self.of_sample else None
        variance = self._tally.variance(u) if squares is None else self._tally.own_variance(u, squares)
        return Answer(float(self._tally.mean(u)), math.sqrt(float(variance)), float(u.max() - u.min()))

    def together(self, member: Array) -> Several | None:
        u = self._score(self._fitted, member)
        if u is None:
            return None
        # Weights are 0 or 1 and equal their squares, so the score of the squares is the score itself.
        variance = self._tally.own_variance(u, u) if self.of_sample else self._tally.variance(u)
        return Several(self._tally.mean(u), np.sqrt(variance), u.max(axis=1) - u.min(axis=1))

    def share(self, index: int) -> Answer | None:
        found = self.together(self._alone(index)[None])
        return None if found is None else found.first

    def _alone(self, index: int) -> Array:
        unit = np.zeros(len(self.mechanism.domain))
        unit[index] = 1.0
        return unit

    def shares(self) -> Several:
        return self._shares

    @functools.cached_property
    def _shares(self) -> Several:
        found, scores = self._known()
        values, variances = self._group_shares()
        spreads = scores.share_spreads() if found.rows <= MOST_DENSE else np.full(found.rows, np.inf)
        return Several(*(each[found.group_of] for each in (values, np.sqrt(variances), spreads)))

    def _known(self) -> tuple[Identifiability, Scores]:
        if self.found is None or self._fitted is None or not self.found.groups_identifiable:
            raise DesignError(
                "Not even groups of values can be told apart"
                f"{'' if self.found is None else f': {self.found}'}; use est.frequencies, which are a guess."
            )
        return self.found, self._fitted

    def _group_shares(self) -> tuple[Array, Array]:
        """(the unbiased share of each group, its variance)."""
        _, scores = self._known()
        tally = self._tally
        mean = scores.shares(tally.law).mean
        total = float(tally.second.sum())
        squared = scores.shares(tally.second / total)
        part = total / tally.size**2
        if self.of_sample:
            return mean, np.maximum(squared.square - squared.mean, 0.0) * part
        square = squared.square - 2 * mean * squared.mean + mean**2
        return mean, np.maximum(square, 0.0) * (part * tally.correction)

    def covariance(self, w: Array) -> tuple[Array, Array] | None:
        u = self._score(self._scores, w)
        return None if u is None else (self._tally.mean(u), self._tally.covariance(u))

    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        found, _ = self._known()
        shares, variances = self._group_shares()
        order = np.argsort(found.group_of, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(found.group_of))[:-1])
        domain = self.mechanism.domain
        return [
            (domain[values].tolist(), share, error)
            for values, share, error in zip(members, shares.tolist(), np.sqrt(variances).tolist(), strict=True)
        ]

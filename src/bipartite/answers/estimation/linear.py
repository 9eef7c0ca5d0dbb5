"""Linear answers: averages over reports that are unbiased for every population, and their standard errors.

**Two kinds of scores.** A number (the mean, the variance, one weight a value) is an average of scores that depend on no
report: those of least variance for a uniform population, for means within 3 % of the best. Forged reports move it by an
amount that is known exactly. A share of people (of one value, up to a value, of a range) is an average of scores fitted
to the reports, each to all others (:mod:`~bipartite.answers.estimation.scores`): the best scores of a share depend much
on where the people are. What forged reports can do to it is bounded. So it is from 50 reports on and for windows of two
outputs and more. Elsewhere shares have fixed scores, too: there are no others (GRR, Geometric, Laplace), or no closed
form is known (Piecewise, Hybrid and Staircase, whose shares of ranges have 1.0 to 1.2 times the least error in the
median, and up to 2.6 times at ε = 5 where all people are at two values).

One class for each kind of report: :class:`ByOutput` where every report is one of M outputs, and
:class:`~bipartite.answers.estimation.flat.BySupport` where it supports some values (flat categories).
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
from bipartite.answers.estimation.operator import operator_of
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
    from bipartite.mechanisms.categories import CategoryMechanism

    Array = NDArray[np.float64]

_KEPT: Final = 4
# Of larger mechanisms nothing is kept from one estimate to the next: it would hold memory that was given for one.
_MOST_KEPT: Final = 512


class Answer(NamedTuple):
    """One unbiased answer."""

    value: float
    standard_error: float
    """Infinite where the reports cannot tell."""
    spread: float
    """The largest minus the least score of a report: how far one report can move the sum. For flat categories it may be
    smaller: a number of which Hoeffding's bound is as true (``pairs.py``, ``tail_spread``)."""


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """Many unbiased answers: as :class:`Answer`, an array each."""

    values: Array
    errors: Array
    spreads: Array

    @property
    def first(self) -> Answer:
        """The first of them."""
        return Answer(float(self.values[0]), float(self.errors[0]), float(self.spreads[0]))


class LinearAnswers(ABC):
    """The reports of one mechanism, as far as linear answers need them."""

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

    @property
    def domain(self) -> Domain:
        """The values that answers are about: those of the mechanism, or of a part of them."""
        return self.mechanism.domain

    @property
    @abstractmethod
    def tells_all(self) -> bool:
        """Whether the reports are known to tell all values apart."""

    @property
    @abstractmethod
    def distribution(self) -> Array:
        """Unbiased shares that add up to one, where all values can be told apart; shares of ranges are sums of them."""

    @abstractmethod
    def fits(self, shares: Array) -> GoodnessOfFit:
        """Whether the reports can have come from the mechanism; the shares are about how the people are."""

    @abstractmethod
    def moved(self, w: Array, k: int) -> Moved | None:
        """What k forged reports can make of the number Σ w·share; None where the reports cannot tell."""

    @abstractmethod
    def moved_together(self, member: Array, k: int, *, rough: bool = False) -> Moved | None:
        """What they can make of the share of some values together, whose weight is 1 and that of others 0.

        ``rough`` allows a wider bound where looking at every report would take long.
        """

    @abstractmethod
    def moved_share(self, index: int, k: int) -> Moved | None:
        """What they can make of the unbiased share of one value."""

    @abstractmethod
    def moved_shares(self, k: int) -> Moved | None:
        """At least and at most what they can make of the unbiased share of each value; None where that is unknown."""

    @abstractmethod
    def answer(self, w: Array) -> Answer | None:
        """The number Σ w·share, unbiased; None where the reports cannot tell."""

    @abstractmethod
    def together(self, member: Array) -> Several | None:
        """The share of some values together, whose weight is 1 and that of others 0, for each row of ``member``."""

    @abstractmethod
    def share(self, index: int) -> Answer | None:
        """The share of one value, unbiased; None where the reports cannot tell."""

    @abstractmethod
    def shares(self) -> Several:
        """The share of every value, all of which the reports can tell."""

    @abstractmethod
    def covariance(self, w: Array) -> tuple[Array, Array] | None:
        """The answers of several rows and their covariance, over people drawn from a population."""

    @abstractmethod
    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        """(values, share, standard error) for every group of values that can be told from all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What answers need of a mechanism before any report; made once for all groups, dates and repetitions."""

    law: Array
    """The distribution of reports when every value is equally likely."""
    found: Identifiability | None
    """None where the mechanism is too large to decide what can be told apart; so are the scores."""
    scores: Scores | None
    """Scores of least variance under that law: a choice that depends on no data keeps them unbiased."""


def prepared(mechanism: Mechanism) -> Prepared:
    """What answers from reports of this mechanism need."""
    return (_kept if len(mechanism.outputs) <= _MOST_KEPT else prepare)(mechanism)


def prepare(mechanism: Mechanism) -> Prepared:
    """The same, not kept for the next time."""
    law = operator_of(mechanism).uniform_law()
    # It is shared, and nobody is to change it for others.
    law.flags.writeable = False
    try:
        found = identifiability(mechanism)
    except DesignError:
        return Prepared(law, None, None)
    return Prepared(law, found, found.scores(law))


_kept = functools.lru_cache(maxsize=_KEPT)(prepare)


class ByOutput(LinearAnswers):
    """Counts of outputs, each of which has a score for every answer."""

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
        # The scores of 1 are 1, so that these add up to one.
        return self.shares().values

    def fits(self, shares: Array) -> GoodnessOfFit:
        return fit_of_outputs(self.mechanism, self._tally.counts, shares)

    def moved(self, w: Array, k: int) -> Moved | None:
        u = self._score(self._scores, w)
        return None if u is None else moved_by_scores(u, self._tally, k, self._possible)

    def moved_together(self, member: Array, k: int, *, rough: bool = False) -> Moved | None:
        del rough  # outputs are counted, so that nothing takes long
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
        # A person counts 1 or 0, which is its own square, so that the score of the square is the score.
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
            msg = (
                "Not even groups of values can be told apart here"
                f"{'' if self.found is None else f': {self.found}'}; use est.frequencies, which are a guess."
            )
            raise DesignError(msg)
        return self.found, self._fitted

    def _group_shares(self) -> tuple[Array, Array]:
        """(the unbiased share of each group, its variance): what a tally has for one score, for all groups."""
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

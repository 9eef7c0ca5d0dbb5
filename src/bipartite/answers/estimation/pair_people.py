"""Pairs of reports, at least one of them of flat categories: scored person by person.

There are far too many different reports of flat categories to count them. But the score of each can be computed, and
given a person's two values their two reports are independent, so the product of two unbiased scores is unbiased for the
product.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.goodness import either_fits
from bipartite.answers.estimation.intervals import FEW
from bipartite.answers.estimation.linear import Answer, Several
from bipartite.answers.estimation.pair_answers import PairAnswers, spread_of_products
from bipartite.answers.estimation.pairs import pair_law
from bipartite.answers.estimation.tally import spare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.kronecker import Side
    from bipartite.answers.estimation.pair_answers import Weights
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

# The most numbers in memory at once: people times the values of both.
_ROOM: Final = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The scores of some rows of weights."""

    of: Callable[[slice], Array]
    """The scores of some people: a row for each row of weights, a column for each person."""
    ends: tuple[Array, Array]
    """The smallest and the largest score of each row, as in :class:`~bipartite.answers.estimation.linear.Answer`."""


class PeopleSide(ABC):
    """One attribute: the report of each person, and its scores."""

    mechanism: Mechanism
    reports: NDArray[Any]

    @property
    def domain(self) -> Domain:
        """The values of the attribute."""
        return self.mechanism.domain

    @abstractmethod
    def scored(self, w: Array) -> Scored | None:
        """The scores of every row of w; None if the reports cannot tell."""

    @property
    @abstractmethod
    def tells_all(self) -> bool:
        """Whether its reports tell all values apart."""

    @abstractmethod
    def mean_square(self) -> float:
        """The mean square of the score of a share, over all shares and a uniform population."""


class OutputSide(PeopleSide):
    """An attribute whose report is one of M outputs."""

    def __init__(self, side: Side, indices: NDArray[np.int64]) -> None:
        self.mechanism, self.reports, self._side = side.mechanism, indices, side

    def scored(self, w: Array) -> Scored | None:
        u = self._side.score(w)
        if u is None:
            return None
        scores = u
        return Scored(lambda some: scores[:, self.reports[some]], (u.min(axis=1), u.max(axis=1)))

    @property
    def tells_all(self) -> bool:
        return self._side.found.identifiable

    def mean_square(self) -> float:
        return self._side.mean_square()


class FlatSide(PeopleSide):
    """An attribute of flat categories."""

    mechanism: Mechanism

    def __init__(self, mechanism: Mechanism, reports: NDArray[Any]) -> None:
        self.mechanism, self.reports, self._law = mechanism, reports, pair_law(mechanism)

    def scored(self, w: Array) -> Scored:
        middle = w.mean(axis=1)
        z = w - middle[:, None]
        low, high = self._law.ends(z)
        if len(self.reports) >= FEW:
            # The bits of a report do not all deviate in one direction: at most as far as tails reach (`tail_spread`).
            half = self._law.tail_spread(z, self._law.own(z)) / 2
            among = (z.min(axis=1) + z.max(axis=1)) / 2
            low, high = np.maximum(low, among - half), np.minimum(high, among + half)
        return Scored(
            lambda some: middle[:, None] + self._law.parts(z, self.reports[some]), (middle + low, middle + high)
        )

    @property
    def tells_all(self) -> bool:
        return True

    def mean_square(self) -> float:
        size = len(self.domain)
        return float(self.mechanism.variances(np.full(size, 1 / size), 1).mean()) + 1 / size


class ByPeople(PairAnswers):
    """Products of the two scores of every person."""

    def __init__(self, sides: tuple[PeopleSide, PeopleSide], marginal: Callable[[PeopleSide], Estimate]) -> None:
        self.domains = sides[0].domain, sides[1].domain
        self._sides, self._marginal = sides, marginal
        self.people = len(sides[0].reports)
        self.effective = float(self.people)

    def _parts(self) -> Iterator[slice]:
        step = max(1, _ROOM // sum(map(len, self.domains)))
        return (slice(start, start + step) for start in range(0, self.people, step))

    def _both(self, first: Array, second: Array) -> tuple[Scored, Scored] | None:
        scored = [side.scored(w) for side, w in zip(self._sides, (first, second), strict=True)]
        one, other = scored
        return None if one is None or other is None else (one, other)

    def _score(self, w: Weights) -> tuple[Array, float] | None:
        """The score of every person, and the spread of scores."""
        # A table row by row: the score of a row's weights times the score of being in that row.
        pair = self._both(w[0][None], w[1][None]) if isinstance(w, tuple) else self._both(np.eye(len(w)), w)
        if pair is None:
            return None
        found = np.empty(self.people)
        for some in self._parts():
            found[some] = (pair[0].of(some) * pair[1].of(some)).sum(axis=0)
        return found, float(np.diag(spread_of_products(pair[0].ends, pair[1].ends)).sum())

    def answer(self, w: Weights) -> Answer | None:
        scored = self._score(w)
        if scored is None:
            return None
        scores, spread = scored
        mean = float(scores.mean())
        error = math.sqrt(float(((scores - mean) ** 2).mean()) / spare(self.effective))
        return Answer(mean, error, spread)

    def cells(self) -> Several | None:
        pair = self._both(*(np.eye(len(domain)) for domain in self.domains))
        if pair is None:
            return None
        first, second = pair
        means, squares = np.zeros((2, *map(len, self.domains)))
        for some in self._parts():
            u1, u2 = first.of(some), second.of(some)
            means += u1 @ u2.T / self.people
            squares += u1**2 @ u2.T**2 / self.people
        errors = np.sqrt(np.maximum(squares - means**2, 0.0) / spare(self.effective))
        return Several(means.ravel(), errors.ravel(), spread_of_products(first.ends, second.ends).ravel())

    def covariance(self, rows: Sequence[Weights]) -> tuple[Array, Array] | None:
        scored = [self._score(w) for w in rows]
        held = [each[0] for each in scored if each is not None]
        if len(held) < len(scored):
            return None
        scores = np.stack(held)
        values = scores.mean(axis=1)
        apart = scores - values[:, None]
        return values, apart @ apart.T / self.people / spare(self.effective)

    def marginal(self, at: int) -> Estimate:
        return self._marginal(self._sides[at])

    def fits(self, shares: Array) -> GoodnessOfFit:
        del shares
        return either_fits(*(self.marginal(at).fits for at in (0, 1)))

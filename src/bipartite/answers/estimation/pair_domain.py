"""Reports about two values at once, on a :class:`~bipartite.Product`: answers about pairs are linear answers."""

from __future__ import annotations

import copy
import functools
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.histogram import Histogram, Unbiased
from bipartite.answers.estimation.linear import LinearAnswers, Several
from bipartite.answers.estimation.pair_answers import PairAnswers, table_of, unit
from bipartite.errors import DesignError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.forged_outputs import Moved
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.intervals import ConfidenceInterval
    from bipartite.answers.estimation.linear import Answer
    from bipartite.answers.estimation.pair_answers import Weights
    from bipartite.domains import Domain

    Array = NDArray[np.float64]
    MakeEstimate = Callable[[LinearAnswers, Callable[[], Histogram]], Estimate]

# The most weights of pairs in memory at once.
_ROOM: Final = 2**22
_SUMS: Final = "sums of unbiased shares of pairs over the other part"
_NO_QUANTILES: Final = "quantiles have no intervals if not all pairs can be told apart; ask for a range"


class OfProduct(PairAnswers):
    """Answers from a mechanism whose values are pairs."""

    def __init__(
        self, domain: Domain, answers: LinearAnswers, histogram: Callable[[], Histogram], make: MakeEstimate
    ) -> None:
        first, second = domain.parts
        self.domains = first, second
        self.people, self.effective = answers.people, answers.effective
        self._inner, self._histogram, self._make = answers, histogram, make

    def answer(self, w: Weights) -> Answer | None:
        return self._inner.answer(table_of(w).ravel())

    def together(self, member: Weights) -> Answer | None:
        found = self._inner.together(table_of(member).reshape(1, -1))
        return None if found is None else found.first

    def cell(self, first: int, second: int) -> Answer | None:
        return self._inner.share(first * len(self.domains[1]) + second)

    def cells(self) -> Several | None:
        return self._inner.shares() if self._inner.tells_all else None

    def covariance(self, rows: Sequence[Weights]) -> tuple[Array, Array] | None:
        return self._inner.covariance(np.stack([table_of(w).ravel() for w in rows]))

    def left_open(self, w: Weights, sure: float) -> ConfidenceInterval:
        return self._histogram().interval(table_of(w).ravel(), sure)

    def marginal(self, at: int) -> Estimate:
        margin = Margin(self._inner, self.domains, at, self._histogram)
        if self._inner.tells_all:
            return self._make(margin, partial(Unbiased, margin, "inverse", _SUMS))
        return self._make(margin, partial(SumsOfPairs, margin, self._histogram))

    def fits(self, shares: Array) -> GoodnessOfFit:
        return self._inner.fits(shares)


class Margin(LinearAnswers):
    """One of both values on its own: its weight is the weight of all pairs that contain it."""

    def __init__(
        self, inner: LinearAnswers, domains: tuple[Domain, Domain], at: int, histogram: Callable[[], Histogram]
    ) -> None:
        # Identifiability is known for pairs, not for their parts.
        self.mechanism, self.found, self.of_sample = inner.mechanism, None, inner.of_sample
        self.people, self.size, self.effective = inner.people, inner.size, inner.effective
        self._inner, self._domains, self._at, self._histogram = inner, domains, at, histogram

    @property
    def domain(self) -> Domain:
        return self._domains[self._at]

    def of_pairs(self, w: Array) -> Array:
        """The weights of all pairs, row by row, from those of this value, along the last axis."""
        other = len(self._domains[1 - self._at])
        found: Array = np.repeat(w, other, axis=-1) if self._at == 0 else np.tile(w, other)
        return found

    @property
    def tells_all(self) -> bool:
        return self._inner.tells_all

    @property
    def distribution(self) -> Array:
        shape = len(self._domains[0]), len(self._domains[1])
        found: Array = self._inner.distribution.reshape(shape).sum(axis=1 - self._at)
        return found

    def fits(self, shares: Array) -> GoodnessOfFit:
        del shares  # of this value only, but the reports are about pairs
        return self._inner.fits(self._histogram().frequencies)

    def moved(self, w: Array, k: int) -> Moved | None:
        return self._inner.moved(self.of_pairs(w), k)

    def moved_together(self, member: Array, k: int, *, rough: bool = False) -> Moved | None:
        return self._inner.moved_together(self.of_pairs(member), k, rough=rough)

    def moved_share(self, index: int, k: int) -> Moved | None:
        return self.moved_together(unit(len(self.domain), index), k)

    def moved_shares(self, k: int) -> Moved | None:
        del k
        return None

    def answer(self, w: Array) -> Answer | None:
        return self._inner.answer(self.of_pairs(w))

    def together(self, member: Array) -> Several | None:
        return self._inner.together(self.of_pairs(member))

    def share(self, index: int) -> Answer | None:
        found = self.together(unit(len(self.domain), index)[None])
        return None if found is None else found.first

    def shares(self) -> Several:
        return self._shares

    @functools.cached_property
    def _shares(self) -> Several:
        step = max(1, _ROOM // len(self._inner.domain))
        rows = np.eye(len(self.domain))
        parts = [self.together(rows[start : start + step]) for start in range(0, len(rows), step)]
        held = [part for part in parts if part is not None]
        if len(held) < len(parts):
            raise DesignError(
                "The reports about pairs cannot tell all values of this part apart; use est.frequencies, which are "
                "only a guess."
            )
        columns = [[part.values, part.errors, part.spreads] for part in held]
        return Several(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def covariance(self, w: Array) -> tuple[Array, Array] | None:
        return self._inner.covariance(self.of_pairs(w))

    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        shares = self.shares()
        rows = zip(self.domain.to_numpy().tolist(), shares.values.tolist(), shares.errors.tolist(), strict=True)
        return [([value], share, error) for value, share, error in rows]


class SumsOfPairs(Histogram):
    """The shares of one of both values if not all pairs can be told apart: sums over a histogram of pairs."""

    def __init__(self, margin: Margin, pairs: Callable[[], Histogram]) -> None:
        self._margin, self._pairs = margin, pairs()
        self.method, self.reason, self.fit = self._pairs.method, self._pairs.reason, self._pairs.fit
        size = len(margin.domain)
        self.frequencies = np.array([margin.of_pairs(unit(size, at)) @ self._pairs.frequencies for at in range(size)])

    def from_origin(self, origin: int) -> Histogram:
        turned = copy.copy(self)
        turned.frequencies = np.roll(self.frequencies, -origin)
        return turned

    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        return self._pairs.interval(self._margin.of_pairs(w), confidence)

    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        del q, confidence
        return 0, len(self.frequencies) - 1, _NO_QUANTILES

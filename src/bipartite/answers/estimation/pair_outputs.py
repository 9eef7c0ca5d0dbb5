"""Pairs of reports, each one of M outputs: counted, and scored by products of scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bipartite.answers.estimation.goodness import fit_of_pairs
from bipartite.answers.estimation.kronecker import Kronecker, score_of_product, score_of_table
from bipartite.answers.estimation.linear import Answer, Several
from bipartite.answers.estimation.pair_answers import PairAnswers, spread_of_products
from bipartite.answers.estimation.tally import spare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.kronecker import Side
    from bipartite.answers.estimation.pair_answers import Weights
    from bipartite.answers.estimation.tally import Tally
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]


class ByOutputs(PairAnswers):
    """Counts of pairs of outputs: the score of a pair for a product of weights is the product of both scores."""

    def __init__(
        self, sides: tuple[Side, Side], tally: Tally, marginal: Callable[[Mechanism, Array], Estimate]
    ) -> None:
        self.domains = sides[0].mechanism.domain, sides[1].mechanism.domain
        self.people, self.effective = tally.people, tally.effective
        self._sides, self._tally, self._marginal = sides, tally, marginal
        self._shape = sides[0].operator.outputs, sides[1].operator.outputs

    def _scores(self, w: Weights) -> Array | None:
        found = score_of_product(*self._sides, *w) if isinstance(w, tuple) else score_of_table(*self._sides, w)
        return None if found is None else found.ravel()

    def answer(self, w: Weights) -> Answer | None:
        u = self._scores(w)
        if u is None:
            return None
        error = math.sqrt(float(self._tally.variance(u)))
        return Answer(float(self._tally.mean(u)), error, float(u.max() - u.min()))

    def cells(self) -> Several | None:
        u1, u2 = (side.of_shares() for side in self._sides)
        if u1 is None or u2 is None:
            return None
        law = self._tally.law.reshape(self._shape)
        means, squares = u1 @ law @ u2.T, u1**2 @ law @ u2.T**2
        errors = np.sqrt(np.maximum(squares - means**2, 0.0) / spare(self.effective))
        ends = [(u.min(axis=1), u.max(axis=1)) for u in (u1, u2)]
        return Several(means.ravel(), errors.ravel(), spread_of_products(*ends).ravel())

    def covariance(self, rows: Sequence[Weights]) -> tuple[Array, Array] | None:
        scores = [self._scores(w) for w in rows]
        held = [u for u in scores if u is not None]
        if len(held) < len(scores):
            return None
        u = np.stack(held)
        return self._tally.mean(u), self._tally.covariance(u)

    def marginal(self, at: int) -> Estimate:
        counts = self._tally.first.reshape(self._shape).sum(axis=1 - at)
        return self._marginal(self._sides[at].mechanism, counts)

    def fits(self, shares: Array) -> GoodnessOfFit:
        del shares  # the most likely table of pairs is fitted again
        first, second = self._sides
        operator = Kronecker(first.operator, second.operator)
        return fit_of_pairs(first.mechanism, second.mechanism, operator, self._tally.counts)

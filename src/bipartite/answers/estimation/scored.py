"""Answers from the reports of a mechanism with neighbours, as averages of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.answers.estimation import methods
from bipartite.answers.estimation.basis import Answer, Basis
from bipartite.answers.estimation.evidence import Evidence
from bipartite.answers.estimation.goodness import fit_of_outputs
from bipartite.answers.estimation.intervals import FEW
from bipartite.answers.estimation.poisoning import moved_by_scores
from bipartite.answers.estimation.scores import MOST_DENSE
from bipartite.errors import DesignError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.poisoning import Moved
    from bipartite.answers.estimation.prepared import Prepared
    from bipartite.answers.estimation.quantiles import Ramps
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Forged(Evidence):
    """Evidence whose averages are as low, or as high, as forged reports can make each of them."""

    forged: int
    possible: NDArray[np.bool_]
    up: bool

    def mean(self, u: Array) -> Array:
        moved = moved_by_scores(u, self, self.forged, self.possible)
        return moved.high if self.up else moved.low


class Scored(Basis):
    """Counts of reports, each with a score for every answer."""

    mechanism: Mechanism

    def __init__(self, mechanism: Mechanism, evidence: Evidence, known: Prepared, *, of_sample: bool) -> None:
        self.mechanism, self.found, self.of_sample = mechanism, known.found, of_sample
        self.people, self.size, self.effective = evidence.people, evidence.size, evidence.effective
        self._evidence, self._scores, self._ramp_scores = evidence, known.scores, known.ramps
        self._possible = known.law > 0

    def _known(self) -> Identifiability:
        if self.found is None:
            msg = (
                "This mechanism is too large to decide what can be told apart, so there are no error bars; use fewer "
                "values, or GRR."
            )
            raise DesignError(msg)
        return self.found

    def _score(self, w: Array) -> Array | None:
        scores = self._scores
        answer = None if scores is None else self._known().by_group(w)
        return None if scores is None or answer is None else scores.of(answer)

    def _of(self, u: Array, u2: Array | None) -> Answer:
        evidence = self._evidence
        variance = evidence.variance(u) if u2 is None else evidence.own_variance(u, u2)
        return Answer(float(evidence.mean(u)), math.sqrt(variance), float(u.max() - u.min()))

    def fits(self, shares: Array) -> GoodnessOfFit:
        return fit_of_outputs(self.mechanism, self._evidence.counts, shares)

    def moved(self, w: Array, k: int) -> Moved | None:
        u = None if self.found is None else self._score(w)
        return None if u is None else moved_by_scores(u, self._evidence, k, self._possible)

    def moved_share(self, index: int, k: int) -> Moved | None:
        unit = np.zeros(len(self.mechanism.domain))
        unit[index] = 1.0
        return self.moved(unit, k)

    def moved_shares(self, k: int) -> Moved | None:
        size = len(self.mechanism.domain)
        return None if size > MOST_DENSE else self.moved(np.eye(size), k)

    def moved_ramps(self, k: int) -> tuple[Ramps, Ramps] | None:
        if self._ramp_scores is None or self.groups() is None:
            return None
        held = self._evidence
        less, more = (
            _Forged(held.first, held.second, held.people, held.counts, held.each, k, self._possible, up)
            for up in (False, True)
        )
        return self._ramp_scores.ramps(less, of_sample=False), self._ramp_scores.ramps(more, of_sample=False)

    def answer(self, w: Array) -> Answer | None:
        u = self._score(w)
        return None if u is None else self._of(u, self._score(w**2) if self.of_sample else None)

    def share(self, index: int) -> Answer | None:
        unit = np.zeros(len(self.mechanism.domain))
        unit[index] = 1.0
        return self.answer(unit)

    def covariance(self, w: Array) -> tuple[Array, Array] | None:
        u = self._score(w)
        return None if u is None else (self._evidence.mean(u), self._evidence.covariance(u))

    def ends(self, w: Array) -> tuple[Answer, Answer] | None:
        scores = self._scores
        if scores is None or not self._known().groups_identifiable:
            return None
        low, high = (scores.of(bound) for bound in self._known().bounds(w))
        assert low is not None and high is not None  # noqa: S101, PT018 (all groups are identifiable)
        return self._of(low, None), self._of(high, None)

    def standard_errors(self, histogram: methods.Histogram) -> Array:
        return methods.standard_errors(
            histogram, self.mechanism, self._evidence, self._known(), self._scores, of_sample=self.of_sample
        )

    def centres(self, histogram: methods.Histogram) -> Array:
        few = self.effective < FEW and self.found is not None and self.found.groups_identifiable
        if self._scores is not None and (few or histogram.method == "projected"):
            return self._scores.shares(self._evidence.law).mean[self._known().group_of]
        return histogram.frequencies

    def spreads(self) -> Array | None:
        if self._scores is None:
            return None
        found = self._known()
        if found.rows > MOST_DENSE:
            return np.full(len(found.group_of), np.inf)
        alone = np.bincount(found.group_of)[found.group_of] == 1
        return np.where(alone, self._scores.share_spreads()[found.group_of], np.inf)

    def running(self, histogram: methods.Histogram) -> Array:
        return histogram.frequencies.cumsum()

    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        found = self._known()
        scores = self._scores
        if scores is None or not found.groups_identifiable:
            msg = f"Not even groups of values can be told apart here: {found}; use est.frequencies, which are a guess."
            raise DesignError(msg)
        shares, variances = methods.unbiased_shares(scores, self._evidence, of_sample=self.of_sample)
        order = np.argsort(found.group_of, kind="stable")
        cuts = np.cumsum(np.bincount(found.group_of))[:-1]
        members = np.split(order, cuts)
        domain = self.mechanism.domain
        return [
            (domain[values].tolist(), share, error)
            for values, share, error in zip(members, shares.tolist(), np.sqrt(variances).tolist(), strict=True)
        ]

    def groups(self) -> NDArray[np.int64] | None:
        found = self._known()
        return found.group_of if found.groups_identifiable else None

    def ramps(self) -> Ramps:
        assert self._ramp_scores is not None  # noqa: S101 (asked only where groups are identifiable)
        return self._ramp_scores.ramps(self._evidence, of_sample=self.of_sample)

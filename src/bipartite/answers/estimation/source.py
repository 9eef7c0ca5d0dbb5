"""The reports of one mechanism as a source of samples: one number per question and report.

**Two kinds of scores.** A number (the mean, the variance, one weight per value) is an average of scores that depend on
no report: those of least variance for a uniform population, for means within 3 % of the best. The best scores of a
share depend strongly on the population, so from 50 reports on these are **cross-fitted**: the reports are split in two
by coins, and each half is scored with the scores of least variance for the distribution of the other half. A score
never depends on its own report, so the average stays unbiased for every population.

There is one class for each kind of report: :class:`Outputs` if every report is one of M outputs, and
:class:`~bipartite.answers.estimation.supports.Supports` if it supports some values (flat categories).
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bipartite.answers.estimation.goodness import fit_of_outputs
from bipartite.answers.estimation.identify import identifiability
from bipartite.answers.estimation.intervals import FEW
from bipartite.answers.estimation.likelihood import halves
from bipartite.answers.estimation.output_scores import MOST_DENSE, WindowScores
from bipartite.answers.estimation.sample import Sample, spare
from bipartite.errors import DesignError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.output_scores import Scores
    from bipartite.answers.estimation.sample import Averages
    from bipartite.answers.estimation.tally import Tally
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_KEPT: Final = 4
# Larger mechanisms are not cached between estimates: that would keep their memory.
_MOST_KEPT: Final = 512
# Scores of an unstructured matrix with more rows than this are not fitted: each fit is a decomposition.
_MOST_FITTED: Final = 512
# Enough for the law of the reports, and too few to follow their noise.
_STEPS: Final = 20


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """The unbiased shares of all values, their standard errors, and the ranges of their scores."""

    values: Array
    errors: Array
    spreads: Array


class Source(ABC):
    """The reports of one mechanism."""

    mechanism: Mechanism
    tally: Tally
    found: Identifiability | None
    """Which values the reports can tell apart; None if there are too many to decide, or all can be."""

    @property
    def domain(self) -> Domain:
        """The values that answers are about: those of the mechanism, or one part of its pairs."""
        return self.mechanism.domain

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.tally.n

    @property
    def effective(self) -> float:
        """The number of equally weighted reports with the same precision."""
        return self.tally.effective

    @property
    @abstractmethod
    def tells_all(self) -> bool:
        """Whether the reports are known to tell all values apart."""

    @property
    def distribution(self) -> Array:
        """Unbiased shares that add up to one, if all values can be told apart; shares of ranges are sums of them."""
        return self.shares().values

    @abstractmethod
    def sample(self, w: Array, *, fitted: bool = False) -> Averages | None:
        """The scores of Σ w·share for each row of w, perhaps fitted; None if the reports cannot tell one of them."""

    @abstractmethod
    def shares(self) -> Several:
        """The share of every value, if the reports can tell all of them."""

    @abstractmethod
    def check(self, shares: Array) -> GoodnessOfFit:
        """Whether the reports can have come from the mechanism; ``shares`` are those of the people, roughly."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What answers need to know about a mechanism before any report; computed once for all estimates."""

    law: Array
    """The distribution of reports when every value is equally likely."""
    found: Identifiability | None
    """None if the mechanism is too large to decide which values can be told apart; then scores are None too."""
    scores: Scores | None
    """Scores of least variance under that law, which depends on no data, so they are unbiased."""

    @property
    def fits(self) -> bool:
        """Whether other scores, fitted to the reports, are unbiased too and computed fast enough."""
        scores = self.scores
        if scores is None or not scores.fits_a_law:
            return False
        return isinstance(scores, WindowScores) or scores.rows <= _MOST_FITTED


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


class _Part(NamedTuple):
    """Some of the reports, with the scores that they have."""

    scores: Scores
    first: Array
    second: Array


class Outputs(Source):
    """Counts of outputs; each output has a score for every question."""

    def __init__(self, mechanism: Mechanism, tally: Tally) -> None:
        known = prepared(mechanism)
        self.mechanism, self.tally, self.found, self.known = mechanism, tally, known.found, known

    @property
    def tells_all(self) -> bool:
        return self.found is not None and self.found.identifiable

    def check(self, shares: Array) -> GoodnessOfFit:
        return fit_of_outputs(self.mechanism, self.tally.counts, shares)

    def sample(self, w: Array, *, fitted: bool = False) -> Sample | None:
        if self.found is None or self.known.scores is None:
            return None
        answer = self.found.by_group(w)
        parts = self._halves if fitted else self._whole
        scores = [None if answer is None else part.scores.of(answer) for part in parts]
        held = [u for u in scores if u is not None]
        if len(held) < len(scores):
            return None
        tally, possible = self.tally, np.tile(self.known.law > 0, len(parts))
        u = held[0] if len(held) == 1 else np.hstack(held)
        limits = None if possible.all() else (u[:, possible].min(axis=1), u[:, possible].max(axis=1))
        if len(parts) > 1:
            first, second = (np.concatenate(each) for each in zip(*((p.first, p.second) for p in parts), strict=True))
            return Sample.of(u, first, None if tally.first is tally.second else second, limits=limits)
        each = None if tally.weights is None or tally.rows is None else (tally.rows, tally.weights)
        return Sample.of(u, tally.first, tally.second, limits=limits, each=each)

    @functools.cached_property
    def _whole(self) -> list[_Part]:
        assert self.known.scores is not None  # noqa: S101 (asked before)
        return [_Part(self.known.scores, self.tally.first, self.tally.second)]

    @functools.cached_property
    def _halves(self) -> list[_Part]:
        """Both halves of the reports, each with scores fitted to the other; all reports if no others are unbiased."""
        assert self.found is not None  # noqa: S101 (asked before)
        tally = self.tally
        if self.effective < FEW or not self.known.fits:
            return self._whole
        heads = halves(tally.counts.astype(np.float64))[0] / np.maximum(tally.counts, 1)
        both = [(tally.first * part, tally.second * part) for part in (heads, 1 - heads)]
        laws = [self._likely_law(first) for first, _ in both]
        return [
            _Part(self.found.scores(law), first, second) for law, (first, second) in zip(laws[::-1], both, strict=True)
        ]

    def _likely_law(self, counts: Array) -> Array:
        """A distribution of reports that some population has, near these counts: a few EM steps from the uniform one.

        Being that of a population, it gives constant weights the score 1, so that shares add up to one.
        """
        channel = self.mechanism.lottery.channel()
        shares = np.full(channel.inputs, 1 / channel.inputs)
        for _ in range(_STEPS):
            law = channel.forward(shares)
            shares *= channel.backward(np.divide(counts, law, out=np.zeros_like(law), where=law > 0))
            shares /= shares.sum()
        return channel.forward(shares)

    def shares(self) -> Several:
        return self._shares

    @functools.cached_property
    def _shares(self) -> Several:
        found, values, variances = self.group_shares()
        known = found.rows <= MOST_DENSE
        spreads = [part.scores.share_spreads() if known else np.full(found.rows, np.inf) for part in self._halves]
        return Several(*(each[found.group_of] for each in (values, np.sqrt(variances), np.max(spreads, axis=0))))

    def group_shares(self) -> tuple[Identifiability, Array, Array]:
        """The unbiased share of each group of values that cannot be told from each other, and its variance."""
        if self.found is None or not self.found.groups_identifiable:
            raise DesignError(
                "Not even groups of values can be told apart"
                f"{'' if self.found is None else f': {self.found}'}; use est.shares, which are a guess."
            )
        tally, parts = self.tally, self._halves
        values = np.sum([part.scores.shares(part.first / tally.size).mean for part in parts], axis=0)
        squares = np.zeros_like(values)
        for part in parts:
            held = part.scores.shares(part.second)
            squares += held.square - 2 * values * held.mean + values**2 * float(part.second.sum())
        factor = self.effective / spare(self.effective) / tally.size**2
        return self.found, values, np.maximum(squares, 0.0) * factor

r"""The error that an answer will have, with the estimator that will give it: ``bp.estimate`` without options.

- *The mean* is the average of one score per report, unbiased for every population; the scores have the least
  variance for a uniform one. For people distributed as π its variance is Σ_x π_x·g_x − (Σ_x π_x·w_x)² with
  g_x = Σ_y Pr[y|x]·u(y)²: linear in π less the square of something linear, so that its maximum over all populations
  is found exactly.
- *Shares* are such averages too; those from windows have scores fitted to the people, which come within a few percent
  of the least possible variance.
- *A distribution* comes from the default histogram. Where that is unbiased, so is every cumulative share. Where it is
  fitted and smoothed (a line of more than 32 values, mostly), its error is forecast as the variance that the reports
  and a smooth population leave: wᵀ(n·I + J)⁻¹w of ``design/m_for_statistics.py``, which also chooses the window.
  It is a model of the population, not of one shape: errors found by simulation (``bench/advisor.py``) are 1.0 to 1.6
  times as large over several shapes together, and a fifth to a half for a uniform population.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.forecast import flat_variances
from bipartite.answers.estimation.methods import method_for
from bipartite.answers.estimation.scores import MOST_DENSE
from bipartite.answers.estimation.source import prepare
from bipartite.lottery import Window
from bipartite.mechanisms.design.m_for_statistics import smooth_variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.source import Prepared
    from bipartite.domains import Domain
    from bipartite.lottery import Channel
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_MOST_VALUES: Final = 2**21
_MOST_PAIRS: Final = 2**22  # pairs of a value and a report, for every share at once
_MOST_PRODUCTS: Final = 1e10  # multiplications for information matrices
# A distribution is judged on at most this many values: reports do not resolve a smooth one any finer.
_FINE: Final = 256


class Answers:
    """What ``bp.estimate`` without options would answer from reports of one mechanism."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    @cached_property
    def left_out(self) -> str | None:
        """Why errors of statistics are not computed, where that would take too long."""
        mechanism = self.mechanism
        if mechanism.flat or mechanism.lottery.distinct_rows() is not None:
            return None  # in closed form, in O(N), or by waves
        size = len(mechanism.domain)
        if size > MOST_DENSE or float(size) ** 2 * len(mechanism.outputs) > _MOST_PRODUCTS:
            return "statistics left out: they need decompositions of its matrix, too large here"
        return None

    @cached_property
    def _known(self) -> Prepared:
        assert not self.mechanism.flat  # noqa: S101 (flat categories have closed forms)
        return prepare(self.mechanism)

    @property
    def identifiable(self) -> bool:
        """Whether every share can be estimated without bias."""
        return self.mechanism.flat or (self._known.found is not None and self._known.found.identifiable)

    def errors(self, figure: str, populations: Array, people: int) -> Array | None:
        """Standard errors of answers from this many people, one per population (a row); None where not estimable.

        ``figure`` is a field of a row: ``mean_error``, ``histogram_error`` or ``distribution_error``.
        """
        if figure == "distribution_error":
            variances = self._of_distribution(populations, people)
        else:
            of_one = self._of_mean(populations) if figure == "mean_error" else self._of_shares(populations)
            variances = None if of_one is None else of_one / people
        return None if variances is None else np.sqrt(np.maximum(variances, 0.0))

    def _of_mean(self, populations: Array) -> Array | None:
        """The variance of the mean from one person."""
        if self.mechanism.flat:
            return flat_variances(self.mechanism, populations, "mean")
        if self._moments_of_mean is None:
            return None
        values, moments = self._moments_of_mean
        variances: Array = populations @ moments - (populations @ values) ** 2
        return variances

    @cached_property
    def _moments_of_mean(self) -> tuple[Array, Array] | None:
        """(weight of each value, mean square of its score); None where the mean cannot be estimated."""
        domain, known = self.mechanism.domain, self._known
        if not domain.has_ends:
            return None
        numbers = domain.to_numpy().astype(np.float64)
        values = numbers - numbers.mean()  # the same variance, and no cancellation
        answer = None if known.found is None else known.found.by_group(values)
        scores = None if answer is None or known.scores is None else known.scores.of(answer)
        return None if scores is None else (values, self._operator.backward(scores**2))

    @cached_property
    def _operator(self) -> Channel:
        assert not self.mechanism.flat  # noqa: S101 (flat categories have closed forms)
        return self.mechanism.lottery.channel()

    def _of_shares(self, populations: Array) -> Array | None:
        """The variance of one share from one person, on average over values."""
        if self.mechanism.flat:
            return flat_variances(self.mechanism, populations, "histogram")
        found, fixed = self._known.found, self._known.scores
        if found is None or fixed is None or not found.identifiable:
            return None
        variances = []
        for population, law in zip(populations, self._operator.forward(populations), strict=True):
            # The scores of windows are fitted to the people.
            scores = found.scores(law) if isinstance(found.distinct, Window) else fixed
            variances.append(float((scores.shares(law).square[found.group_of] - population**2).mean()))
        return np.array(variances)

    def _of_distribution(self, populations: Array, people: int) -> Array | None:
        """The variance of a cumulative share in the default histogram, on average over values."""
        mechanism, size = self.mechanism, populations.shape[-1]
        if not mechanism.domain.has_ends:
            return None
        if mechanism.flat:
            variances = flat_variances(mechanism, populations, "cdf")
            return None if variances is None else variances / people
        found = self._known.found
        if found is None or not found.identifiable:
            return None
        if method_for(mechanism, self._known, people) not in {"inverse", "projected"}:
            matrix, coarse = _on_few_values(found, populations)
            return np.array([smooth_variance(matrix, population, people) for population in coarse])
        # A projection changes single shares; what is added up stays unbiased.
        sums = []
        for population, law in zip(populations, self._operator.forward(populations), strict=True):
            squares = found.scores(law).cumulative(law).square[:-1]
            sums.append(float((squares - population.cumsum()[:-1] ** 2).sum()))
        unbiased: Array = np.array(sums) / size / people
        return unbiased

    def worst_mean(self) -> float | None:
        """The standard error of the mean from one person in the worst population; None where unknown."""
        if self.mechanism.flat or len(self.mechanism.domain) > _MOST_VALUES:
            return None
        return None if self._moments_of_mean is None else math.sqrt(worst_variance(*self._moments_of_mean))

    def largest_share(self, population: Array) -> float | None:
        """The largest standard error of a share, from one person; None where some share is not estimable."""
        if self.mechanism.flat:
            variances = self.mechanism.variances(population, 1) + population * (1 - population)
            return math.sqrt(float(variances.max()))
        found, fixed = self._known.found, self._known.scores
        if found is None or fixed is None or not found.identifiable:
            return None
        squares = fixed.shares(self._operator.forward(population)).square[found.group_of]
        return math.sqrt(float((squares - population**2).max()))

    def worst_share(self) -> float | None:
        """The same for the worst share and population; None where unknown."""
        if self.mechanism.flat:
            return _worst_of_flat(self.mechanism)
        size, known = len(self.mechanism.domain), self._known
        if known.found is None or known.scores is None or size * len(self.mechanism.outputs) > _MOST_PAIRS:
            return None
        answers = known.found.by_group(np.eye(size))
        each = None if answers is None else known.scores.of(answers)
        if each is None:
            return None
        moments = self._operator.backward(each**2)  # [which share, who reports]
        others = np.where(np.eye(size, dtype=bool), -np.inf, moments).max(axis=1)
        return math.sqrt(float(_worst_over_shares(others, moments.diagonal()).max()))


def _on_few_values(found: Identifiability, populations: Array) -> tuple[Array, Array]:
    """The report probabilities of at most 256 values, and the populations over them."""
    size, distinct = populations.shape[-1], found.distinct
    cells = np.arange(size) * min(size, _FINE) // size
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    coarse = np.add.reduceat(populations, starts, axis=1)
    if isinstance(distinct, Window) and size > _FINE:
        # The same share of the line is near.
        m = 2 * max(round(((distinct.m / size) * _FINE - 1) / 2), 0) + 1
        return Window(_FINE, _FINE + m - 1, m, 0, distinct.tickets).forward(np.eye(_FINE)), coarse
    matrix = distinct.condensed()[1].dense()
    # The values of a cell are treated as one value with their average probabilities.
    averages = np.add.reduceat(matrix[found.group_of], starts, axis=0) / np.bincount(cells)[:, None]
    return averages, coarse


def without_asking(domain: Domain, figure: str, population: Array) -> float | None:
    """The error of the best answer that asks nobody, where it is known.

    Of a mean: the middle of the range, at most. Of a share: an average one, which nobody may hold. Of a distribution:
    the uniform one, while the true one is as smooth as in the forecasts of reports.
    """
    if figure == "mean_error":
        return (len(population) - 1) * domain.step / 2 if domain.has_ends else None
    if figure == "histogram_error":
        return 1 / len(population)
    if figure == "distribution_error" and domain.has_ends:
        size = min(len(population), _FINE)
        return math.sqrt(smooth_variance(np.full((size, 1), 1.0), np.full(size, 1 / size), 0))
    return None


def worst_variance(values: Array, moments: Array) -> float:
    """The largest Σπ·g − (Σπ·w)² over all π, for ascending w.

    For a given mean μ the largest Σπ·g is the upper concave envelope of the points (w, g) at μ; on a piece of it with
    slope s the whole is largest at μ = s/2.
    """
    hull: list[tuple[float, float]] = []
    for w, g in zip(values.tolist(), moments.tolist(), strict=True):
        # A point on or below the line between its neighbours is not on the envelope.
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (w - hull[-2][0]) <= (g - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((w, g))
    worst = -math.inf
    for (low, g_low), (high, g_high) in itertools.pairwise(hull):
        slope = (g_high - g_low) / (high - low)
        mean = min(max(slope / 2, low), high)
        worst = max(worst, g_low + slope * (mean - low) - mean**2)
    return worst


def _worst_of_flat(mechanism: Mechanism) -> float | None:
    """From the variances of a share that nobody holds and one that everybody holds.

    None where the shares of other values matter too, as in Hadamard Response with several blocks.
    """
    size = len(mechanism.domain)
    everybody = np.zeros(size)
    everybody[0] = 1.0
    held, unheld = mechanism.variances(everybody, 1), mechanism.variances(np.zeros(size), 1)
    if not np.allclose(held[1:], unheld[1:], rtol=1e-9, atol=0):
        return None
    # The mean square of a score is its variance plus the squared weight of the person: 1 or 0.
    return math.sqrt(float(_worst_over_shares(unheld[:1], held[:1] + 1)[0]))


def _worst_over_shares(others: Array, own: Array) -> Array:
    """The largest (1 − f)·others + f·own − f² over shares f."""
    share = np.clip((own - others) / 2, 0, 1)
    worst: Array = others + share * (own - others) - share**2
    return worst

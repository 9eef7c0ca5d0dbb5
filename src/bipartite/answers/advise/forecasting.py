r"""How precise an answer will be, before anybody has reported: the error of ``bp.estimate`` without options.

- *A mean* is the average of one score per report, unbiased for every population. For people distributed as π its
  variance is Σ_x π_x·g_x − (Σ_x π_x·w_x)² with g_x = E[score²|x]. Around a circle there are two such averages, of the
  cosine and of the sine; the error of the direction, in radians, is theirs over the resultant length.
- *Shares* are such averages too, of scores fitted to the people.
- *A distribution* is unbiased where the default histogram is. Where that is smoothed (a line of more than 32 values,
  mostly), its error is the variance that the reports and a smooth population leave (``design/m_for_statistics.py``),
  times what smoothing costs where the population is not smooth: 1.8·(m/N)^0.15. For eleven shapes on *lines*, simulated
  (``bench/results/adviser.md``), errors are 0.8 times this (root mean square), 1.25 times at the worst, a third for a
  flat one. Circles have the same factor, which nobody has calibrated for them.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.methods import method_for
from bipartite.answers.estimation.output_scores import MOST_DENSE
from bipartite.answers.estimation.source import prepare
from bipartite.errors import DesignError, InputError, shown
from bipartite.lottery import Ring, Window
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms.base import check_mechanism
from bipartite.mechanisms.categories.pair_laws import pair_law
from bipartite.mechanisms.design.m import check_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation.source import Prepared
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]
    Of = str | tuple[str, object, object] | Sequence[float] | Array

# What smoothing costs: the factor for a window as wide as the domain, and its fall with narrower ones.
_COST: Final = 1.8
_FALL: Final = 0.15
# A smoothed distribution is judged on at most this many values: reports do not resolve it any finer.
_FINE: Final = 256
_MOST_PRODUCTS: Final = 1e10  # multiplications for a decomposition
# Cumulative shares from flat categories: the most numbers to compute with, and the fewest thresholds.
_MOST_NUMBERS: Final = 2**20
_LEAST_ENDS: Final = 17
_FEW_ENDS: Final = 5  # with more than 2^17 values


def forecast(
    mechanism: Mechanism, n: object, of: Of = "mean", prior: Sequence[float] | NDArray[np.float64] | None = None
) -> float:
    """The standard error that the answer of :func:`bipartite.estimate` will have with n people.

    Parameters
    ----------
    mechanism
        What the people report with.
    n
        How many report.
    of
        ``"mean"``, around a circle of the average cosine and sine; ``"share"``, of one value, root mean square over all
        values; ``"distribution"``, of the share of people up to a value, root mean square over all values; one weight
        per value; or ``("range", first, last)``.
    prior
        The population of which the people are a random sample, None for uniform. Public; never from the private data.

    Examples
    --------
    >>> from bipartite import BRR, Integers
    >>> round(forecast(BRR(Integers(18, 90), epsilon=1, edges="padded"), 10_000), 2)
    0.83
    """
    check_mechanism(mechanism)
    people = check_n(n)
    size = len(mechanism.domain)
    population = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
    wanted = of if isinstance(of, str) else _weights(mechanism.domain, of)
    if isinstance(wanted, str) and wanted not in {"mean", "share", "distribution"}:
        raise InputError(
            f"Expected of as 'mean', 'share', 'distribution', ('range', first, last) or one weight per value, got "
            f"{shown(of)}."
        )
    foreseen = Foreseen(mechanism)
    if foreseen.too_large is not None:
        raise DesignError(
            f"{mechanism!r} is too large: {foreseen.too_large}; use an Interval of fewer points, which hardly changes "
            "the answer."
        )
    errors = foreseen.errors(wanted, population[None, :], people)
    if errors is not None:
        return float(errors[0])
    domain, asked = mechanism.domain, of if isinstance(of, str) else "answer"
    why = (
        f"The {asked} cannot be estimated from {mechanism!r}: some values have the same reports; use edges='padded', "
        "or take the mechanism that bp.recommend names."
    )
    if asked in {"mean", "distribution"} and not (domain.has_ends or domain.wraps):
        why = f"The values of {domain!r} are not numbers and have no {asked}; ask for the share of each value."
    raise DesignError(why)


def check_n(n: object) -> int:
    """The number of people."""
    if not is_whole(n) or n < 1:
        raise InputError(f"Expected n as a whole number of at least 1, got {shown(n)}; try n=10_000.")
    return int(n)


class Foreseen:
    """The errors of everything that ``bp.estimate`` answers from reports of one mechanism."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.domain = mechanism, mechanism.domain

    @cached_property
    def too_large(self) -> str | None:
        """Why errors are not computed, where that would take too long."""
        mechanism = self.mechanism
        if mechanism.flat or mechanism.lottery.distinct_rows() is not None:
            return None  # in closed form, in O(N), or by waves
        size = len(self.domain)
        if size > MOST_DENSE or float(size) ** 2 * len(mechanism.outputs) > _MOST_PRODUCTS:
            return "statistics left out: they need decompositions of its matrix, too large here"
        return None

    @cached_property
    def known(self) -> Prepared:
        """What answers need to know about the mechanism; not for flat categories."""
        return prepare(self.mechanism)

    @property
    def identifiable(self) -> bool:
        """Whether every share can be estimated without bias."""
        return self.mechanism.flat or (self.known.found is not None and self.known.found.identifiable)

    @property
    def bounded(self) -> bool:
        """Whether errors of the mean and of cumulative shares are upper bounds (OLH with many values)."""
        return self.mechanism.flat and self.domain.has_ends and not pair_law(self.mechanism).exact(_LEAST_ENDS)

    def errors(self, of: str | Array, populations: Array, n: int) -> Array | None:
        """Standard errors from n people, one per population (a row); None where the reports cannot tell."""
        if isinstance(of, str) and of == "distribution":
            variances = self._of_distribution(populations, n)
        elif isinstance(of, str) and of == "share":
            shares = self.of_shares(populations)
            variances = None if shares is None else shares.mean(axis=1) / n
        else:
            w = self.mean_weights if isinstance(of, str) else np.atleast_2d(of)
            squares = None if w is None else self.squares(w)
            variances = None if w is None or squares is None else _variances(w, squares, populations) / n
        return None if variances is None else np.sqrt(np.maximum(variances, 0.0))

    def squares(self, w: Array) -> Array | None:
        """E[score²] of every row of weights, given every value; None where the reports cannot tell."""
        if self.mechanism.flat:
            own: Array = pair_law(self.mechanism).own(w - w.mean(axis=-1, keepdims=True)) + w**2
            return own
        found, fixed = self.known.found, self.known.scores
        answer = None if found is None else found.by_group(w)
        scores = None if answer is None or fixed is None else fixed.of(answer)
        return None if scores is None else self.mechanism.lottery.channel().backward(scores**2)

    @property
    def mean_weights(self) -> Array | None:
        """The weights of the mean, around a circle of its cosine and sine; None where there is none."""
        if self.domain.wraps:
            turned = 2 * np.pi * np.arange(len(self.domain)) / len(self.domain)
            return np.stack([np.cos(turned), np.sin(turned)])
        if not self.domain.has_ends:
            return None
        numbers = self.domain.to_numpy().astype(np.float64)
        centred: Array = numbers[None] - numbers.mean()  # the same variance, and no cancellation
        return centred

    def of_shares(self, populations: Array) -> Array | None:
        """The variance of the share of each value from one person, a row per population."""
        if self.mechanism.flat:
            return np.array([self.mechanism.variances(each, 1) + each * (1 - each) for each in populations])
        found, fixed = self.known.found, self.known.scores
        if found is None or fixed is None or not found.identifiable:
            return None
        laws = self.mechanism.lottery.channel().forward(populations)
        squares = [(found.scores(law) if self.known.fits else fixed).shares(law).square[found.group_of] for law in laws]
        variances: Array = np.array(squares) - populations**2
        return variances

    def _of_distribution(self, populations: Array, n: int) -> Array | None:
        """The variance of a cumulative share in the default histogram, on average over values."""
        if not (self.domain.has_ends or self.domain.wraps):
            return None
        if self.mechanism.flat:
            return self._of_sums(populations) / n
        found = self.known.found
        if found is None or not found.identifiable:
            return None
        if method_for(self.mechanism, self.known, n) not in {"inverse", "projected"}:
            return self._smoothed(populations, n)
        # A projection changes single shares; what is added up stays unbiased.
        variances = []
        for population, law in zip(populations, self.mechanism.lottery.channel().forward(populations), strict=True):
            squares = found.scores(law).cumulative(law).square[:-1]
            variances.append(float((squares - population.cumsum()[:-1] ** 2).sum()) / len(population) / n)
        return np.array(variances)

    def _of_sums(self, populations: Array) -> Array:
        """From supports of flat categories. On a long line some evenly spaced thresholds stand for all."""
        size = populations.shape[-1]
        least = _LEAST_ENDS if size <= _MOST_NUMBERS // 8 else _FEW_ENDS
        count = min(size - 1, max(least, _MOST_NUMBERS // pair_law(self.mechanism).steps))
        ends = (np.arange(count) * 2 + 1) * (size - 1) // (2 * count)
        block = max(1, _MOST_NUMBERS // 4 // size)
        total = np.zeros(len(populations))
        for first in range(0, count, block):
            w = (np.arange(size) <= ends[first : first + block, None]).astype(np.float64)
            squares = self.squares(w)
            assert squares is not None  # noqa: S101 (of flat categories)
            total += _variances(w, squares, populations) * len(w)
        # The cumulative share at the last value is always 1.
        found: Array = total / count * (size - 1) / size
        return found

    def _smoothed(self, populations: Array, n: int) -> Array:
        """The variance that n reports and a smooth population leave, times what smoothing costs."""
        found, size = self.known.found, populations.shape[-1]
        assert found is not None  # noqa: S101 (it is identifiable)
        distinct = found.distinct
        m = distinct.m if isinstance(distinct, (Window, Ring)) else size
        cost = _COST * (m / size) ** _FALL
        cells = np.arange(size) * min(size, _FINE) // size
        starts = np.flatnonzero(np.diff(cells, prepend=-1))
        coarse = np.add.reduceat(populations, starts, axis=1)
        if isinstance(distinct, Window) and size > _FINE:
            # The same share of the line is near.
            near = 2 * max(round(((m / size) * _FINE - 1) / 2), 0) + 1
            matrix = Window(_FINE, _FINE + near - 1, near, 0, distinct.tickets).forward(np.eye(_FINE))
        else:
            # The values of a cell are treated as one value with their average probabilities.
            rows = distinct.condensed()[1].dense()
            matrix = np.add.reduceat(rows[found.group_of], starts, axis=0) / np.bincount(cells)[:, None]
        left = [smooth_variance(matrix, each, n, around=self.domain.wraps) for each in coarse]
        variances: Array = np.array(left) * cost**2
        return variances


def smooth_variance(matrix: Array, population: Array, n: float, *, around: bool = False) -> float:
    """The remaining variance of a cumulative share, on average over values, if neighbouring shares are alike.

    Their differences vary with 1/N³, as for a density that moves like a Brownian motion. ``matrix`` holds the
    probabilities of reports, one row per value. With n = 0 it is the variance before any report.
    """
    size = len(population)
    steps = matrix[:-1] - matrix[1:]
    law = population @ matrix
    differences = np.diff(np.diff(np.eye(size + 1), axis=0), axis=0)[:, 1:-1]  # of the cumulative shares
    if around:
        differences = np.vstack([differences, np.eye(1, size - 1)[0] + np.eye(1, size - 1, size - 2)[0]])
    precision = n * (steps / np.where(law > 0, law, 1.0)) @ steps.T + size**3 * differences.T @ differences
    return float(np.linalg.inv(precision).trace()) / size


def without_asking(domain: Domain, of: str) -> float | None:
    """The error of the best answer that asks nobody, where it is known.

    Of a mean: the middle of the range, at most; around a circle: no direction at all, which is off by one at most. Of a
    share: an average one, which nobody may hold. Of a distribution: the uniform one, if the true one is smooth.
    """
    size = len(domain)
    if of == "share":
        return 1 / size
    if of == "mean":
        return math.sqrt(0.5) if domain.wraps else (size - 1) * domain.step / 2 if domain.has_ends else None
    if not (domain.has_ends or domain.wraps):
        return None
    few = min(size, _FINE)
    return math.sqrt(smooth_variance(np.ones((few, 1)), np.full(few, 1 / few), 0, around=domain.wraps))


def _variances(w: Array, squares: Array, populations: Array) -> Array:
    """The variance of each row's answer from one person, on average over rows, for each population."""
    found: Array = (squares @ populations.T - (w @ populations.T) ** 2).mean(axis=0)
    return found


def _weights(domain: Domain, of: object) -> Array:
    """The weights of an answer that is given by them, or by the range that it is the share of."""
    if isinstance(of, tuple) and len(of) == 3 and of[0] == "range":  # noqa: PLR2004
        first, last, at = domain.encode(of[1]), domain.encode(of[2]), np.arange(len(domain))
        inside = (at >= first) & (at <= last) if first <= last or not domain.wraps else (at >= first) | (at <= last)
        return inside.astype(np.float64)
    try:
        w = np.asarray(of, dtype=np.float64)
    except (TypeError, ValueError):
        w = np.empty(0)
    if w.shape != (len(domain),) or not np.isfinite(w).all():
        raise InputError(f"Expected of as {len(domain)} weights, one for each value, got {shown(of)}.")
    return w

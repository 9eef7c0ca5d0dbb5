"""Answers from reports of flat categories, computed from the number of reports that support each value."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.forged_outputs import Moved
from bipartite.answers.estimation.forged_supports import ForgedSupports, moved_single_supports
from bipartite.answers.estimation.goodness_flat import fit_of_supports
from bipartite.answers.estimation.histogram import Unbiased, on_simplex
from bipartite.answers.estimation.linear import Answer, LinearAnswers, Several
from bipartite.answers.estimation.pairs import pair_law
from bipartite.answers.estimation.tally import check_weights, spare
from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.histogram import Histogram
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

_NO_INTERVALS: Final = (
    "the most likely shares of flat categories have no intervals: near 0, where many are, no valid one is known; "
    "use method='projected'"
)
_NEAREST: Final = (
    "the distribution nearest to the unbiased shares, which need not add up to one; it is never farther from the truth"
)
_BITS: Final = 40
"""Bits of precision for weights: as many as matter for a share, and a few more."""
# Reports are examined one by one up to this number of reports times values, and at least this many reports.
_MOST_SEEN: Final = 2**26
_LEAST_SEEN: Final = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Supports:
    """For every value, the sum of the weights of the reports that support it, and of their squares."""

    first: Array
    second: Array
    people: int
    size: float
    square: float
    """The sums of all weights, and of their squares."""
    reports: NDArray[Any] | None = None
    weights: Array | None = None
    """The reports themselves, if available, and their weights."""

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64], people: int, reports: NDArray[Any] | None = None) -> Supports:
        """Every report counts once."""
        held = counts.astype(np.float64)
        return cls(held, held, people, float(people), float(people), reports)

    @classmethod
    def of_weights(cls, mechanism: Mechanism, reports: NDArray[Any], weights: object) -> Supports:
        """Each report counts with its own public weight; reports of equal weight are counted together."""
        held = check_weights(weights, len(reports))
        first, second = (_weighted(mechanism, reports, each) for each in (held, held**2))
        sums = float(held.sum()), float((held**2).sum())
        return cls(first, second, int(np.count_nonzero(held)), *sums, reports, held)


def _weighted(mechanism: Mechanism, reports: NDArray[Any], weights: Array) -> Array:
    """The sum of the weights of the reports that support each value, bit by bit if many weights differ."""
    different = np.unique(weights).tolist()
    unit = different[-1] / 2**_BITS
    whole = np.rint(weights / unit).astype(np.int64)
    parts = (
        ((weight, weights == weight) for weight in different)
        if len(different) <= _BITS
        else ((unit * 2**bit, whole >> bit & 1 == 1) for bit in range(_BITS + 1))
    )
    return np.asarray(sum(weight * mechanism.count(reports[rows]) for weight, rows in parts), float)


class BySupport(LinearAnswers):
    r"""Counts of supports, from which every share is linear and unbiased: share = (support/n − q)/(p − q).

    The variance of a report's contribution to an answer, given the value x held, is a known function of x
    (:mod:`bipartite.answers.estimation.pairs`), and so its average over people is itself a linear answer: the standard
    errors come from unbiased variances, clipped to the possible range.
    """

    mechanism: Mechanism

    def __init__(self, mechanism: Mechanism, supports: Supports, *, of_sample: bool) -> None:
        self.mechanism, self.found, self.of_sample = mechanism, None, of_sample
        self.people, self.size = supports.people, supports.size
        self.effective = supports.size**2 / supports.square
        self._law, self._supports = pair_law(mechanism), supports
        p, q = mechanism.support
        scale, base = float(1 / (p - q)), float(q / (p - q))
        self._unit = scale
        self.raw: Array = supports.first * (scale / supports.size) - base
        """Each share on its own; they need not add up to one."""
        self._even = _even(self.raw)
        self._forged: ForgedSupports | None = None
        self._last: tuple[Array, Several] | None = None
        # With squared weights: the variance of a weighted average is an average over these.
        self._squared = _even(supports.second * (scale / supports.square) - base)

    @property
    def tells_all(self) -> bool:
        return True

    @property
    def distribution(self) -> Array:
        return self._even

    def fits(self, shares: Array) -> GoodnessOfFit:
        del shares  # no test needs to know them
        held = self._supports
        counts = held.first if held.weights is None else self.mechanism.count(held.reports)
        people = held.people if held.weights is None else len(held.weights)
        return fit_of_supports(self.mechanism, counts, people, held.reports)

    def moved(self, w: Array, k: int) -> Moved:
        return self.moved_together(w, k)

    def moved_together(self, member: Array, k: int, *, rough: bool = False) -> Moved:
        return self._shifted(member - member.mean(), k, float(member @ self.distribution), rough=rough)

    def moved_share(self, index: int, k: int) -> Moved:
        unit = np.zeros(self._law.size)
        unit[index] = 1.0
        return self._shifted(unit, k, float(self.raw[index]))

    def _shifted(self, z: Array, k: int, value: float, *, rough: bool = False) -> Moved:
        forged = self._forged
        # A search for the smallest k asks about the same z many times.
        if forged is None or forged.rough != rough or not np.array_equal(forged.z, z):
            forged = self._forged = ForgedSupports(self.mechanism, z, self._supports, rough=rough)
        down, up, exact = forged.moved(k)
        return Moved(np.asarray(value - self._unit * down), np.asarray(value + self._unit * up), exact)

    def moved_shares(self, k: int) -> Moved:
        down, up = moved_single_supports(self.mechanism, k, self._supports)
        return Moved(self.raw - self._unit * down, self.raw + self._unit * up, exact=False)

    def _variance(self, w: Array, values: Array, own: Array) -> Array:
        """The variance of the answers w with these values; ``own`` is that of one report, given each value held."""
        if not self._law.exact(len(w)) and self._supports.reports is not None:
            return self._seen_variance(w, values, own.max(axis=-1))
        noise = np.clip(own @ self._squared, own.min(axis=-1), own.max(axis=-1))
        if self.of_sample:
            return noise / self.effective
        apart = (w - values[..., None]) ** 2 @ self._squared
        among = np.clip(apart, 0.0, (w.max(axis=-1) - w.min(axis=-1)) ** 2)
        found: Array = (noise + among) / spare(self.effective)
        return found

    def _seen_variance(self, w: Array, values: Array, most: Array) -> Array:
        """The same if only a bound is known: from the contributions of the reports themselves."""
        parts, weights = self._parts(w)
        total = float((weights**2).sum())
        square = (parts - values[:, None]) ** 2 @ weights**2 / total
        if not self.of_sample:
            return square / spare(self.effective)
        among = np.maximum((w - values[:, None]) ** 2 @ self._squared, 0.0)
        found: Array = np.clip(square - among, 0.0, most) / self.effective
        return found

    def _parts(self, w: Array) -> tuple[Array, Array]:
        """The answer that each report on its own gives, and its weight; for all reports, or some spread evenly."""
        reports, weights = self._supports.reports, self._supports.weights
        assert reports is not None  # noqa: S101 (called only if they are available)
        some = max(_LEAST_SEEN, _MOST_SEEN // (self._law.size * (1 + len(w) // 16)))
        step = -(-len(reports) // some)
        middle = w.mean(axis=-1, keepdims=True)
        parts = middle + self._law.parts(w - middle, reports[::step])
        return parts, np.ones(parts.shape[1]) if weights is None else weights[::step]

    def together(self, member: Array) -> Several:
        return self._several(member)

    def _several(self, w: Array) -> Several:
        values, z = w @ self.distribution, w - w.mean(axis=-1, keepdims=True)
        own = self._law.own(z)
        return Several(values, np.sqrt(self._variance(w, values, own)), self._law.tail_spread(z, own))

    def answer(self, w: Array) -> Answer:
        if self._last is None or not np.array_equal(self._last[0], w):
            self._last = w, self._several(w[None])
        return self._last[1].first

    @functools.cached_property
    def _errors(self) -> Array:
        """The standard error of every share."""
        held = np.clip(self._squared, 0.0, 1.0)
        noise = self.mechanism.variances(held, 1)
        if self.of_sample:
            return np.sqrt(noise / self.effective)
        found: Array = np.sqrt((noise + held * (1 - held)) / spare(self.effective))
        return found

    def share(self, index: int) -> Answer:
        unit = np.zeros(self._law.size)
        unit[index] = 1.0
        return Answer(float(self.raw[index]), float(self._errors[index]), float(self._law.spread(unit)))

    def covariance(self, w: Array) -> tuple[Array, Array]:
        values: Array = w @ self.distribution
        if self._law.bounded and self._supports.reports is not None:
            parts, weights = self._parts(w)
            apart = (parts - values[:, None]) * weights
            return values, apart @ apart.T / float((weights**2).sum()) / spare(self.effective)
        # A distribution, so that the result is a covariance matrix.
        people = on_simplex(self._squared)
        own = self._law.products(w - w.mean(axis=-1, keepdims=True), people)
        middle = w @ people
        among = (w * people) @ w.T - np.outer(middle, middle)
        return values, (own + among) / spare(self.effective)

    def shares(self) -> Several:
        # By symmetry, one report can move every share equally far.
        return Several(self.raw, self._errors, np.full(self._law.size, self.share(0).spread))

    def group_shares(self) -> list[tuple[list[Any], float, float]]:
        values = self.mechanism.domain.to_numpy().tolist()
        rows = zip(values, self.raw.tolist(), self._errors.tolist(), strict=True)
        return [([value], share, error) for value, share, error in rows]


def _even(shares: Array) -> Array:
    """Shares that add up to one: the excess is subtracted from all equally, which keeps them unbiased."""
    level = (float(shares.sum()) - 1) / len(shares)
    return shares - level


def flat_histogram(answers: BySupport, method: str) -> Callable[[], Histogram]:
    """A function that computes the shares by one method."""
    if method == "smooth":
        raise InputError(
            f"method={method!r} smooths over neighbours, and flat categories have none; use method='projected'."
        )
    if method == "em":
        raise InputError(
            "method='em' of flat categories is in reproduction/flat_em.py of the repository, for comparison; use "
            "method='projected' for shares that are never negative."
        )
    # The projection is never farther from the truth than the unbiased shares: the truth is a distribution, and
    # projecting onto a convex set brings a point closer to every point of the set.
    name, reason = (method, "asked for") if method != "auto" else ("projected", _NEAREST)
    return partial(Unbiased, answers, name, reason)

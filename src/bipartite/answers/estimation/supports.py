"""Reports of flat categories as a source of samples, from the number of reports that support each value.

Every share is linear in the supports and unbiased: share = (support/n − q)/(p − q). The variance of a report's
contribution to an answer, given the value x held, is a known function of x
(:mod:`bipartite.mechanisms.categories.pair_laws`), so its average over people is itself a linear answer: standard
errors come from unbiased variances, clipped to the possible range. For :class:`~bipartite.OLH` with many values they
come from the reports themselves or, if only counts are given, from a bound.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.goodness_flat import fit_of_supports
from bipartite.answers.estimation.histogram import on_simplex
from bipartite.answers.estimation.sample import Averages, Sample, spare
from bipartite.answers.estimation.source import Several, Source
from bipartite.mechanisms.categories.pair_laws import pair_law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.goodness import GoodnessOfFit
    from bipartite.answers.estimation.tally import Tally
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

# Reports are examined one by one up to this number of reports times values, and at least this many reports.
_MOST_SEEN: Final = 2**26
_LEAST_SEEN: Final = 4096
_HASHES: Final = "a bound: perhaps no hash function supports exactly the values that would move the answer this far"


class Supports(Source):
    """Counts of supports."""

    tells_all = True

    def __init__(self, mechanism: Mechanism, tally: Tally) -> None:
        self.mechanism, self.tally, self.found = mechanism, tally, None
        self._law = pair_law(mechanism)
        p, q = mechanism.support
        scale, base = float(1 / (p - q)), float(q / (p - q))
        self.raw: Array = tally.first * (scale / tally.size) - base
        """Each share on its own; they need not add up to one."""
        self._even = _even(self.raw)
        # With squared weights: the variance of a weighted average is an average over these.
        self._squared = _even(tally.second * (scale / tally.square) - base)

    @property
    def distribution(self) -> Array:
        return self._even

    def check(self, shares: Array) -> GoodnessOfFit:
        del shares  # no test needs to know them
        tally = self.tally
        n = tally.n if tally.weights is None else len(tally.weights)
        return fit_of_supports(self.mechanism, tally.counts, n)

    def sample(self, w: Array, *, fitted: bool = False) -> Averages:
        del fitted  # there are no other scores
        values, z = w @ self._even, w - w.mean(axis=1, keepdims=True)
        own = self._law.own(z)
        seen = self.tally.rows is not None and self._law.bounded and not self._law.exact(len(w))
        cov = self._seen_covariance(w, values) if seen else None
        variances = self._variances(w, values, own) if cov is None else cov.diagonal()
        people = None if self.tally.rows is None else functools.partial(self.people, w)
        spread, reach = self._law.tail_spread(z, own), self._law.spread(z)
        covariance = functools.partial(self._covariance, w, z, variances) if cov is None else lambda: cov
        return Averages(values, variances, spread, self.effective, reach, people, covariance)

    def _variances(self, w: Array, values: Array, own: Array) -> Array:
        """From the exact law of pairs of supports, or its bound; ``own`` is that of one report, given each value."""
        noise = np.clip(own @ self._squared, own.min(axis=1), own.max(axis=1))
        apart = np.einsum("ij,j->i", (w - values[:, None]) ** 2, self._squared)
        found: Array = (noise + np.clip(apart, 0.0, np.ptp(w, axis=1) ** 2)) / spare(self.effective)
        return found

    def _covariance(self, w: Array, z: Array, variances: Array) -> Array:
        # A distribution, so that the result is a covariance matrix; its diagonal is the unbiased one.
        people = on_simplex(self._squared)
        together = self._law.products(z, people) + (w * people) @ w.T - np.outer(w @ people, w @ people)
        root = np.sqrt(np.divide(variances, np.diagonal(together), out=np.zeros(len(w)), where=together.diagonal() > 0))
        found: Array = together * np.outer(root, root)
        return found

    def _seen_covariance(self, w: Array, values: Array) -> Array:
        """From the contributions of the reports themselves: all, or some spread evenly."""
        rows, weights = self.tally.rows, self.tally.weights
        assert rows is not None  # noqa: S101 (asked before)
        some = max(_LEAST_SEEN, _MOST_SEEN // (self._law.size * (1 + len(w) // 16)))
        step = -(-len(rows) // some)
        held = np.ones(len(rows[::step])) if weights is None else weights[::step]
        apart = (self._scores(w, rows[::step]) - values[:, None]) * held
        found: Array = apart @ apart.T / float((held**2).sum()) / spare(self.effective)
        return found

    def _scores(self, w: Array, rows: NDArray[np.generic]) -> Array:
        middle = w.mean(axis=1, keepdims=True)
        found: Array = middle + self._law.parts(w - middle, rows)
        return found

    def people(self, w: Array) -> Sample:
        """The score of each report, a column for each; its range is that of all possible reports."""
        rows, weights = self.tally.rows, self.tally.weights
        assert rows is not None  # noqa: S101 (asked before)
        middle = w.mean(axis=1)
        low, high = self._law.ends(w - middle[:, None])
        held = np.ones(len(rows)) if weights is None else weights
        each = None if weights is None else (np.arange(len(rows)), weights)
        second = held if weights is None else held**2
        known = {"limits": (middle + low, middle + high), "each": each, "unattained": _HASHES * self._law.bounded}
        return Sample.of(self._scores(w, rows), held, second, **known)

    @functools.cached_property
    def _errors(self) -> Array:
        """The standard error of every share."""
        held = np.clip(self._squared, 0.0, 1.0)
        found: Array = np.sqrt((self.mechanism.variances(held, 1) + held * (1 - held)) / spare(self.effective))
        return found

    def shares(self) -> Several:
        # By symmetry, one report can move every share equally far.
        unit = np.zeros(self._law.size)
        unit[0] = 1.0
        return Several(self.raw, self._errors, np.full(self._law.size, float(self._law.spread(unit))))


def _even(shares: Array) -> Array:
    """Shares that add up to one: the excess is subtracted from all equally, which keeps them unbiased."""
    level = (float(shares.sum()) - 1) / len(shares)
    return shares - level

"""Histograms: the shares of all values by each method, answers read off them, and the intervals of those.

Every histogram gives the share of a range of values, cumulative shares, quantiles, and the interval of each, which
contains the answer by construction.
"""

from __future__ import annotations

import copy
import hashlib
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.em import Fit
from bipartite.answers.estimation.intervals import FEW, ConfidenceInterval, few_note, half_widths
from bipartite.answers.estimation.likelihood import (
    Model,
    Search,
    by_chi_square,
    down_to,
    halves,
    log_likelihood,
    weigh_smoothing,
)
from bipartite.answers.estimation.projection import projected_bounds
from bipartite.answers.estimation.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.cells import Cells
    from bipartite.answers.estimation.source import Source

    Array = NDArray[np.float64]

NOT_LOOKED_AT: Final = "there are too many values for likelihood intervals"
NO_BINS: Final = "single shares of a fitted curve have no intervals here; ask for a range of values"
# The number of cumulative shares to compute: 513, or fewer if there are many values, and at least 65.
_MOST_TESTED: Final = 513
_LEAST_TESTED: Final = 65
_MOST_NUMBERS: Final = 2**24
_WHOLE: Final = 1e-9
# With few reports the smoothing is fixed: a standard deviation of a tenth of the line.
_FEW_SMOOTH: Final = 10
_SPARSE: Final = 2  # times e^ε reports: with fewer, see MostLikely._is_sparse
# The intervals of so many single shares are those of their scores; more take too long, and have the normal one.
_MOST_ALONE: Final = 128
# Intervals of quantiles between these hold without counted degrees of freedom (measured); those of outer ones do not.
_CENTRAL: Final = (0.25, 0.75)
_SPIKE: Final = 0.1  # the share of all people in one cell from which it matters where in the cell they are


class Histogram(ABC):
    """Shares of all values, in the order of the domain, or on a circle from another origin."""

    method: str
    reason: str
    shares: Array
    fit: Fit | None = None
    _origin: int = 0

    @property
    def distribution(self) -> Array:
        """The shares to use in sums over several values."""
        return self.shares

    @property
    def cdf(self) -> Array:
        """The share of people up to every value of a line: at most 1, and exactly 1 at the last value."""
        running: Array = np.minimum(self.distribution.cumsum(), 1.0)
        running[-1] = 1.0
        return running

    def quantile(self, q: float) -> int:
        """The index of the smallest value whose cumulative share is at least q."""
        running = self.cdf
        reached = running >= q * running[-1] * (1 - 1e-12)
        return int(reached.argmax()) if reached.any() else len(running) - 1

    @property
    def bins_note(self) -> str:
        """Why single shares have no intervals; empty if they have."""
        return NO_BINS

    @property
    def share_errors(self) -> Array:
        """The standard error of every share; NaN if there is none."""
        return np.full(len(self.shares), math.nan)

    def share_bounds(self, confidence: float) -> tuple[Array, Array]:
        """The interval of every share, not cut to the possible range; NaN if there is none."""
        del confidence
        return self.share_errors, self.share_errors

    def from_origin(self, origin: int) -> Histogram:
        """The same on a circle with values indexed from another origin; for quantiles."""
        turned = copy.copy(self)
        vars(turned).update(_origin=self._origin + origin, shares=np.roll(self.shares, -origin))
        return turned

    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        """The interval of Σ w·share, which is ``w @ distribution``.

        All questions about one set of people, or about the others, have the same interval: weights a and b are those
        of a set, or of its complement, scaled.
        """
        least, most = float(w.min()), float(w.max())
        if least == most:
            # All shares together are exactly one, despite rounding.
            return ConfidenceInterval(least, most, confidence)
        member = w == most
        if not (member | (w == least)).all():
            return self._interval(w, confidence)
        found = self._interval((member ^ member[0]).astype(np.float64), confidence)
        low, high = (1 - found.high, 1 - found.low) if member[0] else found
        wide = most - least
        return ConfidenceInterval(least + wide * low, least + wide * high, confidence, found.note)

    @abstractmethod
    def _interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        """The interval of these weights, which are not all equal."""

    @abstractmethod
    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        """The indices of the smallest and the largest value that may be the quantile, and a note."""


class Unbiased(Histogram):
    """Unbiased shares, or the distribution nearest to them, with the standard errors of unbiased answers.

    The nearest distribution is, over all shares together, at least as close to the truth as the unbiased shares.
    """

    def __init__(self, source: Source, method: str, reason: str) -> None:
        self.method, self.reason, self._source = method, reason, source
        values = source.shares().values
        self.shares = values if method == "inverse" else on_simplex(values)

    @property
    def distribution(self) -> Array:
        # Sums of several shares are unbiased for either method: the projection raises a sum over many values that
        # nobody holds by more than its standard error, so no interval around it would cover the truth.
        return np.roll(self._source.distribution, -self._origin)

    @property
    def cdf(self) -> Array:
        # Unbiased sums may lie above 1, as unbiased shares may lie below 0.
        running = self.distribution.cumsum()
        running[-1] = 1.0
        return running

    @property
    def bins_note(self) -> str:
        return ""

    @property
    def share_errors(self) -> Array:
        return self._source.shares().errors

    def share_bounds(self, confidence: float) -> tuple[Array, Array]:
        shares, people = self._source.shares(), self._source.effective
        if self.method == "projected":
            return projected_bounds(shares.values, self.shares, shares.errors, shares.spreads, people, confidence)
        size = len(self.shares)
        each = self._source.sample(np.eye(size), fitted=True) if size <= _MOST_ALONE else None
        if isinstance(each, Sample):
            low, high = np.roll([each.ends(at, confidence) for at in range(size)], -self._origin, axis=0).T
            return low, high
        half = half_widths(shares.errors, shares.spreads, people, confidence)
        return self.shares - half, self.shares + half

    def _interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        each = self._source.sample(np.roll(w, self._origin)[None], fitted=True)
        assert each is not None  # noqa: S101 (all shares can be told apart)
        return each.answer((float(w.min()), float(w.max()))).interval(confidence)

    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        size, shown, running = len(self.shares), self.quantile(q), self.cdf
        count = min(size, _MOST_TESTED, max(_LEAST_TESTED, _MOST_NUMBERS // size))
        some = np.linspace(0, size - 1, count).round().astype(np.int64)
        at = np.unique(np.append(some, [max(shown - 1, 0), shown]))
        up_to = (np.arange(size) <= at[:, None]).astype(np.float64)
        each = self._source.sample(np.roll(up_to, self._origin, axis=1), fitted=True)
        assert each is not None  # noqa: S101 (all shares can be told apart)
        people = self._source.effective
        half = half_widths(each.se, each.spread, people, confidence)
        # Values up to the last one tested whose cumulative share is clearly below q are ruled out.
        maybe = np.flatnonzero(running[at] + half >= q)
        first = int(maybe[0]) if len(maybe) else len(at) - 1
        # From the value after the last whose cumulative share may be below q, all are large enough.
        unsure = np.flatnonzero(running[at] - half < q)
        last = min(int(unsure[-1]) + 1, len(at) - 1) if len(unsure) else 0
        note = few_note(people) if people < FEW else ""
        return int(at[first - 1]) + 1 if first else 0, int(at[last]), note


class MostLikely(Histogram):
    """The most likely distribution, or an average of the most likely smooth ones over amounts of smoothing.

    The average is weighted by how well held-out reports are predicted. A smoothed model may exclude the true
    distribution, so an interval is the hull over the model without smoothing and all models in the average.
    """

    def __init__(self, source: Source, cells: Cells, counts: Array, *, smooth: bool, reason: str) -> None:
        self._source = source
        self._known: dict[tuple[object, ...], tuple[float, float]] = {}
        self._people = float(counts.sum())
        self._counts = cells.counts(counts)
        self._cells = cells = cells.with_apart(self._counts) if smooth else cells
        self._plain = Model(cells, self._counts)
        self._weights = self._weighed() if smooth else {0: 1.0}
        self._models = [Model(cells, self._counts, steps) if steps else self._plain for steps in self._weights]
        self.shares = np.average([model.shares for model in self._models], axis=0, weights=[*self._weights.values()])
        tops = [model.top for model in self._models]
        self.fit: Fit = Fit(
            self.shares,
            sum(top.steps for top in tops),
            log_likelihood(cells.law(self.shares), self._counts),
            max(top.gap for top in tops),
        )
        self.method = "smooth" if any(self._weights) else "em"
        self.reason = reason + (self._smoothed() if smooth else "")

    def _weighed(self) -> dict[int, float]:
        """The numbers of smoothing steps (1, 2, 1)/4, with their weights."""
        if self._people < FEW:
            return {max(1, round(2 * (self._cells.many / _FEW_SMOOTH) ** 2)): 1.0}
        return weigh_smoothing(self._cells, self._counts)

    def _smoothed(self) -> str:
        if not any(self._weights):
            return "; held-out reports are predicted best without smoothing"
        a_step = math.sqrt(0.5) * len(self.shares) / self._cells.many
        least, most = (f"{a_step * math.sqrt(steps):.3g}" for steps in (min(self._weights), max(self._weights)))
        wide = most if least == most else f"{least} to {most}"
        weighted = "weighted by how well held-out reports are predicted"
        why = "as always for so few reports" if self._people < FEW else weighted
        return f"; smoothed by a standard deviation of {wide} values, {why}"

    def _interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        # Text, JSON and plots ask for the same ranges, and each interval takes many fits.
        w = np.roll(w, self._origin)
        scores = self._source.sample(w[None], fitted=True) if self._is_sparse and self._people >= FEW else None
        if scores is not None:
            return self._around(w, *scores.answer((float(w.min()), float(w.max()))).ci(confidence), confidence)
        asked = hashlib.sha256(w.tobytes()).digest(), confidence
        if asked not in self._known:
            region = self._region(confidence, extra=self._beside_spike(w))
            self._known[asked] = -self._furthest(-w, region), self._furthest(w, region)
        return self._around(w, *self._known[asked], confidence)

    def _around(self, w: Array, low: float, high: float, confidence: float) -> ConfidenceInterval:
        """An interval that contains what is shown, within what is possible; shares add up to one but for rounding."""
        value = float(w @ np.roll(self.shares, self._origin))
        ends = np.clip([min(low, value), max(high, value)], w.min(), w.max()).tolist()
        return ConfidenceInterval(ends[0], ends[1], confidence, self._note)

    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        asked = q, confidence, self._origin
        if asked not in self._known:
            size, shown = len(self.shares), self.quantile(q)
            region = self._region(confidence, extra=None if _CENTRAL[0] <= q <= _CENTRAL[1] else 0)

            def up_to(value: int) -> Array:
                return np.roll((np.arange(size) <= value).astype(np.float64), self._origin)

            # The ends are about where F differs from q by as much as F may differ from its estimate here.
            reach = self._furthest(up_to(shown), region[:1]) - float(self.cdf[shown])
            # Whether F(v) ≥ q is not ruled out: the quantile may be here or before.
            low_enough = lambda value: self._furthest(up_to(value), region, q) >= q  # noqa: E731
            # Whether F(v − 1) ≤ q is ruled out: the quantile is before.
            too_high = lambda value: -self._furthest(-up_to(value - 1), region, -q) > q  # noqa: E731
            first, _ = _first(low_enough, 0, shown, self.quantile(q - reach))
            _, last = _first(too_high, shown + 1, size, self.quantile(q + reach) + 1)
            self._known[asked] = first, last - 1
        low, high = self._known[asked]
        return int(low), int(high), self._note

    @property
    def _is_sparse(self) -> bool:
        """Whether there are so few reports that one which is noise looks like a person: below 2·e^ε of them.

        The most likely distribution then has a value for each such report, and χ² is not the law of what it loses
        without them: intervals would miss the share of a value that all people have. Those of scores do not.
        """
        return self._people < _SPARSE * self._source.mechanism.largest_ratio()

    @staticmethod
    def _furthest(w: Array, region: list[Search], enough: float = math.inf) -> float:
        """The largest w·f over all distributions that at least one model does not rule out."""
        found = -math.inf
        for search in region:
            # What cannot reach farther than another model need not be known more exactly.
            least = found if enough == math.inf else enough
            found = max(found, search.furthest(w, least=least, enough=enough))
            if found >= enough:
                break
        return found

    def _beside_spike(self, w: Array) -> int:
        """Whether weights change within a cell of a tenth of all people, on a long line: where these lie matters."""
        size = len(w)
        near = -(-size // self._cells.many)
        if near == 1:
            return 0
        running = np.pad(np.roll(self.shares, self._origin), near, mode="wrap").cumsum()
        edges = np.flatnonzero(w != np.roll(w, 1))
        return int((running[edges + 2 * near - 1] - running[edges - 1] * (edges > 0)).max() >= _SPIKE)

    def _region(self, confidence: float, *, extra: int | None) -> list[Search]:
        """All distributions that a model does not rule out; ``extra`` degrees of freedom for shares, if any."""
        if self._people < FEW or (self._is_sparse and extra is not None):
            first, second = halves(self._counts)
            fitted, other = Model(self._cells, second, max(self._weights)), Model(self._cells, first)
            # Neither fit is exactly at its maximum, and the answer shown must be inside at any confidence.
            level = fitted.predicted(first) + math.log1p(-confidence) - fitted.top.gap - self.fit.gap
            return [Search(other, down_to(other, level))]
        models = dict.fromkeys((self._plain, *self._models))
        return [Search(model, by_chi_square(model, confidence, extra=extra)) for model in models]

    @property
    def _note(self) -> str:
        if self._people >= FEW:
            return ""
        # The bound by splitting is proved for whole counts and single values.
        whole = np.allclose(self._counts, np.rint(self._counts), rtol=0, atol=_WHOLE)
        return few_note(self._people, proved=bool(whole) and self._cells.single)


class Fitted(Histogram):
    """A fit without known intervals: these are the whole possible range, with the reason."""

    def __init__(self, method: str, reason: str, fit: Fit, why: str) -> None:
        self.method, self.reason, self.fit, self._why = method, reason, fit, why
        self.shares = fit.frequencies

    @property
    def bins_note(self) -> str:
        return self._why

    def _interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        return ConfidenceInterval(float(w.min()), float(w.max()), confidence, self._why)

    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        del q, confidence
        return 0, len(self.shares) - 1, self._why


def on_simplex(shares: Array) -> Array:
    """The nearest distribution (Euclidean): each share lowered by the same amount, but not below zero."""
    falling = np.sort(shares)[::-1]
    excess = (falling.cumsum() - 1) / np.arange(1, len(shares) + 1)
    kept = int(np.count_nonzero(falling > excess))
    nearest: Array = np.maximum(shares - excess[kept - 1], 0.0)
    return nearest


def _first(holds: Callable[[int], bool], low: int, high: int, guess: int) -> tuple[int, int]:
    """Bounds on the first integer from ``low`` on for which a monotone condition holds; ``high`` if there is none.

    They are equal, or differ by at most 1 % of the distance of the guess from the nearer limit.
    """
    guess = min(max(guess, low), high)
    far = min(guess - low, high - guess)
    near, step, below, above = far // 100, max(far // 8, 1), False, False
    while high - low > near:
        middle = (low + high) // 2 if below and above else min(max(guess, low), high - 1)
        if holds(middle):
            high, guess, above = middle, middle - step, True
        else:
            low, guess, below = middle + 1, middle + step, True
        step *= 2
    return low, high

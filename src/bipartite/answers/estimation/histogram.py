"""Histograms: the shares of all values by each method, answers read off them, and the intervals of those.

Every histogram gives the share of a range of values, cumulative shares, quantiles, and the interval of each, which
contains the answer by construction.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.em import Fit
from bipartite.answers.estimation.intervals import (
    FEW,
    ConfidenceInterval,
    few_note,
    half_widths,
)
from bipartite.answers.estimation.likelihood import (
    Cells,
    Model,
    Region,
    by_chi_square,
    down_to,
    halves,
    weigh_smoothing,
)
from bipartite.answers.estimation.projection import projected_bounds
from bipartite.lottery import Turned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.source import Source
    from bipartite.lottery import Channel

    Array = NDArray[np.float64]

NOT_LOOKED_AT: Final = "there are too many values for likelihood intervals"
BIASED: Final = "smoothing while fitting biases shares by an unknown amount; use method='auto' for intervals"
NO_BINS: Final = "single shares of a fitted curve have no intervals here; ask for a range of values"
# The number of cumulative shares to compute: 513, or fewer if there are many values, and at least 65.
_MOST_TESTED: Final = 513
_LEAST_TESTED: Final = 65
_MOST_NUMBERS: Final = 2**24
_MOST_MATRIX: Final = 2**22
_WHOLE: Final = 1e-9
# With few reports the smoothing is fixed: a standard deviation of a tenth of the line.
_FEW_SMOOTH: Final = 10


class Histogram(ABC):
    """Shares of all values, in the order of the domain."""

    method: str
    reason: str
    frequencies: Array
    fit: Fit | None = None

    @property
    def shares(self) -> Array:
        """The share of each value."""
        return self.frequencies

    @property
    def distribution(self) -> Array:
        """The shares to use in sums over several values."""
        return self.frequencies

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
        return np.full(len(self.frequencies), math.nan)

    def share_bounds(self, confidence: float) -> tuple[Array, Array]:
        """The interval of every share, not cut to the possible range; NaN if there is none."""
        del confidence
        return self.share_errors, self.share_errors

    @abstractmethod
    def from_origin(self, origin: int) -> Histogram:
        """The same on a circle with values indexed from another origin; for quantiles."""

    @abstractmethod
    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        """The interval of Σ w·share, which is ``w @ distribution``."""

    @abstractmethod
    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        """The indices of the smallest and the largest value that may be the quantile, and a note."""


class Unbiased(Histogram):
    """Unbiased shares, or the distribution nearest to them, with the standard errors of unbiased answers.

    The nearest distribution is, over all shares together, at least as close to the truth as the unbiased shares.
    """

    def __init__(self, answers: Source, method: str, reason: str, origin: int = 0) -> None:
        self.method, self.reason, self._answers, self._origin = method, reason, answers, origin
        values = np.roll(answers.shares().values, -origin)
        self.frequencies = values if method == "inverse" else on_simplex(values)
        # Sums of several shares are unbiased for either method: the projection raises a sum over many values that
        # nobody holds by more than its standard error, so no interval around it would cover the truth.
        self._distribution = np.roll(answers.distribution, -origin)

    def from_origin(self, origin: int) -> Histogram:
        return Unbiased(self._answers, self.method, self.reason, origin)

    @property
    def distribution(self) -> Array:
        return self._distribution

    @property
    def cdf(self) -> Array:
        # Unbiased sums may lie above 1, as unbiased shares may lie below 0.
        running = self._distribution.cumsum()
        running[-1] = 1.0
        return running

    @property
    def bins_note(self) -> str:
        return ""

    @property
    def share_errors(self) -> Array:
        return self._answers.shares().errors

    def share_bounds(self, confidence: float) -> tuple[Array, Array]:
        shares = self._answers.shares()
        people = self._answers.effective
        if self.method == "projected":
            return projected_bounds(shares.values, self.frequencies, shares.errors, shares.spreads, people, confidence)
        half = half_widths(shares.errors, shares.spreads, people, confidence)
        return self.frequencies - half, self.frequencies + half

    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        possible = float(w.min()), float(w.max())
        if possible[0] == possible[1]:
            # All shares together are exactly one, despite rounding.
            return ConfidenceInterval(*possible, confidence)
        each = self._answers.sample(w[None], fitted=True)
        assert each is not None  # noqa: S101 (all shares can be told apart)
        return each.answer(possible).interval(confidence)

    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        at, halves_ = self._tested(self.quantile(q), confidence)
        running = self.cdf[at]
        # Values up to the last one tested whose cumulative share is clearly below q are ruled out.
        maybe = np.flatnonzero(running + halves_ >= q)
        first = int(maybe[0]) if len(maybe) else len(at) - 1
        low = int(at[first - 1]) + 1 if first else 0
        # From the value after the last whose cumulative share may be below q, all are large enough.
        unsure = np.flatnonzero(running - halves_ < q)
        high = int(at[min(int(unsure[-1]) + 1, len(at) - 1)]) if len(unsure) else int(at[0])
        return low, high, self._note

    def _tested(self, shown: int, confidence: float) -> tuple[NDArray[np.int64], Array]:
        """Some values, including those around the quantile shown, and half the width of each cumulative share."""
        size = len(self.frequencies)
        count = min(size, _MOST_TESTED, max(_LEAST_TESTED, _MOST_NUMBERS // size))
        some = np.linspace(0, size - 1, count).round().astype(np.int64)
        at = np.unique(np.append(some, [max(shown - 1, 0), shown]))
        up_to = (np.arange(size) <= at[:, None]).astype(np.float64)
        each = self._answers.sample(np.roll(up_to, self._origin, axis=1), fitted=True)
        assert each is not None  # noqa: S101 (all shares can be told apart)
        return at, half_widths(each.se, each.spread, self._answers.effective, confidence)

    @property
    def _few(self) -> bool:
        return self._answers.effective < FEW

    @property
    def _note(self) -> str:
        return few_note(self._answers.effective) if self._few else ""


class MostLikely(Histogram):
    """The most likely distribution, or an average of the most likely smooth ones over amounts of smoothing.

    Its intervals contain what the reports do not rule out, by the model without smoothing or any averaged model.
    """

    def __init__(
        self, operator: Channel, counts: Array, *, smooth: bool, together: bool, around: bool = False, reason: str
    ) -> None:
        self._known: dict[tuple[bytes, float], tuple[float, float]] = {}
        self._known_quantiles: dict[tuple[float, float], tuple[int, int]] = {}
        self._people = float(counts.sum())
        self._given = operator, counts, smooth, together, around, reason
        self._cells = Cells.of(operator, together=together, around=around)
        self._counts = self._cells.counts(counts)
        self._plain = Model(self._cells.matrix, self._counts)
        self._weights = self._weighed() if smooth else {0: 1.0}
        self._models = [self._model(self._counts, steps) if steps else self._plain for steps in self._weights]
        shares = np.average([model.shares for model in self._models], axis=0, weights=[*self._weights.values()])
        self.frequencies = self._cells.spread(shares)
        tops = [model.top for model in self._models]
        self.fit: Fit = Fit(
            self.frequencies,
            sum(top.steps for top in tops),
            self._plain.likelihood(shares),
            max(top.gap for top in tops),
            converged=all(top.converged for top in tops),
        )
        self.method = "smooth" if any(self._weights) else "em"
        self.reason = reason + self._smoothed() if smooth else reason

    def from_origin(self, origin: int) -> Histogram:
        operator, counts, smooth, together, around, reason = self._given
        turned = Turned(operator, origin)
        return MostLikely(turned, counts, smooth=smooth, together=together, around=around, reason=reason)

    def _weighed(self) -> dict[int, float]:
        """The numbers of smoothing steps (1, 2, 1)/4, with their weights."""
        if self._people < FEW:
            return {max(1, round(2 * (len(self._cells.matrix) / _FEW_SMOOTH) ** 2)): 1.0}
        return weigh_smoothing(self._cells, self._counts)

    def _model(self, counts: Array, steps: int) -> Model:
        return Model(self._cells.matrix, counts, self._cells.smoother(steps))

    def _smoothed(self) -> str:
        if not any(self._weights):
            return "; held-out reports are predicted best without smoothing"
        a_step = math.sqrt(0.5) * len(self.frequencies) / len(self._cells.matrix)
        least, most = (f"{a_step * math.sqrt(steps):.3g}" for steps in (min(self._weights), max(self._weights)))
        wide = most if least == most else f"{least} to {most}"
        weighted = "weighted by how well held-out reports are predicted"
        why = "as always for so few reports" if self._people < FEW else weighted
        return f"; smoothed by a standard deviation of {wide} values, {why}"

    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        # Text, JSON and plots ask for the same ranges, and each interval takes many fits.
        asked = hashlib.sha256(w.tobytes()).digest(), confidence
        if asked not in self._known:
            self._known[asked] = self._region(confidence).interval(w)
        return ConfidenceInterval(*self._known[asked], confidence, self._note)

    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        if (q, confidence) not in self._known_quantiles:
            cell = int(self._cells.of_value[self.quantile(q)])
            first, last = self._region(confidence).quantiles(q, cell)
            low, high = np.searchsorted(self._cells.of_value, [first, last + 1])
            self._known_quantiles[q, confidence] = int(low), int(high) - 1
        return *self._known_quantiles[q, confidence], self._note

    def _region(self, confidence: float) -> Region:
        if self._people < FEW:
            first, second = halves(self._counts)
            fitted = self._model(second, max(self._weights))
            level = fitted.likelihood(fitted.top.frequencies, first) + math.log1p(-confidence)
            # Neither fit is exactly at its maximum, and the answer shown must be inside at any confidence.
            level -= fitted.top.gap + self.fit.gap
            return Region(self._cells, [(Model(self._cells.matrix, first), down_to(level))])
        models = dict.fromkeys((self._plain, *self._models))
        return Region(self._cells, [(model, by_chi_square(model, confidence)) for model in models])

    @property
    def _note(self) -> str:
        if self._people >= FEW:
            return ""
        # The bound by splitting is proved for whole counts and single values.
        whole = np.allclose(self._counts, np.rint(self._counts), rtol=0, atol=_WHOLE)
        return few_note(self._people, proved=whole and len(self._cells.matrix) == len(self.frequencies))


class Fitted(Histogram):
    """A fit without known intervals: these are the whole possible range, with the reason."""

    def __init__(self, method: str, reason: str, fit: Fit, why: str) -> None:
        self.method, self.reason, self.fit, self._why = method, reason, fit, why
        self.frequencies = fit.frequencies

    def from_origin(self, origin: int) -> Histogram:
        assert self.fit is not None  # noqa: S101 (it is one)
        fit = dataclasses.replace(self.fit, frequencies=np.roll(self.frequencies, -origin))
        return Fitted(self.method, self.reason, fit, self._why)

    @property
    def bins_note(self) -> str:
        return self._why

    def interval(self, w: Array, confidence: float) -> ConfidenceInterval:
        return ConfidenceInterval(float(w.min()), float(w.max()), confidence, self._why)

    def quantile_interval(self, q: float, confidence: float) -> tuple[int, int, str]:
        del q, confidence
        return 0, len(self.frequencies) - 1, self._why


def on_simplex(shares: Array) -> Array:
    """The nearest distribution (Euclidean): each share lowered by the same amount, but not below zero."""
    falling = np.sort(shares)[::-1]
    excess = (falling.cumsum() - 1) / np.arange(1, len(shares) + 1)
    kept = int(np.count_nonzero(falling > excess))
    nearest: Array = np.maximum(shares - excess[kept - 1], 0.0)
    return nearest


def can_be_held(operator: Channel) -> bool:
    """Whether the matrix of an operator is small enough for likelihood intervals."""
    return operator.inputs * operator.outputs <= _MOST_MATRIX

r"""What the reports do not rule out: answers over all distributions that are likely enough.

**The region.** With ℓ(f) = Σ_y c_y·ln (fᵀP)_y, the distributions with ℓ(f) ≥ level are those that the reports do not
rule out, and the interval of an answer w·f runs from its least to its largest value over them. So it contains the
answer of the most likely distribution, and where values cannot be told apart it holds everything that is left open.
An end is found by tilting: the f that maximises ℓ(f) + λ·n·w·f has, for each λ, the largest w·f of all that are at
least as likely, and λ is moved until ℓ reaches the level (profile likelihood).

**The level.** Half a χ² quantile below the top. Where shares lie at the limit 0 (a population of a few values, seen at
one of them), twice the drop varies more than χ² with one degree of freedom, because many directions lead away from the
limit: three degrees are used for shares and for shares up to a value, and one for quantiles, whose hypotheses leave
those directions open. That this holds its confidence is measured (``bench/error_bars.py``), not proved.

**Few reports.** Below 50 the level comes from a split: half of the reports fit a distribution g, and f is ruled out
where it is less likely than g by a factor of 1 − confidence on the other half. This holds for any number of reports and
any population (Wasserman, Ramdas, Balakrishnan, PNAS 2020), and the answer shown is inside: the fit to all reports
cannot lose to g on the half that g has not seen, as g cannot lose to it on its own.

**Smoothing.** On a line f = h·S_b, a mixture of bumps: S_b takes b steps of (1, 2, 1)/4, which stop at the ends. How
much to smooth is chosen by the likelihood of reports held out (:func:`choose_smoothing`). A model that smooths can miss
the truth, so the interval is that of the model without smoothing together with that of the model shown.

**Cells.** Beyond 512 values on a line, neighbours are taken together; an interval then holds what they leave open.
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.em import fit_em
from bipartite.answers.estimation.operator import Dense

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.estimation.em import Fit
    from bipartite.answers.estimation.operator import Operator

    Array = NDArray[np.float64]

MOST_CELLS: Final = 512
_MOST_OUTPUTS: Final = 1024
# The grid of smoothing: b steps have a standard deviation of √(b/2) values. Candidates end at a quarter of the line.
_WIDEST: Final = 4
# A candidate this many nats below the best ends the search: more smoothing only loses more.
_HOPELESS: Final = 20.0
_TRIES: Final = 30
_CLOSE: Final = 0.01
_GROWTH: Final = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Neighbouring values, and neighbouring outputs, taken together."""

    of_value: NDArray[np.int64]
    """The cell of every value."""
    matrix: Array
    """The chance of every group of outputs, for a value drawn evenly from each cell."""
    of_output: NDArray[np.int64]

    @classmethod
    def of(cls, operator: Operator, *, together: bool) -> Cells:
        """At most 512 cells where values may be taken ``together``, otherwise one for each value."""
        values, outputs = operator.inputs, operator.outputs
        cells = min(values, MOST_CELLS) if together else values
        groups = min(outputs, _MOST_OUTPUTS) if together else outputs
        of_value = np.arange(values) * cells // values
        of_output = np.arange(outputs) * groups // outputs
        sizes = np.bincount(of_value)
        firsts = np.searchsorted(of_output, np.arange(groups))
        matrix = np.empty((cells, groups))
        for cell in range(cells):
            members = (of_value == cell) / sizes[cell]
            matrix[cell] = np.add.reduceat(operator.forward(members), firsts)
        return cls(of_value, matrix, of_output)

    def counts(self, held: Array) -> Array:
        """Counts of outputs as counts of groups of them."""
        return np.bincount(self.of_output, held, self.matrix.shape[1]).astype(np.float64)

    def spread(self, shares: Array) -> Array:
        """Shares of cells as shares of values."""
        found: Array = (shares / np.bincount(self.of_value))[self.of_value]
        return found

    def bounds(self, w: Array) -> tuple[Array, Array]:
        """The least and the largest weight in each cell."""
        firsts = np.searchsorted(self.of_value, np.arange(len(self.matrix)))
        return np.minimum.reduceat(w, firsts), np.maximum.reduceat(w, firsts)


@functools.lru_cache(maxsize=64)
def smoother(cells: int, steps: int) -> Array:
    """S_b: where one unit of mass is after b steps of (1, 2, 1)/4 that stop at the ends, a row for each beginning.

    Bumps begin half a standard deviation apart: more of them would make no other mixtures, and rows too much alike.
    """
    # The eigenvectors of such a walk are cosines.
    at = np.arange(cells)
    waves = np.cos(np.pi * np.outer(at + 0.5, at) / cells)
    waves /= np.sqrt((waves**2).sum(axis=0))
    between = max(1, int(math.sqrt(steps / 2) / 2))
    begins = np.linspace(0, cells - 1, -(-(cells - 1) // between) + 1).round().astype(np.int64)
    found: Array = (waves[begins] * np.cos(np.pi * at / (2 * cells)) ** (2 * steps)) @ waves.T
    np.maximum(found, 0.0, out=found)
    found /= found.sum(axis=1, keepdims=True)
    found.flags.writeable = False
    return found


class Model:
    """Distributions h·S over cells, counts of reports, and the most likely of them."""

    def __init__(self, matrix: Array, counts: Array, smooth: Array | None = None) -> None:
        self._smooth, self._counts, self._people = smooth, counts, float(counts.sum())
        self._operator = Dense(matrix if smooth is None else smooth @ matrix)

    @functools.cached_property
    def top(self) -> Fit:
        """The most likely h."""
        return fit_em(self._operator, self._counts)

    @property
    def shares(self) -> Array:
        """The most likely distribution."""
        return self._smoothed(self.top.frequencies)

    def _smoothed(self, h: Array) -> Array:
        return h if self._smooth is None else h @ self._smooth

    def likelihood(self, h: Array, counts: Array | None = None) -> float:
        """The log-likelihood of h, of these counts or of others."""
        held = self._counts if counts is None else counts
        law = self._operator.forward(h)
        return float(held[held > 0] @ np.log(law[held > 0]))

    def furthest(self, w: Array, level: float, enough: float = math.inf) -> float:
        """The largest w·f of all f with a log-likelihood of at least ``level``; ends early once ``enough`` is reached.

        Twice the drop in log-likelihood is about quadratic in λ, so that its root is.
        """
        w = w if self._smooth is None else self._smooth @ w
        scale, top = float(np.ptp(w)), self.top
        reached = float(w @ top.frequencies)
        if scale == 0 or top.log_likelihood <= level:
            return reached
        target = math.sqrt(top.log_likelihood - level)
        low, high, low_drop, high_drop, start = 0.0, math.nan, 0.0, math.nan, top.frequencies
        tilt = target / math.sqrt(self._people)
        for _ in range(_TRIES):
            fit = fit_em(self._operator, self._counts, start=start, tilt=(tilt / scale) * w)
            drop = math.sqrt(max(top.log_likelihood - fit.log_likelihood, 0.0))
            answer = float(w @ fit.frequencies)
            if drop <= target:
                reached, low, low_drop, start = max(reached, answer), tilt, drop, fit.frequencies
                if reached >= enough or target - drop <= _CLOSE * target or w.max() - reached <= 1e-9 * scale:
                    return reached
            else:
                high, high_drop = tilt, drop
                if answer < enough < math.inf:
                    return reached
            if math.isnan(high):
                tilt *= _GROWTH
            else:
                part = (target - low_drop) / (high_drop - low_drop)
                tilt = low + (high - low) * min(max(part, 0.1), 0.9)
        return reached


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """All distributions that some models do not rule out, each with its level."""

    cells: Cells
    models: Sequence[tuple[Model, float]]

    def interval(self, w: Array) -> tuple[float, float]:
        """The least and the largest w·f."""
        low, high = self.cells.bounds(w)
        return (
            min(-model.furthest(-low, level) for model, level in self.models) + 0.0,  # not −0
            max(model.furthest(high, level) for model, level in self.models),
        )

    def quantiles(self, q: float, at: int) -> tuple[int, int]:
        """The least and the largest cell that may hold the quantile, which is seen in cell ``at``."""
        size = len(self.cells.matrix)

        def up_to(cell: int) -> Array:
            return (np.arange(size) <= cell).astype(np.float64)

        def low_enough(cell: int) -> bool:
            """Whether F(cell) ≥ q is not ruled out: the quantile may be at this cell or before."""
            return any(model.furthest(up_to(cell), level, q) >= q for model, level in self.models)

        def high_enough(cell: int) -> bool:
            """Whether F(cell − 1) ≤ q is not ruled out: the quantile may be at this cell or after."""
            return any(-model.furthest(-up_to(cell - 1), level, -q) <= q for model, level in self.models)

        first = _first(low_enough, 0, at)
        last = _first(lambda cell: not high_enough(cell), at + 1, size) - 1
        return first, last


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first whole number from low on for which something holds that goes on to hold; high where none before."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def halves(counts: Array) -> tuple[Array, Array]:
    """Counts cut in two by a coin for each report: two samples, independent given their sizes.

    The coins come from the counts themselves, so that the same counts give the same halves. Counts that are not whole,
    of weighted reports, are cut in proportion.
    """
    seed = int.from_bytes(hashlib.sha256(np.ascontiguousarray(counts, dtype="<f8").tobytes()).digest(), "big")
    whole = np.maximum(np.rint(counts), counts > 0).astype(np.int64)
    drawn = np.random.default_rng(seed).binomial(whole, 0.5)
    first: Array = counts * np.divide(drawn, whole, out=np.zeros(len(counts)), where=whole > 0)
    return first, counts - first


def choose_smoothing(matrix: Array, counts: Array) -> int:
    """The number of steps of smoothing under which each half of the reports predicts the other half best.

    A function of the reports alone, so it costs no privacy; the same counts give the same choice.
    """
    first, second = halves(counts)
    if not first.any() or not second.any():
        return 0
    best, found, steps = -math.inf, 0, 0
    while steps <= 2 * (len(matrix) / _WIDEST) ** 2:
        smooth = smoother(len(matrix), steps) if steps else None
        value = sum(
            (model := Model(matrix, seen, smooth)).likelihood(model.top.frequencies, other)
            for seen, other in ((first, second), (second, first))
        )
        if value > best:
            best, found = value, steps
        elif value < best - _HOPELESS:
            break
        steps = max(1, 2 * steps)
    return found

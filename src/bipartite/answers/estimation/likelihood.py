r"""Likelihood intervals: the range of an answer over all distributions that the reports do not rule out.

**The region.** With ℓ(f) = Σ_y c_y·ln (fᵀP)_y, the distributions with ℓ(f) ≥ level are those that the reports do not
rule out, and the interval of an answer w·f runs from its smallest to its largest value over them. So it contains the
answer of the most likely distribution, and if some values are indistinguishable, every answer that the reports leave
open. An end is found by tilting: for each λ, the f that maximizes ℓ(f) + λ·n·w·f has the largest w·f of all
distributions that are at least as likely as f, and λ is adjusted until ℓ reaches the level (profile likelihood).

**The level.** Twice the drop from the maximum is compared with a quantile of χ². Its degrees of freedom are the number
of values that the constraint on the answer removes from the support, plus one for the answer itself: given which shares
are zero with and without the constraint, this is the distribution of the drop if the log-likelihood is quadratic
(conditional likelihood ratio; Bartholomew 1961, Iverson, Harp 1987). With one degree, coverage would be too low for a
range that contains nobody, and near a value that many people have. That intervals keep their confidence is measured
(``bench/error_bars.py``), not proved.

**Few reports.** Below 50 reports, the level comes from splitting them: a distribution g is fitted to one half, and f is
ruled out if its likelihood on the other half is less than 1 − confidence times that of g. This is valid for any number
of unweighted reports and any population on up to 512 values (Wasserman, Ramdas, Balakrishnan, PNAS 2020; the coins of
the split are derived from a hash of the counts and assumed to be independent of them). Weighted reports are split in
proportion, and longer lines are divided into cells; for these it is not proved. The answer shown lies in its interval:
on the half that g was not fitted to, the fit to all reports is at least as likely as g, because on the other half g is
at least as likely, up to the certified gaps of both fits, which the level allows for.

**Smoothing.** f = h·S_b, a mixture of bumps: S_b takes b steps of (1, 2, 1)/4, reflected at the ends of a line and
periodic on a circle. The distribution shown is an average over amounts of smoothing, each weighted by the likelihood of
held-out reports under its fits (:func:`weigh_smoothing`; pseudo-Bayes factors: Geisser, Eddy, JASA 1979). A smoothed
model may exclude the true distribution, so the interval is the hull of the interval of the model without smoothing and
those of all models in the average.

**Cells.** Beyond 512 values on a line or a circle, neighbours are merged into cells, as if people were spread evenly
over each cell; an interval then also covers every way of dividing the share of a cell among its values.

**Ends** are rounded outward: with a the allowed drop and f_λ the fit at the tilt λ, no f in the region has a w·f above
w·f_λ + (a − drop(f_λ) + gap(f_λ))/(λ·n), because f_λ maximizes ℓ(f) + λ·n·w·f up to its certified gap. The end is the
smaller of these bounds for the last two fits. Some mixture of a fit inside and one outside lies in the region (ℓ is
concave); the search stops when the answer of that mixture is within 1 % of the bound, relative to the distance from the
estimate.
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.em import Fit, fit_em
from bipartite.answers.estimation.intervals import chi_square_quantile
from bipartite.lottery import Dense

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bipartite.lottery import Channel

    Array = NDArray[np.float64]
    Allowed = Callable[[Fit, Fit], float]
    """From the maximum-likelihood fit and another fit: the allowed drop in log-likelihood between them."""

MOST_CELLS: Final = 512
_MOST_OUTPUTS: Final = 1024
# The search over amounts of smoothing stops at one this many nats below the best: more smoothing would be worse.
_HOPELESS: Final = 20.0
# The number of random splits; and the fraction of the largest weight below which an amount of smoothing is dropped.
_WAYS: Final = 4
_SLIGHT: Final = 0.1
_ROWS: Final = 64
_TRIES: Final = 30
_CLOSE: Final = 0.01
_TINY: Final = 1e-12
_GROWTH: Final = 3.0
_TWICE: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Neighbouring values merged into cells, and neighbouring outputs into groups."""

    of_value: NDArray[np.int64]
    """The cell of every value."""
    matrix: Array
    """The probability of every group of outputs, for a uniformly random value of each cell."""
    of_output: NDArray[np.int64]
    around: bool = False
    """Whether the first cell follows the last."""

    @classmethod
    def of(cls, operator: Channel, *, together: bool, around: bool = False) -> Cells:
        """At most 512 cells if values may be merged (``together``), otherwise one per value."""
        condensed, short = operator.condensed()
        values, outputs = short.inputs, short.outputs
        cells = min(values, MOST_CELLS) if together else values
        groups = min(outputs, _MOST_OUTPUTS) if together else outputs
        of_value = _cell_of_each(values, cells)
        of_output = np.arange(outputs) * groups // outputs
        firsts = np.searchsorted(of_output, np.arange(groups))
        sizes = np.bincount(of_value)
        matrix = np.empty((cells, groups))
        for first in range(0, cells, _ROWS):
            members = (of_value == np.arange(first, min(first + _ROWS, cells))[:, None]).astype(np.float64)
            law = short.forward(members / sizes[first : first + _ROWS, None])
            matrix[first : first + _ROWS] = np.add.reduceat(law, firsts, axis=1)
        return cls(of_value, matrix, of_output if condensed is None else of_output[condensed], around)

    def counts(self, held: Array) -> Array:
        """Convert counts of outputs to counts of groups of outputs."""
        return np.bincount(self.of_output, held, self.matrix.shape[1]).astype(np.float64)

    def spread(self, shares: Array) -> Array:
        """Convert shares of cells to shares of values."""
        found: Array = (shares / np.bincount(self.of_value))[self.of_value]
        return found

    def bounds(self, w: Array) -> tuple[Array, Array]:
        """The smallest and largest weight in each cell."""
        firsts = np.searchsorted(self.of_value, np.arange(len(self.matrix)))
        return np.minimum.reduceat(w, firsts), np.maximum.reduceat(w, firsts)

    def smoother(self, steps: int) -> Array | None:
        """The smoothing kernels for this number of steps, one per row; None for no smoothing."""
        if not steps:
            return None
        return (_smoother_around if self.around else _smoother)(len(self.of_value), len(self.matrix), steps)


def _cell_of_each(values: int, cells: int) -> NDArray[np.int64]:
    return np.arange(values) * cells // values


@functools.lru_cache(maxsize=64)
def _smoother(values: int, cells: int, steps: int) -> Array:
    """S_b: the distribution of one unit of mass after b steps of (1, 2, 1)/4, reflected at the ends; one row per start.

    Kernels start half a standard deviation apart: more of them would hardly add mixtures, and make rows too similar. A
    cell with more values gets more of the mass, so that the shares of single values are smooth.
    """
    # The eigenvectors of this random walk are cosines.
    at = np.arange(cells)
    waves = np.cos(np.pi * np.outer(at + 0.5, at) / cells)
    waves /= np.sqrt((waves**2).sum(axis=0))
    many = -(-(cells - 1) // _between(steps)) + 1
    begins = np.linspace(0, cells - 1, many)[: -(-many // 2)].round().astype(np.int64)
    # Keep the starts symmetric under reversal of the line.
    begins = np.union1d(begins, cells - 1 - begins)
    found: Array = (waves[begins] * np.cos(np.pi * at / (2 * cells)) ** (2 * steps)) @ waves.T
    return _as_shares(found, values)


@functools.lru_cache(maxsize=64)
def _smoother_around(values: int, cells: int, steps: int) -> Array:
    """S_b around a circle, which has no ends: every kernel is a rotation of the same one."""
    waves = np.arange(cells // 2 + 1)
    bump = np.fft.irfft(np.cos(np.pi * waves / cells) ** (2 * steps), cells)
    many = -(-cells // _between(steps))
    begins = np.linspace(0, cells, many, endpoint=False).round().astype(np.int64)
    return _as_shares(np.array([np.roll(bump, begin) for begin in begins.tolist()]), values)


def _between(steps: int) -> int:
    """The distance between the starts of kernels of this number of steps."""
    return max(1, int(math.sqrt(steps / 2) / 2))


def _as_shares(bumps: Array, values: int) -> Array:
    """Clip negative rounding errors, weight cells by their number of values, and normalize each kernel."""
    found = np.maximum(bumps, 0.0)
    found *= np.bincount(_cell_of_each(values, found.shape[1]))
    found /= found.sum(axis=1, keepdims=True)
    found.flags.writeable = False
    return found


class Model:
    """The family of distributions h·S over cells, the counts of reports, and the most likely distribution."""

    def __init__(self, matrix: Array, counts: Array, smooth: Array | None = None) -> None:
        self._smooth, self._counts, self._people = smooth, counts, float(counts.sum())
        self._operator = Dense(matrix if smooth is None else smooth @ matrix)

    @functools.cached_property
    def top(self) -> Fit:
        """The most likely h; uniform if there are no reports."""
        if not self._people:
            return Fit(np.full(self._operator.inputs, 1 / self._operator.inputs), 0, 0.0, 0.0, converged=True)
        return fit_em(self._operator, self._counts)

    @property
    def shares(self) -> Array:
        """The most likely distribution."""
        return self._smoothed(self.top.frequencies)

    def _smoothed(self, h: Array) -> Array:
        return h if self._smooth is None else h @ self._smooth

    def likelihood(self, h: Array, counts: Array | None = None) -> float:
        """The log-likelihood of h, for these counts or others."""
        held = self._counts if counts is None else counts
        law = self._operator.forward(h)
        return float(held[held > 0] @ np.log(law[held > 0]))

    @functools.cached_property
    def _rows(self) -> tuple[NDArray[np.int64], int]:
        """(the index of each component's distinct row on the outputs seen, the number of those outputs)."""
        seen = self._counts > 0
        groups, _ = self._operator.distinct(seen)
        return np.arange(self._operator.inputs) if groups is None else groups, int(np.count_nonzero(seen))

    def values_in_use(self, fit: Fit) -> int:
        """The number of distinguishable values in the support of a fit: at most the number of outputs seen."""
        row_of, outputs = self._rows
        return min(len(np.unique(row_of[fit.frequencies > 0])), outputs)

    def furthest(self, w: Array, allowed: Allowed, enough: float = math.inf) -> float:
        """A tight upper bound on w·f over all f whose drop in log-likelihood is ``allowed``.

        The search stops early once it is known whether the maximum reaches ``enough``.
        """
        w = w if self._smooth is None else self._smooth @ w
        most = float(w.max())
        if not self._people:
            return most
        scale, top = float(np.ptp(w)), self.top
        begun = float(w @ top.frequencies)
        if scale == 0:
            return begun
        inside, outside, sides = _Tilted(0.0, top, begun, 0.0, allowed(top, top)), None, 0
        tilt = math.sqrt(self._people) / scale
        for _ in range(_TRIES):
            fit = fit_em(self._operator, self._counts, start=inside.fit.frequencies, tilt=(tilt / self._people) * w)
            drop = top.log_likelihood - fit.log_likelihood
            here = _Tilted(tilt, fit, float(w @ fit.frequencies), drop, allowed(top, fit))
            if here.part <= 1:
                inside, sides = here, max(sides, 0) + 1
            else:
                outside, sides = here, min(sides, 0) - 1
            reached, beyond = _bracket(inside, outside)
            close = min(beyond, most) - reached <= max(_CLOSE * (reached - begun), _CLOSE**3 * scale)
            close = close or (outside is not None and outside.tilt - inside.tilt <= _CLOSE * outside.tilt)
            if close or reached >= enough or (outside is not None and beyond < enough < math.inf):
                break
            # Increase λ until it is outside; then interpolate √drop, about linear in λ; after two fits on one
            # side, use the slope of the chord.
            if outside is None:
                tilt *= _GROWTH
            elif abs(sides) < _TWICE:
                step = min(max((1 - inside.part) / (outside.part - inside.part), 0.1), 0.9)
                tilt = inside.tilt + (outside.tilt - inside.tilt) * step
            else:
                tilt, sides = inside.chord(outside), 0
        return min(max(begun, reached, beyond), most)


@dataclass(frozen=True, slots=True)
class _Tilted:
    """The fit at one tilt."""

    tilt: float
    """λ·n."""
    fit: Fit
    answer: float
    drop: float
    allowed: float

    @property
    def part(self) -> float:
        """The square root of the drop divided by the allowed drop."""
        return math.sqrt(max(self.drop, 0.0) / max(self.allowed, _TINY))

    def bound(self, drop: float) -> float:
        """An upper bound on w·f over drops of at most ``drop``: the fit maximizes ℓ(f) + λ·n·w·f up to its gap."""
        return self.answer + (drop - self.drop + self.fit.gap) / self.tilt if self.tilt else math.inf

    def chord(self, other: _Tilted) -> float:
        """The increase of the drop per unit of w·f to another fit: for mixtures of the two, an upper bound."""
        tilts = sorted((self.tilt, other.tilt))
        far = other.answer - self.answer
        return min(max((other.drop - self.drop) / far, tilts[0]), tilts[1]) if far > 0 else tilts[1]


def _bracket(inside: _Tilted, outside: _Tilted | None) -> tuple[float, float]:
    """(a value of w·f attained in the region, an upper bound on all of them)."""
    if outside is None:
        return inside.answer, inside.bound(inside.allowed)
    least, most = sorted((inside.allowed, outside.allowed))
    if outside.tilt - inside.tilt <= _CLOSE * outside.tilt:
        # The fit jumps here. Mixtures in between have the support of both, so the smaller allowed drop applies.
        most = least
    mixed = inside.answer + max(least - inside.drop, 0.0) / inside.chord(outside)
    beyond = min(inside.bound(most), outside.bound(min(most, outside.drop)))
    return max(min(mixed, outside.answer), inside.answer), beyond


def by_chi_square(model: Model, confidence: float) -> Allowed:
    """Allow half the χ² quantile, with one degree of freedom more than the number of values the constraint removes."""

    def allowed(top: Fit, fit: Fit) -> float:
        degrees = model.values_in_use(top) - model.values_in_use(fit) + 1
        return chi_square_quantile(confidence, max(degrees, 1)) / 2

    return allowed


def down_to(level: float) -> Allowed:
    """Allow every distribution with a log-likelihood of at least ``level``."""
    return lambda top, _: top.log_likelihood - level


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """All distributions that at least one model does not rule out."""

    cells: Cells
    models: Sequence[tuple[Model, Allowed]]

    def interval(self, w: Array) -> tuple[float, float]:
        """The smallest and largest w·f."""
        low, high = self.cells.bounds(w)
        least = min(-model.furthest(-low, allowed) for model, allowed in self.models)
        most = max(model.furthest(high, allowed) for model, allowed in self.models)
        # Shares may add up to slightly more or less than one; adding 0.0 turns −0 into 0.
        first, last = np.clip([least, most], w.min(), w.max()) + 0.0
        return float(first), float(last)

    def quantiles(self, q: float, at: int) -> tuple[int, int]:
        """The first and the last cell that may contain the quantile, which is estimated in cell ``at``."""
        size = len(self.cells.matrix)

        def up_to(cell: int) -> Array:
            return (np.arange(size) <= cell).astype(np.float64)

        def low_enough(cell: int) -> bool:
            """Whether F(cell) ≥ q is not ruled out: the quantile may be at this cell or before."""
            return any(model.furthest(up_to(cell), allowed, q) >= q for model, allowed in self.models)

        def high_enough(cell: int) -> bool:
            """Whether F(cell − 1) ≤ q is not ruled out: the quantile may be at this cell or after."""
            return any(-model.furthest(-up_to(cell - 1), allowed, -q) <= q for model, allowed in self.models)

        first = _first(low_enough, 0, at)
        last = _first(lambda cell: not high_enough(cell), at + 1, size) - 1
        return first, last


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first integer from ``low`` on for which a monotone condition holds; ``high`` if there is none below it."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def halves(counts: Array, again: int = 0) -> tuple[Array, Array]:
    """Split the reports in two by a coin for each: two samples that are independent given their sizes.

    The coins are derived from the counts, so that the same counts always give the same halves; each ``again`` gives
    another split. Fractional counts of weighted reports are split in proportion.
    """
    digest = hashlib.sha256(np.ascontiguousarray(counts, dtype="<f8").tobytes()).digest()
    rng = np.random.default_rng([int.from_bytes(digest, "big"), again])
    whole = np.maximum(np.rint(counts), counts > 0).astype(np.int64)
    drawn = rng.binomial(whole, 0.5)
    first: Array = np.minimum(drawn * np.divide(counts, whole, out=np.zeros(len(counts)), where=whole > 0), counts)
    return first, counts - first


def weigh_smoothing(cells: Cells, counts: Array) -> dict[int, float]:
    """Weight each number of smoothing steps by cross-validation; the weights sum to one.

    The weight is the likelihood of all reports, each half predicted from the other half; its logarithm is averaged over
    a few splits. It is computed from the reports alone, so it costs no privacy; the same counts give the same weights.
    """
    ways = [halves(counts, again) for again in range(_WAYS)]
    ways = [way for way in ways if way[0].any() and way[1].any()]
    if not ways:
        return {0: 1.0}
    found: dict[int, float] = {}
    # b steps have a standard deviation of √(b/2) cells, and each amount is twice as wide as the one before; a kernel as
    # wide as the line leaves little more than the uniform distribution.
    steps = 0
    while steps < 4 * len(cells.matrix) ** 2:
        predicted = [
            (model := Model(cells.matrix, seen, cells.smoother(steps))).likelihood(model.top.frequencies, other)
            for way in ways
            for seen, other in (way, way[::-1])
        ]
        found[steps] = sum(predicted) / len(ways)
        if found[steps] < max(found.values()) - _HOPELESS:
            break
        steps = max(1, 4 * steps)
    best = max(found.values())
    weights = {steps: math.exp(value - best) for steps, value in found.items()}
    kept = {steps: weight for steps, weight in weights.items() if weight >= _SLIGHT}
    return {steps: weight / sum(kept.values()) for steps, weight in kept.items()}

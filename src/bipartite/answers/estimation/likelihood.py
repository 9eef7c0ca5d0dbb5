r"""Likelihood intervals: the range of an answer over all distributions that the reports do not rule out.

**The region.** With ℓ(f) = Σ_y c_y·ln (fᵀP)_y, the distributions with ℓ(f) ≥ level are those that the reports do not
rule out, and the interval of an answer w·f runs from its smallest to its largest value over them. So it contains the
answer of the most likely distribution, and if some values are indistinguishable, every answer that the reports leave
open. An end is found by tilting: for each λ, the f that maximizes ℓ(f) + λ·n·w·f has the largest w·f of all
distributions that are at least as likely as f, and λ is adjusted until ℓ reaches the level (profile likelihood).

**The level.** Twice the drop from the maximum is compared with a quantile of χ². For shares its degrees of freedom are
the number of values that the constraint on the answer removes from the support, in part or entirely, plus one for the
answer itself: given which shares are zero with and without the constraint, this is the distribution of the drop if the
log-likelihood is quadratic (conditional likelihood ratio; Bartholomew 1961, Iverson, Harp 1987). With one degree,
coverage would be too low for a range that contains nobody, and near a value that many people have. Quartiles and the
median lie where people are, and one degree is enough for them (for outer quantiles it is not: they would hold 0.72 to
0.88 if all people are at an end). Beyond 512 values a share has one more degree if its range begins or ends beside a
value that many people have: where they are is then uncertain, too. That intervals keep their confidence is measured
(``bench/answers``), not proved.

**Few reports.** Below 50 reports, the level comes from splitting them: a distribution g is fitted to one half, and f is
ruled out if its likelihood on the other half is less than 1 − confidence times that of g. This is valid for any number
of unweighted reports and any population (Wasserman, Ramdas, Balakrishnan, PNAS 2020; the coins of the split are derived
from a hash of the counts and assumed to be independent of them). Weighted reports are split in proportion; for these,
and for fits of cells, it is not proved. The answer shown lies in its interval: on the half that g was not fitted to,
the fit to all reports is at least as likely as g, because on the other half g is at least as likely, up to the
certified gaps of both fits, which the level allows for.

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

from bipartite.answers.estimation.em import Fit
from bipartite.answers.estimation.intervals import chi_square_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.cells import Cells

    Array = NDArray[np.float64]
    Allowed = Callable[[Fit], float]
    """The allowed drop in log-likelihood from the maximum to another fit."""

# The search over amounts of smoothing stops at one this many nats below the best: more smoothing would be worse.
_HOPELESS: Final = 20.0
# The number of random splits; and the fraction of the largest weight below which an amount of smoothing is dropped.
_WAYS: Final = 4
_SLIGHT: Final = 0.1
_TRIES: Final = 30
_CLOSE: Final = 0.01
_TINY: Final = 1e-12
_GROWTH: Final = (1.5, 3.0)
_ASIDE: Final = (0.95, 1.05)
_OFTEN: Final = 3


class Model:
    """Mixtures of single values, or of smooth bumps and values that stand out; with counts of reports."""

    def __init__(self, cells: Cells, counts: Array, steps: int = 0) -> None:
        self._cells, self._steps, self.people = cells, steps, float(counts.sum())
        self._problem = cells.problem(counts, steps)
        self._seen = int(np.count_nonzero(self._problem.counts))

    @functools.cached_property
    def top(self) -> Fit:
        """The most likely mixture; uniform if there are no reports."""
        if not self.people:
            return Fit(np.full(self._problem.rows, 1 / self._problem.rows), 0, 0.0, 0.0)
        return self._problem.fit()

    @functools.cached_property
    def shares(self) -> Array:
        """The most likely shares of all values."""
        return self._cells.shares(self._problem.of_values(self.top.frequencies), self._steps)

    def predicted(self, counts: Array) -> float:
        """The log-likelihood of other counts under the most likely mixture."""
        return log_likelihood(self._cells.law(self.shares), counts)

    def lost(self, fit: Fit) -> float:
        """The number of components that a fit removes from the most likely one, net of those that it adds.

        At most as many count as outputs were seen. One that is left with a part r of its share counts as (1 − r)².
        """
        top, shares = self.top.frequencies, fit.frequencies
        left = np.minimum(np.divide(shares, top, out=np.ones_like(top), where=top > 0), 1.0)
        kept = float(np.where(shares > 0, 1 - (1 - left) ** 2, 0.0).sum())
        return max(min(float(np.count_nonzero(top)), self._seen) - min(kept, self._seen), 0.0)

    def weights(self, w: Array) -> Array:
        """The largest average weight that the people of each component may have."""
        return self._problem.largest(self._cells.most(w, self._steps))

    def tilted(self, tilt: Array, start: Fit) -> Fit:
        """The mixture with the largest tilted log-likelihood."""
        return self._problem.fit(tilt=tilt, start=start.frequencies)


class Search:
    """The search for the ends of one answer: how far all distributions reach whose drop a model allows."""

    def __init__(self, model: Model, allowed: Allowed) -> None:
        self._model, self._allowed = model, allowed
        # The next search begins with the tilt that the last one ended with: similar questions have similar ones.
        self._tilt = math.sqrt(model.people)

    def furthest(self, w: Array, *, least: float = -math.inf, enough: float = math.inf) -> float:
        """A tight upper bound on w·f over all these distributions.

        The search stops early if the bound is below ``least`` or the maximum reaches ``enough``.
        """
        w, people, allowed = self._model.weights(w), self._model.people, self._allowed
        most, scale = float(w.max()), float(np.ptp(w))
        if not people or scale == 0:
            return most
        top = self._model.top
        begun = float(w @ top.frequencies)
        inside, outside, sides = _Tilted(0.0, top, begun, 0.0, allowed(top)), None, 0
        tilt = self._tilt / scale
        for _ in range(_TRIES):
            fit = self._model.tilted((tilt / people) * w, inside.fit)
            drop = top.log_likelihood - fit.log_likelihood
            here = _Tilted(tilt, fit, float(w @ fit.frequencies), drop, allowed(fit))
            if here.part <= 1:
                inside, sides = here, max(sides, 0) + 1
            else:
                outside, sides = here, min(sides, 0) - 1
            reached, beyond = _bracket(inside, outside)
            close = min(beyond, most) - reached <= max(_CLOSE * (reached - begun), _CLOSE**3 * scale)
            if outside is not None:
                close = close or outside.tilt - inside.tilt <= _CLOSE * outside.tilt or beyond < least
            if close or reached >= enough:
                # A search that no level ends grows without limit, and says nothing about the next.
                self._tilt = self._tilt if outside is None else inside.tilt * scale or outside.tilt * scale
                break
            # √drop is about linear in λ: increase λ until it is outside, then aim at the other side of the level; a fit
            # 5 % before it and one after it are enough. If that fails twice, halve.
            if outside is None:
                tilt *= min(max(_ASIDE[1] / max(here.part, _TINY), _GROWTH[0]), _GROWTH[1])
            elif abs(sides) < _OFTEN:
                step = (_ASIDE[sides > 0] - inside.part) / (outside.part - inside.part)
                tilt = inside.tilt + (outside.tilt - inside.tilt) * min(max(step, 0.1), 0.9)
            else:
                tilt = (inside.tilt + outside.tilt) / 2
        return min(max(begun, reached, beyond), most)


def log_likelihood(law: Array, counts: Array) -> float:
    """Σ c·ln(law), over the outputs that were reported."""
    return float(counts[counts > 0] @ np.log(law[counts > 0]))


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


def by_chi_square(model: Model, confidence: float, *, extra: int | None = 0) -> Allowed:
    """Half the χ² quantile; degrees of freedom are one, the values that the constraint removes, and ``extra``.

    Only one with ``extra=None``.
    """

    def allowed(fit: Fit) -> float:
        more = 0.0 if extra is None else model.lost(fit) + extra
        return chi_square_quantile(confidence, 1 + more) / 2

    return allowed


def down_to(model: Model, level: float) -> Allowed:
    """Allow every distribution with a log-likelihood of at least ``level``."""
    return lambda _: model.top.log_likelihood - level


def halves(counts: Array, again: int = 0) -> tuple[Array, Array]:
    """Split the reports in two by a coin for each: two samples that are independent given their sizes.

    The coins are derived from the counts, so that the same counts always give the same halves; each ``again`` gives
    another split. Fractional counts of weighted reports are split in proportion.
    """
    # Rounded, because sums of weights have other last bits in another order.
    digest = hashlib.sha256(np.ascontiguousarray(counts.round(6), dtype="<f8").tobytes()).digest()
    rng = np.random.default_rng([int.from_bytes(digest, "big"), again])
    whole = np.maximum(np.rint(counts), counts > 0).astype(np.int64)
    drawn = rng.binomial(whole, 0.5)
    first: Array = np.minimum(drawn * np.divide(counts, whole, out=np.zeros(len(counts)), where=whole > 0), counts)
    return first, counts - first


def weigh_smoothing(cells: Cells, counts: Array) -> dict[int, float]:
    """Weight each number of smoothing steps by cross-validation; the weights sum to one.

    The weight is the likelihood of all reports, each half predicted from the other half; its logarithm is averaged over
    a few splits (pseudo-Bayes factors: Geisser, Eddy, JASA 1979). It is computed from the reports alone, so it costs no
    privacy; the same counts give the same weights.
    """
    ways = [halves(counts, again) for again in range(_WAYS)]
    ways = [way for way in ways if way[0].any() and way[1].any()]
    if not ways:
        return {0: 1.0}
    found: dict[int, float] = {}
    # b steps have a standard deviation of √(b/2) cells, and each amount is twice as wide as the one before; a kernel as
    # wide as the line leaves little more than the uniform distribution.
    steps = 0
    while steps < 4 * cells.many**2:
        predicted = [Model(cells, seen, steps).predicted(other) for way in ways for seen, other in (way, way[::-1])]
        found[steps] = sum(predicted) / len(ways)
        if found[steps] < max(found.values()) - _HOPELESS:
            break
        steps = max(1, 4 * steps)
    best = max(found.values())
    weights = {steps: math.exp(value - best) for steps, value in found.items()}
    kept = {steps: weight for steps, weight in weights.items() if weight >= _SLIGHT}
    return {steps: weight / sum(kept.values()) for steps, weight in kept.items()}

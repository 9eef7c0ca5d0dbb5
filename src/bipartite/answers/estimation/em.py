"""Maximum likelihood for the distribution of values, by Newton steps on its small support; and EM with smoothing.

**The problem.** Σ_y c_y·ln (fᵀP)_y is concave in f, and its maximizer over all distributions has a small support: about
as many values as the reports can distinguish. Let g = P(c/(n·fᵀP)). At the maximum g is at most 1, and equal to 1 where
f > 0; at any f, no distribution has a log-likelihood more than n·(max g − 1) above that of f. This is the **certified
gap**, in nats.

**How it is solved** (the constrained Newton method of Wang, JRSS B 2007). Between every two neighbouring values in use,
the one with the largest g joins them; the quadratic model of the log-likelihood on these values is solved under f ≥ 0
and Σf = 1; a line search follows; values left at zero are dropped. EM alone would take thousands of steps, each with a
tiny gain, with no natural point to stop. GRR has a closed form. If too many values are needed, EM continues from there
(SQUAREM; Varadhan, Roland 2008), and the gap certifies how close it got.

**Values with equal rows** on the outputs that were reported are indistinguishable: they are treated as one value and
share its mass equally.

**Tilting** (``tilt``) adds n·Σ t·f to the log-likelihood; this finds the ends of intervals. With g + t in place of g,
the gap is n·(max (g + t) − Σ f·(g + t)), which reduces to the one above without a tilt.

**EMS** smooths after every step with (1, 2, 1)/4, the ends with (2, 1)/3 (Li et al., SIGMOD 2020), and stops when one
step gains less than 10⁻³ in log-likelihood. Stopping early is part of its smoothing, so EMS is never accelerated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.quadratic import RIDGE, ROUNDED, TINY, Quadratic
from bipartite.lottery import Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.lottery import Channel

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]
    Report = Callable[[int], None]

AIM: Final = 0.01
"""The target for the certified gap, in nats: far less than the statistical uncertainty."""
MOST_GAP: Final = 1.0
"""A fit with a larger certified gap counts as not converged."""
EMS_GAIN: Final = 1e-3
MOST_STEPS: Final = 100_000
_NEWTON_STEPS: Final = 200
_FIRST: Final = 16
_MOST_SUPPORT: Final = 2048
# The most matrix entries held for the rows of the support, if the operator has no shorter form: 128 MB.
_ROOM: Final = 2**24
# The most multiplications in Newton steps: about five seconds.
_MOST_WORK: Final = 2 * 10**11
# The most entries that EM may process after Newton steps have stopped: a few seconds.
_EM_WORK: Final = 10**8
# The most entries that EMS may process, about four seconds: with 10^5 values it ends before its stopping rule applies.
_EMS_WORK: Final = 5 * 10**8
# Every reported output gets at least this fraction of its probability under a uniform population: without a starting
# fit, and with one.
_COVERED: Final = 1e-2
_POSSIBLE: Final = 1e-9
_STRONGER: Final = 1e-6
# A certified gap below this fraction of all reports is beyond the precision of doubles.
_NO_DIGITS: Final = 1e-11
_PATIENCE: Final = 5
_PLAIN: Final = 10
_SHORTEST: Final = 1e-9
# An extrapolated step leaves every share at least this fraction of its value after two plain steps: a share that drops
# to almost zero recovers only by a constant factor per step.
_KEPT: Final = 0.1


@dataclass(frozen=True, slots=True)
class Fit:
    """The result of an iterative fit."""

    frequencies: Array
    steps: int
    """The number of products with P and its transpose, counted in pairs."""
    log_likelihood: float
    """Σ_y c_y·ln (fᵀP)_y, up to a constant: comparable between fits of the same counts."""
    gap: float
    """An upper bound on the distance to the maximal log-likelihood; EMS does not try to close it."""
    converged: bool


class _Likelihood:
    """Σ c·ln(fᵀP) and its gradient, in preallocated memory: at 10^6 values, allocation takes longer than arithmetic."""

    def __init__(self, operator: Channel, counts: Array) -> None:
        self.operator, self.counts, self.people = operator, counts, float(counts.sum())
        self._scratch = np.empty(max(operator.inputs, operator.outputs) + 1)
        self._outputs, self._slopes = np.empty(operator.outputs), np.empty(operator.inputs)

    def spread(self, f: Array, spread: Array) -> float:
        """Write fᵀP to ``spread``, and return the log-likelihood."""
        self.operator.forward_into(f, spread, self._scratch)
        # Impossible outputs have probability 0 and count 0: 0·ln(…) must be 0.
        np.maximum(spread, TINY, out=spread)
        np.log(spread, out=self._outputs)
        return float(self.counts @ self._outputs)

    def slopes(self, spread: Array) -> Array:
        """P(c/(n·fᵀP)), the g of the module docstring; the next call overwrites it."""
        np.divide(self.counts, spread, out=self._outputs)
        self.operator.backward_into(self._outputs, self._slopes, self._scratch)
        self._slopes /= self.people
        return self._slopes


class _Problem(_Likelihood):
    """The likelihood as a function of the shares of distinct rows, with an optional tilt."""

    def __init__(self, operator: Channel, counts: Array, tilt: Array | None) -> None:
        # With a tilt, values with equal rows may differ in their tilt, so rows are not merged.
        self._groups, distinct = operator.distinct(counts > 0) if tilt is None else (None, operator)
        super().__init__(distinct, counts)
        self.tilt = tilt

    def of_values(self, shares: Array) -> Array:
        """Convert shares of distinct rows to shares of values: equal for values with equal rows."""
        if self._groups is None:
            return shares
        each: Array = (shares / np.bincount(self._groups, minlength=len(shares)))[self._groups]
        return each

    def of_rows(self, frequencies: Array) -> Array:
        """Add up shares of values over equal rows."""
        if self._groups is None:
            return frequencies.copy()
        return np.bincount(self._groups, frequencies, self.operator.inputs).astype(np.float64)

    def slopes(self, spread: Array) -> Array:
        """The gradient of the log-likelihood plus the tilt."""
        found = super().slopes(spread)
        if self.tilt is not None:
            found += self.tilt
        return found

    def tilted(self, f: Array) -> float:
        """The term that the tilt adds to the log-likelihood."""
        return 0.0 if self.tilt is None else self.people * float(self.tilt @ f)

    def gap(self, f: Array, slopes: Array) -> float:
        """The certified gap."""
        return self.people * max(float(slopes.max()) - (1.0 if self.tilt is None else float(f @ slopes)), 0.0)


def _normalize(f: Array) -> None:
    """Clip f at zero and normalize it."""
    np.maximum(f, 0.0, out=f)
    total = float(f.sum())
    if total > 0:
        f /= total
    else:
        f[:] = 1 / len(f)


def fit_em(
    operator: Channel,
    counts: Array,
    *,
    tilt: Array | None = None,
    start: Array | None = None,
    most_steps: int = MOST_STEPS,
    progress: Report | None = None,
) -> Fit:
    """Fit the distribution with the largest log-likelihood, or the largest tilted log-likelihood.

    ``start`` is a distribution to begin from, such as the fit without a tilt.
    """
    problem = _Problem(*_merge_outputs(operator, counts), tilt)
    inner = problem.operator
    if tilt is None and isinstance(inner, Window) and inner.slides and inner.m == 1:
        f = _closed_form(problem.counts, inner)
        spread = np.empty(inner.outputs)
        value = problem.spread(f, spread)
        gap = problem.gap(f, problem.slopes(spread))
        return Fit(problem.of_values(f), 1, value, gap, converged=gap <= MOST_GAP)
    f = _initial_shares(inner) if start is None else problem.of_rows(start)
    newton = _Newton(problem, f, most_steps, progress)
    newton.cover(_COVERED if start is None else _POSSIBLE)
    fit = newton.run()
    # EM can continue, unless there is a tilt or the gap is already below the precision of doubles.
    if tilt is None and fit.steps < most_steps and fit.gap > max(MOST_GAP, _NO_DIGITS * problem.people):
        fit = min(fit, _run_em(problem, newton), key=lambda each: each.gap)
    return Fit(problem.of_values(fit.frequencies), fit.steps, fit.log_likelihood, fit.gap, fit.converged)


def _merge_outputs(operator: Channel, counts: Array) -> tuple[Channel, Array]:
    """Merge outputs that carry the same information about values."""
    cell_of, condensed = operator.condensed()
    if cell_of is not None:
        counts = np.bincount(cell_of, counts, condensed.outputs).astype(np.float64)
    return condensed, counts


def _closed_form(counts: Array, window: Window) -> Array:
    """GRR: Σ c·ln(q + e·f) is maximal at f = max(c/μ − q/e, 0), with μ such that f sums to one."""
    if window.excess <= 0:
        return np.full(len(counts), 1 / len(counts))
    floor = window.q / window.excess
    falling = np.sort(counts)[::-1]
    level = falling.cumsum() / (1 + floor * np.arange(1, len(counts) + 1))
    kept = int(np.count_nonzero(falling > floor * level))
    f: Array = np.maximum(counts / level[max(kept, 1) - 1] - floor, 0.0)
    _normalize(f)
    return f


def _initial_shares(operator: Channel) -> Array:
    """Equal shares at a few evenly spaced values."""
    f = np.zeros(operator.inputs)
    many = min(_FIRST, operator.inputs)
    f[np.linspace(0, operator.inputs - 1, many).round().astype(np.int64)] = 1 / many
    return f


class _Newton:
    """The constrained Newton method; ``f`` and ``steps`` hold its current state."""

    def __init__(self, problem: _Problem, f: Array, most_steps: int, progress: Report | None) -> None:
        self.problem, self.f, self.most_steps, self.progress = problem, f, most_steps, progress
        operator = problem.operator
        self.steps, self._work = 0, 0.0
        # With few reports, a hundredth of a nat is not negligible.
        self._aim = min(AIM, 1e-6 * problem.people)
        self._spread = np.empty(operator.outputs)
        self._most = _MOST_SUPPORT if operator.has_cells else _ROOM // max(operator.inputs, operator.outputs)

    def run(self) -> Fit:
        """Iterate to the target gap, or as far as possible."""
        problem = self.problem
        best, stalled = -math.inf, 0
        while True:
            value = problem.spread(self.f, self._spread)
            slopes = problem.slopes(self._spread)
            gap = problem.gap(self.f, slopes)
            self.steps += 1
            if self.progress is not None:
                self.progress(self.steps)
            if gap <= self._aim:
                return Fit(self.f, self.steps, value, gap, converged=True)
            if self.steps >= self.most_steps:
                return Fit(self.f, self.steps, value, gap, converged=gap <= MOST_GAP)
            # When gains are lost in rounding, a few more steps may still lower the gap.
            raised = value + problem.tilted(self.f)
            stalled = stalled + 1 if raised <= best + ROUNDED * abs(raised) else 0
            best = max(best, raised)
            places = self._extend_support(slopes, above_average=True)
            ended = stalled > _PATIENCE or self.steps >= _NEWTON_STEPS or self._work > _MOST_WORK
            if len(places) > self._most or ended or not self._step(places):
                return Fit(self.f, self.steps, value, gap, converged=gap <= MOST_GAP)

    def cover(self, least: float) -> None:
        """Add values until every reported output has at least this fraction of its uniform probability.

        Near probability zero a quadratic model is a poor approximation of the logarithm, and Newton steps make no
        progress.
        """
        problem = self.problem
        law = problem.operator.uniform_law()
        while True:
            problem.spread(self.f, self._spread)
            missing = problem.counts * (self._spread < least * law)
            if not missing.any():
                return
            places = self._extend_support(problem.operator.backward(missing), above_average=False)
            if len(places) == np.count_nonzero(self.f) or len(places) > self._most:
                return
            added = np.zeros_like(self.f)
            added[places] = 1 / len(places)
            self.f += added
            self.f /= 2
            if problem.tilt is None:
                # If values are well separated, a few EM steps come close to the maximum.
                for _ in range(_PLAIN):
                    problem.spread(self.f, self._spread)
                    _plain_step(self.f, problem.slopes(self._spread), self.f)

    def _extend_support(self, slopes: Array, *, above_average: bool) -> Places:
        """The support, plus the value with the largest slope between every two of its values, if it is large enough.

        At the maximum every value in the support has the average slope, and no other has a larger one.
        """
        used = np.flatnonzero(self.f)
        starts = np.unique(np.append(used, 0))
        tops = np.maximum.reduceat(slopes, starts)
        sizes = np.diff(np.append(starts, len(slopes)))
        hits = np.flatnonzero(slopes == np.repeat(tops, sizes))
        _, first = np.unique(np.searchsorted(starts, hits, side="right"), return_index=True)
        hits = hits[first]
        least = float(self.f[used] @ slopes[used]) if above_average else 0.0
        return np.unique(np.concatenate([used, hits[slopes[hits] > least]]))

    def _step(self, places: Places) -> bool:
        """Take one Newton step on these values; return whether it made progress."""
        problem = self.problem
        rows, starts = problem.operator.cells(places)
        counts = problem.counts if starts is None else np.add.reduceat(problem.counts, starts)
        seen = counts > 0
        rows, counts = rows[:, seen], counts[seen]
        x = self.f[places]
        spread = np.maximum(x @ rows, TINY)
        weighted = rows * (np.sqrt(counts) / spread)
        curvature = weighted @ weighted.T
        slopes = rows @ (counts / spread)
        tilt = np.zeros(len(places)) if problem.tilt is None else problem.people * problem.tilt[places]
        before = float(counts @ np.log(spread))
        for ridge in (RIDGE, _STRONGER):
            model = Quadratic(curvature, slopes, tilt, x, ridge)
            try:
                z = model.maximizer()
            except np.linalg.LinAlgError:
                continue
            finally:
                self._work += len(places) ** 2 * (model.solved * len(places) + 2.0 * len(counts))
            whole = np.zeros_like(self.f)
            whole[places] = z
            _normalize(whole)
            change = whole[places] - x
            rise = float((slopes + tilt) @ change)
            length = 1.0
            while length > _SHORTEST:
                spread = np.maximum((x + length * change) @ rows, TINY)
                after = float(counts @ np.log(spread) + length * (tilt @ change))
                if after >= before + 0.1 * length * rise - ROUNDED * abs(before):
                    self.f *= 1 - length
                    self.f += length * whole
                    return True
                length /= 2
        return False


def _run_em(problem: _Problem, newton: _Newton) -> Fit:
    """EM with extrapolated steps (SQUAREM's third scheme), from where Newton steps stopped."""
    operator = problem.operator
    f = 0.5 * newton.f + 0.5 / operator.inputs
    f1, f2 = np.empty_like(f), np.empty_like(f)
    spread, spread1 = np.empty(operator.outputs), np.empty(operator.outputs)
    value = problem.spread(f, spread)
    steps, most = newton.steps, min(newton.most_steps, newton.steps + _EM_WORK // (operator.inputs + operator.outputs))
    while True:
        slopes = problem.slopes(spread)
        gap = problem.gap(f, slopes)
        if gap <= AIM or steps >= most:
            return Fit(f, steps, value, gap, converged=gap <= MOST_GAP)
        _plain_step(f, slopes, f1)
        problem.spread(f1, spread1)
        _plain_step(f1, problem.slopes(spread1), f2)
        steps += 2
        if newton.progress is not None:
            newton.progress(steps)
        before, value = value, problem.spread(f, spread) if _extrapolate(f, f1, f2) else -math.inf
        # The extrapolated step is kept only if it does not lower the log-likelihood.
        if not value >= before:
            f, f2 = f2, f
            value = problem.spread(f, spread)


def _plain_step(f: Array, slopes: Array, stepped: Array) -> None:
    """Write the result of one EM step from f to ``stepped``."""
    np.multiply(f, slopes, out=stepped)
    _normalize(stepped)


def _extrapolate(f: Array, f1: Array, f2: Array) -> bool:
    """Replace f by f + 2·length·r + length²·v; False if the step length is undefined. f1 is overwritten."""
    r = f1 - f
    v = np.subtract(f2, f1, out=f1)
    v -= r
    size = math.sqrt(float(v @ v))
    if size == 0:
        return False
    length = max(1.0, math.sqrt(float(r @ r)) / size)
    f += 2 * length * r
    f += length**2 * v
    np.maximum(f, _KEPT * f2, out=f)
    _normalize(f)
    return True


def fit_ems(operator: Channel, counts: Array, *, most_steps: int = MOST_STEPS, progress: Report | None = None) -> Fit:
    """EM with smoothing, stopped early by design; for values on a line, where neighbours have similar shares.

    With very many values it is stopped before its own rule applies, and has then not converged.
    """
    likelihood = _Likelihood(*_merge_outputs(operator, counts))
    operator = likelihood.operator
    f, stepped = (np.full(operator.inputs, 1 / operator.inputs) for _ in range(2))
    spread = np.empty(operator.outputs)
    value = likelihood.spread(f, spread)
    most_steps = min(most_steps, max(1, _EMS_WORK // (operator.inputs + operator.outputs)))
    for steps in range(1, most_steps + 1):
        slopes = likelihood.slopes(spread)
        gap = likelihood.people * max(float(slopes.max()) - 1, 0.0)
        np.multiply(f, slopes, out=stepped)
        np.maximum(stepped, 0.0, out=stepped)
        smooth_neighbours(stepped, f)
        f /= f.sum()
        before, value = value, likelihood.spread(f, spread)
        if progress is not None:
            progress(steps)
        if value - before < EMS_GAIN:
            return Fit(f, steps, value, gap, converged=True)
    return Fit(f, most_steps, value, gap, converged=False)


def smooth_neighbours(f: Array, smooth: Array | None = None) -> Array:
    """Smooth with (1, 2, 1)/4 inside and (2, 1)/3 at the ends, which may gain or lose a little mass."""
    smooth = np.empty_like(f) if smooth is None else smooth
    if f.shape[-1] < 3:  # noqa: PLR2004 (there is no inside)
        smooth[...] = f
        return smooth
    inside = smooth[..., 1:-1]
    np.multiply(f[..., 1:-1], 2, out=inside)
    inside += f[..., :-2]
    inside += f[..., 2:]
    inside /= 4
    smooth[..., 0], smooth[..., -1] = (2 * f[..., 0] + f[..., 1]) / 3, (2 * f[..., -1] + f[..., -2]) / 3
    return smooth

"""Maximum likelihood for the distribution of values, by Newton steps on its small support, with a certified gap.

**The problem.** Σ_y c_y·ln (fᵀP)_y is concave in f, and its maximizer over all distributions has a small support: about
as many values as the reports can distinguish. Let g = P(c/(n·fᵀP)). At the maximum g is at most 1, and equal to 1 where
f > 0; at any f, no distribution has a log-likelihood more than n·(max g − 1) above that of f. This is the **certified
gap**, in nats. A **tilt** t adds n·Σ t·f, which finds the ends of intervals: with g + t in place of g the gap is
n·(max (g + t) − Σ f·(g + t)), which reduces to the one above.

**How it is solved** (the constrained Newton method of Wang, JRSS B 2007). Between every two neighbouring values in use,
the one with the largest g joins them; the quadratic model of the log-likelihood on these values is maximized under
f ≥ 0 and Σf = 1; a line search follows; values left at zero are dropped. EM alone would take thousands of steps, each
with a tiny gain, with no natural point to stop. GRR has a closed form. If too many values are needed (tables of pairs),
EM continues from there (SQUAREM; Varadhan, Roland 2008), and the gap certifies how close it got.

**Values with equal rows** on the outputs that were reported are indistinguishable: they are treated as one value and
share its mass equally.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery import Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Channel

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

AIM: Final = 0.01
"""The target for the certified gap, in nats: far less than the statistical uncertainty."""
MOST_GAP: Final = 1.0
"""A fit with a larger certified gap counts as not converged."""
_MOST_STEPS: Final = 200
_FIRST: Final = 16
_MOST_SUPPORT: Final = 2048
# The most matrix entries held for the rows of the support, if the operator has no shorter form: 128 MB.
_ROOM: Final = 2**24
# The most multiplications in Newton steps, about five seconds, and the most entries that EM may process after them.
_MOST_WORK: Final = 2 * 10**11
_EM_WORK: Final = 10**8
# A fit begins where every reported output has at least this fraction of its probability under a uniform population.
_COVERED: Final = 1e-2
# Probabilities are clipped from below, so that their inverse squares are finite.
_TINY: Final = 1e-140
# Regularization, which keeps steps short if the rows of two values are almost equal; the second if the first fails.
_RIDGES: Final = (1e-10, 1e-6)
_ROUNDS: Final = 15
# The relative tolerance for rounding errors; a gap below the second fraction of all reports is beyond doubles.
_ROUNDED: Final = 1e-13
_NO_DIGITS: Final = 1e-11
_PATIENCE: Final = 5
_SHORTEST: Final = 1e-9
# An extrapolated step of EM leaves every share at least this fraction of its value after two plain steps: a share that
# drops to almost zero recovers only by a constant factor per step.
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
    """An upper bound on the distance to the maximal log-likelihood."""

    @property
    def converged(self) -> bool:
        """Whether it is close enough to be shown without a caution."""
        return self.gap <= MOST_GAP


def fit_em(operator: Channel, counts: Array, *, most_steps: int = _MOST_STEPS) -> Fit:
    """The distribution with the largest log-likelihood."""
    problem = Problem(operator, counts)
    fit = problem.fit(most_steps=most_steps)
    return replace(fit, frequencies=problem.of_values(fit.frequencies))


class Problem:
    """The log-likelihood of counts of reports, as a function of the shares of distinct rows."""

    def __init__(self, operator: Channel, counts: Array, *, distinct: bool = False) -> None:
        """``distinct``: all rows are known to differ on the outputs that were reported."""
        cell_of, operator = operator.condensed()
        if cell_of is not None:
            counts = np.bincount(cell_of, counts, operator.outputs).astype(np.float64)
        self.row_of, self.operator = (None, operator) if distinct else operator.distinct(counts > 0)
        self.counts, self.people = counts, float(counts.sum())
        self.rows = self.operator.inputs
        self._most = _MOST_SUPPORT if operator.has_cells else _ROOM // max(self.rows, operator.outputs)

    def of_values(self, f: Array) -> Array:
        """Convert shares of distinct rows to shares of values: equal for values with equal rows."""
        if self.row_of is None:
            return f
        each: Array = (f / np.bincount(self.row_of, minlength=len(f)))[self.row_of]
        return each

    def largest(self, w: Array) -> Array:
        """The largest weight of all values with the same row."""
        if self.row_of is None:
            return w
        found = np.full(self.rows, -np.inf)
        np.maximum.at(found, self.row_of, w)
        return found

    def fit(self, *, tilt: Array | None = None, start: Array | None = None, most_steps: int = _MOST_STEPS) -> Fit:
        """The shares of rows with the largest (tilted) log-likelihood; ``start`` is a fit to begin from."""
        inner = self.operator
        if tilt is None and isinstance(inner, Window) and inner.slides and inner.m == 1:
            fit = self._judged(_closed_form(self.counts, inner), None, 1)
        else:
            fit = self._newton(self._covered(tilt) if start is None else start, tilt, most_steps)
            # EM can continue, unless there is a tilt or the gap is already below the precision of doubles.
            if tilt is None and fit.steps < most_steps and fit.gap > max(MOST_GAP, _NO_DIGITS * self.people):
                fit = min(fit, self._em(fit), key=lambda each: each.gap)
        return fit

    def law(self, f: Array) -> Array:
        """The probability of every output."""
        return np.maximum(self.operator.forward(f), _TINY)

    def slopes(self, law: Array, tilt: Array | None) -> Array:
        """The gradient of the log-likelihood divided by n, plus the tilt."""
        found: Array = self.operator.backward(self.counts / law) / self.people
        return found if tilt is None else found + tilt

    def _judged(self, f: Array, tilt: Array | None, steps: int) -> Fit:
        """A fit, with its log-likelihood and its certified gap."""
        law = self.law(f)
        slopes = self.slopes(law, tilt)
        gap = self.people * max(float(slopes.max() - f @ slopes), 0.0)
        return Fit(f, steps, float(self.counts @ np.log(law)), gap)

    def _covered(self, tilt: Array | None) -> Array:
        """A start where every reported output has at least a fraction of its uniform probability.

        Near probability zero a quadratic model is a poor approximation of the logarithm, and Newton steps make no
        progress.
        """
        f, least = np.zeros(self.rows), _COVERED * self.operator.uniform_law()
        f[np.linspace(0, self.rows - 1, min(_FIRST, self.rows)).round().astype(np.int64)] = 1.0
        f /= f.sum()
        while True:
            missing = self.counts * (self.law(f) < least)
            if not missing.any():
                return f
            places = _extended(f, self.operator.backward(missing), 0.0)
            if len(places) == np.count_nonzero(f) or len(places) > self._most:
                return f
            f /= 2
            f[places] += 0.5 / len(places)
            # If values are well separated, a few EM steps come close to the maximum.
            for _ in range(0 if tilt is not None else 10):
                f = _normalized(f * self.slopes(self.law(f), None))

    def _newton(self, f: Array, tilt: Array | None, most_steps: int) -> Fit:
        """Iterate to the target gap, or as far as possible."""
        # With few reports, a hundredth of a nat is not negligible.
        aim = min(AIM, 1e-6 * self.people)
        best, stalled, work, law = -math.inf, 0, 0.0, self.law(f)
        for steps in itertools.count(1):
            slopes = self.slopes(law, tilt)
            value, average = float(self.counts @ np.log(law)), float(f @ slopes)
            gap = self.people * max(float(slopes.max()) - average, 0.0)
            fit = Fit(f, steps, value, gap)
            # When gains are lost in rounding, a few more steps may still lower the gap.
            raised = value if tilt is None else value + self.people * float(tilt @ f)
            stalled = stalled + 1 if raised <= best + _ROUNDED * abs(raised) else 0
            best = max(best, raised)
            if gap <= aim or steps >= most_steps or stalled > _PATIENCE or work > _MOST_WORK:
                return fit
            # At the maximum every value in use has the average slope, and no other has a larger one.
            places = _extended(f, slopes, average)
            found = self._step(f, places, tilt) if len(places) <= self._most else None
            if found is None:
                return fit
            f, law, worked = found
            work += worked
        raise AssertionError("unreachable")

    def _step(self, f: Array, places: Places, tilt: Array | None) -> tuple[Array, Array, float] | None:
        """(f after a Newton step on these values, its law, the multiplications); None if it made no progress."""
        rows, starts = self.operator.cells(places)
        counts = self.counts if starts is None else np.add.reduceat(self.counts, starts)
        seen = counts > 0
        if not seen.all():
            rows, counts = rows[:, seen], counts[seen]
        x = f[places]
        law = np.maximum(x @ rows, _TINY)
        weighted = rows * (np.sqrt(counts) / law)
        curvature = weighted @ weighted.T
        slopes = rows @ (counts / law)
        added = np.zeros(len(places)) if tilt is None else self.people * tilt[places]
        before, solved = float(counts @ np.log(law)), 0
        for ridge in _RIDGES:
            model = _Quadratic(curvature, slopes, added, x, ridge)
            with contextlib.suppress(np.linalg.LinAlgError):
                change = _normalized(model.maximizer()) - x
                rise, length = float((slopes + added) @ change), 1.0
                while length > _SHORTEST:
                    moved = np.maximum(x + length * change, 0.0)
                    law = np.maximum(moved @ rows, _TINY)
                    after = float(counts @ np.log(law) + length * (added @ change))
                    if after >= before + 0.1 * length * rise - _ROUNDED * abs(before):
                        stepped, whole = np.zeros_like(f), np.ones(len(seen))
                        stepped[places], whole[seen] = moved, law
                        # Outputs without reports do not matter, and the others of a cell have the same probability.
                        whole = whole if starts is None else np.repeat(whole, np.diff(starts, append=len(self.counts)))
                        work = len(places) ** 2 * ((solved + model.solved) * len(places) + 2.0 * len(counts))
                        return stepped, whole, work
                    length /= 2
            solved += model.solved
        return None

    def _em(self, begun: Fit) -> Fit:
        """EM with extrapolated steps (SQUAREM's third scheme), from where Newton steps stopped."""
        fit = self._judged(0.5 * begun.frequencies + 0.5 / self.rows, None, begun.steps)
        for _ in range(_EM_WORK // (self.rows + self.operator.outputs) // 2):
            if fit.gap <= AIM:
                break
            f = fit.frequencies
            first = _normalized(f * self.slopes(self.law(f), None))
            second = _normalized(first * self.slopes(self.law(first), None))
            change = first - f
            bend = second - first - change
            length = max(1.0, math.sqrt(float(change @ change) / max(float(bend @ bend), 1e-300)))
            farther = _normalized(np.maximum(f + 2 * length * change + length**2 * bend, _KEPT * second))
            before, fit = fit, self._judged(farther, None, fit.steps + 2)
            # The extrapolated step is kept only if it does not lower the log-likelihood.
            if not fit.log_likelihood >= before.log_likelihood:
                fit = self._judged(second, None, fit.steps)
        return fit


def _normalized(f: Array) -> Array:
    """Clip f at zero and normalize it."""
    f = np.maximum(f, 0.0)
    total = float(f.sum())
    return f / total if total > 0 else np.full(len(f), 1 / len(f))


def _closed_form(counts: Array, window: Window) -> Array:
    """GRR: Σ c·ln(q + e·f) is maximal at f = max(c/μ − q/e, 0), with μ such that f sums to one."""
    if window.excess <= 0:
        return np.full(len(counts), 1 / len(counts))
    floor = window.q / window.excess
    falling = np.sort(counts)[::-1]
    level = falling.cumsum() / (1 + floor * np.arange(1, len(counts) + 1))
    kept = int(np.count_nonzero(falling > floor * level))
    return _normalized(counts / level[max(kept, 1) - 1] - floor)


def _extended(f: Array, slopes: Array, least: float) -> Places:
    """The values in use, and between every two of them the one with the largest slope, if that is above ``least``."""
    used = np.flatnonzero(f)
    starts = used if len(used) and used[0] == 0 else np.append(0, used)
    tops = np.maximum.reduceat(slopes, starts)
    member = np.zeros(len(f), bool)
    hits = np.flatnonzero(slopes == np.repeat(tops, np.diff(np.append(starts, len(slopes)))))
    hits = hits[slopes[hits] > least]
    # The first of several with the same slope.
    run = np.searchsorted(starts, hits, side="right")
    member[hits[np.diff(run, prepend=-1) > 0]] = True
    member[used] = True
    return np.flatnonzero(member)


class _Quadratic:
    """The quadratic model of the tilted log-likelihood around x, over z ≥ 0 with sum 1.

    Its gradient at z is 2·slopes + tilt − curvature·z, because curvature·x = slopes. If the rows of some values
    are almost linearly dependent, ``ridge`` keeps z near x. Variables are scaled so that every value has curvature one.
    """

    def __init__(self, curvature: Array, slopes: Array, tilt: Array, x: Array, ridge: float) -> None:
        self._scale = 1 / np.sqrt(np.maximum(np.diag(curvature), _TINY + _RIDGES[0] * slopes.max()))
        self._matrix = curvature * self._scale * self._scale[:, None]
        self._matrix.flat[:: len(x) + 1] += ridge
        self._start = x / self._scale
        self._linear = (2 * slopes + tilt) * self._scale + ridge * self._start
        self.solved = 0

    def maximizer(self) -> Array:
        """The maximizer or, if it is not found, a point where the model is larger than at x.

        Block principal pivoting: drop all negative values and readmit all that would gain, at once. That takes a few
        rounds (Júdice, Pires 1994) even with a thousand values, but need not end if rows are almost dependent.
        """
        used = np.ones(len(self._start), bool)
        for _ in range(_ROUNDS):
            z, lost = self._solve(used)
            wrong = np.where(used, z < 0, lost < -1e-9 * np.abs(self._linear))
            if not wrong.any():
                break
            used ^= wrong
        else:
            z = self._by_dropping()
        found: Array = self._scale * z
        return found

    def _solve(self, used: NDArray[np.bool_]) -> tuple[Array, Array]:
        """(the maximizer on these values only, which may be negative; the Lagrange multipliers of the others)."""
        at = np.flatnonzero(used)
        many = len(at)
        system = np.zeros((many + 1, many + 1))
        system[:many, :many] = self._matrix[at[:, None], at]
        system[many, :many] = system[:many, many] = self._scale[at]
        solution = np.linalg.solve(system, np.append(self._linear[at], 1.0))
        self.solved += 1
        z = np.zeros(len(used))
        z[at] = solution[:many]
        return z, self._matrix @ z - self._linear + self._scale * solution[many]

    def _by_dropping(self) -> Array:
        """Move from x towards the maximizer until a value reaches zero, drop that value, repeat; every move gains."""
        y: Array = self._start.copy()
        used = np.ones(len(y), bool)
        for _ in range(_ROUNDS):
            z, _ = self._solve(used)
            low = used & (z < 0)
            if not low.any():
                return z
            length = float((y[low] / (y[low] - z[low])).min())
            y += length * (z - y)
            ended = low & (y <= _ROUNDED * np.abs(z))
            y[ended] = 0.0
            used &= ~ended
        return y

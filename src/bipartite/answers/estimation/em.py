"""The most likely distribution of the values, by Newton steps over its few values; and EM with smoothing.

**The problem.** Σ_y c_y·ln (fᵀP)_y is concave in f, and its top over all distributions lies at a few values: about as
many as the reports can tell apart. With g = P(c/(n·fᵀP)), which is at most 1 at the top and equal to 1 wherever f > 0,
no distribution has a log-likelihood more than n·(max g − 1) above that of f. This is the **certified gap**, in nats.

**How it is solved** (the constrained Newton method of Wang, JRSS B 2007). Between every two neighbouring values in use,
the one with the largest g joins them; the quadratic model of the log-likelihood on these values is solved under f ≥ 0
and Σf = 1; a line search goes there; values left at zero are dropped. EM alone would take thousands of steps, each
gaining next to nothing, and stop anywhere. GRR has a closed form. Where too many values are needed, EM goes on from
there (SQUAREM; Varadhan, Roland 2008), and says with the gap how far it came.

**Values with equal rows** on the reports that came cannot be told apart by these reports: they are one value while
solving, and share its mass equally.

**Two blocks** (``split``): the same under Σ_{x < at} f_x = share, for profile likelihoods. With block sums s_b the gap
is n·(Σ_b s_b·max_b g − 1).

**EMS** smooths after every step with (1, 2, 1)/4, the ends with (2, 1)/3 (Li et al., SIGMOD 2020), and stops when one
step gains less than 10⁻³ in log-likelihood. Stopping early is part of its smoothing, so EMS is never accelerated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.operator import Grouped, Window
from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.operator import Operator

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]
    Report = Callable[[int], None]

AIM: Final = 0.01
"""The certified gap that is aimed at, in nats: far less than what chance leaves open."""
MOST_GAP: Final = 1.0
"""With a larger certified gap a fit has not converged."""
EMS_GAIN: Final = 1e-3
MOST_STEPS: Final = 100_000
_NEWTON_STEPS: Final = 200
_FIRST: Final = 16
_MOST_SUPPORT: Final = 2048
# Numbers held for the rows of the values in use, where the operator has no shorter form of them: 128 MB.
_ROOM: Final = 2**24
# Multiplications in Newton steps: about five seconds.
_MOST_WORK: Final = 10**11
# EM where Newton steps cannot go on: numbers gone through, about two seconds.
_EM_WORK: Final = 10**8
# Numbers that EMS may go through, about four seconds: with 10^5 values it is ended before its rule.
_EMS_WORK: Final = 5 * 10**8
_TINY: Final = 1e-140
"""Chances count as at least this, so that their inverse squares are numbers."""
# Chances below this are raised first, by more values in use: a quadratic model knows nothing of such steepness.
_POSSIBLE: Final = 1e-9
# A step towards where the rows of two values are almost equal is kept short.
_RIDGE: Final = 1e-10
_STRONGER: Final = 1e-6
_EXCHANGES: Final = 15
# Relative: what rounding may take away.
_ROUNDED: Final = 1e-13
_PATIENCE: Final = 5
_SHORTEST: Final = 1e-9
# A longer step leaves every share at least this part of what two plain steps give it: one that is thrown to almost
# nothing comes back by a factor a step, gaining next to nothing on the way.
_KEPT: Final = 0.1


@dataclass(frozen=True, slots=True)
class Fit:
    """Where an iteration ended."""

    frequencies: Array
    steps: int
    """How often P was applied in both directions."""
    log_likelihood: float
    """Σ_y c_y·ln (fᵀP)_y, up to what does not depend on f: to be compared with that of other fits of these counts."""
    gap: float
    """How far the log-likelihood may be below the largest one, at most; EMS does not aim at it."""
    converged: bool


@dataclass(frozen=True, slots=True)
class _Block:
    """Values first to last − 1, which together have this share."""

    first: int
    last: int
    share: float


class _Likelihood:
    """Σ c·ln(fᵀP) and its slopes, in memory of its own: at 10^6 values, new arrays take longer than the arithmetic."""

    def __init__(self, operator: Operator, counts: Array) -> None:
        self.operator, self.counts, self.people = operator, counts, float(counts.sum())
        self._scratch = np.empty(max(operator.inputs, operator.outputs) + 1)
        self._outputs, self._slopes = np.empty(operator.outputs), np.empty(operator.inputs)

    def spread(self, f: Array, spread: Array) -> float:
        """Write fᵀP, and return the log-likelihood."""
        self.operator.forward_into(f, spread, self._scratch)
        # Outputs that never come have no chance at all, and no count: 0·ln(…) is to be 0.
        np.maximum(spread, _TINY, out=spread)
        np.log(spread, out=self._outputs)
        return float(self.counts @ self._outputs)

    def slopes(self, spread: Array) -> Array:
        """P(c/(n·fᵀP)), the g above; the next call writes over it."""
        np.divide(self.counts, spread, out=self._outputs)
        self.operator.backward_into(self._outputs, self._slopes, self._scratch)
        self._slopes /= self.people
        return self._slopes


class _Problem(_Likelihood):
    """The likelihood over the distinct rows, and blocks with fixed shares."""

    def __init__(self, operator: Operator, counts: Array, split: tuple[int, float] | None) -> None:
        self._groups, distinct = operator.distinct(counts > 0)
        if split is None:
            blocks = [_Block(0, distinct.inputs, 1.0)]
        else:
            at, share = split
            _check_split(operator.inputs, at, share)
            if self._groups is not None:
                # A row that occurs on both sides becomes two.
                rows = distinct.inputs
                late = np.arange(operator.inputs) >= at
                keys, self._groups = np.unique(self._groups + rows * late, return_inverse=True)
                at = int(np.count_nonzero(keys < rows))
                if len(keys) > rows:
                    distinct = Grouped(keys % rows, distinct)
            blocks = [_Block(0, at, share), _Block(at, distinct.inputs, 1 - share)]
        super().__init__(distinct, counts)
        self.blocks = [block for block in blocks if block.share > 0]

    def of_values(self, shares: Array) -> Array:
        """Shares of distinct rows as shares of values: equal for values with equal rows."""
        if self._groups is None:
            return shares
        each: Array = (shares / np.bincount(self._groups, minlength=len(shares)))[self._groups]
        return each

    def of_rows(self, frequencies: Array) -> Array:
        """Shares of values added up for the distinct rows, and brought to the shares of the blocks."""
        size = self.operator.inputs
        shares = np.zeros(size)
        added = frequencies if self._groups is None else np.bincount(self._groups, frequencies, size)
        for block in self.blocks:
            here = slice(block.first, block.last)
            mass = float(added[here].sum())
            if mass > 0:
                shares[here] = added[here] * (block.share / mass)
            else:
                # The nearest value to where the mass is, which is on the other side of the split.
                shares[block.last - 1 if block.first == 0 else block.first] = block.share
        return shares

    def gap(self, slopes: Array) -> float:
        """The certified gap."""
        most = sum(block.share * float(slopes[block.first : block.last].max()) for block in self.blocks)
        return self.people * max(most - 1, 0.0)

    def plain_step(self, f: Array, slopes: Array, stepped: Array) -> None:
        """Write one EM step from f."""
        np.multiply(f, slopes, out=stepped)
        self.settle(stepped)

    def settle(self, f: Array) -> None:
        """Bring f to shares that are not negative and sum to those of the blocks."""
        np.maximum(f, 0.0, out=f)
        for block in self.blocks:
            part = f[block.first : block.last]
            total = float(part.sum())
            if total > 0:
                part *= block.share / total
            else:
                part[:] = block.share / len(part)


def _check_split(size: int, at: int, share: float) -> None:
    if not (0 <= at <= size and 0 <= share <= 1) or (at == 0 and share > 0) or (at == size and share < 1):
        msg = (
            f"Expected split=(at, share) with 0 ≤ at ≤ {size} and a share that these values can have, got {at, share}."
        )
        raise InputError(msg)


def fit_em(
    operator: Operator,
    counts: Array,
    *,
    split: tuple[int, float] | None = None,
    start: Array | None = None,
    until: float | None = None,
    most_steps: int = MOST_STEPS,
    progress: Report | None = None,
) -> Fit:
    """The most likely distribution; with ``split=(at, share)`` of those with Σ_{x < at} f_x = share.

    ``start`` is a distribution to begin from, such as the fit without a split. ``until`` is a log-likelihood: the fit
    ends as soon as the largest one is certainly at least this, or certainly below.
    """
    problem = _Problem(*_condensed(operator, counts), split)
    inner = problem.operator
    if isinstance(inner, Window) and inner.m == 1:
        f = _closed_form(problem, inner)
        spread = np.empty(inner.outputs)
        value = problem.spread(f, spread)
        gap = problem.gap(problem.slopes(spread))
        return Fit(problem.of_values(f), 1, value, gap, converged=gap <= MOST_GAP)
    f = _begin(inner, problem.blocks) if start is None else problem.of_rows(start)
    newton = _Newton(problem, f, most_steps, progress)
    fit = newton.run(until)
    if fit is None:
        fit = _accelerated(problem, newton, until)
    return Fit(problem.of_values(fit.frequencies), fit.steps, fit.log_likelihood, fit.gap, fit.converged)


def _condensed(operator: Operator, counts: Array) -> tuple[Operator, Array]:
    """Reports that say the same, counted together."""
    cell_of, condensed = operator.condensed()
    if cell_of is not None:
        counts = np.bincount(cell_of, counts, condensed.outputs).astype(np.float64)
    return condensed, counts


def _closed_form(problem: _Problem, window: Window) -> Array:
    """GRR: Σ c·ln(q + e·f) is largest where f = max(c/μ − q/e, 0), μ such that the sum is right."""
    f = np.zeros(window.inputs)
    floor = window.q / window.excess if window.excess > 0 else math.inf
    for block in problem.blocks:
        counts = problem.counts[block.first : block.last]
        falling = np.sort(counts)[::-1]
        if not falling[0] or math.isinf(floor):
            f[block.first : block.last] = block.share / len(counts)
            continue
        level = falling.cumsum() / (block.share + floor * np.arange(1, len(counts) + 1))
        kept = int(np.count_nonzero(falling > floor * level))
        f[block.first : block.last] = np.maximum(counts / level[max(kept, 1) - 1] - floor, 0.0)
    problem.settle(f)
    return f


def _begin(operator: Operator, blocks: list[_Block]) -> Array:
    """Equal shares at a few values, evenly spaced."""
    f = np.zeros(operator.inputs)
    for block in blocks:
        many = min(_FIRST, block.last - block.first)
        at = np.linspace(block.first, block.last - 1, many).round().astype(np.int64)
        f[at] = block.share / many
    return f


class _Newton:
    """The constrained Newton method; ``f``, ``steps`` and the rest stand where it is."""

    def __init__(self, problem: _Problem, f: Array, most_steps: int, progress: Report | None) -> None:
        self.problem, self.f, self.most_steps, self.progress = problem, f, most_steps, progress
        operator = problem.operator
        self.steps, self._work = 0, 0.0
        # With few reports a hundredth of a nat is much.
        self._aim = min(AIM, 1e-6 * problem.people)
        self._spread = np.empty(operator.outputs)
        self._most = _MOST_SUPPORT if operator.has_cells else _ROOM // max(operator.inputs, operator.outputs)

    def run(self, until: float | None) -> Fit | None:
        """As near to the top as is aimed at, or as can be; None where more values are needed than can be held."""
        problem = self.problem
        self._cover()
        best, stalled = -math.inf, 0
        while True:
            value = problem.spread(self.f, self._spread)
            slopes = problem.slopes(self._spread)
            gap = problem.gap(slopes)
            self.steps += 1
            if self.progress is not None:
                self.progress(self.steps)
            decided = until is not None and (value >= until or value + gap < until)
            if gap <= self._aim or decided:
                return Fit(self.f, self.steps, value, gap, converged=True)
            if self.steps >= min(self.most_steps, _NEWTON_STEPS) or self._work > _MOST_WORK:
                return Fit(self.f, self.steps, value, gap, converged=gap <= MOST_GAP)
            # Where gains are lost in rounding, a few more steps may still lower the gap.
            stalled = stalled + 1 if value <= best + _ROUNDED * abs(value) else 0
            best = max(best, value)
            places = self._joined(slopes, above_average=True)
            if len(places) > self._most:
                return None
            if stalled > _PATIENCE or not self._step(places):
                return None if gap > MOST_GAP else Fit(self.f, self.steps, value, gap, converged=True)

    def _cover(self) -> None:
        """Add values until every report that came is possible."""
        while True:
            self.problem.spread(self.f, self._spread)
            missing = self.problem.counts * (self._spread < _POSSIBLE)
            if not missing.any():
                return
            places = self._joined(self.problem.operator.backward(missing), above_average=False)
            if len(places) == np.count_nonzero(self.f) or len(places) > self._most:
                return
            self.f[:] = 0.0
            self.f[places] = 1.0
            self.problem.settle(self.f)

    def _joined(self, slopes: Array, *, above_average: bool) -> Places:
        """The values in use, and of those between every two of them the one with the largest slope, if it is worth it.

        At the top every value in use has the average slope of its block, and no other has a larger one.
        """
        used = np.flatnonzero(self.f)
        found = [used]
        for block in self.problem.blocks:
            part = slopes[block.first : block.last]
            inside = used[(used >= block.first) & (used < block.last)]
            starts = np.unique(np.append(inside - block.first, 0))
            tops = np.maximum.reduceat(part, starts)
            sizes = np.diff(np.append(starts, len(part)))
            hits = np.flatnonzero(part == np.repeat(tops, sizes))
            _, first = np.unique(np.searchsorted(starts, hits, side="right"), return_index=True)
            hits = hits[first] + block.first
            least = float(self.f[inside] @ slopes[inside]) / block.share if above_average else 0.0
            found.append(hits[slopes[hits] > least])
        return np.unique(np.concatenate(found))

    def _step(self, places: Places) -> bool:
        """One Newton step on these values; whether it gained anything."""
        problem = self.problem
        rows, starts = problem.operator.cells(places)
        counts = problem.counts if starts is None else np.add.reduceat(problem.counts, starts)
        seen = counts > 0
        rows, counts = rows[:, seen], counts[seen]
        x = self.f[places]
        spread = np.maximum(x @ rows, _TINY)
        weighted = rows * (np.sqrt(counts) / spread)
        curvature = weighted @ weighted.T
        slopes = rows @ (counts / spread)
        members = np.array([(places >= block.first) & (places < block.last) for block in problem.blocks])
        sums = np.array([block.share for block in problem.blocks])
        before = float(counts @ np.log(spread))
        for ridge in (_RIDGE, _STRONGER):
            model = _Quadratic(curvature, slopes, x, members, sums, ridge)
            try:
                z = model.top()
            except np.linalg.LinAlgError:
                continue
            finally:
                self._work += len(places) ** 2 * (model.solved * len(places) + 2.0 * len(counts))
            whole = np.zeros_like(self.f)
            whole[places] = z
            problem.settle(whole)
            change = whole[places] - x
            rise = float(slopes @ change)
            length = 1.0
            while length > _SHORTEST:
                after = float(counts @ np.log(np.maximum((x + length * change) @ rows, _TINY)))
                if after >= before + 0.1 * length * rise - _ROUNDED * abs(before):
                    self.f *= 1 - length
                    self.f += length * whole
                    return True
                length /= 2
        return False


class _Quadratic:
    """The quadratic model of the log-likelihood around x, over z ≥ 0 with these sums.

    Its gradient at z is 2·slopes − curvature·z, because curvature·x = slopes. Where the rows of some values almost
    depend on each other, ``ridge`` keeps z near x. All is held in units in which every value has curvature one.
    """

    def __init__(self, curvature: Array, slopes: Array, x: Array, members: Array, sums: Array, ridge: float) -> None:
        self._scale = 1 / np.sqrt(np.maximum(np.diag(curvature), _TINY + _RIDGE * slopes.max()))
        self._matrix = curvature * self._scale * self._scale[:, None]
        self._matrix.flat[:: len(x) + 1] += ridge
        self._begin = x / self._scale
        self._linear = 2 * slopes * self._scale + ridge * self._begin
        self._members, self._sums = members * self._scale, sums
        self.solved = 0

    def top(self) -> Array:
        """Where it is largest; or, failing that, a place where it is larger than at x."""
        exchanged = self._by_exchanging()
        z: Array = self._scale * (self._by_dropping() if exchanged is None else exchanged)
        return z

    def _solve(self, used: Array) -> tuple[Array, Array]:
        """(the top if only these values may be used and may be negative, what each of the others would lose)."""
        at, blocks = np.flatnonzero(used), len(self._sums)
        many = len(at)
        system = np.zeros((many + blocks, many + blocks))
        system[:many, :many] = self._matrix[np.ix_(at, at)]
        system[many:, :many] = self._members[:, at]
        system[:many, many:] = self._members[:, at].T
        solution = np.linalg.solve(system, np.concatenate([self._linear[at], self._sums]))
        self.solved += 1
        z = np.zeros(len(used))
        z[at] = solution[:many]
        return z, self._matrix @ z - self._linear + self._members.T @ solution[many:]

    def _by_exchanging(self) -> Array | None:
        """All values on the wrong side change it at once: those below zero, and those at zero that would gain.

        That takes a few rounds even with a thousand values (block principal pivoting; Júdice, Pires 1994), but need not
        come to an end where rows almost depend on each other.
        """
        used = np.ones(len(self._begin), bool)
        for _ in range(_EXCHANGES):
            z, lost = self._solve(used)
            wrong = np.where(used, z < 0, lost < -1e-9 * np.abs(self._linear))
            if not wrong.any():
                return z
            used ^= wrong
        return None

    def _by_dropping(self) -> Array:
        """From x on towards the top until a value is at zero, which is dropped; it always comes to an end."""
        y, used = self._begin.copy(), np.ones(len(self._begin), bool)
        while True:
            z, _ = self._solve(used)
            low = used & (z < 0)
            if not low.any():
                return z
            length = float((y[low] / (y[low] - z[low])).min())
            y += length * (z - y)
            ended = low & (y <= _ROUNDED * np.abs(z))
            y[ended] = 0.0
            used &= ~ended


def _accelerated(problem: _Problem, newton: _Newton, until: float | None) -> Fit:
    """EM with longer steps (SQUAREM's third scheme), from where Newton steps could not go on."""
    operator = problem.operator
    f = 0.5 * newton.f
    for block in problem.blocks:
        f[block.first : block.last] += 0.5 * block.share / (block.last - block.first)
    f1, f2 = np.empty_like(f), np.empty_like(f)
    spread, spread1 = np.empty(operator.outputs), np.empty(operator.outputs)
    value = problem.spread(f, spread)
    steps, most = newton.steps, min(newton.most_steps, newton.steps + _EM_WORK // (operator.inputs + operator.outputs))
    while True:
        slopes = problem.slopes(spread)
        gap = problem.gap(slopes)
        decided = until is not None and (value >= until or value + gap < until)
        if gap <= AIM or decided or steps >= most:
            return Fit(f, steps, value, gap, converged=gap <= MOST_GAP or decided)
        problem.plain_step(f, slopes, f1)
        problem.spread(f1, spread1)
        problem.plain_step(f1, problem.slopes(spread1), f2)
        steps += 2
        if newton.progress is not None:
            newton.progress(steps)
        before, value = value, problem.spread(f, spread) if _longer(problem, f, f1, f2) else -math.inf
        # The longer step is kept only where it is no less likely than where it began.
        if not value >= before:
            f, f2 = f2, f
            value = problem.spread(f, spread)


def _longer(problem: _Problem, f: Array, f1: Array, f2: Array) -> bool:
    """Write f + 2·length·r + length²·v over f; False where it leads nowhere. f1 is written over."""
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
    problem.settle(f)
    return True


def fit_ems(operator: Operator, counts: Array, *, most_steps: int = MOST_STEPS, progress: Report | None = None) -> Fit:
    """EM with smoothing, stopped early by design; for values on a line, whose neighbours are alike.

    With very many values it is ended before its rule, and has not converged.
    """
    likelihood = _Likelihood(*_condensed(operator, counts))
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
        spread_out(stepped, f)
        f /= f.sum()
        before, value = value, likelihood.spread(f, spread)
        if progress is not None:
            progress(steps)
        if value - before < EMS_GAIN:
            return Fit(f, steps, value, gap, converged=True)
    return Fit(f, most_steps, value, gap, converged=False)


def spread_out(f: Array, smooth: Array | None = None) -> Array:
    """(1, 2, 1)/4 inside and (2, 1)/3 at the ends; the ends gain or lose a little mass."""
    smooth = np.empty_like(f) if smooth is None else smooth
    if f.shape[-1] < 3:  # noqa: PLR2004 (both ends are neighbours)
        smooth[...] = f
        return smooth
    inside = smooth[..., 1:-1]
    np.multiply(f[..., 1:-1], 2, out=inside)
    inside += f[..., :-2]
    inside += f[..., 2:]
    inside /= 4
    smooth[..., 0], smooth[..., -1] = (2 * f[..., 0] + f[..., 1]) / 3, (2 * f[..., -1] + f[..., -2]) / 3
    return smooth

"""Expectation maximisation: the distribution under which the reports are most likely.

One step is f ← f · P(c/(fᵀP))/n, in O(N + M) by the operator: f stays a distribution and the likelihood never falls.

**EM, accelerated** (SQUAREM; Varadhan, Roland 2008): two plain steps give a direction along which a longer step is
taken, and the longer one is kept only where it does not lower the likelihood. It has the same fixed points as plain EM;
no share falls by it below a tenth of what the two plain steps left.

**How it stops.** When a plain step from where the acceleration has come gains less than 10⁻³·e^ε in log-likelihood, and
for ε above 3 less than 0.02. That is the rule of Li et al. (2020) for plain EM, but for the bound, without which EM
would stop far from the top at large ε; after a longer step the same gain means being nearer to the top. Beside it
stands a certificate: with g_x = P(c/(fᵀP))_x/n, no distribution at all has a log-likelihood more than n·(max g − 1)
above, because the likelihood is concave.

**EMS** smooths after every step with (1, 2, 1)/4, the ends with (2, 1)/3 (Li et al., SIGMOD 2020), and stops when one
step gains less than 10⁻³ in log-likelihood. Stopping early is part of its smoothing, so EMS is never accelerated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.operator import Operator

    Array = NDArray[np.float64]
    Report = Callable[[int], None]

EM_GAIN: Final = 1e-3
"""Times e^ε: the gain in log-likelihood of a plain step at which EM stops."""
_MOST_EXP: Final = 20.0
"""e^ε counts as at most this. The rule was made for small ε; at ε = 12 it would stop while steps still gain 160."""
EMS_GAIN: Final = 1e-3
MOST_STEPS: Final = 100_000
_TINY: Final = 1e-200
# A longer step leaves every share at least this part of what two plain steps give it. A share that is thrown to almost
# nothing comes back by a factor a step, gaining next to nothing on the way, and the rule would stop there (seen with
# 10^-12 in place of a tenth: 39 below the top in log-likelihood, GRR on 8 values, 5,000 reports).
_KEPT: Final = 0.1


@dataclass(frozen=True, slots=True)
class Fit:
    """Where an iteration ended."""

    frequencies: Array
    steps: int
    """How often P was applied in both directions."""
    gain: float
    """What the last plain step gained in log-likelihood."""
    gap: float
    """How far the log-likelihood may be below the largest one, at most; EMS does not aim at it."""
    converged: bool


class _Climb:
    """EM steps in memory of their own: at 10^6 values, new arrays would take longer than the arithmetic."""

    def __init__(self, operator: Operator, counts: Array) -> None:
        self._operator, self._counts, self._people = operator, counts, float(counts.sum())
        self._scratch = np.empty(max(operator.inputs, operator.outputs) + 1)
        self._outputs = np.empty(operator.outputs)
        self._inputs = np.empty(operator.inputs)

    def spread(self, f: Array, spread: Array) -> float:
        """Write fᵀP, and return the log-likelihood Σ c·ln(fᵀP), up to what does not depend on f."""
        self._operator.forward_into(f, spread, self._scratch)
        # Outputs that never come have no chance at all, and no count: 0·ln(…) is to be 0.
        np.maximum(spread, _TINY, out=spread)
        np.log(spread, out=self._outputs)
        return float(self._counts @ self._outputs)

    def step(self, f: Array, spread: Array, stepped: Array) -> float:
        """Write one EM step from f, and return the certified gap at f."""
        np.divide(self._counts, spread, out=self._outputs)
        slopes = self._inputs
        self._operator.backward_into(self._outputs, slopes, self._scratch)
        slopes /= self._people
        np.multiply(f, slopes, out=stepped)
        np.maximum(stepped, 0.0, out=stepped)
        stepped /= stepped.sum()
        return self._people * max(float(slopes.max()) - 1, 0.0)

    def longer(self, f: Array, f1: Array, f2: Array) -> bool:
        """Write SQUAREM's third scheme over f; False where it leads nowhere. f1 is written over."""
        r = np.subtract(f1, f, out=self._inputs)
        v = np.subtract(f2, f1, out=f1)
        v -= r
        size = math.sqrt(float(v @ v))
        if size == 0:
            return False
        length = max(1.0, math.sqrt(float(r @ r)) / size)
        # f + 2·length·r + length²·v
        v *= length**2
        r *= 2 * length
        f += r
        f += v
        # From zero no step leads back, and from almost zero only many.
        np.maximum(f, np.multiply(f2, _KEPT, out=v), out=f)
        f /= f.sum()
        return True


def fit_em(
    operator: Operator,
    counts: Array,
    *,
    exp_epsilon: float,
    most_steps: int = MOST_STEPS,
    progress: Report | None = None,
) -> Fit:
    """The most likely distribution, by accelerated EM; the top of the file says how it stops."""
    climb = _Climb(operator, counts)
    f, f1, f2 = (np.full(operator.inputs, 1 / operator.inputs) for _ in range(3))
    spread, spread1 = (np.empty(operator.outputs) for _ in range(2))
    value = climb.spread(f, spread)
    least = EM_GAIN * min(exp_epsilon, _MOST_EXP)
    steps = 0
    while True:
        gap = climb.step(f, spread, f1)
        value1 = climb.spread(f1, spread1)
        climb.step(f1, spread1, f2)
        steps += 2
        if progress is not None:
            progress(steps)
        gain = value1 - value
        if gain <= least or steps >= most_steps:
            return Fit(f1, steps, gain, gap, converged=gain <= least)
        # The longer step is kept only where it is no less likely than where it began.
        before, value = value, climb.spread(f, spread) if climb.longer(f, f1, f2) else -math.inf
        if not value >= before:
            f, f2 = f2, f
            value = climb.spread(f, spread)


def fit_ems(operator: Operator, counts: Array, *, most_steps: int = MOST_STEPS, progress: Report | None = None) -> Fit:
    """EM with smoothing, stopped early by design; for values on a line, whose neighbours are alike."""
    climb = _Climb(operator, counts)
    f, stepped = (np.full(operator.inputs, 1 / operator.inputs) for _ in range(2))
    spread = np.empty(operator.outputs)
    value = climb.spread(f, spread)
    for steps in range(1, most_steps + 1):
        gap = climb.step(f, spread, stepped)
        spread_out(stepped, f)
        f /= f.sum()
        before, value = value, climb.spread(f, spread)
        if progress is not None:
            progress(steps)
        if value - before < EMS_GAIN:
            return Fit(f, steps, value - before, gap, converged=True)
    return Fit(f, most_steps, value - before, gap, converged=False)


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

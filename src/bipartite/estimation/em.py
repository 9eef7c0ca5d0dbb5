"""Expectation maximisation: the distribution under which the reports are most likely.

One step is f ← f · P(c/(fᵀP))/n, in O(N + M) by the operator: f stays a distribution and the likelihood never falls.

**EM, accelerated** (SQUAREM; Varadhan, Roland 2008): two plain steps give a direction along which a longer step is
taken, and the longer one is kept only where it does not lower the likelihood. It has the same fixed points as plain EM.

**How it stops.** When a plain step from where the acceleration has come gains less than 10⁻³·e^ε in log-likelihood (the
rule of Li et al. 2020 for plain EM; after a longer step the same gain means being nearer to the top). Beside it stands
a certificate: with g_x = P(c/(fᵀP))_x/n, no distribution at all has a log-likelihood more than n·(max g − 1) above,
because the likelihood is concave.

**EMS** smooths after every step with (1, 2, 1)/4, the ends with (2, 1)/3 (Li et al., SIGMOD 2020), and stops when one
step gains less than 10⁻³ in log-likelihood. Stopping early is part of its smoothing, so EMS is never accelerated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.estimation.operator import Operator

    Array = NDArray[np.float64]
    Report = Callable[[int], None]

EM_GAIN: Final = 1e-3
"""Times e^ε: the gain in log-likelihood of a plain step at which EM stops."""
EMS_GAIN: Final = 1e-3
MOST_STEPS: Final = 100_000


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


def fit_em(
    operator: Operator,
    counts: Array,
    *,
    exp_epsilon: float,
    most_steps: int = MOST_STEPS,
    progress: Report | None = None,
) -> Fit:
    """The most likely distribution, by accelerated EM; the top of the file says how it stops."""
    people = float(counts.sum())
    f = np.full(operator.inputs, 1 / operator.inputs)
    spread = operator.forward(f)
    steps = 0
    while True:
        f1, gap = _stepped(operator, counts, people, f, spread)
        spread1 = operator.forward(f1)
        value = log_likelihood(counts, spread)
        gain = log_likelihood(counts, spread1) - value
        f2, _ = _stepped(operator, counts, people, f1, spread1)
        steps += 2
        if progress is not None:
            progress(steps)
        if gain <= EM_GAIN * exp_epsilon or steps >= most_steps:
            return Fit(f1, steps, gain, gap, converged=gain <= EM_GAIN * exp_epsilon)
        f, spread = _longer(operator, counts, (f, f1, f2), value)


def _stepped(operator: Operator, counts: Array, people: float, f: Array, spread: Array) -> tuple[Array, float]:
    """(one EM step from f, the certified gap at f)."""
    weights = np.divide(counts, spread, out=np.zeros_like(spread), where=counts > 0)
    slopes = operator.backward(weights) / people
    stepped = np.maximum(f * slopes, 0.0)
    stepped /= stepped.sum()
    return stepped, people * max(float(slopes.max()) - 1, 0.0)


def log_likelihood(counts: Array, spread: Array) -> float:
    """Σ c·ln(fᵀP), up to what does not depend on f."""
    logs = np.log(spread, out=np.zeros_like(spread), where=counts > 0)
    return float((counts * logs).sum())


def _longer(operator: Operator, counts: Array, path: tuple[Array, Array, Array], value: float) -> tuple[Array, Array]:
    """SQUAREM's third scheme, kept only where it is no less likely than where it began; with its spread."""
    f, f1, f2 = path
    r = f1 - f
    v = (f2 - f1) - r
    size = float(np.linalg.norm(v))
    if size > 0:
        length = max(1.0, float(np.linalg.norm(r)) / size)
        # Nothing may become zero that plain EM would not make zero: from there no step leads back.
        tried = np.maximum(f + 2 * length * r + length**2 * v, f2 * 1e-12)
        tried /= tried.sum()
        spread = operator.forward(tried)
        if log_likelihood(counts, spread) >= value:
            return tried, spread
    return f2, operator.forward(f2)


def fit_ems(operator: Operator, counts: Array, *, most_steps: int = MOST_STEPS, progress: Report | None = None) -> Fit:
    """EM with smoothing, stopped early by design; for values on a line, whose neighbours are alike."""
    people = float(counts.sum())
    f = np.full(operator.inputs, 1 / operator.inputs)
    spread = operator.forward(f)
    value = log_likelihood(counts, spread)
    for steps in range(1, most_steps + 1):
        stepped, gap = _stepped(operator, counts, people, f, spread)
        f = smoothed(stepped)
        spread = operator.forward(f)
        before, value = value, log_likelihood(counts, spread)
        if progress is not None:
            progress(steps)
        if value - before < EMS_GAIN:
            return Fit(f, steps, value - before, gap, converged=True)
    return Fit(f, most_steps, value - before, gap, converged=False)


def smoothed(f: Array) -> Array:
    """Spread out over neighbours, then made to sum to one."""
    smooth = spread_out(f)
    smooth /= smooth.sum()
    return smooth


def spread_out(f: Array) -> Array:
    """(1, 2, 1)/4 inside and (2, 1)/3 at the ends; the ends gain or lose a little mass."""
    if f.shape[-1] < 3:  # noqa: PLR2004 (both ends are neighbours)
        return f.copy()
    smooth = np.empty_like(f)
    smooth[..., 1:-1] = (f[..., :-2] + 2 * f[..., 1:-1] + f[..., 2:]) / 4
    smooth[..., 0], smooth[..., -1] = (2 * f[..., 0] + f[..., 1]) / 3, (2 * f[..., -1] + f[..., -2]) / 3
    return smooth

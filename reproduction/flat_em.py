"""The most likely shares of flat categories, from whole reports, for comparison with projected shares.

A report y supports a set S(y) of values, and its probability is c(y)·r given a value in S(y) and c(y) given any other.
c(y) does not depend on the shares f, so the log-likelihood is Σ_y ln(1 + (r − 1)·Σ_{v ∈ S(y)} f_v) up to a constant. It
is maximized by EM with extrapolated steps (SQUAREM; Varadhan, Roland 2008), until no distribution is more likely by
more than 0.1 nats: n·(max g − 1), where n·g is the gradient. Its intervals are not known.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import bipartite as bp
from bipartite.mechanisms import Mechanism

Array = NDArray[np.float64]

GAP: Final = 0.1
_MOST_STEPS: Final = 5_000
# An extrapolated step leaves every share at least this fraction of its value after two plain steps.
_KEPT: Final = 0.1


def most_likely(mechanism: Mechanism, reports: NDArray[Any]) -> tuple[Array, float]:
    """(The most likely shares, how much more likely others may be)."""
    kept, times = np.unique(reports, axis=0, return_counts=True)
    counts = times.astype(np.float64)
    # One report is counted once for every value of its set, or with a sign that says which values those are.
    sets = np.array([np.asarray(mechanism.count(report[None])) > 0 for report in kept], dtype=np.float64)
    p, q = mechanism.support
    permanent = isinstance(mechanism, bp.RAPPOR)  # its second coins lower the ratio of reports
    gain = float(p * (1 - q) / (q * (1 - p)) if permanent else mechanism.largest_ratio()) - 1

    def slopes(f: Array) -> Array:
        each = counts / (1 + gain * (sets @ f))
        found: Array = (each.sum() + gain * (each @ sets)) / counts.sum()
        return found

    def value(f: Array) -> float:
        return float(counts @ np.log(1 + gain * (sets @ f)))

    f = np.full(sets.shape[1], 1 / sets.shape[1])
    for _ in range(_MOST_STEPS):
        first = _normalized(f * slopes(f))
        second = _normalized(first * slopes(first))
        change, bend = first - f, second - 2 * first + f
        length = max(1.0, float(np.sqrt(change @ change / max(float(bend @ bend), 1e-300))))
        farther = _normalized(np.maximum(f + 2 * length * change + length**2 * bend, _KEPT * second))
        # The extrapolated step is kept only if it does not lower the likelihood.
        f = farther if value(farther) >= value(f) else second
        if _gap(slopes(f), counts) <= GAP:
            break
    return f, _gap(slopes(f), counts)


def _gap(slopes: Array, counts: Array) -> float:
    return float(counts.sum()) * max(float(slopes.max()) - 1, 0.0)


def _normalized(f: Array) -> Array:
    found: Array = f / f.sum()
    return found

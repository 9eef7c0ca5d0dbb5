"""EMS: EM smoothed after every step with (1, 2, 1)/4, the ends with (2, 1)/3 (Li et al., SIGMOD 2020), as published.

It stops when a step gains less than 10⁻³ in log-likelihood. Stopping early is part of its smoothing, so it is never
accelerated, and by how much it biases shares is unknown: estimates use ``method="smooth"`` instead.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GAIN: Final = 1e-3
MOST_STEPS: Final = 10_000


def ems(matrix: Array, counts: Array) -> tuple[Array, int]:
    """(shares of values from counts of outputs, the number of steps); ``matrix`` has a row for each value."""
    f = np.full(len(matrix), 1 / len(matrix))
    law = f @ matrix
    seen = counts > 0
    value = float(counts[seen] @ np.log(law[seen]))
    for steps in range(1, MOST_STEPS + 1):
        f = smoothed(f * (matrix[:, seen] @ (counts[seen] / law[seen])))
        f /= f.sum()
        law = f @ matrix
        before, value = value, float(counts[seen] @ np.log(law[seen]))
        if value - before < GAIN:
            return f, steps
    return f, MOST_STEPS


def smoothed(f: Array) -> Array:
    """(1, 2, 1)/4 inside and (2, 1)/3 at the ends, which may gain or lose a little mass; two values stay."""
    if len(f) < 3:  # noqa: PLR2004 (there is no inside)
        return f
    ends = (2 * f[0] + f[1]) / 3, (2 * f[-1] + f[-2]) / 3
    return np.concatenate([ends[:1], (f[:-2] + 2 * f[1:-1] + f[2:]) / 4, ends[1:]])

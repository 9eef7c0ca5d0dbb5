"""Algorithm 2 on a line by brute force over all rows, for every ε at once, in whole numbers.

Item i of a row in order of loss (counted from 0) is raised when λ_i·S < L with the i items before it raised, that is
when e^ε·A_i < B_i, A_i = i·λ_i − Σ_{j<i} λ_j and B_i = Σ_{j≥i} λ_j − (N−i)·λ_i. So a row raises item i exactly when
e^ε < min_{j≤i} B_j/A_j, and so does Algorithm 2 when e^ε lies below the least of these over all rows: a rational
threshold.
"""

from bisect import bisect_left
from fractions import Fraction

import numpy as np


def thresholds(points: int) -> list[Fraction | None]:
    """For i = 1 … N−1 the number below which e^ε must lie for m > i; None where no ε does it."""
    x = np.arange((points + 1) // 2)[:, None]  # the other half mirrors these
    losses = np.sort(np.abs(x - np.arange(points)[None, :]), axis=1)
    before = np.cumsum(losses, axis=1) - losses
    i = np.arange(points)[None, :]
    a = i * losses - before
    b = losses.sum(axis=1, keepdims=True) - before - (points - i) * losses
    # Where no ε matters, the item is raised exactly when the rest lies farther away. Floats find the least ratio:
    # those of whole numbers below 10^5 differ by 10^-10 or not at all.
    ratios = np.divide(b, a, out=np.where(b > 0, np.inf, 0.0), where=a != 0)
    found: list[Fraction | None] = []
    for item in range(1, points):
        row = ratios[:, item].argmin()
        ratio = Fraction(int(b[row, item]), int(a[row, item]) or 1) if ratios[row, item] < np.inf else None
        least = found[-1] if found else None
        found.append(least if ratio is None or (least is not None and least <= ratio) else ratio)
    return found


def m_by_thresholds(every: list[Fraction | None], exp_exceeds) -> int:
    """m for the ε of which ``exp_exceeds(ratio)`` tells whether e^ε > ratio."""
    # They fall, after those that no ε reaches.
    return 1 + bisect_left(every, True, key=lambda threshold: threshold is not None and exp_exceeds(threshold))

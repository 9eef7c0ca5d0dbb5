"""Total error of a report on an interval against its number of points: the table of the page on choosing points."""

from __future__ import annotations

import numpy as np

from bipartite import BRR, Interval

EPSILONS = ("1", "4")
POINTS = (2, 3, 5, 9, 17, 33, 65, 129, 257, 513)
POSITIONS = 4 * 3 * 512  # positions spread evenly over the interval, none of them on a rounding edge


def total_error(points: int, epsilon: str, m: int | str) -> float:
    """E|v − report| for a value v spread evenly over [0, 1]: rounding to a node and randomization together."""
    mechanism = BRR(Interval(0, 1, points=points), epsilon, m=m)
    values = (np.arange(POSITIONS) + 0.5) / POSITIONS
    nodes = mechanism.domain.to_numpy()
    rows = np.floor(values * (points - 1) + 0.5).astype(int)
    matrix = mechanism.matrix()
    return float(np.mean([matrix[row] @ np.abs(nodes - value) for row, value in zip(rows, values, strict=True)]))


def table() -> list[str]:
    """The lines of the table."""
    lines = ["points   BRR ε=1   GRR ε=1   BRR ε=4   GRR ε=4"]
    for points in POINTS:
        cells = [total_error(points, epsilon, m) for epsilon in EPSILONS for m in (1 if points == 2 else "safe", 1)]  # noqa: PLR2004
        lines.append(f"{points:6d}" + "".join(f"{cell:10.4f}" for cell in cells))
    return lines


if __name__ == "__main__":
    print("\n".join(table()))

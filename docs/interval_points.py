"""Total error of a report on an interval against its number of points: bench/results/interval_points.md."""

from __future__ import annotations

from bipartite import BRR, GRR, Interval
from reproduction.experiments.interval_nodes import total_error

EPSILONS = ("1", "4")
POINTS = (2, 3, 5, 9, 17, 33, 65, 129, 257, 513)


def table() -> list[str]:
    """The lines of the table."""
    lines = ["points   BRR ε=1   GRR ε=1   BRR ε=4   GRR ε=4"]
    for points in POINTS:
        domain = Interval(0, 1, points=points)
        both = [
            mechanism
            for epsilon in EPSILONS
            for mechanism in (BRR(domain, epsilon, m=1 if points == 2 else "safe"), GRR(domain, epsilon))  # noqa: PLR2004
        ]
        lines.append(f"{points:6d}" + "".join(f"{total_error(mechanism):10.4f}" for mechanism in both))
    return lines


if __name__ == "__main__":
    print("\n".join(table()))

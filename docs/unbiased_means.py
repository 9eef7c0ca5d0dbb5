"""What unbiased reports of a number cost beside the best there is.

``python docs/unbiased_means.py`` prints the table of ``bench/results/unbiased_means.md`` and writes its pictures; with
a number, the table for that number of values.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bipartite import BRR, Duchi, Hybrid, Interval, Optimal, Piecewise, identifiability
from bipartite.plots.figure import as_svg, axes, describe
from bipartite.plots.looks import LOOKS
from bipartite.plots.named import curves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

STATIC = Path(__file__).parent / "_static"
EPSILONS = ("0.5", "1", "2", "3", "4")
GRID = np.linspace(0.25, 4, 16)
POINTS = 20
TOP = 2.1
BEST, WORST = "Optimal, unbiased", "Optimal, unbiased, minimax"
OTHERS = {'BRR, m="mean"': "BRR, padded, mean", "Piecewise": "Piecewise", "Hybrid": "Hybrid", "Duchi": "Duchi"}
"""What the table calls them, and as what they are drawn."""


def variances(mechanism: Mechanism, *, estimated: bool) -> Array:
    """Of the report itself, or of its score in `bp.estimate`, given each value; in units of half the range."""
    x = mechanism.domain.to_numpy().astype(np.float64)
    x = (x - x.mean()) / (x[-1] - x.mean())
    if estimated:
        found, operator = identifiability(mechanism), mechanism.lottery.channel()
        scores = found.scores(operator.uniform_law()).of(found.by_group(x))
        return operator.backward(scores**2) - x**2
    low, high = mechanism.domain.low, mechanism.domain.high
    v = (mechanism.outputs.to_numpy() - (low + high) / 2) / ((high - low) / 2)
    return mechanism.matrix() @ v**2 - x**2


def measured(points: int, epsilon: str) -> dict[str, tuple[float, float]]:
    """(the variance for a uniform population, the largest variance), of each."""
    domain = Interval(-1, 1, points=points)
    found = {
        BEST: variances(Optimal(domain, epsilon, unbiased=True), estimated=False),
        WORST: variances(Optimal(domain, epsilon, unbiased=True, prior="minimax"), estimated=False),
        'BRR, m="mean"': variances(BRR(domain, epsilon, m="mean", edges="padded"), estimated=True),
        "Piecewise": variances(Piecewise(domain, epsilon), estimated=False),
        "Hybrid": variances(Hybrid(domain, epsilon), estimated=False),
        "Duchi": variances(Duchi(domain, epsilon), estimated=False),
    }
    return {name: (float(each.mean()), float(each.max())) for name, each in found.items()}


def table(points: int = POINTS) -> list[str]:
    """Variances of the best in units of half the range, and of all others as multiples of these."""
    width = max(map(len, (*OTHERS, WORST))) + 2
    lines = [f"{points} values".ljust(width) + "".join(f"{f'ε = {epsilon}':>9}" for epsilon in EPSILONS)]
    found = [measured(points, epsilon) for epsilon in EPSILONS]
    for at, title, best in ((0, "uniform population", BEST), (1, "worst case", WORST)):
        least = [each[best][at] for each in found]
        lines += ["", title, best.ljust(width) + "".join(f"{each:9.4f}" for each in least)]
        for name in OTHERS:
            ratios = [each[name][at] / one for each, one in zip(found, least, strict=True)]
            lines.append(name.ljust(width) + "".join(f"{ratio:8.3f}×" for ratio in ratios))
    return lines


def draw(found: Sequence[dict[str, tuple[float, float]]], at: int, best: str, of: str) -> Axes:
    """Variances as multiples of the least, against ε; that of Duchi leaves the picture, and is named where it does."""
    ratios = {each: [one[each][at] / one[best][at] for one in found] for each in OTHERS}
    duchi, look = ratios.pop("Duchi"), LOOKS["Duchi"]
    with axes(None, (4.4, 3.0)) as ax:
        ax.set(xlabel="ε", ylabel="variance over the least", ylim=(1, TOP))
        ax.plot(GRID, duchi, **look.line())
        ax.text(np.interp(TOP, duchi, GRID), TOP, "Duchi", color=look.color, ha="center", va="bottom", fontsize=7.5)
        curves(ax, GRID.tolist(), ratios, looks={each: LOOKS[OTHERS[each]] for each in ratios})
        return describe(
            ax, f"The variance of unbiased reports of {POINTS} numbers {of}, as a multiple of the least there is."
        )


def pictures() -> dict[str, str]:
    """For a uniform population and at the worst value."""
    found = [measured(POINTS, f"{epsilon:g}") for epsilon in GRID]
    return {
        "unbiased_means.svg": as_svg(lambda: draw(found, 0, BEST, "for a uniform population")),
        "unbiased_means_worst.svg": as_svg(lambda: draw(found, 1, WORST, "at the value that fares worst")),
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print("\n".join(table(int(sys.argv[1]))))
    else:
        print("\n".join(table()))
        for name, each in pictures().items():
            (STATIC / name).write_text(each + "\n", encoding="utf-8")

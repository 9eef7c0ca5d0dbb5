"""Draws the picture of the front page: one person's report, and what 50,000 say. A test keeps it up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bipartite as bp
from bipartite.plots.figure import as_svg, axes, describe, panels
from bipartite.plots.looks import BLUE, PALE, TRUTH, WHISKER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TARGET = Path(__file__).parent / "_static" / "report.svg"
AGES = bp.Integers(18, 90)
TRUE_AGE = 40


def draw() -> Figure:
    """The chances of one report above, shares estimated from 50,000 below."""
    mechanism = bp.BRR(AGES, 1, m="cdf", edges="padded")  # what bp.recommend takes for a distribution
    row = 100 * mechanism.matrix()[AGES.encode(TRUE_AGE)]
    reported, ages = np.array(mechanism.outputs), AGES.to_numpy()
    near = reported[row > row.min()]
    readers = (18 + 73 * np.random.default_rng(1).beta(2, 4, 50_000)).astype(int)  # as in README and the tutorial
    est = bp.estimate(mechanism, mechanism.privatize(readers, rng=bp.insecure_seed(7)))
    low, high = est.ask("mean").ci()
    truth = np.bincount(readers - AGES.low, minlength=len(ages)) / len(readers)

    figure = panels(2, 1, (4.4, 4.4), sharex=True, sharey=True)
    one, many = figure.axes
    small: dict[str, Any] = {"fontsize": 8.5, "textcoords": "offset points"}
    bar: dict[str, Any] = {"width": 1, "edgecolor": "white", "linewidth": 0.5}
    with axes(one):
        one.set_title(f"One person aged {TRUE_AGE} reports, at ε = 1, …")
        one.bar(reported, row, color=np.where(row > row.min(), BLUE, PALE), **bar)
        each = f"{near[0]} to {near[-1]}: {row.max():.1f} % each\nevery other: {row.min():.2f} %"
        one.annotate(each, (near[-1] + 1, row.max()), (4, 0), va="top", **small)
        many.set_title("… and 50,000 reports tell who reads")
        many.bar(ages, 100 * est.shares, color=PALE, **bar, label="estimated shares")
        many.stairs(100 * truth, np.append(ages, 91) - 0.5, label="true shares (nobody sees them)", **TRUTH)
        many.errorbar(est.mean, 3.4, xerr=[[est.mean - low], [high - est.mean]], **WHISKER | {"capsize": 4})
        mean = f"mean {est.mean:.1f} ({low:.1f} to {high:.1f}), truly {readers.mean():.1f}"
        many.annotate(mean, (high, 3.4), (5, 0), va="center", **small)
        many.legend(loc="upper right", bbox_to_anchor=(1, 0.87), borderaxespad=0, handlelength=1.2)
        many.margins(x=0)
        many.set(xlabel="age", xticks=range(18, 91, 12), yticks=range(4), ylim=(0, 3.8))
        many.yaxis.set_major_formatter("{x:.0f} %")
    describe(
        one,
        f"Above: a person aged {TRUE_AGE} reports each age from {near[0]} to {near[-1]} with probability "
        f"{row.max():.1f} %, every other from {reported[0]} to {reported[-1]} with {row.min():.2f} %.",
    )
    describe(
        many,
        "Below: shares of ages estimated from 50,000 such reports lie close to the true ones; the mean is "
        f"{low:.1f} to {high:.1f}, truly {readers.mean():.1f}.",
    )
    return figure


def picture() -> str:
    """The SVG, as text."""
    return as_svg(draw) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")

"""Draws the pictures of README and docs that no other script draws: ``python docs/pictures.py`` all, with names, these.

Each function is named like its file. Figures are narrow, so that their letters can be read on a telephone. A test keeps
the files up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bipartite as bp
from bipartite.plots.chances import plot_chances
from bipartite.plots.figure import as_svg, axes, describe, panels
from bipartite.plots.looks import BLUE, GREEN, GREY, INK, ORANGE, PALE, PINK, RED, TRUTH, WHISKER, Look
from bipartite.plots.named import curves
from bipartite.quality import loss as loss_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Drawn = Axes | Figure

STATIC = Path(__file__).parent / "_static"
AGES, HOURS, STARS, VISITS = bp.Integers(18, 90), bp.Cyclic(24), bp.Integers(1, 5), bp.Integers(0, 20)
IN_YEARS: dict[str, Any] = {"label": "age", "unit": "years"}


def estimated(mechanism: bp.mechanisms.Mechanism, people: Array, **how: Any) -> Any:  # noqa: ANN401 (one, or groups)
    """What reports of these people say, the same on every run."""
    return bp.estimate(mechanism, mechanism.privatize(people, rng=bp.insecure_seed(7)), **how)


def readers() -> Array:
    """The made-up readers of README and the tutorial."""
    return (18 + 73 * np.random.default_rng(1).beta(2, 4, 50_000)).astype(int)


def subscribers() -> Array:
    """Made-up ages, more of them young; every other one, from the south, is a little older."""
    at = np.arange(100_000)
    return 18 + (73 * (at / len(at)) ** np.where(at % 2, 1.4, 1.6)).astype(np.int64)


def guests() -> Array:
    """Made-up hours at which people go to bed: most around eleven at night, night workers around one."""
    people = np.arange(40_000)
    at = (people + 0.5) / len(people)
    late = np.sign(at - 0.5) * np.abs(2 * at - 1) ** 1.3 * 5
    return np.where(people % 8, np.rint(23.2 + late), np.rint(13 + late / 3)).astype(np.int64) % 24


def report() -> Figure:
    """The front page: the chances of one report above, shares estimated from 50,000 below."""
    mechanism = bp.BRR(AGES, 1, m="cdf", edges="padded")  # what bp.recommend takes for a distribution
    row = 100 * mechanism.matrix()[AGES.encode(40)]
    reported, ages, people = np.array(mechanism.outputs), AGES.to_numpy(), readers()
    near = reported[row > row.min()]
    est = estimated(mechanism, people)
    low, high = est.ask("mean").ci()
    truth = np.bincount(people - AGES.low, minlength=len(ages)) / len(people)

    figure = panels(2, 1, (4.4, 4.4), sharex=True, sharey=True)
    one, many = figure.axes
    small: dict[str, Any] = {"fontsize": 8.5, "textcoords": "offset points"}
    with axes(one):
        one.set_title("One person aged 40 reports, at ε = 1, …")
        one.stairs(row, np.append(reported, reported[-1] + 1) - 0.5, fill=True, color=PALE)
        one.stairs([row.max()], [near[0] - 0.5, near[-1] + 0.5], fill=True, color=BLUE)
        each = f"{near[0]} to {near[-1]}: {row.max():.1f} % each\nevery other: {row.min():.2f} %"
        one.annotate(each, (near[-1] + 1, row.max()), (4, 0), va="top", **small)
        many.set_title("… and 50,000 reports tell who reads")
        many.stairs(100 * est.shares, np.append(ages, 91) - 0.5, fill=True, color=PALE, label="estimated shares")
        many.stairs(100 * truth, np.append(ages, 91) - 0.5, label="true shares (nobody sees them)", **TRUTH)
        many.errorbar(est.mean, 3.4, xerr=[[est.mean - low], [high - est.mean]], **WHISKER | {"capsize": 4})
        mean = f"mean {est.mean:.1f} ({low:.1f} to {high:.1f}), truly {people.mean():.1f}"
        many.annotate(mean, (high, 3.4), (5, 0), va="center", **small)
        many.legend(loc="upper right", bbox_to_anchor=(1, 0.87), borderaxespad=0, handlelength=1.2)
        many.margins(x=0)
        many.set(xlabel="age", xticks=range(18, 91, 12), yticks=range(4), ylim=(0, 3.8))
        many.yaxis.set_major_formatter("{x:.0f} %")
    describe(
        one,
        f"Above: a person aged 40 reports each age from {near[0]} to {near[-1]} with probability {row.max():.1f} %, "
        f"every other from {reported[0]} to {reported[-1]} with {row.min():.2f} %.",
    )
    describe(
        many,
        "Below: shares of ages estimated from 50,000 such reports lie close to the true ones; the mean is "
        f"{low:.1f} to {high:.1f}, truly {people.mean():.1f}.",
    )
    return figure


def tutorial_ages() -> Axes:
    """The answer of the ten-minute page."""
    est = estimated(bp.BRR(AGES, 1, m="cdf", edges="padded"), readers())
    return est.plot(**IN_YEARS, bins=[30, 45, 65])


def estimate_ages() -> Axes:
    """The distribution of ages, from padded reports."""
    return estimated(bp.BRR(AGES, 1, m="cdf", edges="padded"), subscribers()).plot(**IN_YEARS)


def estimate_clamped() -> Axes:
    """The same from clamped reports, which tell nothing about the ends."""
    return estimated(bp.BRR(AGES, 1), subscribers()).plot(**IN_YEARS)


def estimate_region_shares() -> Axes:
    """Shares of four ranges of ages in two regions."""
    people = subscribers()
    regions = np.array(["north", "south"])[np.arange(len(people)) % 2]
    groups = estimated(bp.BRR(AGES, 1, m="cdf", edges="padded"), people, by=regions)
    return groups.plot(**IN_YEARS, bins=[30, 45, 65])


def circle_report() -> Axes:
    """What somebody who goes to bed at 23 h reports, and what GRR would."""
    return plot_chances(bp.BRR(HOURS, 1), 23, others=[bp.GRR(HOURS, 1)], label="reported hour")


def circle_estimate() -> Axes:
    """When guests go to bed."""
    return estimated(bp.BRR(HOURS, 2, m="cdf"), guests()).plot(label="bedtime", unit="hour")


def product() -> Axes:
    """What somebody aged 40 who came five times reports as a pair."""
    pairs = bp.Product(AGES, VISITS)
    mechanism = bp.BRR(pairs, 1)
    chances = mechanism.matrix()[pairs.encode((40, 5))].reshape(pairs.shape)
    near = [AGES.to_numpy()[column > chances.min()] for column in chances.T]  # by visits; neighbours, or none
    ages = [(each[0] - 0.5, len(each), visits) for visits, each in zip(VISITS, near, strict=True) if len(each)]
    left, width, visits = zip(*ages, strict=True)
    with axes(None, (4.4, 2.6)) as ax:
        ax.set_facecolor(PALE)
        ax.grid(visible=False)
        ax.barh(visits, width, 1, left, color=BLUE, linewidth=0.5, edgecolor=BLUE)
        ax.plot(40, 5, "s", color="white", markersize=4)
        ax.annotate("the truth", (40, 5), (5, 0), textcoords="offset points", color="white", va="center", fontsize=8.5)
        words: dict[str, Any] = {"fontsize": 8.5, "ha": "center", "va": "center"}
        ax.text(40, 2.5, f"{mechanism.m} nearest pairs: {100 * chances.max():.3f} % each", color="white", **words)
        ax.text(66, 17, f"every other: {100 * chances.min():.3f} % each", **words)
        ax.set(xlabel="reported age", ylabel="reported visits", xlim=(17.5, 90.5), ylim=(-0.5, 20.5))
        ax.set(xticks=range(20, 91, 10), yticks=range(0, 21, 5))
        return describe(
            ax,
            f"BRR at ε = 1 for somebody aged 40 with 5 visits: each of the {mechanism.m} nearest of {len(pairs):,} "
            f"pairs, which lie in a diamond, has {100 * chances.max():.3f} %, every other {100 * chances.min():.3f} %.",
        )


def advisor_mean() -> Axes:
    """The mean age of 10,000 people against ε, by a choice of mechanisms."""
    epsilons = [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4]
    some = ("GRR", "Exponential, published", "OUE", "Exponential, tight", "Duchi", "Laplace, clamped", "Piecewise")
    compared = bp.compare(AGES, epsilons, n=10_000, purpose="mean")
    ax = panels(1, 1, (4.4, 3.6)).axes[0]
    return compared.plot("mean_error", ax, mechanisms=(*some, "BRR, padded, mean"))


def own_mechanism() -> Axes:
    """The error of the mean of every mechanism on five stars, and of two words."""
    matrix = [[0.7, 0.3], [0.6, 0.4], [0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]
    mood = bp.Custom(STARS, ["bad", "good"], matrix, epsilon=1)
    return bp.compare(STARS, 1, n=1000, purpose="mean", also={"mood": mood}).plot("mean_error")


def epsilon() -> Axes:
    """What somebody believes after a report, at most, against what they believed before."""

    def after(before: Array, epsilon: float) -> Array:
        return 100 / (1 + np.exp(-epsilon) * (100 / before - 1))

    # The colour of each ε, and where its name stands: on its curve, for all curves end in one point.
    drawn = {8: (PINK, 12), 4: (RED, 12), 2: (ORANGE, 20), 1: (GREEN, 30), 0.5: (BLUE, 50)}
    before = 100 * np.linspace(0.01, 1, 100) ** 2  # closer to each other where curves are steep
    with axes(None, (4.4, 3.2)) as ax:
        for each, (colour, at) in drawn.items():
            ax.plot(before, after(before, each), color=colour)
            name: dict[str, Any] = {"ha": "center", "va": "center", "bbox": {"color": "white", "pad": 0.5}}
            ax.text(at, after(np.array(at), each), f"ε = {each:g}", fontsize=8, **name)
        ax.plot(before, before, ":", color=INK)
        ax.text(60, 53, "no report", fontsize=8)
        ax.set(xlabel="how sure of something about you\nbefore your report, %", ylabel="after it, at most, %")
        ax.set(xlim=(0, 100), ylim=(0, 103))
        return describe(
            ax,
            "The most that one report can make anybody believe, against what they believed before. At ε = 1 it "
            "lifts 50 % to 73 %; at ε = 4 to 98 %; at ε = 8 anything above 1 % becomes near certainty.",
        )


def audits() -> Axes:
    """Trials that find that the real ε of randomised response exceeds the claimed one, against how much it does."""
    percents, colours = (2, 3, 5, 7, 10, 15, 20, 30, 40, 50), {0.5: GREY, 1.0: BLUE, 2.0: GREEN}
    trials = {
        f"claimed ε = {claimed:g}": [bp.trials_needed(claimed * (1 + percent / 100), claimed) for percent in percents]
        for claimed in colours
    }
    with axes(None, (4.4, 3.2)) as ax:
        ax.set(yscale="log", xlabel="how much larger the real ε is, %", ylabel="trials")
        ax.yaxis.set_major_formatter("{x:,.0f}")
        curves(ax, percents, trials, looks=dict(zip(trials, map(Look, colours.values()), strict=True)))
        return describe(
            ax,
            "Trials that find in 99 of 100 audits that the real ε of randomised response is too large. At a claimed ε "
            "of 1 120,000 for 5 %, 30,000 for 10 % and 1,400 for 50 %; about three times as many at 0.5, half as many "
            "at 2.",
        )


def pairs() -> Axes:
    """How many times the error of a pair as one value two reports at half its ε have, against ε."""
    epsilons = (0.5, 0.75, 1, 1.5, 2, 3, 4)
    drawn = {
        ("cells", 10, 10): Look(INK, 2.2),
        ("cells", 4, 4): Look(INK, 1.6, (4, 2)),
        ("correlation", 4, 4): Look(BLUE, 1.6, (4, 2)),
        ("correlation", 10, 10): Look(BLUE, 2.2),
        ("correlation", 40, 5): Look(BLUE, 1.6, (1.5, 1.5)),
    }

    def ratio(of: str, rows: int, columns: int, epsilon: float) -> float:
        domains = {"a": bp.Integers(1, rows), "b": bp.Integers(1, columns)}
        found = bp.split_or_sample(domains, epsilon, 10_000, of=of)
        assert found.split is not None and found.product is not None  # noqa: S101, PT018
        return found.split.score / found.product.score

    names = [f"{of}, {rows} × {columns}" for of, rows, columns in drawn]
    ratios = [[ratio(*each, epsilon) for epsilon in epsilons] for each in drawn]
    with axes(None, (4.4, 3.2)) as ax:
        ax.set(yscale="log", ylim=(0.6, 15), xlabel="ε of everything that a person reports")
        ax.set_ylabel("error of two reports\nover that of one about the pair")
        ax.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
        ax.set_yticks([], minor=True)
        ax.axhline(1, color=GREY, linewidth=1)
        ax.annotate("equal", (0.6, 1), (0, -10), textcoords="offset points", fontsize=8)
        looks = dict(zip(names, drawn.values(), strict=True))
        curves(ax, epsilons, dict(zip(names, ratios, strict=True)), looks=looks)
        return describe(
            ax,
            "How many times larger errors are where two attributes are reported at ε/2 each than where the pair "
            "is one value at ε. Cells: 13 times at ε = 0.5 for ten by ten values, 2.2 times at ε = 4. Correlation: 8 "
            "times for four by four at ε = 0.5; for forty by five two reports are better from about ε = 1.7 on.",
        )


def worst_input() -> Axes:
    """What each age pays with one set of anchors and with a lottery over sets."""
    # The set of anchors with the least worst-case error that a local search found for ε = 3.
    single = [21, 32, 47, 61, 76, 87]
    drawn = {
        "Anchored": (bp.Anchored(AGES, 3), Look(GREY, 1.6, (4, 2))),
        "best single set": (bp.Anchored(AGES, 3, anchors=single), Look(BLUE, 1.6)),
        "Minimax": (bp.Minimax(AGES, 3), Look(GREEN, 2.2)),
    }
    losses = {name: loss_of(made).by_value for name, (made, _) in drawn.items()}
    with axes(None, (4.4, 3.2)) as ax:
        ax.set(xlabel="true age", ylabel="expected error in years, ε = 3", ylim=(0, 15.5))
        curves(ax, AGES.to_numpy(), losses, looks={name: look for name, (_, look) in drawn.items()})
        return describe(
            ax,
            "Expected error at each true age for ε = 3. The best single set of anchors rises to 10.9 years half-way "
            "between its anchors; a lottery over sets is level at 9.1 years almost everywhere; anchors for equally "
            "likely ages rise to 14.6 years at the ends.",
        )


def means_saved() -> Axes:
    """How much less squared error reports have that need not be values, against the number of values."""

    def saved(size: int, epsilon: str) -> float:
        made = [
            bp.Anchored(bp.Integers(1, size), epsilon, loss="squared", outputs=each) for each in ("values", "means")
        ]
        values, means = (each.achieved_loss or 1.0 for each in made)
        return 100 * (1 - means / values)

    sizes, looks = range(2, 21), {"0.5": Look(GREEN, marker="s"), "1": Look(BLUE), "2": Look(GREY, marker="D")}
    with axes(None, (4.4, 2.8)) as ax:
        ax.set(xlabel="number of equally likely values", ylabel="squared error saved, %", xlim=(-1.2, 20.5))
        for epsilon, look in looks.items():
            found = [saved(size, epsilon) for size in sizes]
            ax.plot(sizes, found, **look.line() | look.points() | {"linewidth": 1})
            ax.text(1.6, found[0], f"ε = {epsilon}", color=look.color, ha="right", va="center", fontsize=8)
        ax.set_xticks([2, 5, 10, 15, 20])
        return describe(
            ax,
            "How much less squared error reports have that need not be values. Two values save 38, 27 and 12 % at "
            "ε = 0.5, 1 and 2; above ten values next to nothing is saved.",
        )


PICTURES: dict[str, Callable[[], Drawn]] = {
    each.__name__: each
    for each in (
        *(report, tutorial_ages, estimate_ages, estimate_clamped, estimate_region_shares, circle_report),
        *(circle_estimate, product, advisor_mean, own_mechanism, epsilon, audits, pairs, worst_input, means_saved),
    )
}


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        (STATIC / f"{name}.svg").write_text(as_svg(PICTURES[name]) + "\n", encoding="utf-8")

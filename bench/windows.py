"""How well statistics come out of padded BRR with a window chosen for them, beside the Square Wave, by one estimator.

``python bench/windows.py [repetitions]`` draws 100,000 people from each of five shapes, lets the mechanisms report on
the same people with the same random words, and estimates the distributions by EM with smoothing. A ratio of errors
below 1 means that padded BRR came nearer than the Square Wave. Its interval has a confidence of 95 %: repetitions,
always both mechanisms of one, are drawn again with replacement (bootstrap).

First ``m="cdf"`` by the Wasserstein-1 error: the mean of |F̂ − F| over the bins, on the unit interval, F that of the
people drawn. The line "all" is the ratio of the errors averaged over the shapes, on which the goal of at most 1.02 is
read. Then every choice of m on 256 bins at all three questions: the absolute error of the mean, the Wasserstein-1
error, and the root mean square error of the bins, averaged over the shapes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

import bipartite as bp
from reproduction.ems import ems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

EPSILONS = (0.5, 1, 2, 3)
BINS = (256, 1024)
PEOPLE = 100_000
REPETITIONS = 20
RESAMPLES = 10_000
MOST = 1.02
QUESTIONS = ("mean", "cdf", "histogram")


def shapes(bins: int) -> dict[str, Array]:
    """Five populations on the bins of the unit interval."""
    x = (np.arange(bins) + 0.5) / bins

    def beta(a: float, b: float) -> Array:
        return _normed(x ** (a - 1) * (1 - x) ** (b - 1))

    spike = 0.7 * beta(2, 3)
    spike[0] += 0.3
    return {
        "beta(2, 5)": beta(2, 5),
        "two humps": 0.5 * beta(4, 12) + 0.5 * beta(14, 5),
        "spike at an end": spike,
        "uniform": np.full(bins, 1 / bins),
        "heavy tail": _normed((1 + 20 * x) ** -2.5),
    }


def _normed(weights: Array) -> Array:
    shares: Array = weights / weights.sum()
    return shares


def errors(mechanisms: list[bp.BRR], shape: Array, seed: int) -> list[list[float]]:
    """The errors (mean, cdf, histogram) of each mechanism on the same people, with the same words."""
    bins = len(shape)
    people = np.random.default_rng(seed).choice(bins, PEOPLE, p=shape)
    truth = np.bincount(people, minlength=bins) / PEOPLE
    middles = (np.arange(bins) + 0.5) / bins
    found = []
    for mechanism in mechanisms:
        reports = mechanism.privatize(people, rng=bp.insecure_seed(seed)) + mechanism.m // 2
        counts = np.bincount(reports, minlength=len(mechanism.outputs)).astype(np.float64)
        off = ems(mechanism.matrix(), counts)[0] - truth
        found.append([abs(float(off @ middles)), float(np.abs(np.cumsum(off)).mean()), float(np.sqrt((off**2).mean()))])
    return found


def measured(mechanisms: list[bp.BRR], repetitions: int) -> dict[str, Array]:
    """Errors by repetition, mechanism and question for every shape, and their average over the shapes."""
    by_shape = {
        name: np.array([errors(mechanisms, shape, seed) for seed in range(repetitions)])
        for name, shape in shapes(len(mechanisms[0].domain)).items()
    }
    return by_shape | {"all": np.mean(list(by_shape.values()), axis=0)}


def ratio(pairs: Array) -> tuple[float, float, float]:
    """(the ratio of mean errors, both ends of its interval) of rows (padded BRR, Square Wave)."""
    rng = np.random.default_rng(1)
    drawn = pairs[rng.integers(len(pairs), size=(RESAMPLES, len(pairs)))].mean(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    ours, theirs = pairs.mean(axis=0)
    return float(ours / theirs), float(low), float(high)


def distributions(repetitions: int) -> None:
    """``m="cdf"`` beside the Square Wave: a line for every number of bins, ε and shape."""
    print(f"{'bins':>5} {'ε':>4} {'m':>5} {'m of SW':>8}  {'shape':16} {'BRR':>6} {'SW':>6}  ratio, 95 % interval")
    worst = 0.0
    for bins in BINS:
        for epsilon in EPSILONS:
            domain = bp.Integers(0, bins - 1)
            mechanisms = [bp.BRR(domain, epsilon, m="cdf", edges="padded"), bp.SquareWave(domain, epsilon)]
            found = {name: rows[:, :, 1] for name, rows in measured(mechanisms, repetitions).items()}
            worst = max(worst, ratio(found["all"])[0])
            for name, pairs in found.items():
                middle, low, high = ratio(pairs)
                ours, theirs = 1e4 * pairs.mean(axis=0)
                print(
                    f"{bins:5} {epsilon:4} {mechanisms[0].m:5} {mechanisms[1].m:8}  {name:16} {ours:6.1f} {theirs:6.1f}"
                    f"  {middle:.3f} [{low:.3f}, {high:.3f}]",
                    flush=True,
                )
    print(f"largest ratio of errors averaged over the shapes: {worst:.3f} (goal: at most {MOST})")


def every_question(repetitions: int) -> None:
    """Every choice of m at every question, as ratios to the Square Wave."""
    print(f"\n{'ε':>4} {'m':>17}" + "".join(f"  {'error of the ' + question:22}" for question in QUESTIONS))
    domain = bp.Integers(0, BINS[0] - 1)
    for epsilon in EPSILONS:
        chosen = [bp.BRR(domain, epsilon, m=question, edges="padded") for question in QUESTIONS]
        found = measured([*chosen, bp.SquareWave(domain, epsilon)], repetitions)["all"]
        for i, (question, mechanism) in enumerate(zip(QUESTIONS, chosen, strict=True)):
            cells = [ratio(found[:, [i, -1], column]) for column in range(len(QUESTIONS))]
            shown = "".join(f"  {middle:.3f} [{low:.3f}, {high:.3f}]  " for middle, low, high in cells)
            print(f"{epsilon:4} {question:>9} ({mechanism.m:5}){shown}", flush=True)


def main() -> None:
    """Print both tables."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    print(f"{PEOPLE:,} people, {repetitions} paired repetitions, EM with smoothing; Wasserstein-1 errors × 10⁴")
    distributions(repetitions)
    every_question(repetitions)


if __name__ == "__main__":
    main()

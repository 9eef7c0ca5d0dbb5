"""How often intervals hold the truth, how wide they are, and how far the default histogram is from the truth.

    python bench/error_bars.py [--repetitions 100] [--jobs 2] [--only coverage accuracy mechanisms] [--new-shapes]

For every cell people are drawn afresh from a population of a stated shape. A person's report is distributed as fᵀP
whoever the person was, and people are drawn independently, so the counts of their reports are **exactly**
multinomial(n, fᵀP): they are drawn as such. Two rules of the library (smoothing up to the uniform law; a fitted curve
above 32 values) and the counting of degrees of freedom were settled after a look at earlier tables of the seven usual
shapes; ``--new-shapes`` takes five others, which were first measured when all rules stood.

Coverage is the share of repetitions in which a 95 % interval holds the truth. Width is relative: the mean width over
2·1.96 standard errors of the best unbiased answer for this very population, √((wᵀI⁻¹w − θ²)/n) with the information
matrix I = P·diag(1/fᵀP)·Pᵀ. A quantile is a whole number and has no such bound: its width is in values. The distance
is that of Wasserstein over the number of values, between the cumulative distributions; Square Wave + EMS is computed
here from scratch (Li et al., SIGMOD 2020), with reports of its own.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import bipartite as bp
from bipartite.answers.estimation import Estimate
from reproduction.ems import ems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Cell = tuple[str, str, str, int, float, int]

Z: Final = 1.959964
EPSILONS: Final = (0.2, 1.0, 5.0)
PEOPLE: Final = (300, 5_000, 200_000)
QUANTILES: Final = (0.25, 0.5, 0.9)
MECHANISMS: Final[dict[str, Callable[[Any, float], Any]]] = {
    "BRR padded, m=cdf": lambda domain, epsilon: bp.BRR(domain, epsilon, edges="padded", m="cdf"),
    "BRR padded, m=mean": lambda domain, epsilon: bp.BRR(domain, epsilon, edges="padded", m="mean"),
    "BRR clamped": bp.BRR,
    "Square Wave": bp.SquareWave,
    "GRR": bp.GRR,
    "Geometric": bp.Geometric,
    "Exponential": bp.Exponential,
}
PLAIN: Final = "BRR padded, m=cdf"
SOLVED: Final = 1e-6


def shape(name: str, size: int) -> Array:
    """The shares of all values in a population of this shape."""
    t, at = (np.arange(size) + 0.5) / size, np.arange(size)

    def bell(middle: float, wide: float) -> Array:
        return np.exp(-(((t - middle) / wide) ** 2) / 2)

    def spikes(*shares: tuple[int, float]) -> Array:
        return np.asarray(sum(share * (at == where) for where, share in shares), dtype=np.float64)

    f = {
        "ends": spikes((0, 0.4), (size - 1, 0.6)),
        "two spikes": spikes((int(0.22 * size), 0.65), (int(0.81 * size), 0.35)),
        "narrow pair": bell(0.62, 0.02) + 0.7 * bell(0.74, 0.02),
        "zipf": 1 / (1 + at) ** 1.1,
        "heavy tail": 1 / (1 + ((t - 0.3) / 0.04) ** 2) ** 1.1,
        "beta(2, 5)": t * (1 - t) ** 4,
        "uniform": np.ones(size),
        "three clusters": bell(0.15, 0.05) + 0.6 * bell(0.5, 0.05) + 0.3 * bell(0.9, 0.05),
        "sawtooth": (8 * t) % 1 + 0.05,
        "geometric decay": 0.93**at,
        "nearly all alike": 0.01 / size + spikes((int(0.37 * size), 0.99)),
        "block": ((at >= 2 * size // 5) & (at < 13 * size // 20)).astype(np.float64),
    }[name]
    return np.asarray(f / f.sum())


SHAPES: Final = ("ends", "two spikes", "narrow pair", "zipf", "heavy tail", "beta(2, 5)", "uniform")
NEW_SHAPES: Final = ("three clusters", "sawtooth", "geometric decay", "nearly all alike", "block")


def quantile(f: Array, q: float) -> int:
    """The least value that a share q is up to."""
    return int(np.searchsorted(f.cumsum(), q - 1e-12))


def efficient(matrix: Array, f: Array, w: Array, people: int) -> float:
    """The least standard error of an unbiased answer for this population; NaN where there is none."""
    information = (matrix / (f @ matrix)) @ matrix.T
    solved, *_ = np.linalg.lstsq(information, w, rcond=1e-13)
    if np.abs(information @ solved - w).max() > SOLVED:
        return math.nan
    return math.sqrt(max(float(w @ solved - (f @ w) ** 2), 0.0) / people)


def square_wave_ems(f: Array, epsilon: float, people: int, chance: np.random.Generator) -> Array:
    """Square Wave + EMS from scratch, on reports of its own."""
    size, e = len(f), math.exp(epsilon)
    b = int(size * (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon)))
    outputs = size + 2 * b
    low = 1 / ((2 * b + 1) * e + size - 1)
    at = np.arange(outputs) - np.arange(size)[:, None]
    matrix = np.where((at >= 0) & (at <= 2 * b), e * low, low)
    counts = chance.multinomial(people, f @ matrix)
    g, before = np.full(size, 1 / size), -math.inf
    for _ in range(10_000):
        g *= matrix @ (counts / (g @ matrix)) / people
        inside = (g[:-2] + 2 * g[1:-1] + g[2:]) / 4
        g = np.concatenate([[(2 * g[0] + g[1]) / 3], inside, [(2 * g[-1] + g[-2]) / 3]])
        g /= g.sum()
        value = float(counts @ np.log(g @ matrix))
        if abs(value - before) < 1e-3 * e:
            break
        before = value
    return g


def measured(job: tuple[Cell, int]) -> dict[str, Any]:
    """One cell: how often each interval held, its mean width, and the distances of the histograms."""
    (kind, mechanism_name, shape_name, size, epsilon, people), repetitions = job
    mechanism = MECHANISMS[mechanism_name](bp.Integers(0, size - 1), epsilon)
    matrix, f = mechanism.matrix(), shape(shape_name, size)
    running = f.cumsum()
    numbers = np.arange(size, dtype=np.float64)
    asked: dict[str, tuple[Any, float, float]] = {
        "mean": ("mean", float(f @ numbers), efficient(matrix, f, numbers, people))
    }
    for value in sorted({quantile(f, 0.1), size // 3, int(0.8 * size)}):
        step = (numbers <= value).astype(np.float64)
        asked[f"cdf({value})"] = (("cdf", value), float(running[value]), efficient(matrix, f, step, people))
    for q in QUANTILES:
        asked[f"q{q}"] = (("quantile", q), float(quantile(f, q)), math.nan)
    if hasattr(Estimate, "ranges"):
        inside = ((numbers >= size // 5) & (numbers < size // 2)).astype(np.float64)
        of = ("range", size // 5, size // 2 - 1)
        asked["range"] = (of, float(f @ inside), efficient(matrix, f, inside, people))
    chance = np.random.default_rng([len(shape_name), size, int(10 * epsilon), people, len(mechanism_name)])
    held: dict[str, list[bool]] = {name: [] for name in asked}
    widths: dict[str, list[float]] = {name: [] for name in asked}
    inside_own, methods = [], []
    distances: dict[str, list[float]] = {"default": [], "em": [], "ems": [], "Square Wave + EMS": []}
    for _ in range(repetitions):
        counts = chance.multinomial(people, f @ matrix)
        estimate = bp.estimate(mechanism, counts=counts)
        methods.append(estimate.method)
        distances["default"].append(float(np.abs(estimate.cdf() - running).mean()))
        if kind != "accuracy":
            for name, (of, truth, _) in asked.items():
                low, high = estimate.interval(0.95, of=of)
                held[name].append(low - 1e-9 <= truth <= high + 1e-9)
                widths[name].append(high - low)
                point = estimate.mean if of == "mean" else None
                point = estimate.cdf(of[1]) if of[0] == "cdf" else point
                point = estimate.quantile(of[1]) if of[0] == "quantile" else point
                if point is not None:
                    inside_own.append(low - 1e-9 <= point <= high + 1e-9)
            continue
        others = {"em": bp.estimate(mechanism, counts=counts, method="em").cdf(), "ems": ems(matrix, counts)[0].cumsum()}
        for method, other in others.items():
            distances[method].append(float(np.abs(other - running).mean()))
        own = square_wave_ems(f, epsilon, people, chance)
        distances["Square Wave + EMS"].append(float(np.abs(own.cumsum() - running).mean()))
    return {
        "cell": (kind, mechanism_name, shape_name, size, epsilon, people),
        "held": {name: float(np.mean(each)) for name, each in held.items() if each},
        "width": {
            name: float(np.mean(each)) / (1.0 if math.isnan(asked[name][2]) else 2 * Z * asked[name][2])
            for name, each in widths.items()
            if each
        },
        "inside": float(np.mean(inside_own)) if inside_own else math.nan,
        "distance": {name: float(np.mean(each)) for name, each in distances.items() if each},
        "methods": {name: methods.count(name) for name in sorted(set(methods))},
    }


def cells(only: list[str], shapes: tuple[str, ...]) -> Iterator[Cell]:
    """What is measured."""
    for epsilon in EPSILONS:
        for people in PEOPLE:
            for name in shapes:
                size = 1000 if name == "zipf" else 100
                if "coverage" in only:
                    yield "coverage", PLAIN, name, size, epsilon, people
                if "accuracy" in only:
                    yield "accuracy", PLAIN, name, size, epsilon, people
    if "mechanisms" in only:
        for mechanism in MECHANISMS:
            for name in shapes:
                if mechanism != PLAIN:
                    yield "mechanisms", mechanism, name, 100, 1.0, 5_000


def main() -> None:
    """Measure, and print a line for every cell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=["coverage", "accuracy", "mechanisms"])
    parser.add_argument("--new-shapes", action="store_true")
    options = parser.parse_args()
    shapes = NEW_SHAPES if options.new_shapes else SHAPES
    # A thousand values take longer, so they get fewer repetitions.
    jobs = [
        (cell, -(-options.repetitions * 100 // max(4 * cell[3] // 10, 100))) for cell in cells(options.only, shapes)
    ]
    # Long cells first, so that no core waits for one at the end.
    jobs.sort(key=lambda job: -job[0][3])
    with ProcessPoolExecutor(options.jobs) as pool:
        for found in pool.map(measured, jobs):
            kind, mechanism, name, size, epsilon, people = found["cell"]
            print(f"{kind}: {mechanism}, {name}, N = {size}, ε = {epsilon:g}, n = {people:,}; {found['methods']}")
            if found["distance"].get("em") is not None:
                print("  distance " + ", ".join(f"{which} {far:.5f}" for which, far in found["distance"].items()))
            else:
                print(
                    "  "
                    + ", ".join(f"{of} {held:.2f} (×{found['width'][of]:.2f})" for of, held in found["held"].items())
                    + f"; points in their intervals {found['inside']:.3f}"
                )
            sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Why intervals of quantiles hold more often than they say: whole values, and likelihood on smooth populations.

    python bench/quantile_levels.py [--repetitions 100] [--only unbiased likelihood drops]

``unbiased`` (GRR) and ``likelihood`` (padded BRR): how often 95 % intervals miss below and above, for a quantile q as
asked, for q = F(v) exactly, which takes away what whole values add on the lower side, and for the share F(v) up to that
value. The width of a quantile times f(v) is to be compared with the width of F(v): an interval of a quantile that is
the inversion of the intervals of shares has about the same.

``drops``: twice the log-likelihood that the truth of F(v) costs, its 95 % point over samples. It is compared with χ²:
3.84 with one degree of freedom. The interval misses where it is more than χ² with the degrees counted there.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

import bipartite as bp
from bipartite.answers.estimation.em import fit_em
from bipartite.answers.estimation.intervals import chi_square_quantile
from bipartite.answers.estimation.likelihood import Cells, Model
from bipartite.lottery import Dense
from error_bars import quantile, shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SURE: Final = 0.95
SMOOTH: Final = ("beta(2, 5)", "uniform", "sawtooth", "three clusters")
ROUGH: Final = ("two spikes", "block", "narrow pair")


def padded(size: int, epsilon: float) -> Any:  # noqa: ANN401 (bp.BRR is loaded when it is asked for)
    """The mechanism for shares up to a value."""
    return bp.BRR(bp.Integers(0, size - 1), epsilon, edges="padded", m="cdf")


def misses(mechanism: Any, name: str, people: int, repetitions: int, method: Literal["auto", "inverse"]) -> str:  # noqa: ANN401
    """One line: held, missed below and above, and width, three times."""
    size = len(mechanism.domain)
    matrix, f = mechanism.matrix(), shape(name, size)
    running, rng = f.cumsum(), np.random.default_rng([size, people])
    found = np.zeros((3, 3))
    values = [quantile(f, q) for q in (0.25, 0.5, 0.9)]
    for _ in range(repetitions):
        estimate = bp.estimate(mechanism, counts=rng.multinomial(people, f @ matrix), method=method)
        for q, v in zip((0.25, 0.5, 0.9), values, strict=True):
            for at, level in enumerate((q, float(running[v]) - 1e-12)):
                low, high = estimate.interval(SURE, of=("quantile", level))
                found[at] += v < low, v > high, (high - low) * f[v]
            low, high = estimate.interval(SURE, of=("cdf", v))
            found[2] += running[v] > high, running[v] < low, high - low
    found /= 3 * repetitions
    each = (
        f"{which} {1 - low - high:.3f} (below {low:.3f}, above {high:.3f}), width {wide:.4f}"
        for which, (low, high, wide) in zip(("as asked", "q = F(v)", "F(v)"), found, strict=True)
    )
    return f"{name}, N = {size}, n = {people:,}: " + "; ".join(each)


def drop_at(matrix: Array, counts: Array, w: Array, truth: float) -> tuple[float, int]:
    """(twice the log-likelihood that w·f = truth costs, the degrees of freedom counted there), by bisection."""
    model, operator, people = Model(matrix, counts), Dense(matrix), float(counts.sum())
    top = model.top
    begun = float(w @ top.frequencies)
    sign = math.copysign(1.0, truth - begun)
    near, far, low, high = top, None, 0.0, math.nan
    tilt = sign / math.sqrt(people)
    for _ in range(40):
        fit = fit_em(operator, counts, start=near.frequencies, tilt=tilt * w)
        if sign * (float(w @ fit.frequencies) - truth) >= 0:
            far, high = fit, tilt
        else:
            near, low = fit, tilt
        if abs(high - low) < 1e-4 * abs(high):
            break
        tilt = 3 * tilt if math.isnan(high) else (low + high) / 2
    far = far or near
    first, second = float(w @ near.frequencies), float(w @ far.frequencies)
    part = 0.0 if first == second else min(max((truth - first) / (second - first), 0.0), 1.0)
    mixed = (1 - part) * near.frequencies + part * far.frequencies
    fewest = min(model.values_in_use(each) for each in (near, far))
    return 2 * (top.log_likelihood - model.likelihood(mixed)), max(model.values_in_use(top) - fewest + 1, 1)


def drops(name: str, epsilon: float, people: int, repetitions: int) -> Iterator[str]:
    """A line for the share up to each of three values."""
    mechanism, f = padded(100, epsilon), shape(name, 100)
    cells, rng = Cells.of(mechanism.lottery.channel(), together=True), np.random.default_rng(3)
    for at in sorted({quantile(f, 0.1), 33, 80}):
        w = 1.0 * (np.arange(100) <= at)
        found = []
        for _ in range(repetitions):
            counts = cells.counts(rng.multinomial(people, f @ mechanism.matrix()).astype(np.float64))
            found.append(drop_at(cells.matrix, counts, w, float(w @ f)))
        costs = np.array([cost for cost, _ in found])
        counted = np.mean([cost > chi_square_quantile(SURE, degrees) for cost, degrees in found])
        yield (
            f"{name}, ε = {epsilon:g}, n = {people:,}, F({at}) = {w @ f:.3f}: 95 % point "
            f"{np.quantile(costs, SURE):.2f}; missed with one degree "
            f"{np.mean(costs > chi_square_quantile(SURE, 1)):.3f}, as counted {counted:.3f}"
        )


def main() -> None:
    """Measure, and print a line for every cell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--only", nargs="+", default=["unbiased", "likelihood", "drops"])
    options = parser.parse_args()
    many = options.repetitions
    if "unbiased" in options.only:
        for name, size, people in (
            (n, s, p) for n in ("beta(2, 5)", "uniform") for s in (100, 256) for p in (5_000, 200_000)
        ):
            print("unbiased:", misses(bp.GRR(bp.Integers(0, size - 1), 3), name, people, many, "inverse"), flush=True)
    if "drops" in options.only:
        for name in (*SMOOTH, *ROUGH):
            for epsilon, people in ((1.0, 5_000), (1.0, 200_000), (5.0, 5_000)):
                for line in drops(name, epsilon, people, many):
                    print("drops:", line, flush=True)
    if "likelihood" in options.only:
        for name in SMOOTH[:2]:
            print("likelihood:", misses(padded(256, 1.0), name, 200_000, max(many // 10, 1), "auto"), flush=True)


if __name__ == "__main__":
    main()

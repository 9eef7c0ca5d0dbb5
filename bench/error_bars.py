"""How often 95 % intervals hold the truth: five shapes of a population, three mechanisms, 4,000 samples of each.

``python bench/error_bars.py [--repetitions 4000] [--smoothed 1000] [--jobs 2]``

The line has 256 values, ε = 1, and 20,000 people are drawn afresh from the shape for every repetition, so that the
truth is the population's. A person's report is distributed as fᵀP whoever the person was, and people are drawn
independently, so the counts of their reports are **exactly** multinomial(n, fᵀP): they are drawn as such. The control
at the end draws people and privatises every one of them by ``privatize`` instead.

What is asked of it: means 93 to 97 %; quantiles at least 93 % (their intervals assume nothing and are wide, so the
width stands beside); shares of values 94 to 96 %, averaged over all values, where they are unbiased. Smoothed shares
(EMS) are biased, so that what their intervals really hold is shown without a target; fewer repetitions are enough for
an average over 256 values.

Beside each figure stands its own 95 % interval: Clopper–Pearson for what is true or not in each repetition; for
averages over values, which go together within a repetition, 1.96 standard errors over repetitions.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import bipartite as bp
from bipartite.verification.binomial import lower_bound, upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

VALUES: Final = 256
PEOPLE: Final = 20_000
QUANTILES: Final = (0.25, 0.5, 0.9)
DOMAIN: Final = bp.Interval(0, 1, points=VALUES)
MECHANISMS: Final[dict[str, Callable[[], Any]]] = {
    "padded BRR": lambda: bp.BRR(DOMAIN, epsilon=1, edges="padded"),
    "GRR": lambda: bp.GRR(DOMAIN, epsilon=1),
    "Square Wave": lambda: bp.SquareWave(DOMAIN, epsilon=1),
}
SHAPES: Final = ("beta(2, 5)", "two humps", "spike at an edge", "uniform", "heavy tail")
WIDTH: Final = NormalDist().inv_cdf(0.975)
CHUNK: Final = 250
CONTROLS: Final = 1000
TARGETS: Final = {"mean": (0.93, 0.97), "shares": (0.94, 0.96), **dict.fromkeys(map(str, QUANTILES), (0.93, 1.0))}


def shape(name: str) -> Array:
    """The shares of all values in a population of this shape; none is zero."""
    t = (np.arange(VALUES) + 0.5) / VALUES
    if name == "beta(2, 5)":
        f = t * (1 - t) ** 4
    elif name == "two humps":
        f = np.exp(-0.5 * ((t - 0.25) / 0.06) ** 2) + 0.6 * np.exp(-0.5 * ((t - 0.7) / 0.1) ** 2) + 1e-4
    elif name == "spike at an edge":
        # Three in ten people have the lowest value.
        f = np.full(VALUES, 0.7 / VALUES)
        f[0] += 0.3
    elif name == "uniform":
        f = np.ones(VALUES)
    else:
        # A Pareto tail with exponent 1.5: the mean of the part beyond a value grows with the value.
        f = (1 + 100 * t) ** -2.5
    return f / f.sum()


@functools.lru_cache
def mechanism(name: str) -> Any:  # noqa: ANN401 (three classes)
    """One of the mechanisms, built once in every process."""
    return MECHANISMS[name]()


def quantile(f: Array, q: float) -> float:
    """The least value that at least a share q is up to."""
    return float(DOMAIN.decode(int(np.searchsorted(f.cumsum(), q - 1e-12))))


def law(name: str, f: Array) -> Array:
    """How reports are distributed: by the matrix, not by the code that estimates."""
    return f @ mechanism(name).matrix()


def holds(interval: tuple[float, float], truth: float) -> bool:
    """Whether an interval holds the truth, but for rounding."""
    return interval[0] - 1e-12 <= truth <= interval[1] + 1e-12


def shares_held(estimate: Any, f: Array) -> Array:  # noqa: ANN401
    """For each value whether the interval of its share holds: ``estimate.interval(of=("bin", value))`` for all."""
    shares, half = estimate.frequencies, WIDTH * estimate.standard_errors
    held: Array = (np.clip(shares - half, 0, 1) <= f) & (f <= np.clip(shares + half, 0, 1))
    return held


def answered(estimate: Any, f: Array) -> tuple[list[float], list[float]]:  # noqa: ANN401
    """(what holds: mean, quantiles, average over shares; the widths of the same)."""
    intervals = [estimate.interval(0.95, of=of) for of in ("mean", *(("quantile", q) for q in QUANTILES))]
    truths = [float(f @ DOMAIN.to_numpy()), *(quantile(f, q) for q in QUANTILES)]
    held = [float(holds(interval, truth)) for interval, truth in zip(intervals, truths, strict=True)]
    widths = [high - low for low, high in intervals]
    return [*held, shares_held(estimate, f).mean()], [*widths, 2 * WIDTH * estimate.standard_errors.mean()]


def unbiased(name: str, of: str, seed: list[int], repetitions: int) -> Any:  # noqa: ANN401
    """For each repetition what holds and the widths, by unbiased scores."""
    f = shape(of)
    generator = np.random.default_rng(seed)
    reports = generator.multinomial(PEOPLE, law(name, f), repetitions)
    return np.array([answered(bp.estimate(mechanism(name), counts=row, method="inverse"), f) for row in reports])


def smoothed(name: str, of: str, seed: list[int], repetitions: int) -> Any:  # noqa: ANN401
    """For each repetition the share of values whose interval by EMS holds, their mean width, and the bias."""
    f = shape(of)
    generator = np.random.default_rng(seed)
    found = []
    for row in generator.multinomial(PEOPLE, law(name, f), repetitions):
        estimate = bp.estimate(mechanism(name), counts=row, method="ems")
        found.append((shares_held(estimate, f).mean(), 2 * WIDTH * estimate.standard_errors.mean()))
    return np.array(found)


def privatised(name: str, of: str, seed: list[int], repetitions: int) -> Any:  # noqa: ANN401
    """The control: people are drawn, and each one's value is privatised (with a seed, for this table only)."""
    f, values = shape(of), DOMAIN.to_numpy()
    generator = np.random.default_rng(seed)
    found = []
    for number in range(repetitions):
        people = generator.choice(values, PEOPLE, p=f)
        reports = mechanism(name).privatize(people, rng=bp.insecure_seed(1_000_003 * seed[-1] + number))
        found.append(answered(bp.estimate(mechanism(name), reports, method="inverse"), f))
    return np.array(found)


def of_sample(name: str, of: str, seed: list[int], repetitions: int) -> Any:  # noqa: ANN401
    """Whether the interval for the people who answered holds their own mean; beside it that for a population."""
    f, values = shape(of), DOMAIN.to_numpy()
    matrix = mechanism(name).matrix()
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(repetitions):
        people = generator.multinomial(PEOPLE, f)
        reports = generator.multinomial(people, matrix).sum(axis=0)
        truth = float(people @ values) / PEOPLE
        both = [bp.estimate(mechanism(name), counts=reports, method="inverse", of_sample=own) for own in (True, False)]
        intervals = [estimate.interval() for estimate in both]
        found.append([[holds(each, truth) for each in intervals], [high - low for low, high in intervals]])
    return np.array(found, dtype=np.float64)


def differing(name: str, of: str, seed: list[int], repetitions: int) -> Any:  # noqa: ANN401
    """Whether two samples of one population are called different at 5 %: by their means, by their distributions."""
    generator = np.random.default_rng(seed)
    reports = generator.multinomial(PEOPLE, law(name, shape(of)), (repetitions, 2))
    found = []
    for pair in reports:
        first, second = (bp.estimate(mechanism(name), counts=row, method="inverse") for row in pair)
        found.append([bp.difference(first, second, of=what).p_value < 0.05 for what in ("mean", "distribution")])  # noqa: PLR2004
    return np.array(found, dtype=np.float64)


def chunks(work: Callable[..., Any], repetitions: int, cases: list[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
    """Pieces of work, each with a seed of its own, so that the tables do not depend on the number of jobs."""
    kind = (unbiased, smoothed, privatised, of_sample, differing).index(work)
    for case in cases:
        place = list(MECHANISMS).index(case[0]) * len(SHAPES) + SHAPES.index(case[1])
        for first in range(0, repetitions, CHUNK):
            yield work, *case, [2026, kind, place, first], min(CHUNK, repetitions - first)


def run(pieces: list[tuple[Any, ...]], jobs: int) -> dict[tuple[str, str, str], Any]:
    """All repetitions of every case, in order."""
    began, talk = time.monotonic(), sys.stderr.isatty()
    parts: dict[int, Any] = {}
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(*piece): number for number, piece in enumerate(pieces)}
        for future in as_completed(waiting):
            parts[waiting[future]] = future.result()
            if talk:
                spent = time.monotonic() - began
                left = spent / len(parts) * (len(pieces) - len(parts))
                print(f"\r{len(parts)} of {len(pieces)} pieces, about {left:.0f} s left ", end="", file=sys.stderr)
    if talk:
        print(file=sys.stderr)
    found: dict[tuple[str, str, str], Any] = {}
    for number, (work, name, of, *_) in enumerate(pieces):
        found.setdefault((work.__name__, name, of), []).append(parts[number])
    return {key: np.concatenate(each) for key, each in found.items()}


def proportion(hits: Array) -> str:
    """A share of repetitions in percent, with its Clopper–Pearson interval."""
    count, trials = int(hits.sum()), len(hits)
    low, high = lower_bound(count, trials, 0.025), upper_bound(count, trials, 0.025)
    return f"{100 * count / trials:5.1f} [{100 * low:4.1f}, {100 * high:5.1f}]"


def average(parts: Array) -> str:
    """An average over repetitions in percent, with 1.96 standard errors."""
    half = WIDTH * parts.std(ddof=1) / np.sqrt(len(parts))
    return f"{100 * parts.mean():5.1f} ± {100 * half:.1f}"


def main() -> int:
    """Print the tables; 1 where a figure misses what is asked of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--smoothed", type=int, default=1000, help="repetitions of EMS (default 1000)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    cases = [(name, of) for name in MECHANISMS for of in SHAPES]
    one = [("padded BRR", "beta(2, 5)")]
    controls = min(CONTROLS, options.repetitions)
    pieces = [
        *chunks(unbiased, options.repetitions, cases),
        *chunks(smoothed, options.smoothed, cases),
        *chunks(privatised, controls, one),
        *chunks(of_sample, options.repetitions, one),
        *chunks(differing, options.repetitions, one),
    ]
    began = time.monotonic()
    check_shares(*one[0])
    found = run(pieces, options.jobs)
    print(f"{VALUES} values on [0, 1], ε = 1, {PEOPLE:,} people, intervals of 95 %; what they held, in percent")
    missed = show(found, cases, options)
    print_controls(found, one[0], controls, options.repetitions)
    for each in missed:
        print(f"MISSED: {each}")
    print(f"{time.monotonic() - began:.0f} s with {options.jobs} jobs; load average {os.getloadavg()[0]:.1f}")
    return int(bool(missed))


def check_shares(name: str, of: str) -> None:
    """The vectorised intervals of shares are those that a user gets one by one."""
    f = shape(of)
    for method in ("inverse", "ems"):
        estimate = bp.estimate(mechanism(name), counts=np.rint(PEOPLE * law(name, f)).astype(int), method=method)
        one_by_one = [estimate.interval(0.95, of=("bin", value)) for value in DOMAIN.to_numpy()]
        half = WIDTH * estimate.standard_errors
        ends = (np.clip(estimate.frequencies + side * half, 0, 1) for side in (-1, 1))
        assert np.allclose(one_by_one, np.stack(list(ends), axis=1), rtol=1e-9, atol=1e-15)


def show(
    found: dict[tuple[str, str, str], Any], cases: list[tuple[str, str]], options: argparse.Namespace
) -> list[str]:
    """The main table; returns what missed its target."""
    missed = []
    print(f"\nunbiased (method='inverse'), {options.repetitions} repetitions; widths as averages, of the range 0 to 1")
    names = ("mean", *map(str, QUANTILES))
    heads = ("mean, 93 to 97", *(f"quantile {q}, ≥ 93" for q in QUANTILES))
    print(f"{'':29}" + "".join(f"{head:>29}" for head in heads) + f"{'shares, 94 to 96':>24}")
    for name, of in cases:
        held, widths = found["unbiased", name, of].transpose(1, 2, 0)
        cells = [f"{proportion(hits)} w {width.mean():.4f}" for hits, width in zip(held[:-1], widths[:-1], strict=True)]
        shares = f"{average(held[-1])} w {widths[-1].mean():.4f}"
        print(f"{name:12}{of:17}" + "".join(f"{cell:>29}" for cell in cells) + f"{shares:>24}")
        for what, hits in zip((*names, "shares"), held, strict=True):
            low, high = TARGETS[what]
            if not low <= hits.mean() <= high:
                missed.append(f"{name}, {of}, {what}: {hits.mean():.4f}")
    print(f"\nsmoothed (method='ems'), {options.smoothed} repetitions: shares that intervals held, biased, no target")
    print(f"{'':29}{'shares':>12}   their width   of an unbiased one")
    for name, of in cases:
        held, width = found["smoothed", name, of].T
        plain = found["unbiased", name, of][:, 1, -1].mean()
        print(f"{name:12}{of:17}{average(held):>12}   {width.mean():11.5f}   {plain:.5f}")
    return missed


def print_controls(
    found: dict[tuple[str, str, str], Any], case: tuple[str, str], controls: int, repetitions: int
) -> None:
    """The control by real reports, the sample's own mean, and what two samples of one population say."""
    held = found["privatised", *case][:, 0].T
    print(f"\ncontrol: people drawn and privatised one by one, {', '.join(case)}, {controls} repetitions")
    print(
        "mean " + proportion(held[0]),
        *(f"{q}: {proportion(hits)}" for q, hits in zip(QUANTILES, held[1:-1], strict=True)),
    )
    print(f"shares {average(held[-1])}")
    own, widths = found["of_sample", *case].transpose(1, 2, 0)
    print(f"\nof_sample=True, {', '.join(case)}, {repetitions} repetitions: the mean of the people who answered")
    print(f"held {proportion(own[0])}, width {widths[0].mean():.5f}; the population's interval {proportion(own[1])},")
    print(f"width {widths[1].mean():.5f}")
    called = found["differing", *case].T
    print(f"\ntwo samples of one population, {', '.join(case)}, {repetitions} pairs: p < 0.05, in percent")
    print(f"mean {proportion(called[0])}, distribution {proportion(called[1])}")


if __name__ == "__main__":
    sys.exit(main())

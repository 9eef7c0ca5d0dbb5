"""How often intervals of contrasts, ratios, standard deviations and small groups hold the truth, on ten shapes.

    python bench/answers/coverage_of_groups.py [--trials 30] [--fitted 10] [--read 150] [--models 1000]

puts its section into ``bench/results/surveys.md``, below the one of ``coverage_of_surveys.py``. Four groups have a
quarter of the reports each. Three of them are alike; the values of the fourth are tilted upwards. So three of six
contrasts are truly zero, and Holm's method must not call any of them different in more than 5 of 100 trials.
"""

# ruff: noqa: ANN401 (mechanisms and estimates of any kind)

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from coverage_of_surveys import HIGH, LAST, MECHANISMS, NUMBERS, SEED, SIZES, shapes

import bipartite as bp
from bipartite.answers.surveys.small_groups import fay_herriot, restricted
from bipartite.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Told = tuple[str, bool]

LABELS = "abcd"
RANGE = ("range", HIGH, LAST)
SECTION = "# Contrasts, ratios, standard deviations and small groups"
Z = 1.959963984540054


def drawn(shape: Array, mechanism: Any, each: int, rng: Any) -> tuple[Array, Any]:
    """The shares of the values in four groups, and their estimates from reports."""
    values = shape * np.exp(np.outer([-0.5, -0.5, -0.5, 1.2], NUMBERS / LAST - 0.5))
    values /= values.sum(axis=1, keepdims=True)
    laws = values @ mechanism.matrix()
    outputs = mechanism.outputs.to_numpy()
    reports = np.concatenate([outputs[rng.choice(len(law), each, p=law / law.sum())] for law in laws])
    return values, bp.estimate(mechanism, reports, by=np.repeat(list(LABELS), each))


def median(f: Array) -> int:
    """The least value that half of the people have or a smaller one."""
    return int(np.searchsorted(f.cumsum(), 0.5 - 1e-12))


def within(interval: Any, truth: float) -> bool:
    """Whether an interval holds the truth, up to rounding."""
    near = 1e-9 * max(abs(truth), 1.0)
    return bool(interval[0] - near <= truth <= interval[1] + near)


def averages(values: Array, ests: Any) -> Iterator[Told]:
    """What is an average of scores."""
    means = values @ NUMBERS
    true = dict(zip(LABELS, means, strict=True))
    found = bp.surveys.contrasts(ests)
    yield "six contrasts of means, all of them", all(within(c.interval, true[c.first] - true[c.second]) for c in found)
    equal = [row for row in found if abs(true[row.first] - true[row.second]) <= 1e-9]  # noqa: PLR2004
    yield "no equal means called different by Holm", all(row.adjusted > 0.05 for row in equal)  # noqa: PLR2004
    last, first = ests["d"], ests["a"]
    yield "ratio of means", within(bp.surveys.ratio(last, first, "mean").ci(), means[3] / means[0])
    spread = np.sqrt(values @ NUMBERS**2 - means**2)
    yield "standard deviation", within(first.ask("std").ci(), spread[0])
    yield "difference of standard deviations", within((last.ask("std") - first.ask("std")).ci(), spread[3] - spread[0])


def fitted(values: Array, ests: Any) -> Iterator[Told]:
    """Shares and quantiles, which take longer where a curve is fitted."""
    shares = values[:, HIGH:].sum(axis=1)
    totals = ests["d"].ask(RANGE) * 5000 - ests["a"].ask(RANGE) * 7000
    yield "difference of totals of shares", within(totals.ci(), 5000 * shares[3] - 7000 * shares[0])
    if shares[0] > 0:
        found = bp.surveys.ratio(ests["d"], ests["a"], RANGE)
        yield "ratio of shares of 24 to 40", within(found.ci(), shares[3] / shares[0])
    one, two = median(values[0]), median(values[3])
    last, first = ests["d"].ask("median"), ests["a"].ask("median")
    yield "difference of medians", within((last - first).ci(), two - one)
    if one > 0:
        yield "ratio of medians", within(bp.surveys.ratio(ests["d"], ests["a"], "median").ci(), two / one)


def table(options: argparse.Namespace) -> str:
    """A table for each question: a line for each shape."""
    held: dict[str, dict[tuple[str, int, str], list[bool]]] = defaultdict(lambda: defaultdict(list))
    for number, (name, shape) in enumerate(shapes().items()):
        for kind, build in MECHANISMS.items():
            mechanism = build()
            print(name, kind, f"{time.process_time():.0f} s", flush=True)
            for size in SIZES:
                rng = np.random.default_rng([SEED, 1, number])
                # A curve is fitted to reports of BRR, which takes long.
                times = {
                    averages: options.trials,
                    fitted: options.fitted if isinstance(mechanism, bp.BRR) else options.read,
                }
                for trial in range(max(times.values())):
                    values, ests = drawn(shape, mechanism, size // 4, rng)
                    for ask in (ask for ask, most in times.items() if trial < most):
                        for question, is_held in ask(values, ests):
                            held[question][kind, size, name].append(is_held)
    columns = [(kind, size) for kind in MECHANISMS for size in SIZES]
    lines = []
    for question, cells in held.items():
        every = [is_held for each in cells.values() for is_held in each]
        few, most = (f(len(each) for each in cells.values()) for f in (min, max))
        trials, error = f"{few} to {most}" if few < most else f"{few}", 100 * math.sqrt(0.05 * 0.95 / most)
        lines += ["", f"## {question[0].upper()}{question[1:]}", ""]
        lines += [f"{100 * np.mean(every):.1f} of 100 overall; {trials} trials a cell, ± {error:.1f} with {most}.", ""]
        lines += ["| shape |" + "".join(f" {kind}, n = {size // 4:,} a group |" for kind, size in columns)]
        lines += ["|---|" + "--:|" * len(columns)]
        for name in shapes():
            cell = [cells.get((*column, name)) for column in columns]
            lines.append(f"| {name} | " + " | ".join(f"{100 * np.mean(c):.1f}" if c else "–" for c in cell) + " |")
    return "\n".join(lines)


def reml(y: Array, variances: Array, x: Array) -> tuple[Array, Array]:
    """The usual way, to compare: EBLUP by REML, and the mean squared errors of Datta and Lahiri."""
    grid = np.append(0.0, np.geomspace(1e-4, 1e4, 400) * variances.mean())
    a = grid[restricted(y, grid[:, None] + variances, x)[0].argmax()]
    _, beta, spread = restricted(y, a + variances[None], x)
    b = variances / (a + variances)
    line = np.einsum("ij,jk,ik->i", x, spread[0], x)
    error = 2 / ((a + variances) ** -2).sum() / (a + variances)
    return y - b * (y - x @ beta[0]), a * b + b**2 * (line + 2 * error)


def models(trials: int) -> str:
    """Average coverage over groups where the model holds, and that of one group which is unlike the others."""
    rng = np.random.default_rng([SEED, 2])
    lines = ["", "## Small groups, where the model holds", ""]
    lines += [
        "True answers and errors are normal; variances of errors differ (log-normal, σ = 0.7). Coverage on average",
        f"over groups, in {trials} trials; width over that of direct intervals. REML is the usual way, with the errors",
        "of Datta and Lahiri.",
        "",
        "| groups | A over the mean variance | held | width | by REML | width |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for m in (5, 8, 15, 40):
        for ratio in (0.05, 0.3, 1.0, 4.0):
            sums, x = np.zeros(4), np.ones((m, 1))
            for _ in range(trials):
                variances = np.exp(rng.normal(0, 0.7, m))
                true = rng.normal(0, math.sqrt(ratio * variances.mean()), m)
                y = rng.normal(true, np.sqrt(variances))
                fit, (value, mse) = fay_herriot(y, variances, x), reml(y, variances, x)
                ours, usual = np.abs(fit.value - true) <= Z * fit.rmse, np.abs(value - true) <= Z * np.sqrt(mse)
                sums[:2] += ours.mean(), (fit.rmse / np.sqrt(variances)).mean()
                sums[2:] += usual.mean(), np.sqrt(mse / variances).mean()
            held, wide, others, width = sums / trials
            lines.append(f"| {m} | {ratio} | {100 * held:.1f} | {wide:.2f} | {100 * others:.1f} | {width:.2f} |")
    return "\n".join(lines)


def private_models(trials: int) -> str:
    """Reports of a mechanism, groups of 5 to 300 people, all of one family or one of them unlike the others."""
    lines = ["", "## Small groups of private reports", ""]
    lines += [
        f"15 groups of 5 to 300 reports, {trials} trials. The values of a group are those of a shape, tilted by a",
        "normal number, so that the model holds about; then a group of 38 reports is tilted by 4 standard deviations.",
        "Held, of 100: all groups on average, directly and by the model, and the odd group. Errors: root mean square",
        "over that of direct answers.",
        "",
        "| mechanism | shape | of | direct | model | error | the odd one: direct | model | error |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    sizes = np.geomspace(5, 300, 15).astype(int)
    labels = np.repeat(np.arange(15), sizes)
    for number, (name, shape) in enumerate(shapes().items()):
        for kind, build in MECHANISMS.items():
            mechanism = build()
            for of, weights in (("mean", NUMBERS), (RANGE, (NUMBERS >= HIGH).astype(float))):
                rng = np.random.default_rng([SEED, 3, number])
                sums = np.zeros(8)
                for _ in range(trials):
                    tilts = rng.normal(0, 0.7, 15)
                    for odd in (False, True):
                        tilts[7] = 4 * 0.7 if odd else tilts[7]
                        sums += _one(shape, mechanism, tilts, (sizes, labels), (of, weights), rng, odd=odd)
                part = sums / trials
                errors = [f"{math.sqrt(part[at + 1] / part[at]):.2f}" if part[at] > 0 else "–" for at in (2, 6)]
                what = of if isinstance(of, str) else "share"
                direct = [f"{100 * part[at]:.1f}" if what == "mean" else "–" for at in (0, 4)]
                cells = [direct[0], f"{100 * part[1]:.1f}", errors[0], direct[1], f"{100 * part[5]:.1f}", errors[1]]
                lines.append(f"| {kind} | {name} | {what} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _one(shape: Array, mechanism: Any, tilts: Array, groups: Any, asked: Any, rng: Any, *, odd: bool) -> Array:
    """(direct held, model held, square errors of both), of all groups or, later in the row, of the odd one."""
    of, weights = asked
    values = shape * np.exp(np.outer(tilts, NUMBERS / LAST - 0.5))
    values /= values.sum(axis=1, keepdims=True)
    laws = values @ mechanism.matrix()
    outputs, true = mechanism.outputs.to_numpy(), values @ weights
    reports = np.concatenate(
        [outputs[rng.choice(len(law), n, p=law / law.sum())] for law, n in zip(laws, groups[0], strict=True)]
    )
    ests = bp.estimate(mechanism, reports, by=groups[1])
    try:
        found = bp.surveys.small_groups(ests, of)
    except InputError:  # no score varies
        return np.array([0.0, 0, 0, 0, 1, 1, 0, 0] if odd else [1.0, 1, 0, 0, 0, 0, 0, 0])
    at = [7] if odd else range(15)
    rows = np.array([
        (isinstance(of, str) and within(ests[g].ask(of).ci(), true[g]), within(found[g].interval, true[g]),
         (found[g].direct - true[g]) ** 2, (found[g].value - true[g]) ** 2) for g in at
    ], float).mean(axis=0)  # fmt: skip
    return np.append(np.zeros(4), rows) if odd else np.append(rows, np.zeros(4))


def main() -> None:
    """Measure, and write the section."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--fitted", type=int, default=10, help="trials of shares and quantiles of a curve")
    parser.add_argument("--read", type=int, default=150, help="and of those without one")
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "surveys.md")
    options = parser.parse_args()
    begin = time.process_time()
    parts = [
        SECTION,
        "",
        f"How many of 100 intervals of 95 % hold the truth. Seeds [{SEED}, 1, 0] to [{SEED}, 3, 9];",
        "`bench/answers/coverage_of_groups.py`.",
        models(options.models),
        private_models(25),
        table(options),
    ]
    before = options.out.read_text(encoding="utf-8").split(SECTION)[0].rstrip() if options.out.exists() else ""
    took = f"\n{time.process_time() - begin:.0f} s of processor time.\n"
    options.out.write_text("\n".join([before, "", *parts, took]).lstrip(), encoding="utf-8")


if __name__ == "__main__":
    main()

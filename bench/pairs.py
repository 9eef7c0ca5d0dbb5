"""Two columns: a report for each with a part of ε, one column a person, or the pair as one value: errors and coverage.

    python bench/pairs.py [--repetitions 60] [--people 100000] [--jobs 2] [--only errors coverage]

The population is made up: a bell over both lines, the first column skewed, with a correlation of about one half. Errors
are root mean squares over repetitions and over all cells or quadrants, of unbiased answers. For the formula see
``bipartite/answers/advise/splitting.py``; for a correlation it is the delta method, with exact moments of the scores
in this population.

split     both columns from everybody at ε/2 each, by the mechanisms that ``bp.split_or_sample`` advises
product   the pair as one value at ε, by subset selection
sample    one column a person at ε: pairs are not seen, so that they are taken for independent, which is wrong here

Coverage is the share of repetitions in which a 95 % interval holds the truth; told, how often it was less than
everything possible.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import bipartite as bp
from bipartite.answers.advise.forecasting import Foreseen
from bipartite.answers.advise.splitting import error_of_pair, error_of_two

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SIZES: Final = ((4, 4), (10, 10), (200, 5))
EPSILONS: Final = (0.5, 1, 2, 4)
QUESTIONS: Final = ("cells", "quadrants", "correlation")
PEOPLE: Final = (1_000, 10_000, 100_000)


def population(rows: int, columns: int, together: float = 0.6) -> Array:
    """The shares of all pairs of values."""
    x, y = np.linspace(-2, 2, rows)[:, None], np.linspace(-2, 2, columns)[None]
    bell = np.exp(-(x**2 - 2 * together * x * y + y**2) / (2 * (1 - together**2)) - x / 2)
    return np.asarray(bell / bell.sum())


def truths(f: Array) -> dict[str, Array]:
    """The answers themselves."""
    x, y = (np.arange(size) for size in f.shape)
    px, py = f.sum(axis=1), f.sum(axis=0)
    dx, dy = x - x @ px, y - y @ py
    correlation = dx @ f @ dy / math.sqrt((dx**2 @ px) * (dy**2 @ py))
    return {"cells": f, "quadrants": quadrants(f), "correlation": np.array(correlation)}


def quadrants(f: Array) -> Array:
    """The shares of the lower and upper halves of both."""
    a, b = (size // 2 for size in f.shape)
    return np.array([[f[:a, :b].sum(), f[:a, b:].sum()], [f[a:, :b].sum(), f[a:, b:].sum()]])


def asked(joint: Any, of: str, shape: tuple[int, ...]) -> Array:  # noqa: ANN401
    """The same from reports."""
    if of == "cells":
        return np.asarray(joint.shares)
    if of == "correlation":
        return np.array(joint.ask("correlation").value)
    halves = [[np.arange(size) < size // 2, np.arange(size) >= size // 2] for size in shape]
    quarters = [[joint.ask((one.astype(float), other.astype(float))).value for other in halves[1]] for one in halves[0]]
    return np.array(quarters)


def by_delta(first: Array, second: Array, f: Array, products: Array) -> float:
    """The standard error of a correlation from one person, from E[score·score] of its three moments given a pair."""
    px, py = f.sum(axis=1), f.sum(axis=0)
    dx, dy = first - first @ px, second - second @ py
    values = np.array([dx @ f @ dy, dx**2 @ px, dy**2 @ py])
    rho = values[0] / math.sqrt(values[1] * values[2])
    slopes = np.array([1 / math.sqrt(values[1] * values[2]), -rho / 2 / values[1], -rho / 2 / values[2]])
    return math.sqrt(slopes @ (products - np.outer(values, values)) @ slopes)


def crossed(mechanism: Any, w: Array) -> Array:  # noqa: ANN401
    """E[score·score] of every two rows, given every value: that of a square is linear in the square."""
    sums, rest = ((w[:, None] + sign * w[None]).reshape(-1, w.shape[1]) for sign in (1, -1))
    foreseen = Foreseen(mechanism)
    found = (foreseen.squares(sums) - foreseen.squares(rest)) / 4
    return found.reshape(len(w), len(w), -1)


def formulas(split: bp.Record, product: Any, f: Array, people: int) -> dict[tuple[str, str], float]:  # noqa: ANN401
    """(question, way): the error to expect."""
    first, second = split.mechanisms.values()
    parts = product.domain.parts
    x, y = (np.arange(size, dtype=float) for size in f.shape)
    dx, dy = x - x @ f.sum(axis=1), y - y @ f.sum(axis=0)
    w1, w2 = np.stack([dx, dx**2, np.ones(len(x))]), np.stack([dy, np.ones(len(y)), dy**2])
    one, other = crossed(first, w1), crossed(second, w2)
    both = np.stack([np.outer(a, b).ravel() for a, b in zip(w1, w2, strict=True)])
    found = {
        ("correlation", "split"): by_delta(x, y, f, np.einsum("ija,ab,ijb->ij", one, f, other)),
        ("correlation", "product"): by_delta(x, y, f, crossed(product, both) @ f.ravel()),
    }
    found = {key: error / math.sqrt(people) for key, error in found.items()}
    for of in ("cells", "quadrants"):
        found[of, "split"] = error_of_two(first, second, of, people, f)
        found[of, "product"] = error_of_pair(product, parts, of, people, f)
    return found


def errors(cell: tuple[tuple[int, int], float, int, int]) -> list[str]:
    """The lines of one size and ε."""
    (rows, columns), epsilon, people, repetitions = cell
    domains = {"a": bp.Integers(1, rows), "b": bp.Integers(1, columns)}
    f = population(rows, columns)
    truth = truths(f)
    plans = {of: bp.split_or_sample(domains, epsilon, people, of=of).split for of in QUESTIONS}
    product = bp.SubsetSelection(bp.Product(*domains.values()), epsilon)
    alone = bp.Record({name: bp.SubsetSelection(domain, epsilon) for name, domain in domains.items()}, sample=1)
    rng, words = np.random.default_rng(rows), bp.insecure_seed(int(10 * epsilon))
    squares: dict[tuple[str, str], list[float]] = {(of, way): [] for of in QUESTIONS for way in WAYS}
    for _ in range(repetitions):
        at = rng.choice(f.size, people, p=f.ravel())
        values = {"a": at // columns + 1, "b": at % columns + 1}
        pair = bp.estimate(
            product, product.privatize(np.stack(list(values.values()), axis=1), rng=words), method="inverse"
        )
        told = {("product", of): asked(pair.joint(), of, f.shape) for of in QUESTIONS}
        for of, plan in plans.items():
            assert plan is not None
            reports = plan.record.privatize(values, rng=words)
            joint = bp.estimate(plan.record, reports).joint("a", "b", method="inverse")
            told["split", of] = asked(joint, of, f.shape)
        margins = bp.estimate(alone, alone.privatize(values, rng=words), method="inverse")
        taken = np.outer(margins["a"].shares, margins["b"].shares)
        told |= {("sample", "cells"): taken, ("sample", "quadrants"): quadrants(taken)}
        told["sample", "correlation"] = np.array(0.0)
        for (way, of), answer in told.items():
            squares[of, way].append(float(((answer - truth[of]) ** 2).mean()))
    lines = []
    for of, plan in plans.items():
        assert plan is not None
        expected = formulas(plan.record, product, f, people)
        names = "/".join(type(each).__name__ for each in plan.record.mechanisms.values())
        known = {way: np.array(squares[of, way])[np.isfinite(squares[of, way])] for way in WAYS}
        seen = {
            way: math.sqrt(each.mean()) if len(each) >= len(squares[of, way]) * 0.95 else math.nan
            for way, each in known.items()
        }
        ratio = expected[of, "split"] / expected[of, "product"]
        lines.append(
            f"| {rows}×{columns} | {epsilon:g} | {of} | {seen['split']:.2g} ({expected[of, 'split']:.2g}) {names} | "
            f"{seen['product']:.2g} ({expected[of, 'product']:.2g}) | {seen['sample']:.2g} | {ratio:.2g} |"
        )
    return lines


WAYS: Final = ("split", "product", "sample")


def coverage(cell: tuple[tuple[int, int], float, int, int]) -> list[str]:
    """How often intervals from a pair as one value hold the truth."""
    (rows, columns), epsilon, people, repetitions = cell
    f = population(rows, columns)
    mech = bp.SubsetSelection(bp.Product(bp.Integers(1, rows), bp.Integers(1, columns)), epsilon)
    y, half = np.arange(1, columns + 1), rows // 2
    truth = {
        "cell": f[half, columns // 2],
        "quadrant": quadrants(f)[0, 0],
        "mean": float(np.arange(1, rows + 1) @ f.sum(axis=1)),
        "correlation": float(truths(f)["correlation"]),
        "half": float(y @ f[:half].sum(axis=0) / f[:half].sum()),
        "last": float(y @ f[-1] / f[-1].sum()),
    }
    rng, words = np.random.default_rng(people), bp.insecure_seed(people)
    held: dict[str, list[bool]] = {name: [] for name in truth}
    told: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(repetitions):
        at = rng.choice(f.size, people, p=f.ravel())
        reports = mech.privatize(np.stack([at // columns + 1, at % columns + 1], axis=1), rng=words)
        joint = bp.estimate(mech, reports).joint(names=("a", "b"))
        found = {
            "cell": joint.ask(("cell", half + 1, columns // 2 + 1)).ci(),
            "quadrant": joint.ask(("where", {"a": ("range", 1, half), "b": ("range", 1, columns // 2)})).ci(),
            "mean": joint.marginal("a").ask("mean").ci(),
            "correlation": joint.ask("correlation").ci(),
            "half": joint.ask(("mean", "b", {"a": ("range", 1, half)})).ci(),
            "last": joint.ask(("mean", "b", {"a": rows})).ci(),
        }
        for name, (low, high) in found.items():
            held[name].append(low <= truth[name] <= high)
            told[name].append(not found[name].note)
    shown = " | ".join(f"{100 * np.mean(held[name]):.1f} ({100 * np.mean(told[name]):.0f})" for name in truth)
    return [f"| {rows}×{columns} | {epsilon:g} | {people:,} | {shown} |"]


def cells(what: str, people: int, repetitions: int) -> Iterator[tuple[tuple[int, int], float, int, int]]:
    """Everything that is measured."""
    for size in SIZES:
        for epsilon in EPSILONS if what == "errors" else (1, 4):
            for count in (people,) if what == "errors" else PEOPLE:
                yield size, epsilon, count, repetitions


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=60)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=["errors", "coverage"], default=["errors", "coverage"])
    told = parser.parse_args()
    heads = {
        "errors": "| values | ε | of | split (formula) | product (formula) | sample, independent | split/product |",
        "coverage": "| values | ε | people | cell | quadrant | mean of first | correlation | mean by half | by last |",
    }
    measures = {"errors": errors, "coverage": coverage}
    with ProcessPoolExecutor(told.jobs) as pool:
        for what in told.only:
            print(heads[what], "|" + "---|" * (heads[what].count("|") - 1), sep="\n")
            for lines in pool.map(measures[what], cells(what, told.people, told.repetitions)):
                print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()

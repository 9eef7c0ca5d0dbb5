"""How often intervals for surveys hold the truth, on ten shapes of population.

    OPENBLAS_NUM_THREADS=1 python bench/answers/coverage_of_surveys.py [--trials 400] [--only CASE …]

writes ``bench/results/surveys.md``, or these cases in it. A population has eight groups (two sexes, four regions) of
known sizes; values of the groups differ, and so does the chance to report, by sex and by region, so that the mean of
those who report is not that of the population. Each trial draws who reports, and their reports, and asks every case for
its answers. A case is a function of a `Survey` that yields (question, truth, answer); to add one, write it and name it
in ``CASES``.
"""

# ruff: noqa: ANN401 (mechanisms and estimates of any kind)

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bipartite as bp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from bipartite.answers.estimation import Answer

    Array = NDArray[np.float64]
    Told = tuple[str, float, Answer]

SEED = 36
LEVELS = (0.95, 0.8)
LAST = 40  # values are 0 to 40
SEXES, REGIONS = ("f", "m"), ("north", "east", "south", "west")
GROUPS = [(sex, region) for sex in SEXES for region in REGIONS]
# Chances to report multiply, so that raking can undo them; the smallest group has 2 % of the reports.
REPORTING = np.outer([1.0, 0.55], [1.0, 0.8, 0.5, 0.3]).ravel()
PEOPLE = np.array([0.13, 0.16, 0.14, 0.08, 0.15, 0.15, 0.12, 0.07])
MECHANISMS = {
    "BRR, ε = 1": lambda: bp.BRR(bp.Integers(0, LAST), 1.0, edges="padded"),
    "GRR, ε = 8": lambda: bp.GRR(bp.Integers(0, LAST), 8.0),  # hardly any noise: the shape matters most
}
SIZES = (300, 3_000)
# How many of the Adult data (UCI, adult.data) are 17 or 18 years old, 19 or 20, and so on.
ADULTS = (
    945, 1465, 1485, 1675, 1626, 1702, 1674, 1716, 1761, 1774, 1685, 1610, 1588, 1494, 1471, 1251, 1179, 1073, 879, 785,
    724, 667, 558, 438, 328, 271, 197, 139, 115, 91, 52, 44, 32, 16, 4, 4, 43, 0, 0, 0, 0
)  # fmt: skip


def shapes() -> dict[str, Array]:
    """The shares of the values 0 to 40 in ten populations."""
    x = np.arange(LAST + 1)
    t = (x + 0.5) / (LAST + 1)

    def at(*values: int) -> Array:
        return np.isin(x, values).astype(float)

    found = {
        "uniform": np.ones(LAST + 1),
        "skewed": t**0.5 * (1 - t) ** 5,
        "spike at an end": 0.97 * at(0) + 0.03 * at(LAST),
        "spike in the middle": 0.9 * at(20) + 0.1 / (LAST + 1),
        "two humps": np.exp(-(((t - 0.2) / 0.06) ** 2)) + 0.5 * np.exp(-(((t - 0.75) / 0.1) ** 2)),
        "tens only": at(0, 10, 20, 30, 40) * np.array([0.3, 1, 3])[np.minimum(x // 15, 2)],
        "two points": 0.8 * at(5) + 0.2 * at(35),
        "ramp": t,
        "all at one": at(17),
        "ages of adults": np.array(ADULTS, float),
    }
    return {name: each / each.sum() for name, each in found.items()}


@dataclass(frozen=True)
class Survey:
    """Who reported what, and the truth."""

    mechanism: Any
    values: Array
    """The shares of the values in each group, a row each."""
    group: NDArray[np.int64]
    """The group of each person who reports."""
    reports: NDArray[np.int64]

    @cached_property
    def truth(self) -> Array:
        """The shares of the values in the population."""
        return PEOPLE @ self.values

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        """The public labels of each person who reports."""
        named = {"sex": np.array([sex for sex, _ in GROUPS]), "region": np.array([region for _, region in GROUPS])}
        return {name: each[self.group].tolist() for name, each in named.items()}

    @cached_property
    def labels(self) -> list[str]:
        """The same in one column."""
        return [" ".join(GROUPS[at]) for at in self.group]

    @cached_property
    def estimates(self) -> Any:
        """The estimate of each group."""
        return bp.estimate(self.mechanism, self.reports, by=self.labels)


NUMBERS = np.arange(LAST + 1.0)
HIGH = 24
QUESTIONS = {"mean": ("mean", NUMBERS), "share of 24 to 40": (("range", HIGH, LAST), (NUMBERS >= HIGH).astype(float))}
TOTALS = {
    "sex": dict(zip(SEXES, PEOPLE.reshape(2, 4).sum(axis=1), strict=True)),
    "region": dict(zip(REGIONS, PEOPLE.reshape(2, 4).sum(axis=0), strict=True)),
}


def plain(survey: Survey) -> Iterator[Told]:
    """What nobody should report: the mean of those who report."""
    yield "mean, not weighted", float(survey.truth @ NUMBERS), bp.estimate(survey.mechanism, survey.reports).ask("mean")


def poststratified(survey: Survey) -> Iterator[Told]:
    """Eight groups, the smallest with six reports of 300."""
    totals = {" ".join(group): share for group, share in zip(GROUPS, PEOPLE, strict=True)}
    for name, (of, w) in QUESTIONS.items():
        yield f"{name}, post-stratified", float(survey.truth @ w), bp.surveys.poststratify(survey.estimates, totals, of)


def raked(survey: Survey) -> Iterator[Told]:
    """Totals of two columns, not of their combinations."""
    for name, (of, w) in QUESTIONS.items():
        found = bp.surveys.rake(survey.mechanism, survey.reports, survey.columns, TOTALS, of)
        yield f"{name}, raked", float(survey.truth @ w), found


def heavy(survey: Survey) -> Iterator[Told]:
    """Hard for every interval: at most eight reports stand for three tenths of the population."""
    groups, sizes, people = (0, 1, 7), (200, 92, 8), np.array([0.4, 0.3, 0.3])
    at = np.concatenate([np.flatnonzero(survey.group == g)[:n] for g, n in zip(groups, sizes, strict=True)])
    ests = bp.estimate(survey.mechanism, survey.reports[at], by=survey.group[at])
    totals = dict(zip(groups, people, strict=True))
    for name, (of, w) in QUESTIONS.items():
        truth = float(people @ survey.values[[*groups]] @ w)
        yield f"{name}, eight reports for 30 %", truth, bp.surveys.poststratify(ests, totals, of)


CASES: tuple[Callable[[Survey], Iterator[Told]], ...] = (plain, poststratified, raked, heavy)


def surveys(shape: Array, mechanism: Any, size: int, trials: int, seed: int) -> Iterator[Survey]:
    """Trials: the values of groups are tilted to either side, and each group has at least two reports."""
    rng = np.random.default_rng([SEED, seed])
    tilt = np.array([-1.5, -0.8, 0.2, 1.0, -0.6, 0.3, 0.9, 1.6])
    values = shape * np.exp(np.outer(tilt, NUMBERS / LAST - 0.5))
    values /= values.sum(axis=1, keepdims=True)
    laws = values @ mechanism.matrix()
    laws /= laws.sum(axis=1, keepdims=True)
    outputs, chance = mechanism.outputs.to_numpy(), PEOPLE * REPORTING / (PEOPLE @ REPORTING)
    for _ in range(trials):
        sizes = np.maximum(rng.multinomial(size, chance), 2)
        at = np.concatenate([rng.choice(len(law), n, p=law) for law, n in zip(laws, sizes, strict=True)])
        yield Survey(mechanism, values, np.repeat(np.arange(len(GROUPS)), sizes), outputs[at])


def main() -> None:
    """Run all cases and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--only", nargs="+", default=[case.__name__ for case in CASES])
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "surveys.md")
    options = parser.parse_args()
    cases, begin = [case for case in CASES if case.__name__ in options.only], time.process_time()
    held: dict[tuple[str, str, int, str], Array] = defaultdict(lambda: np.zeros(len(LEVELS) + 2))
    for number, (shape, shares) in enumerate(shapes().items()):
        for kind, build in MECHANISMS.items():
            mechanism = build()
            for size in SIZES:
                for survey in surveys(shares, mechanism, size, options.trials, number):
                    for case in cases:
                        for question, truth, answer in case(survey):
                            ends = [answer.ci(level) for level in LEVELS]
                            near = 1e-9 * max(abs(truth), 1.0)  # of an interval without width
                            row = [low - near <= truth <= high + near for low, high in ends]
                            held[question, kind, size, shape] += (*row, (answer.value - truth) ** 2, answer.se**2)
    text = report({key: each / options.trials for key, each in held.items()}, options.trials)
    # Trials do not depend on the cases that are asked, so a part can be run again alone.
    parts: dict[str, str] = {}
    for each in (options.out.read_text(encoding="utf-8") if options.out.exists() else "", text):
        head, *sections = each.rstrip().split("\n\n## ")
        parts |= {section.split("\n")[0]: section for section in sections}
    options.out.write_text("\n\n## ".join([head, *parts.values()]) + "\n", encoding="utf-8")
    print(text, f"{time.process_time() - begin:.0f} s of processor time", sep="\n")


def report(held: dict[tuple[str, str, int, str], Array], trials: int) -> str:
    """A table for each question: a line for each shape, the share of intervals that hold the truth in each column."""
    error = 100 * math.sqrt(0.05 * 0.95 / trials)
    lines = [
        "# Coverage of intervals for surveys\n",
        f"How many of 100 intervals of 95 % (of 80 %) hold the truth in {trials:,} trials, ± {error:.1f} (one standard",
        "error, at 95), and the standard error told over the one seen (root mean squares).",
        f"Seeds {[SEED, 0]} to {[SEED, 9]}; `bench/answers/coverage_of_surveys.py`.",
    ]
    columns = [(kind, size) for kind in MECHANISMS for size in SIZES]
    for question in dict.fromkeys(key[0] for key in held):
        lines += ["", f"## {question[0].upper()}{question[1:]}", ""]
        lines += ["| shape |" + "".join(f" {kind}, n = {size:,} |" for kind, size in columns)]
        lines += ["|---|" + "--:|" * len(columns)]
        for shape in dict.fromkeys(key[3] for key in held):
            rows = [held[question, kind, size, shape] for kind, size in columns]
            told = [f"{100 * a:.1f} ({100 * b:.1f}), {_ratio(told, seen)}" for a, b, seen, told in rows]
            lines.append(f"| {shape} | " + " | ".join(told) + " |")
        pooled = [np.mean([held[question, *column, shape] for shape in shapes()], axis=0) for column in columns]
        lines.append("| **all ten** | " + " | ".join(f"{100 * a:.1f} ({100 * b:.1f})" for a, b, *_ in pooled) + " |")
    return "\n".join(lines) + "\n"


def _ratio(told: float, seen: float) -> str:
    return f"{math.sqrt(told / seen):.2f}" if seen > 0 else "–"


if __name__ == "__main__":
    main()

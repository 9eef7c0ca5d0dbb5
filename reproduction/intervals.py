"""The mean of some repetitions, and how sure it is; differences paired by seed: the same folds, the same start."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pandas as pd
from scipy.special import stdtrit  # type: ignore[import-untyped]

from reproduction.form import SEED

_MISS: Final = 0.05
_LEAST_SEEDS: Final = 3


@dataclass(frozen=True)
class MeanInterval:
    """A mean over repetitions with its 95 % interval; it is infinite where there is one repetition or one diverged."""

    mean: float
    low: float
    high: float
    repetitions: int
    deviation: float = math.nan
    """The standard deviation between repetitions."""

    @classmethod
    def of(cls, values: Iterable[float], together: int = 1) -> MeanInterval:
        """By Student's t; one of so many that shall hold together with 95 % (Bonferroni)."""
        found = [float(value) for value in values]
        if not all(map(math.isfinite, found)):  # a diverged run: nothing is known of the mean
            return cls(math.nan, -math.inf, math.inf, len(found))
        mean = statistics.fmean(found)
        if len(found) == 1:
            return cls(mean, -math.inf, math.inf, 1)
        deviation = statistics.stdev(found)
        half = stdtrit(len(found) - 1, 1 - _MISS / together / 2) * deviation / math.sqrt(len(found))
        return cls(mean, mean - half, mean + half, len(found), deviation)

    @property
    def is_above(self) -> bool:
        """Whether it lies above zero, wholly."""
        return self.low > 0

    @property
    def is_below(self) -> bool:
        """Whether it lies below zero, wholly."""
        return self.high < 0

    def __format__(self, how: str) -> str:
        """The mean, and the interval where there is one: 1.2 (0.9 to 1.5)."""
        how = how or ".3g"
        if self.repetitions == 1:
            return f"{self.mean:{how}} (one repetition)"
        return f"{self.mean:{how}} ({self.low:{how}} to {self.high:{how}})"


def paired(
    rows: pd.DataFrame, ours: str, theirs: str, column: str, how: Callable[[Any, Any], Any], by: str = "mechanism"
) -> pd.DataFrame:
    """The rows of one mechanism with ``column`` compared to a rival's, where all settings and the seed are alike.

    Settings are the columns that hold words, whole numbers or budgets: all but those that were measured. Name what is
    alike by keeping only those columns and ``column``.
    """
    alike = [each for each in rows.columns if each not in {by, column}]
    both = rows[rows[by] == ours].merge(rows[rows[by] == theirs], on=alike, suffixes=("", "_of_the_rival"))
    both[column] = how(both[column], both[f"{column}_of_the_rival"])
    return both[[*alike, column]]


def with_each(
    rows: pd.DataFrame, ours: str, rivals: Mapping[str, str], column: str, how: Callable[[Any, Any], Any]
) -> pd.DataFrame:
    """``paired`` with each of these rivals, one below the other; ``line`` is what the rival is mapped to."""
    return pd.concat([paired(rows, ours, rival, column, how).assign(line=line) for rival, line in rivals.items()])


def together(rows: pd.DataFrame, by: str | list[str], column: str = "value") -> dict[Any, MeanInterval]:
    """The mean over seeds in every case, in intervals that all hold together with 95 %."""
    cases = dict(iter(rows.groupby(by, sort=False)[column]))
    return {case: MeanInterval.of(values, len(cases)) for case, values in cases.items()}


def brackets(found: Collection[MeanInterval]) -> str:
    """What the intervals in brackets are."""
    jointly = f", all {len(found)} together" if len(found) > 1 else ""
    return f"(in brackets: 95 % intervals{jointly}, {min(each.repetitions for each in found)} seeds)"


def bars_of(seeds: Iterable[object]) -> str:
    """What the bars of a picture are, for the line below it."""
    count = len(set(seeds))
    if count == 1:
        return "One seed: no intervals."
    return f"Bars: 95 % intervals of the mean over {count} seeds; lines are moved apart sideways."


class Sure(NamedTuple):
    """How many intervals lie wholly above zero, how many wholly below it, and of how many."""

    above: int
    below: int
    of: int

    @classmethod
    def among(cls, found: Collection[MeanInterval]) -> Sure:
        """Counted."""
        return cls(sum(each.is_above for each in found), sum(each.is_below for each in found), len(found))


def least_seeds(rows: pd.DataFrame) -> int:
    """How many seeds ran."""
    return int(rows[SEED].nunique())


def enough(rows: pd.DataFrame, **values: Collection[Any]) -> bool:
    """Whether a verdict can be given: on at least three seeds, and on all these values of these columns."""
    return least_seeds(rows) >= _LEAST_SEEDS and all(set(some) <= set(rows[name]) for name, some in values.items())

"""The mean of some repetitions, and how sure it is."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reproduction.runner.contract import Rows, Value, number

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

BySeed = Mapping[Value, float]
_MISS: Final = 0.05


@dataclass(frozen=True)
class MeanInterval:
    """A mean over repetitions with its 95 % interval; the interval is infinite where there is one repetition."""

    mean: float
    low: float
    high: float
    repetitions: int
    deviation: float = math.nan
    """The standard deviation between repetitions."""

    @classmethod
    def of(cls, values: Iterable[float], together: int = 1) -> MeanInterval:
        """By Student's t; one of so many that shall hold together with 95 % (Bonferroni)."""
        found = list(values)
        mean = statistics.fmean(found)
        if len(found) == 1:
            return cls(mean, -math.inf, math.inf, 1)
        deviation = statistics.stdev(found)
        half = t_quantile(len(found) - 1, _MISS / together) * deviation / math.sqrt(len(found))
        return cls(mean, mean - half, mean + half, len(found), deviation)

    @property
    def is_above(self) -> bool:
        """Whether it lies above zero, wholly."""
        return self.low > 0

    @property
    def is_below(self) -> bool:
        """Whether it lies below zero, wholly."""
        return self.high < 0

    def say(self, how: str = ".3g") -> str:
        """The mean, and the interval where there is one: 1.2 (0.9 to 1.5)."""
        if self.repetitions == 1:
            return f"{self.mean:{how}} (one repetition)"
        return f"{self.mean:{how}} ({self.low:{how}} to {self.high:{how}})"


def by_seed(rows: Rows, column: str = "value") -> BySeed:
    """One number for each seed."""
    return {row["seed"]: number(row, column) for row in rows}


def each_seed(ours: BySeed, theirs: BySeed, how: Callable[[float, float], float]) -> BySeed:
    """A difference or ratio for every seed that both have."""
    return {seed: how(value, theirs[seed]) for seed, value in ours.items() if seed in theirs}


def bars_of(seeds: Collection[object]) -> str:
    """What the bars of a picture are, for the line below it."""
    if len(seeds) == 1:
        return "One seed: no intervals."
    return f"Bars: 95 % intervals of the mean over {len(seeds)} seeds; lines are moved apart sideways."


@functools.cache
def t_quantile(freedom: int, miss: float) -> float:
    """What Student's t exceeds, to either side, with probability ``miss``: by halving, from the finite series.

    Not scipy's, so that reading results needs no library that measuring them may not have needed.
    """
    low, high = 0.0, 1.0
    while _within(high, freedom) < 1 - miss:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 1 - miss else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """The probability that |T| is at most t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    term, total = (cosine, 0.0) if freedom % 2 else (1.0, 0.0)
    for step in range(1 + freedom % 2, freedom, 2):
        total += term
        term *= cosine**2 * step / (step + 1)
    if freedom % 2:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total

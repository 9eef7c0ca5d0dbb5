"""The mean of some repetitions, and how sure it is."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

# Student's t at 97.5 % for 1 to 30 degrees of freedom; beyond, the normal quantile with two corrections in 1/n, right
# to 1e-4 there. A table, so that reading results needs no library that measuring them may not have needed.
_T: Final = (
    12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818, 2.4469119, 2.3646243, 2.3060041, 2.2621572, 2.2281389,
    2.2009852, 2.1788128, 2.1603687, 2.1447867, 2.1314495, 2.1199053, 2.1098156, 2.1009220, 2.0930241, 2.0859634,
    2.0796138, 2.0738731, 2.0686576, 2.0638986, 2.0595386, 2.0555294, 2.0518305, 2.0484071, 2.0452296, 2.0422725,
)  # fmt: skip
_NORMAL: Final = 1.959964


@dataclass(frozen=True)
class Interval:
    """A mean over repetitions with its 95 % interval; the interval is infinite where there is one repetition."""

    mean: float
    low: float
    high: float
    repetitions: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Interval:
        """By Student's t."""
        found = list(values)
        mean = statistics.fmean(found)
        if len(found) == 1:
            return cls(mean, -math.inf, math.inf, 1)
        half = t_quantile(len(found) - 1) * statistics.stdev(found) / math.sqrt(len(found))
        return cls(mean, mean - half, mean + half, len(found))

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


def bars_of(seeds: Collection[object]) -> str:
    """What the bars of a picture are, for the line below it."""
    if len(seeds) == 1:
        return "One seed: no intervals."
    return f"Bars: 95 % intervals of the mean over {len(seeds)} seeds; lines are moved apart sideways."


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = _NORMAL
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)

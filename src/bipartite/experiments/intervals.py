"""The mean of some repetitions, and how sure it is."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# Student's t at 97.5 % for 1 to 30 degrees of freedom; beyond, the normal quantile with two corrections in 1/n, right
# to 1e-4 there. A table, so that reading results needs no library that measuring them may not have needed.
_T: Final = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
    2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484,
    2.0452, 2.0423,
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


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = _NORMAL
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)

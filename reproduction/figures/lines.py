"""What a picture of panels holds: lines, and numbers that the paper prints."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reproduction.runner.contract import Rows, distinct, number, select
from reproduction.runner.intervals import MeanInterval, by_seed, each_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True)
class Line:
    """One named line; ``low`` and ``high`` are the ends of an interval at every point, where it has one."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    marked: bool = True
    """Whether each point is marked: not for a level that is no measurement."""
    joined: bool = True
    """Whether the points are joined: not where they lie on another line."""
    steps: bool = False
    """Whether the value of a point holds to halfway of the next."""
    end: str = ""
    """Words right of its end."""
    like: str = ""
    """The name whose line and points it is drawn with, where that is not its own."""

    @classmethod
    def of(cls, name: str, rows: Rows, x: str, y: str, *, marked: bool = True) -> Line:
        """One column of rows against another."""
        return cls(name, [number(row, x) for row in rows], [number(row, y) for row in rows], marked=marked)

    @classmethod
    def of_means(
        cls, name: str, means: Mapping[float, MeanInterval], ends: tuple[float, float] = (-math.inf, math.inf)
    ) -> Line:
        """Means by x with their intervals, cut at the ends of what is possible; without any where one seed has none."""
        y = [each.mean for each in means.values()]
        if any(math.isinf(each.low) for each in means.values()):
            return cls(name, list(means), y)
        lows = [max(ends[0], each.low) for each in means.values()]
        return cls(name, list(means), y, lows, [min(ends[1], each.high) for each in means.values()])

    @classmethod
    def of_pairs(
        cls,
        name: str,
        pairs: Mapping[float, tuple[Rows, Rows]],
        column: str,
        how: Callable[[float, float], float],
        like: str = "",
    ) -> Line:
        """Differences or ratios of two sets of rows at every x, paired by seed; without a common seed there is none."""
        by_x = {
            x: each_seed(by_seed(ours, column), by_seed(theirs, column), how) for x, (ours, theirs) in pairs.items()
        }
        found = cls.of_means(name, {x: MeanInterval.of(of.values()) for x, of in by_x.items() if of})
        return replace(found, like=like)

    @classmethod
    def of_mechanisms(cls, rows: Rows, x: str, y: str, unmarked: str = "") -> list[Line]:
        """A line for each mechanism; that of one of them is a level."""
        return [
            cls.of(str(name), select(rows, mechanism=name), x, y, marked=name != unmarked)
            for name in distinct(rows, "mechanism")
        ]


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints: a star, its words below the title, never cut off by the edge of its panel."""

    y: float
    words: str
    """The number as it is printed: 66 %."""
    x: float | None = None
    """None where it belongs to no single x: a mean over all of them is a level."""


@dataclass(frozen=True)
class Panel:
    """One small picture. Without ``lowest`` and ``highest`` the lines decide.

    What lies beyond has an arrow at the edge; its value, or the least and the largest, stands below the title.
    """

    title: str
    """What is drawn: which data, network, ε or N; no other panel of the picture has the same."""
    lines: Sequence[Line]
    lowest: float | None = None
    highest: float | None = None
    printed: Sequence[Printed] = ()

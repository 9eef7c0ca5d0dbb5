"""An answer: a number, its standard error, its confidence interval, and what forged reports could do to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from bipartite.answers.estimation.intervals import ConfidenceInterval, check_confidence
from bipartite.domains.base import as_real
from bipartite.errors import InputError, shown
from bipartite.lottery.checks import is_whole
from bipartite.names import Renamed
from bipartite.texts import Printed, in_digits

if TYPE_CHECKING:
    from collections.abc import Callable

    Interval = Callable[[float], ConfidenceInterval]
    Forge = Callable[[int], "Forged"]

_USUAL: Final = 0.95
# The search for a p-value: the precision of its normal quantile, the smallest one told, and the largest step.
_CLOSE: Final = 1e-3
_LEAST_P: Final = 1e-12
_FAR: Final = 4.0
_STEPS: Final = 30


class Forged(NamedTuple):
    """The smallest and the largest value that an answer can take after k of its reports are replaced by others."""

    low: float
    high: float
    note: str = ""
    """Empty if some forged reports attain both ends; otherwise what is known instead."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer(Printed, Renamed):
    """An answer from reports: ``est.ask("mean")``.

    ``a - b`` is the difference of the answers of two disjoint groups of people: its interval combines theirs (MOVER:
    Zou, Donner, Statistics in Medicine 2008). ``a * 5_000_000`` is an average scaled to the total of a population.
    """

    value: float
    se: float
    """The standard error; NaN if there is none, infinite if the reports cannot tell."""
    interval: Interval = field(compare=False)
    """The interval at a confidence that was checked; users call :meth:`ci`."""
    forge: Forge | None = field(default=None, compare=False)
    uncut: Interval | None = field(default=None, compare=False)
    """The interval before it was cut to what some population could give, which differences need."""

    def ci(self, confidence: float = _USUAL) -> ConfidenceInterval:
        """The confidence interval (low, high), which always contains the value."""
        return self.interval(check_confidence(confidence))

    @property
    def note(self) -> str:
        """A remark on the interval, such as that the reports cannot tell; usually empty."""
        return self.ci().note

    def forged(self, k: int) -> Forged:
        """How far k forged reports, in place of any k of these, can move the value.

        An attacker who knew all reports could reach both ends, unless the note says that they are a bound. A forged
        report is any output of the mechanism. Weights stay with the people.
        """
        if self.forge is None:
            raise InputError(
                "No bound is known on what forged reports can do to this answer; ask about the mean, a share, or one "
                "weight per value."
            )
        if not is_whole(k) or k < 0:
            raise InputError(f"Expected k as a whole number of at least 0, got {shown(k)}.")
        return self.forge(int(k))

    def p_value(self, null: float = 0.0) -> float:
        """The two-sided p-value of ``null``: one minus the confidence at which the interval just reaches it."""
        if math.isnan(self.value - null) or self.value == null:
            return 1.0 if self.value == null else math.nan
        # The end on the side of ``null`` moves away about in proportion to the normal quantile z; but that of a median
        # moves in steps, which only a bracket finds.
        z, most, off = 2.0, NormalDist().inv_cdf(1 - _LEAST_P / 2), abs(self.value - null)
        short, reached = 0.0, math.inf
        for _ in range(_STEPS):
            low, high = self.interval(2 * NormalDist().cdf(z) - 1)
            arm = self.value - low if null < self.value else high - self.value
            short, reached = (z, reached) if arm < off else (short, z)
            before, z = z, min(max(z * off / arm if arm > 0 else most, z / _FAR), z * _FAR, most)
            if abs(z - before) <= _CLOSE * z and arm != off:
                break
            z = z if short < z < reached else (short + reached) / 2
            if reached - short <= _CLOSE * max(z, 1.0):
                break
        return 2 * NormalDist().cdf(-z)

    def __sub__(self, other: object) -> Answer:
        if not isinstance(other, Answer):
            return NotImplemented

        def interval(confidence: float) -> ConfidenceInterval:
            one, two = ((each.uncut or each.interval)(confidence) for each in (self, other))
            down = math.hypot(self.value - one.low, two.high - other.value)
            up = math.hypot(one.high - self.value, other.value - two.low)
            value = self.value - other.value
            notes = dict.fromkeys(note for note in (one.note, two.note) if note)
            return ConfidenceInterval(value - down, value + up, confidence, "; ".join(notes))

        return Answer(self.value - other.value, math.hypot(self.se, other.se), interval)

    def __mul__(self, factor: float) -> Answer:
        if not math.isfinite(as_real(factor)):
            raise InputError(f"Expected the size of a population as a finite number, got {shown(factor)}.")

        def scaled(interval: Interval) -> Interval:
            return lambda confidence: interval(confidence).mapped(lambda end: factor * end)

        def forge(k: int) -> Forged:
            ends = self.forged(k)
            low, high = sorted(factor * end for end in ends[:2])
            return Forged(low, high, ends.note)

        uncut = None if self.uncut is None else scaled(self.uncut)
        made = scaled(self.interval), None if self.forge is None else forge, uncut
        return Answer(factor * self.value, abs(factor) * self.se, *made)

    __rmul__ = __mul__

    def __str__(self) -> str:
        held = self.ci()
        return f"{in_digits(self.value, *held)[0]}, {held.written(self.value)}"

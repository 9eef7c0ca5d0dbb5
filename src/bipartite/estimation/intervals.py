"""An interval: two numbers, how sure it is, and what to know about it."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final, Self

import numpy as np

from bipartite.errors import InputError, shown

FEW: Final = 50
"""With fewer reports (or effective ones) than this, no interval rests on the normal law."""


class Interval(tuple[float, float]):  # noqa: SLOT001 (see below)
    """(low, high), with ``confidence`` and, where there is something to know, a ``note``.

    >>> low, high = Interval(1.0, 2.0, 0.95)
    >>> Interval(1.0, 2.0, 0.95)
    (1.0, 2.0)
    """

    # Python allows a subclass of tuple no slots that hold anything.
    confidence: float
    note: str

    def __new__(cls, low: float, high: float, confidence: float, note: str = "") -> Self:
        """Two numbers and what to know about them."""
        made = super().__new__(cls, (low, high))
        made.confidence, made.note = confidence, note
        return made

    @property
    def low(self) -> float:
        """The lower end."""
        return self[0]

    @property
    def high(self) -> float:
        """The upper end."""
        return self[1]

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (*self, self.confidence, self.note)

    def __str__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        return f"{self[0]:.6g} to {self[1]:.6g} ({100 * self.confidence:g} %{note})"


def check_confidence(confidence: object) -> float:
    """A confidence between 0 and 1."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        msg = f"Expected confidence between 0 and 1, got {shown(confidence)}; for example 0.95."
        raise InputError(msg)
    return float(confidence)


def normal_width(confidence: float) -> float:
    """How many standard errors each side of a two-sided interval of a normal law has."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def bounded_width(spread: float, people: float, confidence: float) -> float:
    """Hoeffding: half the width of an interval for the mean of numbers within ``spread``, for any number of reports."""
    return spread * math.sqrt(math.log(2 / (1 - confidence)) / (2 * people))


def within(low: Any, high: Any, least: float, most: float) -> tuple[Any, Any]:  # noqa: ANN401 (numbers or arrays)
    """Intervals less what is impossible; one that is impossible as a whole stays as it is.

    A share from −3 % to −1 % is that of an unlucky sample, and says so; 0 to 0 would read as certainty, and anything
    wider would not hold as often as stated but more often.
    """
    unlucky = (high < least) | (low > most)
    return np.where(unlucky, low, np.clip(low, least, most)), np.where(unlucky, high, np.clip(high, least, most))


def few_note(people: float) -> str:
    """What the interval says when there are too few reports."""
    return f"only {people:.3g} reports: too few for the normal law, so a wider bound that holds for any number is given"

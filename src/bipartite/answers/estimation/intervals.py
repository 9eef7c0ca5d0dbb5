"""Confidence intervals: two numbers, the confidence, and a note."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from bipartite.errors import InputError, how_many, shown
from bipartite.texts import in_digits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FEW: Final = 50
"""With fewer (effective) reports than this, no interval of a share uses the normal approximation."""
_SUREST: Final = 1 - 1e-12
_RARE: Final = 5
"""From n·p·(1 − p) of this on, the normal approximation is usual for a share p."""


class ConfidenceInterval(tuple[float, float]):  # noqa: SLOT001 (see below)
    """(low, high), with ``confidence`` and perhaps a ``note``.

    >>> low, high = ConfidenceInterval(1.0, 2.0, 0.95)
    >>> ConfidenceInterval(1.0, 2.0, 0.95)
    (1.0, 2.0)
    """

    # Python does not allow nonempty slots in a subclass of tuple.
    confidence: float
    note: str

    def __new__(cls, low: float, high: float, confidence: float, note: str = "") -> Self:
        """Create an interval with its confidence and note."""
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

    def mapped(self, change: Callable[[float], float]) -> ConfidenceInterval:
        """The interval of a monotone function of the answer."""
        low, high = sorted(change(end) for end in self)
        return ConfidenceInterval(low, high, self.confidence, self.note)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (*self, self.confidence, self.note)

    def __str__(self) -> str:
        return self.written()

    def written(self, value: float | None = None) -> str:
        """The text, with the decimals of a value that stands before it."""
        _, low, high = in_digits(self[0] if value is None else value, *self)
        note = f"; {self.note}" if self.note else ""
        return f"{low} to {high} ({100 * self.confidence:g} %{note})"


def check_confidence(confidence: object) -> float:
    """Check a confidence between 0 and 1."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence <= _SUREST:
        raise InputError(f"Expected confidence between 0 and 1, got {shown(confidence)}; for example 0.95.")
    return float(confidence)


def normal_width(confidence: float) -> float:
    """Half the width of a two-sided normal interval, in standard errors."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def within(
    low: Array | float,
    high: Array | float,
    shown: Array | float,
    possible: tuple[float, float],
    *,
    at_least: bool = False,
) -> tuple[Array, Array]:
    """Intervals cut to the possible range, but not beyond the answers shown, which may be impossible themselves.

    An interval entirely outside the possible range stays as it is: a share from −3 % to −1 % comes from an unlucky
    sample, and says so; 0 to 0 would read as certainty, and anything wider would cover more often than stated. If an
    interval must cover *at least* as often as stated, the whole possible range is given instead.
    """
    unlucky = (high < possible[0]) | (low > possible[1])
    # A single report has no unbiased variance: it is NaN, and nothing is shown.
    least, most = np.fmin(possible[0], shown), np.fmax(possible[1], shown)
    instead = (least, most) if at_least else (low, high)
    ends = (
        np.where(unlucky, other, np.clip(end, least, most)) for end, other in zip((low, high), instead, strict=True)
    )
    first, last = ends
    return first, last


def likely_width(error: Array | float, spread: Array | float, people: float, confidence: float) -> Array:
    """Half the width of an interval for the mean of many numbers within ``spread``, with an estimated standard error.

    That error may be far too small, even zero, by chance, if few of the numbers differ from the others: the share of a
    value that nobody in the sample has. For shares the usual limit is n·p·(1 − p) = 5. Below it the half-width is the
    longer arm of Wilson's interval, which uses the error at the end of the interval instead.
    """
    z = normal_width(confidence)
    error, spread = np.asarray(error), np.asarray(spread)
    rare = np.isfinite(spread) & (people * error < math.sqrt(_RARE) * spread)
    step = np.where(rare, spread, 0.0) * z / (2 * people)
    found: Array = z * (step + np.hypot(error, step))
    return found


def half_widths(errors: Array | float, spreads: Array | float, people: float, confidence: float) -> Array:
    """Half the widths of intervals for averages of scores: by the normal approximation, or for few by Hoeffding."""
    if people < FEW:
        return np.asarray(spreads) * math.sqrt(math.log(2 / (1 - confidence)) / (2 * people))
    return likely_width(errors, spreads, people, confidence)


def chi_square_quantile(confidence: float, degrees: float) -> float:
    """The quantile of χ² with this many degrees of freedom, which need not be whole."""
    from scipy.special import gammainccinv  # type: ignore[import-untyped]  # noqa: PLC0415 (loaded when used)

    return 2 * float(gammainccinv(degrees / 2, 1 - confidence))


def few_note(people: float, *, proved: bool = True) -> str:
    """The note of an interval if there are too few reports."""
    few = how_many(float(people), "report")
    what = "a wider bound that holds for any number is given" if proved else "a wider one is given, which is not proved"
    return f"only {few}: too few for the normal law, so {what}"

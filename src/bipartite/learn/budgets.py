"""One ε in several parts that never add up to more, as exact decimals."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_DIGITS: Final = 20  # as many as an ε may have


def split_epsilon(epsilon: Decimal, weights: Sequence[Fraction], reported: int | None = None) -> tuple[Decimal, ...]:
    """ε·w/Σw for each weight, rounded down in the 20th digit, so that the sum never exceeds ε.

    With ``reported=k`` only k parts are spent by any one person, whichever they are, so Σ runs over the k largest
    weights: the k largest parts add up to at most ε, and so does every other choice of k.

    >>> split_epsilon(Decimal(1), [Fraction(1)] * 3)[0]
    Decimal('0.33333333333333333333')
    >>> [str(part) for part in split_epsilon(Decimal(1), [Fraction(3), Fraction(1), Fraction(1)], reported=1)]
    ['1', '0.33333333333333333333', '0.33333333333333333333']
    """
    count = len(weights) if reported is None else reported
    whole = sum(sorted(weights, reverse=True)[:count], Fraction(0))
    return tuple(_rounded_down(Fraction(epsilon) * weight / whole) for weight in weights)


def exact_sum(parts: Sequence[Decimal]) -> Decimal:
    """The sum without any rounding."""
    with decimal.localcontext(decimal.Context(prec=200, traps=[decimal.Inexact])):
        total = sum(parts, Decimal(0))
        # Zeros at the end are dropped, and none are written as an exponent: 10, not 1E+1.
        return Decimal(f"{total.normalize():f}")


def at_least(epsilon: Decimal) -> float:
    """The least double that is no smaller: an ε stated as a float must never be too small."""
    nearest = float(epsilon)
    return nearest if Decimal(nearest) >= epsilon else math.nextafter(nearest, math.inf)


def _rounded_down(value: Fraction) -> Decimal:
    with decimal.localcontext(decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_DOWN)):
        return Decimal(value.numerator) / Decimal(value.denominator)

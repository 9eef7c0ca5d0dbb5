"""Sums and parts of ε as exact decimals; and ε rounded, so that nobody is promised more than is kept.

What was spent is rounded up; what may be spent is rounded down.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from bipartite.lottery.epsilon import MAX_DIGITS

if TYPE_CHECKING:
    from collections.abc import Sequence


def exact_sum(parts: Sequence[Decimal]) -> Decimal:
    """The sum without any rounding; an ε has 20 digits and 34 places at most."""
    with decimal.localcontext(decimal.Context(prec=200, traps=[decimal.Inexact])):
        total = sum(parts, Decimal(0))
        # Zeros at the end are dropped, and none are written as an exponent: 10, not 1E+1.
        return Decimal(f"{total.normalize():f}")


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
    return tuple(rounded_down(Fraction(epsilon) * weight / whole) for weight in weights)


def rounded_down(epsilon: Fraction) -> Decimal:
    """The largest decimal of 20 digits, as many as an ε may have, that is not above this."""
    context = decimal.Context(prec=MAX_DIGITS, rounding=decimal.ROUND_FLOOR)
    return context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))


def rounded_up(epsilon: Decimal, places: int = 15) -> Decimal:
    """The least decimal of so many places that is not below this: what people are shown of an ε that was spent.

    >>> rounded_up(Decimal("0.99991"), 3)
    Decimal('1.000')
    """
    return epsilon.quantize(Decimal(1).scaleb(-places), decimal.ROUND_CEILING, decimal.Context(prec=40))


def at_least(epsilon: Decimal) -> float:
    """The least double that is no smaller: an ε stated as a float must never be too small."""
    nearest = float(epsilon)
    return nearest if Decimal(nearest) >= epsilon else math.nextafter(nearest, math.inf)

"""Exact decimal arithmetic on ε: ε spent is rounded up, and ε that may be spent is rounded down."""

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
    """Sum without rounding; an ε has at most 20 digits and 34 decimal places."""
    with decimal.localcontext(decimal.Context(prec=200, traps=[decimal.Inexact])):
        total = sum(parts, Decimal(0))
        # Drop trailing zeros, but write 10, not 1E+1.
        return Decimal(f"{total.normalize():f}")


def most_spent(parts: Sequence[Decimal], reported: int | None = None) -> Decimal:
    """The most that any ``reported`` of these parts add up to, or all of them, without rounding.

    >>> str(most_spent([Decimal("0.1"), Decimal("0.4"), Decimal("0.3")], reported=2))
    '0.7'
    """
    return exact_sum(sorted(parts, reverse=True)[:reported])


def split_epsilon(epsilon: Decimal, weights: Sequence[Fraction], reported: int | None = None) -> tuple[Decimal, ...]:
    """Split ε in proportion to the weights, ε·w/Σw, rounded down to 20 digits so that the sum never exceeds ε.

    With ``reported=k`` any one person spends only k of the parts, so Σ runs over the k largest weights: no choice of
    k parts then adds up to more than ε.

    >>> split_epsilon(Decimal(1), [Fraction(1)] * 3)[0]
    Decimal('0.33333333333333333333')
    >>> [str(part) for part in split_epsilon(Decimal(1), [Fraction(3), Fraction(1), Fraction(1)], reported=1)]
    ['1', '0.33333333333333333333', '0.33333333333333333333']
    """
    count = len(weights) if reported is None else reported
    total = sum(sorted(weights, reverse=True)[:count], Fraction(0))
    return tuple(round_down(Fraction(epsilon) * weight / total) for weight in weights)


def round_down(epsilon: Fraction) -> Decimal:
    """Round down to 20 significant digits, the most that an ε may have."""
    context = decimal.Context(prec=MAX_DIGITS, rounding=decimal.ROUND_FLOOR)
    return context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))


def round_up(epsilon: Decimal, places: int = 15) -> Decimal:
    """Round up to ``places`` decimal places, for displaying an ε that was spent.

    >>> round_up(Decimal("0.99991"), 3)
    Decimal('1.000')
    """
    return epsilon.quantize(Decimal(1).scaleb(-places), decimal.ROUND_CEILING, decimal.Context(prec=40))


def float_at_least(epsilon: Decimal) -> float:
    """The smallest double ≥ ε: an ε stated as a float must never be too small."""
    nearest = float(epsilon)
    return nearest if Decimal(nearest) >= epsilon else math.nextafter(nearest, math.inf)

"""Exact coins of probability e^−γ, for mechanisms with exponential weights.

e^−γ is irrational, so no whole number of tickets represents it. But a coin needs only as many digits as decide it: a
uniform number in [0, 1) is read word by word and e^−γ is enclosed ever more tightly until one is certainly below the
other. The law is exact, whatever precision was reached; the first word nearly always decides.
"""

from __future__ import annotations

import decimal
import functools
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bipartite.lottery.words import Stream

# 80 bits: finer than the first word, so that this word nearly always decides.
_FIRST_DIGITS: Final = 24
_WORD_BITS: Final = 64
# e^−10000 < 10^−4000. For larger γ an integer with all digits of e^−γ might not fit in memory; it is not needed unless
# the random number starts with 4000 zeros.
_FAR: Final = 10_000
_FAR_DIGITS: Final = 4_000


def decay_between(gamma: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Enclose e^−γ, γ ≥ 0, between two fractions that differ by a few units in the last of ``digits`` digits.

    The quotient is rounded both ways and ``Decimal.exp`` is correctly rounded (General Decimal Arithmetic), so the
    neighbours of the results enclose the true value.
    """
    if gamma == 0:
        return Fraction(1), Fraction(1)
    if gamma > _FAR and digits < _FAR_DIGITS:
        return Fraction(0), Fraction(1, 10**_FAR_DIGITS)
    ends = []
    for rounding in (decimal.ROUND_CEILING, decimal.ROUND_FLOOR):
        context = decimal.Context(prec=digits, rounding=rounding, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
        exponent = context.divide(Decimal(gamma.numerator), Decimal(gamma.denominator))
        ends.append(context.exp(context.minus(exponent)))
    return Fraction(context.next_minus(ends[0])), Fraction(context.next_plus(ends[1]))


@functools.cache
def _decay_of_one(digits: int) -> tuple[Fraction, Fraction]:
    """Cached for γ = 1, which every draw of noise needs; other γ may be private and are not cached."""
    return decay_between(Fraction(1), digits)


def flip_exp_coin(gamma: Fraction, stream: Stream, factor: Fraction = Fraction(1)) -> bool:
    """Return True with probability exactly factor·e^−γ, which must not exceed one."""
    drawn, bits, digits = 0, 0, _FIRST_DIGITS
    while True:
        drawn = drawn << _WORD_BITS | stream.word()
        bits += _WORD_BITS
        low, high = _decay_of_one(digits) if gamma == 1 else decay_between(gamma, digits)
        if factor * low > 1:
            raise AssertionError("a probability above one")
        if Fraction(drawn + 1, 1 << bits) <= factor * low:
            return True
        if Fraction(drawn, 1 << bits) >= factor * high:
            return False
        digits *= 2

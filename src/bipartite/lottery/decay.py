"""Events of chance e^−γ, exactly: the coin of mechanisms whose weights are exponentials.

e^−γ is no fraction, so no whole number of tickets holds it. But a coin needs no more of it than decides the coin: a
random number in [0, 1) is read bit by bit, and e^−γ is enclosed more and more tightly, until one lies clearly below the
other. The law is exact, whatever the precision at which it ended; the first word nearly always decides.
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
# e^−10000 < 10^−4000. Beyond, a whole number with all digits of e^−γ might not fit in memory; it is not needed unless
# a random number begins with 4000 zeros.
_FAR: Final = 10_000
_FAR_DIGITS: Final = 4_000


def decay_between(gamma: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Two fractions around e^−γ for γ ≥ 0, apart by a few units in the last of so many digits.

    The quotient is rounded to both sides and ``Decimal.exp`` is correctly rounded (General Decimal Arithmetic), so that
    the neighbours of the results enclose the truth.
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
def _of_one(digits: int) -> tuple[Fraction, Fraction]:
    """The one γ that every draw of noise asks about; others may be private, and are not kept."""
    return decay_between(Fraction(1), digits)


def happens(gamma: Fraction, stream: Stream, factor: Fraction = Fraction(1)) -> bool:
    """True with probability factor·e^−γ, exactly; that must not exceed one."""
    drawn, bits, digits = 0, 0, _FIRST_DIGITS
    while True:
        drawn = drawn << _WORD_BITS | stream.word()
        bits += _WORD_BITS
        low, high = _of_one(digits) if gamma == 1 else decay_between(gamma, digits)
        if factor * low > 1:
            msg = "a chance above one"
            raise AssertionError(msg)
        if Fraction(drawn + 1, 1 << bits) <= factor * low:
            return True
        if Fraction(drawn, 1 << bits) >= factor * high:
            return False
        digits *= 2

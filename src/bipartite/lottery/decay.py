"""Events of chance e^−γ, exactly: the coin and the noise of mechanisms whose weights are exponentials.

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


def whole_below(total: int, stream: Stream) -> int:
    """A uniform whole number below any total, however large: words until their top bits give one."""
    bits = (total - 1).bit_length()
    words = -(-bits // _WORD_BITS)
    while True:
        drawn = 0
        for _ in range(words):
            drawn = drawn << _WORD_BITS | stream.word()
        drawn >>= words * _WORD_BITS - bits
        if drawn < total:
            return drawn


def discrete_laplace(rate: Fraction, stream: Stream) -> int:
    """Whole-number noise with Pr[z] ∝ e^(−rate·|z|), exactly and without a last value.

    With rate = s/t: u + t·v has the geometric law of rate 1/t when u is uniform below t and kept with chance e^(−u/t),
    and v counts successes of chance e^−1; divided by s and rounded down it has rate s/t. A random sign, one of the two
    zeros drawn again.

    Reference
    ---------
    Canonne, Kamath, Steinke: *The Discrete Gaussian for Differential Privacy* (NeurIPS 2020), Algorithm 2.
    """
    s, t = rate.numerator, rate.denominator
    one = Fraction(1)
    while True:
        u = whole_below(t, stream)
        if not happens(Fraction(u, t), stream):
            continue
        v = 0
        while happens(one, stream):
            v += 1
        size = (u + t * v) // s
        negative = stream.word() & 1
        if size or not negative:
            return -size if negative else size

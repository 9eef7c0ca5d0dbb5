"""ε as an exact decimal; every comparison with e^ε is decided in whole numbers.

A float cannot represent e^ε, and its last bit would decide whether tickets keep ε. So ε is the decimal that the user
wrote, and two questions are answered exactly:

* ``allows(a, b)``: is a ≤ e^ε·b? Used for tickets. Decided with the first 201 terms of the exponential series, whose
  sum lies below e^ε, so the answer is never wrongly yes; the browser does the same with BigInt.
* ``sign(c0, c1)``: the sign of c0 + c1·e^ε. Used to choose m. e^ε is transcendental for every rational ε ≠ 0
  (Lindemann 1882), so for whole numbers the sign is zero only when c0 = c1 = 0, and enough precision always decides.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import EpsilonError
from bipartite.lottery.checks import is_whole

if TYPE_CHECKING:
    from typing import Self

MAX_DIGITS: Final = 20
SERIES_TERMS: Final = 200
# Outside this range no lottery of 2^52 tickets exists for any domain; refused early so that the series stays short.
SMALLEST: Final = Decimal("1e-15")
LARGEST: Final = Decimal(50)
_FIRST_DIGITS: Final = 40

_EXPECTED: Final = (
    f"Expected epsilon as a positive decimal of at most {MAX_DIGITS} digits between {SMALLEST} and {LARGEST}"
)


@dataclass(frozen=True, slots=True, repr=False)
class Epsilon:
    """A privacy budget: a positive decimal of at most 20 significant digits.

    A float means its shortest ``repr``: ``Epsilon.of(0.1)`` is one tenth, not the double next to it.

    >>> Epsilon.of(0.10).text, Epsilon.of("1.00").text
    ('0.1', '1')
    """

    value: Decimal

    @classmethod
    def of(cls, epsilon: object) -> Self:
        """Read ε from an int, float, ``Decimal``, NumPy number or decimal string."""
        if isinstance(epsilon, Epsilon):
            return cls(epsilon.value)
        text = _to_decimal_text(epsilon)
        try:
            value = Decimal(text)
        except decimal.InvalidOperation:
            raise EpsilonError(
                f"{_EXPECTED}, got {text!r}; pass a number such as 1.0 or a string such as '0.1'."
            ) from None
        if not value.is_finite() or not SMALLEST <= value <= LARGEST:
            raise EpsilonError(
                f"{_EXPECTED}, got {text}; most uses lie between 0.5 and 2, and above 4 a report hides little."
            )
        # Count digits and drop trailing zeros without arithmetic: a context would round.
        _, digits, exponent = value.as_tuple()
        power = int(exponent)  # finite, so not a letter
        while digits[-1] == 0:
            digits, power = digits[:-1], power + 1
        if len(digits) > MAX_DIGITS:
            raise EpsilonError(f"{_EXPECTED}, got {len(digits)} digits; round it to {MAX_DIGITS}.")
        return cls(Decimal((0, digits, power)))

    @property
    def text(self) -> str:
        """The canonical form used in specs: plain digits, no exponent, no trailing zeros."""
        return f"{self.value:f}"

    def __float__(self) -> float:
        return float(self.value)

    @property
    def exp(self) -> float:
        """e^ε as a double, for design and accuracy only; tickets never depend on it."""
        return float(exp_between(self.value, _FIRST_DIGITS)[0])

    def __repr__(self) -> str:
        return f"Epsilon({self.text})"

    def allows(self, near: int, far: int) -> bool:
        """Whether near ≤ e^ε·far; never wrongly True."""
        numerator, denominator = series_below_exp(self.value)
        return near * denominator <= far * numerator

    def most_near_tickets(self, far: int) -> int:
        """The largest ``near`` with ``allows(near, far)``."""
        numerator, denominator = series_below_exp(self.value)
        return far * numerator // denominator

    def sign(self, c0: int, c1: int) -> int:
        """The sign of c0 + c1·e^ε: −1, 0 or 1, exactly."""
        if c1 == 0:
            return (c0 > 0) - (c0 < 0)
        digits = _FIRST_DIGITS
        while True:
            low, high, scale = _scaled_exp(self.value, digits)
            at_low, at_high = c0 * scale + c1 * low, c0 * scale + c1 * high
            if at_low > 0 and at_high > 0:
                return 1
            if at_low < 0 and at_high < 0:
                return -1
            digits *= 2


def _to_decimal_text(epsilon: object) -> str:
    """Write ε as decimal digits: a float as its shortest repr, whatever its class or NumPy's print options."""
    if isinstance(epsilon, (str, Decimal)):
        return str(epsilon)
    if isinstance(epsilon, float):
        return float.__repr__(epsilon)
    if isinstance(epsilon, np.floating):
        return np.format_float_positional(epsilon, unique=True, trim="-")
    if is_whole(epsilon):
        # Python refuses to print integers of thousands of digits, and none of them is a valid ε.
        most = 10**MAX_DIGITS
        return str(max(-most, min(int(epsilon), most)))
    raise EpsilonError(
        f"{_EXPECTED}, got {type(epsilon).__name__}; pass a number such as 1.0 or a string such as '0.1'."
    )


@lru_cache(maxsize=256)
def series_below_exp(epsilon: Decimal) -> tuple[int, int]:
    """Σ ε^i/i! for i ≤ 200 as (numerator, denominator): a fraction below e^ε."""
    step_n, step_d = epsilon.as_integer_ratio()
    # Horner: 1 + ε/1·(1 + ε/2·(1 + … (1 + ε/200))).
    numerator, denominator = 1, 1
    for i in range(SERIES_TERMS, 0, -1):
        # 1 + (step_n/(step_d·i))·(numerator/denominator)
        scale = step_d * i * denominator
        numerator, denominator = scale + step_n * numerator, scale
    return numerator, denominator


@lru_cache(maxsize=1024)
def _scaled_exp(epsilon: Decimal, digits: int) -> tuple[int, int, int]:
    """Whole numbers (low, high, scale) with low/scale < e^ε < high/scale."""
    low, high = exp_between(epsilon, digits)
    scale = 10**digits
    return math.floor(low * scale), math.ceil(high * scale), scale


@lru_cache(maxsize=1024)
def exp_between(epsilon: Decimal, precision: int) -> tuple[Fraction, Fraction]:
    """Enclose e^ε between two fractions that differ by two units in the last of ``precision`` digits.

    ``Decimal.exp`` is correctly rounded (General Decimal Arithmetic), so its neighbours enclose the true value.
    """
    with decimal.localcontext(decimal.Context(prec=precision, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)) as context:
        middle = epsilon.exp(context)
        return Fraction(context.next_minus(middle)), Fraction(context.next_plus(middle))


def log_between(ratio: Fraction, precision: int = 30) -> tuple[Decimal, Decimal]:
    """Enclose ln(ratio) between two decimals, so that a certificate can round conservatively."""
    if ratio == 1:
        return Decimal(0), Decimal(0)
    with decimal.localcontext(decimal.Context(prec=precision + 10)) as wide:
        # ln n − ln d, each correctly rounded with ten extra digits; cancellation costs at most log10(n·d) of them, so
        # guard digits are added for the size of the terms.
        guard = len(str(max(ratio.numerator, ratio.denominator)))
        wide.prec += 2 * guard
        middle = Decimal(ratio.numerator).ln(wide) - Decimal(ratio.denominator).ln(wide)
    with decimal.localcontext(decimal.Context(prec=precision, rounding=decimal.ROUND_FLOOR)) as down:
        low = down.next_minus(+middle)
    with decimal.localcontext(decimal.Context(prec=precision, rounding=decimal.ROUND_CEILING)) as up:
        high = up.next_plus(+middle)
    return low, high

"""Constants that both ways of computing rows share; elementary functions are built from +, −, × and ÷ alone."""

from __future__ import annotations

import math
from typing import Final

EXPONENTS: Final = 1000
"""e^x below 2^−1000 counts as 2^−1000."""
LOG2_E: Final = 1.4426950408889634
LN_2: Final = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
"""ln 2 as a sum whose first part has zeros at its end: whole multiples of it are exact."""
TAYLOR: Final = tuple(1 / math.factorial(n) for n in range(13, -1, -1))
"""e^x for |x| ≤ ln(2)/2, highest power first."""
GELU_SCALE: Final = math.sqrt(2 / math.pi)
GELU_CUBE: Final = 0.044715
MARGIN: Final = 1 - 2.0**-30
"""Clipped rows are this much shorter than they may be, so that rounding errors of the norm seldom cost a row."""

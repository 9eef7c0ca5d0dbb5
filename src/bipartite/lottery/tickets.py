"""The number of tickets of near and far outputs.

Far outputs hold b = 2^k tickets, near ones a, the largest integer with a ≤ e^ε·b. Every input has the same number of
near outputs, so every row holds the same total W = m·a + (M − m)·b, and the ratio of two probabilities is the ratio of
two ticket counts: a fraction that anyone can check. k is the largest with W ≤ 2^52, so that one 64-bit word draws a
ticket with at most one redraw in 2^12, and every product fits the compiled code and the browser.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from bipartite.lottery.epsilon import exp_between

if TYPE_CHECKING:
    from bipartite.lottery.epsilon import Epsilon

MAX_TOTAL: Final = 2**52
UNEQUAL: Final = "the rows of this lottery do not hold the same total"
# The realised ε of a BRR may fall short of the requested ε by the smaller of these two.
SHORTFALL: Final = Decimal("1e-6")
RELATIVE_SHORTFALL: Final = Decimal("0.001")


@dataclass(frozen=True, slots=True)
class Tickets:
    """The two ticket counts of a bipartite row."""

    near: int
    far: int

    @property
    def ratio(self) -> Fraction:
        """near/far = e^(realised ε), the largest ratio of two probabilities of one report."""
        return Fraction(self.near, self.far)

    def total(self, m: int, outputs: int) -> int:
        """W = m·a + (M − m)·b, the tickets of a row."""
        return m * self.near + (outputs - m) * self.far


class TooFewTickets(Enum):
    """Why 2^52 tickets cannot keep an ε."""

    EPSILON_TOO_LARGE = auto()
    """One ticket for each far output and e^ε for each near one already exceed 2^52."""
    EPSILON_TOO_SMALL = auto()
    """The realised ε would fall short by more than min(1e-6, ε/1000)."""


def issue_tickets(epsilon: Epsilon, m: int, outputs: int, *, by_tries: bool = False) -> Tickets | TooFewTickets:
    """Issue the finest tickets that keep ε with m near outputs among ``outputs``, or say why there are none.

    A draw by rejection (see `points.py`) takes a number below M·a, so M·a must fit instead of W.
    """
    far = 2 ** (MAX_TOTAL // outputs).bit_length()
    while far >= 1:
        tickets = Tickets(near=epsilon.most_near_tickets(far), far=far)
        if tickets.total(outputs if by_tries else m, outputs) <= MAX_TOTAL:
            return tickets if is_close_enough(tickets, epsilon) else TooFewTickets.EPSILON_TOO_SMALL
        far //= 2
    return TooFewTickets.EPSILON_TOO_LARGE


def is_close_enough(tickets: Tickets, epsilon: Epsilon) -> bool:
    """Whether ln(near/far) ≥ ε − min(1e-6, ε/1000), decided with e^(…) rounded up."""
    with decimal.localcontext(decimal.Context(prec=60)):  # the caller's context may round
        least = epsilon.value - min(SHORTFALL, epsilon.value * RELATIVE_SHORTFALL)
    _, high = exp_between(least, 60)
    return tickets.ratio >= high

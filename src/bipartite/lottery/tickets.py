"""How many tickets a near and a far output hold.

Far outputs hold b = 2^k tickets, near ones a, the largest whole number with a ≤ e^ε·b. Every input has the same number
of near outputs, so every row holds the same total W = m·a + (M − m)·b, and the ratio of two probabilities is a ratio
of two ticket counts: a fraction that anyone can check. k is the largest with W ≤ 2^52, so that one 64-bit word draws a
ticket with at most one redraw in 2^12, and every product fits where the compiled code and the browser need it.
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
# What a BRR may fall short of the ε asked for: the lesser of these two.
SHORTFALL: Final = Decimal("1e-6")
RELATIVE_SHORTFALL: Final = Decimal("0.001")


@dataclass(frozen=True, slots=True)
class Tickets:
    """The two ticket counts of a bipartite row."""

    near: int
    far: int

    @property
    def ratio(self) -> Fraction:
        """near/far: the largest ratio of two probabilities of one report, e^(realised ε)."""
        return Fraction(self.near, self.far)

    def total(self, m: int, outputs: int) -> int:
        """W = m·a + (M − m)·b, the tickets of a whole row."""
        return m * self.near + (outputs - m) * self.far


class TooFewTickets(Enum):
    """Why 2^52 tickets cannot keep an ε."""

    EPSILON_TOO_LARGE = auto()
    """Not even one ticket for each far output fits beside e^ε for each near one."""
    EPSILON_TOO_SMALL = auto()
    """The realised ε would fall short by more than min(1e-6, ε/1000)."""


def issue_tickets(epsilon: Epsilon, m: int, outputs: int, *, by_tries: bool = False) -> Tickets | TooFewTickets:
    """The finest honest tickets for m near outputs among ``outputs``, or why there are none.

    A draw by tries (see `points.py`) takes a number below M·a, so that is what must fit instead of W.
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

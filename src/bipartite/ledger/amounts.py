"""Amounts of ε as integer multiples of 10⁻¹²: exact sums that fit into SQLite's 64 bits.

An ε of at most 12 decimal places is stored exactly. With more places (at most 34, see ``lottery.epsilon``) a debit is
rounded **up** and a budget **down**, so that the ledger never understates what was spent.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact, InvalidOperation
from typing import Final

from bipartite.errors import InputError

PLACES: Final = 12
LARGEST_BUDGET: Final = 1_000_000
# Wide enough for every ε and every sum that fits into 64 bits.
_WIDE: Final = Context(prec=60)
_EXPECTED: Final = f"Expected budget as a positive decimal of at most {LARGEST_BUDGET:,}"


def debit_units(epsilon: Decimal) -> int:
    """The debit for a report of this ε, in units of 10⁻¹², rounded up."""
    return int(epsilon.scaleb(PLACES, _WIDE).to_integral_value(ROUND_CEILING, _WIDE))


def budget_units(budget: object) -> int:
    """A budget in units of 10⁻¹², rounded down; a float means its shortest repr, as for ε."""
    try:
        value = Decimal(str(budget))
    except InvalidOperation:
        value = Decimal("nan")
    if isinstance(budget, bool) or not value.is_finite() or not 0 < value <= LARGEST_BUDGET:
        raise InputError(f"{_EXPECTED}, got {budget!r:.40}; pass a number such as 4 or a string such as '0.5'.")
    units = int(value.scaleb(PLACES, _WIDE).to_integral_value(ROUND_FLOOR, _WIDE))
    if not units:
        raise InputError(f"{_EXPECTED} and at least 1e-{PLACES}, got {budget!r:.40}; use a larger one.")
    return units


def decimal_of(units: int) -> Decimal:
    """Convert units to an exact decimal without trailing zeros or exponent."""
    exact = Context(prec=60, traps=[Inexact])
    return Decimal(f"{Decimal(units).scaleb(-PLACES, exact).normalize(exact):f}")

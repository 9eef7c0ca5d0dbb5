"""What is fixed when a ledger is made: its budget, its periods, and the key of its names.

Amounts of ε are integer multiples of 10⁻¹²: exact sums that fit into SQLite's 64 bits. An ε of at most 12 decimal
places is stored exactly. With more places (at most 34, see ``lottery.epsilon``) a debit is rounded **up** and a budget
**down**, so that the ledger never understates what was spent.

A period is a calendar day, month or year, or a fixed length of time, in UTC. Every instant lies in exactly one period:
``2026-11`` names a month, and its first instant names a period of fixed length (counted from 1970-01-01T00:00Z). A
later clock never reopens a past period.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact, InvalidOperation
from typing import TYPE_CHECKING, Final

from bipartite.errors import InputError, Problems

if TYPE_CHECKING:
    from collections.abc import Mapping

PLACES: Final = 12
LARGEST_BUDGET: Final = 1_000_000
# Wide enough for every ε and every sum that fits into 64 bits.
_WIDE: Final = Context(prec=60)
_EXPECTED: Final = f"Expected budget as a positive decimal of at most {LARGEST_BUDGET:,}"
_CALENDAR: Final = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
_UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 7 * 86_400}
_FIXED: Final = re.compile(r"([1-9][0-9]{0,5}) (second|minute|hour|day|week)s?")
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
FOREVER: Final = "forever"

Clock = Callable[[], datetime]


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


@dataclass(frozen=True, slots=True)
class Period:
    """How time is divided into periods; ``text`` is its canonical spelling."""

    text: str
    seconds: int | None

    @classmethod
    def of(cls, period: object) -> Period:
        """Read ``"forever"``, ``"day"``, ``"month"``, ``"year"`` or a fixed length such as ``"30 days"``."""
        text = period if isinstance(period, str) else ""
        fixed = _FIXED.fullmatch(text)
        if fixed is not None:
            count, unit = int(fixed[1]), fixed[2]
            # One spelling per length, so that "1 days" and "1 day" open the same ledger.
            return cls(f"{count} {unit}{'s' if count > 1 else ''}", count * _UNITS[unit])
        if text == FOREVER or text in _CALENDAR:
            return cls(text, None)
        raise InputError(
            f"Expected period as 'forever', 'day', 'month', 'year' or a length such as '30 days', got {period!r:.40}; "
            "seconds, minutes, hours, days and weeks are understood."
        )

    def name_at(self, now: datetime) -> str:
        """The name of the period that contains this instant."""
        if self.text == FOREVER:
            return FOREVER
        if self.seconds is None:
            return now.astimezone(UTC).strftime(_CALENDAR[self.text])
        passed = (now - _START) // timedelta(seconds=1)
        try:
            start = _START + timedelta(seconds=passed // self.seconds * self.seconds)
        except OverflowError:
            raise InputError(
                f"Expected now in a period that starts after the year 1, got {now!r:.60}; check the clock."
            ) from None
        return start.strftime("%Y-%m-%dT%H:%M:%SZ")


def utc_now() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


def check_now(now: object) -> datetime:
    """Check an instant with a time zone, and convert it to UTC."""
    if not isinstance(now, datetime) or now.tzinfo is None or now.utcoffset() is None:
        raise InputError(
            f"Expected now as a datetime with a time zone, got {now!r:.60}; "
            "pass datetime.now(UTC), or None for the clock of the ledger."
        )
    try:
        return now.astimezone(UTC)
    except OverflowError:
        raise InputError(f"Expected now within the years 1 to 9999 of UTC, got {now!r:.60}; check the clock.") from None


@dataclass(frozen=True, slots=True)
class Settings:
    """The permanent settings of a ledger."""

    budget: int
    """The budget of each person in each period, in units of 10⁻¹²."""
    period: Period
    person_key: str | None
    """A check value that identifies the right secret; None if names are stored as they are."""

    @classmethod
    def of(cls, held: Mapping[str, str]) -> Settings:
        """Read the constants of a ledger; a ValueError or KeyError says that they are damaged."""
        return cls(int(held["budget"]), Period.of(held["period"]), held.get("person_key"))

    def constants(self) -> dict[str, str]:
        """The same as constants of a ledger."""
        held = {"budget": str(self.budget), "period": self.period.text}
        return held if self.person_key is None else held | {"person_key": self.person_key}

    def compare(self, budget: int | None, period: str | None, person_key: str | None) -> None:
        """Refuse to open the ledger with other settings, naming all that differ."""
        problems = Problems()
        if budget is not None and budget != self.budget:
            problems.add(
                f"Expected the budget of this ledger, {decimal_of(self.budget)}, got {decimal_of(budget)}; leave "
                "budget= out, or start a new ledger."
            )
        if period is not None and Period.of(period) != self.period:
            problems.add(
                f"Expected the period of this ledger, {self.period.text!r}, got {period!r}; leave period= out, or "
                "start a new ledger."
            )
        if person_key is not None and person_key != self.person_key:
            problems.add(
                "Expected no person_key: this ledger stores names without a key; leave person_key= out, or start a new "
                "ledger."
                if self.person_key is None
                else "Expected the person_key that this ledger was created with, got another; find the right one."
            )
        problems.raise_if_any(InputError)

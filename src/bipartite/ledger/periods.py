"""Periods of a budget: a calendar day, month or year, or a fixed length of time, in UTC.

Every instant lies in exactly one period: ``2026-11`` names a month, and its first instant names a period of fixed
length (counted from 1970-01-01T00:00Z). A later clock never reopens a past period.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bipartite.errors import InputError

_CALENDAR: Final = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
_UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 7 * 86_400}
_FIXED: Final = re.compile(r"([1-9][0-9]{0,5}) (second|minute|hour|day|week)s?")
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
FOREVER: Final = "forever"

Clock = Callable[[], datetime]


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

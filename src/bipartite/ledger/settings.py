"""What is fixed when a ledger is made: its budget, its periods, and the key of its names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bipartite.errors import InputError, Problems
from bipartite.ledger.amounts import decimal_of
from bipartite.ledger.periods import Period

if TYPE_CHECKING:
    from collections.abc import Mapping


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

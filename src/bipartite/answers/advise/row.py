"""One line of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class Row:
    """What one mechanism is worth at one ε; None where a figure does not exist or was left out (``note`` says why)."""

    mechanism: str
    epsilon: str
    """The ε asked for, as a decimal."""
    kind: Literal["mechanism", "reference"]
    """A ``reference`` is a line to judge by: the constant answer, and the limit."""
    epsilon_spent: float | None = None
    """The realised ε, rounded up; what :func:`bipartite.verify` certifies."""
    holds: bool | None = None
    """Whether the ε asked for is kept. One that does not keep it is never recommended."""
    expected_loss: float | None = None
    """Of one release, in units of the domain."""
    median_loss: float | None = None
    worst_loss: float | None = None
    """The expected loss at the value that fares worst."""
    share_within: float | None = None
    """The chance that a report is within the tolerance."""
    identifiable: bool | None = None
    """Whether every share can be estimated without bias."""
    mean_error: float | None = None
    """The standard error of the estimated mean of so many people."""
    histogram_error: float | None = None
    """The root mean square, over values, of the standard error of one share."""
    distribution_error: float | None = None
    """The same over thresholds of the cumulative distribution."""
    gap: float | None = None
    """Anchored: how far it is at most above the best release of a value, as a share of it."""
    note: str = ""
    """Why a figure is missing, or what else must be said."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __repr__(self) -> str:
        figures = {"expected loss": self.expected_loss, "error of the mean": self.mean_error}
        told = ", ".join(f"{name} {value:.6g}" for name, value in figures.items() if value is not None)
        return f"<Row: {self.mechanism}{f' at ε = {self.epsilon}' if self.epsilon else ''}: {told or self.note}>"


class Measure(NamedTuple):
    """How a figure is called."""

    short: str
    """Above a column."""
    title: str
    of_people: bool = False
    """Whether it is an error of what many people say, and falls with their number."""


MEASURES: Final = {
    "expected_loss": Measure("expected", "expected error of one release"),
    "median_loss": Measure("median", "median error of one release"),
    "worst_loss": Measure("worst", "expected error at the worst value"),
    "share_within": Measure("within", "share of reports within the tolerance"),
    "mean_error": Measure("mean ±", "standard error of the mean", of_people=True),
    "histogram_error": Measure("share ±", "standard error of a share", of_people=True),
    "distribution_error": Measure("cumulative ±", "standard error of a cumulative share", of_people=True),
}
"""The figures that can be compared, by their fields in a row."""
COLUMNS: tuple[str, ...] = tuple(each.name for each in fields(Row))

"""One line of a comparison, and the names of its figures."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one mechanism at one ε; None where one does not exist or was left out (``note`` says why)."""

    mechanism: str
    epsilon: str
    """The ε asked for, as a decimal."""
    kind: Literal["mechanism", "reference"]
    """A ``reference`` is a baseline: the constant answer, or the limit."""
    epsilon_spent: float | None = None
    """The realised ε, rounded up; what :func:`bipartite.verify` certifies."""
    holds: bool | None = None
    """Whether the requested ε is kept. A mechanism that does not keep it is never recommended."""
    expected_loss: float | None = None
    """Of one release, in units of the domain."""
    median_loss: float | None = None
    worst_loss: float | None = None
    """The expected loss at the value that fares worst."""
    share_within: float | None = None
    """The probability that a report is within the tolerance."""
    identifiable: bool | None = None
    """Whether every share can be estimated without bias."""
    mean_error: float | None = None
    """The standard error of the estimated mean; around a circle of its cosine and sine."""
    histogram_error: float | None = None
    """The root mean square, over values, of the standard error of one share."""
    distribution_error: float | None = None
    """The same over cumulative shares."""
    gap: float | None = None
    """For Anchored: at most how far it is above the best release of a value, as a fraction."""
    note: str = ""
    """Why a figure is missing, or another remark."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __repr__(self) -> str:
        figures = {"expected loss": self.expected_loss, "error of the mean": self.mean_error}
        told = ", ".join(f"{name} {value:.6g}" for name, value in figures.items() if value is not None)
        return f"<Row: {self.mechanism}{f' at ε = {self.epsilon}' if self.epsilon else ''}: {told or self.note}>"


class Measure(NamedTuple):
    """The names of a figure."""

    short: str
    """Column header."""
    title: str
    of: str = ""
    """What :func:`bipartite.forecast` calls it: an error of an estimate, which falls with the number of people."""


MEASURES: Final = {
    "expected_loss": Measure("expected", "expected error of one release"),
    "median_loss": Measure("median", "median error of one release"),
    "worst_loss": Measure("worst", "expected error at the worst value"),
    "share_within": Measure("within", "share of reports within the tolerance"),
    "mean_error": Measure("mean ±", "standard error of the mean", "mean"),
    "histogram_error": Measure("share ±", "standard error of a share", "share"),
    "distribution_error": Measure("cumulative ±", "standard error of a cumulative share", "distribution"),
}
"""The figures that can be compared, by their fields in a row."""
COLUMNS: tuple[str, ...] = tuple(each.name for each in fields(Row))

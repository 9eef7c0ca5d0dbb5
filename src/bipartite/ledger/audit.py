"""What an auditor reads: every debit, and what all reports to one question that were drawn in one period guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from bipartite.ledger import statements
from bipartite.ledger.amounts import decimal_of
from bipartite.ledger.periods import FOREVER
from bipartite.texts import Printed, escaped

if TYPE_CHECKING:
    import sqlite3

    from bipartite.ledger.serving import OnChange

_RETRIES: Final = "; retrying a request of an earlier period repeats that period's report: see its certificate"
_PROMISES: Final = {
    "repeat": (
        "ε-LDP with ε = {one} for all reports drawn in the period: one per person, from the value at the first "
        "request, repeated even if the value changes"
    ),
    "fresh": (
        "ε-LDP with ε = {one} for each report; all reports of one person drawn in the period together, for any "
        "sequence of values, at most ε = {together}, the most that the budget allows"
    ),
    "when-changed": (
        "ε-LDP with ε = {one} for each report alone; the fact and the time of each change of the value are published: "
        "this is not LDP for sequences of values, and no ε covers it"
    ),
}


@dataclass(frozen=True, slots=True)
class Debit:
    """One debit of the export for an auditor: person, question, ε and time, without the value or the report."""

    person: str
    period: str
    question: str
    number: int
    """The number of this report among the person's reports to the question in the period, from 1."""
    on_change: str
    spec_sha256: str
    epsilon: Decimal
    """The ε that was debited."""
    time: str
    insecure: bool
    """Whether it was drawn from random words that someone may know (``rng=``): such a report is **not private**,
    whatever was debited."""


@dataclass(frozen=True, slots=True, repr=False)
class QuestionCertificate(Printed):
    """The guarantee of all reports to a question about one person that were drawn in one period.

    A retry with the request key of an earlier period repeats the report of that period, whose certificate covers it.
    """

    question: str
    period: str
    on_change: OnChange
    epsilon_report: Decimal
    """The ε of one report, as debited."""
    epsilon_period: Decimal
    """The ε of all reports to the question that were drawn in the period together, for any sequence of values: infinite
    if the reports reveal when the value changed or if some were drawn from insecure words."""
    spec_sha256: str
    """The SHA-256 of the mechanism's spec."""
    insecure: bool
    """Whether some reports were drawn from random words that someone may know (``rng=``) and so are not private."""

    @property
    def ldp_for_sequences(self) -> bool:
        """Whether any two sequences of values of one person are indistinguishable up to a finite ε."""
        return self.epsilon_period.is_finite()

    @property
    def guarantee(self) -> str:
        """What is guaranteed, and what is not, as text."""
        if self.insecure:
            return "NOT PRIVATE: some reports were drawn from words that someone may know (rng=); no ε is claimed"
        promise = _PROMISES[self.on_change].format(one=self.epsilon_report, together=self.epsilon_period)
        return promise + ("" if self.period == FOREVER else _RETRIES)

    def __str__(self) -> str:
        return (
            f"{escaped(self.question)}, period {self.period}: {self.guarantee}\n"
            "  not covered: whether, when and how often a person was asked or refused\n"
            f"  spec sha256: {self.spec_sha256}"
        )


def certificates(database: sqlite3.Connection, budget: int) -> list[QuestionCertificate]:
    """The certificates of all questions, ordered by period and name."""
    return [_certificate(budget, *row) for row in database.execute(statements.QUESTIONS)]


def _certificate(
    budget: int, period: str, question: str, on_change: OnChange, spec_sha256: str, units: int, mark: int
) -> QuestionCertificate:
    # Fresh reports: as many as fit into the budget, whatever else was asked.
    together = decimal_of(budget // max(units, 1) * units if on_change == "fresh" else units)
    if mark or on_change == "when-changed":
        together = Decimal("Infinity")
    return QuestionCertificate(question, period, on_change, decimal_of(units), together, spec_sha256, bool(mark))


def summary(database: sqlite3.Connection) -> dict[str, Any]:
    """The numbers of people, periods, questions and reports, and the most that any person has spent."""
    counts = {name: database.execute(query).fetchone()[0] for name, query in statements.SUMMARY.items()}
    return {name: decimal_of(count) if "spent" in name else count for name, count in counts.items()}

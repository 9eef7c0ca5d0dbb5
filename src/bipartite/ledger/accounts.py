"""Reading a ledger: balances, a summary, and every debit for an auditor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.ledger.amounts import decimal_of
from bipartite.ledger.names import stored_forms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from decimal import Decimal

    from bipartite.ledger.file import LedgerFile

_PEOPLE: Final = (
    "(SELECT coalesce((SELECT min(name) FROM spellings WHERE kind = 'person' AND stored = person), person) AS name, "
    "period, spent FROM balances)"
)


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
    insecure: bool | None
    """Whether it was drawn from random words that someone may know (``rng=``): such a report is **not private**,
    whatever was debited. None for debits of version 1, which did not record it."""


def balances(database: sqlite3.Connection, name: str, others: Iterable[str]) -> dict[str, int]:
    """The units that a person has spent in each period, under all forms of the name."""
    spent: dict[str, int] = {}
    for each in stored_forms(database, "person", name, others):
        for period, units in database.execute("SELECT period, spent FROM balances WHERE person = ?", (each,)):
            spent[period] = spent.get(period, 0) + units
    return spent


def summary(database: sqlite3.Connection) -> dict[str, Any]:
    """The numbers of people, periods, questions and reports, and the most that any person has spent."""
    people, most_ever = database.execute(
        f"SELECT count(*), coalesce(max(ever), 0) FROM (SELECT sum(spent) AS ever FROM {_PEOPLE} GROUP BY name)"  # noqa: S608
    ).fetchone()
    most = database.execute(
        f"SELECT coalesce(max(one), 0) FROM (SELECT sum(spent) AS one FROM {_PEOPLE} GROUP BY name, period)"  # noqa: S608
    ).fetchone()[0]
    periods, questions = database.execute(
        "SELECT count(DISTINCT period), count(DISTINCT question) FROM questions"
    ).fetchone()
    reports, insecure = database.execute("SELECT count(*), count(nullif(insecure, 0)) FROM reports").fetchone()
    return {
        "people": people,
        "periods": periods,
        "questions": questions,
        "reports": reports,
        "insecure_reports": insecure,
        "most_spent_in_a_period": decimal_of(most),
        "most_spent_ever": decimal_of(most_ever),
    }


def debits(file: LedgerFile) -> Iterator[Debit]:
    """Every debit, ordered by person, period and question, from one snapshot."""
    for person, period, question, number, on_change, spec, units, when, mark in file.stream(
        "SELECT person, period, question, number, on_change, spec_sha256, reports.epsilon, time, "
        "reports.insecure FROM reports JOIN questions USING (period, question) "
        "ORDER BY person, period, question, number"
    ):
        insecure = None if mark is None else bool(mark)
        yield Debit(person, period, question, number, on_change, spec, decimal_of(units), when, insecure)

"""What a ledger has written down, read: balances, sums for a first look, and every debit for an auditor."""

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
    """One line of the export for an auditor: who was debited what for which question, and when; no value, no report."""

    person: str
    period: str
    question: str
    number: int
    """Which report of the person to this question in this period: 1 for the first."""
    on_change: str
    spec_sha256: str
    epsilon: Decimal
    """What was debited."""
    time: str
    insecure: bool | None
    """Whether it was drawn from words that someone may know (``rng=``): such a report is **not private**, whatever was
    debited. None for debits of version 1, which did not note it."""


def balances(database: sqlite3.Connection, name: str, others: Iterable[str]) -> dict[str, int]:
    """What a person, under all forms of the name, has spent in each period, in units."""
    spent: dict[str, int] = {}
    for each in stored_forms(database, "person", name, others):
        for period, units in database.execute("SELECT period, spent FROM balances WHERE person = ?", (each,)):
            spent[period] = spent.get(period, 0) + units
    return spent


def summary(database: sqlite3.Connection) -> dict[str, Any]:
    """How many people, periods, questions, reports, and the most that anyone has spent."""
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
    """Every debit, in order of person, period and question, of one moment."""
    for person, period, question, number, on_change, spec, units, when, mark in file.stream(
        "SELECT person, period, question, number, on_change, spec_sha256, reports.epsilon, time, "
        "reports.insecure FROM reports JOIN questions USING (period, question) "
        "ORDER BY person, period, question, number"
    ):
        insecure = None if mark is None else bool(mark)
        yield Debit(person, period, question, number, on_change, spec, decimal_of(units), when, insecure)

"""Consistency of a ledger: balances are sums of debits within the budget, and every reference resolves."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Final

from bipartite.errors import BipartiteError
from bipartite.ledger.names import unrecorded_names
from bipartite.ledger.offer import Offer
from bipartite.ledger.periods import Period, check_now
from bipartite.ledger.serving import ON_CHANGE
from bipartite.mechanisms.spec import load_spec

if TYPE_CHECKING:
    import sqlite3

# Each query counts rows that a ledger written by bipartite never contains.
_FINDINGS: Final = {
    "{} balances beyond the budget": ("SELECT count(*) FROM balances, settings WHERE spent > budget OR spent < 0"),
    "{} balances that are not the sum of their debits": (
        "SELECT count(*) FROM (SELECT person, period, sum(epsilon) AS debited FROM reports GROUP BY person, period) "
        "LEFT JOIN balances USING (person, period) WHERE debited IS NOT spent"
    ),
    "{} balances without a debit": (
        "SELECT count(*) FROM balances LEFT JOIN reports USING (person, period) WHERE question IS NULL"
    ),
    "{} reports to a question that the period does not have, or at another ε": (
        "SELECT count(*) FROM reports LEFT JOIN questions USING (period, question) "
        "WHERE reports.epsilon IS NOT questions.epsilon"
    ),
    "{} questions whose spec is missing": (
        "SELECT count(*) FROM questions LEFT JOIN specs ON spec_sha256 = sha256 WHERE spec IS NULL"
    ),
    "{} second reports to a question that repeats its first": (
        "SELECT count(*) FROM reports JOIN questions USING (period, question) WHERE on_change = 'repeat' AND number > 1"
    ),
    "{} people and questions whose reports are not numbered from 1 without a gap": (
        "SELECT count(*) FROM (SELECT max(number) AS last, count(*) AS held FROM reports "
        "GROUP BY person, period, question) WHERE last <> held"
    ),
    "{} answered requests without their report": (
        "SELECT count(*) FROM requests LEFT JOIN reports USING (person, period, question, number) "
        "WHERE reports.time IS NULL"
    ),
    "{} questions that are not marked insecure although reports to them are": (
        "SELECT count(*) FROM questions WHERE insecure IS NOT 1 AND EXISTS (SELECT 1 FROM reports "
        "WHERE insecure = 1 AND reports.period = questions.period AND reports.question = questions.question)"
    ),
    "{} questions that are marked insecure although no report to them is": (
        "SELECT count(*) FROM questions WHERE insecure = 1 AND NOT EXISTS (SELECT 1 FROM reports "
        "WHERE insecure = 1 AND reports.period = questions.period AND reports.question = questions.question)"
    ),
    "{} reports that do not record whether they were drawn from insecure words": (
        "SELECT count(*) FROM reports, settings WHERE insecure IS NULL AND NOT older_names"
    ),
    "{} budgets that differ from the limit enforced on balances": (
        "SELECT count(*) FROM settings WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_schema "
        "WHERE name = 'balances' AND sql LIKE '%BETWEEN 0 AND ' || budget || ')%')"
    ),
    "{} balances of people who are not stored under the key of the ledger": (
        "SELECT count(*) FROM balances, settings WHERE person_key IS NOT NULL "
        "AND (length(person) <> length(person_key) OR person GLOB '*[^0-9a-f]*')"
    ),
    "{} people who are beyond the budget over all forms of their names": (
        "SELECT count(*) FROM (SELECT name, period, sum(spent) AS together FROM "
        "(SELECT name, stored AS person FROM spellings WHERE kind = 'person' UNION "
        "SELECT name, name FROM spellings WHERE kind = 'person') JOIN balances USING (person) "
        "GROUP BY name, period HAVING count(*) > 1), settings WHERE together > budget"
    ),
}


def findings(database: sqlite3.Connection) -> list[str]:
    """A description of every inconsistency; an empty list if there is none."""
    found = [f"SQLite: {row[0]}" for row in database.execute("PRAGMA integrity_check(10)") if row[0] != "ok"]
    counts = {text: database.execute(query).fetchone()[0] for text, query in _FINDINGS.items()}
    for kind, count in Counter(kind for kind, _ in unrecorded_names(database)).items():
        text = f"{{}} names of a {kind} that are not in canonical form, so that debits under them are not counted"
        counts[text] = count
    rules = database.execute("SELECT on_change FROM questions")
    counts["{} questions with an unknown on_change rule"] = sum(rule not in ON_CHANGE for (rule,) in rules)
    counts["{} periods with reports dated outside them"] = _count_wrong_times(database)
    counts |= _count_wrong_prices(database)
    return found + [text.format(count) for text, count in counts.items() if count]


def _count_wrong_times(database: sqlite3.Connection) -> int:
    """Count periods with reports dated outside them; times sort as text, so the first and last suffice."""
    how = Period.of(database.execute("SELECT period FROM settings").fetchone()[0])
    ends = database.execute("SELECT period, min(time), max(time) FROM reports GROUP BY period")
    return sum({_period_of(how, first), _period_of(how, last)} != {period} for period, first, last in ends)


def _period_of(how: Period, time: str) -> str | None:
    try:
        return how.name_at(check_now(datetime.fromisoformat(time)))
    except (ValueError, TypeError):
        return None


def _count_wrong_prices(database: sqlite3.Connection) -> dict[str, int]:
    """Count specs with a wrong hash and questions debited at another ε than their spec states."""
    prices = {sha256: _price(sha256, spec) for sha256, spec in database.execute("SELECT sha256, spec FROM specs")}
    debited = database.execute("SELECT spec_sha256, epsilon FROM questions")
    return {
        "{} specs that do not match their SHA-256": sum(price is None for price in prices.values()),
        "{} questions at another ε than that of their mechanism": sum(
            prices.get(sha256) not in {None, epsilon} for sha256, epsilon in debited
        ),
    }


def _price(sha256: str, spec: str) -> int | None:
    """The debit for a report of this spec; None if it is not an ε-LDP mechanism or its hash differs."""
    try:
        offer = Offer.of(load_spec(spec))
    except BipartiteError:
        return None
    return offer.units if offer.spec_sha256 == sha256 else None

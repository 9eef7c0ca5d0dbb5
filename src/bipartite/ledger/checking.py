"""Consistency of a ledger: debits are within the budget, and every reference resolves."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bipartite.errors import BipartiteError
from bipartite.ledger import statements
from bipartite.ledger.names import canonical
from bipartite.ledger.offer import Offer
from bipartite.ledger.periods import Period, check_now
from bipartite.ledger.serving import ON_CHANGE
from bipartite.ledger.versions import version_of
from bipartite.mechanisms.spec import load_spec

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


def findings(database: sqlite3.Connection) -> list[str]:
    """A description of every inconsistency; an empty list if there is none."""
    broken = [f"SQLite: {row[0]}" for row in database.execute("PRAGMA integrity_check(10)") if row[0] != "ok"]
    current = version_of(database) == statements.VERSION
    wrong = counted(database, statements.FINDINGS if current else statements.FINDINGS | statements.FINDINGS_2)
    settings = dict(database.execute(statements.SETTINGS))
    counts: dict[str, int] = {}
    for kind, query in statements.NAMES.items():
        text = f"{{}} names of a {kind} that are not in canonical form, so that debits under them are not counted"
        counts[text] = sum(name != canonical(name) for (name,) in database.execute(query))
    rules = database.execute(statements.RULES)
    counts["{} questions with an unknown on_change rule"] = sum(rule not in ON_CHANGE for (rule,) in rules)
    how = Period.of(settings["period"])
    counts["{} periods with reports dated outside them"] = sum(
        {_period_of(how, first), _period_of(how, last)} != {period}  # times sort as text
        for period, first, last in database.execute(statements.TIMES)
    )
    prices = {sha256: _price(sha256, spec) for sha256, spec in database.execute(statements.SPECS)}
    counts["{} specs that do not match their SHA-256"] = sum(price is None for price in prices.values())
    counts["{} questions at another ε than that of their mechanism"] = sum(
        prices.get(sha256) not in {None, epsilon} for sha256, epsilon in database.execute(statements.PRICES)
    )
    if current:
        expected = statements.schema(int(settings["budget"])).items()
        differ = expected ^ set(database.execute(statements.SCHEMA))
        counts["{} tables or triggers that differ from those of a ledger with this budget"] = len(dict(differ))
    return broken + wrong + _told(counts)


def counted(database: sqlite3.Connection, queries: Mapping[str, str]) -> list[str]:
    """What these queries count, described; without those that count nothing."""
    return _told({text: database.execute(query).fetchone()[0] for text, query in queries.items()})


def _told(counts: Mapping[str, int]) -> list[str]:
    return [text.format(count) for text, count in counts.items() if count]


def _period_of(how: Period, time: str) -> str | None:
    try:
        return how.name_at(check_now(datetime.fromisoformat(time)))
    except (ValueError, TypeError):
        return None


def _price(sha256: str, spec: str) -> int | None:
    """The debit for a report of this spec; None if it is not an ε-LDP mechanism or its hash differs."""
    try:
        offer = Offer.of(load_spec(spec))
    except BipartiteError:
        return None
    return offer.units if offer.spec_sha256 == sha256 else None

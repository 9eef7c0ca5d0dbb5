"""What an auditor reads: every debit, what the reports to a question guarantee, and everything that does not add up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from bipartite.errors import BipartiteError
from bipartite.ledger import statements
from bipartite.ledger.names import canonical
from bipartite.ledger.offer import Offer
from bipartite.ledger.settings import FOREVER, Period, Settings, check_now, decimal_of
from bipartite.mechanisms.spec import load_spec
from bipartite.texts import Printed, escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bipartite.ledger.connection import Connection
    from bipartite.ledger.server import Tables
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


def certificates(database: Connection | Tables, budget: int) -> list[QuestionCertificate]:
    """The certificates of all questions, ordered by period and name."""
    found = []
    for period, question, on_change, spec_sha256, units, insecure in database.execute(statements.QUESTIONS):
        # Fresh reports: as many as fit into the budget, whatever else was asked.
        together = decimal_of(budget // max(units, 1) * units if on_change == "fresh" else units)
        if insecure or on_change == "when-changed":
            together = Decimal("Infinity")
        known = decimal_of(units), together, spec_sha256, bool(insecure)
        found.append(QuestionCertificate(question, period, on_change, *known))
    return found


def findings(database: Connection | Tables) -> list[str]:
    """A description of every inconsistency; an empty list if there is none."""
    damage = database.damage()
    current = database.version() == statements.VERSION
    wrong = counted(database, statements.FINDINGS if current else statements.FINDINGS | statements.FINDINGS_2)
    settings = Settings.of(dict(database.execute(statements.SETTINGS)))
    counts: dict[str, int] = {}
    for kind, query in statements.NAMES.items():
        text = f"{{}} names of a {kind} that are not in canonical form, so that debits under them are not counted"
        counts[text] = sum(isinstance(name, str) and name != canonical(name) for (name,) in database.execute(query))
    counts["{} periods with reports dated outside them"] = sum(
        {_period_of(settings.period, first), _period_of(settings.period, last)} != {period}  # times sort as text
        for period, first, last in database.execute(statements.TIMES)
    )
    prices = {sha256: _price(sha256, spec) for sha256, spec in database.execute(statements.SPECS)}
    counts["{} specs that do not match their SHA-256"] = sum(price is None for price in prices.values())
    counts["{} questions at another ε than that of their mechanism"] = sum(
        prices.get(sha256) not in {None, epsilon} for sha256, epsilon in database.execute(statements.PRICES)
    )
    if current:
        expected, held = database.parts(settings.budget)
        differ = expected.items() ^ held.items()
        counts["{} tables or triggers that differ from those of a ledger with this budget"] = len(dict(differ))
    return damage + wrong + _told(counts)


def counted(database: Connection | Tables, queries: Mapping[str, str]) -> list[str]:
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

"""The joint guarantee of all reports to one question that were drawn in one period."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from bipartite.ledger.amounts import decimal_of
from bipartite.ledger.names import canonical
from bipartite.ledger.periods import FOREVER
from bipartite.texts import Printed, escaped

if TYPE_CHECKING:
    import sqlite3

    from bipartite.ledger.file import Settings
    from bipartite.ledger.serving import OnChange

_NamedIn = tuple[str, str]
"""A period, and the canonical form of a question's name."""
_RETRIES: Final = "; retrying a request of an earlier period repeats that period's report: see its certificate"
# Debits of version 1, which may have treated two forms of one name as two people or questions.
_OLDER_DEBITS: Final = """
WITH people AS (SELECT stored AS person, name FROM spellings WHERE kind = 'person'
                UNION SELECT name, name FROM spellings WHERE kind = 'person'),
     forms AS (SELECT stored FROM spellings WHERE kind = 'question'
               UNION SELECT name FROM spellings WHERE kind = 'question')
SELECT period, question, coalesce(name, person) AS who, sum(epsilon) FROM reports LEFT JOIN people USING (person)
WHERE name IS NOT NULL OR question IN forms GROUP BY period, question, who
"""


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
    if the reports reveal when the value changed or if some were drawn from insecure words. Larger than the rule allows
    if version 1 treated forms of one name as several."""
    spec_sha256: str
    """The SHA-256 of the mechanism's spec."""
    insecure: bool | None
    """Whether some reports were drawn from random words that someone may know (``rng=``) and so are not private; None
    if some are older than version 2 of ledgers, which records it, and none is known to be insecure."""

    @property
    def ldp_for_sequences(self) -> bool:
        """Whether any two sequences of values of one person are indistinguishable up to a finite ε."""
        return self.epsilon_period.is_finite()

    @property
    def guarantee(self) -> str:
        """What is guaranteed, and what is not, as text."""
        if self.insecure:
            return "NOT PRIVATE: some reports were drawn from words that someone may know (rng=); no ε is claimed"
        promise = self._promise + ("" if self.period == FOREVER else _RETRIES)
        if self.insecure is False:
            return promise
        return (
            f"{promise}, provided that none was drawn with rng= and nobody was asked under two names: some are "
            "older than version 2 of ledgers, which checks both"
        )

    @property
    def _promise(self) -> str:
        one, all_of_them = self.epsilon_report, self.epsilon_period
        if self.on_change == "repeat" and all_of_them == one:
            return (
                f"ε-LDP with ε = {one} for all reports drawn in the period: one per person, from the value at the "
                "first request, repeated even if the value changes"
            )
        if self.on_change == "repeat":
            return (
                f"ε-LDP with ε = {all_of_them} for all reports drawn in the period: some people have several, of "
                f"ε = {one} each, because version 1 of ledgers treated forms of one name as several"
            )
        if self.on_change == "fresh":
            return (
                f"ε-LDP with ε = {one} for each report; all reports of one person drawn in the period together, for "
                f"any sequence of values, at most ε = {all_of_them}, the most that the budget allows"
            )
        return (
            f"ε-LDP with ε = {one} for each report alone; the fact and the time of each change of the value are "
            "published: this is not LDP for sequences of values, and no ε covers it"
        )

    def __str__(self) -> str:
        return (
            f"{escaped(self.question)}, period {self.period}: {self.guarantee}\n"
            "  not covered: whether, when and how often a person was asked or refused\n"
            f"  spec sha256: {self.spec_sha256}"
        )


def certificates(
    database: sqlite3.Connection, settings: Settings, period: str | None = None
) -> list[QuestionCertificate]:
    """The certificates of all questions, or of those of one period, ordered by period and name.

    Forms of one name that version 1 treated as several questions are one, so each certificate covers them all; a name
    has several certificates only if their rules or mechanisms differ.
    """
    rows = database.execute(
        "SELECT period, question, on_change, spec_sha256, epsilon, insecure FROM questions "
        "WHERE period = coalesce(?, period) ORDER BY period, question",
        (period,),
    ).fetchall()
    marks: dict[_NamedIn, set[int | None]] = {}
    for when, question, *_, mark in rows:
        marks.setdefault((when, canonical(question)), set()).add(mark)
    debited = _most_debited(database) if settings.older_names else {}
    found = []
    for when, question, on_change, spec_sha256, units, _ in rows:
        named = when, canonical(question)
        insecure = True if 1 in marks[named] else None if None in marks[named] else False
        if insecure or on_change == "when-changed":
            together = Decimal("Infinity")
        else:
            # Fresh reports: as many as fit into the budget, whatever else was asked.
            by_rule = settings.budget // max(units, 1) * units if on_change == "fresh" else units
            together = decimal_of(max(by_rule, debited.get(named, 0)))
        found.append(QuestionCertificate(named[1], when, on_change, decimal_of(units), together, spec_sha256, insecure))
    return sorted(dict.fromkeys(found), key=lambda each: (each.period, each.question))


def _most_debited(database: sqlite3.Connection) -> dict[_NamedIn, int]:
    """The most that was debited to one person for a question, summed over all forms of both names."""
    debited: dict[tuple[str, str, str], int] = {}
    for period, question, who, units in database.execute(_OLDER_DEBITS):
        key = period, canonical(question), who
        debited[key] = debited.get(key, 0) + units
    most: dict[_NamedIn, int] = {}
    for (period, question, _), units in debited.items():
        most[period, question] = max(units, most.get((period, question), 0))
    return most

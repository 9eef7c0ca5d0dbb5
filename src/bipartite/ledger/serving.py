"""One transaction for the people who are asked one question: find, debit, draw, store."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from bipartite.errors import BudgetSpentError, InputError
from bipartite.ledger.amounts import decimal_of
from bipartite.ledger.names import stored_forms
from bipartite.ledger.periods import FOREVER
from bipartite.ledger.stored import from_stored, to_stored

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bipartite.ledger.file import Settings
    from bipartite.ledger.offer import Offer
    from bipartite.ledger.stored import Report

OnChange = Literal["repeat", "fresh", "when-changed"]
ON_CHANGE: Final = ("repeat", "fresh", "when-changed")
WhenSpent = Literal["refuse", "skip"]


class Ask(NamedTuple):
    """One request: the person as stored, the request key, and whether the value is said to have changed."""

    person: str
    request: str | None
    changed: bool | None
    older_names: tuple[str, ...] = ()
    """Other names under which version 1 may have stored the person."""
    older_requests: tuple[str, ...] = ()
    """Other keys under which version 1 may have stored the request."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, at which ε, when, and in which period."""

    name: str
    offer: Offer
    on_change: OnChange
    period: str
    now: datetime
    insecure: bool
    """Whether someone may know the random words that reports are drawn from."""


@dataclass(slots=True)
class _Standing:
    """A person's reports to this question in this period, and what the person has spent."""

    number: int = 0
    """The number of reports under the canonical form of both names."""
    last: tuple[str, str, int] | None = None
    """The last report: person and question as stored, and its number."""
    stored: Any = None
    """The last report as stored; None if there is none or it is drawn in this transaction."""
    drawn_at: int | None = None
    """The position in this transaction for which the last report is drawn."""
    spent: int = 0
    """Units spent under all forms of the name."""
    own: int = 0
    """Units spent under the canonical form of the name."""


def serve(
    database: sqlite3.Connection,
    question: Question,
    asks: Sequence[Ask],
    draw: Callable[[Sequence[int]], Sequence[Any]],
    settings: Settings,
    when_spent: WhenSpent,
) -> list[Any]:
    """The reports of these people in order, debited and stored; None for those whose budget is spent, if skipped.

    ``draw`` returns the reports for the positions that need a new one, so that a value whose report is stored is not
    even read.
    """
    transaction = _Transaction(database, question, settings)
    if settings.older_names:
        for ask in asks:
            transaction.record_older_names(ask)
    for at, ask in enumerate(asks):
        if not transaction.consider(at, ask) and when_spent == "refuse":
            raise transaction.refusal(ask.person, at if len(asks) > 1 else None)
    transaction.finish(draw)
    return [transaction.reports.get(at) for at in range(len(asks))]


class _Transaction:
    """The requests of one transaction, in order: which reports exist, and which are to be drawn."""

    def __init__(self, database: sqlite3.Connection, question: Question, settings: Settings) -> None:
        self.database, self.question, self.settings = database, question, settings
        self.settled = False
        self.questions: tuple[str, ...] = (question.name,)
        """The question, and other forms under which version 1 stored it."""
        if settings.older_names:
            self.questions = stored_forms(database, "question", question.name)
        self.standings: dict[str, _Standing] = {}
        self.reports: dict[int, Any] = {}
        """The known reports, by position."""
        self.draws: list[int] = []
        """The positions that need a new report."""
        self.repeats: list[tuple[int, int]] = []
        """(position, earlier position whose report it repeats)."""
        self.new_reports: list[tuple[Any, ...]] = []
        self.new_requests: list[tuple[Any, ...]] = []
        self.answered: dict[tuple[str, str], int] = {}
        """The position in this transaction that answers a person's request."""

    def record_older_names(self, ask: Ask) -> None:
        """Record other names under which version 1 debited this person, so that every form finds them."""
        for each in ask.older_names:
            if self.database.execute("SELECT 1 FROM balances WHERE person = ? LIMIT 1", (each,)).fetchone():
                self.database.execute("INSERT OR IGNORE INTO spellings VALUES ('person', ?, ?)", (each, ask.person))

    def consider(self, at: int, ask: Ask) -> bool:
        """Find the report for this request or schedule a draw; False if the budget does not allow it."""
        before = self._answer_before(ask)
        if before is not None:
            self.reports[at] = before
            return True
        earlier = None if ask.request is None else self.answered.get((ask.person, ask.request))
        if earlier is not None:
            self.repeats.append((at, earlier))
            return True
        self._settle()
        standing = self._standing_of(ask.person)
        if _needs_new(self.question, ask, standing):
            if standing.spent + self.question.offer.units > self.settings.budget:
                return False
            self._debit(at, ask.person, standing)
        elif standing.drawn_at is not None:
            self.repeats.append((at, standing.drawn_at))
        else:
            self.reports[at] = from_stored(standing.stored)
        if ask.request is not None and standing.last is not None:
            who, which, number = standing.last
            self.new_requests.append((who, ask.request, self.question.period, which, number))
            self.answered[ask.person, ask.request] = at
        return True

    def finish(self, draw: Callable[[Sequence[int]], Sequence[Any]]) -> None:
        """Draw the scheduled reports, and store everything."""
        if self.draws:
            drawn = draw(self.draws)
            self.reports.update(zip(self.draws, drawn, strict=True))
            self._store(drawn)
        for at, earlier in self.repeats:
            self.reports[at] = self.reports[earlier]
        self.database.executemany("INSERT INTO requests VALUES (?, ?, ?, ?, ?)", self.new_requests)

    def refusal(self, person: str, position: int | None) -> BudgetSpentError:
        """The error for a person whose budget does not allow the report."""
        spent = self._standing_of(person).spent
        amounts = (self.settings.budget, spent, self.question.offer.units)
        budget, held, asked = map(decimal_of, amounts)
        who = "" if position is None else f"persons[{position}]: "
        if asked > budget:
            hint = "a single report exceeds the whole budget; use a smaller ε"
        elif self.question.period == FOREVER:
            hint = f"the budget is for all time, with ε = {decimal_of(self.settings.budget - spent)} left"
        else:
            hint = "wait for the next period"
        if position is not None:
            hint += "; or pass when_spent='skip'"
        msg = (
            f"{who}The budget of the period {self.question.period} does not allow this report: budget {budget}, spent "
            f"{held}, asked {asked}. Nothing was drawn or debited; {hint}."
        )
        return BudgetSpentError(msg, budget, held, asked)

    def _names_of(self, person: str) -> tuple[str, ...]:
        """The name of a person, and other forms under which version 1 stored them."""
        return stored_forms(self.database, "person", person) if self.settings.older_names else (person,)

    def _answer_before(self, ask: Ask) -> Report | None:
        """The stored report of a request that was answered before, in any period; None if there is none."""
        if ask.request is None:
            return None
        for who, request in product(self._names_of(ask.person), (ask.request, *ask.older_requests)):
            found = self.database.execute(
                "SELECT requests.question, report FROM requests JOIN reports USING (person, period, question, number) "
                "WHERE requests.person = ? AND request = ?",
                (who, request),
            ).fetchone()
            if found is None:
                continue
            if found[0] not in self.questions:
                raise InputError(
                    f"Expected a new request key, this one was used for the question {found[0]!r}; use one key per "
                    "request."
                )
            return from_stored(found[1])
        return None

    def _settle(self) -> None:
        """Store, once, the mechanism and rule of this question in this period, or refuse others."""
        if self.settled:
            return
        self.settled = True
        question, offer = self.question, self.question.offer
        for which in self.questions:
            found = self.database.execute(
                "SELECT spec_sha256, on_change FROM questions WHERE period = ? AND question = ?",
                (question.period, which),
            ).fetchone()
            if found is not None:
                _check_meaning(question, found[0], found[1])
                if which == question.name:
                    return
        self.database.execute("INSERT OR IGNORE INTO specs VALUES (?, ?)", (offer.spec_sha256, offer.spec))
        self.database.execute(
            "INSERT INTO questions VALUES (?, ?, ?, ?, ?, 0)",
            (question.period, question.name, question.on_change, offer.spec_sha256, offer.units),
        )

    def _standing_of(self, person: str) -> _Standing:
        """The person's standing, including this transaction so far."""
        if person not in self.standings:
            self.standings[person] = self._read_standing(person)
        return self.standings[person]

    def _read_standing(self, person: str) -> _Standing:
        period, standing = self.question.period, _Standing()
        for who in self._names_of(person):
            for which in self.questions:
                found = self.database.execute(
                    "SELECT number, report FROM reports WHERE person = ? AND period = ? AND question = ? "
                    "ORDER BY number DESC LIMIT 1",
                    (who, period, which),
                ).fetchone()
                if found is None:
                    continue
                if (who, which) == (person, self.question.name):
                    standing.number = found[0]
                if standing.last is None:
                    standing.last, standing.stored = (who, which, found[0]), found[1]
            query = "SELECT spent FROM balances WHERE person = ? AND period = ?"
            units = (self.database.execute(query, (who, period)).fetchone() or (0,))[0]
            standing.spent += units
            standing.own += units if who == person else 0
        return standing

    def _debit(self, at: int, person: str, standing: _Standing) -> None:
        question, units = self.question, self.question.offer.units
        standing.spent += units
        standing.own += units
        standing.number += 1
        standing.last = (person, question.name, standing.number)
        standing.drawn_at = at
        self.draws.append(at)
        self.new_reports.append((person, question.period, question.name, standing.number, units))

    def _store(self, drawn: Sequence[Any]) -> None:
        question = self.question
        when = question.now.isoformat(timespec="microseconds").replace("+00:00", "Z")
        mark = int(question.insecure)
        rows = ((*key, when, to_stored(report), mark) for key, report in zip(self.new_reports, drawn, strict=True))
        self.database.executemany("INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        if question.insecure:
            self.database.execute(
                "UPDATE questions SET insecure = 1 WHERE period = ? AND question = ?", (question.period, question.name)
            )
        debited = {key[0] for key in self.new_reports}
        self.database.executemany(
            "INSERT INTO balances VALUES (?, ?, ?) ON CONFLICT (person, period) DO UPDATE SET spent = excluded.spent",
            ((person, question.period, self.standings[person].own) for person in debited),
        )


def _needs_new(question: Question, ask: Ask, standing: _Standing) -> bool:
    if standing.last is None or question.on_change == "fresh":
        return True
    if question.on_change == "repeat":
        return False
    if ask.changed is None:
        raise InputError(
            "Expected changed=True or False with on_change='when-changed' once there is a report: the ledger keeps no "
            "value, so only you can say whether it changed."
        )
    return ask.changed


def _check_meaning(question: Question, spec_sha256: str, on_change: str) -> None:
    elsewhere = "ask under another name" + ("" if question.period == FOREVER else ", or wait for the next period")
    if spec_sha256 != question.offer.spec_sha256:
        raise InputError(
            f"Expected the mechanism that {question.name!r} has in the period {question.period} "
            f"(spec {spec_sha256[:12]}…), got another (spec {question.offer.spec_sha256[:12]}…); {elsewhere}."
        )
    if on_change != question.on_change:
        raise InputError(
            f"Expected on_change={on_change!r}, as {question.name!r} has it in the period {question.period}, "
            f"got {question.on_change!r}; {elsewhere}."
        )

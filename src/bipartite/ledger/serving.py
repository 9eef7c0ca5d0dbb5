"""One transaction for the people who are asked one question: decide, debit, draw, store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from bipartite.errors import BudgetSpentError, InputError
from bipartite.ledger import statements
from bipartite.ledger.offer import from_stored
from bipartite.ledger.settings import FOREVER, decimal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bipartite.ledger.connection import Connection
    from bipartite.ledger.offer import Offer
    from bipartite.ledger.server import Tables

OnChange = Literal["repeat", "fresh", "when-changed"]
ON_CHANGE: Final = ("repeat", "fresh", "when-changed")
WhenSpent = Literal["refuse", "skip"]


class Ask(NamedTuple):
    """One request: the person as stored, the request key, and whether the value is said to have changed."""

    person: str
    request: str | None
    changed: bool | None


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
class _Entry:
    """A person's report to the question: its number, and the report itself once it is drawn."""

    number: int
    report: Any = None


def serve(
    database: Connection | Tables,
    question: Question,
    asks: Sequence[Ask],
    draw: Callable[[Sequence[int]], Sequence[Any]],
    budget: int,
    when_spent: WhenSpent,
) -> list[Any]:
    """The reports of these people in order, debited and stored; None for those whose budget is spent, if skipped.

    ``draw`` returns the reports for the positions that need a new one, so that a value whose report is stored is not
    even read.
    """
    transaction = _Transaction(database, question, budget)
    entries = []
    for at, ask in enumerate(asks):
        entry = transaction.answer(at, ask)
        if entry is None and when_spent == "refuse":
            raise transaction.refusal(ask.person, at if len(asks) > 1 else None)
        entries.append(entry)
    transaction.store(draw)
    return [None if entry is None else entry.report for entry in entries]


class _Transaction:
    """The requests of one transaction, in order: which reports exist, and which are to be drawn."""

    def __init__(self, database: Connection | Tables, question: Question, budget: int) -> None:
        self.database, self.question, self.budget = database, question, budget
        self.settled = False
        self.last: dict[str, _Entry | None] = {}
        """The last report of each person to this question in this period."""
        self.spent: dict[str, int] = {}
        """What each person has spent in this period."""
        self.answered: dict[tuple[str, str], _Entry] = {}
        """The answers to requests of this transaction, by person and key."""
        self.draws: dict[int, tuple[str, _Entry]] = {}
        """The positions that need a new report, and whose it is."""

    def answer(self, at: int, ask: Ask) -> _Entry | None:
        """The stored report for a request, or one to be drawn; None if the budget does not allow it."""
        if ask.request is not None and (known := self._known(ask.person, ask.request)):
            return known
        self._settle()
        entry = self._last(ask.person)
        if entry is None or self._needs_new(ask):
            if self._spent(ask.person) + self.question.offer.units > self.budget:
                return None
            entry = _Entry(1 if entry is None else entry.number + 1)
            self.spent[ask.person] += self.question.offer.units
            self.last[ask.person] = entry
            self.draws[at] = ask.person, entry
        if ask.request is not None:
            self.answered[ask.person, ask.request] = entry
        return entry

    def store(self, draw: Callable[[Sequence[int]], Sequence[Any]]) -> None:
        """Draw what is to be drawn, and store everything."""
        question = self.question
        if self.draws:
            for (_, entry), report in zip(self.draws.values(), draw(list(self.draws)), strict=True):
                entry.report = report
            when = question.now.isoformat(timespec="microseconds").replace("+00:00", "Z")
            rows = (
                (person, question.period, question.name, entry.number, question.offer.units, when,
                 self.database.stored(entry.report), int(question.insecure))
                for person, entry in self.draws.values()
            )  # fmt: skip
            self.database.executemany(statements.ADD_REPORT, rows)
            if question.insecure:
                self.database.execute(statements.MARK_INSECURE, (question.period, question.name))
        if self.answered:
            rows_of_requests = (
                (person, request, question.period, question.name, entry.number)
                for (person, request), entry in self.answered.items()
            )
            self.database.executemany(statements.ADD_REQUEST, rows_of_requests)

    def refusal(self, person: str, position: int | None) -> BudgetSpentError:
        """The error for a person whose budget does not allow the report."""
        spent = self._spent(person)
        budget, held, asked = map(decimal_of, (self.budget, spent, self.question.offer.units))
        who = "" if position is None else f"persons[{position}]: "
        if asked > budget:
            hint = "a single report exceeds the whole budget; use a smaller ε"
        elif self.question.period == FOREVER:
            hint = f"the budget is for all time, with ε = {decimal_of(self.budget - spent)} left"
        else:
            hint = "wait for the next period"
        if position is not None:
            hint += "; or pass when_spent='skip'"
        msg = (
            f"{who}The budget of the period {self.question.period} does not allow this report: budget {budget}, spent "
            f"{held}, asked {asked}. Nothing was drawn or debited; {hint}."
        )
        return BudgetSpentError(msg, budget, held, asked)

    def _known(self, person: str, request: str) -> _Entry | None:
        """The answer to a request that was answered before, in any period or in this transaction."""
        row = self.database.execute(statements.ANSWER, (person, request)).fetchone()
        if row is None:
            return self.answered.get((person, request))
        question, number, report = row
        if question != self.question.name:
            raise InputError(
                f"Expected a new request key, this one was used for the question {question!r}; use one key per request."
            )
        return _Entry(number, from_stored(report))

    def _settle(self) -> None:
        """Store, once, the mechanism and rule of this question in this period, or refuse others."""
        if self.settled:
            return
        self.settled = True
        question, offer = self.question, self.question.offer
        row = self.database.execute(statements.QUESTION, (question.period, question.name)).fetchone()
        if row is None:
            self.database.execute(statements.ADD_CONSTANT, (offer.spec_sha256, offer.spec))
            settled = (question.period, question.name, question.on_change, offer.spec_sha256, offer.units)
            self.database.execute(statements.ADD_QUESTION, settled)
            return
        spec_sha256, on_change = row
        elsewhere = "ask under another name" + ("" if question.period == FOREVER else ", or wait for the next period")
        if spec_sha256 != offer.spec_sha256:
            raise InputError(
                f"Expected the mechanism that {question.name!r} has in the period {question.period} "
                f"(spec {spec_sha256[:12]}…), got another (spec {offer.spec_sha256[:12]}…); {elsewhere}."
            )
        if on_change != question.on_change:
            raise InputError(
                f"Expected on_change={on_change!r}, as {question.name!r} has it in the period {question.period}, "
                f"got {question.on_change!r}; {elsewhere}."
            )

    def _last(self, person: str) -> _Entry | None:
        if person not in self.last:
            key = person, self.question.period, self.question.name
            row = self.database.execute(statements.LAST_REPORT, key).fetchone()
            self.last[person] = None if row is None else _Entry(row[0], from_stored(row[1]))
        return self.last[person]

    def _spent(self, person: str) -> int:
        if person not in self.spent:
            row = self.database.execute(statements.SPENT, (person, self.question.period)).fetchone()
            self.spent[person] = row[0]
        return self.spent[person]

    def _needs_new(self, ask: Ask) -> bool:
        """Whether a person who has a report to the question gets another."""
        if self.question.on_change != "when-changed":
            return self.question.on_change == "fresh"
        if ask.changed is None:
            raise InputError(
                "Expected changed=True or False with on_change='when-changed' once there is a report: the ledger keeps "
                "no value, so only you can say whether it changed."
            )
        return ask.changed

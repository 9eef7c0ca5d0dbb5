"""What one transaction does for the people who are asked one question: find, debit, draw, store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from bipartite.errors import BudgetSpentError, InputError
from bipartite.ledger.amounts import decimal_of
from bipartite.ledger.stored import from_stored, to_stored

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bipartite.ledger.offer import Offer

OnChange = Literal["repeat", "fresh", "when-changed"]
ON_CHANGE: Final = ("repeat", "fresh", "when-changed")
WhenSpent = Literal["refuse", "skip"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One person who is asked: as stored, the key of the request, and whether they say that their value changed."""

    person: str
    request: str | None
    changed: bool | None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, at which price, when, and in which period."""

    name: str
    offer: Offer
    on_change: OnChange
    period: str
    now: datetime


@dataclass(slots=True)
class _Standing:
    """What a person has of this question in this period: how many reports, the last of them, and what is spent."""

    number: int
    stored: Any
    """The last report as it is stored; None where there is none, or where it is drawn in this transaction."""
    drawn_at: int | None
    """The ask of this transaction for which the last report is drawn."""
    spent: int


class _Transaction:
    """The asks of one transaction, considered in order: which reports are there, which are to be drawn."""

    def __init__(self, database: sqlite3.Connection, question: Question, budget: int) -> None:
        self.database, self.question, self.budget = database, question, budget
        self.settled = False
        self.standings: dict[str, _Standing] = {}
        self.reports: dict[int, Any] = {}
        """The reports that are there, by position."""
        self.draws: list[int] = []
        """The positions that need a new report."""
        self.repeats: list[tuple[int, int]] = []
        """(position, earlier position) of those who get the report of that one."""
        self.new_reports: list[tuple[Any, ...]] = []
        self.new_requests: list[tuple[Any, ...]] = []
        self.answered: dict[tuple[str, str], int] = {}
        """Which ask of this transaction answered a person's request."""

    def consider(self, at: int, ask: Ask) -> bool:
        """Find the report of this ask or note that one is to be drawn; False where the budget does not allow it."""
        before = _answered(self, ask)
        if before is not None:
            self.reports[at] = before
            return True
        earlier = None if ask.request is None else self.answered.get((ask.person, ask.request))
        if earlier is not None:
            self.repeats.append((at, earlier))
            return True
        if not self.settled:
            _settle(self.database, self.question)
            self.settled = True
        standing = self.standing_of(ask.person)
        if _needs_new(self.question, ask, standing):
            if standing.spent + self.question.offer.units > self.budget:
                return False
            self._debit(at, ask.person, standing)
        elif standing.drawn_at is not None:
            self.repeats.append((at, standing.drawn_at))
        else:
            self.reports[at] = from_stored(standing.stored)
        if ask.request is not None:
            self.new_requests.append(
                (ask.person, ask.request, self.question.period, self.question.name, standing.number)
            )
            self.answered[ask.person, ask.request] = at
        return True

    def _debit(self, at: int, person: str, standing: _Standing) -> None:
        question = self.question
        standing.spent += question.offer.units
        standing.number += 1
        standing.drawn_at = at
        self.draws.append(at)
        self.new_reports.append((person, question.period, question.name, standing.number, question.offer.units))

    def standing_of(self, person: str) -> _Standing:
        """What the person has, as this transaction leaves it so far."""
        if person not in self.standings:
            self.standings[person] = _standing(self, person)
        return self.standings[person]

    def finish(self, draw: Callable[[Sequence[int]], Sequence[Any]]) -> None:
        """Draw what is to be drawn, and write everything down."""
        if self.draws:
            drawn = draw(self.draws)
            self.reports.update(zip(self.draws, drawn, strict=True))
            _store(self, drawn)
        for at, earlier in self.repeats:
            self.reports[at] = self.reports[earlier]
        self.database.executemany("INSERT INTO requests VALUES (?, ?, ?, ?, ?)", self.new_requests)


def serve(
    database: sqlite3.Connection,
    question: Question,
    asks: Sequence[Ask],
    draw: Callable[[Sequence[int]], Sequence[Any]],
    budget: int,
    when_spent: WhenSpent,
) -> list[Any]:
    """The reports of these people in order, debited and stored; None for those whose budget is spent, if skipped.

    ``draw`` gives the reports of the asks at these positions: only of those that need a new one, so that a value whose
    report is stored is not even looked at.
    """
    transaction = _Transaction(database, question, budget)
    for at, ask in enumerate(asks):
        if not transaction.consider(at, ask) and when_spent == "refuse":
            raise _refusal(transaction, transaction.standing_of(ask.person).spent, at if len(asks) > 1 else None)
    transaction.finish(draw)
    return [transaction.reports.get(at) for at in range(len(asks))]


def _answered(state: _Transaction, ask: Ask) -> Any:  # noqa: ANN401
    """The stored report of a request that was answered before, in whatever period; None where there is none."""
    if ask.request is None:
        return None
    found = state.database.execute(
        "SELECT requests.question, report FROM requests JOIN reports USING (person, period, question, number) "
        "WHERE requests.person = ? AND request = ?",
        (ask.person, ask.request),
    ).fetchone()
    if found is None:
        return None
    if found[0] != state.question.name:
        msg = f"Expected a new request key, this one was used for the question {found[0]!r}; use one key a request."
        raise InputError(msg)
    return from_stored(found[1])


def _settle(database: sqlite3.Connection, question: Question) -> None:
    """Note what this question means in this period, or refuse another meaning."""
    found = database.execute(
        "SELECT spec_sha256, on_change FROM questions WHERE period = ? AND question = ?",
        (question.period, question.name),
    ).fetchone()
    offer = question.offer
    if found is None:
        database.execute("INSERT OR IGNORE INTO specs VALUES (?, ?)", (offer.spec_sha256, offer.spec))
        database.execute(
            "INSERT INTO questions VALUES (?, ?, ?, ?, ?)",
            (question.period, question.name, question.on_change, offer.spec_sha256, offer.units),
        )
        return
    if found[0] != offer.spec_sha256:
        msg = (
            f"Expected the mechanism that {question.name!r} has in the period {question.period} "
            f"(spec {found[0][:12]}…), got another (spec {offer.spec_sha256[:12]}…); ask under another name, "
            "or wait for the next period."
        )
        raise InputError(msg)
    if found[1] != question.on_change:
        msg = (
            f"Expected on_change={found[1]!r}, as {question.name!r} has it in the period {question.period}, "
            f"got {question.on_change!r}; ask under another name, or wait for the next period."
        )
        raise InputError(msg)


def _standing(state: _Transaction, person: str) -> _Standing:
    question, database = state.question, state.database
    last = database.execute(
        "SELECT number, report FROM reports WHERE person = ? AND period = ? AND question = ? "
        "ORDER BY number DESC LIMIT 1",
        (person, question.period, question.name),
    ).fetchone()
    spent = database.execute(
        "SELECT spent FROM balances WHERE person = ? AND period = ?", (person, question.period)
    ).fetchone()
    number, stored = (0, None) if last is None else last
    return _Standing(number, stored, None, 0 if spent is None else spent[0])


def _needs_new(question: Question, ask: Ask, standing: _Standing) -> bool:
    if standing.number == 0 or question.on_change == "fresh":
        return True
    if question.on_change == "repeat":
        return False
    if ask.changed is None:
        msg = (
            "Expected changed=True or False with on_change='when-changed' once there is a report: the ledger keeps no "
            "value, so only you can say whether it changed."
        )
        raise InputError(msg)
    return ask.changed


def _refusal(state: _Transaction, spent: int, position: int | None) -> BudgetSpentError:
    budget, held, asked = (decimal_of(units) for units in (state.budget, spent, state.question.offer.units))
    who = "" if position is None else f"persons[{position}]: "
    hint = "wait for the next period" if position is None else "wait for the next period, or pass when_spent='skip'"
    msg = (
        f"{who}The budget of the period {state.question.period} does not allow this report: budget {budget}, spent "
        f"{held}, asked {asked}. Nothing was drawn or debited; {hint}."
    )
    return BudgetSpentError(msg, budget, held, asked)


def _store(state: _Transaction, drawn: Sequence[Any]) -> None:
    question, database = state.question, state.database
    when = question.now.isoformat(timespec="microseconds").replace("+00:00", "Z")
    rows = ((*key, when, to_stored(report)) for key, report in zip(state.new_reports, drawn, strict=True))
    database.executemany("INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    debited = {key[0] for key in state.new_reports}
    database.executemany(
        "INSERT INTO balances VALUES (?, ?, ?) ON CONFLICT (person, period) DO UPDATE SET spent = excluded.spent",
        ((person, question.period, state.standings[person].spent) for person in debited),
    )

"""What ``bipartite collect`` prints: what is asked and what that can answer, and later the answers."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, TypedDict

from bipartite.cli.estimate_json import PrintedColumn, described
from bipartite.cli.estimate_output import Found, compute
from bipartite.cli.output import note, print_json, print_table
from bipartite.cli.plan import half
from bipartite.errors import how_many
from bipartite.mechanisms.catalogue import entry_of
from bipartite.tables.purposes import CONFIDENCE, prospect
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.collect.answers import Bag
    from bipartite.collect.study import Part, Question, Study
    from bipartite.collect.views import View


class PrintedQuestion(TypedDict):
    """What a question has received."""

    question: str
    ask: str
    epsilon: Decimal
    """What each report spends."""
    reports: int
    columns: list[PrintedColumn]
    """The answers: one of a plain question, one for each part of a record, none of a part that nobody reported."""


class PrintedStudy(TypedDict):
    """What ``collect show`` prints."""

    study: str
    title: str
    ends: str
    """The last day on which reports are taken, in UTC."""
    interim: bool
    """Whether reports are still taken, so that the answers will change."""
    epsilon: Decimal
    """What somebody who answers everything spends."""
    confidence: float
    questions: list[PrintedQuestion]
    link: str | None
    """With --link: a path that makes whoever opens it first, at the address of the collector, an operator."""


class PrintedCheck(TypedDict):
    """What ``collect check`` prints."""

    sound: bool
    reports: int
    findings: list[str]
    """What does not add up, in words."""


class Answered:
    """The answers to one question, computed."""

    def __init__(self, question: Question, bag: Bag) -> None:
        self.question, self.n = question, bag.n
        parts = {part.name: part for part in question.parts if bag.reported(part)}
        self.found = Found(
            columns={name: {None: bag.estimate(part)} for name, part in parts.items()},
            unreported={name: bag.n - bag.reported(part) for name, part in parts.items()},
            by=None, confidence=CONFIDENCE, insecure=None, release=None, bins=None, repeated=0, rejected=0,
        )  # fmt: skip
        compute(self.found, as_json=False)

    @property
    def doubted(self) -> list[str]:
        """The parts whose reports cannot have come from their mechanism."""
        return self.found.doubted

    def printed(self) -> PrintedQuestion:
        """The same for programs."""
        asked, columns = self.question, described(self.found)["columns"]
        return PrintedQuestion(
            question=asked.name, ask=asked.ask, epsilon=asked.epsilon_decimal, reports=self.n, columns=columns
        )

    def show(self) -> None:
        """Print them as ``bipartite estimate`` does."""
        question, found = self.question, self.found
        for doubted in self.doubted:
            note(f"warning: {escaped(question.name)}: the reports of {doubted} cannot have come from their mechanism")
        held = f" ({how_many(self.n, 'report')})" if question.is_record or not self.n else ""
        print(f"\n{escaped(question.name)}: {escaped(question.ask)}{held}")
        for name in found.columns:
            if question.is_record:
                print(f"\n{escaped(str(name))}")
            print(found.answers(name).summary(found.confidence, found.carried(name)))


def show_answers(study: Study, answered: Sequence[Answered], *, closed: bool, link: str | None, interim: str) -> None:
    """Print the answers to all questions; ``interim`` says why they are not yet the last ones."""
    print(f"{escaped(study.title)}: {_when(study, closed=closed)}; all answers together spend ε = {_epsilon(study)}.")
    for each in answered:
        each.show()
    if not closed:
        print(f"\n{interim}")
    if link:
        print(f"\nYou, once, at the address of the collector: {link}")


def show_across(view: View) -> None:
    """Print the shares of two parts of a record together."""
    if view.doubt:
        note(f"warning: {view.doubt}")
    print(f"{escaped(' × '.join(view.asks))} ({how_many(view.n, 'report')} of both)")
    for line in filter(None, (view.not_yet, view.headline, view.heading)):
        print(escaped(line))
    if view.rows:
        rows = [[*map(escaped, row.names), *row.words] for row in view.rows]
        print_table((*map(escaped, view.what), "share", "95% interval"), rows)
    for line in filter(None, (*view.notes, view.more)):
        print(line)


def print_answers(study: Study, answered: Sequence[Answered], *, closed: bool, link: str | None) -> None:
    """The same for programs."""
    print_json(
        PrintedStudy(
            study=study.name, title=study.title, ends=study.ends.isoformat(), interim=not closed,
            epsilon=study.epsilon_decimal, confidence=CONFIDENCE, questions=[each.printed() for each in answered],
            link=link,
        )
    )  # fmt: skip


def show_study(study: Study, *, closed: bool) -> None:
    """Print what is asked, what it spends, and what it can answer if as many take part as are expected."""
    seen_by = "everybody" if study.public else "you alone"
    print(f"{escaped(study.title)}: {_when(study, closed=closed)}; answers are for {seen_by}.\n")
    rows = [_row(study, question, part) for question in study.questions for part in question.parts]
    precise = () if study.people is None else ("mean", "median", "a tenth of the range", "one value")
    print_table(("question", "ε", "by", *precise), rows)
    if study.people is not None:
        sure = f"± at {CONFIDENCE:.0%} confidence"
        print(f"\n{sure}, if {study.people:,} people answer and all values are equally common.")
    print(f"\nWhoever answers everything spends ε = {_epsilon(study)}.")


def _row(study: Study, question: Question, part: Part) -> list[str]:
    name = f"{question.name}.{part.name}" if question.is_record else part.name
    row = [escaped(name), f"{part.mechanism.epsilon_decimal:f}", entry_of(type(part.mechanism)).name]
    if study.people is None:
        return row
    share = 1.0 if question.sample is None else question.sample / len(question.parts)
    errors = prospect(part.mechanism, max(1, round(share * study.people))).errors()
    return row + [half(error, points=points) for error, points in errors]


def _epsilon(study: Study) -> str:
    return f"{study.epsilon_decimal:f}"


def _when(study: Study, *, closed: bool) -> str:
    return "no more reports are taken" if closed else f"reports are taken until {study.ends.isoformat()} (UTC)"

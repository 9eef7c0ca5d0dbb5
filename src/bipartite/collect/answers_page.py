"""The page of the answers, and the same as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bipartite.answers.estimation.intervals import FEW
from bipartite.answers.explain import explain
from bipartite.collect.pages import Page, render
from bipartite.collect.store import STEP
from bipartite.collect.views import CONFIDENCE, View
from bipartite.texts import percent_mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from bipartite.collect.study import Study
    from bipartite.collect.views import Row

LOOKS: Final = 13
WRONG: Final = 0.21
"""The share of surveys in which one of so many equally spaced looks sees an interval of 95 % that misses the truth."""
_MOST: Final = 20  # rows of a table without "smaller shares"
_SHOWN: Final = 10  # rows above them, if there are more
_ROUND: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_LIMITS: Final = (
    "ε covers the reports and nothing else: not that somebody took part, from which address and when, not the page "
    "that asked, and not a second answer of the same person, from another browser or under another name."
)


@dataclass(frozen=True, slots=True)
class Bar:
    """The picture of a share: parts of the width of all, in percent."""

    width: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of a table under one head; of a single part there is one group, without a head."""

    head: str
    rows: tuple[tuple[str, Row, Bar], ...]


def answers(
    study: Study,
    views: Sequence[View],
    *,
    public: bool,
    interim: bool,
    arrivals: Mapping[str, Sequence[tuple[date, int]]] | None = None,
) -> Page:
    """The page of the answers; ``arrivals``, the reports of each question by day, are for the operator alone."""
    page = render(
        "answers.html",
        styles=("base.css", "answers.css"),
        study=study,
        shown=[(view, scale_of(view), *groups_of(view)) for view in _complete(study, views)],
        records={question.name: question.ask for question in study.questions if question.is_record},
        public=public,
        interim=interim_words(study) if interim else "",
        arrivals={} if public or arrivals is None else arrivals,
        guarantee=guarantee(study),
        limits=_LIMITS,
        step=STEP,
        percent=percent_mark,
    )
    # What an operator saw stays in no cache; who may see the public page may keep it, and asks whether it is new.
    return replace(page, headers={**page.headers, "cache-control": "no-cache" if public else "no-store"})


def views_json(study: Study, views: Sequence[View], *, interim: bool) -> bytes:
    """The same as JSON, for whoever asks for that."""
    held: dict[str, Any] = {
        "bipartite_answers": 1,
        "study": study.name,
        "title": study.title,
        "epsilon": f"{study.epsilon_decimal:f}",
        "interim": interim,
        "confidence": CONFIDENCE,
        "answers": [asdict(view) for view in _complete(study, views)],
    }
    return msgspec.json.encode(held)


def interim_words(study: Study) -> str:
    """Why these are not yet the answers."""
    return (
        f"Reports are taken until {study.ends.day} {study.ends:%B %Y}. Decide then: who looks once sees an "
        f"interval that misses the truth in 5 % of surveys; who looks {LOOKS} times, evenly spaced, sees at least one "
        f"in {percent_mark(WRONG)}."
    )


def guarantee(study: Study) -> str:
    """What each report keeps, in one sentence."""
    named: dict[str, list[str]] = {}
    for question in study.questions:
        named.setdefault(f"{question.epsilon_decimal:f}", []).append(question.name)
    if len(named) == 1:
        each = f"ε = {next(iter(named))}"
    else:
        each = _listed([f"ε = {epsilon} for {_listed(names)}" for epsilon, names in named.items()])
    total, odds = study.epsilon_decimal, explain(study.epsilon_decimal).odds
    several = len(study.questions) > 1
    together = f"; all reports of a person together spend ε = {total:f} and change" if several else ", and changes"
    return (
        f"Each report is ε-LDP with {each}{together} the odds of any belief about the person's answers at most "
        f"{odds:,f}-fold."
    )


def _listed(words: Sequence[str]) -> str:
    """Words as people list them."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def scale_of(view: View) -> float:
    """What the whole width of the bars stands for: a round share that is not below any bar or interval."""
    most = max((max(row.share, row.high or 0.0) for row in view.rows), default=1.0)
    return next((each for each in _ROUND if each >= most), 1.0)


def groups_of(view: View) -> tuple[list[Group], list[Group]]:
    """The rows of a table with their bars, those of two parts by the first one; and those that are shown on demand."""
    scale = scale_of(view)
    found: dict[str, list[tuple[str, Row, Bar]]] = {}
    for row in view.rows:
        head = row.names[0] if len(row.names) > 1 else ""
        found.setdefault(head, []).append((row.names[-1], row, _bar(row, scale)))
    if len(found) == 1 and len(view.rows) > _MOST:
        rows = next(iter(found.values()))
        return [Group("", tuple(rows[:_SHOWN]))], [Group("", tuple(rows[_SHOWN:]))]
    return [Group(head, tuple(rows)) for head, rows in found.items()], []


def _bar(row: Row, scale: float) -> Bar:
    def at(share: float) -> float:
        return round(100 * min(max(share / scale, 0.0), 1.0), 2)

    if row.low is None or row.high is None:
        return Bar(at(row.share), None, None)
    return Bar(at(row.share), at(row.low), at(row.high))


def _complete(study: Study, views: Sequence[View]) -> list[View]:
    """The views in the order of the study, and for parts without one that there is none yet."""
    held = {(view.question, view.parts): view for view in views}
    found = []
    for question in study.questions:
        for part in question.parts:
            none = View(question.name, (part.name,), (part.ask,), 0, f"Not yet: a first answer needs {FEW} reports.")
            found.append(held.pop((question.name, (part.name,)), none))
        found += [view for (name, parts), view in held.items() if name == question.name and len(parts) > 1]
    return found

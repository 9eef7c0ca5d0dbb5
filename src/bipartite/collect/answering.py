"""Which answers a page shows: to the operator those of now, to everybody those that were published last.

Answers are computed again only when their bag has grown. Public ones stand in the database, so that all workers show
the same, and between two of them lie at least 50 reports.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import combinations
from typing import TYPE_CHECKING, Final

from bipartite.collect.answers import Bag
from bipartite.collect.answers_page import answers, views_json
from bipartite.collect.views import due, from_json, joint_view, to_json, view_of

if TYPE_CHECKING:
    from bipartite.collect.pages import Page
    from bipartite.collect.store import Store
    from bipartite.collect.study import Question
    from bipartite.collect.views import View

_MOST_PAIRS: Final = 3  # of parts of a record whose joint answers are shown


class Answering:
    """Computes, keeps and publishes the answers of a study, for one worker."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[str, tuple[int, tuple[View, ...]]] = {}

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def page(self, *, public: bool, closed: bool, as_json: bool) -> Page:
        """The page of the answers, or the same as JSON."""
        study, counted = self._store.study, self._store.counted()
        views: list[View] = []
        for question in study.questions:
            n = counted[question.name]
            views += self._published(question, n, closed=closed) if public else self.current(question, n)[1]
        arrivals = None if public else {each.name: self._days(each.name) for each in study.questions}
        page = answers(study, views, public=public, interim=not closed, arrivals=arrivals)
        if not as_json:
            return page
        headers = {"content-type": "application/json", "cache-control": page.headers["cache-control"]}
        return replace(page, html=views_json(study, views, interim=not closed), headers=headers)

    def current(self, question: Question, n: int) -> tuple[int, tuple[View, ...]]:
        """(the number of reports, the answers to a question), counted again if its bag no longer has n reports."""
        kept = self._kept.get(question.name)
        if kept is None or kept[0] != n:
            bag = Bag.read(question, self._store.bag(question.name))  # it may have grown meanwhile
            kept = bag.n, (*(view_of(bag, part) for part in question.parts), *_pairs(bag, question))
            self._kept[question.name] = kept
        return kept

    def _published(self, question: Question, n: int, *, closed: bool) -> tuple[View, ...]:
        held = self._store.published(question.name)
        if due(n, held and held[0], final=closed):
            now, views = self.current(question, n)
            self._store.publish(question.name, now, to_json(views).decode())
            held = self._store.published(question.name)
        return () if held is None else from_json(held[1])

    def _days(self, question: str) -> list[tuple[date, int]]:
        return [(date.fromisoformat(day), n) for day, n in self._store.arrivals(question).items()]


def _pairs(bag: Bag, question: Question) -> list[View]:
    """The joint answers of a record that reports more than one part of a person."""
    pairs = list(combinations(question.parts, 2)) if question.sample != 1 else []
    return [joint_view(bag, *pair) for pair in pairs] if len(pairs) <= _MOST_PAIRS else []

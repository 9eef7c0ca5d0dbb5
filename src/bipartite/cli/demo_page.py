"""The page of ``bipartite demo``: one self-contained HTML file, from a question to its report."""

from __future__ import annotations

import html
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite import __version__
from bipartite.answers.explain import ASSUMPTIONS, percent
from bipartite.cli.demo_questions import bands
from bipartite.cli.demo_statistics_page import statistics
from bipartite.cli.pages import table, whole_page
from bipartite.domains import Points
from bipartite.locations.atlas import coasts
from bipartite.lottery.budgets import round_up
from bipartite.plots import Bar, bars, chances_around, chances_on_a_line, paired_bars, reports_on_a_line
from bipartite.plots import style as drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.explain import Explanation
    from bipartite.cli.demo_questions import Outcome, Question
    from bipartite.cli.demo_statistics import Survey

# Up to this probability of guessing right between two answers a report says little; ε = 1 is below it.
_LITTLE: Final = Decimal("0.75")
_PERSON: Final = "Ada"
_BANDS_KM: Final = (1_000.0, 3_000.0, 6_000.0)
_TOP_PLACES: Final = 10


def page(outcomes: Sequence[Outcome], explained: Explanation, people: int, surveys: Sequence[Survey] = ()) -> str:
    """The whole page, as text."""
    parts = [
        _opening(outcomes, explained, people),
        *(_question(number, outcome, people, _moral(explained)) for number, outcome in enumerate(outcomes, start=1)),
        statistics(surveys, explained.epsilon, people) if surveys else "",
        _meaning(explained, len(outcomes)),
        _proof(outcomes, surveys),
        _closing(outcomes),
    ]
    return whole_page("From a question to a report", parts)


def _opening(outcomes: Sequence[Outcome], explained: Explanation, people: int) -> str:
    return _lines(
        "<h1>From a question to a report</h1>",
        _p(
            f"{people:,} simulated people were asked {_count(len(outcomes), 'question')}. No true answer left their "
            "devices: each was replaced by a random <em>report</em>, in which answers near the true one are more "
            "likely, and none is impossible. How much a report may reveal is a single number, "
            f"ε&nbsp;=&nbsp;{explained.epsilon}.",
            "lead",
        ),
        _p(
            f"Follow {_PERSON}, one of them, through each question. Two ways of reporting are compared: "
            "<strong>BRR</strong> (bipartite randomized response), which favours all answers <em>near</em> the true "
            "one, and <strong>GRR</strong>, the classical way, which favours the true one alone. Both keep the same ε."
        ),
    )


def _question(number: int, outcome: Outcome, people: int, moral: str) -> str:
    question = outcome.question
    unit = f" {question.unit}" if question.is_number else ""
    answer, report = (html.escape(question.say(value) + unit) for value in (question.answer, outcome.report))
    chances, seen = _line(outcome) if question.is_number else _places(outcome)
    return _lines(
        f"<h2>{number}. {html.escape(question.words)}</h2>",
        _p(f"{_PERSON}’s answer is <strong>{answer}</strong>. It stays on her device; only a random report is sent."),
        "<h3>What she may report, and how likely each report is</h3>",
        chances,
        _p(
            f"This time the report drawn is <strong>{report}</strong>. Nothing else is sent. Every report can come "
            "from every answer.",
            "said",
        ),
        f"<h3>What the collector sees from {people:,} people</h3>",
        seen,
        _p(f"The reports are <strong>not</strong> the true distribution{_flattened(outcome)}. {_trap(question)}"),
        "<h3>How precise one report is</h3>",
        _worth(outcome, moral),
    )


def _flattened(outcome: Outcome) -> str:
    return ": the noise has flattened them" if outcome.reports.max() < outcome.answers.max() else ""


def _trap(question: Question) -> str:
    """What the picture of the reports does not show."""
    matrix = question.brr.matrix()
    lotteries = len(np.unique(matrix, axis=0))
    warning = (
        f"The {len(matrix)} answers have only {lotteries} different distributions of reports, so no method can recover "
        "the true distribution, however many people report; statistics need reports that are designed for them."
        if lotteries < len(matrix)
        else "An estimator can undo this on average, with error bars; the picture cannot."
    )
    if not question.is_number or question.brr.m == 1:
        return warning
    # The windows of the first m // 2 + 1 answers all end at the lower end, those of the last ones at the upper end.
    low, high = (question.say(question.values[at]) for at in (question.brr.m - 1, -question.brr.m))
    last = question.say(question.values[question.brr.m // 2])
    return (
        f"The steps after {low} and before {high} come from the mechanism, not from the people: everyone up to {last} "
        f"has the same nearest answers, and likewise at the other end. {warning}"
    )


def _line(outcome: Outcome) -> tuple[str, str]:
    """The pictures for a question about a number."""
    question = outcome.question
    values, label = question.values, f"reported {question.name}, {question.unit}"
    brr, grr = question.brr.matrix()[question.at], question.grr.matrix()[question.at]
    return (
        chances_on_a_line(values, brr, grr, truth=question.answer, label=label, say=question.say),
        reports_on_a_line(
            values, outcome.answers, outcome.reports, label=f"{question.name}, {question.unit}", say=question.say
        ),
    )


def _places(outcome: Outcome) -> tuple[str, str]:
    """The pictures for a question about a place: a map, BRR beside GRR by distance, and the favourites."""
    question = outcome.question
    places = question.brr.domain
    assert isinstance(places, Points)  # noqa: S101 (the only question without numbers)
    called = question.values.tolist()
    row = question.brr.matrix()[question.at]
    names, shares = bands(question, _BANDS_KM, lambda km: f"{km:,.0f} km")
    entries = [("BRR", drawn.BRR_NEAR_STYLE), ("GRR", drawn.GRR_BAR_STYLE)]
    largest = np.argsort(-outcome.answers, kind="stable")[:_TOP_PLACES].tolist()
    return (
        chances_around(places.coordinates, row, truth=question.at, labels=called, coasts=coasts())
        + paired_bars(names, shares, entries, f"probability that {_PERSON}’s report is this far from her answer"),
        paired_bars(
            [called[each] for each in largest],
            [[outcome.reports[each], outcome.answers[each]] for each in largest],
            [
                ("reports: all that the collector sees", drawn.REPORTS_STYLE),
                ("true answers: known here because they are simulated", drawn.SILENCE_STYLE),
            ],
            f"share of people, for the {_TOP_PLACES} true favourites",
        ),
    )


def _worth(outcome: Outcome, moral: str) -> str:
    """How far reports are from the truth, compared with a constant answer."""
    question = outcome.question
    brr, grr, constant = outcome.worths
    digits = 1 if constant.expected_error < 100 else 0  # noqa: PLR2004 (significant digits)
    hows = (drawn.BRR_NEAR_STYLE, drawn.GRR_BAR_STYLE, drawn.SILENCE_STYLE)
    rows = [
        Bar(
            worth.name,
            worth.expected_error,
            f"{worth.expected_error:,.{digits}f}  ({worth.measured_error:,.{digits}f} for these people)",
            how,
        )
        for worth, how in zip(outcome.worths, hows, strict=True)
    ]
    return _lines(
        bars(rows, f"average distance between answer and report in {question.unit}, if every answer is equally common"),
        _p(
            f"Compared with a GRR report, one of BRR is {_compared(brr.expected_error, grr.expected_error)} the truth. "
            f"Compared with {html.escape(constant.name)}, which reveals nothing about anyone, it is "
            f"{_compared(brr.expected_error, constant.expected_error)} the truth (among these people "
            f"{_compared(brr.measured_error, constant.measured_error)} it). Within {question.nearby:,} {question.unit} "
            f"of the truth lie {_whole(brr.within)} of BRR reports, {_whole(grr.within)} of GRR reports and "
            f"{_whole(constant.within)} of the constant ones. <strong>{moral}</strong>"
        ),
    )


def _moral(explained: Explanation) -> str:
    if explained.certainty < _LITTLE:
        return f"A single report says little; that is what protects {_PERSON}."
    if explained.warning is None:
        return f"A single report says something, and leaves {_PERSON} some deniability."
    return f"At this ε a single report says much, and {_PERSON} is hardly protected."


def _compared(error: float, other: float) -> str:
    """How much closer to the truth, or farther from it, one way of answering is than another."""
    if not other or round(100 * abs(1 - error / other)) == 0:
        return "as close to" if error <= other or other else "farther from"
    return f"{_whole(1 - error / other)} closer to" if error < other else f"{_whole(error / other - 1)} farther from"


def _meaning(explained: Explanation, questions: int) -> str:
    """ε in words, and the total of several answers."""
    together = next(each for each in explained.reports if each.reports == questions)
    return _lines(
        f"<h2>What ε = {explained.epsilon} means</h2>",
        _p(explained.guess, "said"),
        _p(explained.warning) if explained.warning else "",
        _p(explained.growth),
        table(
            ("how sure of something about you", *(percent(each.before) for each in explained.beliefs)),
            [("after your report, at most", *(percent(each.after) for each in explained.beliefs))],
        ),
        _p(explained.coin),
        _p(
            f"Reports add up: {_PERSON} answered {_count(questions, 'question')}, which together spend "
            f"ε = {together.epsilon}. In the worst case a guess between two possible persons becomes right for:"
        ),
        table(
            ("reports about one person", "ε together", "right for at most"),
            [
                (f"{each.reports:,}", each.epsilon, f"{each.crowd.by_report:,} of {each.crowd.people:,}")
                for each in explained.reports
            ],
        ),
        "<h3>How far this goes</h3>",
        *(_p(sentence) for sentence in ASSUMPTIONS),
    )


def _proof(outcomes: Sequence[Outcome], surveys: Sequence[Survey]) -> str:
    """The certificates."""
    certificates = [(outcome.question.name, outcome.certificate) for outcome in outcomes]
    certificates += [(f"{done.outcome.question.name}, for statistics", done.certificate) for done in surveys]
    rows = [
        (
            name,
            "holds" if each.holds else "DOES NOT HOLD",
            f"<code>{each.ratio.numerator}/{each.ratio.denominator}</code>",
            str(round_up(each.epsilon_upper)),
            f"<code>{each.spec_sha256[:12]}…</code>",
        )
        for name, each in certificates
    ]
    return _lines(
        "<h2>Proved, not promised</h2>",
        _p(
            "Each question draws its reports with whole-number tickets. From these the largest ratio between the "
            "probabilities of one report under two answers is computed exactly, and compared with e<sup>ε</sup> in "
            "whole numbers."
        ),
        table(("question", "promise", "largest ratio", "its logarithm, at most", "spec"), rows),
    )


def _closing(outcomes: Sequence[Outcome]) -> str:
    places = (
        " Cities: a selection from <a href='https://www.geonames.org/'>GeoNames</a>, "
        "<a href='https://creativecommons.org/licenses/by/4.0/'>CC BY 4.0</a>; coasts: Natural Earth."
        if any(not outcome.question.is_number for outcome in outcomes)
        else ""
    )
    return (
        f"<footer>Made by <code>bipartite demo</code> {__version__}. The people are simulated; their reports were "
        f"drawn from the secure source and differ every time.{places}</footer>"
    )


def _whole(share: float) -> str:
    return f"{100 * share:.0f}&nbsp;%"


def _p(words: str, kind: str = "") -> str:
    return f"<p class='{kind}'>{words}</p>" if kind else f"<p>{words}</p>"


def _count(number: int, thing: str) -> str:
    words = ("no", "one", "two", "three", "four")
    return f"{words[number] if number < len(words) else number} {thing}{'' if number == 1 else 's'}"


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)

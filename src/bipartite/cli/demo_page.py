"""The page of ``bipartite demo``: a question, what is promised, the answers over the truth, and how it works."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite import __version__
from bipartite.answers.explain import ASSUMPTIONS, explain
from bipartite.answers.quality import loss
from bipartite.cli.pages import whole_page
from bipartite.lottery.budgets import round_up
from bipartite.mechanisms import Anchored, Constant
from bipartite.plots import legend, path, picture, rule, style, tag, text, ticks
from bipartite.plots.svg import percent_mark, whisker
from bipartite.texts import html_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bipartite.cli.demo import Answer, Survey

_WIDE: Final = 360  # so that letters are readable on a telephone
_EDGE, _TOP, _ROW, _BAR = 8, 30, 46, 16


def page(found: Survey, commands: Sequence[str]) -> str:
    """The whole page, as text."""
    return whole_page(found.question, [_survey(found), _how(found), _next(commands)])


def _survey(found: Survey) -> str:
    """The question, the promise, the answers, and one comparison."""
    value, interval, true = found.words(found.means[0])
    apart, between, truly = found.words(found.difference)
    one, other = (each.of for each in found.means[1:])
    older = "are older" if found.difference.low > 0 else "are younger" if found.difference.high < 0 else "may be older"
    warning = f"<p><strong>{escape(found.warning)}.</strong></p>" if found.warning else ""
    return f"""<h1>{found.question}</h1>
<p class='lead'>Each reader’s device sends one <em>report</em>: a number drawn at random, more often near the true age
than far from it (ε&nbsp;=&nbsp;{found.epsilon}). No true age leaves a device. The readers are made up.</p>
<h2>Promised before anybody is asked</h2>
{html_table(("we will know", "within"), found.promises)}
<p>At 95&nbsp;% confidence, if all ages are equally common; other crowds and single ranges differ. With four times as
many readers it is about half.</p>{warning}
<h2>What the reports answer</h2>
<p class='said'>Their mean age is <strong>{value} years</strong>, {interval} at 95&nbsp;% confidence. In truth it is
{true}, which only a demo knows.</p>
<h3>Share of readers by age</h3>
{_chart(found, found.shares, percent_mark)}
<h2>Are readers in {one} older than in {other}?</h2>
<p class='said'>Readers in {one} <strong>{older}</strong>: by {apart} years on average, {between} at 95&nbsp;%
confidence. In truth it is {truly}.</p>
<h3>Mean age</h3>
{_chart(found, found.means, "{:g}".format)}"""


def _chart(found: Survey, answers: Sequence[Answer], say: Callable[[float], str]) -> str:
    """Answers with their whiskers over the truth: shares as bars from zero, ages as marks."""
    shares = answers[0].unit == "share"
    start = 0.0 if shares else min(min(each.low, each.true) for each in answers)
    end = max(max(each.high, each.true) for each in answers)
    room = (end - start) / 30 or 1.0
    start, end = start if shares else start - room, end + room

    def x(value: float) -> float:
        return _EDGE + (value - start) / (end - start) * (_WIDE - 2 * _EDGE)

    bottom = _TOP + _ROW * len(answers)
    truth = {"fill": style.HATCH, "stroke": style.GRR, "stroke_width": 1}
    parts = legend([("answer and its interval", {**style.ERROR_STYLE, "stroke_width": 2}), ("truth", truth)])
    for mark in ticks(start, end, 4):
        parts.append(rule(x(mark), _TOP, x(mark), bottom, stroke=style.FAINT))
        parts.append(text(x(mark), bottom + 16, say(mark), text_anchor="middle" if mark else "start"))
    says = []
    for number, each in enumerate(answers):
        y = _TOP + _ROW * number
        left, right = (start, each.true) if shares else (each.true - room / 4, each.true + room / 4)
        says.append("{}: {} ({}); truth {}".format(each.of, *found.words(each)))
        parts += [
            text(_EDGE, y + 14, says[-1], **style.HALO),
            tag("rect", x=x(left), y=y + 20, width=x(right) - x(left), height=_BAR, **truth),
            *whisker(x(each.low), x(each.high), y + 20 + _BAR / 2, 5, width=2),
            tag("circle", cx=x(each.value), cy=y + 20 + _BAR / 2, r=4.5, fill=style.BRR),
        ]
    return f"<div class='chart'>{picture(bottom + 24, '; '.join(says), parts, _WIDE)}</div>"


def _how(found: Survey) -> str:
    """Single reports and proofs."""
    mechanism, proof, explained = found.mechanism, found.certificate, explain(found.epsilon)
    best = loss(Anchored(mechanism.domain, found.epsilon)).mean
    nobody = loss(Constant(mechanism.domain)).mean
    meaning = [explained.warning or "", *ASSUMPTIONS]
    return f"""<h2>How it works</h2>
<h3>One reader, one report</h3>
<p>Ada is {found.answer}. Her device draws her report with these probabilities:</p>
{_chances(found)}
<p class='said'>This time it sent <strong>{found.report}</strong>, and nothing else. Every report can come from every
age.</p>
<p>So do not read a single report as an age, and do not average reports: <code>bp.estimate</code> finds what they say
about the crowd. If you need <em>one person’s value</em>, ask for reports that are made for it:
<code>bp.recommend(ages, {found.epsilon}, "release")</code>. If all ages are equally common, the best possible ones are
{best:.3g} years off on average; one constant answer, which asks nobody, is {nobody:.3g} years off.</p>
<h3>What ε = {found.epsilon} means</h3>
<p class='said'>{explained.guess}</p>
{"".join(f"<p>{sentence}</p>" for sentence in meaning if sentence)}
<h3>Proved, not promised</h3>
<p>Reports of <code>{escape(repr(mechanism))}</code> are drawn with whole-number tickets. The largest ratio between the
probabilities of one report from two ages is exactly <code>{proof.ratio.numerator}/{proof.ratio.denominator}</code>,
whose logarithm is at most {round_up(proof.epsilon_upper)}: ε&nbsp;=&nbsp;{found.epsilon}
<strong>{"holds" if proof.holds else "DOES NOT HOLD"}</strong>.</p>
<h3>What an interval means</h3>
<p>It contains the truth in about 95 of 100 surveys. Within one survey neighbouring ranges err together: whether one
interval holds says much about the next.</p>"""


def _chances(found: Survey) -> str:
    """The probability of each report of one reader."""
    mechanism, bottom = found.mechanism, 130
    row, values = mechanism.matrix()[mechanism.domain.encode(found.answer)], mechanism.outputs.to_numpy()
    low, high = float(row.min()), float(row.max())

    def x(value: float) -> float:
        return _EDGE + float(value - values[0] + 0.5) / len(values) * (_WIDE - 2 * _EDGE)

    sides = [x(side) for value in values for side in (value - 0.5, value + 0.5)]
    heights = np.repeat(bottom - (bottom - _TOP) * row / high, 2).tolist()
    steps = [(sides[0], bottom), *zip(sides, heights, strict=True), (sides[-1], bottom)]
    parts = [
        path(steps, closed=True, **style.REPORTS_STYLE),
        rule(x(found.answer), _TOP - 8, x(found.answer), bottom, stroke=style.INK, stroke_width=1.5),
        text(x(found.answer), _TOP - 14, f"true age {found.answer}", text_anchor="middle"),
        text(_EDGE, bottom + 36, f"reported age (probability of each: {100 * low:.2g} % to {100 * high:.2g} %)"),
    ]
    marks = ticks(float(values[0]), float(values[-1]))
    parts += [text(x(mark), bottom + 16, f"{mark:g}", text_anchor="middle") for mark in marks]
    says = f"The probability of each report at true age {found.answer}: near values are more likely."
    return f"<div class='chart'>{picture(bottom + 44, says, parts, _WIDE)}</div>"


def _next(commands: Sequence[str]) -> str:
    lines = "".join(f"<p><code>{escape(command)}</code></p>" for command in commands)
    return f"""<h2>Do it yourself</h2>
<p>The same readers as a file; put your own in its place. <code>plan new</code> asks for what only you know: the range
(18 to 90), ε, and that the country is public.</p>
{lines}
<footer>Made by <code>bipartite demo</code> {__version__}. The reports are drawn from the secure source and differ every
time.</footer>"""

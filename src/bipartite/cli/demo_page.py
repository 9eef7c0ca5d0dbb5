"""The page of ``bipartite demo``: a question, what is promised, the answers over the truth, and how it works."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite import __version__
from bipartite.answers.explain import ASSUMPTIONS, explain
from bipartite.answers.quality import loss
from bipartite.cli.pages import figure, whole_page
from bipartite.lottery.budgets import round_up
from bipartite.mechanisms import Anchored, Constant
from bipartite.plots import looks
from bipartite.plots.chances import plot_chances
from bipartite.plots.figure import axes, describe
from bipartite.plots.whiskers import in_percent
from bipartite.texts import html_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from bipartite.cli.demo import AnswerAndTruth, Survey

_WIDE: Final = 3.8  # inches: on a telephone letters are as large as drawn
_CLEAR: Final = {"facecolor": looks.PAPER, "edgecolor": "none", "pad": 1}  # of the grid behind words


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
{figure(lambda: draw_answers(found, found.shares))}
<h2>Are readers in {one} older than in {other}?</h2>
<p class='said'>Readers in {one} <strong>{older}</strong>: by {apart} years on average, {between} at 95&nbsp;%
confidence. In truth it is {truly}.</p>
<h3>Mean age</h3>
{figure(lambda: draw_answers(found, found.means))}"""


def draw_answers(found: Survey, answers: Sequence[AnswerAndTruth]) -> Axes:
    """Answers as whiskers over the truth, on one axis: true shares are bars from zero, true ages are marks."""
    rows = np.arange(len(answers))
    says = ["{}: {} ({}); truth {}".format(each.of, *found.words(each)) for each in answers]
    value, low, high, true = np.array([(each.value, each.low, each.high, each.true) for each in answers]).T
    with axes(None, (_WIDE, 0.62 * len(answers) + 0.6)) as ax:
        if answers[0].unit == "share":
            ax.barh(rows, true, 0.4, color=looks.FAINT, edgecolor=looks.GREY, label="truth")
            in_percent(ax.xaxis)
        else:
            ax.plot(true, rows, "d", color=looks.GREY, markersize=9, label="truth")
        whiskers = {**looks.WHISKER, "fmt": "o", "color": looks.BLUE, "label": "answer and its interval"}
        ax.errorbar(value, rows, xerr=[value - low, high - value], **whiskers)
        for row, words in zip(rows, says, strict=True):
            ax.text(0.01, row - 0.32, words, transform=ax.get_yaxis_transform(), bbox=_CLEAR)
        ax.set(yticks=[], ylim=(len(answers) - 0.6, -1.15))
        ax.grid(axis="y", visible=False)
        ax.spines["left"].set_visible(False)
        ax.legend(loc="upper left", ncols=2, borderaxespad=0, handlelength=1.2)
        return describe(ax, "; ".join(says))


def _how(found: Survey) -> str:
    """Single reports and proofs."""
    mechanism, proof, explained = found.mechanism, found.certificate, explain(found.epsilon)
    best = loss(Anchored(mechanism.domain, found.epsilon)).mean
    nobody = loss(Constant(mechanism.domain)).mean
    meaning = [explained.warning or "", *ASSUMPTIONS]
    return f"""<h2>How it works</h2>
<h3>One reader, one report</h3>
<p>Ada is {found.answer}. Her device draws her report with these probabilities:</p>
{figure(lambda: plot_chances(mechanism, found.answer, label="reported age"))}
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


def _next(commands: Sequence[str]) -> str:
    lines = "".join(f"<p><code>{escape(command)}</code></p>" for command in commands)
    return f"""<h2>Do it yourself</h2>
<p>The same readers as a file; put your own in its place. <code>plan new</code> asks for what only you know: the range
(18 to 90), ε, and that the country is public.</p>
{lines}
<footer>Made by <code>bipartite demo</code> {__version__}. The reports are drawn from the secure source and differ every
time.</footer>"""

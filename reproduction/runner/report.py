"""The report: one HTML file that needs nothing else, for a reviewer who reads from top to bottom."""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from bipartite.plots import looks
from reproduction.runner.report_claims import summary, verdicts
from reproduction.runner.report_items import every_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reproduction.claims import Judged
    from reproduction.runner.files import Circumstances
    from reproduction.runner.running import Outcome

_MEANS: Final = "in this run or an earlier one, on whichever machine, parts that ran side by side counted each"
_STYLE: Final = Template(Path(__file__).with_suffix(".css").read_text(encoding="utf-8")).substitute(vars(looks))


def report(outcomes: Sequence[Outcome], judged: Sequence[Judged], how: Circumstances) -> str:
    """The whole page."""
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    shown = {outcome.entry.name for outcome in done}
    parts = [
        *_not_run(outcomes),
        '<h2 id="claims">The claims of the paper</h2>',
        _p(
            "The first column is in our words, close to those of the paper. What rests on a measurement is judged by a "
            "function of the rows of this run with a stated threshold (<code>reproduction/claims</code>); a "
            "command stands beside it. <em>Found under a reading that the paper does not state</em>: not as the text "
            "says it, but an experiment that somebody could have meant gives its numbers; the row says what that one "
            "really spends. <em>Cannot be checked</em>: results of others, places that are not published, another "
            "machine. <em>Undecided</em>: too little ran, or nothing could be told from chance."
        ),
        verdicts(judged, shown, how),
        '<h2 id="figures">The figures</h2>',
        _p(
            "In the order of the paper. A yellow star is a number that the paper prints; every other mark was measured."
        ),
        *(_figure(outcome, how) for outcome in done),
        _circumstances(outcomes, how),
        every_item(judged, shown),
        _closing(how),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Bipartite randomized response, reproduced</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join([_opening(judged, how), _contents(parts), *parts])
        + "\n</body>\n</html>\n"
    )


def _opening(judged: Sequence[Judged], how: Circumstances) -> str:
    size = (
        "This is the <strong>quick</strong> run: real data, fewer seeds, budgets and sizes. Its intervals are wide; "
        "conclusions about learning need the full one (<code>python -m reproduction run --full</code>)."
        if how.mode == "quick"
        else "This is the <strong>full</strong> run."
    )
    return "\n".join(
        [
            "<h1>Bipartite randomized response, reproduced</h1>",
            _p(
                "Every figure of <em>Bipartite Randomized Response Mechanism for Local Differential Privacy</em> "
                "(Zhang, Zhu, Chen, Hu, 2026), run again on real data by the package <code>bipartite</code>, "
                f"and a verdict on every claim. {size}",
                "lead",
            ),
            summary(judged),
        ]
    )


def _contents(parts: Sequence[str]) -> str:
    """A link to every heading that has an id."""
    found = re.findall(r'<h([23]) id="([^"]+)">(.*?)</h', "\n".join(parts))
    lines = [f'<li class="level{level}"><a href="#{name}">{words}</a></li>' for level, name, words in found]
    return '<nav aria-label="Contents">\n<h2>Contents</h2>\n<ul>\n' + "\n".join(lines) + "\n</ul>\n</nav>"


def _circumstances(outcomes: Sequence[Outcome], how: Circumstances) -> str:
    measuring = sum(outcome.seconds for outcome in outcomes)
    rows = [
        ("command", f"<code>{html.escape(how.command)}</code>"),
        ("finished", html.escape(how.finished)),
        ("time", f"{_duration(how.seconds)}; the measuring of all parts took {_duration(measuring)}, {_MEANS}"),
        ("machine", html.escape(_machines(outcomes, how))),
        ("versions", html.escape(", ".join(f"{name} {each}" for name, each in how.versions.items()))),
    ]
    return '<h2 id="this-run">This run</h2>\n' + _table(("", ""), rows)


def _machines(outcomes: Sequence[Outcome], how: Circumstances) -> str:
    """The machine that draws, and how many parts were measured on it, where that is not all of them."""
    elsewhere: Counter[str] = Counter()
    for outcome in outcomes:
        elsewhere.update(outcome.elsewhere)
    if not elsewhere:
        return how.machine
    every = sum(outcome.cells for outcome in outcomes)
    said = "; ".join(f"{count:,} elsewhere: {where}" for where, count in elsewhere.items())
    return f"{how.machine}. It drew and judged, and measured {every - elsewhere.total():,} of {every:,} parts; {said}"


def _not_run(outcomes: Sequence[Outcome]) -> list[str]:
    missing = [outcome for outcome in outcomes if outcome.state != "done"]
    if not missing:
        return []
    rows = [
        (
            html.escape(f"{outcome.entry.figure}: {outcome.entry.name}"),
            html.escape(outcome.state),
            html.escape(outcome.why).replace("\n", "<br>"),
        )
        for outcome in missing
    ]
    return ['<h2 id="not-run">What did not run</h2>', _table(("experiment", "why", "what to do"), rows)]


def _figure(outcome: Outcome, how: Circumstances) -> str:
    entry = outcome.entry
    settings = ", ".join(f"{name} = {_short(value)}" for name, value in outcome.settings.items())
    command = html.escape(how.again([entry.name]))
    parts = [f'<h3 id="{entry.name}">{html.escape(entry.figure)}. {html.escape(entry.title)}</h3>']
    parts += [f'<div class="picture">{svg}</div>' for svg in outcome.pictures.values()]
    if outcome.note:
        parts.append(_p(html.escape(outcome.note).replace("\n", "<br>"), "said"))
    parts.append(
        _p(
            f"<code>{command}</code>, {len(outcome.rows):,} rows in <code>{entry.name}.csv</code>; "
            f"{outcome.cells} {'part' if outcome.cells == 1 else 'parts'} in {_duration(outcome.seconds)}"
            + "".join(f"; {count:,} measured elsewhere: {html.escape(at)}" for at, count in outcome.elsewhere.items())
            + ". "
            f"Settings: <code>{html.escape(settings)}</code>",
            "how",
        )
    )
    return "\n".join(parts)


def _closing(how: Circumstances) -> str:
    return (
        "<footer>"
        + _p(
            "Pictures are drawn from the tables beside this file; <code>verdicts.csv</code> has the table of claims, "
            f"<code>run.json</code> all settings. bipartite {html.escape(how.versions.get('bipartite', ''))}."
        )
        + "</footer>"
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(head)
    top = f"<thead><tr>{''.join(f'<th>{name}</th>' for name in names)}</tr></thead>" if any(names) else ""
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{top}<tbody>\n{body}\n</tbody></table>"


def _p(words: str, kind: str = "") -> str:
    return f'<p class="{kind}">{words}</p>' if kind else f"<p>{words}</p>"


def _short(value: object) -> str:
    return "(" + ", ".join(map(str, value)) + ")" if isinstance(value, (tuple, list)) else str(value)


def _duration(seconds: float) -> str:
    """A time in words: 3 s, 2 min 10 s, 1 h 5 min."""
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"  # noqa: PLR2004
    minutes, rest = divmod(whole, 60)
    if minutes < 60:  # noqa: PLR2004
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"

"""The report: one HTML file that needs nothing else, for a reviewer who reads from top to bottom."""

from __future__ import annotations

import html
from collections import Counter
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from bipartite.plots import style
from reproduction.claims import Judged, Verdict
from reproduction.runner.report_items import every_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reproduction.runner.files import Circumstances
    from reproduction.runner.running import Outcome

_MARKS: Final[Mapping[Verdict, tuple[str, str]]] = {
    Verdict.HOLDS: ("●", "#1b6e3c"),
    Verdict.CORRECTED: ("◐", "#8a5a00"),
    Verdict.READING: ("◌", "#5b3f8c"),
    Verdict.FAILS: ("○", "#a3261d"),
    Verdict.UNCHECKABLE: ("?", "#555555"),
    Verdict.UNDECIDED: ("…", "#555555"),
    Verdict.NOT_RUN: ("–", "#555555"),
}
_MEANS: Final = "in this run or an earlier one, on whichever machine, parts that ran side by side counted each"
_STYLE: Final = Template(Path(__file__).with_suffix(".css").read_text(encoding="utf-8")).substitute(vars(style))


def report(outcomes: Sequence[Outcome], judged: Sequence[Judged], how: Circumstances) -> str:
    """The whole page."""
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    parts = [
        _opening(outcomes, judged, how),
        *_not_run(outcomes),
        "<h2>The claims of the paper</h2>",
        _p(
            "The first column is in our words, close to those of the paper. What rests on a measurement is judged by a "
            "function of the rows of this run with a stated threshold (<code>reproduction/claims</code>); a "
            "command stands beside it. <em>Cannot be checked</em>: results of others, places that are not published, "
            "another machine. <em>Undecided</em>: too little ran, or nothing could be told from chance."
        ),
        _verdicts(judged, {outcome.entry.name for outcome in done}, how),
        "<h2>The figures</h2>",
        *(_figure(outcome, how) for outcome in done),
        every_item(judged, {outcome.entry.name for outcome in done}),
        _closing(how),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Bipartite randomized response, reproduced</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _opening(outcomes: Sequence[Outcome], judged: Sequence[Judged], how: Circumstances) -> str:
    counts = Counter(each.judgement.verdict for each in judged)
    said = ", ".join(f"{_sign(verdict)} {counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    measuring = sum(outcome.seconds for outcome in outcomes)
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
                "and a verdict on every claim.",
                "lead",
            ),
            _p(said, "said"),
            _p(size),
            _table(
                ("", ""),
                [
                    ("command", f"<code>{html.escape(how.command)}</code>"),
                    ("finished", html.escape(how.finished)),
                    (
                        "time",
                        f"{_duration(how.seconds)}; the measuring of all parts took {_duration(measuring)}, {_MEANS}",
                    ),
                    ("machine", html.escape(_machines(outcomes, how))),
                    ("versions", html.escape(", ".join(f"{name} {each}" for name, each in how.versions.items()))),
                ],
            ),
        ]
    )


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
    return ["<h2>What did not run</h2>", _table(("experiment", "why", "what to do"), rows)]


def _verdicts(judged: Sequence[Judged], shown: set[str], how: Circumstances) -> str:
    rows = []
    for each in judged:
        found = each.judgement
        sources = [f'<a href="#{name}">{name}</a>' if name in shown else name for name in each.claim.needs]
        sources += [html.escape(each.claim.evidence)] if each.claim.evidence else []
        command = html.escape(how.again(each.claim.needs))
        rows.append(
            (
                f'<span class="where">{html.escape(each.claim.where)}</span><br>{html.escape(each.claim.says)}',
                f'<span style="color: {_MARKS[found.verdict][1]}">{_sign(found.verdict)} {found.verdict}</span>',
                html.escape(found.measured) + (f"<br><code>{command}</code>" if command else ""),
                html.escape(found.why) + (f"<br>See {', '.join(sources)}." if sources else ""),
            )
        )
    body = "\n".join(
        f'<tr><td>{claim}</td><td class="verdict">{verdict}</td><td>{measured}</td><td>{why}</td></tr>'
        for claim, verdict, measured, why in rows
    )
    head = "<tr><th>the paper says</th><th>verdict</th><th>measured</th><th>why</th></tr>"
    return f'<div class="picture"><table><thead>{head}</thead><tbody>\n{body}\n</tbody></table></div>'


def _figure(outcome: Outcome, how: Circumstances) -> str:
    entry = outcome.entry
    settings = ", ".join(f"{name} = {_short(value)}" for name, value in outcome.settings.items())
    command = html.escape(how.again([entry.name]))
    parts = [f'<h3 id="{entry.name}">{html.escape(entry.figure)}. {html.escape(entry.title)}</h3>']
    parts += [f'<div class="picture">{svg}</div>' for svg in outcome.pictures.values()]
    if outcome.note:
        parts.append(_p(html.escape(outcome.note), "said"))
    parts.append(
        _p(
            f"<code>{command}</code>, {len(outcome.rows):,} rows in <code>{entry.name}.csv</code>; "
            f"{outcome.cells} {'part' if outcome.cells == 1 else 'parts'} in {_duration(outcome.seconds)}. "
            f"Settings: <code>{html.escape(settings)}</code>"
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


def _sign(verdict: Verdict) -> str:
    return _MARKS[verdict][0]


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

"""The report: one HTML file that needs nothing else, for a reviewer who reads from top to bottom."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any, Final

import jinja2
import markupsafe

from bipartite.plots import looks
from reproduction.claim import Verdict
from reproduction.folder import Circumstances
from reproduction.items import items
from reproduction.judging import CLAIMS, Judged
from reproduction.registry import EXPERIMENTS
from reproduction.running import Outcome

MARKS: Final[Mapping[Verdict, tuple[str, str]]] = {
    Verdict.HOLDS: ("●", "#1b6e3c"),
    Verdict.SLIP: ("◕", "#4a6b1f"),
    Verdict.PART: ("◐", "#8a5a00"),
    Verdict.READING: ("◌", "#5b3f8c"),
    Verdict.FAILS: ("○", "#a3261d"),
    Verdict.UNCHECKABLE: ("?", "#555555"),
    Verdict.UNDECIDED: ("…", "#555555"),
    Verdict.NOT_RUN: ("–", "#555555"),
}
# What does not hold as it stands, the gravest first; what holds is behind a click.
_FIRST: Final = (Verdict.FAILS, Verdict.READING, Verdict.PART, Verdict.SLIP)
_CSS: Final = Template((Path(__file__).parent / "report.css").read_text(encoding="utf-8")).substitute(vars(looks))


def anchor(key: str) -> str:
    """The id of the row of a claim."""
    return "claim-" + re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")


def report(outcomes: Sequence[Outcome], judged: Sequence[Judged], how: Circumstances) -> str:
    """The whole page."""
    folder = jinja2.FileSystemLoader(Path(__file__).parent)
    page = jinja2.Environment(
        loader=folder, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    page.filters.update(anchor=anchor, duration=_duration, linked=_linked, plainly=_plainly)
    counts = Counter(each.verdict for each in judged)
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    by_key = {each.claim.key: each for each in judged}
    origins: Counter[tuple[str, ...]] = Counter()
    for outcome in outcomes:
        origins.update(outcome.origins())
    text = page.get_template("report.html.j2").render(
        css=_CSS,
        marks=MARKS,
        how=how,
        judged=judged,
        by_key=by_key,
        counts={verdict: counts[verdict] for verdict in Verdict if counts[verdict]},
        first=[(verdict, [each for each in judged if each.verdict == verdict]) for verdict in _FIRST],
        held=[each for each in judged if each.verdict == Verdict.HOLDS],
        outcomes=outcomes,
        done=done,
        shown={outcome.entry.name for outcome in done},
        origins=origins.most_common(),
        sections=[list(of) for _, of in groupby(items(), lambda each: each.item.rpartition("-")[0])],
        items=items(),
        seconds=sum(outcome.seconds for outcome in outcomes),
        holds=Verdict.HOLDS,
        not_run=Verdict.NOT_RUN,
        registered=len(EXPERIMENTS),
    )
    return text + "\n"


def _linked(text: str) -> markupsafe.Markup:
    """A text of a claim, with a link where it names another one: “theorem 3”."""
    keys = {claim.key for claim in CLAIMS}
    parts = re.split("“([^”]+)”", text)
    return markupsafe.Markup().join(
        markupsafe.Markup('<a href="#{}">“{}”</a>').format(anchor(part), part) if at % 2 and part in keys
        else f"“{part}”" if at % 2 else part
        for at, part in enumerate(parts)
    )  # fmt: skip


def _plainly(value: Any) -> str:  # noqa: ANN401 (a setting)
    return "(" + ", ".join(map(str, value)) + ")" if isinstance(value, (tuple, list)) else str(value)


def _duration(seconds: float) -> str:
    """A time in words: 3 s, 2 min 10 s, 1 h 5 min."""
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"  # noqa: PLR2004
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"  # noqa: PLR2004

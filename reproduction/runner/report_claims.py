"""The claims in the report: what fails or needs words at the top, then every claim in a table that can be filtered."""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from reproduction.claims import Judged, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reproduction.runner.files import Circumstances

_MARKS: Final[Mapping[Verdict, tuple[str, str]]] = {
    Verdict.HOLDS: ("●", "#1b6e3c"),
    Verdict.CORRECTED: ("◐", "#8a5a00"),
    Verdict.READING: ("◌", "#5b3f8c"),
    Verdict.FAILS: ("○", "#a3261d"),
    Verdict.UNCHECKABLE: ("?", "#555555"),
    Verdict.UNDECIDED: ("…", "#555555"),
    Verdict.NOT_RUN: ("–", "#555555"),
}
# What a reader should know first.
_FIRST: Final[Mapping[Verdict, str]] = {
    Verdict.FAILS: "Does not hold",
    Verdict.READING: "Found only under a reading that the paper does not state",
    Verdict.CORRECTED: "Holds with a correction",
}
_COLUMNS: Final = ("the paper says", "verdict", "measured", "why")
# Rows that the filter or the search hides are not printed less: both are for the screen.
_SCRIPT: Final = """<script>
(() => {
  const box = document.getElementById("filter"), rows = [...document.querySelectorAll("#claims-table tbody tr")];
  box.insertAdjacentHTML("beforeend", '<label class="search">Search <input type="search"></label>');
  box.querySelector("[type=search]").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(words);
  });
  addEventListener("hashchange", () => {
    const row = document.getElementById(location.hash.slice(1));
    if (!rows.includes(row) || row.offsetParent) return;
    document.getElementById("show-all").checked = true;
    row.hidden = false;
    row.scrollIntoView();
  });
})();
</script>"""


def anchor(key: str) -> str:
    """The id of the row of a claim."""
    return "claim-" + re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")


def summary(judged: Sequence[Judged]) -> str:
    """What does not hold as it stands, a line each, what does behind a click, and how many claims of every kind."""
    counts = Counter(each.judgement.verdict for each in judged)
    whole, mended = counts[Verdict.HOLDS], counts[Verdict.CORRECTED]
    words = (
        f"Of {len(judged)} claims, {whole} hold as they stand and {mended} with a correction. What does not hold as it "
        "stands is listed first; a line leads to its row, with what was measured, why, and the command that measures "
        "it again."
    )
    parts = [f"<p>{words}</p>"]
    for verdict, words in _FIRST.items():
        lines = [_line(each) for each in judged if each.judgement.verdict == verdict]
        if lines:
            title = f"{_said(verdict, words)} ({len(lines)})"
            parts.append(f'<h3>{title}</h3>\n<ul class="summary">\n' + "\n".join(lines) + "\n</ul>")
    held = [_line(each) for each in judged if each.judgement.verdict == Verdict.HOLDS]
    if held:
        title = _said(Verdict.HOLDS, f"Holds as it stands ({len(held)})")
        parts.append(
            f'<details><summary>{title}</summary>\n<ul class="summary">\n' + "\n".join(held) + "\n</ul></details>"
        )
    every = ", ".join(_said(verdict, f"{counts[verdict]} {verdict}") for verdict in Verdict if counts[verdict])
    parts.append(f'<p class="said">All {len(judged)} claims: {every}.</p>')
    return "\n".join(parts)


def _line(each: Judged) -> str:
    claim = each.claim
    says = f'<a href="#{anchor(claim.key)}">{html.escape(claim.says)}</a>'
    return f'<li>{says} <span class="where">{html.escape(claim.where)}</span></li>'


def verdicts(judged: Sequence[Judged], shown: Collection[str], how: Circumstances) -> str:
    """The filter and the table; ``shown`` names the experiments whose figures are in this report."""
    counts = Counter(each.judgement.verdict for each in judged)
    kinds = [verdict for verdict in Verdict if counts[verdict]]
    choices = [_choice("all", f"all {len(judged)}", " checked")]
    choices += [_choice(_short(verdict), _said(verdict, f"{verdict} ({counts[verdict]})")) for verdict in kinds]
    hiding = "\n".join(
        f"  #claims-table:has(#show-{name}:checked) tbody tr:not(.{name}) {{ display: none; }}"
        for name in map(_short, kinds)
    )
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "\n".join(_row(each, shown, how) for each in judged)
    return (
        f"<style>\n@media screen {{\n{hiding}\n}}\n</style>\n"
        '<div id="claims-table">\n<fieldset id="filter"><legend>Show</legend>\n'
        + "\n".join(choices)
        + f'\n</fieldset>\n<table class="cards claims"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table>\n</div>\n{_SCRIPT}"
    )


def _choice(name: str, words: str, checked: str = "") -> str:
    return f'<label><input type="radio" name="show" id="show-{name}"{checked}> {words}</label>'


def _row(each: Judged, shown: Collection[str], how: Circumstances) -> str:
    claim, found = each.claim, each.judgement
    sources = [f'<a href="#{name}">{name}</a>' if name in shown else name for name in claim.needs]
    sources += [html.escape(claim.evidence)] if claim.evidence else []
    command = html.escape(how.again(claim.needs))
    cells = (
        f'<span class="where">{html.escape(claim.where)}</span><br>{html.escape(claim.says)}',
        f"<strong>{_said(found.verdict, str(found.verdict))}</strong>",
        html.escape(found.measured) + (f"<br><code>{command}</code>" if command else ""),
        html.escape(found.why) + (f"<br>See {', '.join(sources)}." if sources else ""),
    )
    written = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in zip(_COLUMNS, cells, strict=True))
    return f'<tr id="{anchor(claim.key)}" class="{_short(found.verdict)}">{written}</tr>'


def _said(verdict: Verdict, words: str) -> str:
    sign, colour = _MARKS[verdict]
    return f'<span style="color: {colour}"><span aria-hidden="true">{sign}</span> {words}</span>'


def _short(verdict: Verdict) -> str:
    return verdict.name.lower().replace("_", "-")

"""The last section of the report: every item of the paper, and where the project has it."""

from __future__ import annotations

import html
from itertools import groupby
from typing import TYPE_CHECKING, Final

from reproduction.items import Item, Reference, items
from reproduction.runner.report_claims import anchor

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reproduction.claims import Judged


_COLUMNS: Final = ("item", "in the paper", "it says", "where it is here")


def every_item(judged: Sequence[Judged], shown: Collection[str]) -> str:
    """The table, section by section; ``shown`` names the experiments whose figures are in this report."""
    verdicts = {each.claim.key: str(each.judgement.verdict) for each in judged}
    rows = items()
    absent = sum(not each.has for each in rows)
    opening = (
        f"<p>{len(rows)} algorithms, definitions, theorems, equations, figures, numbers and sentences with a claim, "
        f"in the order of the paper; {absent} of them are nowhere in the project, and the last column says why. "
        "<code>bp</code> is the library; paths are those of the repository.</p>"
    )
    parts = [_part(list(of), verdicts, shown) for _, of in groupby(rows, lambda each: each.item.rpartition("-")[0])]
    return "\n".join(['<h2 id="every-item">Every item of the paper</h2>', opening, *parts])


def _part(rows: Sequence[Item], verdicts: Mapping[str, str], shown: Collection[str]) -> str:
    """One section of the paper, closed until somebody opens it."""
    number = rows[0].item.rpartition("-")[0]
    title = rows[0].section if number == "abstract" else f"{number} {rows[0].section}"
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "\n".join(_row(each, verdicts, shown) for each in rows)
    return (
        f'<details><summary>{html.escape(title)} ({len(rows)})</summary>\n<table class="cards items">'
        f"<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></details>"
    )


def _row(item: Item, verdicts: Mapping[str, str], shown: Collection[str]) -> str:
    here = [_said(each, verdicts, shown) for each in item.has]
    here += [html.escape(item.note)] if item.note else []
    cells = (
        html.escape(item.item),
        f'<span class="where">{html.escape(item.kind)}</span><br>{html.escape(item.place)}',
        html.escape(item.says),
        "<br>".join(here),
    )
    written = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in zip(_COLUMNS, cells, strict=True))
    return f"<tr>{written}</tr>"


def _said(reference: Reference, verdicts: Mapping[str, str], shown: Collection[str]) -> str:
    name = html.escape(reference.name)
    if reference.sort == "claim":
        return f'<a href="#{anchor(reference.name)}">{name}</a>: {html.escape(verdicts[reference.name])}'
    if reference.sort == "run":
        return f'<a href="#{name}">{name}</a>' if reference.name in shown else f"experiment {name}"
    return f"<code>{name}</code>"

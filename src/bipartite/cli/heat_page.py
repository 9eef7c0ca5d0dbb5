"""The page that ``bipartite locations heat`` writes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite._version import __version__
from bipartite.cli.pages import figure, whole_page
from bipartite.locations.grids import names_of
from bipartite.texts import escaped, html_table, percent

if TYPE_CHECKING:
    from bipartite.locations import HeatMap

_LISTED: Final = 10


def largest(heat: HeatMap, confidence: float, count: int) -> list[dict[str, Any]]:
    """The largest shares, with intervals that hold for all places together; without any, low and high are None."""
    names, ends = names_of(heat.places), np.full((2, len(heat.shares)), None)
    if heat.has_intervals:
        ends = np.array(heat.intervals(confidence, together=True))
    return [
        {
            "place": names[at],
            "share": float(heat.shares[at]),
            **dict(zip(("low", "high"), ends[:, at].tolist(), strict=True)),
        }
        for at in np.argsort(-heat.shares, kind="stable")[:count].tolist()
    ]


def page(heat: HeatMap, title: str, credit: str, confidence: float) -> str:
    """The picture with its guarantee, and the largest shares."""
    header, top = ["place", "share"], largest(heat, confidence, _LISTED)
    rows = [[escape(each["place"]), percent(each["share"])] for each in top]
    text = f"{'These shares are guesses: t' if heat.standard_errors is None else 'T'}here are no intervals."
    if heat.has_intervals:
        header.append("interval")
        rows = [
            [*row, f"{percent(each['low'])} to {percent(each['high'])}"] for row, each in zip(rows, top, strict=True)
        ]
        low, _ = heat.intervals(confidence, together=True)
        text = (
            f"The intervals hold for all {len(low):,} places together with {100 * confidence:g} % confidence. "
            f"Those of {int((low <= 0).sum()):,} places include 0: perhaps nobody is there."
        )
    if heat.note:
        text = f"{heat.note[0].upper()}{heat.note[1:]}. {text}"
    title = escaped(title)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>Estimated from the reports alone. <strong>Guarantee: {escape(heat.guarantee)}.</strong></p>",
        figure(lambda: heat.plot(credit=credit)),
        "<h2>The largest shares</h2>",
        f"<p>{escape(text)}</p>",
        html_table(header, rows),
        f"<footer>Made by bipartite {__version__}; this page loads nothing.</footer>",
    ]
    return whole_page(title, parts)

"""The page that ``bipartite locations heat`` writes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite._version import __version__
from bipartite.cli.pages import figure, whole_page
from bipartite.locations.grids import names_of
from bipartite.texts import escaped, html_table, percent

if TYPE_CHECKING:
    from bipartite.locations import HeatMap

_LISTED: Final = 10


def page(heat: HeatMap, title: str, credit: str, confidence: float) -> str:
    """The picture with its guarantee, and the largest shares with intervals that hold for all places together."""
    names, header = names_of(heat.places), ["place", "share"]
    text = f"{'These shares are guesses: t' if heat.standard_errors is None else 'T'}here are no intervals."
    rows = {
        at: [escape(names[at]), percent(float(heat.shares[at]))]
        for at in np.argsort(-heat.shares, kind="stable")[:_LISTED].tolist()
    }
    if heat.has_intervals:
        low, high = heat.intervals(confidence, together=True)
        header.append("interval")
        for at, row in rows.items():
            row.append(f"{percent(float(low[at]))} to {percent(float(high[at]))}")
        text = (
            f"The intervals hold for all {len(low):,} places together with {100 * confidence:g} % confidence. "
            f"Those of {int((low <= 0).sum()):,} places include 0: nobody may be there."
        )
    title = escaped(title)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>Estimated from the reports alone. <strong>Guarantee: {escape(heat.guarantee)}.</strong></p>",
        figure(lambda: heat.plot(credit=credit)),
        "<h2>The largest shares</h2>",
        f"<p>{text}</p>",
        html_table(header, rows.values()),
        f"<footer>Made by bipartite {__version__}; this page loads nothing.</footer>",
    ]
    return whole_page(title, parts)

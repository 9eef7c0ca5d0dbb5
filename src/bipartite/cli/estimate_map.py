"""The map that ``bipartite estimate --map`` writes: a page, a picture or GeoJSON."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite._version import __version__
from bipartite.cli.pages import figure, whole_page
from bipartite.locations import heat_map
from bipartite.locations.grids import names_of
from bipartite.plots.figure import as_file
from bipartite.tables.metadata import NOT_PRIVATE
from bipartite.texts import html_table, percent

if TYPE_CHECKING:
    from pathlib import Path

    from bipartite.answers.estimation import Estimate
    from bipartite.locations import HeatMap

_TITLE: Final = "Where people are"
_LISTED: Final = 10


def heat_file(places: Estimate, path: Path, confidence: float, *, insecure: bool) -> str | bytes:
    """The map of a column of places, as the name of its file says; its guarantee says so if it is not private."""
    heat = heat_map(places)
    if insecure:
        heat = replace(heat, guarantee=NOT_PRIVATE)
    if path.suffix.lower() == ".geojson":
        return json.dumps(heat.to_geojson(confidence), ensure_ascii=False, allow_nan=False) + "\n"
    if path.suffix.lower() == ".html":
        return page(heat, confidence)
    return as_file(heat.plot, path)


def page(heat: HeatMap, confidence: float) -> str:
    """The picture with its guarantee, and the largest shares, with intervals that hold for all places together."""
    names, top = names_of(heat.places), np.argsort(-heat.shares, kind="stable")[:_LISTED].tolist()
    header, rows = ["place", "share"], [[escape(names[at]), percent(float(heat.shares[at]))] for at in top]
    text = f"{'These shares are guesses: t' if heat.standard_errors is None else 'T'}here are no intervals."
    if heat.has_intervals:
        low, high = heat.intervals(confidence, together=True)
        header.append("interval")
        rows = [[*row, f"{percent(low[at])} to {percent(high[at])}"] for row, at in zip(rows, top, strict=True)]
        text = (
            f"The intervals hold for all {len(low):,} places together with {100 * confidence:g} % confidence. "
            f"Those of {int((low <= 0).sum()):,} places include 0: perhaps nobody is there."
        )
    if heat.note:
        text = f"{heat.note[0].upper()}{heat.note[1:]}. {text}"
    parts = [
        f"<h1>{_TITLE}</h1>",
        f"<p>Estimated from the reports alone. <strong>Guarantee: {escape(heat.guarantee)}.</strong></p>",
        figure(heat.plot),
        "<h2>The largest shares</h2>",
        f"<p>{escape(text)}</p>",
        html_table(header, rows),
        f"<footer>Made by bipartite {__version__}; this page loads nothing.</footer>",
    ]
    return whole_page(_TITLE, parts)

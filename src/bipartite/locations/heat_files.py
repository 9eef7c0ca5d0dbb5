"""A heat map as GeoJSON, and as a page."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite._version import __version__
from bipartite.locations.grids import names_of, squares_of
from bipartite.plots.figure import as_svg
from bipartite.texts import escaped, html_table, percent

if TYPE_CHECKING:
    from bipartite.locations.heat import HeatMap

_DECIMALS: Final = 7  # of a degree: a centimetre
_HALF_TURN: Final = 180.0
_LISTED: Final = 10
# The browser may load nothing: the page cannot tell any server what its reader looks at.
_HEAD: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
  body { margin: 0 auto; max-width: 680px; padding: 16px; font: 16px/1.5 sans-serif; overflow-wrap: break-word; }
  svg { display: block; width: 100%; height: auto; }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
  th, td { text-align: right; font-weight: normal; padding: 4px 0 4px 10px; border-bottom: 1px solid #ddd; }
  th:first-child, td:first-child { text-align: left; padding-left: 0; }
  @media print { body { max-width: none; padding: 0; } svg, tr { break-inside: avoid; print-color-adjust: exact; } }
</style>"""


def as_geojson(heat: HeatMap, confidence: float) -> dict[str, Any]:
    """A FeatureCollection (RFC 7946) with its metadata."""
    squares = squares_of(heat.places)
    if squares is None:
        where = heat.places.coordinates[:, ::-1].round(_DECIMALS).tolist()
        shapes: list[dict[str, Any]] = [{"type": "Point", "coordinates": each} for each in where]
    else:
        shapes = [_cell(*each) for each in squares.boxes.tolist()]
    names = names_of(heat.places) if squares is None else squares.names
    size = len(shapes)
    errors = [None] * size if heat.standard_errors is None else heat.standard_errors.tolist()
    ends: list[list[Any]] = [[None] * size] * 4
    if heat.has_intervals:
        ends = [each.tolist() for both in (False, True) for each in heat.intervals(confidence, together=both)]
    keys = ("share", "standard_error", "low", "high", "low_together", "high_together")
    rows = zip(heat.shares.tolist(), errors, *ends, strict=True)
    features = [
        {
            "type": "Feature",
            "geometry": shape,
            "properties": {"place": heat.places.decode(at), "name": names[at], **dict(zip(keys, row, strict=True))},
        }
        for at, (shape, row) in enumerate(zip(shapes, rows, strict=True))
    ]
    about = {
        "version": __version__,
        "guarantee": heat.guarantee,
        "reports": heat.people,
        "smoothing_km": heat.smoothing_km,
        "confidence": confidence,
        "note": heat.note,
    }
    return {"type": "FeatureCollection", "bipartite": about, "features": features}


def _cell(south: float, west: float, north: float, east: float) -> dict[str, Any]:
    """A polygon; a cell across the date line becomes one polygon on each side, as RFC 7946 requires."""
    if east <= _HALF_TURN + 10**-_DECIMALS:
        return {"type": "Polygon", "coordinates": [_ring(south, west, north, min(east, _HALF_TURN))]}
    parts = (west, _HALF_TURN), (-_HALF_TURN, east - 2 * _HALF_TURN)
    return {"type": "MultiPolygon", "coordinates": [[_ring(south, low, north, high)] for low, high in parts]}


def _ring(south: float, west: float, north: float, east: float) -> list[list[float]]:
    """Counter-clockwise from the south-west, and closed."""
    corners = (west, south), (east, south), (east, north), (west, north), (west, south)
    return [[round(x, _DECIMALS), round(y, _DECIMALS)] for x, y in corners]


def as_page(heat: HeatMap, title: str, credit: str, confidence: float) -> str:
    """The picture with its guarantee, and the largest shares with intervals that hold for all places together."""
    names, header, text = names_of(heat.places), ["place", "share"], "These shares are guesses: there are no intervals."
    rows = {
        at: [html.escape(names[at]), percent(float(heat.shares[at]))]
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
    heading = html.escape(escaped(title))
    return f"""{_HEAD}
<title>{heading}</title>
</head>
<body>
<h1>{heading}</h1>
<p>Estimated from the reports alone. <strong>Guarantee: {html.escape(heat.guarantee)}.</strong></p>
{as_svg(lambda: heat.plot(credit=credit))}
<h2>The largest shares</h2>
<p>{text}</p>
{html_table(header, rows.values())}
<p>Made by bipartite {__version__}; this page loads nothing.</p>
</body>
</html>
"""

"""A heat map as a page for phones and print: one picture, one table, and the guarantee."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite._version import __version__
from bipartite.locations.heat_drawing import notes, plot_map
from bipartite.locations.names import names_of
from bipartite.plots import style
from bipartite.plots.svg import percent

if TYPE_CHECKING:
    from bipartite.locations.heat import HeatMap

_NARROW: Final = 440.0  # so that text stays readable on a phone; wider screens scale it up
_LISTED: Final = 10
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE: Final = f"""
  body {{ margin: 0 auto; max-width: 680px; padding: 16px; background: {style.PAPER}; color: {style.INK};
         font: 16px/1.5 {style.FONT}; overflow-wrap: break-word; }}
  h1 {{ font-size: 26px; line-height: 1.2; margin: 0 0 8px; }}
  h2 {{ font-size: 19px; margin: 28px 0 4px; }}
  p {{ margin: 8px 0; }}
  svg {{ display: block; width: 100%; height: auto; margin: 12px 0; }}
  .promise {{ border-left: 4px solid {style.BRR}; padding-left: 12px; }}
  .not {{ border-color: #b3261e; font-weight: 600; }}
  table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }}
  th, td {{ text-align: right; font-weight: normal; padding: 4px 0 4px 10px; border-bottom: 1px solid {style.FAINT}; }}
  td {{ white-space: nowrap; }}
  th:first-child, td:first-child {{ text-align: left; white-space: normal; padding-left: 0; overflow-wrap: anywhere; }}
  thead th {{ border-bottom: 1.5px solid {style.INK}; }}
  .small {{ font-size: 14px; color: #555; }}
  @media print {{ body {{ max-width: none; padding: 0; font-size: 11pt; }} svg {{ max-height: 15cm; }}
    svg, tr, .promise {{ break-inside: avoid; }} svg {{ print-color-adjust: exact; }} }}
"""


def heat_page(heat: HeatMap, title: str, credit: str, confidence: float) -> str:
    """The page as HTML text."""
    below = [*notes(heat)[1:], *([f"Places: {credit}."] if credit else [])]
    smoothed = f", each person spread over {heat.smoothing_km:g} km" if heat.smoothing_km else ""
    plain = heat.guarantee.startswith("ε-LDP of each report")
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>Estimated from {heat.people:,} reports{smoothed}, and from no other data about people.</p>",
        f'<p class="promise{"" if plain else " not"}">Guarantee: {html.escape(heat.guarantee)}.</p>',
        str(plot_map(heat, [], _NARROW)),
        *(f'<p class="small">{html.escape(each)}</p>' for each in below),
        *_table(heat, confidence),
        f'<p class="small">Made by bipartite {__version__}; this page loads nothing.</p>',
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _table(heat: HeatMap, confidence: float) -> list[str]:
    """The largest shares, with intervals that hold for all places together."""
    order = np.argsort(-heat.shares, kind="stable")[:_LISTED].tolist()
    names = names_of(heat.places)
    header = ["place", "share"]
    rows = [[names[each], percent(float(heat.shares[each]))] for each in order]
    text = "These shares are guesses: there are no intervals."
    if heat.has_intervals:
        low, high = heat.intervals(confidence, together=True)
        header.append("interval")
        rows = [
            [*row, f"{percent(float(low[each]))} to {percent(float(high[each]))}"]
            for row, each in zip(rows, order, strict=True)
        ]
        none = int((low <= 0).sum())
        text = (
            f"The intervals hold for all {len(low):,} places together with {100 * confidence:g} % confidence. "
            f"Those of {none:,} places include 0: nobody may be there."
        )
    head = "".join(f"<th>{each}</th>" for each in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return [
        "<h2>The largest shares</h2>",
        f"<p>{text}</p>",
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
    ]

"""Pages that commands write: self-contained HTML files."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from bipartite.plots import style as drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

_STYLE: Final = f"""
  body {{ margin: 0 auto; max-width: {drawn.WIDTH}px; padding: 32px 24px 64px; background: {drawn.PAPER};
         color: {drawn.INK}; font: 17px/1.55 {drawn.FONT}; }}
  h1 {{ font-size: 34px; line-height: 1.2; margin: 0 0 12px; }}
  h2 {{ font-size: 25px; margin: 64px 0 4px; padding-top: 24px; border-top: 2px solid {drawn.INK}; }}
  h3 {{ font-size: 18px; margin: 32px 0 4px; }}
  p {{ margin: 8px 0; max-width: 44em; }}
  .lead {{ font-size: 19px; }}
  .said {{ border-left: 4px solid {drawn.BRR}; padding: 4px 0 4px 16px; margin: 16px 0; }}
  .picture {{ overflow-x: auto; margin: 12px 0; }}
  svg {{ display: block; width: 100%; min-width: 620px; height: auto; }}
  .chart svg {{ min-width: 0; max-width: 540px; }}
  table {{ border-collapse: collapse; margin: 12px 0; font-variant-numeric: tabular-nums;
           display: block; overflow-x: auto; }}
  th, td {{ text-align: right; padding: 4px 22px 4px 0; font-weight: normal; border-bottom: 1px solid {drawn.FAINT};
            white-space: nowrap; }}
  small {{ font-size: 13px; }}
  .whisker {{ position: relative; height: 11px; min-width: 84px; }}
  .whisker i {{ position: absolute; top: 1px; height: 9px; box-sizing: border-box; border: solid {drawn.INK};
                border-width: 0 1.5px;
                background: linear-gradient({drawn.INK}, {drawn.INK}) center / 100% 1.5px no-repeat; }}
  .whisker b {{ position: absolute; top: 2px; width: 7px; height: 7px; margin-left: -3.5px; border-radius: 50%;
                background: {drawn.INK}; }}
  th:first-child, td:first-child {{ text-align: left; }}
  thead th {{ border-bottom: 1.5px solid {drawn.INK}; }}
  code {{ font-size: 14px; overflow-wrap: anywhere; }}
  @media (max-width: 640px) {{ body {{ padding: 16px 12px 32px; font-size: 16px; }} th, td {{ padding-right: 12px; }}
    .wide, .groups thead {{ display: none; }} .groups tr, .groups td:first-child {{ display: block; border: 0; }}
    .groups td {{ display: inline-block; }} td small {{ white-space: normal; }} }}
  @media (min-width: 641px) {{ .narrow {{ display: none; }} }}
  @media print {{ body {{ max-width: none; padding: 0; font-size: 10pt; }}
    svg {{ min-width: 0; print-color-adjust: exact; }} .picture, table {{ overflow: visible; }}
    h2, h3 {{ break-after: avoid; }} .picture, tr {{ break-inside: avoid; }}
    th, td {{ padding-right: 10px; }} small {{ font-size: 8pt; }} }}
  footer {{ margin-top: 64px; padding-top: 12px; border-top: 1px solid {drawn.GRR}; font-size: 14px; }}
"""


def whole_page(title: str, parts: Sequence[str]) -> str:
    """A page with this title and these parts, as text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + _scrollable("\n".join(parts))
        + "\n</body>\n</html>\n"
    )


def _scrollable(body: str) -> str:
    """Let pictures scroll sideways on narrow screens; one within another, as on a map, is part of it."""
    found, depth = [], 0
    for part in re.split(r"(<svg\b|</svg>)", body):
        depth += (part == "<svg") - (part == "</svg>")
        outermost = depth == (part == "<svg")
        found.append(
            {"<svg": "<div class='picture'><svg", "</svg>": "</svg></div>"}.get(part, part) if outermost else part
        )
    return "".join(found)

"""Pages that commands write: self-contained HTML files."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

from bipartite.plots import looks
from bipartite.plots.figure import as_svg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

# The browser may load nothing: the page cannot tell any server what its reader looks at.
_NOTHING_TO_LOAD: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE: Final = f"""
  body {{ margin: 0 auto; max-width: 860px; padding: 32px 24px 64px; background: {looks.PAPER};
         color: {looks.INK}; font: 17px/1.55 system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; }}
  h1 {{ font-size: 34px; line-height: 1.2; margin: 0 0 12px; }}
  h2 {{ font-size: 25px; margin: 64px 0 4px; padding-top: 24px; border-top: 2px solid {looks.INK}; }}
  p {{ margin: 8px 0; max-width: 44em; }}
  .lead {{ font-size: 19px; }}
  figure {{ margin: 12px 0; max-width: 560px; }}
  svg {{ display: block; width: 100%; }}
  table {{ border-collapse: collapse; margin: 12px 0; font-variant-numeric: tabular-nums;
           display: block; overflow-x: auto; }}
  th, td {{ text-align: right; padding: 4px 22px 4px 0; font-weight: normal; border-bottom: 1px solid {looks.FAINT};
            white-space: nowrap; }}
  small {{ font-size: 13px; }}
  .whisker {{ position: relative; height: 11px; width: 88px; margin-left: auto; }}
  .whisker i {{ position: absolute; top: 1px; height: 9px; box-sizing: border-box; border: solid {looks.INK};
                border-width: 0 1.5px;
                background: linear-gradient({looks.INK}, {looks.INK}) center / 100% 1.5px no-repeat; }}
  .whisker b {{ position: absolute; top: 2px; width: 7px; height: 7px; margin-left: -3.5px; border-radius: 50%;
                background: {looks.INK}; }}
  th, td:first-child {{ white-space: normal; overflow-wrap: anywhere; min-width: 6em; }}
  th:first-child, td:first-child {{ text-align: left; }}
  thead th {{ border-bottom: 1.5px solid {looks.INK}; }}
  @media (max-width: 640px) {{ body {{ padding: 16px 12px 32px; font-size: 16px; }} th, td {{ padding-right: 12px; }}
    .groups thead {{ display: none; }} .groups tr {{ display: block; }}
    .groups td {{ display: inline-block; box-sizing: border-box; width: 50%; border: 0; }}
    .groups td:first-child {{ display: block; width: auto; }} td small {{ white-space: normal; }}
    .one small {{ white-space: nowrap; }} figure {{ margin: 12px -8px; }} }}
  @media (min-width: 641px) {{ .narrow {{ display: none; }} }}
  @media print {{ body {{ max-width: none; padding: 0; font-size: 10pt; }}
    svg {{ print-color-adjust: exact; }} table {{ overflow: visible; }}
    h2 {{ break-after: avoid; }} figure, tr {{ break-inside: avoid; }}
    th, td {{ padding-right: 10px; }} small {{ font-size: 8pt; }} }}
  footer {{ margin-top: 64px; padding-top: 12px; border-top: 1px solid {looks.GREY}; font-size: 14px; }}
"""


def whole_page(title: str, parts: Sequence[str]) -> str:
    """A page with this title and these parts, as text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_NOTHING_TO_LOAD}">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def figure(draw: Callable[[], Axes]) -> str:
    """The picture that ``draw()`` makes, for a page: as wide as the screen, up to letters as large as text."""
    return f"<figure>{as_svg(draw)}</figure>"

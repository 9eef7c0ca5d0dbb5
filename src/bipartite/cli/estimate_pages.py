"""The pages that ``bipartite estimate`` writes, about a released table and of a map: self-contained HTML files."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite._version import __version__
from bipartite.answers.estimation.wording import in_percent, shares_shown
from bipartite.errors import how_many
from bipartite.locations.grids import names_of
from bipartite.plots import looks
from bipartite.plots.figure import as_svg
from bipartite.plots.whiskers import say
from bipartite.texts import escaped, html_table, in_digits, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from bipartite.answers.estimation import Estimate
    from bipartite.answers.estimation.wording import Share, Shares
    from bipartite.cli.estimate_output import Found
    from bipartite.locations import HeatMap
    from bipartite.tables.metadata import Described

_LISTED: Final = 10
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


def _whole_page(title: str, parts: Sequence[str]) -> str:
    """A page with this title and these parts, as text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_NOTHING_TO_LOAD}">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(parts)
        + f"\n<footer>Written by bipartite {__version__}; this page loads nothing.</footer>\n</body>\n</html>\n"
    )


def _figure(draw: Callable[[], Axes]) -> str:
    """The picture that ``draw()`` makes, for a page: as wide as the screen, up to letters as large as text."""
    return f"<figure>{as_svg(draw)}</figure>"


def map_page(heat: HeatMap, confidence: float) -> str:
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
        f"<p>Estimated from the reports alone. <strong>Guarantee: {escape(heat.guarantee)}.</strong></p>",
        _figure(heat.plot),
        "<h2>The largest shares</h2>",
        f"<p>{escape(text)}</p>",
        html_table(header, rows),
    ]
    return _whole_page("Where people are", parts)


def release_page(found: Found, title: str) -> str:
    """All columns of a release with plots, as one HTML file."""
    release = found.release
    assert release is not None  # noqa: S101 (--html is refused without one)
    promised = f"{found.guarantee}. Each interval has a confidence of {100 * found.confidence:g}"
    parts = [
        "<p class='lead'>Estimates about the people in this table, computed from their reports alone.</p>",
        f"<p>{escape(promised)}&nbsp;%.</p>",
    ]
    if found.rejected:
        parts.append(f"<p>{how_many(found.rejected, 'line')} set aside, and counted as not received.</p>")
    for name, groups in found.columns.items():
        doubts = [doubt for each in groups.values() if (doubt := each.check.doubt)]
        promise = "" if doubts or name is None else f"{escape(release.guarantee_of(name))}."
        count = found.unreported[name]
        skipped = f" {count:,} {left_out(sampled=release.sample is not None)}" if count else ""
        parts += [f"<h2>{escape(escaped(name))}</h2>", f"<p>{promise}{skipped}</p>"]
        parts += [f"<p><strong>{escape(each)}</strong></p>" for each in doubts]
        parts += [f"<p>{escape(each)}</p>" for each in [_clipped(release, name)] if each]
        bins = found.carried(name)
        # Of groups the picture shows means, unless ranges were asked for.
        drawn = partial(found.plot, name, bins if found.by is None else found.bins_of(name))
        parts += [_figure(drawn), _numbers(groups, found.confidence)]
        parts += _shares(shares_shown(groups, found.confidence, bins))
        if found.bins is None and bins is not None:
            parts.append("<p>As many ranges as so many reports can tell apart; --bins asks for others.</p>")
    parts += [
        "<h2>Published beside the reports</h2>",
        "<p>No ε covers the following:</p>",
        "<ul>" + "".join(f"<li>{escape(each)}</li>" for each in release.publishes) + "</ul>",
    ]
    return _whole_page(title, parts)


def left_out(*, sampled: bool) -> str:
    """What happened to rows without a report."""
    return "rows were not asked." if sampled else "rows without a report were skipped."


def _clipped(release: Described, name: str | None) -> str:
    """What clipping means for the answers of a column, if its plan clips."""
    if name not in release.clipped:
        return ""
    domain = release.mechanisms[name].domain
    low, high = (say(float(domain.decode(at))) for at in (0, len(domain) - 1))
    return f"Values above {high} count as {high}, and values below {low} as {low}."


def _numbers(groups: dict[str | None, Estimate], confidence: float) -> str:
    """A table of means and medians, for values on a line."""
    if not next(iter(groups.values())).mechanism.domain.has_ends:
        return ""
    rows = []
    for label, each in groups.items():
        cells = ["all" if label is None else escape(escaped(label)), f"{each.nobs:,}"]
        for of in ("mean", "median"):
            answer = each.ask(of)
            number, low, high = map(escape, in_digits(answer.value, *answer.ci(confidence)))
            cells.append(f"{number}<br><small>{low} to {high}</small>")
        rows.append(cells)
    return html_table(("group", "people", "mean", "median"), rows)


def _shares(found: Shares) -> list[str]:
    """A table of shares with their intervals: a column for each group, or one for all people."""
    labels = {label: "" if label is None else escape(escaped(label)) for label in found.groups}
    header = [found.what, *(label or "share" for label in labels.values())]
    ends = [end for rows in found.groups.values() for share in rows for end in share if end is not None]
    axis = min(0.0, *ends), max(1e-9, *ends)
    cells = []
    for label, shares in found.groups.items():
        # On a narrow screen the groups of a row follow each other, each with its name.
        name = labels[label] and f"<small class='narrow'>{labels[label]}<br></small>"
        cells.append([name + _in_cell(share, axis) for share in shares])
    rows = [[escape(name), *row] for name, *row in zip(found.names, *cells, strict=True)]
    notes = [f"<p>{escape(note)}.</p>" for note in ([found.heading] if found.heading else []) + list(found.notes)]
    return [
        f"<div class='{'one' if list(found.groups) == [None] else 'groups'}'>{html_table(header, rows)}</div>",
        *notes,
    ]


def _in_cell(share: Share, axis: tuple[float, float]) -> str:
    """A share with its interval, as numbers and as an error bar on an axis of all cells."""
    first, last = axis
    at, low, high = (None if end is None else 100 * (end - first) / (last - first) for end in share)
    bar = "" if low is None or high is None else f"<i style='left:{low:.1f}%;width:{high - low:.1f}%'></i>"
    drawn = f"<div class='whisker'>{bar}<b style='left:{at:.1f}%'></b></div>"
    number, held = in_percent(share)
    return f"{number}{drawn}<small>{held}</small>"

"""The page that ``bipartite estimate`` writes about a released table."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING

from bipartite._version import __version__
from bipartite.answers.estimation.wording import in_percent, shares_shown
from bipartite.cli.pages import figure, whole_page
from bipartite.errors import how_many
from bipartite.plots.whiskers import say
from bipartite.texts import escaped, html_table, in_digits

if TYPE_CHECKING:
    from bipartite.answers.estimation import Estimate
    from bipartite.answers.estimation.wording import Share, Shares
    from bipartite.cli.estimate_output import Found
    from bipartite.tables.metadata import Described


def page(found: Found, release: Described, title: str) -> str:
    """All columns of a release with plots, as one HTML file."""
    promised = f"{found.guarantee_of(release)}. Each interval has a confidence of {100 * found.confidence:g}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        "<p class='lead'>Estimates about the people in this table, computed from their reports alone.</p>",
        f"<p>{escape(promised)}&nbsp;%.</p>",
    ]
    if found.rejected:
        parts.append(f"<p>{how_many(found.rejected, 'line')} set aside, and counted as not received.</p>")
    for name, groups in found.columns.items():
        doubts = [doubt for each in groups.values() if (doubt := each.check.doubt)]
        promise = "" if doubts or name is None else f"{escape(release.guarantee_of(name))}."
        count = found.unreported[name]
        left_out = f" {count:,} rows without a report were skipped." if count else ""
        parts += [f"<h2>{escape(escaped(name))}</h2>", f"<p>{promise}{left_out}</p>"]
        parts += [f"<p><strong>{escape(each)}</strong></p>" for each in doubts]
        parts += [f"<p>{escape(each)}</p>" for each in [_clipped(release, name)] if each]
        bins = found.carried(name)
        # Of groups the picture shows means, unless ranges were asked for.
        drawn = partial(found.plot, name, bins if found.by is None else found.bins_of(name))
        parts += [figure(drawn), _numbers(groups, found.confidence)]
        parts += _shares(shares_shown(groups, found.confidence, bins))
        if found.bins is None and bins is not None:
            parts.append("<p>As many ranges as so many reports can tell apart; --bins asks for others.</p>")
    parts += [
        "<h2>Published beside the reports</h2>",
        "<p>No ε covers the following:</p>",
        "<ul>" + "".join(f"<li>{escape(each)}</li>" for each in release.publishes) + "</ul>",
        f"<footer>Written by bipartite {__version__} from counts of the reports.</footer>",
    ]
    return whole_page(title, parts)


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

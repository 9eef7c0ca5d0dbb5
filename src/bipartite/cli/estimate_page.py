"""The page that ``bipartite estimate`` writes about a released table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bipartite._version import __version__
from bipartite.answers.estimation.pictures import in_few_digits
from bipartite.answers.estimation.wording import interval_of, shares_shown
from bipartite.cli.pages import table, whole_page
from bipartite.domains import LineDomain
from bipartite.texts import escaped

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
    for name, groups in found.columns.items():
        doubts = [each.doubt for each in groups.values() if each.doubt]
        promise = "" if doubts or name is None else f"{escape(release.guarantee_of(name))}."
        count = found.unreported[name]
        left_out = f" {count:,} rows without a report were skipped." if count else ""
        parts += [f"<h2>{escape(escaped(name))}</h2>", f"<p>{promise}{left_out}</p>"]
        parts += [f"<p><strong>{escape(each)}</strong></p>" for each in doubts]
        parts += [found.picture(name), _numbers(groups, found.confidence)]
        parts += _shares(shares_shown(groups, found.confidence, found.bins_of(name)))
    parts += [
        "<h2>Published beside the reports</h2>",
        "<p>No ε covers the following:</p>",
        "<ul>" + "".join(f"<li>{escape(each)}</li>" for each in release.publishes) + "</ul>",
        f"<footer>Written by bipartite {__version__} from counts of the reports.</footer>",
    ]
    return whole_page(title, parts)


def _numbers(groups: dict[str | None, Estimate], confidence: float) -> str:
    """A table of means and medians, for values on a line."""
    if not isinstance(next(iter(groups.values())).mechanism.domain, LineDomain):
        return ""
    rows = []
    for label, each in groups.items():
        cells = ["all" if label is None else label, f"{each.people:,}"]
        for of, value in (("mean", each.mean), ("median", each.median)):
            number, low, high = in_few_digits(value, each.interval(confidence, of=of))
            cells += [number, f"{low} to {high}"]
        rows.append([escape(escaped(cell)) for cell in cells])
    return table(("group", "people", "mean", "interval", "median", "interval"), rows)


def _shares(found: Shares) -> list[str]:
    """A table of shares with their intervals: a column for each group, or one for all people."""
    header = [found.what, *("share" if label is None else escape(escaped(label)) for label in found.groups)]
    cells = [[_in_cell(share) for share in rows] for rows in found.groups.values()]
    rows = [[escape(name), *row] for name, *row in zip(found.names, *cells, strict=True)]
    notes = [f"<p>{escape(note)}.</p>" for note in ([found.heading] if found.heading else []) + list(found.notes)]
    return [table(header, rows), *notes]


def _in_cell(share: Share) -> str:
    """A share above its interval, so that the columns of several groups stand side by side."""
    return f"{share[0]:z.1%}<br><small>{interval_of(share, digits=1)}</small>"
